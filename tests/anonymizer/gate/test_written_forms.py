"""Cells of all types are the same in CSV as they were read, however it writes them, wherever a gap stands."""

from __future__ import annotations

from datetime import time

import polars as pl
import pytest

ROWS = 60
SPEC = """\
[roles]
quasi_identifiers = ["age"]
sensitive = ["value"]
[hierarchies]
age = { widths = [3, 9], lower = 20, upper = 29 }
[[steps]]
method = "local-recoding"
k = 20
"""
CELLS = {
    "truths": [True, False, True, None],
    "times": [time(8, 30), time(9), None, None],
    "infinite": [float("inf"), 0.5, None],
    "negative zero": [-0.0, 0.5, float("inf")],
}


@pytest.mark.parametrize("name", CELLS)
def test_cells_that_stay_are_no_others(tmp_path, run, name):
    """The place of a gap was taken for that of the last value, and -0.0 for a form that CSV has not."""
    cells = CELLS[name]
    values = [cells[i % len(cells)] for i in range(ROWS)]
    pl.DataFrame({"age": [20 + i // 10 for i in range(ROWS)], "value": values}).write_parquet("data.parquet")
    (tmp_path / "s.toml").write_text(SPEC, encoding="utf-8")
    run("anonymize data.parquet --spec s.toml -o out.csv")
    assert len((tmp_path / "out.csv").read_text().splitlines()) == ROWS + 1
