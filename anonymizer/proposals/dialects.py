"""The dialect of a CSV file, by trial."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import polars as pl

from anonymizer.errors import FileError
from anonymizer.hierarchies.days import day
from anonymizer.tables import csvs, files
from anonymizer.tables.dialect import kinds_of
from anonymizer.tables.table import Table
from commons.tabular.cells import MISSING_TOKENS, above_in, limit_in
from commons.tabular.dialect import WRITINGS, Dialect, Writing

_MOST: Final = 30
"""Tokens of a column; what differs more often is something else."""
_DATE: Final = 8
"""Letters of a date at least."""


def guess_table_dialect(path: Path, delimiter: str = "", encoding: str = "") -> tuple[Dialect, Table]:
    """The dialect of a file, and the file read by it; of Parquet and Excel the plain one.

    Args:
        path: of the file.
        delimiter: if it is known.
        encoding: if it is known.

    Raises:
        FileError: the file cannot be read by any guess.
        TableError: its first line does not name the columns, or rows differ in length.
    """
    if path.name.lower().endswith((".parquet", *files.SPREADSHEETS)):
        return Dialect(), files.table(path)
    files.regular(path)
    file = csvs.source_of(path)
    likely = file.guess_encoding()
    name = encoding or likely
    form = Dialect(delimiter or file.guess_separator(name), name)
    try:
        frame = csvs.read(path, form)
    except FileError as problem:
        if "encoding" not in problem.hint:
            raise
        other = f"such as --encoding {likely}" if likely != name else "if you know it"
        raise FileError(
            f"{path} is not in {name}.",
            f"Name the encoding that it is in, {other}; a damaged file is in none.",
        ) from None
    form = replace(form, writing=_writing(frame))
    return form, files.table(path, form)


def _writing(frame: pl.DataFrame) -> Writing:
    """The decimal mark, thousands and missing tokens by which most columns are numbers."""
    part = frame.head(10_000)
    best, most = Writing(), -1
    for way in WRITINGS:
        tokens = {token for name in part.columns for token in _tokens(part[name], way)}
        known = tuple(token for token in MISSING_TOKENS if token in tokens)
        tried = replace(way, missing_tokens=(*known, *sorted(tokens - {*known})))
        count = sum(None not in kinds_of(tried, _without(part[name], tokens)) for name in part.columns)
        if count > most:
            best, most = tried, count
    return best


def _tokens(cells: pl.Series, way: Writing) -> set[str]:
    """The tokens and limits of detection that keep a column from being one of numbers or dates."""
    texts = {one.strip() for one in cells.unique().drop_nulls().to_list()}
    there = {
        one
        for one in texts
        if one in MISSING_TOKENS or limit_in(one) is not None or above_in(one) is not None
    }
    if not there or len(there) > _MOST:
        return set()
    kinds = kinds_of(way, _without(cells, there))
    if kinds and None not in kinds:
        return there
    others = [one for one in texts - there if one]
    return there if others and all(len(one) >= _DATE and day(one) is not None for one in others) else set()


def _without(cells: pl.Series, tokens: set[str]) -> pl.Series:
    return cells.filter(~cells.is_in(list(tokens))) if tokens else cells
