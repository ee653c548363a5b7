"""Whose ledger looked older than what the other party had seen of it when they last met.

A session that is refused for that leaves a note, until a session with that peer finds both ledgers in order.
So people hear of it from `duetto party status` and `duetto doctor`, and not only from jobs that fail.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

from parties.pki.files import PRIVATE, write_atomically

FILE: Final = "doubts.json"
_LOG = logging.getLogger("duetto.ledger")


class Whose(Enum):
    """Whose ledger is in doubt."""

    OWN = "own"
    PEER = "peer"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why jobs with a peer are refused.

    Attributes:
        peer: the peer.
        whose: whose ledger has to be put right.
        what: what is wrong.
        hint: what to do.
    """

    peer: str
    whose: Whose
    what: str
    hint: str

    @classmethod
    def note(cls, peer: str, whose: Whose) -> Doubt:
        """The doubt that a refused session has left."""
        met = f"When {peer} was last met, "
        refused = f"jobs with {peer} are refused until both have met with the newest copies."
        if whose is Whose.OWN:
            what = (
                f"{met}the ledger here lacked entries that {peer} says it had seen, or was broken: {refused}"
            )
            return cls(peer, whose, what, "Bring back the newest copy of the ledger, and submit a job.")
        what = f"{met}its ledger lacked entries that had been seen of it, or was broken: {refused}"
        hint = f"Ask {peer} to bring back the newest copy of its ledger, and submit a job then."
        return cls(peer, whose, what, hint)


class Notes:
    """The notes of refused sessions, in a file on which nothing hangs but what people see.

    Args:
        path: the file; one process writes it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, peer: str, whose: Whose) -> None:
        """Note that a session with a peer was refused."""
        noted = self.all()
        if noted.get(peer) is not whose:
            self._write(noted | {peer: whose})

    def clear(self, peer: str) -> None:
        """Forget what was noted of a peer."""
        noted = self.all()
        if peer in noted:
            self._write({name: whose for name, whose in noted.items() if name != peer})

    def all(self) -> dict[str, Whose]:
        """What is noted, by peer; nothing where the file is missing or holds something else."""
        try:
            document: Any = json.loads(self._path.read_bytes())
            return {str(peer): Whose(whose) for peer, whose in document.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError, AttributeError, TypeError) as problem:
            _LOG.warning("%s cannot be read: %s", self._path.name, type(problem).__name__)
            return {}

    def _write(self, noted: Mapping[str, Whose]) -> None:
        document = {peer: whose.value for peer, whose in noted.items()}
        try:
            write_atomically(self._path, json.dumps(document, sort_keys=True).encode() + b"\n", PRIVATE)
        except OSError as problem:
            _LOG.warning("%s cannot be written: %s", self._path.name, type(problem).__name__)
