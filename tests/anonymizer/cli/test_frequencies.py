"""Frequencies before deciding: counted right, rare ones marked, and for nobody else to read."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pandas as pd
import pytest

SPEC = """
[roles]
identifiers = ["name"]
quasi_identifiers = ["age", "city"]
sensitive = ["illness"]
[hierarchies]
age = { widths = [10, 40], lower = 0, upper = 120 }
city = { rows = [["Ulm", "S", "*"], ["Rom", "S", "*"], ["Oslo", "N", "*"]] }
[[steps]]
method = "local-recoding"
k = 4
"""
CITIES = ["Ulm"] * 10 + ["Rom"] * 3 + ["Oslo"] * 2


def table(cities=CITIES) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": [f"P{number}" for number in range(len(cities))],
            "age": [30 + number % 5 for number in range(len(cities))],
            "city": cities,
            "illness": [None if number == 3 else "flu" for number in range(len(cities))],
        }
    )


@pytest.fixture
def counted(run, tmp_path):
    table().to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "s.toml").write_text(SPEC)

    def called(words: str = "--spec s.toml"):
        return json.loads(run(f"anonymize frequencies data.csv {words} --json")[0])

    return called


def test_columns_with_a_role_are_counted_by_the_k_of_the_steps(counted):
    told = counted()
    assert told["k"] == 4
    assert [one["columns"] for one in told["frequencies"]] == [["age"], ["city"], ["illness"]]
    city = told["frequencies"][1]
    assert city["values"] == [
        {"cells": ["Ulm"], "rows": 10, "rare": False},
        {"cells": ["Rom"], "rows": 3, "rare": True},
        {"cells": ["Oslo"], "rows": 2, "rare": True},
    ]
    assert (city["rare"], city["rare_rows"]) == (2, 5)
    assert city["levels"] == [
        {"labels": 2, "rare": 1, "rare_rows": 2},
        {"labels": 1, "rare": 0, "rare_rows": 0},
    ]
    illness = told["frequencies"][2]
    assert illness["values"][1] == {"cells": [None], "rows": 1, "rare": True}
    assert counted("--spec s.toml -k 3")["frequencies"][1]["rare_rows"] == 2


def test_a_missing_cell_is_rare_at_every_level_if_few_miss_it(counted, tmp_path):
    table([*CITIES, None]).to_csv(tmp_path / "data.csv", index=False)
    city = counted()["frequencies"][1]
    assert city["levels"][-1] == {"labels": 2, "rare": 1, "rare_rows": 1}


def test_combinations_are_counted_together(counted):
    told = counted("--columns city,illness --columns age")
    assert told["k"] == 5
    first, second = told["frequencies"]
    assert first["columns"] == ["city", "illness"]
    own = table().groupby(["city", "illness"], dropna=False).size().sort_values(ascending=False)
    assert [one["rows"] for one in first["values"]] == own.tolist()
    assert first["levels"] == []
    assert second["columns"] == ["age"]
    assert len(counted("")["frequencies"]) == 4, "without roles all columns are counted"


def test_a_hierarchy_that_does_not_fit_is_said(counted, tmp_path):
    table([*CITIES, "Bonn"]).to_csv(tmp_path / "data.csv", index=False)
    city = counted()["frequencies"][1]
    assert "'Bonn'" in city["problem"]
    assert len(city["values"]) == 4


def test_people_read_the_commonest_and_the_rarest(run, counted, tmp_path):
    cities = [f"c{number:02}" for number in range(30) for _ in range(40 - number)] + ["\x1b[2J" + "ü" * 99]
    table(cities).to_csv(tmp_path / "data.csv", index=False)
    out, _ = run("anonymize frequencies data.csv --columns city --show 4")
    lines = out.splitlines()
    assert lines[0] == f"city: 31 values in {len(cities)} rows, 1 of fewer than 5 rows (1 rows)"
    assert lines[1:3] == ["       40  c00", "       39  c01"]
    assert lines[3] == "      ...  27 more between these"
    assert lines[4] == "       11  c29"
    assert lines[5].startswith("        1  rare   [2Jüü")
    assert len(lines[5]) == 80
    assert "\x1b" not in out


def test_nobody_else_may_read_the_file(run, counted):
    out, _ = run("anonymize frequencies data.csv --spec s.toml -o f.csv")
    assert stat.S_IMODE(Path("f.csv").stat().st_mode) == 0o600
    found = pd.read_csv("f.csv", keep_default_na=False)
    assert list(found.columns) == ["columns", "value", "rows", "rare"]
    assert found[found["columns"] == "city"].value.tolist() == ["Ulm", "Rom", "Oslo"]
    assert "Rom" not in out, "what is in the file is not printed as well"


@pytest.mark.parametrize(
    ("words", "status", "what"),
    [
        ("--columns cty", 65, "Did you mean 'city'?"),
        ("--columns city,city", 2, "names no column, or one twice"),
        ("--columns city,", 2, "names no column, or one twice"),
        ("-o none/f.csv", 65, "there is no folder none"),
        ("-k 0", 2, "-k"),
    ],
)
def test_what_is_wrong_is_said(run, counted, words, status, what):
    assert what in run(f"anonymize frequencies data.csv {words}", status=status)[1]
