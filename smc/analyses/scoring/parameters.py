"""The `[parameters]` of a scoring, checked and frozen.

[parameters]
model = "alice"                    # whose model it is; the other side has the rows, and gets the result
commitment = "9f86..."             # to the model, 64 hexadecimal digits
kind = "trees"                     # or "linear"
link = "identity"                  # what the model's outputs are
classes = ["0", "1"]               # none where the model predicts a number
output = "label"                   # or "band", "score"
cuts = ["0.1", "0.2", "0.5"]       # of "band"
largest = 1                        # no score is above this in absolute value
trees = 20
depth = 5
maximum_rows = 1000
[[parameters.features]]
name = "age"
lower = "0"
upper = "120"
digits = 0
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import log
from typing import Annotated, Any, Final

from commons.settings.bounds import Between, OneOf
from commons.settings.marks import Length, Matching, Read, UnfitError
from smc.analyses.predictors.features import ScoredFeature
from smc.analyses.predictors.form import MAX_CLASSES, MAX_DEPTH, MAX_FEATURES, MAX_SPLITS, MAX_TREES, Link
from smc.analyses.predictors.layout import ScoreShape
from smc.analyses.predictors.linear_scores import LinearShape
from smc.analyses.predictors.text import SALT
from smc.analyses.predictors.tree_scores import TreeShape
from smc.analyses.records.numbers import NUMBER, number
from smc.analyses.studies.parameters import Name
from smc.errors import UsageError
from smc.forms import Role

LINEAR: Final = "linear"
TREES: Final = "trees"
LABEL: Final = "label"
BAND: Final = "band"
SCORE: Final = "score"
OUTPUTS: Final = (LABEL, BAND, SCORE)
MAX_CUTS: Final = 100
MAX_SCORE: Final = 1 << 20
MAX_ROWS: Final = 1_000_000


def _numbers(value: Any, place: str) -> tuple[Fraction, ...]:
    if not isinstance(value, list):
        raise UsageError(f"{place} is not a list.", 'Write ["0.1", "0.5"].')
    return tuple(number(each, place) for each in value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringParameters:
    """Parsed parameters.

    Attributes:
        model: whose model it is.
        commitment: to the model and its salt.
        kind: `LINEAR` or `TREES`.
        link: what the outputs of the model are.
        classes: what it tells apart; none for a number.
        output: what the other side gets of each row.
        cuts: ascending; of `BAND`. Chances where the model has two classes.
        largest: bound on scores in absolute value.
        squares: whether a linear model has weights of squares.
        trees: how many there are at most.
        depth: of the deepest.
        turns: whether each tree is about one class alone, in turn.
        maximum_rows: the most rows of a run.
        features: what the model looks at.

    Raises:
        UnfitError: they do not fit each other.
    """

    model: Role = Role.ALICE
    commitment: Annotated[
        str, Matching(SALT, "is not 64 hexadecimal digits", "Write what `duetto model import` prints.")
    ]
    kind: Annotated[str, OneOf((LINEAR, TREES))]
    link: Link = Link.LOGISTIC
    classes: Annotated[tuple[Name, ...], Length(0, MAX_CLASSES)] = ()
    output: Annotated[str, OneOf(OUTPUTS)] = LABEL
    cuts: Annotated[tuple[Fraction, ...], Read(_numbers, {"type": "array", "items": NUMBER})] = ()
    largest: Annotated[int, Between(1, MAX_SCORE)] = 32
    squares: bool = False
    trees: Annotated[int, Between(0, MAX_TREES)] = 0
    depth: Annotated[int, Between(0, MAX_DEPTH)] = 0
    turns: bool = False
    maximum_rows: Annotated[int, Between(1, MAX_ROWS)]
    features: Annotated[tuple[ScoredFeature, ...], Length(1, MAX_FEATURES)]

    def __post_init__(self) -> None:
        names = [feature.name for feature in self.features]
        if len({*names}) < len(names):
            raise UnfitError("features", "names a column twice", "Name each column once.")
        self._check_classes()
        self._check_kind()
        self._check_cuts()
        shape = self.shape
        shape.width(shape.scale)

    def _check_classes(self) -> None:
        classes = len(self.classes)
        if classes == 1:
            raise UnfitError("classes", "has one class alone", "Write all classes, or none for a number.")
        if (self.link is Link.LOGISTIC and classes != 2) or (self.link is Link.SOFTMAX and classes < 2):
            raise UnfitError(
                "link", "does not fit so many classes", "Write what `duetto model import` prints."
            )
        if self.output == LABEL and not classes:
            raise UnfitError("output", "is a label, and the model has no classes", "Ask for a band or score.")
        if self.output != LABEL and classes > 2:
            raise UnfitError("output", "is not a label, and the model has many classes", "Ask for labels.")

    def _check_kind(self) -> None:
        if self.kind == LINEAR:
            if self.trees or self.depth or self.turns:
                raise UnfitError("trees", "is of kind trees alone", "Leave trees, depth and turns out.")
            return
        if self.squares or any(feature.labels for feature in self.features):
            raise UnfitError(
                "kind", "is trees, and there are squares or labels", "Make columns of 0 and 1 of categories."
            )
        if not self.trees or not self.depth:
            raise UnfitError("trees", "is missing, or depth is", "Write trees = 20 and depth = 5.")
        if self.trees * ((1 << self.depth) - 1) > MAX_SPLITS:
            raise UnfitError(
                "trees",
                f"of this depth have more than {MAX_SPLITS} decisions, each of which every row takes",
                "Train fewer or less deep trees.",
            )
        if self.turns and (len(self.classes) < 3 or self.trees % len(self.classes)):
            raise UnfitError(
                "turns", "is true, and trees is not a multiple of three or more classes", "Leave it out."
            )

    def _check_cuts(self) -> None:
        if (self.output == BAND) is not bool(self.cuts):
            raise UnfitError("cuts", "is there without bands, or missing", 'Write output = "band" and cuts.')
        if len(self.cuts) > MAX_CUTS or any(low >= high for low, high in pairwise(self.cuts)):
            raise UnfitError(
                "cuts", f"is not up to {MAX_CUTS} ascending numbers", "Write each once, in order."
            )
        inside = (0, 1) if self.classes else (-self.largest, self.largest)
        if self.cuts and (not inside[0] < self.cuts[0] or not self.cuts[-1] < inside[1]):
            raise UnfitError("cuts", f"is not between {inside[0]} and {inside[1]}", "Leave these ends out.")

    @property
    def rows(self) -> Role:
        """Whose the rows are."""
        return self.model.other

    @property
    def shape(self) -> LinearShape | TreeShape:
        """What is public of the model."""
        given: dict[str, Any] = {
            "features": self.features,
            "classes": self.classes,
            "link": self.link,
            "labels": self.output == LABEL,
            "largest": self.largest,
        }
        if self.kind == LINEAR:
            return LinearShape(**given, squares=self.squares)
        return TreeShape(**given, trees=self.trees, depth=self.depth, turns=self.turns)

    @property
    def held_cuts(self) -> list[int]:
        """The cuts as whole scores."""
        shape: ScoreShape = self.shape
        cuts = self.cuts
        if self.classes and not shape.is_chance:
            cuts = tuple(Fraction(log(cut / (1 - cut))) for cut in cuts)
        scale = self.shape.scale
        return [
            max(-self.largest << scale, min(self.largest << scale, round(cut * (1 << scale)))) for cut in cuts
        ]
