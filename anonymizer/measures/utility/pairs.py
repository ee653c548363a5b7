"""The joint distributions of pairs of columns before and after, as a measure."""

from __future__ import annotations

from typing_extensions import override

from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Presentation, number
from anonymizer.utility.pairs import PairDistances, pair_distances


class PairMarginals(Measure[PairDistances]):
    """Total variation of two-way marginals: the mean and the worst."""

    name = "pair-marginals"
    title = "Distributions of pairs of columns"
    kind = "utility"
    needs = (Need.PAIR,)

    @override
    def cost(self, rows: int, columns: int) -> float:
        """Pairs are sorted, 500 of them at most."""
        return 30.0 * rows * (min(columns**2 / 2, 500.0) + columns)

    @override
    def measure(self, case: Case) -> PairDistances:
        """As `pair_distances`, of the shared columns."""
        return pair_distances(case.original, case.release, case.shared, random_state=case.seed)

    @override
    def describe(self, found: PairDistances) -> Presentation:
        """The mean, and which pair is worst."""
        of = "all pairs of columns" if found.part == 1 else f"{len(found.pairs):,} pairs of columns at random"
        one, other = found.worst
        worst = float(found.distances.max())
        return Presentation(
            values={
                "mean": found.mean,
                "worst": worst,
                "worst_pair": [one, other],
                "pairs": len(found.pairs),
                "part": found.part,
            },
            facts=[
                ("Mean total variation", f"{number(found.mean)} over {of}; 0 if alike, 1 if nothing is"),
                ("Worst", f"{number(worst)}, of {one} and {other}"),
            ],
        )
