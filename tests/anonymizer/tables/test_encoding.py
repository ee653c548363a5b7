"""Columns as codes: quick ways against the plain one, for every type of column."""

from __future__ import annotations

import datetime as dt
import decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from anonymizer.tables.encoding import Codes, encode
from anonymizer.tables.table import Table

DAY = dt.date(2024, 2, 29)
COLUMNS = {
    "texts": ["b", "", "a\u0308", "\u00e4", "b", "a;b"],
    "truth": [True, False, True],
    "dates": [DAY, DAY + dt.timedelta(1), DAY],
    "times": [dt.datetime(2024, 1, 1, 5), dt.datetime(2020, 1, 1), dt.datetime(2024, 1, 1, 5)],
    "whole": [7, -3, 7, 2**62],
    "real": [0.0, -0.0, 1.5, 0.0],
    "decimals": [decimal.Decimal("1.50"), decimal.Decimal("0.25"), decimal.Decimal("1.50")],
    "one": ["x"],
    "none": [],
}


def plain(cells):
    return sorted(set(cells), key=lambda value: (type(value).__name__, value))


@pytest.mark.parametrize("cells", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize(
    "library", [pd.Series, lambda cells: pl.Series("x", cells)], ids=["pandas", "polars"]
)
def test_the_values_are_those_of_the_column_each_once(library, cells):
    series = nw.from_native(library(cells), series_only=True)
    found = encode(series)
    assert found.values.tolist() == plain(series.to_list())
    assert [found.values[code] for code in found.codes] == series.to_list()


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int64", "uint64"])
def test_whole_numbers_at_the_ends_of_their_type(kind):
    ends = np.iinfo(kind)
    cells = np.array([ends.max, ends.min, ends.max, ends.max - 1, ends.min], dtype=kind)
    for some in (cells, cells[[0, 3]]):
        found = encode(nw.from_native(pd.Series(some), series_only=True))
        assert found.values.tolist() == sorted(set(some.tolist()))
        assert found.values[found.codes].tolist() == some.tolist()


def test_objects_of_several_kinds_are_told_apart():
    found = encode(nw.from_native(pd.Series([1, "1", True, "1"], dtype=object), series_only=True))
    assert found.values[found.codes].tolist() == [1, "1", True, "1"]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_codes_are_written_as_texts_with_gaps(library):
    table = Table.of(library({"x": [1, 2, 3, 4]}))
    labels = np.array(["low", "high"], dtype=object)
    out = table.replace({"x": Codes(labels, np.array([1, -1, 0, 1]))})
    assert Table.of(out.native).codes("x").codes.tolist() == [0, -1, 1, 0]
    assert Table.of(out.native).codes("x").values.tolist() == ["high", "low"]
    direct = table.replace({"x": ["high", None, "low", "high"]})
    assert out.series("x").dtype == direct.series("x").dtype


@pytest.mark.parametrize(
    "column",
    [
        [[1, 2], [1, 2], None, [3]],
        [{"a": 1}, {"a": 1}, None, {"a": 2}],
        pl.Series([[{"key": "a", "value": 1}]] * 2 + [None, []]),
    ],
)
def test_lists_and_mappings_have_codes(column):
    table = Table.of(pl.DataFrame({"c": column}))
    codes = table.codes("c").codes
    assert codes[0] == codes[1] != codes[3]
    assert codes[2] == -1
    odd = Table.of(pd.DataFrame({"c": pd.Series([[1], [1], None, {"a": 2}], dtype=object)})).codes("c").codes
    assert odd[0] == odd[1] != odd[3]
