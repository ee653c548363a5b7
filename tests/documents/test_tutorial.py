"""The tutorial runs as it stands there: two fresh homes, two daemons, and the outputs that it shows.

The page is the only source of commands, files and outputs. Replaced are the addresses, by free ports of this
machine, and `ID`, by the latest job. Files go where the page says, and the data are as it describes them.
What of these pages is only parsed, stands in `NOT_RUN`. `scripts/check` runs the page each time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

import pytest

from scripts.processes import free_port
from tests.documents.console import Typed, is_shown, typed

ROOT = Path(__file__).parents[2]
HOME = Path(".config", "duetto")
NAMES = ("north", "south")
SECONDS = 120
"""Longest that a command may take; one that waits for ever ends the test."""

NOT_RUN = MappingProxyType(
    {
        "scripts/environment": "the environment of the tests is there",
        "sudo": "changes the machine",
        "nft": "changes the machine",
        "podman": "needs a builder of images",
        "rsync": "needs another machine",
        "openssl": "tests/parties/cluster/test_page.py runs them",
        "dask": "the same",
        "cd": "each line begins in the folder of the party",
        "duetto notice test": "tests/parties/daemon/test_notices.py runs it by each of the sections",
        "duetto ledger stamp": "needs a service; tests/parties/stamps run it with one of their own",
        "duetto keys protect": "asks at a terminal; tests/parties/pki/test_protecting.py runs it",
        "duetto keys unprotect": "the same",
        "duetto party stop --drain": "ends what is asked later; tests/parties/cli/test_draining.py runs it",
        "duetto peer open": "there is no closed peer; tests/parties/test_closed_peers.py runs it",
        "duetto keys token": "needs a token; tests/parties/pki/test_token.py runs it with SoftHSM",
        "systemd-ask-password": "changes the machine",
        "duetto init north --home": "names of containers; tests/parties/daemon/test_containers.py reads them",
        "duetto init south --home": "the same",
        "duetto pair south/": "the same",
        "duetto pair north/": "the same",
    }
)
"""Beginnings of lines on docs/operations.md and docs/tutorial.md that are only parsed, and why."""

ANYWHERE = ("duetto anonymize", "duetto risk")
"""What needs no party, runs once, and takes its time."""


class Hospital:
    """Where a party is used: a folder to work in, the home folder too, and the daemon started there."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.address = f"127.0.0.1:{free_port()}"
        self.daemon: subprocess.Popen[str] | None = None
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("DUETTO_", "XDG_"))}
        self.environment = {
            **kept,
            "HOME": str(folder),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "OMP_NUM_THREADS": "1",
        }

    def run(self, line: str, answers: str = "") -> str:
        """What a shell prints for a line, which has to succeed."""
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self.environment,
            input=answers,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}"
        # What is typed is not echoed, since this is not a terminal.
        return re.sub(r"(\[y/N\]: )", rf"\1{answers}", done.stdout) if answers else done.stdout

    def start(self, line: str) -> str:
        """The first line that a process in the background prints."""
        self.daemon = subprocess.Popen(
            ["bash", "-c", f"exec {line}"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.daemon.stdout is not None
        return self.daemon.stdout.readline()

    def end(self) -> None:
        if self.daemon is not None:
            self.daemon.terminate()
            try:
                self.daemon.wait(30)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()

    def latest_job(self) -> str:
        return json.loads(self.run("duetto job list --json"))["jobs"][0]["job_id"]


class Reader:
    """Somebody at each of two hospitals who does what a page says, from top to bottom."""

    def __init__(self, folder: Path) -> None:
        programs = folder / "bin"
        programs.mkdir()
        command = programs / "duetto"
        run = "from parties.cli.main import main; main()"
        command.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -c "{run}" "$@"\n')
        command.chmod(0o755)
        self.at = {}
        for name in NAMES:
            (folder / name).mkdir()
            self.at[name] = Hospital(folder / name, programs)
        self.ran: list[str] = []

    def follow(self, page: str, *, anywhere: bool = False) -> None:
        """Write its files and type its commands: those that need a party, or those that need none."""
        text = (ROOT / page).read_text(encoding="utf-8")
        for name, hospital in self.at.items():
            text = text.replace(f"{name}.example:7443", hospital.address)
        for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            if language == "toml":
                self._write(block)
            elif language in ("", "console"):
                for command in typed(block):
                    if command.line.startswith(ANYWHERE) is anywhere:
                        self._do(command)

    def _write(self, block: str) -> None:
        found = re.match(r"# (\w+\.toml)", block)
        if found is None:
            return  # a part of a file, which test_blocks.py parses
        for name, hospital in self.at.items():
            folder = HOME if found[1] in ("catalog.toml", "policy.toml") else Path()
            # As its comment says, the other side's policy has the names exchanged.
            here = block.replace('"south"', f'"{self._other(name)}"') if found[1] == "policy.toml" else block
            (hospital.folder / folder / found[1]).write_text(here, encoding="utf-8")

    def _do(self, command: Typed) -> None:
        if command.line.startswith(tuple(NOT_RUN)):
            return
        both = not command.party and not command.line.startswith(ANYWHERE)
        for name in NAMES if both else [command.party or "north"]:
            hospital = self.at[name]
            line = re.sub(r"\bID\b|\b5f2a91c0\b", lambda _: self.at["north"].latest_job(), command.line)
            if re.search(r"& *$", line):
                output = hospital.start(line.rstrip(" &"))
            else:
                answers = re.findall(r"\[y/N\]: (\w+)$", "\n".join(command.shown), re.MULTILINE)
                output = hospital.run(line, "".join(f"{answer}\n" for answer in answers))
            assert not command.shown or is_shown(command.shown, output), f"{line}\n{output}"
            self.ran.append(" ".join(command.line.split()[1:3]))
            if line.startswith("duetto init"):
                self._exchange(name)

    def _exchange(self, name: str) -> None:
        """The pairing file goes to the other side, and the data next to the catalog."""
        hospital = self.at[name]
        shutil.copy(hospital.folder / HOME / f"{name}.pair", self.at[self._other(name)].folder)
        first = 80 * NAMES.index(name)
        rows = [f"{card:06},{20 + (card * 7 + first) % 60}\n" for card in range(first, first + 150)]
        (hospital.folder / HOME / "patients.csv").write_text("card,age\n" + "".join(rows))

    @staticmethod
    def _other(name: str) -> str:
        return NAMES[1 - NAMES.index(name)]

    def close(self) -> None:
        for hospital in self.at.values():
            hospital.end()


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """Who has followed the tutorial; both daemons run."""
    made = Reader(tmp_path_factory.mktemp("tutorial"))
    try:
        made.follow("docs/tutorial.md")
        yield made
    finally:
        made.close()


@pytest.mark.slow
def test_the_tutorial_runs_and_shows_what_comes_out(reader: Reader) -> None:
    assert reader.ran.count("job submit") == 4
    assert reader.ran.count("job approve") == 4
    assert {"party start", "policy test", "ledger show", "job certificate", "pool status"} <= set(reader.ran)


@pytest.mark.slow
def test_a_table_for_publication(reader: Reader) -> None:
    """tests/anonymizer/test_documentation.py runs the like of it each time."""
    pytest.importorskip("opendp")
    folder = reader.at["north"].folder
    shutil.copy(ROOT / "docs" / "examples" / "patients.csv", folder / "data.csv")
    reader.follow("docs/tutorial.md", anywhere=True)
    assert (folder / "release.csv").stat().st_size > 0


@pytest.mark.slow
def test_operations_look_at_what_the_tutorial_has_left(reader: Reader) -> None:
    before = len(reader.ran)
    reader.follow("docs/operations.md")
    assert {"log show", "log verify", "party health", "party install-service"} <= set(reader.ran[before:])


def test_an_output_that_drifts_is_found() -> None:
    shown = ("...", "│ size │", "loss: epsilon 1, ...")
    assert is_shown(shown, "a\nb\n│ size │  \nloss: epsilon 1, delta 2\n")
    assert is_shown(shown, "│ size │\nloss: epsilon 1, \n")
    for other in ("│ sizes │\nloss: epsilon 1, x", "│ size │\n", "│ size │\nloss: epsilon 1, x\nmore"):
        assert not is_shown(shown, other)
