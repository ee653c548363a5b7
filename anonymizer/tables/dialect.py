"""The dialect of a specification, its table `[csv]`, and what columns of texts are numbers in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
import polars as pl

from anonymizer.errors import SpecError
from anonymizer.schema.documents import table_of
from commons.settings.reader import read_declared
from commons.tabular.cells import ABOVE_SIGN, LIMIT_SIGN
from commons.tabular.dialect import Dialect, Writing
from commons.tabular.eastern import NARROW_NUMBERS

Kind = Literal["integer", "float"]
"""How a column of texts reads as numbers."""
_TOGETHER: Final = 1_000_000
"""So many cells are read together."""


def read_dialect(given: Any, place: str = "csv") -> Dialect:
    """Read a dialect from a parsed TOML table with the keys of `Dialect` and `Writing`.

    Raises:
        SpecError: there is an unknown key, or an entry is impossible.
    """
    found = read_declared(Dialect, table_of(given, place))
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
    found: dict[str, set[Kind | None]] = {}
    # of small tables a query takes longer than its work, of large ones the texts of a column much memory
    some = max(1, _TOGETHER // max(1, len(frame)))
    for start in range(0, frame.width, some):
        found |= _kinds(writing, frame.select(frame.columns[start : start + some]))
    return found


def _kinds(writing: Writing, frame: pl.DataFrame) -> dict[str, set[Kind | None]]:
    lists = frame.select(pl.all().unique().drop_nulls().str.strip_chars().implode())
    texts = [_narrow(lists[name][0]) for name in frame.columns]
    found: dict[str, set[Kind | None]] = {}
    for name, cells, (some, code, number, whole, limited) in zip(
        frame.columns, texts, _looks(writing, texts), strict=True
    ):
        found[name] = {None} if some else set()
        if some and number and not code:
            kind: Kind = "integer" if whole and not limited else "float"
            filled = cells.filter(cells != "")
            read = numbers_of(writing, filled.str.replace(_sign(writing), "") if limited else filled, kind)
            found[name] = {None} if read.null_count() or not read.is_finite().all() else {kind}
    return found


def _looks(writing: Writing, texts: Sequence[pl.Series]) -> list[tuple[bool, bool, bool, bool, bool]]:
    """Of each column: is a text filled, has one leading zeros, are all numbers, all whole, is one a limit."""
    filled = pl.col("text").filter(pl.col("text") != "")
    text = _bare(writing, filled)
    sign = _sign(writing)
    number = text.str.replace(sign, "") if sign else text
    looks = (
        (filled.len() > 0).alias("some"),
        number.str.contains(r"^[+-]?0\d").any().alias("code"),
        number.str.contains(_number(writing)).all().alias("number"),
        number.str.contains(_whole(writing)).all().alias("whole"),
        (text.str.contains(sign).any() if sign else pl.lit(value=False)).alias("limit"),
    )
    if len(texts) == 1:
        return texts[0].to_frame("text").select(looks).rows()
    # each begins with a blank cell, so that it is there
    ends = [pl.Series([""]).append(cells) for cells in texts]
    places = np.repeat(np.arange(len(texts)), [len(cells) for cells in ends])
    together = pl.DataFrame({"place": places, "text": pl.concat(ends)})
    return together.group_by("place", maintain_order=True).agg(looks).drop("place").rows()


def _sign(writing: Writing) -> str:
    """The signs of limits that are read, as a regular expression; empty for none."""
    read = ((LIMIT_SIGN, writing.below_limit), (ABOVE_SIGN, writing.above_limit))
    return "|".join(sign for sign, said in read if said)


def numbers_of(writing: Writing, cells: pl.Series, kind: Kind) -> pl.Series:
    """A column of texts as numbers, null where a cell is blank or not a number."""
    cells = _narrow(cells)
    if writing.below_limit and (limits := cells.str.contains(LIMIT_SIGN).fill_null(value=False)).any():
        bare = numbers_of(replace(writing, below_limit=""), cells.str.replace(LIMIT_SIGN, ""), kind)
        part = 0.5 if writing.below_limit == "half" else 1.0
        return bare * limits.replace_strict({True: part, False: 1.0}, return_dtype=pl.Float64)
    if writing.above_limit:
        return numbers_of(replace(writing, above_limit=""), cells.str.replace(ABOVE_SIGN, ""), kind)
    plain = _bare(writing, pl.nth(0).str.strip_chars())
    if writing.thousands:
        plain = plain.str.replace_all(writing.thousands, "", literal=True)
    if writing.decimal != ".":
        plain = plain.str.replace(writing.decimal, ".", literal=True)
    number = plain.cast(pl.Int64 if kind == "integer" else pl.Float64, strict=False)
    return cells.to_frame().select(number).to_series()


def _narrow(cells: pl.Series) -> pl.Series:
    """Texts with the digits, signs, points and commas of full width as those of ASCII."""
    if not cells.str.contains("[０-９]").any():
        return cells
    return cells.str.replace_many([*NARROW_NUMBERS], [*NARROW_NUMBERS.values()])


def _bare(writing: Writing, cells: pl.Expr) -> pl.Expr:
    """Without what stands before and behind numbers."""
    if writing.prefix:
        cells = cells.str.replace(f"^{writing.beginning}", "${1}")
    return cells.str.replace(f"{writing.ending}$", "") if writing.suffix else cells


def _digits(writing: Writing) -> str:
    gap = re.escape(writing.thousands)
    return rf"(\d{{1,3}}({gap}\d{{3}})+|\d+)" if gap else r"\d+"


def _whole(writing: Writing) -> str:
    return rf"^[+-]?{_digits(writing)}$"


def _number(writing: Writing) -> str:
    point = re.escape(writing.decimal)
    return rf"^[+-]?({_digits(writing)}({point}\d*)?|{point}\d+)([eE][+-]?\d+)?$"
