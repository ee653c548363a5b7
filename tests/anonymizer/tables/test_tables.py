"""Frames of pandas and Polars go in and come out as they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from anonymizer.errors import RoleError, TableError
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from commons.tabular.dialect import Dialect

FRAME = pd.DataFrame(
    {
        "age": [30, 31, 30],
        "city": ["a", None, "é"],
        "born": pd.to_datetime(["2020-01-01", "2021-01-01", "2020-01-01"]),
        "kind": pd.Categorical(["x", "y", "x"]),
        "height": [1.5, np.nan, 2.0],
    },
    index=[5, 7, 9],
)


@pytest.fixture(params=["pandas", "polars"])
def frame(request):
    return FRAME if request.param == "pandas" else pl.from_pandas(FRAME)


def test_untouched_columns_keep_their_types_and_rows_their_order(frame):
    table = Table.of(frame, Roles(quasi_identifiers=("age",)))
    taken = table.replace({"age": ["[30-31]"] * 3}).take(np.array([2, 0]))
    out = taken.native
    assert type(out) is type(frame)
    assert list(out.columns) == list(frame.columns)
    assert taken.origin.tolist() == [2, 0]
    for name in ("city", "born", "kind", "height"):
        if name == "kind" and isinstance(frame, pd.DataFrame):
            assert list(out[name].cat.categories) == ["x"], "those of rows that are gone are forgotten"
        else:
            assert out[name].dtype == frame[name].dtype
    if isinstance(out, pd.DataFrame):
        assert out.index.tolist() == [9, 5]
        assert out["age"].tolist() == ["[30-31]"] * 2


def test_codes_are_sorted_and_missing_cells_are_marked(frame):
    table = Table.of(frame)
    codes = table.codes("city")
    assert codes.values.tolist() == ["a", "é"]
    assert codes.codes.tolist() == [0, -1, 1]
    assert table.codes("age").values.tolist() == [30, 31]
    assert table.codes("height").codes.tolist() == [0, -1, 1]
    assert table.codes("kind").values.tolist() == ["x", "y"]
    with pytest.raises(TableError, match="'city' has 1 missing cells, the first in row 2"):
        table.complete(("age", "city"))


def test_what_is_known_of_a_column_stays_known_until_it_changes(frame):
    table = Table.of(frame)
    city, age = table.codes("city"), table.codes("age")
    made = table.replace({"age": [1, 2, 3]})
    assert made.codes("city") is city, "it is not read again"
    assert made.codes("age").values.tolist() == [1, 2, 3]
    assert table.codes("age") is age
    assert table.without(("age",)).codes("city") is city
    assert table.permuted({"age": np.array([1, 0, 2])}).codes("age").values[0] == 30
    assert made.take(np.array([2, 1])).codes("city").codes.tolist() == [0, -1]
    assert table.replace({}) is table.without(()) is table


def test_a_column_that_is_declared_otherwise_is_read_anew():
    table = Table.of(pl.DataFrame({"level": ["2", "10"]}), numbers_in={"level": "integer"}, dialect=Dialect())
    assert table.codes("level").values.tolist() == [2, 10]
    schema = Schema({"level": Column("category", categories=("10", "2"))})
    declared = table.declare(Roles(), schema=schema)
    assert declared.codes("level").values.tolist() == ["10", "2"]
    assert table.codes("level").values.tolist() == [2, 10]


def test_what_is_made_of_a_column_is_made_once():
    table, asked = Table.of(FRAME), []

    def longest(one, name):
        asked.append(name)
        return max(map(len, map(str, one.series(name).to_list())))

    assert [table.compute(longest, "age"), table.replace({"city": ["b"] * 3}).compute(longest, "age")] == [
        2,
        2,
    ]
    assert asked == ["age"]
    assert table.replace({"age": [100] * 3}).compute(longest, "age") == 3


def test_roles_name_what_is_there():
    with pytest.raises(RoleError, match=r"no column 'agee'.*Did you mean 'age'"):
        Table.of(FRAME, Roles(quasi_identifiers=("agee",)))
    with pytest.raises(RoleError, match="two roles"):
        Roles(identifiers=("age",), sensitive=("age",))
    with pytest.raises(RoleError, match="unknown role 'quasi'"):
        Roles.from_mapping({"quasi": ["age"]})
    with pytest.raises(RoleError, match="not a list"):
        Roles.from_mapping({"sensitive": "age"})


def test_what_is_no_table_is_refused():
    with pytest.raises(TableError, match="list is not a table"):
        Table.of([1, 2])


def test_randomness_repeats_with_a_seed_only():
    first, second = (Randomness(7).words(5).tolist() for _ in range(2))
    assert first == second != Randomness(8).words(5).tolist()
    assert Randomness().words(5).tolist() != Randomness().words(5).tolist()
    drawn = Randomness(3)
    assert sorted(drawn.permutation(50).tolist()) == list(range(50))
    uniform = drawn.uniform(10000)
    assert 0 < uniform.min() < uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.02
    assert abs(drawn.normal(10000).std() - 1) < 0.05
    assert abs(np.abs(drawn.laplace(10000)).mean() - 1) < 0.06
