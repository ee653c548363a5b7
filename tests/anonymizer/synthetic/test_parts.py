"""What synthetic tables are made of: domains, budgets, scores, inference and drawing."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import SpecError, TableError
from anonymizer.schema.columns import Column
from anonymizer.synthetic import bayes, copula, selection
from anonymizer.synthetic.budget import Budget, Noisy
from anonymizer.synthetic.counting import Coded, near_counts
from anonymizer.synthetic.domains import domain_of
from anonymizer.synthetic.junction import JunctionTree
from anonymizer.synthetic.merging import Merging, merge
from anonymizer.synthetic.network import Conditional, draw_rows
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table


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
    rows = draw_rows([Conditional(1, (), first), Conditional(0, (1,), second)], 4000, Randomness(1))
    counts = np.zeros((2, 3))
    np.add.at(counts, (rows[:, 1], rows[:, 0]), 1)
    expected = np.array([[500, 0, 500], [0, 1500, 1500]])
    assert np.abs(counts - expected).max() <= 2  # numbers are spread evenly: counts are exact up to rounding


@given(st.integers(0, 10_000))
def test_a_junction_tree_has_the_marginals_of_brute_force(seed):
    r = Randomness(seed)
    sizes = (2, 3, 2, 4, 2)
    cliques, edges = [(0, 1, 2), (1, 2, 3), (4,)], [(0, 1)]
    factors = {
        c: r.normal(math.prod(sizes[x] for x in c)).reshape([sizes[x] for x in c])
        for c in [(0, 1), (2, 1), (3, 2), (0, 2), (4,), (1,)]
    }
    tree = JunctionTree.calibrate(cliques, edges, factors, sizes)
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
    data = merge(Coded(np.array([[0], [1], [4]]), (5,), ("a",)), [how])
    assert data.codes.ravel().tolist() == [0, 2, 2]
    assert how.part(np.array([0, 1]), Randomness(1)).tolist() == [0, 3]
    parted = how.part(np.full(4000, 2), Randomness(1))
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
        pytest.param(
            lambda data, budget: selection.spanning_tree(data, budget, steps=50), marks=pytest.mark.slow
        ),
        pytest.param(
            lambda data, budget: selection.adaptive(data, budget, rounds=12, steps=50), marks=pytest.mark.slow
        ),
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


def test_pairs_of_columns_with_too_many_cells_are_named():
    with pytest.raises(TableError, match="above 2,000,000"):
        coded(50, (2000, 2000)).counts((0, 1))
