"""Several releases of the same people, as a measure."""

from __future__ import annotations

from typing_extensions import override

from anonymizer.errors import list_names
from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Grid, Presentation
from anonymizer.risk.intersection import Intersection, intersect


class IntersectionMeasure(Measure[Intersection]):
    """What is left of k and l to somebody who has other releases of the same table too."""

    name = "intersection"
    title = "Several releases together"
    kind = "risk"
    needs = (Need.QUASI_IDENTIFIERS, Need.OTHERS)

    @override
    def columns(self, case: Case) -> tuple[str, ...]:
        """The quasi-identifiers and the sensitive columns."""
        return (*case.keys, *case.release.roles.sensitive)

    @override
    def cost(self, rows: int, columns: int) -> float:
        """Bounded: of more persons a random part is looked for."""
        return min(2e9, 30.0 * rows * columns)

    @override
    def measure(self, case: Case) -> Intersection:
        if case.joint is not None:
            return case.joint
        return intersect(case.original, (case.rows, *case.others), case.randomness(self.name))

    @override
    def describe(self, found: Intersection) -> Presentation:
        """A row for each release."""
        columns = list(found.l)
        heads = ["Release", "persons found", "k alone", "k together"]
        for name in columns:
            heads += [f"l of {name} alone", "together", "with one value alone", "together"]
        rows = []
        for one in found.left:
            cells = [one.name, f"{one.persons:,}", _figure(one.k_alone), _figure(one.k)]
            for name in columns:
                cells += [_figure(one.l_alone.get(name)), _figure(one.l.get(name))]
                cells += [f"{side.get(name, 0):,}" for side in (one.certain_alone, one.certain)]
            rows.append(cells)
        looked = f"{found.looked:,} of {found.persons:,} persons were looked for"
        if found.looked < found.persons:
            looked += ", drawn at random where all would be too many"
        said = [f"{len(found.left)} releases", f"k = {_figure(found.k)}"]
        said += [f"l of {name} = {least}" for name, least in found.l.items()]
        certain = [(name, count) for name, count in found.certain.items() if count]
        return Presentation(
            values={
                "looked": found.looked,
                "persons": found.persons,
                "k": found.k,
                "l": found.l,
                "certain": found.certain,
                "releases": [
                    {
                        "name": one.name,
                        "persons": one.persons,
                        "k": one.k,
                        "k_alone": one.k_alone,
                        "l": one.l,
                        "l_alone": one.l_alone,
                        "certain": one.certain,
                        "certain_alone": one.certain_alone,
                    }
                    for one in found.left
                ],
            },
            lines=[("together", ", ".join(said))],
            cautions=[
                *(
                    f"Who has all releases is left with one value of {name} for {count:,} persons."
                    for name, count in certain
                ),
                *(
                    f"{max(unread.values()):,} rows of {one.name} hold in {list_names(list(unread))} what "
                    "does not say whom it stands for, and were taken for anybody's: k and l together are at "
                    "most what is said."
                    for one, unread in zip(found.left, found.unread, strict=False)
                    if unread
                ),
            ],
            text="The attacker has all these releases, and knows a person's quasi-identifiers. A row of one "
            "release is dropped if no row that fits the person in another agrees with it in the columns that "
            f"both have unchanged. {looked}.",
            grids=[Grid("What is left of each release, alone and together with the others.", heads, rows)],
        )


def _figure(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
