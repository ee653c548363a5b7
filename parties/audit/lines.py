"""Lines of the audit log, each of which carries the hash of the one before."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from typing_extensions import override

from commons.logs.lines import Line
from parties.errors import StorageError
from parties.texts import escape_unprintable

LOG_CREATED: Final = "begun"
STARTED: Final = "daemon-started"
STOPPED: Final = "daemon-stopped"
RELOADED: Final = "reloaded"
PROPOSED: Final = "proposed"
STATE: Final = "state"
DECIDED: Final = "decided"
SIGNED: Final = "signed"
REFUSED: Final = "refused"
FORGOTTEN: Final = "forgotten"
TORN: Final = "torn"
FILLED: Final = "filled"
GAP: Final = "gap"
KEYS: Final = "keys"
CLOSED: Final = "peer-closed"
OPENED: Final = "peer-opened"
AUDIT_DUE: Final = "audit-due"

EVENTS: Final = (
    *(
        LOG_CREATED,
        STARTED,
        STOPPED,
        RELOADED,
        PROPOSED,
        STATE,
        DECIDED,
        SIGNED,
        REFUSED,
        FORGOTTEN,
        TORN,
        FILLED,
        GAP,
        KEYS,
        CLOSED,
        OPENED,
        AUDIT_DUE,
    ),
)

ENTRIES: Final = "entries"
"""What lines call the number of entries that the ledger had when they were written."""

LINE: Final = "line"
"""What lines about gaps call the highest number of a line that is lost, where that is known."""

MAX_TEXT: Final = 300
"""The longest text of a line, in characters; longer ones are cut off, but those of `WHOLE`."""

WHOLE: Final = frozenset({"key", "signature"})
"""Texts that were checked before, and of which a part is worth nothing."""

MAX_TEXT_BYTES: Final = 4 * MAX_TEXT
"""The same as it is written, where a character may take twelve bytes."""

MAX_LINE: Final = 16384
"""The longest line, in bytes: what a line of the most and longest fields needs, and some more."""

_HEAD: Final = frozenset({"number", "previous", "time", "event", "hash"})
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


class AuditError(StorageError):
    """The audit log is broken or cannot be written; what it should have named is not done."""

    code = "audit"
    advice = "Look at it with `duetto log verify`, which says what is wrong."


@dataclass(frozen=True, slots=True)
class AuditLine(Line):
    """One line; its `sequence` counts over all files.

    Attributes:
        event: one of `EVENTS`.
        about: what the event is about: texts and whole numbers by name.
    """

    event: str
    about: Mapping[str, str | int] = field(default_factory=dict)

    @property
    @override
    def domain(self) -> bytes:
        return b"duetto audit line v1\0"

    @override
    def body(self) -> dict[str, Any]:
        """The fields of the file, in which the number of the line is called so."""
        head = {"number": self.sequence, "previous": self.previous, "time": self.time, "event": self.event}
        return {**head, **self.about}


def parse_line(data: bytes) -> AuditLine:
    """Read a line, without its newline.

    Raises:
        ValueError: it is not a line of an audit log, or not as `AuditLine.line` writes it.
    """
    if len(data) > MAX_LINE:
        raise ValueError("too long")
    document: Any = json.loads(data)
    if not isinstance(document, dict) or not document.keys() >= _HEAD:
        raise ValueError("not the fields of a line")
    about = {name: value for name, value in document.items() if name not in _HEAD}
    number, previous, time, event, own = (
        document[k] for k in ("number", "previous", "time", "event", "hash")
    )
    if (
        type(number) is not int
        or number < 0
        or not all(type(value) in (str, int) for value in about.values())
    ):
        raise ValueError("a field of another type")
    if not all(isinstance(text, str) for text in (previous, time, event, own)):
        raise ValueError("a field of another type")
    if not (_HASH.fullmatch(previous) and _HASH.fullmatch(own) and _TIME.fullmatch(time) and event in EVENTS):
        raise ValueError("a field of another form")
    line = AuditLine(number, previous, time, event, about, hash=own)
    if line.line() != data + b"\n":
        raise ValueError("not in canonical form")
    return line


def bound_texts(about: Mapping[str, str | int]) -> dict[str, str | int]:
    """What may be written of an event: texts of others made visible and cut off, and nothing empty.

    Raises:
        ValueError: a name is one of those that every line has.
    """
    if _HEAD & about.keys():
        raise ValueError("a name that every line has")
    return {
        name: _cut(escape_unprintable(value)[:MAX_TEXT])
        if isinstance(value, str) and name not in WHOLE
        else value
        for name, value in about.items()
        if value != ""
    }


def _cut(text: str) -> str:
    while len(json.dumps(text)) > MAX_TEXT_BYTES:
        text = text[: len(text) * 3 // 4]
    return text
