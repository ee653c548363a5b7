"""Random change of categories: frequencies follow the matrices, and an attacker expects the likeliest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.base import clone

from anonymizer.errors import HierarchyError, SpecError, TableError
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.methods.perturbation.exponential import ExponentialMechanism, edges
from anonymizer.methods.perturbation.pram import PRAM, invariant
from anonymizer.methods.perturbation.swapping import Swapping
from anonymizer.methods.perturbation.transition import MAX_VALUES, simulated_labels
from anonymizer.risk.candidates import exactly
from anonymizer.risk.simulator import simulate_attack
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROLES = Roles(quasi_identifiers=("city",))
CITIES = ("a", "b", "c", "d")
SHARES = (0.5, 0.25, 0.15, 0.1)
TREE = ValueHierarchy([["a", "ab", ANY], ["b", "ab", ANY], ["c", "cd", ANY], ["d", "cd", ANY]])
ALARM = 1e-6
"""The rate of false alarms of a statistical test."""


def cities(rows: int = 40_000) -> pd.DataFrame:
    counts = (np.array(SHARES) * rows).astype(int)
    return pd.DataFrame({"city": np.repeat(np.array(CITIES, dtype=object), counts)})


def follows(before, after, matrix, values=CITIES):
    """Whether counts of changes are those of the matrix, by a chi-squared test of each row."""
    for row, value in enumerate(values):
        counts = np.array([((before == value) & (after == other)).sum() for other in values])
        possible = matrix[row] > 0
        assert not counts[~possible].any()
        if possible.sum() > 1:
            assert chisquare(counts[possible], matrix[row][possible] * counts.sum()).pvalue > ALARM


@pytest.mark.parametrize("keeps", [False, True])
def test_pram_follows_its_matrix(keeps):
    frame = cities()
    method = PRAM(retention=0.7, invariant=keeps, random_state=1)
    out = method.fit_transform(frame, roles=ROLES)
    values, matrix = method.transitions_["city"]
    assert values.tolist() == list(CITIES)
    if not keeps:
        assert matrix[1].tolist() == pytest.approx([0.1, 0.7, 0.1, 0.1])
    follows(frame["city"], out["city"], matrix)


def test_frequencies_can_be_estimated_without_bias():
    frame = cities()
    estimates = []
    for seed in range(20):
        method = PRAM(retention=0.6, random_state=seed)
        out = method.fit_transform(frame, roles=ROLES)
        shares = out["city"].value_counts(normalize=True).reindex(CITIES).to_numpy()
        estimates.append(np.linalg.solve(method.transitions_["city"][1].T, shares))
    # a share of 40,000 cells deviates by 0.0025 at most, the inverse makes it 1 / (0.6 - 0.4 / 3) as much,
    # 20 runs the root of 20 less: five standard deviations
    assert np.abs(np.mean(estimates, axis=0) - SHARES).max() < 5 * 0.0025 / (0.6 - 0.4 / 3) / np.sqrt(20)


@given(st.integers(2, 6), st.data())
def test_invariant_matrices_keep_frequencies(count, data):
    part = st.floats(0.01, 1)
    raw = np.array(data.draw(st.lists(part, min_size=count**2, max_size=count**2))).reshape(count, count)
    matrix = raw / raw.sum(axis=1, keepdims=True)
    counts = np.array(data.draw(st.lists(st.integers(1, 1000), min_size=count, max_size=count)))
    found = invariant(matrix, counts)
    assert (found >= 0).all()
    assert found.sum(axis=1) == pytest.approx(np.ones(count))
    assert counts @ found == pytest.approx(counts)


def test_a_stated_matrix_is_used():
    matrix = {"a": {"a": 0.5, "b": 0.5}, "b": {"b": 1.0}, "c": {"d": 1.0}, "d": {"a": 0.25, "d": 0.75}}
    frame = cities()
    method = PRAM(matrices={"city": matrix}, random_state=2)
    out = method.fit_transform(frame, roles=ROLES)
    follows(frame["city"], out["city"], np.array([[matrix[v].get(w, 0) for w in CITIES] for v in CITIES]))


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"retention": 1.5}, "retention"),
        ({"matrices": {"town": {}}}, "'town'"),
        ({"matrices": {"city": {"a": {"a": 1.0}}}}, "no row for 'b'"),
        ({"matrices": {"city": {v: {"a": 0.5} for v in CITIES}}}, "'a'"),
        ({"matrices": {"city": {v: {"a": 1.5, "b": -0.5} for v in CITIES}}}, "'a'"),
        ({"matrices": {"city": {v: {"z": 1.0} for v in CITIES}}}, "'z'"),
    ],
)
def test_impossible_matrices_are_named(changes, word):
    with pytest.raises(TableError, match=word) as caught:
        PRAM(**changes).fit(cities(), roles=ROLES)
    assert caught.value.hint


def test_numbers_can_be_categories():
    frame = pd.DataFrame({"code": np.arange(3000) % 3})
    method = PRAM(retention=0.95, columns=("code",), random_state=3)
    out = method.fit_transform(frame)
    assert out["code"].dtype == frame["code"].dtype
    high, low = method.simulate("code", exactly(np.arange(3), numeric=True)).holds(np.arange(3))
    assert (high == np.eye(3, dtype=bool)).all()
    assert low.all()


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.sampled_from([0.5, 0.8, 0.9, 1.0]))
def test_high_confidence_ends_where_the_probability_passes_it(weights, confidence):
    if sum(weights) < 0.1:
        return
    row = np.array(weights) / sum(weights)
    matrix = np.broadcast_to(row, (4, 4))
    values = np.array(CITIES, dtype=object)
    candidates = simulated_labels(exactly(values, numeric=False), values, matrix, confidence)
    for place in range(4):
        reached = row[row >= row[place] - 1e-12].sum()
        likely = reached <= confidence + 1e-12 or row[place] == row.max()
        assert candidates.high[0, place] == (likely and row[place] > 0)
    assert (candidates.low[0] == (row > 0)).all()


def test_the_categories_of_the_worked_example():
    """Thesis, section 4.2.3: a category that changes with 20 % is a candidate with low confidence."""
    values = np.array(["Sports", "Culture"], dtype=object)
    candidates = simulated_labels(
        exactly(values, numeric=False), values, np.array([[0.8, 0.2], [0.2, 0.8]]), 0.9
    )
    assert candidates.high.tolist() == [[True, False], [False, True]]
    assert candidates.low.all()


def test_distances_are_those_of_the_tree():
    groups = np.stack([level.groups for level in TREE.bind(np.array(CITIES, dtype=object), "city")])
    assert edges(groups).tolist() == [[0, 2, 4, 4], [2, 0, 4, 4], [4, 4, 0, 2], [4, 4, 2, 0]]


@pytest.mark.parametrize("around", ["value", "median"])
def test_near_categories_are_likelier(around):
    frame = cities()
    method = ExponentialMechanism(epsilon=0.8, around=around, random_state=4)
    out = method.fit_transform(frame, roles=ROLES, hierarchies={"city": TREE})
    distances = np.array([[0, 2, 4, 4], [2, 0, 4, 4], [4, 4, 0, 2], [4, 4, 2, 0]])
    if around == "median":
        distances = np.broadcast_to(distances[0], (4, 4))
    weights = np.exp(-0.8 * distances / 2)
    follows(frame["city"], out["city"], weights / weights.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("changes", "hierarchies", "error", "word"),
    [
        ({"epsilon": 0}, {"city": TREE}, SpecError, "epsilon"),
        ({"epsilon": 1e300}, {"city": TREE}, SpecError, "epsilon"),
        ({"around": "mean"}, {"city": TREE}, TableError, "'mean'"),
        ({"columns": ("city",)}, {}, HierarchyError, "'city'"),
    ],
)
def test_refusals_of_the_exponential_mechanism(changes, hierarchies, error, word):
    with pytest.raises(error, match=word):
        ExponentialMechanism(**changes).fit(cities(), roles=ROLES, hierarchies=hierarchies)


def test_more_values_than_a_matrix_can_be_made_of_are_refused():
    frame = pd.DataFrame({"city": [f"c{i}" for i in range(MAX_VALUES + 1)]})
    rows = ValueHierarchy([[city, "*"] for city in frame["city"]])
    for method in (PRAM(), ExponentialMechanism(columns=("city",))):
        with pytest.raises(TableError, match="'city' has 5,001 different values"):
            method.fit(frame, roles=Roles(quasi_identifiers=("city",)), hierarchies={"city": rows})


def test_values_too_many_to_simulate_are_swapped_and_the_simulator_says_so():
    table = Table.of(
        pd.DataFrame({"city": [f"c{i}" for i in range(100_000)]}), Roles(quasi_identifiers=("city",))
    )
    method = Swapping(rate=0.2, random_state=1)
    release = method.release(table)
    assert sorted(release.table.native["city"]) == sorted(table.native["city"])
    assert 15_000 < release.changed["city"] <= 20_000
    with pytest.raises(TableError, match="'city' has 100,000 different values"):
        simulate_attack(table, release.table, method)


@pytest.mark.parametrize("cells", [["a", "b", None], ["a", "b", "a"]], ids=["with a gap", "without"])
@pytest.mark.parametrize(
    "method", [PRAM(retention=0.5), ExponentialMechanism(epsilon=1.0)], ids=["pram", "exponential"]
)
def test_a_missing_cell_that_counts_as_a_value_is_a_category_whether_there_is_one(method, cells):
    """Else whether there is a claim, and between what is drawn, would go by a single cell."""
    schema = Schema({"city": Column("category", categories=("a", "b"), missing="value")})
    frame = pd.DataFrame({"city": np.repeat(np.array(cells, dtype=object), 200)})
    tree = ValueHierarchy([["a", ANY], ["b", ANY]])
    release = clone(method).release(Table.of(frame, ROLES, {"city": tree}, schema))
    assert [one.kind for one in release.guarantees] != []
    assert set(release.table.native["city"]) == {"a", "b", "(missing)"}
