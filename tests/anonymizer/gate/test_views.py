"""Readings of columns: a column in another order is read as its table in that order would be."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from anonymizer.gate.views import ColumnView
from anonymizer.tables import files
from tests.support.seeds import seeded

COLUMNS = {
    "number": ["1.5", "-2", "0", "-0", "007", None, "3e2", "1.50"],
    "code": ["a 1", "b 22", "c 3", "a 1", None, " d 4", "E 5", "f 6 "],
    "day": [
        "2020-01-02",
        "1999-12-31",
        None,
        "2020-01-02",
        "2001-05-05",
        "2001-05-06",
        "1970-01-01",
        "1980-02-03",
    ],
    "whole": ["4", "40", "-4", "0", "1", "2", "3", "3"],
    "fine": ["0.10", "0.20", "0.111", "0.112", "0.10", "0.21", "0.3", "-0.0"],
    "flag": ["true", "false", "true", None, "false", "true", "true", "false"],
}


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_column_in_another_order_is_read_as_a_table_in_that_order(ending, tmp_path):
    path = tmp_path / f"table{ending}"
    files.write(pl.DataFrame(COLUMNS), path)
    table = files.table(path)
    draw = np.random.default_rng(seeded().below(1 << 32, 1))
    for _ in range(5):
        order = draw.permutation(len(table))
        turned = table.take(order)
        for name in COLUMNS:
            got, wanted = ColumnView.of(table, name).permuted(order), ColumnView.of(turned, name)
            assert list(got.values) == list(wanted.values)
            assert np.array_equal(got.codes, wanted.codes)
            for one, other in (
                (got.numbers, wanted.numbers),
                (got.days, wanted.days),
                (got.forms, wanted.forms),
            ):
                assert (one is None) == (other is None)
                assert one is None or np.array_equal(one, other, equal_nan=True)
            ours, theirs = tuple(got.views()), tuple(wanted.views())
            assert [one.words for one in ours] == [one.words for one in theirs]
            assert all(np.array_equal(a.codes, b.codes) for a, b in zip(ours, theirs, strict=True))
            assert [one.ordered for one in ours] == [one.ordered for one in theirs]
