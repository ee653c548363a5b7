"""Cells of a column, of which some may be missing: found, left out or replaced as the declaration says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parties.catalog.columns.arrays import distinct, held_numbers
from parties.catalog.columns.cells import Parse, is_missing, parser
from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.columns.vectors import Values, reader
from parties.catalog.sources.batch import VisibleCells
from parties.catalog.sources.parquets import ArrowCells

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
        piece = self._of_array(cells.array) if isinstance(cells, ArrowCells) else None
        return self._of_cells(cells) if piece is None else piece

    def _of_array(self, array: Any) -> Piece | None:
        found = held_numbers(array, self.column)
        if found is not None:
            values, missing = found
            if not missing.any():
                return Piece(values)
            return (
                None
                if self.column.missing == "error"
                else Piece(self._fill(values[~missing], missing), missing)
            )
        several = None if self.column.type == "text" else distinct(array)
        if several is None:
            return None
        cells, places = several
        piece = self._of_cells(cells if len(places) and places.max() == len(cells) - 1 else cells[:-1])
        if piece is None or not isinstance(piece.values, np.ndarray):
            return None
        gone = None if piece.missing is None else piece.missing[places]
        return Piece(piece.values[places], gone if gone is not None and gone.any() else None)

    def _of_cells(self, cells: Sequence[Any]) -> Piece | None:
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
        return None if values is None else Piece(self._fill(values, missing), missing)

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

    def _fill(self, values: NDArray[np.int64] | list[str], missing: Mask) -> Values:
        if isinstance(values, list):
            there = iter(values)
            return [str(self._filler) if gone else next(there) for gone in missing.tolist()]
        filled = np.full(len(missing), self._filler, np.int64)
        filled[~missing] = values
        return filled


def missing_cells(cells: Sequence[Any], tokens: tuple[str, ...]) -> Mask:
    """Which cells hold nothing, or a token that stands for nothing; shape (rows,)."""
    if isinstance(cells, VisibleCells):
        if not tokens:
            return np.zeros(len(cells), np.bool_)
        return np.fromiter(map(frozenset(tokens).__contains__, cells), np.bool_, len(cells))
    if {*map(type, cells)} <= {str}:
        absent = {"", *tokens}
        return np.fromiter(map(absent.__contains__, map(str.strip, cells)), np.bool_, len(cells))
    return np.fromiter((is_missing(cell, tokens) for cell in cells), np.bool_, len(cells))
