"""The only place where secret values become values: after gate and auditor, for this package alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import reduce
from operator import and_
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.audit import Auditor, Bit, Told
from smc.channel.channel import Channel
from smc.forms import Role
from smc.protocols.agreement import agree
from smc.protocols.session import Session
from smc.secret.bits import BOTH, SecretBits
from smc.secret.linear_ints import LinearInts

Gate = Callable[[Channel], None]
"""Called once, before the first result is opened. The daemon writes its ledger here and makes sure over the
channel that the peer has written its own; it raises, and nothing is opened, if either could not."""


def open_gate(channel: Channel) -> None:
    """The gate of runs without a ledger: in-process runs and tests."""
    del channel


class Opener:
    """Opens without asking what for; the rooms of this package ask before they call it.

    Whatever is opened to the peer is told to the auditor first, and there is no way around it.

    Args:
        session: this party's side of the run.
        gate: passed once, before the first opening.
        auditor: is told of every opening to the peer before it.
    """

    def __init__(self, session: Session, gate: Gate, auditor: Auditor) -> None:
        self.session: Final = session
        self.auditor: Final = auditor
        self._gate = gate
        self._passed = False

    def commit_loss(self) -> None:
        """Check transfers, then `pass_gate`: a peer whose transfers fail the check costs no loss."""
        if not self._passed:
            self.session.oblivious.verify()
            self.pass_gate()

    def pass_gate(self) -> None:
        """Pass the gate, unless it has been passed: from here on the loss is spent."""
        if not self._passed:
            self._gate(self.session.channel)
            self._passed = True

    def ints(self, values: LinearInts, recipients: AbstractSet[Role], told: Told) -> NDArray[np.int64] | None:
        """Open held integers in their shape; None for a party that is not a recipient."""
        self._tell(recipients, told)
        return values.reveal(recipients)

    def bits(self, values: SecretBits, recipients: AbstractSet[Role], told: Told) -> NDArray[np.bool_] | None:
        """Open bits in their shape; None for a party that is not a recipient, and where there are no data."""
        self._tell(recipients, told)
        opened = values.reveal(recipients)
        return opened if self.session.has_data else None

    def pattern(self, values: SecretBits, told: Bit) -> NDArray[np.bool_]:
        """Open a bit to both parties: what the tests of limits show."""
        self._tell(BOTH, told)
        opened = values.reveal(BOTH)
        return np.zeros(values.shape, dtype=np.bool_) if opened is None else opened

    def hold(self, limits: Sequence[SecretBits], told: Bit) -> bool:
        """Whether all of some bits are 1; opens that to both parties."""
        return bool(self.pattern(reduce(and_, limits), told).all())

    def announce(self, recipients: AbstractSet[Role], told: Told) -> None:
        """Tell the auditor of what will be opened."""
        self._tell(recipients, told)

    def agree(self, told: Bit, *, answer: bool) -> bool:
        """Whether both parties go on; each learns the other's answer.

        Args:
            told: what this party's answer says.
            answer: of this party.
        """
        self._tell(BOTH, told)
        return agree(self.session, answer=answer)

    def _tell(self, recipients: AbstractSet[Role], told: Told) -> None:
        self.commit_loss()
        if self.session.role.other in recipients:
            self.auditor.record(told)
