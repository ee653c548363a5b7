"""Prosecutor, journalist and marketer risk by hand; estimates of uniqueness against known populations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import TableError
from anonymizer.risk.measures import journalist_risk, marketer_risk, prosecutor_risk
from anonymizer.risk.uniqueness import individual_risk, match_probability, pitman, uniqueness, zayatz
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROLES = Roles(quasi_identifiers=("age", "town"))
RELEASE = pd.DataFrame({"age": ["[20, 30)"] * 3 + ["*"], "town": ["A", "A", "B", "B"]})


def test_the_three_risks_by_hand():
    release = Table.of(RELEASE, ROLES)
    population = Table.of(pd.concat([RELEASE, RELEASE.iloc[[0, 0, 3]]]), ROLES)
    assert prosecutor_risk(release).rows.tolist() == [0.5, 0.5, 1, 1]
    assert journalist_risk(release, population).rows.tolist() == [0.25, 0.25, 1, 0.5]
    assert marketer_risk(release) == 0.75
    assert marketer_risk(release, population) == 0.5
    assert prosecutor_risk(release).highest == 1
    assert prosecutor_risk(release).above(0.5) == 0.5


def test_a_population_without_the_released_is_refused():
    release = Table.of(RELEASE, ROLES)
    with pytest.raises(TableError, match=r"people like the one in row 1"):
        journalist_risk(release, Table.of(RELEASE.iloc[1:], ROLES).take(np.array([1, 2])))
    with pytest.raises(TableError, match="no quasi-identifiers"):
        prosecutor_risk(Table.of(RELEASE))


@given(st.lists(st.integers(0, 8), min_size=1, max_size=60))
def test_prosecutor_risk_equals_brute_force(cells):
    table = Table.of(pd.DataFrame({"age": cells, "town": ["A"] * len(cells)}), ROLES)
    assert prosecutor_risk(table).rows.tolist() == [1 / cells.count(cell) for cell in cells]


def skewed(count, seed):
    r = Randomness(seed)
    return np.floor(np.exp(1.6 * r.normal(count) + 4)).astype(np.int64)


@pytest.mark.parametrize("fraction", [0.05, 0.3, 0.8])
def test_estimates_are_near_the_population(fraction):
    cells = skewed(40_000, 3)
    _, place, sizes = np.unique(cells, return_inverse=True, return_counts=True)
    truth = (sizes[place] == 1).mean()
    rows = Randomness(4).sample(len(cells), round(fraction * len(cells)))
    sample = Table.of(pd.DataFrame({"age": cells[rows], "town": "A"}), ROLES)
    found = uniqueness(sample, fraction)
    unique = found.rows
    assert found.population == pytest.approx(truth, rel=0.5)
    assert found.match == pytest.approx(unique.sum() / sizes[place][rows][unique].sum(), rel=0.4)
    assert found.risks.mean() == pytest.approx((1 / sizes[place][rows]).mean(), rel=0.4)
    assert found.sample == unique.mean()


def test_a_whole_population_needs_no_estimate():
    sizes, classes = np.array([1, 2, 7]), np.array([5, 3, 1])
    for model in (zayatz, pitman):
        assert model(sizes, classes, 18) == pytest.approx(5 / 18)
    assert match_probability(sizes, classes, 1.0) == 1
    assert individual_risk(sizes, 1.0).tolist() == pytest.approx([1, 1 / 2, 1 / 7])
    assert zayatz(np.array([3]), np.array([4]), 100) == 0


def test_pitman_equals_the_expected_uniques_of_its_own_process():
    r = Randomness(5)
    alpha, theta, people, sampled = 0.4, 50.0, 8000, 2000
    draws = r.uniform(people)
    sizes: list[float] = []
    members = []
    for count, draw in enumerate(draws):
        weights = np.append(np.array(sizes) - alpha, theta + alpha * len(sizes)) / (theta + count)
        kind = int(np.searchsorted(np.cumsum(weights), draw))
        if kind >= len(sizes):
            sizes.append(0)
            kind = len(sizes) - 1
        sizes[kind] += 1
        members.append(kind)
    kinds, counts = np.unique(np.bincount(np.array(members)[:sampled]), return_counts=True)
    found = pitman(kinds[kinds > 0], counts[kinds > 0], people)
    assert found == pytest.approx(np.mean(np.array(sizes)[members] == 1), rel=0.15)


@pytest.mark.parametrize(
    ("size", "fraction"), [(1, 0.1), (2, 0.3), (9, 0.05), (50, 0.3), (51, 0.3), (60, 0.01)]
)
def test_individual_risk_is_the_mean_over_the_negative_binomial(size, fraction):
    more = np.arange(200_000)
    from scipy.stats import nbinom

    exact = (nbinom.pmf(more, size, fraction) / (size + more)).sum()
    assert individual_risk(np.array([size]), fraction)[0] == pytest.approx(exact, rel=1e-6)
    sizes = np.array([10_000, 1_000_000])
    assert individual_risk(sizes, fraction) * sizes == pytest.approx(
        fraction * (1 + (1 - fraction) / sizes), rel=1e-6
    )


def test_an_impossible_fraction_is_refused():
    with pytest.raises(TableError, match=r"fraction is 1.5"):
        uniqueness(Table.of(RELEASE, ROLES), 1.5)
