"""docs/operations.md, *Keys under a passphrase*: the commands, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from parties.audit.files import read_log
from parties.audit.keys import find_forged
from parties.audit.lines import KEYS
from parties.config import load
from parties.pki.home import own_pairing
from parties.pki.passphrase import CREDENTIAL, DESCRIPTOR_VARIABLE, NEW_VARIABLE
from scripts.processes import COMMAND, ended, started

WORDS = "correct horse battery"
PARTS = "correct horse battery\nstaple of two persons"


def run(home, *words, old="", new="", code=0, folder=None):
    """A command that gets passphrases by descriptors, or by a folder of credentials; what it prints."""
    environment = {key: value for key, value in os.environ.items() if key != "CREDENTIALS_DIRECTORY"}
    pipes = []
    for variable, text in ((DESCRIPTOR_VARIABLE, old), (NEW_VARIABLE, new)):
        if text:
            reading, writing = os.pipe()
            os.write(writing, text.encode() + b"\n")
            os.close(writing)
            pipes.append(reading)
            environment[variable] = str(reading)
    if folder is not None:
        environment["CREDENTIALS_DIRECTORY"] = str(folder)
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


def test_one_passphrase_from_first_to_last(party, tmp_path):
    home = party.home
    assert "not protected" in run(home, "keys", "status")
    assert "no terminal" in run(home, "keys", "protect", code=2)
    assert "under a passphrase." in run(home, "keys", "protect", new=WORDS)
    assert "under a passphrase." in run(home, "keys", "status")
    assert "LoadCredentialEncrypted=duetto-passphrase:" in run(home, "party", "install-service", "--print")
    said = run(home, "party", "start", code=78)
    assert "there is no passphrase" in said
    assert "credential of systemd" in said
    assert "not the passphrase" in run(home, "party", "start", old="another passphrase", code=78)
    checks = json.loads(run(home, "party", "health", "--json", code=1))["checks"]
    assert {c["check"] for c in checks if c["verdict"] == "fail"} == set()  # ill, since no daemon runs
    assert "not looked at" in next(c["what"] for c in checks if c["check"] == "keys")
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    (credentials / CREDENTIAL).write_text(WORDS)
    environment = {**os.environ, "CREDENTIALS_DIRECTORY": str(credentials)}
    daemon = started(home, environment=environment)
    try:
        assert "runs as process" in run(home, "party", "status")  # asks for no passphrase
        assert "runs already" in run(home, "keys", "protect", new=WORDS, code=78)
        archive = tmp_path / "backup"
        run(home, "party", "backup", str(archive))
        assert b"PRIVATE KEY" not in archive.read_bytes()
    finally:
        ended(daemon)
    changed = "an entirely new one"
    run(home, "keys", "protect", old=WORDS, new=changed)
    run(home, "keys", "unprotect", old=WORDS, code=78)
    assert "not protected" in run(home, "keys", "unprotect", old=changed)
    run(home, "ledger", "verify")
    run(home, "log", "verify")
    actions = [line.about["action"] for line in read_log(home).lines if line.event == KEYS]
    assert actions == ["protected", "passphrase-changed", "unprotected"]
    assert find_forged(read_log(home).lines, own_pairing(load(home)).identity.signing) == []


def test_a_ceremony_of_two_persons(party, tmp_path):
    home = party.home
    run(home, "keys", "protect", "--person", "Ann Ash", "--person", "Bert Birch", new=PARTS)
    assert "in two parts" in run(home, "keys", "status")
    (line,) = [line for line in read_log(home).lines if line.event == KEYS]
    assert (line.about["actor"], line.about["parts"]) == ("Ann Ash; Bert Birch", 2)
    assert find_forged([line], own_pairing(party).identity.signing) == []
    one = PARTS.partition("\n")[0]
    assert "does not hold 2 lines" in run(home, "party", "start", old=one, code=78)
    assert "not the passphrase" in run(home, "party", "start", old=f"{one}\n{one}", code=78)
    archive, elsewhere = tmp_path / "north.tar", tmp_path / "elsewhere"
    run(home, "party", "pack", str(archive), old=PARTS)
    done = subprocess.run(
        [*COMMAND, "party", "unpack", str(archive), "--home", str(elsewhere)],
        env={**os.environ, DESCRIPTOR_VARIABLE: "0"},
        input=PARTS,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "in two parts" in run(elsewhere, "keys", "status")


@pytest.mark.parametrize("names", [("Ann", "Bert", "Cleo")])
def test_there_are_two_parts_at_most(party, names):
    words = [word for name in names for word in ("--person", name)]
    assert "two parts at most" in run(party.home, "keys", "protect", *words, new=PARTS, code=2)
