"""How columns hang together in pairs, as a measure."""

from __future__ import annotations

from typing_extensions import override

from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Presentation, number
from anonymizer.utility.correlations import Correlations, correlations


class PairCorrelations(Measure[Correlations]):
    """The mean change of the strength of association over pairs of columns."""

    name = "correlations"
    title = "Correlations"
    kind = "utility"
    needs = (Need.PAIR,)

    @override
    def cost(self, rows: int, columns: int) -> float:
        """Pairs, of which no more are drawn than a bound on the cells allows."""
        return (
            10.0 * rows * min(columns**2 / 2, 2000.0, max(100.0, 2e8 / max(1, rows))) + 30.0 * rows * columns
        )

    @override
    def measure(self, case: Case) -> Correlations:
        """As `correlations`, of the shared columns."""
        return correlations(case.original, case.release, case.shared, random_state=case.seed)

    @override
    def describe(self, found: Correlations) -> Presentation:
        """The mean change."""
        of = "all pairs of columns" if found.part == 1 else f"{len(found.pairs):,} pairs of columns at random"
        return Presentation(
            values={"difference": found.difference, "pairs": len(found.pairs), "part": found.part},
            facts=[("Change", f"{number(found.difference)} in the mean over {of}")],
        )
