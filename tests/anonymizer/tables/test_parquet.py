"""Parquet: columns of every type go through every command, and leave as what they were."""

from __future__ import annotations

import datetime as dt
import decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SPEC = """
[roles]
quasi_identifiers = ["age"]
sensitive = ["ill"]
[hierarchies]
age = { widths = [10, 50], lower = 0, upper = 100 }
[[steps]]
method = "local-recoding"
k = 5
"""
SEARCHED = SPEC.replace("k = 5", "k = { choices = [2, 5] }")
ROWS = 40

COLUMNS = {
    "whole with gaps": pa.array([2**53 + 1, None] * 20),
    "uint64": pa.array([2**64 - 1, None] * 20, pa.uint64()),
    "half": pa.array([1.5, None] * 20, pa.float16()),
    "endless": pa.array([float("inf"), float("-inf"), float("nan"), None, 1.5] * 8),
    "decimal": pa.array([decimal.Decimal("1.50"), None] * 20),
    "truth": pa.array([True, None] * 20),
    "date": pa.array([dt.date(2020, 1, 1), None] * 20),
    "zoned": pa.array([dt.datetime(2020, 1, 1), None] * 20, pa.timestamp("ns", "Europe/Berlin")),
    "time": pa.array([dt.time(1, 2), None] * 20),
    "duration": pa.array([dt.timedelta(1), None] * 20),
    "binary": pa.array([b"\xff\x00", None] * 20),
    "dictionary": pa.array(["a", None] * 20).dictionary_encode(),
    "list": pa.array([[1, None], None] * 20),
    "struct": pa.array([{"a": 1}, None] * 20),
    "map": pa.array([[("a", 1)], None] * 20, pa.map_(pa.string(), pa.int64())),
    "nothing": pa.nulls(ROWS),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_any_type_goes_through_all_commands(tmp_path, run, name):
    held = {"age": [20 + i for i in range(ROWS)], "ill": ["flu", "cold"] * 20, "odd": COLUMNS[name]}
    pq.write_table(pa.table(held), "data.parquet")
    (tmp_path / "s.toml").write_text(SPEC)
    (tmp_path / "search.toml").write_text(SEARCHED)
    run("anonymize data.parquet --spec s.toml -o out.parquet --report r.html")
    found = pq.read_table("out.parquet").column("odd").to_pylist()
    given = [None if cell != cell else cell for cell in COLUMNS[name].to_pylist()]
    assert sorted(map(repr, found)) == sorted(map(repr, given))
    run("risk data.parquet out.parquet --roles s.toml --attacks --seed 1")
    run("search data.parquet --spec search.toml --limit 1/2")


@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive"])
@pytest.mark.parametrize("name", ["list", "struct", "map", "binary", "endless"])
def test_odd_columns_with_a_role_end_in_an_error_or_a_release(tmp_path, capsys, monkeypatch, name, role):
    from parties.cli.main import main

    monkeypatch.chdir(tmp_path)
    held = {"age": [20 + i for i in range(ROWS)], "odd": COLUMNS[name]}
    pq.write_table(pa.table(held), "data.parquet")
    (tmp_path / "s.toml").write_text(
        SPEC.replace('["age"]', '["age", "odd"]').replace('sensitive = ["ill"]', "")
        if role == "quasi_identifiers"
        else SPEC.replace('"ill"', '"odd"')
    )
    with pytest.raises(SystemExit) as ended:
        main(["anonymize", "data.parquet", "--spec", "s.toml", "-o", "out.parquet"])
    assert ended.value.code in (0, 65, 78), capsys.readouterr()
    assert (tmp_path / "out.parquet").exists() == (ended.value.code == 0)
