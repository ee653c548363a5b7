"""Conditions on rows: what a list of them means, and what is refused."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from smc.analyses.records.conditions import columns_of, parse_where
from smc.analyses.records.held_conditions import rows_meeting
from smc.analyses.studies.columns import DAYS, Schema
from smc.errors import UsageError

SCHEMAS = {
    "age": Schema("integer", lower=0, upper=120),
    "weight": Schema("decimal", scale=1, lower=0, upper=2500),
    "group": Schema("category", categories=("A", "B", "AB", "0")),
    "born": Schema("integer", unit=DAYS),
    "name": Schema("text"),
}
COLUMNS = {
    "age": np.array([17, 18, 64, 65, 90]),
    "weight": np.array([500, 1204, 1205, 1206, 0]),
    "group": np.array([0, 1, 2, 3, 0]),
    "born": np.array([-1, 0, 1, 7305, -7306]),
}


def parsed(text):
    return parse_where(tomllib.loads(f"where = [{text}]")["where"], "where")


def rows(text):
    bound = tuple(part.bind(SCHEMAS, "Query") for part in parsed(text))
    assert hash(bound) is not None
    return np.flatnonzero(rows_meeting(bound, COLUMNS, 5)).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{ column = "age", at_least = 18 }', [1, 2, 3, 4]),
        ('{ column = "age", above = 18, below = 65 }', [2]),
        ('{ column = "age", at_most = "18" }', [0, 1]),
        ('{ column = "age", below = 18 }', [0]),
        ('{ column = "age", equals = 64 }', [2]),
        ('{ column = "age", not_equals = 64 }', [0, 1, 3, 4]),
        ('{ column = "age", in = [17, 90, 3] }', [0, 4]),
        ('{ column = "age", not_in = [17, 90] }', [1, 2, 3]),
        ('{ column = "weight", above = "120.5" }', [3]),
        ('{ column = "weight", at_least = "120.5" }', [2, 3]),
        ('{ column = "weight", below = 50 }', [4]),
        ('{ column = "group", equals = "A" }', [0, 4]),
        ('{ column = "group", in = ["B", "0"] }', [1, 3]),
        ('{ column = "group", not_in = ["B", "0"] }', [0, 2, 4]),
        ('{ column = "born", at_least = "1970-01-01" }', [1, 2, 3]),
        ('{ column = "born", below = "1950-01-01" }', [4]),
        ('{ column = "age", at_least = 18 }, { column = "group", equals = "A" }', [4]),
        ('{ any = [{ column = "age", below = 18 }, { column = "group", equals = "0" }] }', [0, 3]),
        (
            '{ any = [{ column = "age", above = 20, below = 70 }, { all = ['
            '{ column = "age", equals = 17 }, { column = "group", equals = "B" }] }] }',
            [2, 3],
        ),
        ('{ all = [{ column = "age", above = 17 }, { column = "age", below = 65 }] }', [1, 2]),
    ],
)
def test_rows_are_those_that_meet_all(text, expected):
    assert rows(text) == expected


def test_conditions_read_as_words():
    text = (
        '{ column = "age", at_least = 18, below = 65 }, '
        '{ any = [{ column = "group", not_in = ["A", "B"] }, { column = "weight", above = "0.5" }] }'
    )
    found = parsed(text)
    assert [str(each) for each in found] == ["age < 65", "age >= 18", "(group not in (A, B) or weight > 0.5)"]
    assert columns_of(found) == ("age", "group", "weight")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "where is not a list of conditions"),
        ("3", r"where\[0\] is not a condition"),
        ('{ column = "age" }', "compares with nothing"),
        ("{ above = 3 }", "column is missing"),
        ('{ column = "age", abve = 3 }', "unknown key 'abve'"),
        ('{ column = "age", above = 3.5 }', "a float"),
        ('{ column = "age", above = true }', "not a text or a whole number"),
        ('{ column = "age", above = 1990-12-31 }', "not a text or a whole number"),
        ('{ column = "age", in = 3 }', "not a list of 1 to 1000 values"),
        ('{ column = "age", in = [] }', "not a list of 1 to 1000 values"),
        ("{ any = [] }", r"where\[0\].any is not a list"),
        ('{ any = [{ column = "age", above = 3 }], column = "age" }', "unknown key 'column'"),
        (f"{'{ any = [' * 5}{{ column = 'age', above = 3 }}{'] }' * 5}", "nested deeper"),
        ('{ column = "age", above = 3 },' * 101, "more than 100 entries"),
        ('{ column = "age", above = 3, below = 9 },' * 60, "more than 100 comparisons"),
    ],
)
def test_what_is_not_a_condition_is_named(text, words):
    with pytest.raises(UsageError, match=words) as caught:
        parsed(text)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{ column = "size", above = 3 }', "'size', which is not a column"),
        ('{ column = "name", equals = "x" }', "declared text"),
        ('{ column = "group", above = "A" }', "compares the labels"),
        ('{ column = "group", equals = "C" }', "'C' is not a label"),
        ('{ column = "group", equals = 0 }', "0 is not a label"),
        ('{ column = "age", above = "old" }', "not an exact number"),
        ('{ column = "age", above = "0.5" }', "more decimals"),
        ('{ column = "born", above = "31.12.1990" }', "not a date"),
        ('{ column = "age", above = "1990-12-31" }', "not an exact number"),
    ],
)
def test_constants_have_to_fit_the_declaration(text, words):
    (condition,) = parsed(text)
    with pytest.raises(UsageError, match=words) as caught:
        condition.bind(SCHEMAS, "Query 'x'")
    assert caught.value.hint
