"""Rows that belong together are drawn and suppressed together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import TableError, UnreachableError
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.methods.reduction.suppression import SuppressRecords
from anonymizer.releases.guarantee import Guarantee
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROLES = Roles(quasi_identifiers=("age",))
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["A", "B", "C", "D", None])), min_size=1, max_size=30
)


@given(rows=ROWS, rate=st.sampled_from([0.2, 0.5, 1.0]), seed=st.integers(0, 99))
def test_households_are_drawn_whole(rows, rate, seed):
    frame = pd.DataFrame(rows, columns=["age", "home"])
    origin = Sampling(rate=rate, together="home", random_state=seed).release(Table.of(frame)).origin.tolist()
    groups = frame["home"].nunique() + frame["home"].isna().sum()
    kept = frame.iloc[origin]
    assert kept["home"].nunique() + kept["home"].isna().sum() == max(1, round(rate * groups))
    for home in set(kept["home"].dropna()):
        assert (kept["home"] == home).sum() == (frame["home"] == home).sum()


def test_every_household_is_as_likely():
    frame = pd.DataFrame({"home": ["A"] * 8 + ["B", "C", None]})
    table = Table.of(frame)
    drawn = np.zeros(len(frame))
    for seed in range(300):
        drawn[Sampling(rate=0.5, together="home", random_state=seed).release(table).origin] += 1
    # 4 groups, 2 drawn: each with 1/2; six standard deviations
    assert (np.abs(drawn - 150) < 6 * np.sqrt(75)).all()


@given(rows=ROWS, k=st.integers(2, 4))
def test_who_stays_has_all_of_the_household_and_k_alike(rows, k):
    frame = pd.DataFrame(rows, columns=["age", "home"])
    left = frame
    while True:  # the plain way
        small = left.groupby("age")["age"].transform("size") < k
        if not small.any():
            break
        gone = set(left.loc[small, "home"].dropna())
        left = left[~small & ~left["home"].isin(gone)]
        if left.empty:
            break
    method = SuppressRecords(k=k, together="home")
    if left.empty:
        with pytest.raises(UnreachableError, match="all"):
            method.release(Table.of(frame, ROLES))
        return
    assert method.release(Table.of(frame, ROLES)).origin.tolist() == left.index.tolist()


def test_a_column_that_is_not_there_is_named():
    table = Table.of(pd.DataFrame({"age": [1, 2], "home": ["A", "A"]}), ROLES)
    for method in (Sampling(together="hme"), SuppressRecords(k=2, together="hme")):
        with pytest.raises(TableError, match=r"no column 'hme'.*'home'"):
            method.release(table)


def test_who_goes_with_others_takes_the_k_of_an_earlier_step_along():
    frame = pd.DataFrame({"age": [1] * 5 + [2] * 5 + [3], "home": [*"abcdefghij", "a"]})
    table = Table.of(frame, ROLES)
    earlier = Guarantee("k-anonymity", {"k": 5}, columns=("age",), method="local-recoding")
    for together, holds in ((None, True), ("home", False)):
        method = SuppressRecords(k=2, together=together)
        release = method.release(table).table
        assert (release.native["age"].value_counts().min() >= 5) == holds
        assert method.keeps(earlier, table, release) == holds
