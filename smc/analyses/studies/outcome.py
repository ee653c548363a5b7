"""What one party gets from a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

DATE: Final = "date"
"""The kind of a result's column that holds dates, as texts such as 1990-12-31."""

DAY_NUMBER: Final = "day"
"""The kind of a result's column whose numbers are days since 1970-01-01, such as the mean of dates."""

NUMBER: Final = "number"
"""The kind of a result's column whose numbers are exact: integers, or texts such as `12.50` and `2/7`."""

STEPS: Final = "steps"
"""The kind of a result's column of numbers along which the figures beside it make curves that step: each
figure holds from its number to the next, for each combination of the texts beside it."""


@dataclass(frozen=True, slots=True)
class Table:
    """A result table: columns of equal length, of integers, floats, strings or None.

    A column `row` counts, from 1, the local rows that the run got; a daemon turns it into rows of the source.
    Columns `lower_95` and `upper_95` are the ends of the 95 % interval of the column that stands before them,
    and `x_lower_95` and `x_upper_95` those of the column `x`. Where a column `unit` says
    `smc.analyses.studies.columns.DAYS`, the interval and the column before it are about dates.

    Attributes:
        name: of the table, for people.
        columns: by name.
        kinds: `DATE`, `DAY_NUMBER`, `NUMBER` or `STEPS` of the columns that their cells alone do not show to
            be so.
    """

    name: str
    columns: Mapping[str, Sequence[Any]]
    kinds: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one party gets from a run; JSON-representable throughout.

    Attributes:
        tables: the results; empty for a party that is not a recipient.
        notes: remarks for people: suppression, clamping, error bars explained.
        details: route, noise scale, guarantees: names to plain JSON values.
    """

    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def withhold(cls, what: str = "results", details: Mapping[str, Any] | None = None) -> Outcome:
        """Of a party that is no recipient; `what` went to the other one."""
        return cls((), (f"The {what} went to the other party only.",), details or {})


def date_texts(days: Sequence[int]) -> list[str]:
    """Days since 1970-01-01 as a column of kind `DATE` has them."""
    found: list[str] = np.datetime_as_string(np.array(days, dtype="datetime64[D]")).tolist()
    return found
