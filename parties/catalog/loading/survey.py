"""All faults of a data set, with counts and example cells, for the people of this party.

Loading stops at the first fault and names no cell; here every cell is looked at, and some are shown. So a
survey stays at home: nothing that a peer or a log can see is made from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from commons.errors import near
from parties.catalog.columns import persons
from parties.catalog.columns.cells import is_missing
from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.columns.hints import hint
from parties.catalog.columns.missing import Cells, MissingCellError
from parties.catalog.declarations.declaration import DatasetDeclaration
from parties.catalog.loading.opening import batches, header
from parties.catalog.sources.batch import Batch

EXAMPLES: Final = 3
"""Cells that are shown of a fault."""
_KINDS: Final = 1000
"""Faults of a column that are told apart."""


@dataclass
class Fault:
    """Cells of a column that are not as declared, for one reason.

    Attributes:
        column: its name.
        what: what is wrong with them.
        hint: what to do about the first of them.
        count: how many they are.
        examples: of the first few, where they stand and what they hold.
    """

    column: str
    what: str
    hint: str
    count: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list, repr=False)

    def add(self, place: str, cell: Any) -> None:
        """Count one more cell."""
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append((place, "" if cell is None else str(cell)))


@dataclass
class Range:
    """What the cells of a column hold, of those that are as declared.

    Attributes:
        missing: cells that are missing.
        least: the least held value; None without one, and of texts.
        greatest: the greatest held value.
    """

    missing: int = 0
    least: int | None = None
    greatest: int | None = None


@dataclass(frozen=True)
class Survey:
    """What was seen of a data set.

    Attributes:
        rows: how many it has.
        faults: what is not as declared.
        ranges: by column, of those that the source has.
    """

    rows: int
    faults: Sequence[Fault]
    ranges: Mapping[str, Range]


def survey(dataset: DatasetDeclaration) -> Survey:
    """Look at every cell of the declared columns.

    Raises:
        DataError: the source cannot be read as rows and columns.
        ConfigError: a library that the source needs is not installed.
    """
    there = header(dataset)
    looking = _Looking(dataset, there)
    for batch in batches(dataset, looking.columns):
        looking.add(batch)
    return Survey(looking.rows, [*looking.faults.values()], looking.ranges)


class _Looking:
    """A data set while it is being looked at."""

    def __init__(self, dataset: DatasetDeclaration, there: Sequence[str]) -> None:
        self._dataset = dataset
        self.rows = 0
        self.faults: dict[Hashable, Fault] = {}
        needed = [column.name for column in dataset.columns.values() if column.constant is None]
        needed = list(dict.fromkeys([*needed, *dataset.key, *dataset.person]))
        counts = Counter(there)
        self.columns = [name for name in needed if counts[name] == 1]
        for name in needed:
            if not counts[name]:
                self.faults[name] = Fault(name, "is not in the source", near(name, list(there)))
            elif counts[name] > 1:
                self.faults[name] = Fault(name, "is twice in the source", "Rename one of them.")
        self._cells = [Cells(dataset.columns[name]) for name in self.columns if name in dataset.columns]
        self.ranges = {cells.column.name: Range() for cells in self._cells}
        self._keys: dict[Hashable, str] = {}

    def add(self, batch: Batch) -> None:
        """Look at one batch."""
        cells = dict(zip(self.columns, batch.columns, strict=True))
        for column in self._cells:
            name = column.column.name
            piece = column.quick(cells[name])
            if piece is None:
                self._closely(column, cells[name], batch)
                continue
            there = piece.values if piece.missing is None else _compress(piece.values, ~piece.missing)
            self.ranges[name].missing += 0 if piece.missing is None else int(piece.missing.sum())
            if column.column.type != "text" and len(there):
                _widen(self.ranges[name], int(min(there)), int(max(there)))
        self._name(cells, batch)
        self.rows += batch.rows

    def _closely(self, column: Cells, cells: Sequence[Any], batch: Batch) -> None:
        """Look at the cells of a column one by one."""
        name = column.column.name
        entry = self._dataset.entry(name)
        for row, cell in enumerate(cells):
            try:
                held = column.exact(cells, row)
            except MissingCellError:
                advice = f'Fill it, or write missing = "drop" or impute = "VALUE" below [{entry}].'
                self._fault(name, "is missing", advice, batch.place[row], cell)
                self.ranges[name].missing += 1
            except ValueError as problem:
                self._fault(name, str(problem), hint(entry, column.column, cell), batch.place[row], cell)
            else:
                if held is None:
                    self.ranges[name].missing += 1
                elif isinstance(held, int):
                    _widen(self.ranges[name], held, held)

    def _fault(self, column: str, what: str, advice: str, place: str, cell: Any) -> None:
        kind = (column, what, advice)
        if len(self.faults) > _KINDS:
            kind = (column, what, "")
        self.faults.setdefault(kind, Fault(column, what, advice)).add(place, cell)

    def _name(self, cells: Mapping[str, Sequence[Any]], batch: Batch) -> None:
        """Look for keys and persons that are missing, and keys that came before."""
        for what, names in (("key", self._dataset.key), ("person", self._dataset.person)):
            if not names or not all(name in cells for name in names):
                continue
            declared = [self._dataset.columns.get(name) for name in names]
            texts = [self._texts(cells[name], column) for name, column in zip(names, declared, strict=True)]
            key = ", ".join(names)
            for row, label in enumerate(persons.labels(texts)):
                gone = [
                    name
                    for name, column in zip(names, declared, strict=True)
                    if is_missing(cells[name][row], self._tokens(column))
                ]
                held = ", ".join(str(cells[name][row]) for name in names)
                for name in gone:
                    if getattr(self._dataset.columns.get(name), "missing", "error") != "drop":
                        self._fault(
                            name,
                            f"is a {what} and is missing",
                            f"Give the row a {what}.",
                            batch.place[row],
                            "",
                        )
                if (
                    what == "key"
                    and not gone
                    and self._keys.setdefault(label, batch.place[row]) != batch.place[row]
                ):
                    first = self._keys[label]
                    place = f"{batch.place[row]}, first in {first}"
                    self._fault(key, "is a key and came before", "Keep one of the rows.", place, held)

    def _tokens(self, column: ColumnDeclaration | None) -> tuple[str, ...]:
        return self._dataset.dialect.writing.missing_tokens if column is None else column.tokens

    def _texts(self, cells: Sequence[Any], column: ColumnDeclaration | None) -> list[str]:
        writing = self._dataset.dialect.writing if column is None else column.writing
        found = persons.texts(cells, persons.kind_of(column), writing)
        return [str(cell) if text is None else text for cell, text in zip(cells, found, strict=True)]


def _compress(values: Any, kept: Any) -> list[Any]:
    return [value for value, stays in zip(values, kept.tolist(), strict=True) if stays]


def _widen(found: Range, least: int, greatest: int) -> None:
    found.least = least if found.least is None else min(found.least, least)
    found.greatest = greatest if found.greatest is None else max(found.greatest, greatest)
