"""The figures by which epsilon is chosen: one number of a release, and whether more of it is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from anonymizer.choosing.curves import Direction
from anonymizer.errors import TableError
from anonymizer.measures.contract.measure import Case, Measure
from anonymizer.measures.risk.distances import (
    CoverageMeasure,
    HittingRate,
    PPrivacyMeasure,
    VoronoiMeasure,
    YPrivacyMeasure,
)
from anonymizer.measures.risk.members import ClosestRecordMeasure, MembershipMeasure
from anonymizer.measures.utility.marginals import Marginals
from anonymizer.utility.moments import Moment, moment_errors

COVERED_WITHIN: Final = 0.05
"""The y of `coverage`, in units of the range."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a release.

    Attributes:
        name: on the command line.
        title: for people.
        kind: whether it tells of risk or of utility.
        better: whether less or more of it is better: of a distance more is safer.
        of: measures it; 0 or more.
        lacks: why it does not apply, as the end of a sentence; empty if it does.
    """

    name: str
    title: str
    kind: Literal["risk", "utility"]
    better: Literal["less", "more"]
    of: Callable[[Case], float]
    lacks: Callable[[Case], str]

    @property
    def direction(self) -> Direction:
        """How it goes with epsilon: more epsilon is more risk and more utility."""
        grows = (self.kind == "utility") == (self.better == "more")
        return "rising" if grows else "falling"

    def keeps(self, value: float, limit: float) -> bool:
        """Whether a value keeps a limit."""
        return value <= limit if self.better == "less" else value >= limit


def _figure(
    name: str,
    title: str,
    kind: Literal["risk", "utility"],
    better: Literal["less", "more"],
    measure: Measure[Any],
    number: Callable[[Any], float | None],
) -> Figure:
    """A figure that is one number of what a measure finds."""

    def of(case: Case) -> float:
        value = number(measure.measure(case))
        if value is None or not np.isfinite(value):
            raise TableError(f"{title} has no value for this release.", "Choose another figure.")
        return float(value)

    return Figure(name, title, kind, better, of, measure.lacks)


def _moments(moment: Moment) -> Figure:
    def numeric(case: Case) -> tuple[str, ...]:
        return tuple(name for name in case.shared if case.original.is_numeric(name))

    def of(case: Case) -> float:
        return float(
            np.mean(list(moment_errors(case.original, case.release, numeric(case), moment).values()))
        )

    return Figure(
        f"{moment}-error",
        f"mean relative error of the columns' {moment}",
        "utility",
        "less",
        of,
        lambda case: "" if numeric(case) else "no shared column holds numbers",
    )


RISKS: Final[Mapping[str, Figure]] = MappingProxyType(
    {
        figure.name: figure
        for figure in (
            _figure("voronoi", "Voronoi privacy by nearest neighbour", "risk", "more", VoronoiMeasure(),
                    lambda found: found[1].nearest),
            _figure("voronoi-earth-mover", "Voronoi privacy by earth mover's distance", "risk", "more",
                    VoronoiMeasure(), lambda found: found[1].earth_mover.mean),
            _figure("voronoi-assignment", "Voronoi privacy by assignment", "risk", "more", VoronoiMeasure(),
                    lambda found: None if found[1].assignment is None else found[1].assignment.mean),
            _figure("y", "y-privacy, least distance", "risk", "more", YPrivacyMeasure(),
                    lambda found: found[1].minimum),
            _figure("y-median", "y-privacy, median distance", "risk", "more", YPrivacyMeasure(),
                    lambda found: found[1].median),
            _figure("coverage", f"part of the pairs within {COVERED_WITHIN} of the range", "risk", "less",
                    CoverageMeasure(),
                    lambda found: next(one.part for one in found[1] if one.y == COVERED_WITHIN)),
            _figure("hitting-rate", "hitting rate", "risk", "less", HittingRate(), lambda found: found.rate),
            _figure("p", "p-privacy", "risk", "less", PPrivacyMeasure(), lambda found: found.p),
            _figure("closest-record", "part nearer to the original than to the rows held out", "risk", "less",
                    ClosestRecordMeasure(), lambda found: found[1].closer.value),
            _figure("membership", "membership inference, area under the curve", "risk", "less",
                    MembershipMeasure(), lambda found: found[1].area),
        )
    }
)  # fmt: skip

UTILITIES: Final[Mapping[str, Figure]] = MappingProxyType(
    {
        figure.name: figure
        for figure in (
            *(_moments(moment) for moment in ("variance", "mean", "deviation")),
            _figure(
                "marginals",
                "mean Hellinger distance of the columns' distributions",
                "utility",
                "less",
                Marginals(),
                lambda found: float(np.mean([one.hellinger for one in found.values()])) if found else None,
            ),
        )
    }
)
