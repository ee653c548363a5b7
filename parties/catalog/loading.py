"""Loading declared columns: every row is read and checked, or nothing is returned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from parties.catalog.cells import is_empty, parser
from parties.catalog.declaration import DatasetDeclaration
from parties.catalog.sources import rows
from parties.errors import DataError
from parties.toml import near
from smc.analyses.base import Column

ROW_LIMIT = 100_000_000
"""More rows than any job can hold in memory are refused while reading."""


def load(dataset: DatasetDeclaration, columns: Iterable[str]) -> dict[str, Column]:
    """Read columns of a data set.

    Args:
        dataset: the declaration.
        columns: declared columns to read.

    Returns:
        The columns by name, all of the same length, values in held units.

    Raises:
        DataError: a column is missing, a key cell is empty or came before, or a cell is empty, unparsable
            or outside its bounds; names file, column and row, never the value.
        ConfigError: a library that the source needs is not installed.
    """
    wanted = list(dict.fromkeys(columns))
    for column in wanted:
        if column not in dataset.columns:
            raise DataError(
                f"Data set {dataset.name!r} declares no column {column!r}.",
                near(column, list(dataset.columns)),
            )
    parsers = [parser(dataset.columns[column]) for column in wanted]
    values: list[list[int]] = [[] for _ in wanted]
    keys = _Keys(dataset)
    for number, (where, cells) in enumerate(rows(dataset, [*wanted, *dataset.key]), 1):
        keys.add(where, cells[len(wanted) :])
        for column, parse, held, cell in zip(wanted, parsers, values, cells, strict=False):
            if is_empty(cell):
                raise DataError(
                    f"{dataset.place}, {where}: the cell of column {column!r} is empty.",
                    "Fill it, or leave the row out.",
                )
            try:
                held.append(parse(cell))
            except ValueError as problem:
                raise DataError(
                    f"{dataset.place}, {where}: the cell of column {column!r} {problem}.",
                    "Correct the cell, or the declaration in the catalog.",
                ) from None
        if number > ROW_LIMIT:
            raise DataError(f"{dataset.place} has more than {ROW_LIMIT} rows.", "Split it.")
    return {
        column: Column(held, dataset.columns[column].schema)
        for column, held in zip(wanted, values, strict=True)
    }


def count_rows(dataset: DatasetDeclaration) -> int:
    """Read and check all declared columns of a data set.

    Returns:
        The number of rows.

    Raises:
        DataError: as `load`.
    """
    return len(next(iter(load(dataset, dataset.columns).values())))


class _Keys:
    """Watches that key cells are neither empty nor repeated."""

    def __init__(self, dataset: DatasetDeclaration) -> None:
        self._dataset = dataset
        self._seen: dict[tuple[str, ...], str] = {}

    def add(self, where: str, cells: Sequence[Any]) -> None:
        """Note the key cells of one row."""
        if not cells:
            return
        place = f"{self._dataset.place}, {where}"
        for column, cell in zip(self._dataset.key, cells, strict=True):
            if is_empty(cell):
                raise DataError(
                    f"{place}: the key cell of column {column!r} is empty.", "Give the row a key."
                )
        key = tuple(str(cell).strip() for cell in cells)
        first = self._seen.setdefault(key, where)
        if first is not where:
            raise DataError(
                f"{place}: the key in {' and '.join(map(repr, self._dataset.key))} came before, in {first}.",
                "Keep one of the rows.",
            )
