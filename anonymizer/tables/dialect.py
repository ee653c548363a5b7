"""The dialect of a specification, its table `[csv]`, and what columns of texts are numbers in it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final, Literal

import polars as pl

from anonymizer.errors import SpecError
from anonymizer.schema.documents import table_of
from commons.settings.reader import declared
from commons.tabular.cells import LIMIT_SIGN
from commons.tabular.dialect import Dialect, Writing

Kind = Literal["integer", "float"]
"""How a column of texts reads as numbers."""
_TOGETHER: Final = 1_000_000
"""So many cells are read together."""


def read_dialect(given: Any, place: str = "csv") -> Dialect:
    """Read a dialect from a parsed TOML table with the keys of `Dialect` and `Writing`.

    Raises:
        SpecError: there is an unknown key, or an entry is impossible.
    """
    found = declared(Dialect, table_of(given, place))
    for key, what, hint in found.faults():
        raise SpecError(f"{place}: {key} {what}.", hint)
    return found


def kinds_of(writing: Writing, cells: pl.Series) -> set[Kind | None]:
    """How a column of texts reads as numbers.

    Args:
        writing: of its cells.
        cells: texts; missing and blank ones say nothing.

    Returns:
        Nothing if no cell says anything; None for texts: some cell is not a number, has leading zeros as
        codes have, or is a whole number beyond 64 bits.
    """
    (found,) = kinds_in(writing, cells.to_frame()).values()
    return found


def kinds_in(writing: Writing, frame: pl.DataFrame) -> dict[str, set[Kind | None]]:
    """The same of all columns of a frame, by name."""
    bare = pl.all().str.strip_chars()
    texts = _without_suffix(writing, bare.filter(bare != "").unique()).implode()
    found: dict[str, set[Kind | None]] = {}
    # of small tables a query takes longer than its work, of large ones the texts of a column much memory
    some = max(1, _TOGETHER // max(1, len(frame)))
    for start in range(0, frame.width, some):
        lists = frame.select(frame.columns[start : start + some]).select(texts)
        found |= {column.name: _kinds(writing, column[0]) for column in lists.get_columns()}
    return found


def _kinds(writing: Writing, texts: pl.Series) -> set[Kind | None]:
    """The same of the different texts of a column, bare of blanks and suffixes, none of them empty."""
    if not len(texts):
        return set()
    limited = bool(writing.below_limit) and texts.str.contains(LIMIT_SIGN).any()
    if limited:
        texts = texts.str.replace(LIMIT_SIGN, "")
    text = pl.nth(0)
    zeros, numbers, whole = (
        texts.to_frame()
        .select(
            zeros=text.str.contains(r"^[+-]?0\d").any(),
            numbers=text.str.contains(_number(writing)).all(),
            whole=text.str.contains(_whole(writing)).all(),
        )
        .row(0)
    )
    if zeros or not numbers:
        return {None}
    kind: Kind = "integer" if whole and not limited else "float"
    found = numbers_of(writing, texts, kind)
    return {None} if found.null_count() or not found.is_finite().all() else {kind}


def numbers_of(writing: Writing, cells: pl.Series, kind: Kind) -> pl.Series:
    """A column of texts as numbers, null where a cell is blank or not a number."""
    if writing.below_limit and (limits := cells.str.contains(LIMIT_SIGN).fill_null(value=False)).any():
        bare = numbers_of(replace(writing, below_limit=""), cells.str.replace(LIMIT_SIGN, ""), kind)
        part = 0.5 if writing.below_limit == "half" else 1.0
        return bare * limits.replace_strict({True: part, False: 1.0}, return_dtype=pl.Float64)
    plain = _without_suffix(writing, pl.nth(0).str.strip_chars())
    if writing.thousands:
        plain = plain.str.replace_all(writing.thousands, "", literal=True)
    if writing.decimal != ".":
        plain = plain.str.replace(writing.decimal, ".", literal=True)
    number = plain.cast(pl.Int64 if kind == "integer" else pl.Float64, strict=False)
    return cells.to_frame().select(number).to_series()


def _without_suffix(writing: Writing, cells: pl.Expr) -> pl.Expr:
    return cells.str.replace(f"{writing.ending}$", "") if writing.suffix else cells


def _digits(writing: Writing) -> str:
    gap = re.escape(writing.thousands)
    return rf"(\d{{1,3}}({gap}\d{{3}})+|\d+)" if gap else r"\d+"


def _whole(writing: Writing) -> str:
    return rf"^[+-]?{_digits(writing)}$"


def _number(writing: Writing) -> str:
    point = re.escape(writing.decimal)
    return rf"^[+-]?({_digits(writing)}({point}\d*)?|{point}\d+)([eE][+-]?\d+)?$"
