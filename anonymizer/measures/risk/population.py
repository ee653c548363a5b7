"""Estimates of what holds in the population: uniqueness, individual and household risk."""

from __future__ import annotations

from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Presentation, number, percent
from anonymizer.risk.individual import PersonRisk, person_risk
from anonymizer.risk.uniqueness import Uniqueness, uniqueness


class PopulationUniqueness(Measure[Uniqueness]):
    """Uniques of the release and, by estimate, of the population."""

    name = "uniqueness"
    title = "Uniqueness"
    kind = "risk"
    needs = (Need.QUASI_IDENTIFIERS, Need.PERSONS, Need.FRACTION)
    passes = 100.0  # classes, and fits of a few hundred steps over their sizes

    @override
    def measure(self, case: Case) -> Uniqueness:
        if case.fraction is None:
            raise TableError(
                "It is not known which part of the population was released.",
                "Give released rows by population, up to 1.",
            )
        return uniqueness(case.release, case.fraction)

    @override
    def describe(self, found: Uniqueness) -> Presentation:
        """In the release and in the population."""
        return Presentation(
            values={
                "fraction": found.fraction,
                "sample": found.sample,
                "population": found.population,
                "zayatz": found.zayatz,
                "pitman": found.pitman,
                "match": found.match,
            },
            lines=[
                ("unique", f"{found.sample:.2%} of the rows, {found.population:.2%} of the people (estimate)")
            ],
            facts=[
                ("Unique in the release", f"{percent(found.sample)} of the rows"),
                (
                    "Unique in the population",
                    f"{percent(found.population)} of the people, by estimate; with "
                    f"{percent(found.fraction)} sampled, {percent(found.match)} of the matches of unique "
                    "rows are right",
                ),
            ],
        )


class IndividualRisk(Measure[PersonRisk]):
    """The estimated risk of each row, and of its household, as in sdcMicro."""

    name = "individual-risk"
    title = "Individual and household risk"
    kind = "risk"
    needs = (Need.QUASI_IDENTIFIERS, Need.PERSONS)
    passes = 100.0  # classes, and a series for each size

    @override
    def lacks(self, case: Case) -> str:
        """It needs weights, or the fraction."""
        if case.weights is None and case.fraction is None:
            return super().lacks(case) or "neither sampling weights nor the part that was sampled are given"
        return super().lacks(case)

    @override
    def measure(self, case: Case) -> PersonRisk:
        return person_risk(case.release, case.fraction, case.weights, case.households)

    @override
    def describe(self, found: PersonRisk) -> Presentation:
        """The worst row, the sum, and the same of households."""
        highest, homes = float(found.rows.max()), found.households
        facts = [
            ("Worst row", number(highest)),
            ("Re-identified if all are matched", f"{number(found.expected)} of {len(found.rows):,} rows"),
        ]
        if homes is not None:
            facts.append(("Worst household", number(float(homes.max()))))
            facts.append(("Mean over the rows of the household's risk", number(float(homes.mean()))))
        return Presentation(
            values={
                "highest": highest,
                "mean": float(found.rows.mean()),
                "expected": found.expected,
                "household_highest": None if homes is None else float(homes.max()),
                "household_mean": None if homes is None else float(homes.mean()),
            },
            lines=[
                ("individual risk", f"{highest:.4g} at most, {found.expected:.4g} rows re-identified of all"),
                *([] if homes is None else [("household risk", f"{homes.max():.4g} at most")]),
            ],
            text="The released rows are a sample; each stands for several people. Estimated is 1 / the "
            "number of people like the row in the population. A household is found if one of its members is.",
            facts=facts,
        )
