"""What every method has to do, whatever it does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from anonymizer.errors import AnonymizerError, TableError
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.methods.contract.method import Method
from anonymizer.methods.registry import METHODS
from anonymizer.methods.synthesis.synthesis import Synthesis
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.manifest import Manifest
from anonymizer.risk.candidates import exactly
from anonymizer.risk.simulator import simulate_attack
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from tests.anonymizer.settings import SETTINGS

ROLES = Roles(identifiers=("name",), quasi_identifiers=("age", "city"), sensitive=("illness",))
CITIES = ("Kraków", "東京", "a;b", "Zürich")
SCHEMA = Schema(
    {
        "age": Column("integer", 0, 120),
        "city": Column("category", categories=CITIES),
        "illness": Column("category", categories=("cold", "flu", "none")),
    }
)
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
    """The rows of a release, or 0 and the words of a refusal that says how to fix it."""
    try:
        return len(call()), ""
    except AnonymizerError as error:
        return 0, error.what if error.hint else ""


METHOD = pytest.mark.parametrize("word", sorted(METHODS))
SYNTHETIC = sorted(word for word, method in METHODS.items() if issubclass(method, Synthesis))
OF_ROWS = pytest.mark.parametrize("word", sorted(set(METHODS) - set(SYNTHETIC)))
"""Methods whose rows are those of somebody."""
LIBRARY = pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])


def made(word: str):
    return METHODS[word](**SETTINGS.get(word, {}))


DECLARED = {"roles": ROLES, "hierarchies": HIERARCHIES, "schema": SCHEMA}


def released(method, frame, *, keep_index: bool = True):
    return method.fit_transform(frame, **DECLARED, keep_index=keep_index)


def table_of(frame) -> Table:
    return Table.of(frame, ROLES, HIERARCHIES, SCHEMA)


@OF_ROWS
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


@pytest.mark.parametrize("word", SYNTHETIC)
@LIBRARY
def test_synthetic_columns_have_the_declared_types(word, library):
    frame = library(people())
    before = frame.copy() if isinstance(frame, pd.DataFrame) else frame.clone()
    method = made(word)
    out = released(method, frame)
    assert type(out) is type(frame)
    assert list(out.columns) == ["age", "city", "illness"]
    assert out["age"].dtype == frame["age"].dtype
    assert out["city"].dtype == frame["city"].dtype
    assert set(out["city"]) <= set(CITIES)
    assert 0 <= out["age"].min() <= out["age"].max() <= 120
    assert method.origin_ is None
    if isinstance(frame, pd.DataFrame):
        pd.testing.assert_frame_equal(frame, before)
    else:
        assert frame.equals(before)


@METHOD
def test_an_index_that_may_hold_names_is_not_released_by_accident(word):
    frame = people()
    named = frame.set_index(pd.Index([f"patient {number}" for number in range(len(frame))], name="id"))
    for refused in (named, frame[frame["age"] > 20], frame.set_index("age", drop=False)):
        with pytest.raises(TableError, match="index"):
            released(made(word), refused, keep_index=False)
        with pytest.raises(TableError, match="index"):
            made(word).release(table_of(refused))
    if word in SYNTHETIC:
        assert released(made(word), named).index.tolist() == list(range(30))
        return
    method = made(word)
    kept = released(method, named)
    assert kept.index.tolist() == named.index[method.origin_].tolist()
    fresh = released(method, frame.reset_index(drop=True), keep_index=False)
    assert fresh.index.tolist() == list(range(len(fresh)))


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
    method = made(word).fit(people(), **DECLARED)
    frame = people(3)
    frame["city"] = ["Atlantis", "Kraków", "Kraków"]
    count, words = attempted(lambda: method.transform(frame))
    assert count or words


def looks_at(word: str) -> tuple[str, ...]:
    return made(word).columns_of(table_of(people()))


@pytest.mark.parametrize("word", [word for word in sorted(METHODS) if looks_at(word)])
def test_a_missing_column_is_named(word):
    method, column = made(word), looks_at(word)[0]
    with pytest.raises(AnonymizerError, match=f"'{column}'"):
        released(method, people().drop(columns=column))


@OF_ROWS
def test_the_simulator_reaches_what_was_released(word):
    method = made(word)
    frame = people()
    out = released(method, frame)
    for column in ROLES.quasi_identifiers:
        table = Table.of(frame)
        codes = table.codes(column)
        candidates = method.simulate(column, exactly(codes.values, numeric=table.is_numeric(column)))
        cells = Table.of(out).codes(column)
        high, low = candidates.holds(cells.values)
        assert (low | ~high).all()
        originals = codes.codes[method.origin_]
        assert low[originals, cells.codes].all()


class Marginals(Method):
    """A synthetic table: every cell is drawn from its column, and no row is of anybody."""

    name = "marginals"

    def _fit(self, table):
        self.columns_ = {name: table.codes(name).values for name in table.names}

    def _transform(self, table):
        random = Randomness()
        drawn = {n: v[random.integers(len(v), 2 * len(table))] for n, v in self.columns_.items()}
        return Table.of(pd.DataFrame(drawn), table.roles, table.hierarchies, table.schema)


def everyone() -> Table:
    return table_of(people().reset_index(drop=True))


def kind_of(method: Method) -> str:
    """What becomes of rows, by what the method says of itself."""
    table = everyone()
    method.fit_transform_table(table)
    if method.origin_ is None:
        return "synthetic"
    return "several outputs" if method.extra_ else "rows kept" if method.keeps_rows else "rows lost"


ALL = [*sorted(METHODS), "marginals"]
KIND = pytest.mark.parametrize("word", ALL)


def any_made(word: str) -> Method:
    return Marginals() if word == "marginals" else made(word)


def test_there_are_methods_of_every_kind():
    kinds = {kind_of(any_made(word)) for word in ALL}
    assert kinds == {"rows kept", "rows lost", "several outputs", "synthetic"}


@KIND
def test_a_release_is_what_its_kind_says(word):
    method = any_made(word)
    original = everyone()
    release = method.release(original)
    assert release.manifest.rows == len(release) == len(release.table)
    assert Manifest.from_json(release.manifest.to_json()) == release.manifest
    kind = kind_of(method)
    if kind == "synthetic":
        assert release.origin is None
        assert set(release.changed) == set(original.names)
        assert Pipeline(steps=[("one", method)]).release(original).origin is None
        with pytest.raises(AnonymizerError):
            simulate_attack(original, method.fit_transform_table(original), method)
        return
    assert len(set(release.origin.tolist())) == len(release)
    assert (release.origin >= 0).all()
    assert (release.origin < len(original)).all()
    if kind != "rows lost":
        assert sorted(release.origin.tolist()) == list(range(len(original)))
    for table in release.extra.values():
        assert len(table)
        assert not set(table.names) & set(ROLES.identifiers)
    for name in release.table.names:
        if name in original.names and name not in release.changed:
            got, gave = (one.codes(name) for one in (release.table, original))
            texts = [str(gave.values[i]) if i >= 0 else "" for i in gave.codes[release.origin]]
            assert [str(got.values[i]) if i >= 0 else "" for i in got.codes] == texts


@KIND
def test_what_a_method_says_of_itself_is_so(word):
    method = any_made(word)
    original = everyone()
    first = method.fit_transform_table(original)
    if not method.random:
        again = any_made(word).fit_transform_table(original)
        assert first.native.equals(again.native)
    if method.keeps_rows:
        assert len(first) == len(original)
    if method.keeps_classes:
        for name in set(first.names) & set(original.names):
            before, after = original.codes(name).codes[method.origin_], first.codes(name).codes
            assert len(set(zip(before.tolist(), after.tolist(), strict=True))) == len(set(before.tolist()))
    if method.works_by_rows:
        alone = [method.transform_table(original.taken(np.array([row]))) for row in range(len(original))]
        kept = [one.native for one in alone if len(one)]
        assert pd.concat(kept).astype(str).equals(first.native.astype(str))


@KIND
def test_the_classes_that_are_promised_are_there(word):
    method = any_made(word)
    release = method.release(everyone())
    for one in release.guarantees:
        if one.kind == "k-anonymity":
            sizes = release.native.groupby(list(one.columns)).size()
            assert sizes.min() >= one.number("k") >= 2
    if method.makes_classes:
        assert release.guarantees
