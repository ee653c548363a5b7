"""Whose the parts of a model over matched rows are, and which figures go along with its covariates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor, log
from typing import Final

from smc.analyses.disclosure.amounts import is_signed
from smc.analyses.disclosure.crowds import BESIDE_BOUNDS
from smc.analyses.disclosure.owned import Owned
from smc.analyses.models.design import Design, Term
from smc.analyses.models.parameters import COX, LINEAR, LOGISTIC, POISSON
from smc.analyses.records.matched_columns import Vertical
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError
from smc.forms import Role
from smc.secret.joins import majority
from smc.secret.sharing.bounds import Bounds

SCALES: Final = {LINEAR: 20, LOGISTIC: 10, POISSON: 10, COX: 10}
"""Fractional bits of covariates from -1 to 1: those of a predictor have to fit a period."""

COEFFICIENT_BITS: Final = 16
"""Fractional bits of the coefficients of which a predictor is made."""

ADDS_UP: Final = frozenset({LINEAR, POISSON})
"""Models that are made of sums of outcomes; others are made of numbers of persons."""

OUTCOME, HAPPENED, OFFSET, AT_RISK = "outcome", "happened", "offset", "at risk"
"""Figures of a row: the outcome, of times whether they ended with the event; whether a count is above 0; the
logarithm of the exposure as a part of the longest; whether a person is followed when events happen."""

OFF_BOUNDS, DIGIT, ADDED = "off a bound", "digit", "added"
"""Of an outcome that is added up, for limits: whether it is not the lower bound, or the upper; digits by
which those are found who differ from most (`smc.secret.joins.majority`); what dominance looks at. Each stands
for several figures, with a number behind it."""


@dataclass(frozen=True, slots=True)
class RowFigure:
    """A column of whole numbers beside the covariates, 0 where there is no match.

    Attributes:
        name: which.
        side: whose.
        bounds: of the held integers.
        scale: fractional bits.
    """

    name: str
    side: Role
    bounds: Bounds
    scale: int = 0


@dataclass(frozen=True, slots=True)
class Sided:
    """Whose the parts of a model are.

    Attributes:
        design: the model.
        sides: whose each term is.
        outcome: whose the outcome is, or times and events.
        exposure: whose the exposures are, if there are any.
        declared: what outcomes there are in held units, of a model that adds them up: by the catalog of their
            side, with those beyond the job's range as its ends. None without declared bounds.
        counts: whether limits ask for numbers of persons.
        weighs: whether they ask for parts of sums.
    """

    design: Design
    sides: tuple[Role, ...]
    outcome: Role
    exposure: Role | None
    declared: Owned[Bounds] | None = None
    counts: bool = False
    weighs: bool = False

    @classmethod
    def of(cls, design: Design, vertical: Vertical, schema: Schema) -> Sided:
        """By the columns that each side brings.

        Args:
            design: the model.
            vertical: whose the columns are.
            schema: of the outcome.

        Raises:
            UsageError: a covariate is made of columns of both sides, or times are one side's and events the
                other's.
        """
        model = design.model
        sides: list[Role] = []
        for term in design.terms:
            found = {_side(vertical, factor.column) for factor in term.factors}
            if len(found) != 1:
                raise UsageError(
                    f"Model {model.name!r}: {term.name} is a product of columns of both sides.",
                    "Take products of columns of one side.",
                )
            sides += found
        outcome = _side(vertical, model.outcome)
        if model.event and _side(vertical, model.event) is not outcome:
            raise UsageError(
                f"Model {model.name!r}: {model.outcome!r} and {model.event!r} are columns of two sides.",
                "Let one side bring times and events.",
            )
        exposure = _side(vertical, model.exposure) if model.exposure else None
        return cls(design, tuple(sides), outcome, exposure, _declared(design, schema))

    def under(self, *, counts: bool, weighs: bool) -> Sided:
        """The same for a run under limits.

        Raises:
            UsageError: nothing is declared of an outcome by which they would be measured.
        """
        adds = self.design.model.kind in ADDS_UP
        if adds and (counts or weighs) and self.declared is None:
            raise UsageError(
                f"Column {self.design.model.outcome!r} has no declared bounds, by which sums are judged.",
                "Declare lower and upper in the catalog.",
            )
        return replace(self, counts=counts, weighs=weighs)

    @property
    def scale(self) -> int:
        """Fractional bits of covariates."""
        return SCALES[self.design.model.kind]

    @property
    def figures(self) -> list[RowFigure]:
        """What goes along with the covariates."""
        return [*self._fitted, *self._tested]

    @property
    def _tested(self) -> list[RowFigure]:
        """What limits are tested on besides."""
        if self.declared is None or self.design.model.kind not in ADDS_UP:
            return []
        bounds, bit = self.declared.value, Bounds(0, 1)
        found = []
        if self.counts:
            found += [RowFigure(f"{OFF_BOUNDS} {place}", self.outcome, bit) for place in range(BESIDE_BOUNDS)]
            digits = range(majority.count_digits(bounds))
            found += [RowFigure(f"{DIGIT} {place}", self.outcome, bit) for place in digits]
        if self.weighs:
            ways = [Bounds(0, bounds.upper - bounds.lower)]
            ways += [Bounds(0, bounds.magnitude)] * is_signed(self.declared)
            found += [RowFigure(f"{ADDED} {place}", self.outcome, way) for place, way in enumerate(ways)]
        return found

    @property
    def _fitted(self) -> list[RowFigure]:
        kind, bit = self.design.model.kind, Bounds(0, 1)
        if kind == LINEAR:
            one = 1 << self.scale
            return [RowFigure(OUTCOME, self.outcome, Bounds(-one, one), self.scale)]
        if kind == LOGISTIC:
            return [RowFigure(OUTCOME, self.outcome, bit)]
        if kind == COX:
            return [RowFigure(OUTCOME, self.outcome, bit), RowFigure(AT_RISK, self.outcome, bit)]
        found = [
            RowFigure(OUTCOME, self.outcome, Bounds(0, self.design.most)),
            RowFigure(HAPPENED, self.outcome, bit),
        ]
        if self.exposure is not None:
            scale = self.scale + COEFFICIENT_BITS
            least = ceil(log(self.design.longest * self.design.exposed) * 2**scale)
            found.append(RowFigure(OFFSET, self.exposure, Bounds(-least, 0), scale))
        return found

    def figures_of(self, role: Role) -> list[RowFigure]:
        """Those of a side."""
        return [figure for figure in self.figures if figure.side is role]

    @property
    def slots_of(self) -> Role | None:
        """Who has to know which of its rows lies in which slot: the side with times. None if it is open."""
        return self.outcome if self.design.model.kind == COX else None

    def terms(self, role: Role) -> list[Term]:
        """Those of a side."""
        return [term for term, side in zip(self.design.terms, self.sides, strict=True) if side is role]

    def places(self, owner: Role) -> list[int]:
        """Where each coefficient is among the columns of `FixedRows`, the intercept first.

        The other side than the owner of the slots has the column of ones; its covariates are shared, and come
        last.
        """
        own = iter(
            range(len(self.terms(owner))) if owner is Role.ALICE else range(1, 1 + len(self.terms(owner)))
        )
        shared = iter(range(1 + len(self.terms(owner)), 1 + len(self.sides)))
        one = len(self.terms(owner)) if owner is Role.ALICE else 0
        return [one, *(next(own if side is owner else shared) for side in self.sides)]


def _side(vertical: Vertical, name: str) -> Role:
    return Role.ALICE if name in vertical.alice else Role.BOB


def _declared(design: Design, schema: Schema) -> Owned[Bounds] | None:
    if schema.lower is None or schema.upper is None:
        return None
    lower, upper = schema.lower, schema.upper
    if design.outcome is not None:
        middle, half = design.outcome.middle, design.outcome.half
        least, most = floor(middle - half), ceil(middle + half)
        lower, upper = (min(max(end, least), most) for end in (lower, upper))
    return Owned(Bounds(lower, upper))
