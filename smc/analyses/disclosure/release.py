"""The opening of results. Nothing else in the analyses opens anything."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.channel.channel import Channel
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret import opening
from smc.secret.bits import SecretBits
from smc.secret.ints import SecretInts

Gate = Callable[[Channel], None]
"""Called once, before the first result is opened. The daemon writes its ledger here and makes sure over the
channel that the peer has written its own; it raises, and nothing is opened, if either could not."""


def open_gate(channel: Channel) -> None:
    """The gate of runs without a ledger: in-process runs and tests."""
    del channel


class Release:
    """Opens the results of one run, to its recipients and to nobody else.

    Args:
        limits: what both policies ask, the stricter of both.
        gate: passed once, before the first opening.
    """

    def __init__(self, limits: Limits = NO_LIMITS, gate: Gate = open_gate) -> None:
        self.limits: Final = limits
        self._gate = gate
        self.passed = False

    def pass_gate(self, session: Session) -> None:
        """Pass the gate, unless it has been passed: from here on the loss is spent."""
        if not self.passed:
            self._gate(session.channel)
            self.passed = True

    def words(
        self, session: Session, shares: NDArray[np.uint64], recipients: AbstractSet[Role]
    ) -> NDArray[np.uint64] | None:
        """Open words modulo 2**64, see `smc.secret.opening.open_words`."""
        self.pass_gate(session)
        return opening.open_words(session, shares, recipients)

    def ints(self, values: SecretInts, recipients: AbstractSet[Role]) -> NDArray[np.int64] | None:
        """Open held integers in their shape; None for a party that is no recipient."""
        self.pass_gate(values.session)
        return values.reveal(recipients)

    def bits(self, values: SecretBits, recipients: AbstractSet[Role]) -> NDArray[np.bool_] | None:
        """Open bits in their shape; None for a party that is no recipient."""
        self.pass_gate(values.session)
        return values.reveal(recipients)
