"""A home with its keys: made once, private, and looked over before it is used."""

from __future__ import annotations

import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from parties import doctor
from parties.config import load
from parties.disk import SPACE
from parties.errors import ConfigError
from parties.jobs.storage.results import ResultFolder
from parties.pki import Identity, home
from smc.errors import KeyMaterialError
from smc.forms import Role
from tests.parties.pki.homes import HERE
from tests.parties.rpc.harness import NORTH, SOUTH
from tests.support import keys


def test_a_party_is_private_and_whole(party):
    for path in party.home.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        if path.is_dir():
            assert mode == 0o700
        elif path.parent.name == "keys":
            assert mode == 0o600
    identity = home.load_identity(party)
    assert identity.name == "north"
    assert identity.paillier.public.bits == 2048
    own = home.own_pairing(party)
    assert own.identity.paillier == identity.paillier.public
    assert own.identity.certificates == identity.certificate
    signature = identity.signing.sign(b"message")
    own.identity.signing.verify(signature, b"message")
    home.check_config_file(party)


def test_secrets_do_not_show(party):
    identity = home.load_identity(party)
    assert repr(identity) == "Identity(name='north')"


def test_nothing_is_overwritten(party):
    before = {path: path.read_bytes() for path in party.home.rglob("*") if path.is_file()}
    with pytest.raises(ConfigError, match="not empty"):
        home.make("north", party.home, HERE, HERE, 2048)
    assert before == {path: path.read_bytes() for path in party.home.rglob("*") if path.is_file()}


def test_weak_keys_are_not_made(tmp_path):
    with pytest.raises(KeyMaterialError, match="1024"):
        home.make("north", tmp_path / "x", HERE, HERE, 1024)
    assert not (tmp_path / "x").exists()


def test_weak_keys_are_not_loaded(party):
    from smc.ciphers import phe_format

    path = party.home / "keys/paillier.json"
    path.write_text(phe_format.write_private_key(keys.paper(Role.ALICE)))
    with pytest.raises(KeyMaterialError, match="1024 bits"):
        home.load_identity(party)


@pytest.mark.parametrize("name", ["keys", "keys/tls.key", "keys/signing.key", "keys/paillier.json"])
def test_open_files_are_refused(party, name):
    path = party.home / name
    path.chmod(path.stat().st_mode | 0o040)
    with pytest.raises(ConfigError, match="open to other users") as caught:
        home.load_identity(party)
    assert f"chmod {'700' if path.is_dir() else '600'} {path}" in caught.value.hint


def test_the_doctor_says_when_no_run_can_begin(party, monkeypatch):
    def verdicts():
        return {each.check: each for each in doctor.examine_self(party)}

    assert verdicts()["disk"].verdict is not doctor.Status.FAIL
    full = shutil.disk_usage(party.home)._replace(free=SPACE - 1)
    monkeypatch.setattr("parties.doctor.shutil.disk_usage", lambda _: full)
    assert (verdicts()["disk"].verdict, "63 MiB free" in verdicts()["disk"].what) == (
        doctor.Status.FAIL,
        True,
    )
    assert verdicts()["keys"].verdict is doctor.Status.OK
    ResultFolder(party.home).write("0" * 16, "1")
    (party.home / "keys" / "results.key").write_bytes(b"another key of results, 32 bytes."[:32])
    found = verdicts()["keys"]
    assert (found.verdict, "is not the key" in found.what) == (doctor.Status.FAIL, True)


@pytest.mark.parametrize("name", ["tls.crt", "tls.key", "signing.key", "paillier.json"])
def test_damaged_and_missing_keys(party, name):
    path = party.home / "keys" / name
    path.write_bytes(b"-----BEGIN NOTHING-----\n")
    with pytest.raises((ConfigError, KeyMaterialError)):
        home.load_identity(party)
    path.unlink()
    with pytest.raises(ConfigError, match=name):
        home.load_identity(party)


def test_a_key_of_another_certificate(party):
    (party.home / "keys/tls.key").write_bytes(NORTH.tls_key)
    with pytest.raises(ConfigError, match="not the key of the certificate"):
        home.load_identity(party)


def test_a_socket_path_that_is_too_long(party):
    with pytest.raises(ConfigError, match="too long"):
        home.socket_path(replace(party, home=Path("/" + "x" * 120)))


def test_identity_is_a_value():
    assert isinstance(NORTH, Identity)
    with pytest.raises(AttributeError):
        NORTH.name = "other"


@pytest.mark.parametrize("content", [b"", b"nonsense", NORTH.tls_key + NORTH.certificate + SOUTH.tls_key])
def test_a_damaged_file_of_keys(homes, content):
    path = homes["north"] / "keys" / "tls.pem"
    path.write_bytes(content)
    path.chmod(0o600)
    if content.count(b"BEGIN") < 2:
        with pytest.raises(ConfigError, match=r"tls\.pem"):
            home.load_identity(load(homes["north"]))
    path.write_bytes(SOUTH.tls_key + NORTH.certificate)
    with pytest.raises(ConfigError, match="not the key of the certificate"):
        home.load_identity(load(homes["north"]))
    path.chmod(0o640)
    with pytest.raises(ConfigError, match="open to other users"):
        home.load_identity(load(homes["north"]))
