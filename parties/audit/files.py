"""The files of an audit log, read and checked.

They lie in the folder `audit` of the home and are named by the number of their first line. A file is closed
when it has grown to `FILE_BYTES`; the first line of the next one carries the hash of its last. Older files
may be moved away: what is left is a chain that begins later.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from parties.audit.lines import GENESIS, AuditError, AuditLine, parse_line

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
        return bool(self.lines) and self.lines[0].number > 0


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
    for number, path in enumerate(paths):
        found, tail = read_file(path, lines[-1] if lines else None)
        if tail and number + 1 < len(paths):
            raise broken(path, len(found), "is cut off")
        lines += found
    return AuditLog(tuple(lines), tuple(sorted(path.name for path in folder.glob("*.torn-*"))))


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
        raise _unreadable(folder, problem) from None


def name_of(number: int) -> str:
    """The name of the file whose first line has that number."""
    return f"{number:012d}.jsonl"


def read_file(path: Path, before: AuditLine | None) -> tuple[list[AuditLine], bytes]:
    """The lines of a file, checked.

    Args:
        path: the file.
        before: the last line of the file before; None if that is not here.

    Returns:
        The whole lines, and what follows the last newline.

    Raises:
        AuditError: as `read_log`.
    """
    try:
        *pieces, tail = path.read_bytes().split(b"\n")
    except OSError as problem:
        raise _unreadable(path, problem) from None
    lines: list[AuditLine] = []
    for place, piece in enumerate(pieces):
        try:
            lines.append(parse_line(piece))
        except (ValueError, RecursionError):
            raise broken(path, place, "cannot be read") from None
    for place, (first, second) in enumerate(pairwise([before, *lines])):
        if second is not None and not second.follows(first):
            raise broken(path, place, "is not the successor of the one before")
    if lines and path.name != name_of(lines[0].number):
        raise broken(path, 0, "is not the one that the file is named after")
    if lines and lines[0].number == 0 and lines[0].previous != GENESIS:
        raise broken(path, 0, "is not a first line")
    return lines, tail


def _unreadable(path: Path, problem: OSError) -> AuditError:
    return AuditError(
        f"{path} cannot be read: {problem.strerror or type(problem).__name__}.",
        "Give this user the right to read it.",
    )


def broken(path: Path, place: int, how: str) -> AuditError:
    """The error that the line at a place in a file, counted from 0, is not as it was written."""
    return AuditError(f"The audit log is broken: line {place + 1} of {path} {how}.", _KEEP)
