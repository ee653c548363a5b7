"""Peers with which nothing is run until a person has opened them again: their transfers have failed a check.

A peer that deviates guesses secret bits, and is found out unless it guesses right: so it gets one attempt.
What closes a peer is kept in a file of the home, which outlives restarts, backups and moves.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from commons.logs.lines import canonical
from parties.audit.lines import CLOSED, OPENED
from parties.errors import PeerClosed, StorageError
from parties.pki.files import PRIVATE, write_atomically

FILE: Final = "closed.json"

Note = Callable[..., None]
"""Writes a line of the audit log."""


@dataclass(frozen=True, slots=True)
class Closure:
    """Why a peer is closed.

    Attributes:
        peer: its name.
        job: the job whose run failed, or the filling of pools.
        code: of the error.
        since: when, RFC 3339 in UTC.
    """

    peer: str
    job: str
    code: str
    since: str

    @property
    def error(self) -> PeerClosed:
        """What whoever wants to run something with the peer is told, and what to do."""
        return PeerClosed(
            f"{self.peer} is closed since {self.since}: in job {self.job} its oblivious transfers failed a "
            "check that no honest program fails.",
            f"Find out with {self.peer} what its program did; then let a person open it again: "
            f"`duetto peer open {self.peer}`.",
        )

    @property
    def digest(self) -> str:
        """What a person signs who opens the peer again, hexadecimal."""
        return hashlib.sha256(canonical({"opens": asdict(self)})).hexdigest()


class ClosedPeers:
    """The closed peers of a home. Thread-safe; one process writes.

    Args:
        home: the folder of the party.
        now: the time to write down.
        note: writes a line of the audit log.
    """

    def __init__(self, home: Path, now: Callable[[], str], note: Note) -> None:
        self._home, self._now, self._note = home, now, note
        self._lock = threading.Lock()
        self._unsaved: dict[str, Closure] = {}

    def all(self) -> dict[str, Closure]:
        """The closed peers by name.

        Raises:
            StorageError: the file cannot be read, or is not as it was written.
        """
        return {**read_closed(self._home), **self._unsaved}

    def require_open(self, peer: str) -> None:
        """Check that a peer is not closed.

        Raises:
            PeerClosed: it is.
            StorageError: as `all`.
        """
        if (found := self.all().get(peer)) is not None:
            raise found.error

    def close(self, peer: str, job: str, code: str) -> None:
        """Close a peer, unless it is closed already; it is closed in this process whatever is raised.

        Raises:
            StorageError: the file cannot be read or written.
            AuditError: the audit log cannot be written.
        """
        with self._lock:
            closure = Closure(peer, job, code, self._now())
            self._unsaved.setdefault(peer, closure)
            known = read_closed(self._home)
            if peer not in known:
                self._write({**known, peer: closure})
                self._note(CLOSED, peer=peer, job=job, code=code)
            del self._unsaved[peer]

    def open(self, closure: Closure, actor: str, uid: int) -> None:
        """Open a peer that is closed for this reason.

        Args:
            closure: what the person has seen.
            actor: who opens it.
            uid: from which account.

        Raises:
            StorageError: as `close`.
            AuditError: as `close`; the peer stays closed.
        """
        with self._lock:
            known = read_closed(self._home)
            self._note(OPENED, peer=closure.peer, job=closure.job, actor=actor, uid=uid)
            self._write({name: one for name, one in known.items() if name != closure.peer})
            self._unsaved.pop(closure.peer, None)

    def _write(self, closed: Mapping[str, Closure]) -> None:
        document = {peer: asdict(closure) for peer, closure in closed.items()}
        data = json.dumps(document, sort_keys=True).encode() + b"\n"
        try:
            write_atomically(self._home / FILE, data, PRIVATE)
        except OSError as problem:
            raise StorageError(
                f"{self._home / FILE} cannot be written: {type(problem).__name__}.", "Make room on the disk."
            ) from None


def read_closed(home: Path) -> dict[str, Closure]:
    """The closed peers of a home, by name.

    Raises:
        StorageError: the file cannot be read, or is not as it was written.
    """
    try:
        document: Any = json.loads((home / FILE).read_bytes())
        found = {str(peer): Closure(**about) for peer, about in document.items()}
        if any(type(value) is not str for one in found.values() for value in asdict(one).values()):
            raise ValueError("not texts")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError, AttributeError, TypeError) as problem:
        raise StorageError(
            f"{home / FILE}, which says what peers are closed, cannot be read: {type(problem).__name__}.",
            "Bring back the newest copy of it; no job runs before that. `duetto log show` says when peers "
            "were closed and opened.",
        ) from None
    return found
