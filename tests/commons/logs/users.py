"""The five logs of both houses, each written and read in the way of its house; and crashes at every step.

Run as a program with the name of a user and a folder, it writes a record again and again in processes of
their own, each of which is killed one call of the operating system later.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anonymizer.releases.guarantee import Guarantee
from anonymizer.releases.ledger import NAME, ReleaseLedger, SourceTable
from anonymizer.releases.manifest import Manifest
from commons.logs import files
from parties.audit.files import read_log
from parties.audit.lines import STATE
from parties.audit.writer import Audit
from parties.disclosure.history import History
from parties.ledger.accounting import Account, RunLimits
from parties.ledger.book import Ledger
from parties.session.pools import PoolStore
from smc.oblivious.pool import PoolInfo
from tests.parties.disclosure.history_runs import job, record

NUMBERS = range(1, 4)
START = ("nothing", "one", "half of a line", "all but a newline")


class User(ABC):
    """One of them, opened as by a process that starts."""

    file: str
    """Path of the log in the folder."""
    chained = True
    """Whether a line that lacks its newline alone counts, and pieces of lines are put aside."""
    stays = False
    """Whether what was written stays even if something fails after it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def prepare(cls, folder: Path) -> None:
        """Make the folder and what the log needs."""
        folder.mkdir()

    @abstractmethod
    def write(self, number: int) -> None:
        """Write a record; on return it is to be on the disk."""

    @abstractmethod
    def numbers(self) -> list[int]:
        """The records that are there, as a reader sees them."""


class LedgerUser(User):
    file = "ledger.jsonl"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.ledger = Ledger(folder / self.file)

    def write(self, number: int) -> None:
        self.ledger.begin(f"{number:064x}", Account.of("d"), "d", "south", RunLimits("r"))

    def numbers(self) -> list[int]:
        return [int(entry.job, 16) for entry in Ledger(self.folder / self.file).entries()]


class AuditUser(User):
    file = "audit/000000000000.jsonl"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.audit = Audit(folder, lambda: "2026-03-01T12:00:00Z")

    def write(self, number: int) -> None:
        self.audit.write(STATE, job=str(number))

    def numbers(self) -> list[int]:
        return [int(line.about["job"]) for line in read_log(self.folder).lines if line.event == STATE]


class HistoryUser(User):
    file = "exact-jobs.log"
    chained = False

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.history = History(folder)

    @classmethod
    def prepare(cls, folder: Path) -> None:
        super().prepare(folder)
        (folder / "keys").mkdir(mode=0o700)
        History(folder).secret()
        (folder / "exact-jobs.log").unlink()

    def write(self, number: int) -> None:
        persons = range(100 * number, 100 * number + 8)
        record(self.history, job(self.history, persons, job=str(number)))

    def numbers(self) -> list[int]:
        return [int(one.job) for one in History(self.folder).records()]


class PoolsUser(User):
    """Its records are the names of pools that were taken: copies of them are refused."""

    file = "pools/taken.log"
    chained = False
    stays = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.store = PoolStore(folder)

    @classmethod
    def prepare(cls, folder: Path) -> None:
        super().prepare(folder)
        (folder / "keys").mkdir(mode=0o700)
        for number in NUMBERS:
            PoolStore(folder).put("south", PoolInfo(bytes([number]) * 32, 128, 32, True), b"secret")
        shutil.copytree(folder / "pools" / "south", folder / "copies")

    def write(self, number: int) -> None:
        assert self.store.take("south", bytes([number]) * 32) == b"secret"

    def numbers(self) -> list[int]:
        shutil.copytree(self.folder / "copies", self.folder / "pools" / "south", dirs_exist_ok=True)
        left = {file.stored.name[0] for file in PoolStore(self.folder).list()}
        return [number for number in NUMBERS if number not in left]


class ReleasesUser(User):
    file = NAME

    def write(self, number: int) -> None:
        claim = Guarantee("dp", {"epsilon": 1.0, "delta": 0.0}, "record", ("age",))
        manifest = Manifest(guarantees=(claim,), files={f"{number}.csv": "2" * 64}, rows=10)
        with ReleaseLedger(self.folder / NAME).open() as held:
            held.record(SourceTable("data.csv", "1" * 64), manifest, self.folder / f"{number}.csv")

    def numbers(self) -> list[int]:
        found = ReleaseLedger(self.folder / NAME).history(SourceTable("data.csv", "1" * 64))
        return [int(one.output.removesuffix(".csv")) for one in found.releases]


USERS: dict[str, type[User]] = {
    "ledger": LedgerUser,
    "audit": AuditUser,
    "exact jobs": HistoryUser,
    "taken pools": PoolsUser,
    "releases": ReleasesUser,
}


def begin(kind: type[User], folder: Path, start: str) -> tuple[list[int], bytes]:
    """Make a log as a crash may have left it: the records that are there for certain, and a piece of one."""
    kind.prepare(folder)
    path = folder / kind.file
    if start == "nothing":
        return [], b""
    kind(folder).write(1)
    whole = path.read_bytes()
    if start == "one":
        return [1], b""
    kind(folder).write(2)
    piece = path.read_bytes()[len(whole) :]
    piece = piece[:-1] if start == "all but a newline" else piece[: len(piece) // 2]
    path.write_bytes(whole + piece)
    return [1], piece


class Disk:
    """The module `os` for `commons.logs.files`, in which `action` takes the place of the call of a number.

    Half of what was to be written stands in the file before it.
    """

    def __init__(
        self,
        number: int,
        action: Callable[[], None],
        *,
        lasting: bool = False,
        names: tuple[str, ...] = ("open", "pwrite", "fsync", "ftruncate"),
    ) -> None:
        self.number = number
        self.action = action
        self.names = names
        self.lasting = lasting
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(os, name)
        if name not in self.names:
            return found

        def call(*arguments: Any, **more: Any) -> Any:
            self.calls += 1
            if self.calls == self.number or (self.lasting and self.calls > self.number):
                if name == "pwrite":
                    found(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2], arguments[2])
                self.action()
            return found(*arguments, **more)

        return call


def kill_everywhere(kind: type[User], folder: Path) -> None:
    """Write the third record in processes that are killed at ever later calls, until one is not.

    The folder gets one for each start and number of a call. In it a file `piece` holds what the start left of
    a line, and a file `written` says that `write` returned.
    """
    for start in START:
        for number in range(1, 100):
            home = folder / f"{start}-{number}"
            (home / "piece").write_bytes(begin(kind, home, start)[1])
            child = os.fork()
            if not child:
                files.os = Disk(number, lambda: os.kill(os.getpid(), signal.SIGKILL))  # type: ignore[assignment]
                kind(home).write(3)
                (home / "written").touch()
                os._exit(0)
            if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
                break


if __name__ == "__main__":
    kill_everywhere(USERS[sys.argv[1]], Path(sys.argv[2]))
