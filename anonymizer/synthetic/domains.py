"""Columns as cells of a declared domain: categories as they are, numbers in bins; none from the data.

The number of bins, their edges and the categories are part of what is published of a release, since they are
known before the first row is looked at.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import SpecError, TableError
from anonymizer.hierarchies.hierarchy import GAP, text_of
from anonymizer.schema.columns import Column
from anonymizer.schema.documents import key_of
from anonymizer.tables.declared import declared_numbers, gaps
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from commons.errors import near

Int = NDArray[np.int64]
Float = NDArray[np.float64]

MAX_BINS: Final = 10_000
_DIGITS: Final = 10
"""Below the first digit of the grid: enough for its multiples, fewer than rounding spoils."""

_TRUTH: Final = ("false", "true")
_BOTH: Final = frozenset({"true", "false", "1", "0"})
_TRUE: Final = frozenset({"true", "1"})


@dataclass(frozen=True, slots=True)
class Domain(ABC):
    """The cells that a column may hold, numbered from 0; the last is a missing cell where that is a value.

    Attributes:
        name: of the column.
        gap: whether a missing cell is a value of its own.
    """

    name: str
    gap: bool

    @property
    @abstractmethod
    def kinds(self) -> int:
        """How many cells there are beside the missing one."""

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.kinds + self.gap

    def codes(self, table: Table) -> Int:
        """The cells of a column, shape (n,).

        Raises:
            TableError: a cell is missing or outside of the domain; names the first.
        """
        empty = gaps(table, self.name)
        if empty.any() and not self.gap:
            raise TableError(
                f"Column {self.name!r} has {int(empty.sum())} missing cells, the first in row "
                f"{int(np.flatnonzero(empty)[0]) + 1}.",
                'Declare missing = "value" for it, or "impute" if it has bounds.',
            )
        return self._codes(table, empty)

    @abstractmethod
    def _codes(self, table: Table, empty: NDArray[np.bool_]) -> Int:
        """The same, where gaps are allowed if there are any."""

    @abstractmethod
    def cells(self, codes: Int, randomness: Randomness) -> Any:
        """Cells as they are released, an array or list of n; None where a cell is missing."""

    @abstractmethod
    def to_document(self) -> Any:
        """What is published of it, as plain values."""


@dataclass(frozen=True, slots=True)
class Categories(Domain):
    """Declared texts, or truth values.

    Attributes:
        values: the texts.
        truth: whether they stand for truth values.
        label: what a missing cell is released as; None for an empty cell.
    """

    values: tuple[str, ...]
    truth: bool = False
    label: str | None = None

    @property
    @override
    def kinds(self) -> int:
        return len(self.values)

    @override
    def _codes(self, table: Table, empty: NDArray[np.bool_]) -> Int:
        found = table.codes(self.name)
        places = {text: place for place, text in enumerate(self.values)}
        if self.gap:
            places |= {GAP: self.kinds}
        texts = [text_of(value) for value in found.values.tolist()]
        if self.truth:
            texts = [_TRUTH[text.lower() in _TRUE] if text.lower() in _BOTH else text for text in texts]
        for place, text in enumerate(texts):
            if text not in places and (found.codes == place).any():
                row = int(np.flatnonzero(found.codes == place)[0]) + 1
                raise TableError(
                    f"Column {self.name!r} holds {text!r} in row {row}, which is not among its categories. "
                    + near(text, self.values),
                    f"Declare it among the categories of {self.name} below [columns], or correct the cell.",
                )
        codes = np.array([*(places.get(text, 0) for text in texts), self.kinds], dtype=np.int64)[found.codes]
        codes[empty] = self.kinds
        return codes

    @override
    def cells(self, codes: Int, randomness: Randomness) -> Any:
        if self.truth and not self.gap:
            return codes == 1
        values: list[Any] = [False, True] if self.truth else list(self.values)
        named = [*values, self.label]
        return [named[code] for code in codes.tolist()]

    @override
    def to_document(self) -> Any:
        """The texts."""
        return {"categories": list(self.values), "missing": self.gap}


@dataclass(frozen=True, slots=True)
class Bins(Domain):
    """Numbers in bins; each includes its lower edge, the last its upper one too.

    Attributes:
        edges: increasing, one more than there are bins; on a grid in steps of it, the last one step above the
            upper bound.
        grid: the distance of neighbouring numbers, which are multiples of it; None if all are possible.
        whole: whether they are integers.
    """

    edges: tuple[float, ...] = field(repr=False)
    grid: float | None = None
    whole: bool = False

    @property
    @override
    def kinds(self) -> int:
        return len(self.edges) - 1

    @override
    def _codes(self, table: Table, empty: NDArray[np.bool_]) -> Int:
        numbers = np.nan_to_num(declared_numbers(table, self.name), nan=self.edges[0])
        steps = numbers if self.grid is None else np.round(numbers / self.grid)
        found = np.searchsorted(self.edges, np.clip(steps, self.edges[0], self.edges[-1]), side="right") - 1
        return np.where(empty, self.kinds, np.minimum(found, self.kinds - 1)).astype(np.int64)

    @override
    def cells(self, codes: Int, randomness: Randomness) -> Any:
        """A number of each bin, all equally likely."""
        edges = np.array([*self.edges, *self.edges[-1:]])
        low, high = edges[codes], edges[np.minimum(codes, self.kinds - 1) + 1]
        drawn = low + (high - low) * randomness.uniform(len(codes))
        if self.grid is not None:
            steps = np.minimum(np.floor(drawn), high - 1)
            drawn = steps * self.grid
            if not self.whole:
                drawn = np.round(drawn, max(0, _DIGITS - math.floor(math.log10(self.grid))))
        found: Any = drawn.astype(np.int64) if self.whole else drawn
        if not self.gap:
            return found
        return [
            None if code == self.kinds else cell for code, cell in zip(codes, found.tolist(), strict=True)
        ]

    @override
    def to_document(self) -> Any:
        """The edges in the unit of the column."""
        unit = 1.0 if self.grid is None else self.grid
        return {"edges": [float(edge * unit) for edge in self.edges], "missing": self.gap}


def domain_of(
    name: str, declared: Column, *, bins: int, cuts: Sequence[float] | None = None, known: bool = False
) -> Domain:
    """The domain of a column.

    Args:
        name: of the column.
        declared: categories, truth values, or numbers with bounds.
        bins: the most bins of equal width that numbers are put in; a grid of fewer numbers has one for each.
        cuts: edges between the bounds, in place of these; a bin begins at each.
        known: whether the column has a role, so that a missing category is released as a label.

    Raises:
        TableError: the domain is not declared; says what to write.
        SpecError: the cuts do not fit the bounds.
    """
    gap = declared.missing == "value"
    if not declared.is_number:
        if cuts is not None:
            raise SpecError(
                f"Column {name!r} is not declared to hold numbers and has no cuts.",
                "Take it out of cuts, or declare it below [columns] with type and bounds.",
            )
        if declared.kind == "boolean":
            return Categories(name, gap, _TRUTH, truth=True)
        if declared.categories is None:
            raise TableError(
                f"Column {name!r} has no declared categories or bounds, and cells must not decide them.",
                f'Write below [columns]: {key_of(name)} = {{ type = "category", categories = ["a", "b"] }}, '
                'or { type = "integer", bounds = [0, 120] }; or leave it out of columns.',
            )
        return Categories(name, gap, declared.categories, label=GAP if known else None)
    if declared.lower is None or declared.upper is None:
        raise TableError(
            f"Column {name!r} has no bounds.",
            "Write bounds = [lower, upper] in its declaration, not taken from the data.",
        )
    return Bins(name, gap, _edges(name, declared, bins, cuts), declared.grid, declared.kind == "integer")


def _edges(name: str, declared: Column, bins: int, cuts: Sequence[float] | None) -> tuple[float, ...]:
    low, high, grid = float(declared.lower or 0), float(declared.upper or 0), declared.grid
    if cuts is not None:
        inside = all(math.isfinite(cut) and low < cut <= high for cut in cuts)
        if not inside or not cuts or any(b <= a for a, b in pairwise(cuts)):
            raise SpecError(
                f"The cuts of column {name!r} do not increase within its bounds [{low:g}, {high:g}].",
                "Write, for example, cuts = { age = [18, 30, 65] }, each above the lower bound.",
            )
    if grid is None:
        return (low, *cuts, high) if cuts else tuple(np.linspace(low, high, bins + 1).tolist())
    first, last = math.ceil(low / grid - 1e-9), math.floor(high / grid + 1e-9) + 1
    if first >= last:
        raise SpecError(
            f"No multiple of the step of {name!r} lies within its bounds.",
            "Write wider bounds, or a smaller step.",
        )
    if cuts is None:
        inner = np.linspace(first, last, min(bins, last - first) + 1).round()[1:-1].tolist()
    else:
        inner = [float(math.ceil(cut / grid - 1e-9)) for cut in cuts]
    return tuple(sorted({float(first), *inner, float(last)}))


def domains_of(
    table: Table, columns: Sequence[str], *, bins: int, cuts: Mapping[str, Sequence[float]] | None
) -> tuple[Domain, ...]:
    """The domains of some columns of a table.

    Raises:
        TableError: a column's domain is not declared, or cuts are of a column that is not among them.
        SpecError: as `domain_of`.
    """
    given = cuts or {}
    for name in given:
        if name not in columns:
            raise TableError(f"There are cuts for {name!r}, which is not synthesized.", near(name, columns))
    known = {*table.roles.quasi_identifiers, *table.roles.sensitive}
    return tuple(
        domain_of(name, table.schema.of(name), bins=bins, cuts=given.get(name), known=name in known)
        for name in columns
    )
