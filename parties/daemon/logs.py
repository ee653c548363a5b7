"""The daemon's log: one record is one line, whatever texts of others stand in it."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from typing import Final

from typing_extensions import override

from parties.texts import escape_unprintable

_FORM: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_OURS: Final = ("duetto", "parties", "smc")
RECORDS: Final = 120
"""Records of one place in the code that are written in a minute."""

_MINUTE: Final = 60.0
_FURTHER: Final = "    | "
"""Begins the further lines of a record, those of a trace, so that none of them looks like a record."""


class PlainFormatter(logging.Formatter):
    """Escapes line ends and control characters of messages, and sets traces apart."""

    def __init__(self) -> None:
        super().__init__(_FORM)

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        return escape_unprintable(super().formatMessage(record))

    @override
    def formatException(self, ei: object) -> str:
        """A trace, its lines set apart."""
        return _set_apart(super().formatException(ei))  # type: ignore[arg-type]

    @override
    def formatStack(self, stack_info: str) -> str:
        """A stack, its lines set apart."""
        return _set_apart(super().formatStack(stack_info))


class Bounded(logging.Filter):
    """Lets through so many records a minute of each place in the code: a peer can make it log without end.

    Args:
        clock: says what time it is, in seconds from any moment.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._places: dict[tuple[str, int], list[float]] = {}

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written; the first one of the next minute says how many were not."""
        if record.levelno < logging.INFO:
            return True
        now = self._clock()
        place = self._places.setdefault((record.name, record.lineno), [now, 0])
        if now - place[0] >= _MINUTE:
            left_out = int(place[1]) - RECORDS
            place[:] = [now, 0]
            if left_out > 0:
                record.msg = f"{record.getMessage()} ({left_out} records like this one were left out before)"
                record.args = ()
        place[1] += 1
        return place[1] <= RECORDS


def start(level: str = "info") -> None:
    """Log to stderr from now on, every library's records too.

    Args:
        level: the least that is logged, one of `parties.config.LOG_LEVELS`. Libraries stay at `info`: what
            they write for their own makers may hold messages as they were sent.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainFormatter())
    handler.addFilter(Bounded())
    logging.basicConfig(level=max(logging.INFO, _number(level)), handlers=[handler])
    for name in _OURS:
        logging.getLogger(name).setLevel(_number(level))


def _number(level: str) -> int:
    return logging.getLevelNamesMapping()[level.upper()]


def _set_apart(text: str) -> str:
    return "\n".join(_FURTHER + escape_unprintable(line) for line in text.split("\n"))
