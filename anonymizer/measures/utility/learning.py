"""Utility for learning, as a measure."""

from __future__ import annotations

import math

from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Presentation, Tile, percent


class LearningMeasure(Measure[float]):
    """How well a model trained on the release predicts (thesis, Definition 4.6)."""

    name = "learning"
    title = "Utility for learning"
    kind = "utility"
    needs = (Need.PIPELINE, Need.ORIGIN, Need.UTILITY)
    passes = 10.0
    fixed_cost = 5e8  # two models of a few thousand rows

    @override
    def measure(self, case: Case) -> float:
        """The ratio of F-measures."""
        if case.utility is None or case.pipeline is None:
            raise TableError("Nothing says what to predict.", "Name a column.")
        found = case.utility(case.original, case.release, case.pipeline)
        if math.isnan(found):
            raise TableError(
                "The model of the original predicts no class right, so that nothing can be compared with it.",
                "Name another column.",
            )
        return found

    @override
    def describe(self, found: float) -> Presentation:
        """The ratio."""
        return Presentation(
            values={"ratio": found},
            lines=[("predictive power", f"{found:.2%} kept")],
            cards=[Tile(percent(found), "of the predictive power kept (ratio of F-measures)")],
            text=f"A model trained on the release reaches {percent(found)} of the F-measure of one trained "
            "on the original, both tested on rows that neither was trained with.",
        )
