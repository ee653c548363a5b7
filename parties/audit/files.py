"""The files of an audit log, read and checked.

They lie in the folder `audit` of the home and are named by the number of their first line. A file is closed
when it has grown to `FILE_BYTES`; the first line of the next one carries the hash of its last. Older files
may be moved away: what is left is a chain that begins later.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from commons.logs.chain import DISCONTINUOUS, ChainedLog
from commons.logs.files import TORN, ForeignWrite
from commons.logs.lines import ANY, START
from parties.audit.lines import AuditError, AuditLine, parse_line

FOLDER: Final = "audit"
FILE_BYTES: Final = 4 << 20
"""At this length a file is closed, and the next one begun."""

_KEEP: Final = (
    "Move its folder away and keep it as evidence; the daemon begins a new log when it is started again."
)


@dataclass(frozen=True, slots=True)
class AuditLog:
    """The whole log as it was found.

    Attributes:
        lines: all lines, in their order.
        torn: names of files with pieces of lines that a crash cut off.
    """

    lines: tuple[AuditLine, ...]
    torn: tuple[str, ...]

    @property
    def begins_later(self) -> bool:
        """Whether files before the first line were moved away."""
        return bool(self.lines) and self.lines[0].sequence > 0


def read_log(home: Path) -> AuditLog:
    """Read all files and check that they are one chain.

    The piece of a line at the very end, which a running daemon may be writing, is left out.

    Args:
        home: the folder of the party.

    Raises:
        AuditError: a line is changed, missing or in another place; says which.
    """
    folder = home / FOLDER
    lines: list[AuditLine] = []
    paths = files(folder)
    for path in paths:
        chain = log_file(path, lines[-1] if lines else None).read()
        if chain.tail and path != paths[-1]:
            raise _broken_error(path, len(chain.lines), "is cut off")
        lines += chain.lines
    return AuditLog(tuple(lines), tuple(sorted(path.name for path in folder.glob(f"*{TORN}*"))))


def files(folder: Path) -> list[Path]:
    """The files of a log in their order; none where the folder is missing.

    Raises:
        AuditError: the folder cannot be read, so that nobody knows what is in it.
    """
    try:
        return sorted(path for path in folder.iterdir() if path.match("[0-9]*.jsonl"))
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise unusable(folder, problem) from None


def name_of(number: int) -> str:
    """The name of the file whose first line has that number."""
    return f"{number:012d}.jsonl"


def log_file(path: Path, before: AuditLine | None) -> ChainedLog[AuditLine]:
    """One file of a log.

    Args:
        path: the file; its name says with which line it begins.
        before: the last line of the file before; None if that is not here.

    Raises:
        AuditError: it has no such name, or the lines between the two files are missing.
    """
    first = int(path.stem) if path.stem.isdecimal() else -1
    if path.name != name_of(first) or (before is not None and before.sequence + 1 != first):
        raise _broken_error(path, 0, DISCONTINUOUS)
    known = before.hash if before is not None else ANY
    after = (first - 1, known) if first else START
    return ChainedLog(path, parse_line, partial(_broken_error, path), partial(unusable, path), after=after)


def unusable(path: Path, problem: OSError) -> AuditError:
    """The error that the operating system does not let a file or folder of a log be used."""
    if isinstance(problem, ForeignWrite):
        return AuditError(
            f"Another program has written to {path}.",
            "Stop the daemon, and look at the file with `duetto log verify`.",
        )
    return AuditError(
        f"The audit log {path} cannot be used: {problem.strerror or type(problem).__name__}.",
        "Free space on the disk, or give this user the right to read and write there.",
    )


def _broken_error(path: Path, place: int, how: str) -> AuditError:
    return AuditError(f"The audit log is broken: line {place + 1} of {path} {how}.", _KEEP)
