"""What detail the quasi-identifiers lost, and how large classes are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from anonymizer.measures.contract.measure import Case, Measure
from anonymizer.measures.contract.story import Grid, Presentation, Tile, number, percent
from anonymizer.utility.loss import average_class_size, discernibility
from anonymizer.utility.penalty import column_penalty


@dataclass(frozen=True, slots=True)
class Loss:
    """What a release lost.

    Attributes:
        rows: the part of the original rows that was released, in [0, 1].
        ncp: normalized certainty penalty of each quasi-identifier, in [0, 1]; a row that was not released
            counts 1. NaN where labels are in no hierarchy and name no numbers.
        discernibility: see `discernibility`.
        class_size: mean rows of a class.
    """

    rows: float
    ncp: Mapping[str, float]
    discernibility: int
    class_size: float

    @property
    def mean_ncp(self) -> float:
        """The mean over the quasi-identifiers; NaN if there is none."""
        return float(np.mean(list(self.ncp.values()))) if self.ncp else float("nan")


class InformationLoss(Measure[Loss]):
    """NCP, discernibility, class size."""

    name = "information-loss"
    title = "Information loss"
    kind = "utility"
    passes = 30.0  # columns are coded, and classes formed

    @override
    def columns(self, case: Case) -> tuple[str, ...]:
        """The quasi-identifiers that are left."""
        there = set(case.release.names)
        return tuple(name for name in case.original.roles.quasi_identifiers if name in there)

    @override
    def measure(self, case: Case) -> Loss:
        """Measure."""
        keys, original, release = self.columns(case), case.original, case.release
        return Loss(
            rows=min(1.0, len(release) / len(original)),
            ncp={key: column_penalty(original, release, key) for key in keys},
            discernibility=discernibility(release, keys, len(original)),
            class_size=average_class_size(release, keys),
        )

    @override
    def describe(self, found: Loss) -> Presentation:
        """The mean, and each column's."""
        mean = found.mean_ncp
        card = Tile(percent(mean), "of the detail of the quasi-identifiers lost (NCP)")
        return Presentation(
            values={
                "rows": found.rows,
                "ncp": dict(found.ncp),
                "mean_ncp": mean,
                "discernibility": found.discernibility,
                "class_size": found.class_size,
            },
            lines=[("information loss", f"NCP {mean:.4g}, {found.class_size:.4g} rows a class")],
            cards=[card] if found.ncp else [],
            facts=[
                ("Rows kept", percent(found.rows)),
                ("Mean class", f"{number(found.class_size)} rows"),
                (
                    "Discernibility",
                    f"{found.discernibility:,}: each row counts the rows of its class, less is better",
                ),
            ],
            grids=[
                Grid(
                    "NCP: part of the detail that is lost, 0 to 1.",
                    ("Quasi-identifier", "NCP"),
                    [(name, number(one)) for name, one in found.ncp.items()],
                )
            ]
            if found.ncp
            else [],
        )
