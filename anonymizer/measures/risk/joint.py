"""Several sensitive columns jointly, as a measure."""

from __future__ import annotations

from collections.abc import Mapping

from typing_extensions import override

from anonymizer.measures.contract.measure import Case, Measure
from anonymizer.measures.contract.story import Grid, Presentation, percent
from anonymizer.risk.joint import Joint, joint_risk


class JointDiversity(Measure[Mapping[str, Joint]]):
    """What is left of a sensitive column to who knows the others."""

    name = "joint-diversity"
    title = "Several sensitive columns"
    kind = "risk"
    counts_rows = True

    @override
    def lacks(self, case: Case) -> str:
        """It needs two sensitive columns."""
        return "" if len(case.release.roles.sensitive) > 1 else "there are fewer than two sensitive columns"

    @override
    def columns(self, case: Case) -> tuple[str, ...]:
        """The quasi-identifiers and the sensitive columns."""
        return (*case.keys, *case.release.roles.sensitive)

    @override
    def cost(self, rows: int, columns: int) -> float:
        """Classes for each sensitive column."""
        return 20.0 * rows * columns**2

    @override
    def measure(self, case: Case) -> Mapping[str, Joint]:
        return joint_risk(case.release)

    @override
    def describe(self, found: Mapping[str, Joint]) -> Presentation:
        """A row for each column."""
        return Presentation(
            values={name: {"l": one.l, "known": one.known} for name, one in found.items()},
            lines=[
                (name, f"certain for {one.known:.2%} of the rows to who knows the other sensitive columns")
                for name, one in found.items()
            ],
            text="An attacker who knows some sensitive columns of a person, and the quasi-identifiers, has "
            "smaller classes to look in for the others.",
            grids=[
                Grid(
                    "To who knows all other sensitive columns.",
                    ("Sensitive column", "l", "Rows whose value is certain"),
                    [(name, str(one.l), percent(one.known)) for name, one in found.items()],
                )
            ],
        )
