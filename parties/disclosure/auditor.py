"""The auditor of one exact job: what its tables show is held against all that the peer has seen."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from parties.disclosure.equations import Shown
from parties.disclosure.history import History
from parties.disclosure.participants import ParticipantSet, halves
from smc.analyses.disclosure.audit import ShownTable


@dataclass(frozen=True, slots=True)
class TableAuditor:
    """Fulfils `smc.analyses.disclosure.audit.Auditor`.

    Attributes:
        history: the exact jobs of this party.
        participants: of the job.
        identities: 16-byte hashes by number of the person, else of the row.
    """

    history: History
    participants: ParticipantSet
    identities: NDArray[np.void] = field(repr=False)

    def allows(self, table: ShownTable) -> bool:
        """Whether the table, with all earlier ones, pins down no group."""
        return self.history.allows(self.participants, self._shown(table))

    def record(self, table: ShownTable) -> None:
        """Check once more and keep the table.

        Raises:
            OverlapError: another job has opened one meanwhile, with which it would pin down a group.
            HistoryError: it cannot be kept.
        """
        self.history.record_table(self.participants, self._shown(table))

    def _shown(self, table: ShownTable) -> Shown:
        members = table.members
        persons = halves(self.identities)[members.persons]
        return Shown(persons, members.cells, table.equations, members.amounts)
