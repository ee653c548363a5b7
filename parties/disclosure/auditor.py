"""The auditor of one job: what its openings tell the peer is held against all that the peer has seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from parties.disclosure.equations import Shown
from parties.disclosure.history import History
from parties.disclosure.log import OverlapError
from parties.disclosure.participants import ParticipantSet, halves
from smc.analyses.disclosure.audit import Bit, ShownTable, ShownTables, Told

MAX_BITS: Final = 2000
"""A job whose run would tell more single bits ends."""


@dataclass(slots=True)
class JobAuditor:
    """Fulfils `smc.analyses.disclosure.audit.Auditor`.

    Attributes:
        history: the exact jobs of this party.
        participants: of the job; None where it has no exact figures, and so no tables.
        identities: 16-byte hashes by number of the person, else of the row; None where nobody asks for them.
        bits: how many single bits the run has told the peer.
    """

    history: History
    participants: ParticipantSet | None
    identities: NDArray[np.void] | None = field(repr=False)
    bits: int = 0

    @property
    def judges(self) -> bool:
        """Whether the catalog says whom rows are about."""
        return self.participants is not None and self.identities is not None

    def allows(self, told: Told) -> bool:
        """Whether it may be opened: tables where they, with all earlier ones, pin down no group."""
        if not isinstance(told, ShownTables):
            return True
        if self.participants is None:
            return False
        shown = self._shown(told)
        return shown is None or self.history.allows(self.participants, shown)

    def record(self, told: Told) -> None:
        """Check tables once more and keep them; count single bits.

        Raises:
            OverlapError: another job has opened a table meanwhile, with which these would pin down a group;
                or the run tells too many single bits.
            HistoryError: it cannot be kept.
        """
        if isinstance(told, Bit):
            self.bits += 1
            if self.bits > MAX_BITS:
                raise OverlapError(
                    f"The run would tell the peer more than {MAX_BITS} single bits about local data.",
                    "Report it as a defect of the analysis.",
                )
        if isinstance(told, ShownTables) and self.participants is not None:
            shown = self._shown(told)
            if shown is not None:
                self.history.record_tables(self.participants, shown)

    def _shown(self, told: ShownTables) -> Sequence[Shown] | None:
        """Whom the tables are about; None where no limit asks who it is, and the catalog does not say it."""
        if self.identities is None:
            return None
        return [_of(table, halves(self.identities)) for table in told.tables]


def _of(table: ShownTable, identities: NDArray[np.uint64]) -> Shown:
    members = table.members
    amounts = None if members.amounts is None else np.atleast_2d(members.amounts)
    signed = None if members.signed is None else np.atleast_2d(members.signed)
    return Shown(identities[members.persons], members.cells, table.equations, amounts, signed)
