"""How often models that learned from a release predict right, as a measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Grid, Presentation, percent
from anonymizer.utility.learning import LearningUtility, learning_utility
from anonymizer.utility.objectives import Learning

MODELS: Final = ("svm", "logistic", "mlp")
"""Those of the RoD paper, section 3.4."""
_ROWS: Final = 5000


class Accuracy(Measure[Mapping[str, LearningUtility]]):
    """Three models, trained on release and original, tested on rows that neither has.

    It does not ask where rows came from, so that it is the one for synthetic tables.
    """

    name = "accuracy"
    title = "Accuracy of models"
    kind = "utility"
    needs = (Need.UTILITY, Need.CONTROL)
    passes = 10.0
    fixed_cost = 3e9  # six models of five thousand rows at most

    @override
    def lacks(self, case: Case) -> str:
        """It needs the column to predict, which not every utility has."""
        found = super().lacks(case)
        return found or ("" if isinstance(case.utility, Learning) else "no column to predict is named")

    @override
    def measure(self, case: Case) -> Mapping[str, LearningUtility]:
        """By model; training with 5,000 rows at most, drawn at random."""
        if case.control is None or not isinstance(case.utility, Learning):
            raise TableError("Nothing says what to predict.", "Name a column, and give rows held out.")
        return {
            model: learning_utility(
                case.original,
                case.release,
                case.control,
                target=case.utility.target,
                model=model,
                rows=_ROWS,
                random_state=case.seed,
            )
            for model in MODELS
        }

    @override
    def describe(self, found: Mapping[str, LearningUtility]) -> Presentation:
        """A row for each model."""
        return Presentation(
            values={
                model: {"original": one.original_accuracy, "release": one.release_accuracy}
                for model, one in found.items()
            },
            lines=[
                (
                    f"accuracy of {model}",
                    f"{one.release_accuracy:.2%}; {one.original_accuracy:.2%} with the original",
                )
                for model, one in found.items()
            ],
            text="Part of the rows held out that a model predicts right, trained on either table.",
            grids=[
                Grid(
                    "Accuracy on rows held out.",
                    ("Model", "Trained on the release", "Trained on the original"),
                    [
                        (model, percent(one.release_accuracy), percent(one.original_accuracy))
                        for model, one in found.items()
                    ],
                )
            ],
        )
