"""Hierarchies of dates: month, quarter, year, decade, `*`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import HierarchyError
from anonymizer.hierarchies.days import day
from anonymizer.hierarchies.hierarchy import ANY, Hierarchy, Level, text_of

STEPS: Final = ("month", "quarter", "year", "decade")
"""The steps in increasing width; each nests in the next."""

_LABELS: Final[dict[str, Callable[[date], str]]] = {
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10 * 10}s",
}
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


class DateHierarchy(Hierarchy):
    """Dates by calendar steps.

    Cells are dates or times of the frame's library, or texts.

    Args:
        steps: some of `STEPS`, in increasing width.
        form: of texts, in the directives of `strptime`, such as `%d/%m/%Y`; empty is any form that can only
            be read in one way: 1990-12-31, 19901231, 31.12.1990 and others, with a time after it or without.

    Raises:
        HierarchyError: a step is unknown, or they are not in order.
    """

    def __init__(self, steps: Sequence[str] = STEPS, form: str = "") -> None:
        if not steps or list(steps) != sorted(set(steps) & set(STEPS), key=STEPS.index):
            raise HierarchyError(
                "The steps of a date hierarchy are unknown or out of order.",
                f"Write some of {', '.join(STEPS)}, in this order.",
            )
        self._steps = tuple(steps)
        self._form = form

    @property
    @override
    def height(self) -> int:
        """The steps, and `*`."""
        return len(self._steps) + 1

    @override
    def bind(self, values: NDArray[Any], column: str) -> tuple[Level, ...]:
        """The levels over the given dates; loss is the part of the months between first and last date."""
        days = [self._day(value, column) for value in values.tolist()]
        months = [day.year * 12 + day.month for day in days] or [0]
        span = max(months) - min(months) + 1
        own = Level(tuple(map(text_of, values)), np.arange(len(values)), np.zeros(len(values)))
        top = Level((ANY,), np.zeros(len(values), dtype=np.int64), np.ones(1))
        return (own, *(_level(step, days, span) for step in self._steps), top)

    def _day(self, value: Any, column: str) -> date:
        found = day(value, self._form)
        if found is None:
            raise HierarchyError(
                f"Column {column!r} has the value {text_of(value)!r}, which is not a date"
                + (f" of the form {self._form}." if self._form else "."),
                'Write dates as 1990-12-31, or say how they are written: format = "%d/%m/%Y".',
            )
        return found


def _level(step: str, days: Sequence[date], span: int) -> Level:
    texts = [_LABELS[step](day) for day in days]
    labels = tuple(dict.fromkeys(texts))
    places = {label: place for place, label in enumerate(labels)}
    loss = np.full(len(labels), min(1.0, _MONTHS[step] / span))
    return Level(labels, np.array([places[text] for text in texts], dtype=np.int64), loss)
