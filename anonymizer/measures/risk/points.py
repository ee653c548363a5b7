"""The rows of a case as points: which columns have a place in a distance, and why others have not."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.measures.contract.measure import Case, Measure
from anonymizer.measures.contract.story import Presentation
from anonymizer.risk.distance.space import MAX_CATEGORIES, Float, RecordSpace
from anonymizer.tables.numbers import numbers_of
from anonymizer.tables.table import Table

T = TypeVar("T")

NO_SCALE: Final = (
    "no shared column is declared with bounds or categories below [columns]; declare some, or measure by the "
    "range of the original (--scale original)"
)
UNIT: Final = "1 is the whole range of one column, or two different categories"


@dataclass(frozen=True, slots=True)
class Points:
    """The tables of a case in one space.

    Attributes:
        original: shape (m, d).
        release: shape (n, d).
        control: shape (h, d); None without a control group.
        columns: that have a place.
        measured: those among them whose range or categories come from the original, not from a declaration.
        left_out: why other shared columns have none.
    """

    original: Float = field(repr=False)
    release: Float = field(repr=False)
    control: Float | None = field(repr=False)
    columns: tuple[str, ...]
    measured: tuple[str, ...]
    left_out: Mapping[str, str]

    def annotate(self, story: Presentation) -> Presentation:
        """A story with what was measured, in which units, and what was left out."""
        facts = [
            *story.facts,
            ("Unit", UNIT),
            ("Columns in the distance", ", ".join(self.columns)),
        ]
        if self.measured:
            facts.append(("Range taken from the original", ", ".join(self.measured)))
        facts += [(f"Not in the distance: {name}", why) for name, why in self.left_out.items()]
        values = {
            **story.values,
            "columns": list(self.columns),
            "scaled_by_original": list(self.measured),
            "left_out": dict(self.left_out),
        }
        return Presentation(values, story.lines, story.cautions, story.cards, story.text, facts, story.grids)


class OfPoints(Measure[tuple[Points, T]]):
    """A measure of distances between rows as points; subclasses give `between` and `describe_distance`."""

    counts_rows = True

    @override
    def lacks(self, case: Case) -> str:
        """It needs a column with a scale."""
        return super().lacks(case) or ("" if placeable(case) else NO_SCALE)

    @override
    def columns(self, case: Case) -> tuple[str, ...]:
        """The columns that have a scale."""
        return placeable(case)

    @override
    def measure(self, case: Case) -> tuple[Points, T]:
        placed = points(case)
        return placed, self.between(placed, case.seed)

    @override
    def describe(self, found: tuple[Points, T]) -> Presentation:
        placed, one = found
        return placed.annotate(self.describe_distance(one))

    @abstractmethod
    def between(self, placed: Points, seed: int | None) -> T:
        """Measure between the tables as points; `seed` as in `Case`."""

    @abstractmethod
    def describe_distance(self, one: T) -> Presentation:
        """As `describe`, without what was placed how."""


def placeable(case: Case) -> tuple[str, ...]:
    """The shared columns that have a scale."""
    if case.scale == "original":
        return case.shared
    return tuple(name for name in case.shared if _declared_axis(case.original, name) is not None)


def points(case: Case) -> Points:
    """Place the tables of a case.

    Raises:
        TableError: no column has a place in all of them.
    """
    tables = [case.original, case.release] + ([] if case.control is None else [case.control])
    parts: list[list[Float]] = [[] for _ in tables]
    columns, measured, left_out = [], [], {}
    for name in case.shared:
        axis = _declared_axis(case.original, name)
        declared = axis is not None
        if axis is None and case.scale == "original":
            axis = _measured_axis(case.original, name)
        if axis is None:
            left_out[name] = "no bounds or categories are declared" if case.scale == "declared" else _MANY
            continue
        try:
            placed = [axis.points(table) for table in tables]
        except TableError:
            left_out[name] = "some cells are missing, or neither numbers nor categories of the column"
            continue
        columns.append(name)
        measured += [] if declared else [name]
        for part, one in zip(parts, placed, strict=True):
            part.append(one)
    if not columns:
        raise TableError(
            "No column that both tables have can count in a distance: "
            + "; ".join(f"{name}: {why}" for name, why in left_out.items())
            + ".",
            "Declare bounds or categories below [columns].",
        )
    joined = [np.concatenate(part, axis=1) for part in parts]
    control = joined[2] if case.control is not None else None
    return Points(joined[0], joined[1], control, tuple(columns), tuple(measured), left_out)


_MANY: Final = f"it is neither numbers nor at most {MAX_CATEGORIES} categories, or constant"


def _declared_axis(table: Table, name: str) -> RecordSpace | None:
    """The axis of a column by its declaration."""
    declared = table.schema.of(name)
    if declared.is_number and declared.lower is not None and declared.upper is not None:
        return RecordSpace({name: (declared.lower, declared.upper)}, {})
    if declared.categories is not None and len(declared.categories) <= MAX_CATEGORIES:
        return RecordSpace({}, {name: declared.categories})
    return None


def _measured_axis(table: Table, name: str) -> RecordSpace | None:
    """The axis of a column by the original."""
    numbers = numbers_of(table, name)
    if numbers is not None:
        known = numbers[np.isfinite(numbers)]
        if len(known) and known.min() < known.max():
            return RecordSpace({name: (float(known.min()), float(known.max()))}, {})
        return None
    values = tuple(map(text_of, table.codes(name).values.tolist()))
    return RecordSpace({}, {name: values}) if 2 <= len(values) <= MAX_CATEGORIES else None
