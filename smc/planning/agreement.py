"""Both parties see that they are about to run the same plan, before anything else of it is sent.

    Alice (plan)    -- PlanDigest -->    Bob (plan)
                    <-- PlanDigest --    at the same time

A plan follows from public parameters and from the prices in `smc.planning.cost`, so two releases can come to
different ones. Without this they would find out in the middle of a protocol.

Inputs: a plan at each side.
Outputs: none; the run ends if the digests differ.
Learns: each party the digest of the other's plan, which is made of public parameters.
Assumes: SHA-256 is collision resistant.
Cost: 1 round, 32 bytes each way.
Reference: none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import ProtocolViolation
from smc.planning.plan import DIGEST_BYTES, Plan
from smc.protocols.session import Session


@dataclass(frozen=True, slots=True)
class PlanDigest(Message, kind="plan-digest", hidden=True):
    """Both ways: the digest of the sender's plan."""

    digest: ByteRows


_HINT: Final = "Install the same release on both sides, and submit the job again."


def compare_plans(plan: Plan, session: Session) -> None:
    """Tell the peer the digest of the plan, and compare it with the peer's.

    Raises:
        ProtocolViolation: the peer has another plan; it sees the same.
    """
    own = bytes.fromhex(plan.digest)
    session.channel.send(PlanDigest(ByteRows(np.frombuffer(own, dtype=np.uint8)[None])))
    if session.channel.recv(PlanDigest, ExpectedByteRows(1, DIGEST_BYTES)).tobytes() != own:
        raise ProtocolViolation(
            f"The peer has planned another route than this party, which planned {plan.route!r}.", _HINT
        )
