"""Sides that deviate and leave, or show less than they have signed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from parties.auditors.receipts import Receipt, kept_receipt, open_receipt
from parties.evidence.run_case import RunCase
from parties.evidence.store import EvidenceStore
from smc.channel.message import Frame
from smc.errors import PeerLost
from smc.evidence.record import Chain
from tests.parties.evidence.covert import Deviating
from tests.parties.jobs.institutions import Institutions


class Leaving(Deviating):
    """Changes one bit of the first frame of a kind, and leaves when it has sent what the gate asks for."""

    def __init__(self, transport: Any, kind: str = "triple-openings") -> None:
        super().__init__(transport, kind)
        self._is_through = False

    def send(self, frame: Frame) -> None:
        if self._is_through:
            raise PeerLost("It has what it wants.")
        self._is_through = frame.kind == "ledger-written"
        super().send(frame)


class Late(Deviating):
    """Changes the lowest bit of the first share that it opens after the gate."""

    def __init__(self, transport: Any) -> None:
        super().__init__(transport, "", lambda data: 0)

    def send(self, frame: Frame) -> None:
        if frame.kind == "ledger-written":
            self._transport.send(frame)
            self._kind = "opened-shares"
        else:
            super().send(frame)


def receipt(institutions: Institutions, name: str, job_id: str) -> Receipt:
    """What a party keeps of signatures under a run."""
    kept = kept_receipt(EvidenceStore(institutions.folder / name), job_id)
    assert kept is not None
    return open_receipt(kept)


def nothing_of(case: RunCase) -> RunCase:
    """A case without a record, as if nothing had been said."""
    nothing: dict[str, Any] = {
        "sent": {},
        "received": {},
        "papers": (),
        **_without("gate"),
        **_without("end"),
    }
    return replace(case, **nothing)


def up_to_the_gate(case: RunCase, frames: list[Frame]) -> tuple[RunCase, list[Frame]]:
    """A case and its frames as if the run had gone no further than the gate."""
    counts: Any = case.gate_counts
    sent, received = (
        Chain(lanes).first(count) for lanes, count in zip((case.sent, case.received), counts, strict=True)
    )
    nothing: dict[str, Any] = {"papers": (), **_without("end")}
    kept = [frame for frame in frames if frame.sequence < received.counts().get(frame.lane, 0)]
    return replace(case, sent=sent.lanes(), received=received.lanes(), **nothing), kept


def _without(name: str) -> dict[str, Any]:
    return {name: None, f"{name}_counts": (), f"{name}_signatures": {}}
