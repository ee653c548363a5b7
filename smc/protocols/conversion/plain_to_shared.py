"""Plain to shared: Conversion 1.

    Alice (z)                         Bob
      z^A uniform mod M
      z - z^A mod M     -- part -->   z^B

Inputs: PN.
Outputs: SS modulo any M.
Learns: nobody anything; Bob's share is uniform.
Assumes: nothing.
Cost: 1 flight, one residue per value, bits packed.
Reference: thesis, section 2.3.3, Conversion 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from smc.channel.message import Message
from smc.channel.vectors import ExpectedResidues, Residues
from smc.forms import Form
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Parameters, Sharing, Spec
from smc.values import Nothing, Plain, Share


@dataclass(frozen=True, slots=True)
class DealtShares(Message, kind="plain-to-shared", hidden=True):
    """Alice to Bob: his shares."""

    shares: Residues


def alice(session: Session, parameters: Parameters, value: Plain) -> Share:
    """Alice: splits."""
    modulus = parameters.number_out
    own = session.random.below(modulus, len(value))
    others = [(z - a) % modulus for z, a in zip(value.values, own, strict=True)]
    session.channel.send(DealtShares(Residues(others, modulus)))
    return Share(own, modulus)


def bob(session: Session, parameters: Parameters, value: Nothing) -> Share:
    """Bob: takes his share."""
    modulus = parameters.number_out
    return Share(session.channel.recv(DealtShares, ExpectedResidues(modulus, len(value))), modulus)


def cost(parameters: Parameters) -> Cost:
    """One residue per value."""
    return Cost((Flight.ALICE,), parameters.bytes_out, 0)


SPEC = Spec(
    name="plain-to-shared",
    against=Against.PRIVATE,
    inputs=(Form.PN,),
    output=Form.SS,
    gives=Sharing.ANY,
    alice=alice,
    bob=bob,
    cost=cost,
)
