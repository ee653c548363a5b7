"""Declared columns: what fits, what is refused, and that nothing is lost on the way through a file."""

from __future__ import annotations

import tomllib

import pandas as pd
import pytest

from anonymizer.errors import SpecError
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.table import Table

TEXT = """
age = { type = "integer", bounds = [0, 120], unit = "years" }
pay = { type = "float", bounds = [0.0, 5.5], step = 0.5, missing = "impute" }
pain = { type = "category", categories = ["low", "medium", "high"], ordered = true, missing = "value" }
born = { type = "date" }
note = {}
"""


def test_columns_are_read_and_written_again():
    found = Schema.from_mapping(tomllib.loads(TEXT))
    assert found["age"] == Column("integer", 0, 120, unit="years")
    assert (found["age"].grid, found["pay"].grid, found["born"].grid) == (1.0, 0.5, None)
    assert found["pain"].categories == ("low", "medium", "high")
    assert found.of("other") == found["note"] == Column()
    assert Schema.from_mapping(found.to_mapping()) == found
    assert list(found.among(["born", "age"])) == ["age", "born"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"type": "intger"}, ("'intger'", "'integer'")),
        ({"typ": "integer"}, ("'typ'", "'type'")),
        ({"type": "integer", "bounds": [0]}, ("bounds",)),
        ({"type": "integer", "bounds": [5, 5]}, ("[5, 5]", "are empty")),
        ({"type": "integer", "bounds": [0.5, 9]}, ("0.5", "whole")),
        ({"type": "integer", "bounds": [0, 9e18]}, ("upper = 9e+18", "2**53")),
        ({"type": "float", "bounds": [0, float("inf")]}, ("bounds",)),
        ({"type": "float", "bounds": [0, 1], "step": 1e-300}, ("step", "small")),
        ({"type": "float", "step": 0}, ("step", "positive")),
        ({"type": "text", "bounds": [0, 1]}, ("for numbers",)),
        ({"type": "category", "categories": ["a", "a"]}, ("different",)),
        ({"type": "category", "ordered": True}, ("order", "categories")),
        ({"type": "integer", "categories": ["1"]}, ("'integer'",)),
        ({"ordered": 1}, ("ordered",)),
        ({"missing": "skip"}, ("'skip'",)),
        ("integer", ("not a table",)),
    ],
)
def test_what_is_impossible_is_named_with_its_column(entry, words):
    with pytest.raises(SpecError) as caught:
        Schema.from_mapping({"age": entry}, "columns")
    assert caught.value.hint
    for word in ("'age'", *words):
        assert word in str(caught.value)


def test_a_declared_column_that_is_not_there_is_named():
    with pytest.raises(SpecError, match=r"'agee'.*'age'"):
        Table.of(pd.DataFrame({"age": [1]}), schema=Schema({"agee": Column("integer")}))


def test_a_table_keeps_what_is_declared():
    table = Table.of(pd.DataFrame({"age": [1], "pay": [2.0]}), schema=Schema({"age": Column("integer")}))
    assert table.schema.of("age").kind == "integer"
    assert table.take([0]).schema == table.schema
    assert not table.without(("age",)).schema
