"""Keys, certificates and pairing files: made once, private, pinned, and checked field by field."""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import json
import os
import re
import shutil
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import gmpy2
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from parties import doctor
from parties.cli.own_keys import keys as keys_group
from parties.config import Address, Config, load
from parties.errors import ConfigError, PairingError, exit_code
from parties.jobs.results import SPACE, ResultFolder
from parties.pki import Identity, certificate, home, pairing
from parties.pki.files import check_private, read_private, write_atomically
from parties.pki.lock import only_one
from smc.ciphers.keys import check_public_key
from smc.errors import KeyMaterialError
from smc.forms import Role
from tests.parties.rpc.harness import NORTH, SOUTH
from tests.smc.ciphers.test_key_proof import best_roots
from tests.support import keys

ADDRESS = Address("127.0.0.1", 7443)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Config:
    """A party made with real commands' code; tests copy what they change."""
    folder = tmp_path_factory.mktemp("party") / "north"
    home.make("north", folder, ADDRESS, ADDRESS, 2048)
    return load(folder)


@pytest.fixture
def party(made, tmp_path) -> Config:
    import shutil

    shutil.copytree(made.home, tmp_path / "north")
    return load(tmp_path / "north")


@functools.cache
def south_file() -> pairing.Pairing:
    return pairing.describe(SOUTH, Address("south.example", 7443))


def test_a_party_is_private_and_whole(made):
    for path in made.home.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        if path.is_dir():
            assert mode == 0o700
        elif path.parent.name == "keys":
            assert mode == 0o600
    identity = home.load_identity(made)
    assert identity.name == "north"
    assert identity.paillier.public.bits == 2048
    own = home.own_pairing(made)
    assert own.identity.paillier == identity.paillier.public
    assert own.identity.certificates == identity.certificate
    signature = identity.signing.sign(b"message")
    own.identity.signing.verify(signature, b"message")
    home.check_config_file(made)


def test_secrets_do_not_show(made):
    identity = home.load_identity(made)
    assert repr(identity) == "Identity(name='north')"


def test_nothing_is_overwritten(made):
    before = {path: path.read_bytes() for path in made.home.rglob("*") if path.is_file()}
    with pytest.raises(ConfigError, match="not empty"):
        home.make("north", made.home, ADDRESS, ADDRESS, 2048)
    assert before == {path: path.read_bytes() for path in made.home.rglob("*") if path.is_file()}


def test_weak_keys_are_not_made(tmp_path):
    with pytest.raises(KeyMaterialError, match="1024"):
        home.make("north", tmp_path / "x", ADDRESS, ADDRESS, 1024)
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


def test_hints_about_keys_work_as_they_are_written(party, monkeypatch, tmp_path):
    keys = tmp_path / "of north, 'old'" / "keys"
    keys.mkdir(parents=True)
    keys.chmod(0o755)
    with pytest.raises(ConfigError) as caught:
        check_private(keys)
    command = caught.value.hint.split("`")[1]
    subprocess.run(command, shell=True, check=True)
    check_private(keys)
    with pytest.raises(ConfigError) as caught:
        check_private(keys / "tls.key")
    assert caught.value.hint == "Restore it from a copy of the home."  # `duetto init` would refuse the home
    monkeypatch.setattr("os.geteuid", lambda: 1 << 30)
    with pytest.raises(ConfigError, match="belongs to another user") as caught:
        check_private(keys)
    assert f"`chown -R {1 << 30}: '" in caught.value.hint


@pytest.mark.parametrize("name", [".", "duetto.toml", "policy.toml", "catalog.toml", "ledger.jsonl", "audit"])
def test_what_every_user_may_write_is_refused(party, name):
    """Whoever may change the policy decides what is allowed, and the ledger says what is left."""
    path = party.home / name
    if not path.exists():
        path.touch(0o600)
    path.chmod(path.stat().st_mode | 0o002)
    with pytest.raises(ConfigError, match="Every user of this machine may write"), only_one(party):
        pytest.fail("a daemon would start")
    found = {each.check: each for each in doctor.examine_self(party)}["configuration"]
    assert found.verdict is doctor.Status.FAIL
    subprocess.run(found.hint.split("`")[1], shell=True, check=True)
    with only_one(party):
        pass


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
    (party.home / "keys" / "results.key").write_bytes(os.urandom(32))
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


def test_pairing_both_ways(party):
    stored = home.add_peer(party, south_file())
    config = load(party.path)
    assert config.peers == (stored,)
    assert str(stored.address) == "south.example:7443"
    assert home.load_peer(config, stored).paillier == SOUTH.paillier.public


def test_pairing_again_replaces_and_keeps_the_rest(party):
    text = party.path.read_text() + "\n# a remark\n[limits]\nsessions = 2\n"
    party.path.write_text(text)
    home.add_peer(load(party.path), south_file())
    third = replace(SOUTH, name="east", certificate=certificate.make("east")[0])
    home.add_peer(load(party.path), pairing.describe(third, Address("east.example", 1)))
    moved = pairing.describe(SOUTH, Address("south.example", 9))
    home.add_peer(load(party.path), moved)
    config = load(party.path)
    assert {peer.name: peer.address.port for peer in config.peers} == {"south": 9, "east": 1}
    assert config.limits.sessions == 2
    assert "# a remark" in party.path.read_text()
    assert home.load_peer(config, config.peer("south"))


def test_a_party_does_not_pair_with_itself(party):
    with pytest.raises(ConfigError, match="like this one"):
        home.add_peer(party, home.own_pairing(party))


def test_a_wrong_pin(party):
    home.add_peer(party, south_file())
    config = load(party.path)
    peer = config.peer("south")
    with pytest.raises(PairingError, match="pin of peer 'south'") as caught:
        home.load_peer(config, replace(peer, pin=home.own_pairing(party).fingerprint))
    assert "duetto pair" in caught.value.hint
    text = peer.pairing.read_text().replace("south.example", "evil.example")
    peer.pairing.write_text(text)
    with pytest.raises(PairingError, match="signature does not fit"):
        home.load_peer(config, peer)
    peer.pairing.write_text(pairing.describe(SOUTH, Address("evil.example", 7443)).text)
    with pytest.raises(PairingError, match="pin of peer 'south'"):
        home.load_peer(config, peer)


def test_a_file_of_another_name(party):
    home.add_peer(party, south_file())
    config = load(party.path)
    with pytest.raises(PairingError, match="made out to 'south'"):
        home.load_peer(config, replace(config.peer("south"), name="east"))


def of_version_1(made: pairing.Pairing) -> str:
    """A pairing file as releases before the proof wrote it."""
    document = json.loads(made.text) | {"duetto_pairing": 1}
    document["certificate"] = document.pop("certificates")
    del document["paillier_proof"], document["signature"]
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def test_a_file_without_proof_is_no_new_pairing(party):
    old = pairing.parse(of_version_1(south_file()))
    assert not old.proven
    with pytest.raises(PairingError, match="does not prove") as caught:
        home.add_peer(party, old)
    assert "renew-pairing" in caught.value.hint
    assert not load(party.path).peers


def test_a_home_that_was_paired_before_the_proof_starts_and_is_told_what_to_do(party):
    """The pin is on the old file; a new one from the peer, made with its old keys, replaces it."""
    home.add_peer(party, south_file())
    stored = load(party.path).peer("south")
    old = pairing.parse(of_version_1(south_file()))
    stored.pairing.write_text(old.text)
    text = party.path.read_text().replace(stored.pin, old.fingerprint)
    party.path.write_text(text)
    own = party.home / "north.pair"
    own.write_text(of_version_1(pairing.read(own)))
    config = load(party.path)
    assert home.load_peer(config, config.peer("south")).paillier == SOUTH.paillier.public
    findings = {(each.subject, each.check): each for each in doctor.examine_self(config)}
    assert findings["self", "keys"].verdict is doctor.Status.WARN
    first = next(iter(doctor.examine_peer(config, config.peer("south"))))
    assert (first.check, first.verdict) == ("pairing", doctor.Status.WARN)
    assert "renew-pairing" in first.hint
    renewed = home.renew_pairing(config)
    assert renewed.proven
    assert home.own_pairing(config).text == renewed.text
    assert renewed.address == ADDRESS
    home.add_peer(config, south_file())
    config = load(party.path)
    assert home.load_peer(config, config.peer("south")).paillier == SOUTH.paillier.public


def spoilt(path, how):
    """This party's pairing file, in one of the ways in which it cannot be used."""
    if how == "missing":
        path.unlink()
    else:
        path.write_text({"damaged": path.read_text()[:-9], "the peer's": south_file().text}[how])


@pytest.mark.parametrize("how", ["missing", "damaged", "the peer's"])
def test_a_pairing_file_that_is_gone_is_made_again_as_the_error_says(party, how):
    own = party.home / "north.pair"
    before = pairing.read(own)
    spoilt(own, how)
    config = ["--config", str(party.path)]

    def keys(*words):
        return CliRunner().invoke(keys_group, [*words, *config])

    shown = keys("show")
    assert shown.exit_code == exit_code(PairingError("x"))
    refused = keys("renew-pairing")
    assert refused.exit_code == shown.exit_code
    for done in (shown, refused):
        words = re.search(r"`duetto keys (renew-pairing --address) HOST:PORT`", " ".join(done.stderr.split()))
        assert words
    assert not (how == "missing" and own.exists())
    assert keys(*words[1].split(), str(ADDRESS)).exit_code == 0
    assert pairing.read(own) == before
    assert keys("show").exit_code == 0
    assert before.fingerprint in keys("show").stdout


def test_a_pairing_file_with_another_address(party):
    renewed = home.renew_pairing(party, Address("north.example", 17))
    assert str(renewed.address) == "north.example:17"
    assert home.own_pairing(party) == renewed
    assert home.renew_pairing(party).address == renewed.address


def test_a_peer_whose_modulus_shares_a_factor_with_phi_cannot_be_paired():
    """Its Paillier encryption does not decrypt, and masks under it do not reach the whole group."""
    p = gmpy2.next_prime(gmpy2.mpz(3) << 899)
    q = next(q for k in itertools.count(3 << 245, 2) if gmpy2.is_prime(q := k * p + 1))
    n = p * q
    key = check_public_key(n)  # which cannot see it
    proof = pairing._encoded(best_roots(n, (p - 1) * (q - 1)), key)
    with pytest.raises(PairingError, match="square-free and prime"):
        pairing.parse(changed(paillier=f"{int(n):x}", paillier_proof=proof))


def test_the_fingerprint():
    own = south_file()
    assert len(own.fingerprint.split("-")) == 8
    assert pairing.parse(own.text).fingerprint == own.fingerprint
    loose = json.dumps(json.loads(own.text), indent=2)
    assert pairing.parse(loose).fingerprint == own.fingerprint
    assert pairing.same_fingerprint(own.fingerprint.lower().replace("-", " "), own.fingerprint)
    assert not pairing.same_fingerprint(own.fingerprint[:-1], own.fingerprint)
    assert not pairing.same_fingerprint("", "")
    other = pairing.describe(SOUTH, Address("south.example", 7444))
    assert other.fingerprint != own.fingerprint


def changed(**fields) -> str:
    return pairing.sign({**json.loads(south_file().text), **fields}, SOUTH.signing)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 5000,
        changed(extra=1),
        changed(duetto_pairing=1),
        changed(duetto_pairing=4),
        changed(paillier_proof=""),
        changed(paillier_proof=json.loads(south_file().text)["paillier_proof"][::-1]),
        changed(paillier_proof="0" * len(json.loads(south_file().text)["paillier_proof"])),
        changed(paillier=f"{int(keys.real(Role.ALICE).public.n):x}"),
        changed(duetto_pairing=True),
        changed(name="South"),
        changed(name=3),
        changed(name="west"),
        changed(address="nowhere"),
        changed(certificates=""),
        changed(certificates=NORTH.certificate.decode()),
        changed(certificates=SOUTH.certificate.decode() * 2),
        changed(certificates=SOUTH.tls_key.decode()),
        changed(signing="00" * 31),
        changed(signing="zz" * 32),
        changed(paillier=""),
        changed(paillier="0x10"),
        changed(paillier="ff" * 600),
        changed(paillier=f"{int(keys.paper(Role.BOB).public.n):x}"),
        changed(paillier=f"{int(keys.real(Role.BOB).public.n) + 1:x}"),
    ],
)
def test_bad_pairing_files(text):
    with pytest.raises(PairingError) as caught:
        pairing.parse(text)
    assert caught.value.hint


@pytest.mark.filterwarnings("ignore::cryptography.utils.CryptographyDeprecationWarning")
@settings(max_examples=40)  # half of them reach the proof of the key, which takes a while
@given(st.binary(max_size=300), st.integers(0, 3000))
def test_damaged_pairing_files_raise_nothing_else(data, place):
    text = south_file().text.encode()
    damaged = text[:place] + data + text[place + len(data) :]
    try:
        pairing.parse(damaged.decode(errors="replace"))
    except PairingError:
        return


def test_a_pairing_file_that_is_none(tmp_path):
    with pytest.raises(PairingError, match="cannot be read"):
        pairing.read(tmp_path / "nothing")
    (tmp_path / "empty").touch()
    with pytest.raises(PairingError, match=re.escape(f"{tmp_path / 'empty'}: The pairing file is not valid")):
        pairing.read(tmp_path / "empty")
    (tmp_path / "long").write_bytes(b" " * 20000)
    with pytest.raises(PairingError, match="too long"):
        pairing.read(tmp_path / "long")


def test_dates():
    now = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
    pem, _ = certificate.make("north", now)
    assert certificate.days_left(pem, now) == 365
    assert certificate.days_left(pem, now + dt.timedelta(days=366)) < 0


def test_a_certificate_that_is_not_self_signed():
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization

    ca_key = serialization.load_pem_private_key(NORTH.tls_key, None)
    original = x509.load_pem_x509_certificate(SOUTH.certificate)
    forged = (
        x509.CertificateBuilder()
        .subject_name(original.subject)
        .issuer_name(original.issuer)
        .public_key(original.public_key())
        .serial_number(1)
        .not_valid_before(original.not_valid_before_utc)
        .not_valid_after(original.not_valid_after_utc)
        .add_extension(original.extensions.get_extension_for_class(x509.SubjectAlternativeName).value, False)
        .sign(ca_key, hashes.SHA256())
    )
    with pytest.raises(PairingError, match="malformed"):
        certificate.check(forged.public_bytes(serialization.Encoding.PEM), "south")


def test_atomic_writing(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old", 0o600)
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", lambda descriptor: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            write_atomically(path, b"new", 0o600)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    check_private(path)
    with pytest.raises(ConfigError, match="longer"):
        read_private(path, 2)


def test_what_a_kill_left_over_stands_in_nobodys_way(tmp_path, monkeypatch):
    """In a container every daemon has the same process id."""
    monkeypatch.setattr("os.getpid", lambda: 1)
    (tmp_path / ".heads.json.1.new").write_bytes(b"half")
    write_atomically(tmp_path / "heads.json", b"whole", 0o600)
    assert (tmp_path / "heads.json").read_bytes() == b"whole"


def test_left_overs_are_swept_when_a_daemon_starts(made):
    (made.home / "results").mkdir()
    old, young = made.home / "results" / ".0123456789abcdef.json.x.new", made.home / ".heads.json.y.new"
    for file in (old, young):
        file.write_bytes(b"half")
    os.utime(old, (1_600_000_000, 1_600_000_000))
    kept = {path for path in made.home.rglob("*") if path.is_file()} - {old}
    with only_one(made):
        assert {path for path in made.home.rglob("*") if path.is_file()} - {home.pid_path(made)} == kept


def test_a_socket_path_that_is_too_long(made):
    with pytest.raises(ConfigError, match="too long"):
        home.socket_path(replace(made, home=Path("/" + "x" * 120)))


def test_identity_is_a_value():
    assert isinstance(NORTH, Identity)
    with pytest.raises(AttributeError):
        NORTH.name = "other"
