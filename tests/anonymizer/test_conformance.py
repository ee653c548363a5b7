"""What every method has to do, whatever it does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from anonymizer.errors import AnonymizerError
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.models.registry import METHODS
from anonymizer.risk.candidates import exactly
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from tests.anonymizer.settings import SETTINGS

ROLES = Roles(identifiers=("name",), quasi_identifiers=("age", "city"), sensitive=("illness",))
CITIES = ("Kraków", "東京", "a;b", "Zürich")
HIERARCHIES = {
    "age": IntervalHierarchy.of_widths(0, 120, [10, 40]),
    "city": ValueHierarchy([[city, "east" if i < 2 else "west", ANY] for i, city in enumerate(CITIES)]),
}


def people(rows: int = 40) -> pd.DataFrame:
    number = np.arange(rows)
    return pd.DataFrame(
        {
            "name": [f"person {i} é" for i in number],
            "age": 20 + (number * 7) % 50,
            "city": [CITIES[i % len(CITIES)] for i in number],
            "illness": [("flu", "cold", "none")[i % 3] for i in number],
            "visit": pd.to_datetime("2020-01-01") + pd.to_timedelta(number, unit="D"),
            "weight": np.where(number % 9 == 4, np.nan, 50.5 + number),
        },
        index=1000 + 3 * number,
    )


def attempted(call) -> tuple[int, str]:
    """The rows of a release, or 0 and the words of a refusal that says how to mend it."""
    try:
        return len(call()), ""
    except AnonymizerError as error:
        return 0, error.what if error.mend else ""


METHOD = pytest.mark.parametrize("word", sorted(METHODS))
LIBRARY = pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])


def made(word: str):
    return METHODS[word](**SETTINGS.get(word, {}))


def released(method, frame, **changes):
    return method.fit_transform(frame, **{"roles": ROLES, "hierarchies": HIERARCHIES} | changes)


@METHOD
@LIBRARY
def test_rows_columns_and_types_that_are_not_meant_stay(word, library):
    frame = library(people())
    before = frame.copy() if isinstance(frame, pd.DataFrame) else frame.clone()
    method = made(word)
    out = released(method, frame)
    assert type(out) is type(frame)
    assert [name for name in out.columns if name in frame.columns] == [
        name for name in frame.columns if name in out.columns
    ]
    assert len(method.origin_) == len(out)
    for column in ("visit", "weight"):
        assert out[column].dtype == frame[column].dtype
        got, gave = (list(values[column]) for values in (out, frame))
        assert [str(x) for x in got] == [str(gave[i]) for i in method.origin_]
    if isinstance(frame, pd.DataFrame):
        assert out.index.tolist() == frame.index[method.origin_].tolist()
        pd.testing.assert_frame_equal(frame, before)
    else:
        assert frame.equals(before)


@METHOD
def test_clones_have_the_same_parameters_and_nothing_learned(word):
    method = made(word)
    released(method, people())
    copy = clone(method)
    assert copy.get_params() == method.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(people())
    copy.set_params(**method.get_params())


@pytest.mark.parametrize(
    "word", [word for word in sorted(METHODS) if "random_state" in METHODS[word]().get_params()]
)
def test_the_same_seed_gives_the_same_release(word):
    first, second = (released(made(word).set_params(random_state=5), people()) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


@METHOD
@LIBRARY
def test_an_empty_table_is_an_error(word, library):
    with pytest.raises(AnonymizerError, match="no rows"):
        released(made(word), library(people(1)).head(0))


@METHOD
@pytest.mark.parametrize("rows", [1, 2])
def test_few_rows_are_released_or_refused_in_words(word, rows):
    count, words = attempted(lambda: released(made(word), people(rows)))
    assert 1 <= count <= rows or words


@METHOD
def test_constant_columns_are_no_trouble(word):
    frame = people()
    frame["age"] = 33
    frame["city"] = CITIES[0]
    assert 1 <= len(released(made(word), frame)) <= len(frame)


@METHOD
@LIBRARY
def test_gaps_in_quasi_identifiers_are_handled_or_named(word, library):
    frame = people()
    frame.loc[1003, "city"] = None
    count, words = attempted(lambda: released(made(word), library(frame)))
    assert count or "'city'" in words


@METHOD
def test_values_not_seen_before_are_handled_or_named(word):
    method = made(word).fit(people(), roles=ROLES, hierarchies=HIERARCHIES)
    frame = people(3)
    frame["city"] = ["Atlantis", "Kraków", "Kraków"]
    count, words = attempted(lambda: method.transform(frame))
    assert count or words


def looks_at(word: str) -> tuple[str, ...]:
    return made(word).columns_of(Table.of(people(), ROLES, HIERARCHIES))


@pytest.mark.parametrize("word", [word for word in sorted(METHODS) if looks_at(word)])
def test_a_missing_column_is_named(word):
    method, column = made(word), looks_at(word)[0]
    with pytest.raises(AnonymizerError, match=f"'{column}'"):
        released(method, people().drop(columns=column))


@METHOD
def test_the_simulator_reaches_what_was_released(word):
    method = made(word)
    frame = people()
    out = released(method, frame)
    for column in ROLES.quasi_identifiers:
        table = Table.of(frame)
        codes = table.codes(column)
        sets = method.spread(column, exactly(codes.values, numeric=table.is_numeric(column)))
        cells = Table.of(out).codes(column)
        high, low = sets.holds(cells.values)
        assert (low | ~high).all()
        originals = codes.codes[method.origin_]
        assert low[originals, cells.codes].all()
