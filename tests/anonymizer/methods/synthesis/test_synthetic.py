"""Synthetic tables: domains, budget, what is measured, what is fitted, and what is refused."""

from __future__ import annotations

import math
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from anonymizer.errors import AnonymizerError, SpecError, TableError
from anonymizer.gate.gate import Gate
from anonymizer.methods.registry import METHODS
from anonymizer.methods.synthesis.synthesizers import (
    SynthAim,
    SynthHistogram,
    SynthIndependent,
    SynthMst,
    SynthPrivBayes,
)
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.manifest import Manifest
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables import files
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from tests.support.grids import crossed

ROLES = Roles(identifiers=("name",), quasi_identifiers=("age", "town"), sensitive=("ill",))
SCHEMA = Schema(
    {
        "age": Column("integer", 0, 100),
        "town": Column("category", categories=("a", "b", "c")),
        "ill": Column("boolean"),
        "weight": Column("float", 0, 200, step=0.5, missing="value"),
    }
)
WORDS = sorted(word for word in METHODS if word.startswith("synth-"))
QUICK = [word for word in WORDS if word not in ("synth-aim", "synth-mst")]


def people(rows=2000, seed=1) -> pd.DataFrame:
    r = Randomness(seed)
    age = 20 + r.integers(60, rows)
    weight = np.round(60 + age / 4 + 10 * r.normal(rows)) / 2
    return pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": age,
            "town": np.where(age < 40, "a", np.array(["b", "c"])[r.integers(2, rows)]),
            "ill": r.uniform(rows) < age / 100,
            "weight": np.where(r.uniform(rows) < 0.1, np.nan, weight),
        }
    )


def table(rows=2000, seed=1, library=pd.DataFrame, schema=SCHEMA) -> Table:
    return Table.of(library(people(rows, seed)), ROLES, {}, schema)


# methods


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("word", QUICK)
def test_a_release_says_what_it_is(word, library, tmp_path):
    schema = Schema({**SCHEMA, "weight": Column("float", 0, 200, step=0.5, missing="value")})
    original = table(library=library, schema=schema)
    pipeline = Pipeline(steps=[("one", METHODS[word](epsilon=2.0, bins=8))])
    release = pipeline.release(original)
    assert release.is_synthetic
    (promised,) = release.guarantees
    assert (promised.kind, promised.unit, promised.neighbours) == ("dp", "record", "add-remove")
    assert promised.columns == ("age", "town", "ill", "weight")
    assert promised.number("epsilon") == pytest.approx(2.0, rel=1e-6)
    assert release.manifest.epsilon == promised.number("epsilon") <= 2.0
    assert set(release.manifest.discretisation) == set(promised.columns)
    assert not release.manifest.seeded
    assert abs(len(release) - 2000) < 200
    passed = Gate().write(release, tmp_path / "out.csv")
    read = Manifest.from_json((tmp_path / "out.csv.manifest.json").read_text())
    assert read == passed.manifest
    assert read.discretisation["town"] == {"categories": ["a", "b", "c"], "missing": False}
    back = files.read(tmp_path / "out.csv")
    assert list(back.columns) == ["age", "town", "ill", "weight"]
    assert back["weight"].isna().any() if library is pd.DataFrame else True


def test_the_number_of_rows_is_measured_or_given():
    sizes = {len(SynthIndependent(epsilon=0.5).fit_transform_table(table(500))) for _ in range(8)}
    assert len(sizes) > 1
    method = SynthIndependent(rows=77)
    assert len(method.fit_transform_table(table(500))) == 77
    (one,) = method.guarantees(table(500))
    assert "was given" in one.condition


def test_a_seed_is_for_trials_and_promises_nothing():
    method = SynthHistogram(columns=("town", "ill"), random_state=3)
    first, second = (method.release(table(300)) for _ in range(2))
    pd.testing.assert_frame_equal(first.native, second.native)
    assert first.manifest.seeded
    assert not first.guarantees
    assert first.manifest.epsilon is None
    assert "for trials" in " ".join(first.notes)
    other = SynthHistogram(columns=("town", "ill"), random_state=4).release(table(300))
    assert not first.native.equals(other.native)


def test_what_is_drawn_depends_on_nothing_but_what_was_learned():
    method = SynthIndependent(rows=50, random_state=1)
    method.fit_table(table(400))
    one, two = (method.transform_table(table(rows, seed=9)) for rows in (30, 600))
    pd.testing.assert_frame_equal(one.native, two.native)


def test_an_earlier_step_that_mixes_rows_takes_the_promise_away():
    original = table(300)
    pipeline = Pipeline(
        steps=[("swap", METHODS["swapping"](columns=("age",))), ("synth", SynthIndependent())]
    )
    release = pipeline.release(original)
    assert not [one for one in release.guarantees if one.kind == "dp"]
    assert release.manifest.epsilon is None
    assert "dp" in " ".join(release.notes)


class Copying(SynthIndependent):
    """Says that it is synthetic and releases cells that nobody has declared."""

    def _transform(self, source):
        frame = people(40).drop(columns="name").assign(**self.cells)
        return Table.of(frame, ROLES.among(frame.columns), {}, SCHEMA.among(frame.columns))


@pytest.mark.parametrize(
    ("cells", "rule"),
    [
        ({"age": 400}, "type"),
        ({"town": "Ulm"}, "type"),
        ({"age": 30.5}, "type"),
        ({"town": [f"person {i}" for i in range(40)]}, "disguise"),
        ({"note": 1}, "new-column"),
        ({"name": "x"}, "identifier"),
    ],
)
def test_the_gate_refuses_synthetic_cells_that_were_not_declared(cells, rule, tmp_path):
    method = Copying()
    method.cells = cells
    with pytest.raises(AnonymizerError) as refused:
        Gate().write(method.release(table(40)), tmp_path / "out.csv")
    assert rule in {one["rule"] for one in refused.value.findings}
    assert not list(tmp_path.iterdir())


# what is refused


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, 1e9, 1e-9])
@pytest.mark.parametrize("word", WORDS)
def test_an_absurd_epsilon_is_refused(word, epsilon):
    with pytest.raises(SpecError, match="epsilon"):
        METHODS[word](epsilon=epsilon).fit_transform_table(table(20))


def refused(word, frame, schema=SCHEMA, **parameters) -> str:
    with pytest.raises(AnonymizerError) as error:
        METHODS[word](**parameters).fit_transform_table(Table.of(frame, ROLES, {}, schema))
    assert error.value.hint
    return str(error.value)


@pytest.mark.parametrize("word", WORDS)
def test_what_does_not_fit_is_named(word):
    frame = people(60)
    without = Schema({name: column for name, column in SCHEMA.items() if name != "town"})
    assert "'town' has no declared categories" in refused(word, frame, without)
    endless = Schema({**SCHEMA, "age": Column("integer")})
    assert "'age' has no bounds" in refused(word, frame, endless)
    assert "'Ulm' in row 1" in refused(word, frame.assign(town="Ulm"))
    gaps = Schema({**SCHEMA, "weight": Column("float", 0, 200)})
    assert "'weight' has" in refused(word, frame, gaps)
    assert "too few" in refused(word, people(9))
    assert "no rows" in refused(word, people(9).head(0))
    assert "identifier" in refused(word, frame, columns=("name",))
    assert "named twice" in refused(word, frame, columns=("age", "age"))
    assert "'aeg'" in refused(word, frame, columns=("aeg",))
    assert "cuts for 'ill'" in refused(word, frame, columns=("age",), cuts={"ill": (1.0,)})
    assert "bins is 0" in refused(word, frame, bins=0)
    assert "rows is 0" in refused(word, frame, rows=0)
    assert "delta" in refused(word, frame, delta=0.5)


def test_methods_that_need_delta_say_so():
    for method in (SynthMst, SynthAim):
        with pytest.raises(TableError, match="delta is 0"):
            method(delta=0.0).check()
    with pytest.raises(TableError, match="iterations"):
        SynthMst(iterations=1).check()
    with pytest.raises(TableError, match="rounds"):
        SynthAim(rounds=0).check()
    with pytest.raises(TableError, match="degree"):
        SynthPrivBayes(degree=0).check()


def wide_table():
    wide = Schema({f"x{i}": Column("integer", 0, 10**6) for i in range(3)})
    return Table.of(pd.DataFrame({name: np.arange(20) for name in wide}), Roles(), {}, wide)


def test_domains_too_large_for_memory_are_named():
    with pytest.raises(TableError, match=r"1e\+12 cells together.*'?x0"):
        SynthHistogram(bins=10_000).fit_transform_table(wide_table())


@pytest.mark.parametrize(
    "method",
    [SynthPrivBayes(bins=3_000, epsilon=0.1), pytest.param(SynthMst(bins=10_000), marks=pytest.mark.slow)],
    ids=["privbayes", "mst"],
)
def test_where_few_cells_can_be_told_from_noise_many_do_no_harm(method):
    assert len(method.set_params(rows=25).fit_transform_table(wide_table())) == 25


@pytest.mark.parametrize(("word", "delta"), crossed(QUICK, [0.0, 1e-6]))
def test_constant_and_single_columns_are_no_trouble(word, delta):
    frame = people(50).assign(age=33, town="a", ill=True, weight=50.0)
    method = METHODS[word](epsilon=100.0, delta=delta, bins=10)
    out = method.fit_transform_table(Table.of(frame, ROLES, {}, SCHEMA))
    assert (out.native["town"] == "a").mean() > 0.9
    one = METHODS[word](delta=delta, columns=("town",)).fit_transform_table(table(100))
    assert one.names == ("town",)


@pytest.mark.parametrize("word", QUICK)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_domains_of_one_cell_are_no_trouble(word, delta):
    schema = Schema({name: Column("category", categories=("a",)) for name in ("x", "y")})
    frame = pd.DataFrame({"x": ["a"] * 20, "y": ["a"] * 20})
    found = METHODS[word](delta=delta, rows=5).fit_transform_table(Table.of(frame, Roles(), {}, schema))
    assert found.native.to_numpy().tolist() == [["a", "a"]] * 5


@pytest.mark.parametrize("missing", ["value", "impute", "drop"])
def test_missing_cells_as_declared(missing):
    """The middle of the bounds looks at no other row, and a row that is left out at no other either."""
    schema = Schema({**SCHEMA, "weight": Column("float", 0, 200, step=0.5, missing=missing)})
    release = Pipeline(steps=[("one", SynthIndependent(epsilon=50.0))]).release(table(300, schema=schema))
    assert bool(release.native["weight"].isna().any()) == (missing == "value")
    assert release.guarantees
    assert release.manifest.epsilon is not None


def test_warnings_of_a_step_reach_the_pipeline():
    pipeline = Pipeline(steps=[("one", SynthIndependent(delta=0.05, columns=("town",)))])
    assert any("above 1 / records" in note for note in pipeline.release(table(300)).notes)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mbi", None)
    with pytest.raises(ModuleNotFoundError) as error:
        SynthMst(columns=("town", "ill")).fit_transform_table(table(50))
    assert error.value.name == "mbi"
