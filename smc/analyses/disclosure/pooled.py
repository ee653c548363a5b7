"""The opening of figures about the cells of a table that stay closed, such as ratios pooled over strata.

Limits and history of a side take them as if its cells themselves were shown; both sides say by one bit
whether they go on, and only then are the figures computed.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.audit import ShownTable, ShownTables
from smc.analyses.disclosure.limits import Limits, effective_group
from smc.analyses.disclosure.opener import Opener
from smc.analyses.disclosure.owned import Owned
from smc.analyses.disclosure.tables import TablePart, settle, suppress
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.secret.linear_ints import LinearInts

Figures = Callable[[Owned[int]], LinearInts]
"""Computes what is opened, by the least of Kish's numbers that this side asks for of its rows."""


def open_pooled(
    opener: Opener, limits: Owned[Limits], part: TablePart, figures: Figures, recipients: AbstractSet[Role]
) -> NDArray[np.int64] | None:
    """Open figures about this side's part of cells that stay closed; None for a party that is no recipient.

    Raises:
        DisclosureRefused: a side does not let its part be used; at both sides, and nothing was opened.
    """
    found, why = suppress(limits, part, margins=False), None
    shown = ShownTables((ShownTable.of(part.members, found, margins=False),))
    if opener.session.role.other in recipients and found.hidden.any():
        why = DisclosureRefused(
            "A group of this party's rows, with the event or without it, has fewer persons than its policy "
            "asks for.",
            "Use larger groups, or add noise to the job (epsilon).",
        )
    settle(opener, shown, why, recipients)
    return opener.ints(figures(effective_group(limits)), recipients, shown)
