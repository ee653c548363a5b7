"""What an attacker reads off the files of a run: numbers by name, for a distinguisher to choose among.

The attacker knows every record but one, and what that one may be. They know the cells of the record that are
not in question, and so find its row again where those are released as they are.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anonymizer.audit.command import Output
from commons.tabular.dialect import Dialect

Float = NDArray[np.float64]

ABSENT: Final = -1e300
"""Stands for a number that an output does not have."""
_ROWS: Final = 40
"""So many rows are looked at one by one, of larger tables only sums and the like."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the attacker knows beforehand.

    Attributes:
        key: by column of the release the text of the record's cell there, for columns not in question.
        values: texts that the cells in question may hold.
        dialect: of CSV files.
    """

    key: Mapping[str, str] = field(default_factory=dict)
    values: tuple[str, ...] = ()
    dialect: Dialect = field(default_factory=Dialect)

    def look(self, output: Output) -> dict[str, float]:
        """The numbers of an output, all finite."""
        found: dict[str, float] = {"refused": float(bool(output.refusal))}
        if output.refusal:
            found[f"refused, {output.refusal}"] = 1.0
            return found
        found[f"the manifest is of kind {_short(output.manifest)}"] = 1.0
        for name, content in output.files.items():
            found[f"bytes of {name}"] = float(len(content))
            names, columns = _columns(name, content, self.dialect)
            found[f"{name} begins {', '.join(names)[:80]}"] = 1.0
            found |= {f"{what} ({name})": number for what, number in self._table(names, columns)}
        return found

    def _table(self, names: Sequence[str], columns: Sequence[Sequence[str]]) -> Iterable[tuple[str, float]]:
        rows = len(columns[0]) if columns else 0
        yield "rows", float(rows)
        shared = [place for place, name in enumerate(names) if name in self.key]
        fits = (row for row in range(rows) if all(columns[at][row] == self.key[names[at]] for at in shared))
        mine = list(fits) if shared else []
        yield "rows that may be the record", float(len(mine))
        if mine:
            yield "place of the record", float(mine[0])
        for name, cells in zip(names, columns, strict=True):
            if name not in self.key:
                yield from _column(name, cells)
                yield from ((f"{name} of the record, {what}", n) for what, n in _some(cells, mine))
            for value in self.values:
                yield f"{name} is {value!r}, rows", float(sum(cell == value for cell in cells))
                yield f"{name} is {value!r} in the record", float(sum(cells[at] == value for at in mine))


def matrix(looks: Sequence[Mapping[str, float]], names: Sequence[str]) -> Float:
    """Numbers of outputs as rows, shape (outputs, names)."""
    return np.array([[look.get(name, ABSENT) for name in names] for look in looks], dtype=np.float64)


def names_of(looks: Iterable[Mapping[str, float]]) -> list[str]:
    """All names that occur, those of the record first: of events that prove the same the first is taken."""
    found = dict.fromkeys(name for look in looks for name in look)
    return sorted(found, key=lambda name: "of the record" not in name)


def _column(name: str, cells: Sequence[str]) -> Iterable[tuple[str, float]]:
    numbers = _numbers(cells)
    there = numbers[np.isfinite(numbers)]
    yield f"{name}, empty", float(sum(not cell for cell in cells))
    yield f"{name}, numbers", float(len(there))
    yield f"{name}, different", float(len(set(cells)))
    digits = [len(cell.rpartition(".")[2]) for cell in cells if "." in cell]
    yield f"{name}, digits", float(max(digits, default=0))
    yield f"{name}, letters", float(sum(map(len, cells)))
    if len(there):
        yield f"{name}, whole", float((there == np.round(there)).sum())
        yield f"{name}, sum", _finite(there.sum())
        yield f"{name}, spread", _finite(np.abs(there - np.median(there)).sum())
        yield f"{name}, least", float(there.min())
        yield f"{name}, largest", float(there.max())
    if len(cells) <= _ROWS:
        for place, number in enumerate(np.sort(there)):
            yield f"{name}, number {place + 1} by size", float(number)
        for place, number in enumerate(numbers):
            if np.isfinite(number):
                yield f"{name} in row {place + 1}", float(number)


def _some(cells: Sequence[str], rows: Sequence[int]) -> Iterable[tuple[str, float]]:
    numbers = _numbers([cells[row] for row in rows])
    there = numbers[np.isfinite(numbers)]
    if len(there):
        yield "mean", _finite(there.mean())


def _numbers(cells: Sequence[str]) -> Float:
    return np.array([_number(cell) for cell in cells], dtype=np.float64)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return np.nan
    return number if abs(number) < -ABSENT else np.nan


def _finite(number: float) -> float:
    return float(np.clip(number, ABSENT, -ABSENT))


def _short(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


def _columns(name: str, content: bytes, dialect: Dialect) -> tuple[list[str], list[Sequence[str]]]:
    """The names of the columns, in Parquet with their types, and the cells as texts."""
    if name.endswith(".parquet"):
        frame = pl.read_parquet(io.BytesIO(content))
        texts: list[Sequence[str]] = [
            ["" if cell is None else str(cell) for cell in frame[one].to_list()] for one in frame.columns
        ]
        return list(frame.columns), texts
    if name.endswith(".gz"):
        content = gzip.decompress(content)
    lines = list(csv.reader(io.StringIO(content.decode(dialect.encoding)), delimiter=dialect.separator))
    cells = [list(column) for column in zip(*lines[1:], strict=True)] or [[] for _ in lines[0]]
    plain: list[Sequence[str]] = [[_plain(cell, dialect) for cell in column] for column in cells]
    return lines[0], plain


def _plain(cell: str, dialect: Dialect) -> str:
    return cell if dialect.writing.decimal == "." else cell.replace(dialect.writing.decimal, ".")
