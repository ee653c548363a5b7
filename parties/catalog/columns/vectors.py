"""Many cells of one column at once: the grammar of `parties.catalog.columns.cells`, for cells that are usual.

A reader returns None where it cannot vouch for every cell; then the caller parses them one by one, which
gives the values or the reason. A reader never accepts what a parser refuses, and never holds another value.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from commons.tabular.dialect import Writing
from parties.catalog.columns.cells import CONTROL, label_key
from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.sources.batch import VisibleCells

Values = NDArray[np.int64] | list[int] | list[str]
"""Held values of a column: an int64 array where the declaration keeps them in 63 bits."""

Reader = Callable[[Sequence[Any]], NDArray[np.int64] | list[str] | None]

_WORD: Final = 1 << 63
_DIGITS: Final = 18
"""Numbers of so many digits fit an int64."""
_WIDEST: Final = 40
_FIRST_DAY: Final = date.min.toordinal() - date(1970, 1, 1).toordinal()


def is_narrow(column: ColumnDeclaration) -> bool:
    """Whether the declaration keeps the held values in 63 bits."""
    schema = column.schema
    if schema.kind == "share":
        return schema.modulus.isdigit() and int(schema.modulus) <= _WORD
    bounds = (schema.lower, schema.upper)
    return all(bound is not None and -_WORD <= bound < _WORD for bound in bounds)


def join(pieces: Sequence[Values], column: ColumnDeclaration) -> Values:
    """The values of a column from the values of its batches."""
    if is_narrow(column):
        return np.concatenate([np.empty(0, np.int64), *(np.asarray(piece, np.int64) for piece in pieces)])
    return [value for piece in pieces for value in piece]  # type: ignore[return-value]


def reader(column: ColumnDeclaration) -> Reader:
    """The function that reads cells of a column, none of them missing."""
    if column.type == "text":
        return _texts(column.maximum_length)
    if not is_narrow(column):
        return lambda _: None
    if column.type == "category":
        return _categories(column.schema.categories, column.ignores_case)
    lower, upper = column.schema.lower, column.schema.upper
    if column.type == "share":
        lower, upper = 0, int(column.schema.modulus) - 1
    read = _dates(column.writing) if column.type == "date" else _numbers(column.schema.scale)
    if column.type != "date" and not column.writing.is_plain:
        read = _to_point(column.writing, read)

    def bound(cells: Sequence[Any]) -> NDArray[np.int64] | None:
        values = read(cells)
        if values is None or (len(values) and not lower <= values.min() <= values.max() <= upper):
            return None
        return values

    return bound


def _texts(maximum: int) -> Reader:
    def texts(cells: Sequence[Any]) -> list[str] | None:
        if isinstance(cells, VisibleCells):
            return cells if max(map(len, cells), default=0) <= maximum else None
        if {*map(type, cells)} - {str}:
            return None
        held = list(map(str.strip, cells))
        if not all(held):
            return None
        joined = " ".join(held)
        if CONTROL.search(joined) or not unicodedata.is_normalized("NFC", joined):
            return None
        return held if max(map(len, held), default=0) <= maximum else None

    return texts


def _categories(labels: tuple[str, ...], ignores_case: bool) -> Reader:
    key = label_key(ignores_case)
    index: dict[Any, int] = {key(label): number for number, label in enumerate(labels)}

    def categories(cells: Sequence[Any]) -> NDArray[np.int64] | None:
        try:
            known = map(key, cells) if ignores_case else cells
            return np.fromiter(map(index.__getitem__, known), np.int64, len(cells))
        except (KeyError, TypeError):
            return None

    return categories


def _characters(cells: Sequence[Any]) -> NDArray[np.uint8] | None:
    """ASCII cells as a matrix of characters, padded with NUL at the right."""
    if not isinstance(cells, VisibleCells) and {*map(type, cells)} - {str}:
        return None
    widest = max(map(len, cells), default=0)
    if not 0 < widest <= _WIDEST:
        return None
    try:
        matrix = np.array(cells, dtype=f"S{widest}").view(np.uint8).reshape(len(cells), widest)
    except UnicodeEncodeError:
        return None
    has_nul = np.count_nonzero(matrix) != sum(map(len, cells))
    return None if has_nul else matrix


def _numbers(scale: int) -> Callable[[Sequence[Any]], NDArray[np.int64] | None]:
    def numbers(cells: Sequence[Any]) -> NDArray[np.int64] | None:
        if not scale and {*map(type, cells)} == {int}:
            try:
                return np.array(cells, dtype=np.int64)
            except OverflowError:
                return None
        matrix = _characters(cells)
        return None if matrix is None else _scale(np.ascontiguousarray(matrix.T), scale)

    return numbers


def _scale(characters: NDArray[np.uint8], scale: int) -> NDArray[np.int64] | None:
    """Numbers `[+-]digits[.digits]` with at most `scale` digits after the point, times 10**scale.

    Args:
        characters: shape (places, cells), padded with NUL.
        scale: 0 allows no point.
    """
    count = characters.shape[1]
    value = np.zeros(count, np.int64)
    digits = np.zeros(count, np.int64)
    places = np.full(count, -1, np.int64)
    negative = characters[0] == ord("-")
    signed = negative | (characters[0] == ord("+"))
    for position, column in enumerate(characters):
        digit = column - np.uint8(ord("0"))
        is_digit = digit < 10
        point = column == ord(".")
        if not np.all(is_digit | point | (column == 0) | (signed if position == 0 else False)):
            return None
        if np.any(point):
            if not scale or np.any(point & ((places >= 0) | (digits == 0))):
                return None
            places[point] = 0
        value = np.where(is_digit, value * 10 + digit, value)
        digits += is_digit
        places += is_digit & (places >= 0) & ~point
    ended_in_point = places == 0
    shift = scale - np.maximum(places, 0)
    if np.any(ended_in_point) or np.any(digits == 0) or np.any(shift < 0) or np.any(digits + shift > _DIGITS):
        return None
    powers = np.array([10**power for power in range(scale + 1)], np.int64)
    value *= powers[shift]
    return np.where(negative, -value, value)


def _to_point(
    writing: Writing, read: Callable[[Sequence[Any]], NDArray[np.int64] | None]
) -> Callable[[Sequence[Any]], NDArray[np.int64] | None]:
    def numbers(cells: Sequence[Any]) -> NDArray[np.int64] | None:
        if {*map(type, cells)} - {str}:
            return read(cells) if {*map(type, cells)} == {int} else None
        plain = writing.plain_numbers(cells) if cells else []
        return None if plain is None else read(plain)

    return numbers


def _dates(writing: Writing) -> Callable[[Sequence[Any]], NDArray[np.int64] | None]:
    if not writing.date_format:
        return _days
    places, width = writing.places, writing.width

    def days(cells: Sequence[Any]) -> NDArray[np.int64] | None:
        matrix = _characters(cells) if places is not None else None
        if matrix is None or matrix.shape[1] != width or not matrix.all() or not writing.are_dates(cells):
            return None
        year, month, day = np.split(matrix[:, list(places or ())], [4, 6], axis=1)
        hyphen = np.full((len(matrix), 1), ord("-"), np.uint8)
        return _iso(np.concatenate([year, hyphen, month, hyphen, day], axis=1))

    return days


def _days(cells: Sequence[Any]) -> NDArray[np.int64] | None:
    matrix = _characters(cells)
    if matrix is None or matrix.shape[1] != 10:
        return None
    hyphens = [4, 7]
    others = [0, 1, 2, 3, 5, 6, 8, 9]
    if np.any(matrix[:, hyphens] != ord("-")) or np.any(matrix[:, others] - np.uint8(ord("0")) >= 10):
        return None
    return _iso(matrix)


def _iso(characters: NDArray[np.uint8]) -> NDArray[np.int64] | None:
    """Days since 1970-01-01 of dates as 1990-12-31, shape (cells, 10); None if one does not exist."""
    try:
        days = characters.reshape(-1).view("S10").astype("datetime64[D]").astype(np.int64)
    except ValueError:
        return None
    return None if days.min(initial=0) < _FIRST_DAY else days  # numpy knows a year 0
