"""The opening of figures about the cells of a table that stay closed, such as ratios pooled over strata.

A peer brings rows of its choice, and whoever knows the other rows of a stratum and gives it a weight of its
own reads from a pooled figure the counts of that stratum, in spite of Kish's number and of few digits. So a
side lets figures be computed only from a table that its limits would show whole, stratum by stratum: each
cell is a group, or empty where its policy shows zeros. The figures follow from these counts and from the
peer's own, so they tell nothing that the table would not, whatever the peer brings and however often; and
the side's auditor takes the table as shown. Of a cell of n rows nobody has more than 1 / n of a weighted sum
over it, and of a sum over such cells nobody more than one over the smallest group.

Both sides say by one bit whether they go on, and only then are the figures computed.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.disclosure.audit import ShownTable, ShownTables
from smc.analyses.disclosure.exact_figure import ExactFigure
from smc.analyses.disclosure.limits import Agreed, Limits
from smc.analyses.disclosure.opener import Opener
from smc.analyses.disclosure.owned import Owned
from smc.analyses.disclosure.tables import TablePart, settle, suppress
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.secret.linear_ints import LinearInts

Figures = Callable[[], LinearInts]
"""Computes what is opened."""


@dataclass(frozen=True, slots=True)
class PooledFigure(ExactFigure[NDArray[np.int64] | None]):
    """Figures about this side's part of cells that stay closed.

    Attributes:
        part: all cells that figures are computed from, a stratum in each row.
        shape: of the cells by stratum and by what else they differ in.
        figures: computes what is opened.
    """

    part: TablePart
    shape: tuple[int, ...]
    figures: Figures

    @override
    def open(self, opener: Opener, limits: Agreed, recipients: AbstractSet[Role]) -> NDArray[np.int64] | None:
        """What `figures` computes; None for a party that is not a recipient.

        Raises:
            DisclosureRefused: a side does not let its part be used; at both sides, and nothing was opened.
        """
        found, why = suppress(limits.own, self.part, margins=False), None
        shown = ShownTables((ShownTable.of(self.part.members, found, margins=False),))
        # where the other one is not a recipient, nobody else sees what follows from the part
        if opener.session.role.other in recipients and (found.hidden.any() or self._tells(limits.own)):
            why = DisclosureRefused(
                "In a stratum a group of this party's rows, with the event or without it, has fewer persons "
                "than its policy asks for, or everybody of a group has it.",
                "Use fewer and larger strata, or add noise to the job (epsilon).",
            )
        settle(opener, shown, why, recipients)
        return opener.ints(self.figures(), recipients, shown)

    def _tells(self, own: Owned[Limits]) -> bool:
        """Whether zeros are shown, and a line has persons in one cell only, as of `tables.refusal`."""
        there = self.part.crowds.everybody.reshape(self.shape) > 0
        lines = (there.sum(axis) for axis, size in enumerate(self.shape) if size > 1)
        return own.value.minimum_group > 1 and any((line == 1).any() for line in lines)
