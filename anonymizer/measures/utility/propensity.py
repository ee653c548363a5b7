"""The propensity score as a measure."""

from __future__ import annotations

from typing_extensions import override

from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Presentation, number
from anonymizer.utility.propensity import Propensity, propensity


class PropensityScore(Measure[Propensity]):
    """Can a model tell released rows from original ones?"""

    name = "propensity"
    title = "Propensity score"
    kind = "utility"
    needs = (Need.COLUMN,)
    passes = 10.0
    fixed_cost = 3e8  # a model of a few hundred features of at most twenty thousand rows

    @override
    def measure(self, case: Case) -> Propensity:
        """As `propensity`, of the shared columns."""
        return propensity(case.original, case.release, case.shared, random_state=case.seed)

    @override
    def describe(self, found: Propensity) -> Presentation:
        """The ratio to what chance would give."""
        return Presentation(
            values={"pmse": found.pmse, "ratio": found.ratio, "columns": found.columns},
            facts=[
                (
                    "Ratio",
                    f"{number(found.ratio)}: about 1 or less if a model cannot tell released from original "
                    f"rows, more the better it can ({found.columns} columns seen)",
                )
            ],
        )
