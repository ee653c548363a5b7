"""The opening of figures about the cells of a table that stay closed, such as ratios pooled over strata.

Limits and history of a side take them as if its cells themselves were shown, and how many persons each
stratum has: a person alone in a stratum drops out of what is pooled, and so would be told by figures with and
without that stratum. Both sides say by one bit whether they go on, and only then are the figures computed.
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
from smc.analyses.disclosure.limits import Agreed, effective_group
from smc.analyses.disclosure.opener import Opener
from smc.analyses.disclosure.owned import Owned
from smc.analyses.disclosure.tables import TablePart, settle, suppress
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.secret.linear_ints import LinearInts

Figures = Callable[[Owned[int]], LinearInts]
"""Computes what is opened, by the least of Kish's numbers that this side asks for of its rows."""


@dataclass(frozen=True, slots=True)
class PooledFigure(ExactFigure[NDArray[np.int64] | None]):
    """Figures about this side's part of cells that stay closed.

    Attributes:
        part: the cells, added up over the strata.
        strata: the rows of all these cells by stratum, of which each has to have a group or nobody.
        figures: computes what is opened.
    """

    part: TablePart
    strata: TablePart
    figures: Figures

    @override
    def open(self, opener: Opener, limits: Agreed, recipients: AbstractSet[Role]) -> NDArray[np.int64] | None:
        """What `figures` computes; None for a party that is not a recipient.

        Raises:
            DisclosureRefused: a side does not let its part be used; at both sides, and nothing was opened.
        """
        found, why = suppress(limits.own, self.part, margins=False), None
        there = self.strata.crowds.everybody.reshape(-1)
        by_stratum = ShownTable(self.strata.members, np.eye(len(there), dtype=np.bool_)[there > 0])
        shown = ShownTables((ShownTable.of(self.part.members, found, margins=False), by_stratum))
        if (
            opener.session.role.other in recipients
            and ((there > 0) & (there < limits.own.value.minimum_group)).any()
        ):
            why = DisclosureRefused(
                "A stratum has fewer persons of this party than its policy asks for.",
                "Use fewer and larger self.strata.",
            )
        if opener.session.role.other in recipients and found.hidden.any():
            why = DisclosureRefused(
                "A group of this party's rows, with the event or without it, has fewer persons than its "
                "policy asks for.",
                "Use larger groups, or add noise to the job (epsilon).",
            )
        settle(opener, shown, why, recipients)
        return opener.ints(self.figures(effective_group(limits.own)), recipients, shown)
