"""Neighbouring files: two that differ in one record, over all that the declared columns allow.

Of a claim about persons the record is all rows of a person, which become alike or go together.

The record is the one with the least, the middle or the largest value. Its cells become the ends of the
declared domain, values between the steps of the grid and beyond the bounds, undeclared categories, nothing,
or the values of the records next to it, so that it changes cluster or stays. The other records are those of
the data, or all alike: then what is taken from the data is taken from this record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import Final

import polars as pl

from anonymizer.errors import AnonymizerError
from anonymizer.pipelines.spec import Spec
from anonymizer.releases.guarantee import Guarantee
from anonymizer.schema.columns import Column
from anonymizer.tables import files
from anonymizer.tables.declared import declared_numbers
from anonymizer.tables.table import Table

_CATEGORIES: Final = 6
"""So many categories are tried, the first and the last ones."""
_UNKNOWN: Final = "unknown"
_TRUTHS: Final = ("false", "true")

_SMALLEST: Final = "the smallest"
_LARGEST: Final = "the largest"
_OWN: Final = "as in the data"
_AS_IN_DATA: Final = "the others as in the data"

Cells = Mapping[str, str | None]
Frames = tuple[pl.DataFrame, pl.DataFrame, int, tuple[str, ...], str]
"""Both tables, the row of the record, what its cells hold, and how the tables differ."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbouring tables, read from files.

    Attributes:
        first: the one.
        second: the other.
        row: where the record stands in the first.
        values: texts that its cells in question hold in one of them.
        story: how they differ, for people.
    """

    first: Table = field(repr=False)
    second: Table = field(repr=False)
    row: int
    values: tuple[str, ...]
    story: str


@dataclass(frozen=True)
class Neighbours:
    """Makes neighbouring files of a table and reads them as the command does.

    Attributes:
        spec: of the release.
        base: the rows to begin with, as read from the file.
        folder: to write in.
        ending: of the files, that of the data.
        of_persons: whether a record is all rows of a person.
    """

    spec: Spec
    base: pl.DataFrame = field(repr=False)
    folder: Path
    ending: str = ".csv"
    of_persons: bool = False

    def table(self, frame: pl.DataFrame) -> Table:
        """A frame, written to a file and read as the command reads it.

        Raises:
            AnonymizerError: the command would refuse the file.
        """
        path = self.folder / f"neighbour{self.ending}"
        files.write(frame, path, self.spec.dialect)
        try:
            found = files.table(path, self.spec.dialect)
            return found.declared(self.spec.roles, self.spec.hierarchies, self.spec.schema)
        finally:
            path.unlink()

    def pairs(self, claim: Guarantee) -> Iterator[Pair]:
        """The neighbours that a claim speaks of, those with the widest differences first.

        Args:
            claim: of differential privacy, as granted; the columns differ that its cells were made of.
        """
        columns = [name for name in claim.over if name in self.base.columns]
        record = replace(self, of_persons=claim.unit == "person")
        for first, second, row, values, story in record._frames(columns, claim.neighbours == "add-remove"):
            if first.equals(second):
                continue
            try:
                tables = self.table(first), self.table(second)
            except AnonymizerError:
                # a file that cannot be read is refused before anything is released
                continue
            yield Pair(*tables, row, values, story)

    def _frames(self, columns: Sequence[str], removes: bool) -> Iterator[Frames]:
        if not columns:
            return
        kinds = {column: self._kinds(column) for column in columns}
        labels = dict.fromkeys(label for kind in kinds.values() for label in kind)
        cells = {label: self._cells(kinds, label) for label in labels}
        alike = self._with(self.base, cells[_SMALLEST], None)
        bases = ((self.base, _AS_IN_DATA), (alike, "all others alike"))
        middle = self._places(columns[0])[1]
        if removes:
            yield from self._removed(bases, cells, middle)
            return
        yield from (self._pair(base, cells, (_SMALLEST, _LARGEST), middle, others) for base, others in bases)
        for base, others in bases:
            for label in list(labels)[2:]:
                for end in (_SMALLEST, _LARGEST):
                    yield self._pair(base, cells, (end, label), middle, others)
        if len(columns) > 1:
            yield self._crossed(kinds, middle)
        yield from self._moved(columns, cells)

    def _removed(
        self, bases: Sequence[tuple[pl.DataFrame, str]], cells: Mapping[str, Cells], row: int
    ) -> Iterator[Frames]:
        """With the record and without it."""
        for label, given in cells.items():
            for base, others in bases:
                frame = self._with(base, given, row)
                gone = frame.filter(~self._record(row))
                yield frame, gone, row, _texts(given), f"{self._name(row)}: {label}, or not there; {others}"

    def _crossed(self, kinds: Mapping[str, Cells], row: int) -> Frames:
        """The ends in turn, column by column."""
        ends = (_SMALLEST, _LARGEST)
        labels = ("the least and the largest in turn", "the largest and the least in turn")
        cells = {
            label: {c: kind[ends[(place + turn) % 2]] for place, (c, kind) in enumerate(kinds.items())}
            for turn, label in enumerate(labels)
        }
        return self._pair(self.base, cells, labels, row, _AS_IN_DATA)

    def _moved(self, columns: Sequence[str], cells: Mapping[str, Cells]) -> Iterator[Frames]:
        """From where the record is to the ends, and to the records next to it."""
        for row in self._places(columns[0]):
            own: Cells = {c: _text(self.base[c][row]) for c in columns}
            aims = {
                _OWN: own,
                "as the record before it": self._beside(columns, row, -1),
                "as the record after it": self._beside(columns, row, 1),
                **{label: cells[label] for label in (_SMALLEST, _LARGEST)},
            }
            yield from (
                self._pair(self.base, aims, (_OWN, label), row, _AS_IN_DATA) for label in list(aims)[1:]
            )

    def _pair(
        self, base: pl.DataFrame, cells: Mapping[str, Cells], labels: tuple[str, str], row: int, others: str
    ) -> Frames:
        one, two = (self._with(base, cells[label], row) for label in labels)
        values = tuple(dict.fromkeys((*_texts(cells[labels[0]]), *_texts(cells[labels[1]]))))
        changed = " or ".join(
            f"{label} ({', '.join('nothing' if c is None else c for c in cells[label].values())})"
            for label in labels
        )
        return one, two, row, values, f"{self._name(row)}: {', '.join(cells[labels[0]])} {changed}; {others}"

    def _with(self, frame: pl.DataFrame, cells: Cells, row: int | None) -> pl.DataFrame:
        """The frame with these cells in a row, or in all; a cell that the file cannot hold stays as it is."""
        for name, text in cells.items():
            cast = pl.Series(name, [text], pl.String).cast(frame[name].dtype, strict=False)
            if text is not None and cast[0] is None:
                continue
            new = cast.new_from_index(0, len(frame))
            if row is not None:
                new = new.zip_with(self._record(row), frame[name])
            frame = frame.with_columns(new.alias(name))
        return frame

    def _record(self, row: int) -> pl.Series:
        """Which rows the record is that has a row: this one, or all of its person."""
        person = self.spec.roles.person
        if self.of_persons and person is not None:
            of_whom = self.base[person]
            return pl.Series([cell == of_whom[row] for cell in of_whom])
        return pl.Series([place == row for place in range(len(self.base))])

    def _name(self, row: int) -> str:
        return f"all rows of the person of row {row + 1}" if self.of_persons else f"record {row + 1}"

    def _cells(self, kinds: Mapping[str, Cells], label: str) -> Cells:
        """The cells of a record by a label; a column that has none of it has its largest value."""
        return {column: kind.get(label, kind[_LARGEST]) for column, kind in kinds.items()}

    def _kinds(self, column: str) -> dict[str, str | None]:
        """What a cell can be, by what it is called."""
        declared = self.spec.schema.of(column)
        if declared.is_number or self._is_numeric(column):
            numbers = [(label, self._number(number)) for label, number in self._numbers(declared, column)]
            return dict((*numbers[:3], ("nothing", None), ("a text", _UNKNOWN), *numbers[3:]))
        truths = _TRUTHS if declared.kind == "boolean" else ()
        known = (
            declared.categories
            or truths
            or tuple(sorted(filter(None, map(_text, self.base[column].unique()))))
        )
        known = known or (_UNKNOWN,)
        shown = dict.fromkeys((*known[: _CATEGORIES // 2], *known[-_CATEGORIES // 2 :]))
        found = {_SMALLEST: known[0], _LARGEST: known[-1]}
        found |= {f"category {number + 1}": one for number, one in enumerate(shown)}
        return found | {"a category that is not declared": _UNKNOWN, "nothing": None}

    def _numbers(self, declared: Column, column: str) -> Iterator[tuple[str, float]]:
        there = [number for number in self._values(column) if not isnan(number)]
        low = declared.lower if declared.lower is not None else min(there, default=0.0)
        high = declared.upper if declared.upper is not None else max(there, default=low + 1.0)
        width = (high - low) or 1.0
        yield _SMALLEST, low
        yield _LARGEST, high
        yield "between the steps", low + (declared.grid or width / 3) / 2
        yield "beyond the bounds", high + width
        yield "far beyond the bounds", low - 1000 * width

    def _is_numeric(self, column: str) -> bool:
        return self.spec.schema.of(column).kind is None and self._whole.is_numeric(column)

    @cached_property
    def _whole(self) -> Table:
        return self.table(self.base)

    def _values(self, column: str) -> list[float]:
        declared = self.spec.schema.of(column)
        if not declared.is_number and not self._is_numeric(column):
            return []
        found: list[float] = declared_numbers(self._whole, column).tolist()
        return found

    def _order(self, column: str) -> list[int]:
        """The rows by the size of their cells, gaps last."""
        values: Sequence[float] = self._values(column)
        if not values:
            known = self.spec.schema.of(column).categories or ()
            places = {value: place for place, value in enumerate(known)}
            values = [places.get(_text(cell) or "", len(known)) for cell in self.base[column]]
        return sorted(range(len(self.base)), key=lambda row: (isnan(values[row]), values[row]))

    def _places(self, column: str) -> tuple[int, int, int]:
        """The rows with the least, the middle and the largest value."""
        order = self._order(column)
        return order[0], order[len(order) // 2], order[-1]

    def _beside(self, columns: Sequence[str], row: int, step: int) -> Cells:
        """The cells of the records next to one by size, in each column by itself."""
        found = {}
        for column in columns:
            order = self._order(column)
            place = min(max(order.index(row) + step, 0), len(order) - 1)
            found[column] = _text(self.base[column][order[place]])
        return found

    def _number(self, number: float) -> str:
        text = f"{int(number)}" if number == int(number) else repr(float(number))
        return text.replace(".", self.spec.dialect.writing.decimal)


def _text(cell: object) -> str | None:
    return None if cell is None else str(cell)


def _texts(cells: Cells) -> tuple[str, ...]:
    return tuple(text for text in cells.values() if text is not None)


def enough(
    spec: Spec,
    whole: pl.DataFrame,
    rows: int,
    folder: Path,
    ending: str,
    release: Callable[[Table], object],
) -> Neighbours:
    """Neighbours of a part of a table, of as few rows as the release allows.

    Args:
        spec: of the release.
        whole: the table as read from its file.
        rows: to begin with; doubled while the release refuses them.
        folder: to write in.
        ending: of the files.
        release: makes a release of a table.

    Raises:
        AnonymizerError: the whole table is refused.
    """
    while True:
        count = min(rows, len(whole))
        chosen = [place * len(whole) // count for place in range(count)]
        found = Neighbours(spec, _whole_persons(spec, whole, chosen) if count else whole, folder, ending)
        try:
            release(found.table(found.base))
        except AnonymizerError:
            if count == len(whole):
                raise
            rows *= 2
            continue
        return found


def _whole_persons(spec: Spec, whole: pl.DataFrame, chosen: Sequence[int]) -> pl.DataFrame:
    """Some rows of a table, and all others of their persons."""
    person = spec.roles.person
    some = whole[list(chosen)]
    if person is None or person not in whole.columns:
        return some
    return whole.filter(whole[person].is_in(some[person].unique().to_list()))
