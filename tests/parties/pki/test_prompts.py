"""docs/operations.md, *Keys under a passphrase*: what a terminal is asked, and the credential of systemd."""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from parties.audit.files import read_log
from parties.audit.lines import KEYS
from parties.pki.passphrase import CREDENTIAL
from scripts.processes import COMMAND
from tests.parties.pki.test_protecting import run

PAGE = (Path(__file__).parents[3] / "docs" / "operations.md").read_text(encoding="utf-8")
ANN, BERT = "correct horse battery", "staple of two persons"
WITHOUT = ("CREDENTIALS_DIRECTORY", "DUETTO_PASSPHRASE_FD", "DUETTO_NEW_PASSPHRASE_FD")


class Terminal:
    """A command in a terminal of its own, where somebody types."""

    def __init__(self, words):
        self._here, there = pty.openpty()
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *map(str, words)],
            stdin=there,
            stdout=there,
            stderr=there,
            env={name: value for name, value in os.environ.items() if name not in WITHOUT},
        )
        os.close(there)
        self.said, self._read = "", 0

    def reads(self, words):
        """Wait until the command has said these words, behind those that were waited for before."""
        while words not in self.said[self._read :]:
            try:
                piece = os.read(self._here, 1 << 12)
            except OSError:  # it has ended
                piece = b""
            assert piece, self.said
            self.said += piece.decode(errors="replace")
        self._read = self.said.index(words, self._read) + len(words)

    def types(self, text):
        os.write(self._here, f"{text}\n".encode())

    def ends(self):
        """Its status, when it has said everything."""
        try:
            while piece := os.read(self._here, 1 << 12):
                self.said += piece.decode(errors="replace")
        except OSError:
            pass
        os.close(self._here)
        return self.process.wait(60)


@contextmanager
def typing(*words):
    terminal = Terminal(words)
    try:
        yield terminal
    finally:
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.process.wait()


def test_two_persons_type_their_parts_and_nobody_sees_them(party):
    """The ceremony of the page, to the start of the daemon."""
    (line,) = re.findall(r"^duetto keys protect --person.*$", PAGE, re.M)
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)[1:]]
    with typing(*COMMAND, *words, "--config", party.home) as desk:
        for name, part in (("Ann Ash", ANN), ("Bert Birch", BERT)):
            desk.reads(f"Part of {name}: ")
            desk.types(part)
            desk.reads("Repeat for confirmation: ")
            desk.types(part)
        assert desk.ends() == 0, desk.said
    assert "Ann Ash types a part; nobody else looks." in desk.said
    with typing(*COMMAND, "party", "start", "--config", party.home) as daemon:
        daemon.reads("Part 1 of the passphrase: ")
        daemon.types(ANN)
        daemon.reads("Part 2 of the passphrase: ")
        daemon.types(BERT)
        daemon.reads("ready: ")
        daemon.process.send_signal(signal.SIGINT)
        daemon.ends()
    for part in (ANN, BERT):
        assert part not in desk.said + daemon.said
    (record,) = [line for line in read_log(party.home).lines if line.event == KEYS]
    assert record.about["actor"] == "Ann Ash; Bert Birch"


def test_a_wrong_passphrase_at_the_terminal_changes_nothing(party):
    with typing(*COMMAND, "keys", "protect", "--config", party.home) as desk:
        desk.reads("New passphrase: ")
        desk.types(ANN)
        desk.reads("Repeat for confirmation: ")
        desk.types(f"{ANN}!")
        desk.reads("New passphrase: ")  # they differ, so it asks again
        desk.types(ANN)
        desk.reads("Repeat for confirmation: ")
        desk.types(ANN)
        assert desk.ends() == 0, desk.said
    with typing(*COMMAND, "keys", "unprotect", "--config", party.home) as desk:
        desk.reads("Passphrase of the keys: ")
        desk.types(BERT)
        assert desk.ends() == 78
    assert "That is not the passphrase of the keys." in desk.said
    assert "under a passphrase." in run(party.home, "keys", "status")


@pytest.mark.skipif(shutil.which("systemd-creds") is None, reason="systemd-creds is not installed")
def test_the_credential_that_the_page_makes_opens_the_keys(party, tmp_path):
    """By the line of the page, but for the file and the key: one that no machine has to keep."""
    run(party.home, "keys", "protect", new=ANN)
    (line,) = re.findall(r"^systemd-ask-password -n \| systemd-creds encrypt .*$", PAGE, re.M)
    sealed, folder = tmp_path / "sealed", tmp_path / "credentials"
    line = line.replace("/etc/credstore.encrypted/duetto-north", str(sealed))
    line = line.replace("encrypt ", "--with-key=tpm2-absent encrypt ")
    with typing("sh", "-c", line) as desk:
        desk.reads(": ")
        desk.types(ANN)
        status = desk.ends()
    if not sealed.exists():
        pytest.skip(f"systemd-creds does not work here: status {status}, {desk.said[-200:]}")
    assert ANN.encode() not in sealed.read_bytes()
    folder.mkdir()
    opened = ["systemd-creds", "decrypt", f"--name={CREDENTIAL}", str(sealed), str(folder / CREDENTIAL)]
    subprocess.run(opened, check=True, capture_output=True, timeout=60)  # what systemd does for a unit
    assert "not protected" in run(party.home, "keys", "unprotect", folder=folder)
