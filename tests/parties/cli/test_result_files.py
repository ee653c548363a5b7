"""The CSV files of a result: one for each table, however alike the tables are called."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from parties.cli.results import write_csv
from parties.client.result import Result
from parties.client.spreadsheet import file_names

JOB = "0123456789abcdef"


def result(tables: dict[str, dict[str, list[int]]]) -> Result:
    return Result(JOB, tables, (), {}, {}, {})


@pytest.mark.parametrize(
    "names",
    [
        ("mean of a/b", "mean of a b", "mean of a_b"),
        ("a", "A"),
        ("a_b", "a b", "a", "a_b.2", "a_b_2"),
        ("ä", "ö", "_"),
        ("x", "x.2", "x 2", "x_2"),
        ("n" * 150 + "1", "n" * 150 + "2"),
        ("..", "/", "../up"),
        ("",),
    ],
)
def test_no_table_overwrites_another(names: tuple[str, ...], tmp_path: Path) -> None:
    tables = {name: {"table": [number]} for number, name in enumerate(names)}
    paths = write_csv(result(tables), tmp_path / "tables")
    assert len({path.name.lower() for path in paths}) == len(names) == len([*(tmp_path / "tables").iterdir()])
    assert [path.read_text().split() for path in paths] == [["table", str(n)] for n in range(len(names))]
    assert all(path.parent == tmp_path / "tables" for path in paths)


def test_columns_that_are_called_alike_in_a_spreadsheet_stay_columns(tmp_path: Path) -> None:
    columns = {"=a": [1], "'=a": [2], "a,b": [3], 'a"b': [4], "a\nb": [5]}
    (path,) = write_csv(result({"t": columns}), tmp_path)
    with path.open(newline="") as file:
        heads, cells = csv.reader(file)
    assert (len(heads), cells) == (5, ["1", "2", "3", "4", "5"])


def test_a_name_that_is_alone_is_left_as_it_is() -> None:
    assert file_names(["sum", "summary", "sum of x", "su"]) == ["sum", "summary", "sum_of_x", "su"]


def test_one_cell_that_looks_like_a_formula_does_not_change_the_others(tmp_path: Path) -> None:
    cells = ["a", "=1+1", "-1.5", "", "b"]
    columns = {"texts": cells, "numbers": [1, None, -2.5, 3, 4], "plain": ["a", "b", "1", "", "c"]}
    (path,) = write_csv(result({"t": columns}), tmp_path)
    with path.open(newline="") as file:
        rows = [*csv.reader(file)][1:]
    assert [row[0] for row in rows] == ["a", "'=1+1", "-1.5", "", "b"]
    assert [row[1] for row in rows] == ["1", "", "-2.5", "3", "4"]
    assert [row[2] for row in rows] == columns["plain"]
