"""Who is looked for, and who looks: prosecutor, journalist and marketer."""

from __future__ import annotations

from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Presentation, Tile, number, percent
from anonymizer.risk.measures import RowRisk, journalist_risk, prosecutor_risk


class Prosecutor(Measure[RowRisk]):
    """1 / size of the class in the release."""

    name = "prosecutor"
    title = "Prosecutor risk"
    kind = "risk"
    needs = (Need.QUASI_IDENTIFIERS, Need.PERSONS)
    passes = 10.0  # each column is sorted into classes

    @override
    def measure(self, case: Case) -> RowRisk:
        return prosecutor_risk(case.release)

    @override
    def describe(self, found: RowRisk) -> Presentation:
        """The worst row, the mean, and how many are above a fifth."""
        unique = int((found.rows >= 1).sum())
        caution = f"{unique:,} released rows are like no other in their quasi-identifiers (k = 1)."
        return Presentation(
            values={
                "highest": found.highest,
                "marketer": found.average,
                "above_a_fifth": found.above(0.2),
                "unique": unique,
            },
            lines=[("prosecutor risk", f"{found.highest:.4g} at most, {found.average:.4g} in the mean")],
            cautions=[caution] if unique else [],
            cards=[
                Tile(number(found.highest), "risk of the worst row", worst=True),
                Tile(number(found.average), "mean risk of a row"),
            ],
            text="The attacker knows that the person is in the release.",
            facts=[
                ("Worst row", number(found.highest)),
                (
                    "Marketer risk",
                    f"{number(found.average)}: the part of the rows that is re-identified if "
                    "each is matched at random",
                ),
                ("Rows above risk 1/5", percent(found.above(0.2))),
            ],
        )


class Journalist(Measure[RowRisk]):
    """1 / size of the class in the population; k-map."""

    name = "journalist"
    title = "Journalist risk and k-map"
    kind = "risk"
    needs = (Need.QUASI_IDENTIFIERS, Need.PERSONS, Need.POPULATION)
    passes = 30.0  # each class is looked up in the population

    @override
    def measure(self, case: Case) -> RowRisk:
        if case.population is None:
            raise TableError("No population is given.", "Give all people whom an attacker may think of.")
        return journalist_risk(case.release, case.population, case.original)

    @override
    def describe(self, found: RowRisk) -> Presentation:
        """The worst row, the mean, and the k of k-map."""
        k = round(1 / found.highest)
        return Presentation(
            values={"highest": found.highest, "marketer": found.average, "k_map": k},
            lines=[("journalist risk", f"{found.highest:.4g} at most, k-map with k = {k}")],
            text="The attacker knows only that the person is in the population.",
            facts=[
                ("Worst row", number(found.highest)),
                ("k-map", f"k = {k}: every released row fits so many people or more"),
                ("Marketer risk", number(found.average)),
            ],
        )
