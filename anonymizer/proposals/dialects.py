"""The dialect of a CSV file, by trial."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import product
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
from commons.tabular.units import bare, prefix_of, suffix_of

_MOST: Final = 30
"""Tokens of a column; what differs more often is something else."""
_LOOKED: Final = 200
"""Different cells of a column that are looked at for what stands before and behind its numbers."""
_DIGITS: Final = re.compile(r"\s*[<>]?=?\s*[+-]?[0-9][0-9.,'\u2019\s]*")
_DATE: Final = 8
"""Letters of a date at least."""


def guess_table_dialect(path: Path, delimiter: str = "", encoding: str = "") -> tuple[Dialect, Table, str]:
    """The dialect of a file, its table, and what to do in doubt; the plain one of Parquet and Excel.

    Args:
        path: of the file.
        delimiter: if it is known.
        encoding: if it is known.

    Raises:
        FileError: the file cannot be read by any guess.
        TableError: its first line does not name the columns, or rows differ in length.
    """
    if path.name.lower().endswith((".parquet", *files.SPREADSHEETS)):
        return Dialect(), files.table(path), ""
    files.regular(path)
    file = csvs.source_of(path)
    guess = file.guess_encoding()
    likely = guess.encoding
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
    return form, files.table(path, form), "" if encoding else guess.doubt


def _writing(frame: pl.DataFrame) -> Writing:
    """The decimal mark, thousands and missing tokens by which most columns are numbers."""
    part = frame.head(10_000)
    best, most = Writing(), -1
    affixes = product(*(("", one) if one else ("",) for one in _affixes(part)))
    for (prefix, suffix), plain in product(affixes, WRITINGS):  # without any first
        way = replace(plain, prefix=prefix, suffix=suffix)
        tokens = {token for name in part.columns for token in _tokens(part[name], way)}
        known = tuple(token for token in MISSING_TOKENS if token in tokens)
        tried = replace(way, missing_tokens=(*known, *sorted(tokens - {*known})))
        count = sum(None not in kinds_of(tried, _without(part[name], tokens)) for name in part.columns)
        if count > most:
            best, most = tried, count
    return best


def _affixes(frame: pl.DataFrame) -> tuple[str, str]:
    """What stands before and behind the numbers of most columns that have such a thing; empty for nothing."""
    before, behind = Counter[str](), Counter[str]()
    for name in frame.columns:
        texts = [one.strip() for one in frame[name].unique(maintain_order=True).drop_nulls().head(_LOOKED)]
        texts = [one for one in texts if one and one not in MISSING_TOKENS]
        prefix, suffix = prefix_of(texts), suffix_of(texts)
        if all(_DIGITS.fullmatch(bare(one, prefix, suffix)) for one in texts):
            before[prefix] += 1
            behind[suffix] += 1
    return _commonest(before), _commonest(behind)


def _commonest(words: Counter[str]) -> str:
    return next((word for word, _ in words.most_common() if word), "")


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
