"""Comparison where a party knows both values: no message at all.

    Alice (x, y)                 Bob
      delta = (x >= y)

Inputs: PN-PN or PP-PP, plain integers.
Outputs: PN or PP.
Learns: nobody anything new.
Assumes: nothing.
Cost: none.
Reference: thesis, Lemma 8.1 and erratum 10 (42 trivial types).
"""

from __future__ import annotations

from smc.forms import Form
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Parameters, Spec
from smc.values import Nothing, Plain


def knows(session: Session, parameters: Parameters, x: Plain, y: Plain) -> Plain:
    """The party that has both values."""
    del session, parameters
    return Plain([int(a >= b) for a, b in zip(x.values, y.values, strict=True)])


def knows_not(session: Session, parameters: Parameters, x: Nothing, y: Nothing) -> Nothing:
    """The party that has neither."""
    del session, parameters, y
    return Nothing(len(x))


def cost(parameters: Parameters) -> Cost:
    """None."""
    del parameters
    return Cost()


SPEC = Spec(
    name="local-at-one",
    against=Against.ACTIVE,
    inputs=(Form.PN, Form.PN),
    output=Form.PN,
    alice=knows,
    bob=knows_not,
    cost=cost,
)

SPEC_BOTH = Spec(
    name="local-at-both",
    against=Against.ACTIVE,
    inputs=(Form.PP, Form.PP),
    output=Form.PP,
    alice=knows,
    bob=knows,
    cost=cost,
)
