"""Whose the parts of a model over matched rows are, and which figures go along with its covariates."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import Final

from smc.analyses.models.design import Design, Term
from smc.analyses.models.parameters import COX, LINEAR, LOGISTIC, POISSON
from smc.analyses.records.matched_columns import Vertical
from smc.errors import UsageError
from smc.forms import Role
from smc.secret.sharing.bounds import Bounds

SCALES: Final = {LINEAR: 20, LOGISTIC: 10, POISSON: 10, COX: 10}
"""Fractional bits of covariates from -1 to 1: those of a predictor have to fit a period."""

COEFFICIENT_BITS: Final = 16
"""Fractional bits of the coefficients of which a predictor is made."""

OUTCOME, HAPPENED, OFFSET, AT_RISK = "outcome", "happened", "offset", "at risk"
"""Figures of a row: the outcome, of times whether they ended with the event; whether a count is above 0; the
logarithm of the exposure as a part of the longest; whether a person is followed when events happen."""


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
    """

    design: Design
    sides: tuple[Role, ...]
    outcome: Role
    exposure: Role | None

    @classmethod
    def of(cls, design: Design, vertical: Vertical) -> Sided:
        """By the columns that each side brings.

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
        return cls(design, tuple(sides), outcome, exposure)

    @property
    def scale(self) -> int:
        """Fractional bits of covariates."""
        return SCALES[self.design.model.kind]

    @property
    def figures(self) -> list[RowFigure]:
        """What goes along with the covariates."""
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
