"""By how much means, deviations and variances are off, as a measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Grid, Presentation, percent
from anonymizer.tables.numbers import numbers_of
from anonymizer.utility.moments import Moment, moment_errors

_MOMENTS: Final[tuple[Moment, ...]] = ("mean", "deviation", "variance")


@dataclass(frozen=True, slots=True)
class MomentErrors:
    """Relative errors.

    Attributes:
        errors: by moment and column (Eq. 11); NaN where the original's moment is 0.
    """

    errors: Mapping[str, Mapping[str, float]]

    def mean(self, moment: str) -> float:
        """The mean over the columns that have one (Eq. 12); NaN if none has."""
        known = [error for error in self.errors[moment].values() if not np.isnan(error)]
        return float(np.mean(known)) if known else float("nan")


class Moments(Measure[MomentErrors]):
    """The RoD paper's Eq. 11 and 12, for the moments that it names."""

    name = "moments"
    title = "Means and variances"
    kind = "utility"
    needs = (Need.NUMERIC,)
    passes = 30.0  # columns are read

    @override
    def columns(self, case: Case) -> tuple[str, ...]:
        """Columns of numbers in both tables, labels of intervals by their middle."""
        return tuple(
            name
            for name in case.shared
            if case.original.is_numeric(name) and numbers_of(case.release, name) is not None
        )

    @override
    def measure(self, case: Case) -> MomentErrors:
        """As `moment_errors`, column by column."""
        return MomentErrors(
            {moment: {c: _error(case, c, moment) for c in self.columns(case)} for moment in _MOMENTS}
        )

    @override
    def describe(self, found: MomentErrors) -> Presentation:
        """A row for each column."""
        columns = list(found.errors["mean"])
        return Presentation(
            values={
                "mean_error": {moment: found.mean(moment) for moment in found.errors},
                "columns": {c: {m: found.errors[m][c] for m in found.errors} for c in columns},
            },
            facts=[("Error of variances, mean", percent(found.mean("variance")))],
            grids=[
                Grid(
                    "Relative errors: |original - release| / |original|.",
                    ("Column", *_MOMENTS),
                    [(c, *(percent(found.errors[m][c]) for m in _MOMENTS)) for c in columns],
                )
            ],
        )


def _error(case: Case, column: str, moment: Moment) -> float:
    try:
        return moment_errors(case.original, case.release, [column], moment)[column]
    except TableError:  # the original's moment is 0: no error is relative to that
        return float("nan")
