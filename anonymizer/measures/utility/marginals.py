"""Each column's distribution before and after, as a measure."""

from __future__ import annotations

from collections.abc import Mapping

from typing_extensions import override

from anonymizer.measures.contract.measure import Case, Measure
from anonymizer.measures.contract.story import Grid, Presentation, number
from anonymizer.utility.marginals import Marginal, marginal


class Marginals(Measure[Mapping[str, Marginal]]):
    """Total variation, and distances of Hellinger and of Kullback and Leibler, column by column."""

    name = "marginals"
    title = "Distributions of columns"
    kind = "utility"

    @override
    def cost(self, rows: int, columns: int) -> float:
        """Columns are coded and counted."""
        return 30.0 * rows * columns + 1e5 * columns

    @override
    def measure(self, case: Case) -> Mapping[str, Marginal]:
        """As `marginal`, of each shared column."""
        return {name: marginal(case.original, case.release, name) for name in case.shared}

    @override
    def describe(self, found: Mapping[str, Marginal]) -> Presentation:
        """A row for each column."""
        return Presentation(
            values={
                n: {"total_variation": one.total_variation, "kl": one.kl, "hellinger": one.hellinger}
                for n, one in found.items()
            },
            grids=[
                Grid(
                    "Distance of the distribution after from that before, 0 if alike.",
                    ("Column", "Total variation", "Hellinger", "KL (nats)"),
                    [
                        (name, number(one.total_variation), number(one.hellinger), number(one.kl))
                        for name, one in found.items()
                    ],
                )
            ],
        )
