"""Missing cells: refused, left out with their row, or replaced, and always reported."""

from __future__ import annotations

import pytest

from parties.catalog.loading.loading import load
from parties.catalog.sources import csvs
from parties.errors import ConfigError, DataError
from tests.parties.catalog.declared import NUMBER, TEXT, dataset

ROWS = "id,x,y,name\n1,5,7,Ann\n2,?,8,Bo\n3,6,,NA\n4, ,NA,Di\n5,9,9,\n"


@pytest.mark.parametrize("batch", [1, 2, 1 << 11])
def test_a_row_is_left_out_for_any_missing_column_of_the_job(tmp_path, monkeypatch, batch):
    monkeypatch.setattr(csvs, "ROWS", batch)
    number = NUMBER | {"missing": "drop", "missing_tokens": ["?", "NA"]}
    found = dataset(tmp_path, ROWS, {"x": number, "y": number, "name": TEXT | {"missing": "drop"}})
    loaded = load(found, ["x", "y", "name"])
    assert loaded.columns["x"].integers == [5]
    assert loaded.columns["y"].integers == [7]
    assert loaded.columns["name"].texts == ["Ann"]
    assert (loaded.rows, loaded.left_out) == (1, 4)
    assert loaded.numbers.tolist() == [1]
    assert loaded.dropped == {"x": 2, "y": 2, "name": 1}
    assert "4" in loaded.notes[0]
    assert "x (2), y (2), name (1)" in loaded.notes[0]
    only = load(found, ["x"])
    assert only.columns["x"].integers == [5, 6, 9]
    assert only.dropped == {"x": 2}
    assert only.numbers.tolist() == [1, 3, 5]


@pytest.mark.parametrize("batch", [1, 3, 1 << 11])
def test_imputed_values_are_held_and_counted_in_the_rows_that_stay(tmp_path, monkeypatch, batch):
    monkeypatch.setattr(csvs, "ROWS", batch)
    columns = {
        "x": NUMBER | {"impute": "40", "missing_tokens": ["?"]},
        "y": {
            "type": "decimal",
            "scale": 1,
            "lower": 0,
            "upper": 10,
            "impute": "0.5",
            "missing_tokens": ["NA"],
        },
        "name": TEXT | {"missing": "drop"},
    }
    loaded = load(dataset(tmp_path, ROWS, columns), list(columns))
    assert loaded.columns["x"].integers == [5, 40, 6, 40]
    assert loaded.columns["y"].integers == [70, 80, 5, 5]
    assert loaded.columns["name"].texts == ["Ann", "Bo", "NA", "Di"]
    assert loaded.numbers.tolist() == [1, 2, 3, 4]
    assert loaded.imputed == {"x": 2, "y": 2}
    assert "x (2), y (2)" in loaded.notes[1]
    columns["name"] = TEXT | {"impute": "nobody", "missing_tokens": ["NA"]}
    assert load(dataset(tmp_path, ROWS, columns), ["name"]).columns["name"].texts == [
        "Ann",
        "Bo",
        "nobody",
        "Di",
        "nobody",
    ]


def test_categories_and_dates_are_imputed_in_their_own_form(tmp_path):
    columns = {
        "c": {"type": "category", "values": ["a", "b"], "impute": "b"},
        "d": {"type": "date", "lower": "1970-01-01", "upper": "1970-12-31", "impute": "1970-01-03"},
    }
    loaded = load(dataset(tmp_path, "c,d\n,\na,1970-01-02\n", columns), ["c", "d"])
    assert loaded.columns["c"].integers == [1, 0]
    assert loaded.columns["d"].integers == [2, 1]


def test_nothing_missing_is_told_as_nothing(tmp_path):
    loaded = load(dataset(tmp_path, "x\n1\n", {"x": NUMBER | {"missing": "drop"}}), ["x"])
    assert loaded.notes == ()
    assert loaded.left_out == 0


def test_cells_of_rows_that_are_left_out_are_checked_too(tmp_path):
    columns = {"x": NUMBER | {"missing": "drop"}, "y": NUMBER}
    found = dataset(tmp_path, "x,y\n1,1\n,no\n", columns)
    with pytest.raises(DataError, match=r"row 2 \(line 3\).*'y' is not an integer"):
        load(found, ["x", "y"])


@pytest.mark.parametrize("cell", ["", "  ", "?"])
def test_missing_cells_are_errors_by_default(tmp_path, cell):
    found = dataset(tmp_path, f"x,y\n1,1\n{cell},1\n", {"x": NUMBER | {"missing_tokens": ["?"]}})
    with pytest.raises(DataError, match=r"row 2 \(line 3\).*'x' is empty"):
        load(found, ["x"])


@pytest.mark.parametrize(
    ("column", "part"),
    [
        (NUMBER | {"impute": "1001"}, "outside"),
        (NUMBER | {"impute": "x"}, "not an integer"),
        (NUMBER | {"impute": ""}, "not an integer"),
        (NUMBER | {"impute": 5}, "has to be text"),
        (NUMBER | {"impute": "5", "missing": "drop"}, "contradict each other"),
        (NUMBER | {"missing": "zero"}, "'zero'"),
        (NUMBER | {"missing_tokens": [" "]}, "blank"),
        ({"type": "category", "values": ["a", "?"], "missing_tokens": ["?"]}, "label"),
        ({"type": "category", "values": ["a"], "impute": "b"}, "labels"),
        ({"type": "share", "modulus": "2", "missing": "drop"}, "other half"),
        ({"type": "ciphertext", "impute": "ff"}, "other half"),
        (TEXT | {"maximum_length": 0}, "below 1"),
        (TEXT | {"maximum_length": 3, "impute": "long"}, "more than 3"),
        (NUMBER | {"maximum_length": 3}, "'maximum_length'"),
        (NUMBER | {"constant": "1001"}, "outside"),
        (NUMBER | {"constant": "5", "missing": "drop"}, "fills every cell"),
    ],
)
def test_wrong_declarations(tmp_path, column, part):
    with pytest.raises(ConfigError, match="column x") as caught:
        dataset(tmp_path, "x\n1\n", {"x": column})
    assert part in str(caught.value)


@pytest.mark.parametrize("field", ["key", "person"])
@pytest.mark.parametrize("rule", ["impute", "constant"])
def test_keys_and_persons_are_never_made_up(tmp_path, field, rule):
    with pytest.raises(ConfigError, match="come from the catalog"):
        dataset(tmp_path, "x\n1\n", {"x": NUMBER | {rule: "1"}}, **{field: "x"})


def test_constant_columns_are_not_in_the_source(tmp_path):
    site = {"type": "category", "values": ["north", "south"], "constant": "south"}
    columns = {"x": NUMBER | {"missing": "drop"}, "site": site, "name": TEXT | {"constant": "Ann"}}
    found = dataset(tmp_path, 'x\n1\n""\n3\n', columns)
    with pytest.raises(DataError, match="blank"):
        load(found, ["x"])
    found = dataset(tmp_path, "x,y\n1,\n,\n3,\n", columns)
    loaded = load(found, ["site", "x", "name"], bytes(16))
    assert loaded.columns["site"].array.tolist() == [1, 1]
    assert loaded.columns["name"].texts == ["Ann", "Ann"]
    assert loaded.identities is None
    assert load(found, ["site"]).columns["site"].integers == [1, 1, 1]
