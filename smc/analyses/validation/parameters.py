"""The `[parameters]` of a validation, checked and frozen.

[parameters]
model = "alice"                    # whose model it is; the other side has rows and outcomes
kind = "logistic"                  # or "linear", "trees"
outcome = "died"                   # at the side with rows: a whole number of 0 and 1, or a category
positive = ["yes"]                 # of a category the labels that count as 1
largest = 16                       # no score is above this in absolute value
cuts = ["0.1", "0.2", "0.5"]       # scores are counted between these; of "logistic" they are chances
threshold = "0.5"                  # one of the cuts: what counts as predicted
epsilon = "1"
maximum_rows = 100000
[[parameters.features]]
name = "age"
lower = "0"                        # values are clamped to this range, which the model's side knows
upper = "120"
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import log
from typing import Annotated, Any, Final

from commons.settings.bounds import Between, OneOf
from commons.settings.marks import Length, Read, UnfitError
from smc.analyses.predictors.features import MAX_DIGITS, ScoredFeature
from smc.analyses.predictors.form import MAX_DEPTH, MAX_SPLITS, MAX_TREES, Link
from smc.analyses.predictors.text import SALT
from smc.analyses.predictors.tree_scores import TreeShape
from smc.analyses.records.numbers import NUMBER, loss_term, number
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.neighbours import Neighbours
from smc.analyses.studies.parameters import Name
from smc.errors import UsageError
from smc.forms import Role
from smc.secret.noise.laplace import DiscreteLaplace

LINEAR: Final = "linear"
LOGISTIC: Final = "logistic"
TREES: Final = "trees"
MAX_FEATURES: Final = 256
MAX_CUTS: Final = 100
MAX_SCORE: Final = 1 << 20
MAX_ROWS: Final = 10_000_000
MAX_DELTA: Final = Fraction(1, 1 << 40)
"""Noise whose delta would be larger is refused."""

NEIGHBOURS: Final = Neighbours(1, rows_public=True)
"""What the guarantee is about: a person is one row of the side with outcomes, whose number is known."""

_TENTHS: Final = tuple(Fraction(tenth, 10) for tenth in range(1, 10))


def _numbers(value: Any, place: str) -> tuple[Fraction, ...]:
    if not isinstance(value, list):
        raise UsageError(f"{place} is not a list.", 'Write ["0.1", "0.5"].')
    return tuple(number(each, place) for each in value)


@dataclass(frozen=True, slots=True)
class Feature:
    """A column that the model looks at.

    Attributes:
        name: of the column, and in the model.
        lower: values below it count as this.
        upper: values above it count as this.
        digits: after the point, of trees.
    """

    name: Name
    lower: Annotated[Fraction, Read(number, NUMBER)]
    upper: Annotated[Fraction, Read(number, NUMBER)]
    digits: Annotated[int, Between(0, MAX_DIGITS)] = 0

    def __post_init__(self) -> None:
        if self.lower >= self.upper:
            raise UnfitError("lower", "is not below upper", "Correct the range.")

    @property
    def middle(self) -> Fraction:
        """Of the range."""
        return (self.lower + self.upper) / 2

    @property
    def reach(self) -> Fraction:
        """From the middle to an end."""
        return (self.upper - self.lower) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationParameters:
    """Parsed parameters.

    Attributes:
        model: whose model it is.
        kind: what its scores are: sums of features by weights, or the chances that these are log-odds of;
            or the chances that trees of two classes give.
        outcome: the column of outcomes.
        positive: labels of it that count as 1; none where it is a column of 0 and 1.
        largest: bound on the sums in absolute value.
        cuts: ascending; scores are counted between them. Chances where the model is logistic.
        threshold: one of them, from which on a score predicts the outcome.
        epsilon: the privacy loss towards the side with rows.
        maximum_rows: the most rows.
        features: what the model looks at.
        commitment: to a model of trees and its salt.
        link: what the outputs of trees are.
        classes: the two that trees tell apart; the second is the outcome.
        trees: how many there are at most.
        depth: of the deepest.

    Raises:
        UnfitError: they do not fit each other.
    """

    model: Role = Role.ALICE
    kind: Annotated[str, OneOf((LINEAR, LOGISTIC, TREES))] = LOGISTIC
    outcome: Name
    positive: Annotated[tuple[Name, ...], Length(maximum=100)] = ()
    largest: Annotated[int, Between(1, MAX_SCORE)] = 32
    cuts: Annotated[tuple[Fraction, ...], Read(_numbers, {"type": "array", "items": NUMBER})] = ()
    threshold: Annotated[Fraction | None, Read(number, NUMBER)] = None
    epsilon: Annotated[Fraction, Read(loss_term, NUMBER)]
    maximum_rows: Annotated[int, Between(1, MAX_ROWS)] = MAX_ROWS
    features: Annotated[tuple[Feature, ...], Length(1, MAX_FEATURES)]
    commitment: str = ""
    link: Link = Link.IDENTITY
    classes: tuple[Name, ...] = ()
    trees: Annotated[int, Between(0, MAX_TREES)] = 0
    depth: Annotated[int, Between(0, MAX_DEPTH)] = 0

    def __post_init__(self) -> None:
        names = [feature.name for feature in self.features]
        if len({*names, self.outcome}) <= len(names):
            raise UnfitError("features", "names a column twice, or the outcome", "Name each column once.")
        if not self.cuts and self.kind == LINEAR:
            raise UnfitError("cuts", "is missing, which a linear score needs", 'Write cuts = ["-1", "0"].')
        if len(self.bins) > MAX_CUTS or any(low >= high for low, high in pairwise(self.bins)):
            raise UnfitError(
                "cuts", f"is not up to {MAX_CUTS} ascending numbers", "Write each once, in order."
            )
        self._check_trees()
        inside = (0, 1) if self.has_chances else (-self.largest, self.largest)
        if not inside[0] < self.bins[0] or not self.bins[-1] < inside[1]:
            raise UnfitError("cuts", f"is not between {inside[0]} and {inside[1]}", "Leave these ends out.")
        if self.predicted not in self.bins:
            raise UnfitError("threshold", "is not one of the cuts", "Add it to cuts, or choose one of them.")
        self.distribution  # noqa: B018 - refuses an epsilon that noise cannot be drawn for

    def _check_trees(self) -> None:
        if self.kind != TREES:
            if self.trees or self.depth or self.classes or self.commitment:
                raise UnfitError("trees", "is of kind trees alone", 'Write kind = "trees", or leave it out.')
            return
        if not SALT.fullmatch(self.commitment):
            raise UnfitError(
                "commitment", "is not 64 hexadecimal digits", "Write what `duetto model import` prints."
            )
        if len(self.classes) != 2:
            raise UnfitError("classes", "is not of two classes", "The second one is the outcome.")
        if not self.trees or not self.depth or self.trees * ((1 << self.depth) - 1) > MAX_SPLITS:
            raise UnfitError(
                "trees",
                f"or depth is missing, or they have more than {MAX_SPLITS} decisions together",
                "Write trees = 20 and depth = 5.",
            )
        self.shape.width(self.shape.scale)

    @property
    def has_chances(self) -> bool:
        """Whether cuts are chances."""
        return self.kind != LINEAR

    @property
    def shape(self) -> TreeShape:
        """What is public of trees."""
        return TreeShape(
            features=tuple(
                ScoredFeature(each.name, each.lower, each.upper, each.digits) for each in self.features
            ),
            classes=self.classes,
            link=self.link,
            labels=False,
            largest=self.largest,
            trees=self.trees,
            depth=self.depth,
        )

    @property
    def rows(self) -> Role:
        """Whose the rows and outcomes are."""
        return self.model.other

    @property
    def bins(self) -> tuple[Fraction, ...]:
        """The cuts; of chances the tenths where none are stated."""
        return self.cuts or _TENTHS

    @property
    def predicted(self) -> Fraction:
        """The threshold; the middle cut where none is stated."""
        return self.bins[len(self.bins) // 2] if self.threshold is None else self.threshold

    @property
    def sums(self) -> tuple[float, ...]:
        """The cuts as scores."""
        if self.kind == LINEAR or (self.kind == TREES and self.shape.is_chance):
            return tuple(float(cut) for cut in self.bins)
        return tuple(log(cut / (1 - cut)) for cut in self.bins)

    @property
    def distribution(self) -> DiscreteLaplace:
        """The noise of each number of rows: a person who brings another row changes two of them by 1.

        Raises:
            UsageError: epsilon is too small or too large for the noise to be drawn from 64-bit words.
        """
        found = DiscreteLaplace.of(self.epsilon / NEIGHBOURS.changes)
        part = Decimal(self.epsilon.numerator) / Decimal(self.epsilon.denominator)
        if Fraction((1 + part.exp()) * 2 * (len(self.bins) + 1) * found.distance) > MAX_DELTA:
            raise UsageError(
                "Drawing the noise from 64-bit words would make delta larger than 2**-40.", "Lower epsilon."
            )
        return found

    @property
    def loss(self) -> Loss:
        """Of the job."""
        return Loss(self.epsilon, MAX_DELTA)
