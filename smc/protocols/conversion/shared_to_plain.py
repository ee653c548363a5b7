"""Shared to plain: Conversion 2, to one party or to both.

    Alice (z^A)                       Bob (z^B)
                     <-- part --      z^B
      z = z^A + z^B mod M
                     -- part -->      (to both: at the same time)

Inputs: SS modulo M.
Outputs: PN, or PP.
Learns: Alice z; Bob too if the output is PP.
Assumes: nothing.
Cost: 1 flight (to both: one message each way, at once), one residue per value and message, bits packed.
Reference: thesis, section 2.3.3, Conversion 2.
"""

from __future__ import annotations

from dataclasses import dataclass

from smc.channel.message import Message
from smc.channel.vectors import ExpectedResidues, Residues
from smc.forms import Form, Role
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Parameters, Sharing, Spec
from smc.values import Nothing, Plain, Share


@dataclass(frozen=True, slots=True)
class RevealedShares(Message, kind="shared-to-plain"):
    """The sender's shares."""

    shares: Residues


def alice(session: Session, parameters: Parameters, value: Share) -> Plain:
    """Alice: adds Bob's share to hers."""
    expected = ExpectedResidues(parameters.number_in, len(value))
    others = session.channel.recv(RevealedShares, expected)
    return Plain([(a + b) % value.modulus for a, b in zip(value.values, others, strict=True)])


def bob(session: Session, parameters: Parameters, value: Share) -> Nothing:
    """Bob: gives his share away."""
    del parameters
    session.channel.send(RevealedShares(Residues(value.values, value.modulus)))
    return Nothing(len(value))


def both(session: Session, parameters: Parameters, value: Share) -> Plain:
    """Either party, when both are to know: gives and takes."""
    bob(session, parameters, value)
    return alice(session, parameters, value)


def cost(parameters: Parameters) -> Cost:
    """One residue per value, from Bob."""
    return Cost((Flight.BOB,), 0, parameters.bytes_in)


def cost_both(parameters: Parameters) -> Cost:
    """One residue per value, each way."""
    size = parameters.bytes_in
    return Cost((Flight.BOTH,), size, size)


SPEC = Spec(
    name="shared-to-plain",
    against=Against.PRIVATE,
    inputs=(Form.SS,),
    takes=Sharing.ANY,
    output=Form.PN,
    alice=alice,
    bob=bob,
    cost=cost,
    opens=frozenset({Role.ALICE}),
)

SPEC_BOTH = Spec(
    name="shared-to-both",
    against=Against.PRIVATE,
    inputs=(Form.SS,),
    takes=Sharing.ANY,
    output=Form.PP,
    alice=both,
    bob=both,
    cost=cost_both,
    opens=frozenset(Role),
)
