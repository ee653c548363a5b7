"""Notices still to be handed over, in the file `notices.json` of the home, and what was told before."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from parties.notices.notice import Notice
from parties.pki.files import PRIVATE, write_atomically

FILE: Final = "notices.json"
MAX_PENDING: Final = 100
"""Notices that wait for one hook; beyond, the oldest go."""

_LOG: Final = logging.getLogger("duetto.notices")


@dataclass(slots=True)
class HookQueue:
    """What waits for one hook.

    Attributes:
        pending: the notices, the oldest first.
        tries: how often the first was tried in vain.
        failure: why the last try failed; empty if it did not.
        failed_at: when that was, RFC 3339 in UTC.
        lost: how many were given up since the last success.
    """

    pending: list[Notice] = field(default_factory=list)
    tries: int = 0
    failure: str = ""
    failed_at: str = ""
    lost: int = 0

    def add(self, notice: Notice) -> None:
        """Put a notice at the end."""
        self.pending.append(notice)
        self.lost += max(0, len(self.pending) - MAX_PENDING)
        del self.pending[:-MAX_PENDING]


@dataclass(slots=True)
class NoticeQueues:
    """What is on disk.

    Attributes:
        line: the number of the last line of the audit log that was looked at; -1 if there was none.
        told: which conditions were told and still hold.
        queues: what waits, by the name of the hook.
    """

    line: int = -1
    told: set[str] = field(default_factory=set)
    queues: dict[str, HookQueue] = field(default_factory=dict)

    def queue(self, hook: str) -> HookQueue:
        """What waits for a hook."""
        return self.queues.setdefault(hook, HookQueue())

    def keep(self, hooks: Sequence[str]) -> None:
        """Drop what waits for hooks that are no longer there."""
        self.queues = {name: queue for name, queue in self.queues.items() if name in hooks}

    def write(self, home: Path) -> None:
        """Write it; a disk that does not take it is logged, and nothing else suffers."""
        document = {
            "line": self.line,
            "told": sorted(self.told),
            "queues": {
                name: {
                    "pending": [notice.document for notice in queue.pending],
                    **{key: getattr(queue, key) for key in _KEPT},
                }
                for name, queue in self.queues.items()
            },
        }
        try:
            write_atomically(home / FILE, json.dumps(document).encode() + b"\n", PRIVATE)
        except OSError as problem:
            _LOG.warning("%s cannot be written: %s", FILE, type(problem).__name__)


_KEPT: Final = {"tries": int, "failure": str, "failed_at": str, "lost": int}


def read_queues(home: Path) -> NoticeQueues | None:
    """What is on disk; None where there is nothing that can be read, which is logged."""
    try:
        document: Any = json.loads((home / FILE).read_bytes())
        queues = {
            str(name): HookQueue(
                [Notice.parse(one) for one in queue["pending"]][-MAX_PENDING:],
                **{key: kind(queue[key]) for key, kind in _KEPT.items()},
            )
            for name, queue in document["queues"].items()
        }
        return NoticeQueues(int(document["line"]), {str(key) for key in document["told"]}, queues)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, KeyError, AttributeError, TypeError) as problem:
        _LOG.warning("%s cannot be read, and is begun anew: %s", FILE, type(problem).__name__)
        return None
