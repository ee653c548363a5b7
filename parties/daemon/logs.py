"""The daemon's log: one record is one line, whatever texts of others stand in it.

Who writes a record about a job or a peer names them: `log.info("job %(job)s: approved", {"job": job_id})`. Of
such records the JSON lines have fields, by which they can be searched.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from typing_extensions import override

from parties.texts import escape_unprintable

_FORM: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_OURS: Final = ("duetto", "parties", "smc")
_FACTS: Final = ("job", "peer", "code")
"""Of what a record is about, what JSON lines have as fields of their own."""

_LONG: Final = ("trace", "stack")
"""The fields of JSON lines that have several lines."""

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


class JsonFormatter(logging.Formatter):
    """One JSON object a line, all ASCII; its texts hold no control characters but line ends of traces."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        moment = dt.datetime.fromtimestamp(record.created, dt.UTC)
        line = {
            "time": moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_facts(record),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = record.stack_info
        return json.dumps({name: _escape_lines(text, name in _LONG) for name, text in line.items()})


def _facts(record: logging.LogRecord) -> dict[str, str]:
    """What one of our own records is about."""
    args = record.args
    if not isinstance(args, Mapping) or record.name.partition(".")[0] not in _OURS:
        return {}
    return {name: str(args[name]) for name in _FACTS if args.get(name)}


def _escape_lines(text: str, has_lines: bool) -> str:
    if not has_lines:
        return escape_unprintable(text)
    return "\n".join(map(escape_unprintable, text.split("\n")))


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
                note = f" ({left_out} records like this one were left out before)"
                record.msg = f"{record.msg}{note}"
        place[1] += 1
        return place[1] <= RECORDS


def start(level: str = "info", form: str = "plain") -> None:
    """Log to stderr from now on, with records of libraries, warnings of Python, and what ends a thread.

    Args:
        level: the least that is logged, one of `parties.config.LOG_LEVELS`. Libraries stay at `info`: what
            they write for their own makers may hold messages as they were sent.
        form: what a line is, one of `parties.config.LOG_FORMATS`.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else PlainFormatter())
    handler.addFilter(Bounded())
    logging.basicConfig(level=max(logging.INFO, _number(level)), handlers=[handler])
    for name in _OURS:
        logging.getLogger(name).setLevel(_number(level))
    logging.captureWarnings(True)
    threading.excepthook = _log_end_of_thread


def _log_end_of_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None and not isinstance(ended.exc_value, SystemExit):
        name = ended.thread.name if ended.thread is not None else "?"
        trace = (ended.exc_type, ended.exc_value, ended.exc_traceback)
        logging.getLogger("duetto").critical("the thread %s ended by a defect", name, exc_info=trace)


def _number(level: str) -> int:
    return logging.getLevelNamesMapping()[level.upper()]


def _set_apart(text: str) -> str:
    return "\n".join(_FURTHER + escape_unprintable(line) for line in text.split("\n"))
