"""A notice: that something has happened, and nothing of what a job is about."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final
from uuid import uuid4

from parties.audit.lines import CLOSED, PROPOSED, REFUSED, STATE, AuditLine
from parties.contracts.state import State
from parties.hooks import EventKind

_JOB: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BY_STATE: Final = {
    State.PROPOSED: EventKind.DECIDED,  # before, it waited for a person here
    State.APPROVED: EventKind.DECIDED,
    State.DENIED: EventKind.DECIDED,
    State.CANCELLED: EventKind.DECIDED,
    State.FAILED: EventKind.FAILED,
    State.FINISHED: EventKind.FINISHED,
}
_SENTENCES: Final[dict[EventKind, Callable[[Notice], str]]] = {
    EventKind.WAITING: lambda n: f"Job {n.job} with {n.peer} waits for your decision.",
    EventKind.DECIDED: lambda n: f"Job {n.job} with {n.peer} was decided: it is now {n.state}.",
    EventKind.FINISHED: lambda n: f"Job {n.job} with {n.peer} has finished.",
    EventKind.FAILED: lambda n: f"Job {n.job} with {n.peer} has failed.",
    EventKind.EXPIRING: lambda n: f"Job {n.job} with {n.peer} expires within a day: it is {n.state}.",
    EventKind.BUDGET: lambda n: f"A privacy budget towards {n.peer} is nearly spent ({n.state}).",
    EventKind.CERTIFICATE: lambda n: f"The certificate of {n.peer or n.party} {_space_words(n.state)}.",
    EventKind.PEER: lambda n: f"Look at what {n.peer or n.party} has done: {_space_words(n.state)}.",
}


@dataclass(frozen=True, slots=True)
class Notice:
    """What is sent. No title, figure, column or text of a peer ever stands in it.

    Attributes:
        id: a random name, by which whoever gets a notice twice knows it.
        event: what has happened.
        time: when, RFC 3339 in UTC.
        party: whose daemon says so.
        peer: the other party; empty if it is about this one.
        job: the job; empty if it is about none.
        state: the state of the job, or which bound was reached.
    """

    id: str
    event: EventKind
    time: str
    party: str
    peer: str = ""
    job: str = ""
    state: str = ""

    @property
    def document(self) -> dict[str, str]:
        """As plain JSON values."""
        return {**asdict(self), "event": self.event.value}

    @property
    def body(self) -> bytes:
        """As it is sent, JSON."""
        return json.dumps(self.document).encode() + b"\n"

    @property
    def sentence(self) -> str:
        """What it says, for people."""
        return _SENTENCES[self.event](self)

    @classmethod
    def parse(cls, document: Any) -> Notice:
        """The notice of a document.

        Raises:
            ValueError: it is none.
        """
        if not isinstance(document, dict) or document.keys() != cls.__dataclass_fields__.keys():
            raise ValueError("not the fields of a notice")
        if not all(isinstance(value, str) for value in document.values()):
            raise ValueError("a field that is not a text")
        return cls(**{**document, "event": EventKind(document["event"])})


def make_notice(event: EventKind, time: str, party: str, **about: str) -> Notice:
    """A new notice; what is about is `peer`, `job` and `state`."""
    return Notice(uuid4().hex, event, time, party, **about)


def of_line(line: AuditLine, party: str) -> Notice | None:
    """The notice of a line of the audit log; None if nobody is told of such.

    Args:
        line: as it was written.
        party: this one.
    """
    about = {name: str(line.about.get(name, "")) for name in ("peer", "job", "state")}
    if not _JOB.fullmatch(about["job"]):
        about["job"] = ""
    if line.event == REFUSED:
        return make_notice(EventKind.PEER, line.time, party, **{**about, "state": "proposal-refused"})
    if line.event == CLOSED:
        return make_notice(EventKind.PEER, line.time, party, **{**about, "state": "transfers-failed-a-check"})
    if line.event == PROPOSED:
        waits = about["state"] == State.WAITING_OWN.value
        return make_notice(EventKind.WAITING, line.time, party, **about) if waits else None
    if line.event == STATE and (event := _BY_STATE.get(State(about["state"]))) is not None:
        return make_notice(event, line.time, party, **about)
    return None


def _space_words(state: str) -> str:
    return state.replace("-", " ")
