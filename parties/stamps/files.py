"""Stamps as files, `stamps/TIME-DIGEST.stamp` in the home: a statement, and what was signed of it."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from commons.logs.lines import canonical
from parties.bounded_files import read_bounded
from parties.errors import StampError
from parties.exits import why_unreadable
from parties.pki.files import PRIVATE, PRIVATE_FOLDER, write_atomically
from parties.stamps.statement import StampStatement, parse_statement
from parties.stamps.tokens import MAX_ANSWER

FOLDER: Final = "stamps"
FAILURE: Final = "failure.json"
MAX_FILE: Final = 2 * MAX_ANSWER

_PATTERN: Final = "*.stamp"
_TIME: Final = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class StampFile:
    """A stamp as it is kept, of which nothing is checked yet.

    Attributes:
        name: of the file.
        statement: what it is about.
        answer: of the service, DER.
    """

    name: str
    statement: StampStatement
    answer: bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the last try failed.

    Attributes:
        time: when, RFC 3339 in UTC.
        why: what happened.
    """

    time: str
    why: str


def write_stamp(home: Path, statement: StampStatement, answer: bytes, time: datetime) -> Path:
    """Keep a stamp in the home.

    Args:
        home: the folder of the party.
        statement: what was stamped.
        answer: of the service, checked.
        time: that the service states.

    Raises:
        StampError: the file cannot be written.
    """
    digest = hashlib.sha256(statement.data).hexdigest()
    path = home / FOLDER / f"{time:{_TIME}}-{digest[:12]}.stamp"
    document = {"statement": statement.document(), "answer": base64.b64encode(answer).decode()}
    _write(path, document)
    return path


def stamp_paths(folder: Path) -> list[Path]:
    """The files of a folder by their names, which begin with their times; none where there is no folder.

    Raises:
        StampError: the folder cannot be read.
    """
    try:
        return sorted(path for path in folder.iterdir() if path.match(_PATTERN))
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise StampError(
            f"{folder} cannot be read: {why_unreadable(problem)}.", "Give the path of a folder with stamps."
        ) from None


def read_stamp(path: Path) -> StampFile:
    """Read a stamp.

    Raises:
        StampError: it is none.
        UsageError: the file cannot be read.
    """
    none = StampError(f"{path.name} is not a stamp as duetto writes them.", "Bring back a copy of the file.")
    data = read_bounded(path, MAX_FILE, none)
    try:
        document: Any = json.loads(data)
        if set(document) != {"statement", "answer"}:
            raise none
        answer = base64.b64decode(document["answer"], validate=True)
        return StampFile(path.name, parse_statement(document["statement"]), answer)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise none from None


def note_failure(home: Path, failure: Failure | None) -> None:
    """Keep why the last try failed, for `duetto doctor`; None after one that has not.

    Raises:
        StampError: the file cannot be written.
    """
    path = home / FOLDER / FAILURE
    if failure is None:
        path.unlink(missing_ok=True)
        return
    _write(path, {"time": failure.time, "why": failure.why})


def read_failure(home: Path) -> Failure | None:
    """Why the last try failed; None if it has not, or if nobody knows."""
    try:
        document: Any = json.loads((home / FOLDER / FAILURE).read_bytes())
        return Failure(str(document["time"]), str(document["why"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write(path: Path, document: dict[str, Any]) -> None:
    try:
        path.parent.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        write_atomically(path, canonical(document) + b"\n", PRIVATE)
    except OSError as problem:
        raise StampError(
            f"{path} cannot be written: {why_unreadable(problem)}.",
            "Free space on the disk, or give this user the right to write there.",
        ) from None
