"""Synthetic tables: domains, budget, what is measured, what is fitted, and what is refused."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.errors import AnonymizerError, SpecError, TableError
from anonymizer.models.registry import METHODS
from anonymizer.models.synthesizers import (
    SynthAim,
    SynthHistogram,
    SynthIndependent,
    SynthMst,
    SynthPrivBayes,
)
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.gate.gate import Gate
from anonymizer.releases.manifest import Manifest
from anonymizer.schema.columns import Column, Schema
from anonymizer.synthetic import bayes, copula, selection
from anonymizer.synthetic.budget import Budget, Noisy
from anonymizer.synthetic.counting import Coded, near_counts
from anonymizer.synthetic.domains import domain_of
from anonymizer.synthetic.junction import JunctionTree
from anonymizer.synthetic.merging import Merging, merged
from anonymizer.synthetic.network import Conditional, drawn
from anonymizer.tables import files
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

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


def coded(rows, sizes, seed=1) -> Coded:
    """Columns in a chain: each follows the one before in most rows."""
    r = Randomness(seed)
    columns = [r.integers(sizes[0], rows)]
    for size in sizes[1:]:
        fresh = r.integers(size, rows)
        columns.append(np.where(r.uniform(rows) < 0.8, columns[-1] * size // max(sizes), fresh))
    return Coded(np.stack(columns, axis=1), tuple(sizes), tuple(f"c{i}" for i in range(len(sizes))))


# domains


def test_numbers_have_bins_on_their_grid_and_come_back_into_them():
    ages = domain_of("age", Column("integer", 0, 100), bins=10)
    assert ages.kinds == 10
    assert ages.to_document()["edges"][0] == 0
    assert ages.to_document()["edges"][-1] == 101
    frame = pd.DataFrame({"age": [-5, 0, 10, 55, 100, 999]})
    codes = ages.codes(Table.of(frame))
    assert codes[0] == codes[1] == 0
    assert codes[4] == codes[5] == 9
    many = ages.cells(np.repeat(np.arange(10), 500), Randomness(1))
    assert set(many.tolist()) == set(range(101))
    assert (ages.codes(Table.of(pd.DataFrame({"age": many}))) == np.repeat(np.arange(10), 500)).all()


@given(
    st.integers(-50, 50),
    st.integers(1, 300),
    st.sampled_from([None, 0.1, 0.25, 1.0, 3.0]),
    st.integers(1, 40),
)
@settings(max_examples=60, deadline=None)
def test_drawn_numbers_lie_in_their_bin_and_on_the_grid(low, width, step, bins):
    column = Column("float", low, low + width, step=step)
    if step is not None and math.floor((low + width) / step) < math.ceil(low / step):
        return
    found = domain_of("x", column, bins=bins)
    assert 1 <= found.kinds <= bins
    codes = np.repeat(np.arange(found.kinds), 20)
    cells = found.cells(codes, Randomness(2))
    assert (cells >= low - 1e-9).all()
    assert (cells <= low + width + 1e-9).all()
    assert (found.codes(Table.of(pd.DataFrame({"x": cells}))) == codes).all()
    if step is not None:
        assert np.abs(cells / step - np.round(cells / step)).max() < 1e-6


def test_cuts_missing_cells_and_truth_values():
    gain = domain_of("gain", Column("integer", 0, 1000, missing="value"), bins=5, cuts=(1, 100))
    assert gain.size == 4
    frame = pd.DataFrame({"gain": [0, 1, 99, 100, 1000, np.nan]})
    assert gain.codes(Table.of(frame)).tolist() == [0, 1, 1, 2, 2, 3]
    back = gain.cells(np.array([0, 3]), Randomness(1))
    assert back == [0, None]
    truth = domain_of("ill", Column("boolean"), bins=5)
    assert truth.codes(Table.of(pd.DataFrame({"ill": [True, False]}))).tolist() == [1, 0]
    assert truth.cells(np.array([1, 0]), Randomness(1)).tolist() == [True, False]


@pytest.mark.parametrize("cuts", [(), (0,), (50, 20), (2000,), (math.nan,)])
def test_impossible_cuts_are_refused(cuts):
    with pytest.raises(SpecError, match="'gain'"):
        domain_of("gain", Column("integer", 0, 1000), bins=5, cuts=cuts)


# budget


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 0.0), (20.0, 1e-9)])
def test_a_budget_is_spent_whole_and_never_more(epsilon, delta):
    budget = Budget(epsilon, delta)
    budget.counts(np.array([5, 7]), budget.total / 2)
    assert budget.choice(np.array([1.0, 9.0]), budget.total / 4, 1.0) in (0, 1)
    budget.counts(np.array([5]), budget.left)
    assert budget.loss[0] == pytest.approx(epsilon, rel=1e-6)
    assert budget.loss[0] <= epsilon
    assert budget.loss[1] == delta
    with pytest.raises(RuntimeError, match="are left"):
        budget.counts(np.array([5]), budget.total / 100)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, 1e9, 1e-9])
@pytest.mark.parametrize("word", WORDS)
def test_an_absurd_epsilon_is_refused(word, epsilon):
    with pytest.raises(SpecError, match="epsilon"):
        METHODS[word](epsilon=epsilon).fit_transform_table(table(20))


@pytest.mark.parametrize(
    ("delta", "cost", "chance"),
    [(1e-6, 2.0**2 / 8, 1 / (1 + math.exp(-1))), (0.0, 2.0, 1 - math.exp(-1) / 2)],
    ids=["exponential mechanism", "permute-and-flip"],
)
def test_choices_have_the_distribution_of_their_mechanism(delta, cost, chance):
    # of 3,000 choices the share lies within 6 deviations: a false alarm in 2e-9 runs
    runs = 3000
    first = sum(Budget(50.0, delta).choice(np.array([0.0, 1.0]), cost, 1.0) for _ in range(runs))
    assert abs(first / runs - chance) < 6 * math.sqrt(chance * (1 - chance) / runs)


# what one row changes


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_one_row_changes_scores_and_sums_by_no_more_than_is_said(seed):
    r = Randomness(seed)
    rows = 1 + int(r.integers(30, 1)[0])
    sizes = (3, 4, 2)
    codes = np.stack([r.integers(size, rows + 1) for size in sizes], axis=1)
    fewer, more = (Coded(one, sizes, ("a", "b", "c")) for one in (codes[:-1], codes))
    for column, parents in ((0, (1,)), (1, (0, 2)), (2, (1, 0))):
        gap = abs(bayes.dependence(more, column, parents) - bayes.dependence(fewer, column, parents))
        assert gap <= bayes.DEPENDENCE
    scores = [3 * r.normal(size) for size in sizes]
    sums = []
    for one in (fewer, more):
        cells = np.stack([s[one.codes[:, place]] for place, s in enumerate(scores)], axis=1)
        whole = np.round(cells * 64).astype(np.int64)
        sums.append((whole.T @ whole)[np.triu_indices(3, 1)])
    l1, l2 = copula.reach(scores)
    change = np.abs(sums[1] - sums[0])
    assert change.sum() <= l1
    assert math.sqrt((change**2).sum()) <= l2


def test_the_bound_of_the_dependence_is_nearly_reached():
    worst = 0.0
    for seed in range(300):
        r = Randomness(seed)
        codes = np.stack([r.integers(20, 12), r.integers(20, 12)], axis=1)
        pair = [bayes.dependence(Coded(one, (20, 20), ("a", "b")), 0, (1,)) for one in (codes, codes[:-1])]
        worst = max(worst, abs(pair[0] - pair[1]))
    assert 0.8 < worst <= bayes.DEPENDENCE


# inference without noise


def test_rows_that_are_drawn_have_the_given_distribution():
    first = np.array([1.0, 3.0])
    second = np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 2.0]])
    rows = drawn([Conditional(1, (), first), Conditional(0, (1,), second)], 4000, Randomness(1))
    counts = np.zeros((2, 3))
    np.add.at(counts, (rows[:, 1], rows[:, 0]), 1)
    expected = np.array([[500, 0, 500], [0, 1500, 1500]])
    assert np.abs(counts - expected).max() <= 2  # numbers are spread evenly: counts are exact up to rounding


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_a_junction_tree_has_the_marginals_of_brute_force(seed):
    r = Randomness(seed)
    sizes = (2, 3, 2, 4, 2)
    cliques, edges = [(0, 1, 2), (1, 2, 3), (4,)], [(0, 1)]
    factors = {
        c: r.normal(math.prod(sizes[x] for x in c)).reshape([sizes[x] for x in c])
        for c in [(0, 1), (2, 1), (3, 2), (0, 2), (4,), (1,)]
    }
    tree = JunctionTree.calibrated(cliques, edges, factors, sizes)
    whole = np.zeros(sizes)
    for columns, values in factors.items():
        shape = [sizes[x] if x in columns else 1 for x in range(5)]
        whole = whole + values.transpose(np.argsort(columns)).reshape(shape)
    whole = np.exp(whole) / np.exp(whole).sum()
    for one in range(5):
        for other, joint in tree.pairs(one).items():
            expected = whole.sum(axis=tuple({0, 1, 2, 3, 4} - {one, other}))
            np.testing.assert_allclose(joint, expected if one < other else expected.T, atol=1e-12)
    chance = np.ones(sizes)
    for step in tree.network:
        given_parents = step.weights / step.weights.sum(axis=-1, keepdims=True)
        columns = (*step.parents, step.column)
        shape = [sizes[x] if x in columns else 1 for x in range(5)]
        chance = chance * given_parents.transpose(np.argsort(columns)).reshape(shape)
    np.testing.assert_allclose(chance, whole, atol=1e-12)


def test_counts_brought_near_are_the_nearest_of_their_sum():
    noisy = np.array([10.0, -4.0, 3.0, 0.5])
    found = near_counts(noisy, 9.0)
    assert found.sum() == pytest.approx(9)
    assert found.tolist() == pytest.approx([8.0, 0.0, 1.0, 0.0])
    assert near_counts(np.array([-5.0, -7.0]), 3.0).tolist() == pytest.approx([2.5, 0.5])


def test_rare_cells_are_joined_and_parted_by_their_shares():
    how = Merging.of(Noisy(np.array([100.0, 2.0, -3.0, 50.0, 6.0]), 5.0))
    assert how.groups.tolist() == [0, 2, 2, 1, 2]
    assert how.shares.tolist() == [1, 0.25, 0, 1, 0.75]
    data = merged(Coded(np.array([[0], [1], [4]]), (5,), ("a",)), [how])
    assert data.codes.ravel().tolist() == [0, 2, 2]
    assert how.parted(np.array([0, 1]), Randomness(1)).tolist() == [0, 3]
    parted = how.parted(np.full(4000, 2), Randomness(1))
    assert set(parted.tolist()) == {1, 4}
    assert abs((parted == 1).mean() - 0.25) < 0.05


def distance(data: Coded, codes: np.ndarray) -> float:
    pairs = combinations(range(len(data.sizes)), 2)
    other = Coded(codes, data.sizes, data.names)
    return float(
        np.mean([np.abs(data.counts(p) / len(data) - other.counts(p) / len(other)).sum() / 2 for p in pairs])
    )


@pytest.mark.parametrize(
    "learn",
    [
        lambda data, budget: selection.spanning_tree(data, budget, steps=50),
        lambda data, budget: selection.adaptive(data, budget, rounds=12, steps=50),
        lambda data, budget: bayes.bayesian(data, budget, Randomness(1), degree=2),
    ],
    ids=["mst", "aim", "privbayes"],
)
def test_relations_of_columns_are_kept(learn):
    data = coded(20_000, (6, 6, 4, 5))
    alone = selection.independent(data, Budget(5.0, 1e-6)).draw(20_000, Randomness(1))
    found = learn(data, Budget(5.0, 1e-6)).draw(20_000, Randomness(1))
    assert distance(data, alone) > 0.3
    assert distance(data, found) < 0.08


def test_a_copula_keeps_the_relations_of_normal_columns():
    r = Randomness(1)
    latent = r.normal(20_000)
    columns = [np.clip(np.floor(2.5 + latent + 0.3 * r.normal(20_000)), 0, 5) for _ in range(4)]
    data = Coded(np.stack(columns, axis=1).astype(np.int64), (6,) * 4, tuple("abcd"))
    alone = selection.independent(data, Budget(5.0, 1e-6)).draw(20_000, Randomness(1))
    found = copula.copula(data, Budget(5.0, 1e-6)).draw(20_000, Randomness(1))
    assert distance(data, alone) > 0.3
    assert distance(data, found) < 0.13


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


def refused(word, frame, schema=SCHEMA, **parameters) -> str:
    with pytest.raises(AnonymizerError) as error:
        METHODS[word](**parameters).fit_transform_table(Table.of(frame, ROLES, {}, schema))
    assert error.value.mend
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


def test_domains_too_large_for_memory_are_named():
    wide = Schema({f"x{i}": Column("integer", 0, 10**6) for i in range(3)})
    frame = pd.DataFrame({name: np.arange(20) for name in wide})
    original = Table.of(frame, Roles(), {}, wide)
    with pytest.raises(TableError, match=r"1e\+12 cells together.*'?x0"):
        SynthHistogram(bins=10_000).fit_transform_table(original)
    with pytest.raises(TableError, match="above 2,000,000"):
        coded(50, (2000, 2000)).counts((0, 1))
    # where few cells can be told from noise, many are no trouble
    for method in (SynthMst(bins=10_000), SynthPrivBayes(bins=10_000, epsilon=0.1)):
        assert len(method.set_params(rows=25).fit_transform_table(original)) == 25


@pytest.mark.parametrize("word", QUICK)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
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


@pytest.mark.parametrize(("missing", "promised"), [("value", True), ("impute", True), ("drop", False)])
def test_missing_cells_as_declared(missing, promised):
    """The middle of the bounds looks at no other row; a step that leaves rows out costs the promise."""
    schema = Schema({**SCHEMA, "weight": Column("float", 0, 200, step=0.5, missing=missing)})
    release = Pipeline(steps=[("one", SynthIndependent())]).release(table(300, schema=schema))
    assert bool(release.native["weight"].isna().any()) == (missing == "value")
    assert bool(release.guarantees) == promised
    assert (release.manifest.epsilon is not None) == promised


def test_warnings_of_a_step_reach_the_pipeline():
    pipeline = Pipeline(steps=[("one", SynthIndependent(delta=0.05, columns=("town",)))])
    assert any("above 1 / records" in note for note in pipeline.release(table(300)).notes)


def test_the_registry_brings_no_heavy_library():
    code = "import sys, anonymizer.models.registry; print([m for m in ('jax', 'mbi') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mbi", None)
    with pytest.raises(ModuleNotFoundError) as error:
        SynthMst(columns=("town", "ill")).fit_transform_table(table(50))
    assert error.value.name == "mbi"
