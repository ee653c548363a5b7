"""Swapping: columns keep their values, partners are where they may be, and an attacker reaches them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import TableError
from anonymizer.methods.perturbation.rank_swapping import RankSwapping, swap_ranks
from anonymizer.methods.perturbation.swapping import Swapping, swap_pairs
from anonymizer.risk.candidates import exactly
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

SEEDS = st.integers(0, 2**32 - 1)


def table(rows: int = 2000) -> pd.DataFrame:
    number = np.arange(rows)
    return pd.DataFrame(
        {
            "age": (number * 7919) % 1009,
            "city": pd.Categorical([f"c{i % 13}" for i in number]),
            "street": [f"s{i % 13}.{i % 7}" for i in number],
            "born": pd.Timestamp("2000-01-01") + pd.to_timedelta(number % 300, unit="D"),
            "left": number,
        },
    )


ROLES = Roles(quasi_identifiers=("age", "city", "street", "born"))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("together", [False, True])
def test_columns_keep_their_values_and_types(library, together):
    frame = library(table())
    out = Swapping(rate=0.3, together=together, random_state=1).fit_transform(frame, roles=ROLES)
    assert list(out["left"]) == list(frame["left"])
    moved = {}
    for column in ROLES.quasi_identifiers:
        assert out[column].dtype == frame[column].dtype
        assert sorted(out[column]) == sorted(frame[column])
        moved[column] = np.array(list(out[column])) != np.array(list(frame[column]))
        assert 0.2 < moved[column].mean() <= 0.3
    assert (moved["city"] <= moved["street"]).all() == together


def test_partners_agree_where_they_should():
    frame = table()
    method = Swapping(rate=1.0, columns=("street",), within=("city",), random_state=2)
    out = method.fit_transform(frame, roles=ROLES)
    assert (out["street"].str.split(".").str[0].str[1:] == out["city"].astype(str).str[1:]).all()
    assert (out["street"] != frame["street"]).mean() > 0.5


@given(SEEDS, st.lists(st.integers(0, 4), min_size=1, max_size=60), st.data())
def test_pairs_are_exchanged_inside_groups(seed, groups, data):
    places = data.draw(st.sets(st.integers(0, len(groups) - 1)))
    chosen = np.array(sorted(places), dtype=np.int64)
    labels = np.array(groups)
    order = swap_pairs(chosen, labels, Randomness(seed))
    assert (order[order] == np.arange(len(groups))).all()
    assert (labels[order] == labels).all()
    moved = np.flatnonzero(order != np.arange(len(groups)))
    assert set(moved) <= places
    for label in set(groups):
        there = (labels[chosen] == label).sum()
        assert (labels[moved] == label).sum() == there // 2 * 2


@given(SEEDS, st.integers(0, 200), st.integers(1, 50))
def test_ranks_move_no_farther_than_the_window(seed, count, window):
    order = swap_ranks(count, window, Randomness(seed))
    assert (order[order] == np.arange(count)).all()
    assert (np.abs(order - np.arange(count)) <= window).all()


def test_rank_shifts_follow_the_law_that_the_simulator_assumes():
    count, window = 200_000, 2000
    order = swap_ranks(count, window, Randomness(3))
    shifts = np.abs(order - np.arange(count))
    assert (shifts == 0).mean() < 0.01
    # 100,000 pairs: five standard deviations of a share of 0.9 are 0.005
    assert abs((shifts <= window * (1 - np.sqrt(0.1))).mean() - 0.9) < 0.01


def test_rank_swapping_bounds_ranks_and_skips_gaps():
    frame = table()
    frame["age"] = frame["age"].astype(float)
    frame.loc[frame.index[::10], "age"] = np.nan
    method = RankSwapping(percent=2, columns=("age", "born"), random_state=4)
    out = method.fit_transform(frame, roles=ROLES)
    assert (out["age"].isna() == frame["age"].isna()).all()
    assert out["born"].dtype == frame["born"].dtype
    for column, window in (("age", 36), ("born", 40)):
        assert sorted(out[column].dropna()) == sorted(frame[column].dropna())
        low, high = frame[column].rank(method="min"), frame[column].rank(method="max")
        found = out[column].map(dict(zip(frame[column].dropna(), low.dropna(), strict=True)))
        assert ((found - high).dropna() <= window).all()
        assert (out[column] != frame[column]).mean() > 0.5


def simulated(method, frame, column):
    seen = Table.of(frame)
    codes = seen.codes(column)
    candidates = method.simulate(column, exactly(codes.values, numeric=seen.is_numeric(column)))
    return codes, candidates.holds(codes.values)


@pytest.mark.parametrize("column", ["age", "born"])
def test_an_attacker_expects_near_ranks(column):
    frame = table()
    method = RankSwapping(percent=5, columns=(column,), confidence=0.9, random_state=5)
    out = method.fit_transform(frame, roles=ROLES)
    codes, (high, low) = simulated(method, frame, column)
    after = np.searchsorted(codes.values, Table.of(out).codes(column).values)[
        Table.of(out).codes(column).codes
    ]
    assert low[codes.codes, after].all()
    assert 0.85 < high[codes.codes, after].mean() < 1
    ranks = frame[column].rank(method="min").to_numpy(), frame[column].rank(method="max").to_numpy()
    first, last = (np.array([r[codes.codes == v][0] for v in range(len(codes.values))]) for r in ranks)
    for member, reach in ((low, 100), (high, int(np.ceil(100 * (1 - np.sqrt(0.1)))))):
        apart = np.maximum(first[:, None] - last[None, :], first[None, :] - last[:, None])
        assert (member == (apart <= reach)).all()


@pytest.mark.parametrize("rate", [0.05, 0.5])
def test_an_attacker_expects_what_swapping_keeps(rate):
    frame = table()
    method = Swapping(rate=rate, within=("left",), columns=("age", "city"), random_state=6)
    frame["left"] %= 2
    out = method.fit_transform(frame, roles=ROLES)
    for column in ("age", "city"):
        codes, (high, low) = simulated(method, frame, column)
        seen = Table.of(out).codes(column)
        assert low[codes.codes, seen.codes].all()
        assert (high.sum(axis=1) == 1).all() or rate > 0.1
        assert high.diagonal().all()


@pytest.mark.parametrize(
    ("method", "word"),
    [
        (Swapping(rate=0.0), "rate"),
        (Swapping(columns=("age",), within=("age",)), "'age'"),
        (Swapping(columns=("age",), within=("agee",)), "'agee'"),
        (RankSwapping(percent=0), "rank distance"),
    ],
)
def test_refusals_name_what_is_wrong(method, word):
    with pytest.raises(TableError, match=word) as caught:
        method.fit(table(), roles=ROLES)
    assert caught.value.hint
