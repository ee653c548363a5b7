"""Cells of a column, of which some may be missing: found, left out or replaced as the declaration says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parties.catalog.cells import Parse, is_missing, parser
from parties.catalog.columns import ColumnDeclaration
from parties.catalog.vectors import Values, reader

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Piece:
    """Cells of a batch as they are held.

    Attributes:
        values: one a row; something where a cell is missing and its row is to be left out.
        missing: which cells are missing, shape (rows,); None for none.
    """

    values: Values = field(repr=False)
    missing: Mask | None = None


class MissingCellError(ValueError):
    """A cell is missing and may not be."""


class Cells:
    """Reads the cells of one column.

    Args:
        column: the declaration.
    """

    def __init__(self, column: ColumnDeclaration) -> None:
        self.column = column
        self._read = reader(column)
        self._parse: Parse = parser(column)
        self._plain = column.missing == "error" and not column.tokens
        self._filler: int | str = "" if column.type == "text" else 0
        if column.missing == "impute":
            self._filler = self._parse(column.imputed)

    def quick(self, cells: Sequence[Any]) -> Piece | None:
        """All cells at once; None if one of them needs a closer look."""
        if self._plain:
            values = self._read(cells)
            return None if values is None else Piece(values)
        missing = missing_cells(cells, self.column.tokens)
        if not missing.any():
            values = self._read(cells)
            return None if values is None else Piece(values)
        if self.column.missing == "error":
            return None
        values = self._read(list(compress(cells, ~missing)))
        return None if values is None else Piece(self._filled(values, missing), missing)

    def exact(self, cells: Sequence[Any], row: int) -> int | str | None:
        """What is held for the cell of one row, or None if it is missing and may be.

        Raises:
            MissingCellError: it is missing and may not be.
            ValueError: it is not as declared; says why, without the value.
        """
        cell = cells[row]
        if not is_missing(cell, self.column.tokens):
            return self._parse(cell)
        if self.column.missing == "error":
            raise MissingCellError
        return None

    def piece(self, values: Sequence[int | str | None]) -> Piece:
        """What `exact` gave for all rows of a batch."""
        held: Any = [self._filler if value is None else value for value in values]
        missing = np.array([value is None for value in values], np.bool_)
        return Piece(held, missing if missing.any() else None)

    def _filled(self, values: NDArray[np.int64] | list[str], missing: Mask) -> Values:
        if isinstance(values, list):
            there = iter(values)
            return [str(self._filler) if gone else next(there) for gone in missing.tolist()]
        filled = np.full(len(missing), self._filler, np.int64)
        filled[~missing] = values
        return filled


def missing_cells(cells: Sequence[Any], tokens: tuple[str, ...]) -> Mask:
    """Which cells hold nothing, or a token that stands for nothing; shape (rows,)."""
    if {*map(type, cells)} <= {str}:
        absent = {"", *tokens}
        return np.fromiter(map(absent.__contains__, map(str.strip, cells)), np.bool_, len(cells))
    return np.fromiter((is_missing(cell, tokens) for cell in cells), np.bool_, len(cells))
