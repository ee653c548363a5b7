"""The dialect of a CSV file, by trial."""

from __future__ import annotations

import csv
import gzip
import zlib
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

import polars as pl

from anonymizer.errors import FileError
from anonymizer.hierarchies.days import day
from anonymizer.tables import csvs, files
from anonymizer.tables.dialect import SEPARATORS, Dialect
from anonymizer.tables.table import Table
from commons.tabular.cells import MISSING_TOKENS, limit_in

_BYTES: Final = 1 << 20
_LINES: Final = 200
_MOST: Final = 30
"""Tokens of a column; what differs more often is something else."""
_DATE: Final = 8
"""Letters of a date at least."""
_FORMS: Final = ((".", ""), (",", ""), (",", "."), (",", " "), (".", ","), (".", "'"), (".", " "))
"""Decimals and thousands, the commonest first."""


def guessed(path: Path, delimiter: str = "", encoding: str = "") -> tuple[Dialect, Table]:
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
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opener(path, "rb") as file:
            start = file.read(_BYTES)
    except (OSError, EOFError, zlib.error) as problem:
        raise FileError(
            f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}.", "Check the file."
        ) from None
    names = (encoding,) if encoding else (csvs.guessed_encoding(start), "cp1252", "latin-1")
    for name in names:
        form = Dialect(delimiter or _delimiter(start, name), name)
        try:
            frame = csvs.read(path, form)
        except FileError as problem:
            if "is not in" not in problem.what:
                raise
            continue
        form = _numbers(form, frame)
        return form, files.table(path, form)
    likely = csvs.guessed_encoding(start)
    other = f"such as --encoding {likely}" if likely not in names else "if you know it"
    raise FileError(
        f"{path} is not in {', '.join(dict.fromkeys(names))}.",
        f"Name the encoding that it is in, {other}; a damaged file is in none.",
    )


def _delimiter(start: bytes, encoding: str) -> str:
    """The separator by which the first lines have the same number of cells, the larger the better."""
    text = start.decode(encoding, errors="replace").removeprefix("\ufeff")
    best, most = "", 1
    for one in SEPARATORS:
        widths: set[int] = set()
        with suppress(csv.Error):
            lines = islice(csv.reader(text.splitlines(keepends=True)[:_LINES], delimiter=one), _LINES - 1)
            widths = {len(row) for row in lines if row}
        if len(widths) == 1 and max(widths) > most:
            best, most = one, max(widths)
    return "" if best == "," else best


def _numbers(form: Dialect, frame: pl.DataFrame) -> Dialect:
    """The dialect with the decimal mark, thousands and missing tokens by which most columns are numbers."""
    part = frame.head(10_000)
    best, most = form, -1
    for decimal, thousands in _FORMS:
        tried = replace(form, decimal=decimal, thousands=thousands)
        tokens = {token for name in part.columns for token in _tokens(part[name], tried)}
        known = tuple(token for token in MISSING_TOKENS if token in tokens)
        tried = replace(tried, missing_tokens=(*known, *sorted(tokens - {*known})))
        count = sum(None not in tried.kinds(_without(part[name], tokens)) for name in part.columns)
        if count > most:
            best, most = tried, count
    return best


def _tokens(cells: pl.Series, form: Dialect) -> set[str]:
    """The tokens and limits of detection that keep a column from being one of numbers or dates."""
    texts = {one.strip() for one in cells.unique().drop_nulls().to_list()}
    there = {one for one in texts if one in MISSING_TOKENS or limit_in(one) is not None}
    if not there or len(there) > _MOST:
        return set()
    kinds = form.kinds(_without(cells, there))
    if kinds and None not in kinds:
        return there
    others = [one for one in texts - there if one]
    return there if others and all(len(one) >= _DATE and day(one) is not None for one in others) else set()


def _without(cells: pl.Series, tokens: set[str]) -> pl.Series:
    return cells.filter(~cells.is_in(list(tokens))) if tokens else cells
