"""Covert jobs between joined parties, and the audit of each side of their runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from parties.auditors.audit import AuditFinding, Outcome, audit
from parties.evidence.run_case import Inputs, RunCase, decode_case, decode_inputs
from parties.evidence.store import CASE, INPUTS, EvidenceStore
from smc.analyses.registry import ANALYSES
from smc.channel.message import Frame
from tests.parties.jobs.institutions import Institutions
from tests.parties.jobs.joined import ROLES
from tests.support.keys import toy

KEY = "ab" * 32
FOLLOWED = (Outcome.CLEARED, Outcome.PARTIAL, Outcome.UNSIGNED)
"""What is said of a side that followed the program in a run that ended, or broke off somewhere."""

AUDITED = {"auditors": {"office": KEY}}
"""Entries of a rule that lets `office` audit."""


def covert(document: Mapping[str, Any], rate: str = "1") -> dict[str, Any]:
    """A job whose runs can be audited."""
    made = deepcopy(dict(document))
    made["job"]["security"] = "covert"
    made["audit"] = {"auditor": "office", "key": KEY, "rate": rate}
    return made


def shown(institutions: Institutions, name: str, job_id: str) -> tuple[RunCase, Inputs, list[Frame]]:
    """What a party has kept of a run."""
    store = EvidenceStore(institutions.folder / name)
    case, inputs = (store.read(job_id, part) for part in (CASE, INPUTS))
    return decode_case(case), decode_inputs(inputs), list(store.read_frames(job_id))


def finding(institutions: Institutions, name: str, job_id: str) -> AuditFinding:
    """What an audit of a party says."""
    return audit(*shown(institutions, name, job_id), ANALYSES, toy(ROLES[name]))


def place(institutions: Institutions, peer: str, job_id: str, found: AuditFinding) -> tuple[str, int]:
    """Where a side was convicted, by what its peer has kept of what came.

    Returns:
        The kind of the message with the number that the audit names, and how many of that kind came before.
    """
    departure = found.departure
    assert found.outcome is Outcome.CONVICTED, found
    assert departure is not None
    came = [frame.kind for frame in shown(institutions, peer, job_id)[2] if frame.lane == departure.lane]
    kind = came[departure.number]
    assert departure.kind == kind
    return kind, came[: departure.number].count(kind)


class Deviating:
    """A transport whose first outgoing frame of a kind is changed in one bit, before it is recorded."""

    def __init__(self, transport: Any, kind: str, at: Callable[[bytes], int] = lambda data: len(data) // 2):
        self._transport, self._kind, self._at = transport, kind, at
        self.receive, self.close = transport.receive, transport.close
        self.done = False

    def send(self, frame: Frame) -> None:
        if frame.kind == self._kind and not self.done and len(frame.data):
            self.done = True
            data = bytearray(frame.data)
            data[self._at(data)] ^= 1
            frame = Frame(frame.sequence, frame.kind, frame.depth, frame.total, bytes(data), frame.lane)
        self._transport.send(frame)
