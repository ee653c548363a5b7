"""The only place where secret values become values: after the gate, for the rooms of this package alone."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.channel import Channel
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.bits import BOTH, SecretBits
from smc.secret.ints import SecretInts

Gate = Callable[[Channel], None]
"""Called once, before the first result is opened. The daemon writes its ledger here and makes sure over the
channel that the peer has written its own; it raises, and nothing is opened, if either could not."""


def open_gate(channel: Channel) -> None:
    """The gate of runs without a ledger: in-process runs and tests."""
    del channel


class Opener:
    """Opens without asking what for; the rooms of this package ask before they call it.

    Args:
        session: this party's side of the run.
        gate: passed once, before the first opening.
    """

    def __init__(self, session: Session, gate: Gate) -> None:
        self.session: Final = session
        self._gate = gate
        self._passed = False

    def commit_loss(self) -> None:
        """Pass the gate, unless it has been passed: from here on the loss is spent."""
        if not self._passed:
            self._gate(self.session.channel)
            self._passed = True

    def ints(self, values: SecretInts, recipients: AbstractSet[Role]) -> NDArray[np.int64] | None:
        """Open held integers in their shape; None for a party that is not a recipient."""
        self.commit_loss()
        return values.reveal(recipients)

    def bits(self, values: SecretBits, recipients: AbstractSet[Role]) -> NDArray[np.bool_] | None:
        """Open bits in their shape; None for a party that is not a recipient."""
        self.commit_loss()
        return values.reveal(recipients)

    def pattern(self, values: SecretBits) -> NDArray[np.bool_]:
        """Open bits to both parties, in their shape: what the tests of limits show."""
        self.commit_loss()
        opened = values.reveal(BOTH)
        return np.zeros(values.shape, dtype=np.bool_) if opened is None else opened
