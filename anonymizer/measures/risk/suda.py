"""Special uniques as a measure."""

from __future__ import annotations

from typing_extensions import override

from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Grid, Presentation, number, percent
from anonymizer.risk.suda import SpecialUniques, sets_to_search, special_uniques


class Suda(Measure[SpecialUniques]):
    """How few columns single a row out, and which."""

    name = "suda"
    title = "Special uniques (SUDA)"
    kind = "risk"
    needs = (Need.QUASI_IDENTIFIERS, Need.PERSONS)

    @override
    def cost(self, rows: int, columns: int) -> float:
        """All sets of columns."""
        return 10.0 * rows * columns * sets_to_search(columns)

    @override
    def measure(self, case: Case) -> SpecialUniques:
        return special_uniques(case.release, fraction=case.fraction)

    @override
    def describe(self, found: SpecialUniques) -> Presentation:
        """How many rows, by how few columns, and the part of each column."""
        least = min((size for size, count in found.sizes.items() if count), default=None)
        by_size = ", ".join(f"{count:,} of {size}" for size, count in found.sizes.items() if count)
        columns = sorted(found.columns.items(), key=lambda item: -item[1])
        counted = (
            "no row is singled out"
            if least is None
            else f"{found.unique:.2%} of the rows, the worst by {least}"
        )
        dis = None
        dis_facts = []
        if found.dis is not None:
            dis = {"mean": float(found.dis.mean()), "highest": float(found.dis.max())}
            said = f"mean {number(dis['mean'])}, highest {number(dis['highest'])}"
            dis_facts.append(
                ("DIS-SUDA scores", f"{said}; they rank rows, and are not calibrated probabilities")
            )
        return Presentation(
            values={
                "rows": found.unique,
                "smallest": least,
                "sets": {str(size): count for size, count in found.sizes.items()},
                "columns": dict(found.columns),
                "highest_score": float(found.scores.max()),
                "dis": dis,
            },
            lines=[("special uniques", f"{counted}{'' if least is None else ' columns'}")],
            text="A set of columns singles a row out if no other row has the same cells in them, and would "
            "with one column less. Rows that few columns single out are likely to be unique among all "
            "people.",
            facts=[
                ("Rows singled out", percent(found.unique)),
                ("Smallest sets, by their number of columns", by_size or "none"),
                *dis_facts,
            ],
            grids=[
                Grid(
                    "Which columns make rows stand out: part of the scores of sets with the column. "
                    "Generalize the first ones first.",
                    ("Column", "Part of the scores"),
                    [(name, number(part)) for name, part in columns],
                )
            ]
            if least is not None
            else [],
        )
