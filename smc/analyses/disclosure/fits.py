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

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.disclosure.audit import Bit, Figures, ShownTables, Told
from smc.analyses.disclosure.exact_figure import ExactFigure, defect
from smc.analyses.disclosure.figures import Count, Sum
from smc.analyses.disclosure.limits import Agreed, Limits
from smc.analyses.disclosure.opener import Opener
from smc.analyses.disclosure.owned import Owned
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.secret.bits import SecretBits
from smc.secret.linear_ints import LinearInts, concatenate, select
from smc.secret.sharing.bounds import Bounds

EVENTS_EACH: Final = 10
"""Persons of each outcome for every coefficient, where numbers of persons are limited at all."""

PART_SCALE: Final = 20
"""Fractional bits of parts."""

MAX_FIT_OPENINGS: Final = 8
"""So often are coefficients of one model opened at most: each time they are nearer to the last ones."""

_ROUNDING: Final = 1e-9


class Coefficients:
    """Opens coefficients of an admitted model, and what belongs to them.

    Args:
        opener: all opening goes through it.
        recipients: who gets them.
        openings: how often at most.
        told: what the first one counts as where it is held against other figures.
    """

    def __init__(
        self, opener: Opener, recipients: AbstractSet[Role], openings: int, told: Told | None = None
    ) -> None:
        self._opener, self._recipients, self._left = opener, recipients, openings
        self._told = told or Figures()

    def open(self, values: LinearInts) -> NDArray[np.int64] | None:
        """The held integers in their shape; None for a party that is not a recipient.

        Raises:
            DisclosureRefused: they were opened too often.
        """
        if self._left < 1:
            raise defect("opens the coefficients of a model too often")
        self._left -= 1
        told, self._told = self._told, Figures()
        return self._opener.ints(values, self._recipients, told)


@dataclass(frozen=True, slots=True)
class FitPart(ExactFigure[Coefficients]):
    """One side's part of a model.

    Attributes:
        persons: of all rows.
        outcomes: persons of each outcome that a model tells apart, such as those with the event.
        coefficients: how many there are.
        apart: for each covariate by its name, the persons that do not have its commonest value.
        largest: for each coefficient by its name, the largest part of its information that is one person's.
        leverage: the largest part that one person has of the information about a combination of coefficients.
        told: what it counts as where it is held against other figures: sums over rows, for the auditor.
        residuals: of a linear model, whose sum of squared residuals is opened, the largest part of that of
            this side's rows, about their own line, that is one person's.
        fewest: persons in the smallest cell of a table of two of its labels; None where there is no table.
    """

    persons: int
    outcomes: Sequence[int]
    coefficients: int
    apart: Sequence[tuple[str, int]] = field(repr=False)
    largest: Sequence[tuple[str, Fraction]] = field(repr=False)
    leverage: float = field(repr=False)
    told: ShownTables = field(repr=False)
    residuals: Fraction = field(default=Fraction(0), repr=False)
    fewest: int | None = field(default=None, repr=False)

    @override
    def open(self, opener: Opener, limits: Agreed, recipients: AbstractSet[Role]) -> Coefficients:
        """Admit the model, each side's part by that side's own limits.

        Raises:
            DisclosureRefused: a side's limits stand against its part, at both sides; nothing was opened.
        """
        why = None
        if opener.session.role.other in recipients:  # else nobody else sees what the part is in
            why = refusal(limits.own, self)
            if why is None and not opener.auditor.allows(self.told):
                why = _together()
        if not opener.agree(Bit("whether a side lets a model be fitted"), answer=why is None):
            raise why or _other_refusal()
        return Coefficients(opener, recipients, MAX_FIT_OPENINGS, self.told)


@dataclass(frozen=True, slots=True)
class Contribution:
    """What each match adds to the sums of two groups: of those who are in one, and of the others.

    Attributes:
        amounts: what a match adds, not negative, shape (n,).
        totals: the sums of the groups, shape (2,), or (1,) where all are in one.
        group: who is in the first, shape (n,); None where all are in one.
    """

    amounts: LinearInts
    totals: LinearInts
    group: SecretBits | None = None

    def exceeds(self, part: Fraction) -> SecretBits:
        """Whether a match adds more than a part of the sum of its group, shape (n,).

        Args:
            part: above 0, and below 1.
        """
        # Nobody adds more than that part of a larger sum. Where sums end there, shorter numbers are compared.
        enough = self.amounts.bounds.upper * part.denominator // part.numerator + 1
        totals = self.totals
        if enough < totals.bounds.upper:
            ends = totals * 0 + enough
            _, least = concatenate([totals, ends]).reshape(2, len(totals)).minimum(axis=0)
            totals = least.with_bounds(Bounds(0, enough))
        own = totals[[0] * len(self.amounts)]
        if self.group is not None:
            own = select(self.group, own, totals[[1] * len(self.amounts)])
        return self.amounts * part.denominator > own * part.numerator


@dataclass(frozen=True, slots=True)
class OutcomePart:
    """What limits on the outcome of a model over matched rows are tested on, all secret.

    Attributes:
        counted: numbers of persons, one integer each, that each have to be a group.
        crowded: likewise, a group or nobody.
        weighed: what matches add to sums.
    """

    counted: Sequence[LinearInts]
    crowded: Sequence[LinearInts]
    weighed: Sequence[Contribution]

    def failing(self, limits: Limits) -> LinearInts | None:
        """How many of the tests fail, one secret integer; None where nothing is asked for."""
        least, found = limits.minimum_group, []
        if least and self.counted:
            found.append(concatenate(self.counted) < least)
        if least and self.crowded:
            crowds = concatenate(self.crowded)
            found.append((crowds < least) ^ (crowds < 1))
        if limits.weighs:
            found += [one.exceeds(limits.dominance) for one in self.weighed]
        if not found:
            return None
        return concatenate([LinearInts.from_bits(bits) for bits in found]).sum()


@dataclass(frozen=True, slots=True)
class MatchedPart(ExactFigure[Coefficients]):
    """What a model over matched rows is about, each of one secret integer.

    Attributes:
        persons: matched ones.
        outcomes: those of each outcome that the model tells apart.
        coefficients: how many there are.
        apart: for each covariate those on either side of a value, so that as many differ from any one.
        sums: for each coefficient the whole of its information, and the most that is one person's.
        parts: for each covariate the largest part that one person can have of what it tells beside the
            others, in units of 2**-`PART_SCALE`.
        explained: what the outcome is tested on.
    """

    persons: LinearInts
    outcomes: Sequence[LinearInts]
    coefficients: int
    apart: Sequence[LinearInts]
    sums: Sequence[Sum]
    parts: Sequence[LinearInts]
    explained: OutcomePart

    @property
    @override
    def weighed(self) -> Sequence[Sum]:
        return self.sums

    @override
    def needs(self, limits: Limits) -> list[tuple[Count, int]]:
        least, failing = limits.minimum_group, self.explained.failing(limits)
        none: list[tuple[Count, int]] = [] if failing is None else [(-failing + 1, 1)]
        if not least:
            return none
        wanted = max(least, EVENTS_EACH * self.coefficients)
        alike: list[tuple[Count, int]] = [(count, least) for count in (self.persons, *self.apart)]
        # 1 and by how much each part is below one of the smallest group
        below = [(-each + ((1 << PART_SCALE) // least + 1), 1) for each in self.parts]
        return [*alike, *((count, wanted) for count in self.outcomes), *below, *none]

    @override
    def open(self, opener: Opener, limits: Agreed, recipients: AbstractSet[Role]) -> Coefficients:
        """Let the coefficients open once: what limits ask of them has been tested."""
        del limits
        return Coefficients(opener, recipients, 1)


def refusal(limits: Owned[Limits], part: FitPart) -> DisclosureRefused | None:
    """Why this side's limits stand against a model; None where they do not. For this party's people alone."""
    why = next(_reasons(limits.value, part), None)
    return None if why is None else _refusal(why)


def _reasons(own: Limits, part: FitPart) -> Iterator[str]:
    least = own.minimum_group
    if least and part.persons < least:
        yield f"there are {part.persons} persons, and the policy asks for {least}"
    wanted = max(least, EVENTS_EACH * part.coefficients)
    if least and min(part.outcomes, default=wanted) < wanted:
        yield (
            f"an outcome has {min(part.outcomes)} persons, and {wanted} are needed: {least} by the policy, "
            f"and {EVENTS_EACH} for each coefficient"
        )
    for name, persons in part.apart:
        if persons < least:
            yield f"{persons} persons differ in {name!r} from all others, and the policy asks for {least}"
    if own.hides_zeros and part.fewest == 0:  # of 1 to m - 1 the auditor refuses it
        yield (
            "nobody has a certain pair of its labels, or one of them without the other, and the policy "
            "withholds empty cells"
        )
    parts = [(f"the coefficient of {name!r}", share) for name, share in part.largest]
    for what, share in [*parts, ("the sum of squared residuals", part.residuals)]:
        if share > own.dominance:
            yield f"one person decides more of {what} than dominance allows"
    if least * part.leverage > 1 + _ROUNDING:
        yield (
            f"a combination of the covariates sets fewer persons apart than the {least} of the policy, as "
            "two cuts do between which few lie, or a product that nearly all have who have one factor of it"
        )


def _together() -> DisclosureRefused:
    """Why history stands against a model."""
    return _refusal(
        "by its labels alone, or together with exact figures released before, it would describe fewer "
        "persons than the policy asks for, or reveal the value of one person"
    )


def _other_refusal() -> DisclosureRefused:
    """What a side reads where the other one does not go on."""
    return DisclosureRefused(
        "The other party does not let a model be fitted to its rows: too few of its persons stand behind a "
        "covariate or an outcome, one decides a coefficient, or earlier exact figures stand against it.",
        "Use fewer covariates, with values that more persons have.",
    )


def _refusal(why: str) -> DisclosureRefused:
    return DisclosureRefused(
        f"This side's limits stand against the model: {why}.",
        "Use fewer covariates, with values that more persons have. The other party learns no reason.",
    )
