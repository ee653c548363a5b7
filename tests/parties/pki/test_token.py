"""docs/operations.md, *The signing key in a token*: a token of SoftHSM signs, and has the key alone."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path
from shutil import which

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from parties.audit.files import read_log
from parties.audit.keys import find_forged
from parties.audit.lines import KEYS
from parties.certificates.verification import read_certificate
from parties.config import load
from parties.contracts.state import State
from parties.errors import ConfigError, KeysLocked, TokenError
from parties.pki import passphrase, token
from parties.pki.home import add_peer, load_identity, load_signing_file, own_pairing
from parties.pki.passphrase import DESCRIPTOR_VARIABLE, PIN_CREDENTIAL, PIN_VARIABLE
from parties.pki.signing import key_text
from parties.pki.token_setup import put_into_token
from scripts.processes import COMMAND, ended, started
from smc.forms import Role
from tests.parties.jobs.joined import Pair, job_file
from tests.parties.jobs.joined import run as run_job

MODULES = [Path("/usr/lib", *inner, "softhsm/libsofthsm2.so") for inner in ((), ("x86_64-linux-gnu",))]
MODULE = next((path for path in MODULES if path.exists()), None)
PIN = "482915"
LABELS = ("first", "second", "third")

pytest.importorskip("pkcs11", reason="needs python-pkcs11")
pytestmark = pytest.mark.skipif(
    MODULE is None or which("softhsm2-util") is None, reason="needs SoftHSM (on Debian softhsm2)"
)


@pytest.fixture(scope="module", autouse=True)
def tokens(tmp_path_factory):
    """Three tokens; the library reads where they lie when this process first uses it."""
    folder = tmp_path_factory.mktemp("softhsm")
    (folder / "tokens").mkdir()
    settings = folder / "softhsm2.conf"
    settings.write_text(f"directories.tokendir = {folder / 'tokens'}\nobjectstore.backend = file\n")
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("SOFTHSM2_CONF", str(settings))
        for label in LABELS:
            words = ["--init-token", "--free", "--label", label, "--so-pin", "12345678", "--pin", PIN]
            subprocess.run(["softhsm2-util", *words], check=True, capture_output=True, timeout=60)
        yield


@pytest.fixture
def pin(monkeypatch):
    """The PIN on a descriptor of this process, which is read once."""

    def give(text):
        reading, writing = os.pipe()
        os.write(writing, text.encode() + b"\n")
        os.close(writing)
        monkeypatch.setenv(PIN_VARIABLE, str(reading))

    return give


def run(home, *words, pin=PIN, code=0, old=""):
    """A command that gets the PIN by a descriptor, and the passphrase of the keys by another."""
    pipes, environment = [], dict(os.environ)
    for variable, text in ((PIN_VARIABLE, pin), (DESCRIPTOR_VARIABLE, old)):
        if text:
            reading, writing = os.pipe()
            os.write(writing, text.encode() + b"\n")
            os.close(writing)
            pipes.append(reading)
            environment[variable] = str(reading)
    done = subprocess.run(
        [*COMMAND, *words, "--config", str(home)],
        env=environment,
        pass_fds=pipes,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    for pipe in pipes:
        os.close(pipe)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def into(label, *more):
    return ("keys", "token", "--module", str(MODULE), "--token", label, *more)


def test_a_token_makes_the_key_of_a_new_party(party, tmp_path):
    before = own_pairing(party)
    assert "in the token first" in run(party.home, *into("first"))
    assert not (party.home / "keys" / "signing.key").exists()
    after = own_pairing(party)
    assert key_text(after.identity.signing) != key_text(before.identity.signing)
    assert after.counter > before.counter
    assert "in the token first" in run(party.home, "keys", "status", pin="")
    assert "in the token first" in run(party.home, *into("first"))  # what is done is not done again
    assert key_text(own_pairing(party).identity.signing) == key_text(after.identity.signing)
    lines = [line for line in read_log(party.home).lines if line.event == KEYS]
    assert {line.about["action"] for line in lines} == {"into-token"}
    assert find_forged(lines, after.identity.signing) == []
    export = tmp_path / "export"
    assert "no PIN" in run(party.home, "ledger", "export", "-o", str(export), pin="", code=78)
    assert "does not take the PIN" in run(
        party.home, "ledger", "export", "-o", str(export), pin="000000", code=78
    )
    run(party.home, "ledger", "export", "-o", str(export))
    run(party.home, "ledger", "verify", "--export", str(export), "--any-key")


def test_a_daemon_gets_the_pin_as_a_credential(party, tmp_path):
    run(party.home, *into("first"))
    assert "no PIN" in run(party.home, "party", "start", pin="", code=78)
    unit = run(party.home, "party", "install-service", "--print", pin="")
    assert "LoadCredentialEncrypted=duetto-pin:/etc/credstore.encrypted/duetto-pin-north" in unit
    (tmp_path / PIN_CREDENTIAL).write_text(PIN)
    daemon = started(party.home, environment={**os.environ, "CREDENTIALS_DIRECTORY": str(tmp_path)})
    try:
        assert "runs as process" in run(party.home, "party", "status", pin="")
        assert "runs already" in run(party.home, *into("second"), code=78)
    finally:
        ended(daemon)


def test_the_key_of_a_paired_party_is_copied_and_peers_notice_nothing(paired, party, pin):
    add_peer(party, own_pairing(load(paired / "south")))
    party = load(party.home)
    before = own_pairing(party)
    assert "another party" in run(party.home, *into("second"), code=2)
    pin(PIN)
    key = load_signing_file(party.home / "keys")
    place = put_into_token(party, MODULE, "second", copied=True)
    assert own_pairing(party).text == before.text
    signing = load_identity(party).signing
    assert signing.sign(b"said") == key.sign(b"said")  # Ed25519 signs the same alike
    assert not (party.home / "keys" / "signing.key").exists()
    secret = token.open_key(place)._key
    attribute = token._library().Attribute
    with pytest.raises(token._library().Error):
        secret[attribute.VALUE]
    assert (secret[attribute.SENSITIVE], secret[attribute.EXTRACTABLE]) == (True, False)


def test_keys_under_a_passphrase_and_a_token_together(party):
    words = "correct horse battery"
    run(party.home, *into("third"))
    os.environ.pop(passphrase.NEW_VARIABLE, None)
    reading, writing = os.pipe()
    os.write(writing, words.encode() + b"\n")
    os.close(writing)
    environment = {**os.environ, passphrase.NEW_VARIABLE: str(reading), PIN_VARIABLE: "0"}
    done = subprocess.run(
        [*COMMAND, "keys", "protect", "--config", str(party.home)],
        env=environment,
        pass_fds=[reading],
        input=PIN + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(reading)
    assert done.returncode == 0, done.stderr
    assert "under a passphrase" in done.stdout
    assert "in the token third" in done.stdout
    checks = run(party.home, "party", "health", pin="", code=1)
    assert "fail: keys" not in checks
    assert "in the token third" in run(party.home, *into("third"), old=words)


def test_a_session_that_ended_is_opened_again(party, pin):
    pin(PIN)
    place = put_into_token(party, MODULE, "third", copied=True)
    key = token.open_key(place)
    key._session.close()
    key.public_key().verify(key.sign(b"after"), b"after")


def test_threads_sign_by_one_session(party, pin):
    pin(PIN)
    key = token.open_key(put_into_token(party, MODULE, "third", copied=True))
    signed = {}
    threads = [
        threading.Thread(target=lambda text=text: signed.update({text: key.sign(text)}))
        for text in (bytes([number]) * 1000 for number in range(16))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(signed) == 16
    for text, signature in signed.items():
        key.public_key().verify(signature, text)


def test_a_move_that_was_cut_is_finished(party, pin):
    folder = party.home / "keys"
    pin(PIN)
    place = token.make_key(MODULE, "first", "north")
    place.write(folder)  # the end here, before the pairing file was written
    assert put_into_token(party, MODULE, "first", copied=False) == place
    assert key_text(own_pairing(party).identity.signing) == place.public_key
    assert not (folder / "signing.key").exists()


@pytest.mark.parametrize(
    ("label", "module", "error", "words"),
    [
        ("nowhere", MODULE, TokenError, "does not answer as it should"),
        ("first", Path("/bin/sh"), ConfigError, "as a module of PKCS#11"),
    ],
)
def test_what_cannot_be_reached_is_told_and_nothing_changes(party, pin, label, module, error, words):
    pin(PIN)
    with pytest.raises(error, match=words):
        put_into_token(party, module, label, copied=False)
    assert load_signing_file(party.home / "keys")
    assert token.read_place(party.home / "keys") is None


def test_a_place_with_another_key_is_refused(party, pin):
    pin(PIN)
    place = put_into_token(party, MODULE, "first", copied=True)
    other = token.TokenPlace(
        place.module, place.token, place.id, key_text(Ed25519PrivateKey.generate().public_key())
    )
    with pytest.raises(ConfigError, match="another one than"):
        token.TokenKey(other, PIN)
    missing = token.TokenPlace(place.module, place.token, "00" * 16, place.public_key)
    with pytest.raises(ConfigError, match="does not have the key"):
        token.TokenKey(missing, PIN)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"module": 1, "token": "", "id": "", "public_key": ""}'])
def test_a_damaged_place_is_refused(party, text):
    path = party.home / "keys" / token.FILE
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="is damaged"):
        load_identity(party)


def test_no_pin_is_asked_without_a_terminal():
    with pytest.raises(KeysLocked, match="there is no PIN"):
        passphrase.ask_pin("first", {})


def test_a_job_and_its_certificate_are_signed_by_the_token(party, pin, tmp_path):
    pin(PIN)
    key = token.open_key(put_into_token(party, MODULE, "second", copied=False))
    (tmp_path / "pair").mkdir()
    pair = Pair(tmp_path / "pair", {"north": key})
    try:
        job_id, north, south = run_job(pair, job_file("1/2"))
        assert (north.state, south.state) == (State.FINISHED, State.FINISHED)
        found = read_certificate(json.dumps(pair.south.certificate(job_id)).encode())
        assert key_text(found.keys[Role.ALICE]) == key_text(key.public_key())
        found.confirm(key.public_key(), Role.ALICE)
    finally:
        pair.close()
