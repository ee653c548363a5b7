"""Who learns what from figures about the pairs of a tolerant matching."""

from __future__ import annotations

from smc.analyses.disclosure.limits import ASKED
from smc.analyses.matching.aggregates.leakage import CHOSEN, shows_rows
from smc.analyses.matching.aggregates.parameters import SIZE
from smc.analyses.matching.linked.parameters import LinkedParameters
from smc.analyses.matching.tolerant.leakage import public
from smc.analyses.studies.study import Leakage
from smc.forms import Role


def leakage(parameters: LinkedParameters, recipients: frozenset[Role]) -> Leakage:
    """Recipients learn exact figures, and nobody which rows were paired or how alike they are."""
    asked = parameters.figures
    names = ", ".join(f"{value.side.value}'s {value.column}" for value in asked.values)
    figures = "how many rows were paired"
    if asked.output != SIZE:
        figures += f", and over the pairs the sum and the mean of {names}"
    figures += "; exactly, and not which rows"
    gets = {
        role: (figures, CHOSEN) if shows_rows(asked, frozenset((role,))) else (figures,)
        for role in recipients
    }
    bit = f"whether the limits of disclosure hold, one bit, where the policies set any that apply; {ASKED}"
    bounds = (f"bounds and scales of {names}",) if names else ()
    return Leakage(
        (*gets.get(Role.ALICE, ()), bit),
        (*gets.get(Role.BOB, ()), bit),
        (*public(parameters.matching), *bounds),
    )
