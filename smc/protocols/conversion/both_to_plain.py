"""A value that both know, taken as one that needs less: no message.

    PP -> PN   Bob sets his copy aside
    PP -> SS   Alice's share is the value, Bob's is zero

Inputs: PP.
Outputs: PN, or SS modulo any M. The shares are not random: both parties know the value.
Learns: nobody anything.
Assumes: nothing.
Cost: none.
Reference: immediate.
"""

from __future__ import annotations

from smc.forms import Form
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Parameters, Sharing, Spec
from smc.values import Nothing, Plain, Share


def keep(session: Session, parameters: Parameters, value: Plain) -> Plain:
    """The party that goes on with the value."""
    del session, parameters
    return value


def set_aside(session: Session, parameters: Parameters, value: Plain) -> Nothing:
    """The party that goes on without it."""
    del session, parameters
    return Nothing(len(value))


def all_of_it(session: Session, parameters: Parameters, value: Plain) -> Share:
    """The share that is the value."""
    del session
    modulus = parameters.number_out
    return Share([z % modulus for z in value.values], modulus)


def none_of_it(session: Session, parameters: Parameters, value: Plain) -> Share:
    """The share that is zero."""
    del session
    return Share([0] * len(value), parameters.number_out)


def cost(parameters: Parameters) -> Cost:
    """None."""
    del parameters
    return Cost()


SPEC_PLAIN = Spec(
    name="both-to-plain",
    against=Against.ACTIVE,
    inputs=(Form.PP,),
    output=Form.PN,
    alice=keep,
    bob=set_aside,
    cost=cost,
)

SPEC_SHARED = Spec(
    name="both-to-shared",
    against=Against.ACTIVE,
    inputs=(Form.PP,),
    output=Form.SS,
    gives=Sharing.ANY,
    alice=all_of_it,
    bob=none_of_it,
    cost=cost,
)
