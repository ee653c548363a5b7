"""Models fitted to the rows of both, each side's part as that side's own limits allow it.

    own         do enough persons stand behind each covariate and each outcome, and does nobody dominate a
                coefficient? by this side's own policy
    opened      whether both sides go on, one bit of each
    opened      coefficients, as often as the job states; to both

A recipient knows its own rows and can choose them, so that what a model tells is about the other side's: a
covariate that one person has tells that person's outcome, and so does a coefficient to which one person
contributes nearly all. Covariates that many persons have may differ in one: two cuts of an age a year apart
tell by the difference of their coefficients what becomes of those of that year. So nobody may have a larger
part of any combination of covariates than one of the smallest group, by the leverage of the person's rows.
Two models, or a model and a table, can differ in as little, by labels or by numbers: so the auditor is told
the sums over rows that coefficients solve equations in, as it is of tables.
Each side tests its own part, by its own policy, and nothing of the test is seen by the other side but its
answer.

Over matched rows nobody knows whom a model is about, so the same is tested of secret numbers, by the stricter
of both policies, and one bit says whether all of it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from smc.analyses.disclosure.audit import ShownTables
from smc.analyses.disclosure.figures import Sum
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.owned import Owned
from smc.errors import DisclosureRefused
from smc.secret.linear_ints import LinearInts

EVENTS_EACH: Final = 10
"""Persons of each outcome for every coefficient, where numbers of persons are limited at all."""

PART_SCALE: Final = 20
"""Fractional bits of parts."""

_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class FitPart:
    """One side's part of a model.

    Attributes:
        persons: of all rows.
        outcomes: persons of each outcome that a model tells apart, such as those with the event.
        coefficients: how many there are.
        apart: for each covariate by its name, the persons that do not have its commonest value.
        largest: for each coefficient by its name, the largest part of its information that is one person's.
        leverage: the largest part that one person has of the information about a combination of coefficients.
        told: what it counts as where it is held against other figures: sums over rows, for the auditor.
    """

    persons: int
    outcomes: Sequence[int]
    coefficients: int
    apart: Sequence[tuple[str, int]] = field(repr=False)
    largest: Sequence[tuple[str, Fraction]] = field(repr=False)
    leverage: float = field(repr=False)
    told: ShownTables = field(repr=False)


@dataclass(frozen=True, slots=True)
class MatchedPart:
    """What a model over matched rows is about, each of one secret integer.

    Attributes:
        persons: matched ones.
        outcomes: those of each outcome that the model tells apart.
        coefficients: how many there are.
        apart: for each covariate those on either side of a value, so that as many differ from any one.
        sums: for each coefficient the whole of its information, and the most that is one person's.
        parts: for each covariate the largest part that one person can have of what it tells beside the
            others, in units of 2**-`PART_SCALE`.
    """

    persons: LinearInts
    outcomes: Sequence[LinearInts]
    coefficients: int
    apart: Sequence[LinearInts]
    sums: Sequence[Sum]
    parts: Sequence[LinearInts]

    def needs(self, limits: Limits) -> list[tuple[LinearInts, int]]:
        """Numbers of persons, and what each has to reach."""
        least = limits.minimum_group
        if not least:
            return []
        wanted = max(least, EVENTS_EACH * self.coefficients)
        alike = [(count, least) for count in (self.persons, *self.apart)]
        # 1 and by how much each part is below one of the smallest group
        below = [(-each + ((1 << PART_SCALE) // least + 1), 1) for each in self.parts]
        return [*alike, *((count, wanted) for count in self.outcomes), *below]


def refusal(limits: Owned[Limits], part: FitPart) -> DisclosureRefused | None:
    """Why this side's limits stand against a model; None where they do not. For this party's people alone."""
    own = limits.value
    least = own.minimum_group
    if least and part.persons < least:
        return _refused(f"there are {part.persons} persons, and the policy asks for {least}")
    wanted = max(least, EVENTS_EACH * part.coefficients)
    if least and min(part.outcomes, default=wanted) < wanted:
        return _refused(
            f"an outcome has {min(part.outcomes)} persons, and {wanted} are needed: {least} by the policy, "
            f"and {EVENTS_EACH} for each coefficient"
        )
    for name, persons in part.apart:
        if persons < least:
            return _refused(
                f"{persons} persons differ in {name!r} from all others, and the policy asks for {least}"
            )
    for name, share in part.largest:
        if share > own.dominance:
            return _refused(f"one person decides more of the coefficient of {name!r} than dominance allows")
    if least * part.leverage > 1 + _ROUNDING:
        return _refused(
            f"a combination of the covariates sets fewer persons apart than the {least} of the policy, as "
            "two cuts do between which few lie, or a product that nearly all have who have one factor of it"
        )
    return None


def together() -> DisclosureRefused:
    """Why history stands against a model."""
    return _refused(
        "by its labels alone, or together with exact figures released before, it would describe fewer "
        "persons than the policy asks for, or reveal the value of one person"
    )


def other_refused() -> DisclosureRefused:
    """What a side reads where the other one does not go on."""
    return DisclosureRefused(
        "The other party does not let a model be fitted to its rows: too few of its persons stand behind a "
        "covariate or an outcome, one decides a coefficient, or earlier exact figures stand against it.",
        "Use fewer covariates, with values that more persons have.",
    )


def _refused(why: str) -> DisclosureRefused:
    return DisclosureRefused(
        f"This side's limits stand against the model: {why}.",
        "Use fewer covariates, with values that more persons have. The other party learns no reason.",
    )
