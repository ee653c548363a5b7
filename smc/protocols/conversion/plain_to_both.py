"""Plain to plain: the party that knows a value tells the other.

    Alice (z)    -- Revealed -->   Bob (z)

Inputs: PN.
Outputs: PP, or NP where Alice knew the value anyway and only Bob is to have it.
Learns: Bob z.
Assumes: nothing.
Cost: 1 flight, one integer of `bits` bits per value.
Reference: thesis, section 2.3.3, remark after Lemma 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from smc.channel.message import Message
from smc.channel.vectors import ExpectedResidues, Residues, residues_bytes
from smc.forms import Form, Role
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Parameters, Spec
from smc.values import Nothing, Plain


@dataclass(frozen=True, slots=True)
class Revealed(Message, kind="revealed"):
    """Alice to Bob."""

    values: Residues


def alice_keeps(session: Session, parameters: Parameters, value: Plain) -> Plain:
    """Alice: tells and keeps."""
    session.channel.send(Revealed(Residues(value.values, 1 << parameters.bits)))
    return value


def alice_gives(session: Session, parameters: Parameters, value: Plain) -> Nothing:
    """Alice: tells and has it no more."""
    return Nothing(len(alice_keeps(session, parameters, value)))


def bob(session: Session, parameters: Parameters, value: Nothing) -> Plain:
    """Bob: learns the value."""
    return Plain(session.channel.recv(Revealed, ExpectedResidues(1 << parameters.bits, len(value))))


def cost(parameters: Parameters) -> Cost:
    """One integer per value."""
    return Cost((Flight.ALICE,), residues_bytes(1 << parameters.bits, parameters.count), 0)


SPEC_BOTH = Spec(
    name="plain-to-both",
    against=Against.PRIVATE,
    inputs=(Form.PN,),
    output=Form.PP,
    alice=alice_keeps,
    bob=bob,
    cost=cost,
    opens=frozenset({Role.BOB}),
)

SPEC_BOB = Spec(
    name="plain-to-peer",
    against=Against.PRIVATE,
    inputs=(Form.PN,),
    output=Form.NP,
    alice=alice_gives,
    bob=bob,
    cost=cost,
    opens=frozenset({Role.BOB}),
)
