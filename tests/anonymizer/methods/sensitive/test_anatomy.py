"""Anatomy: groups of different sensitive values, two tables that hold together what one held."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import TableError, UnreachableError
from anonymizer.methods.sensitive.anatomy import Anatomy
from anonymizer.tables.roles import Roles

ROLES = Roles(quasi_identifiers=("age",), sensitive=("illness",))


def people(illnesses) -> pd.DataFrame:
    return pd.DataFrame({"age": np.arange(len(illnesses)), "illness": list(illnesses)})


@given(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=80), st.integers(2, 4), st.integers(0, 99))
def test_groups_have_l_different_values_or_none_can_be_made(illnesses, least, seed):
    frame = people(illnesses)
    method = Anatomy(l=least, random_state=seed)
    if frame["illness"].value_counts().max() * least > len(frame):
        with pytest.raises(UnreachableError, match="'illness'"):
            method.fit(frame, roles=ROLES)
        return
    out = method.fit_transform(frame, roles=ROLES)
    assert out.columns.tolist() == ["age", "group"]
    assert out["age"].tolist() == frame["age"].tolist()
    truth = out.assign(illness=frame["illness"])
    for _, rows in truth.groupby("group"):
        assert len(rows) >= least
        assert rows["illness"].is_unique
    counted = truth.groupby(["group", "illness"]).size().rename("count").reset_index()
    pd.testing.assert_frame_equal(method.extra_["sensitive"].native, counted, check_dtype=False)
    assert method.share_ <= 1 / least
    assert method.share_ == pytest.approx(1 / truth.groupby("group").size().min())


def test_the_sensitive_table_is_of_the_same_library_and_type():
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "illness": ["a", "b", "b", "a"]}).with_columns(
        pl.col("illness").cast(pl.Categorical)
    )
    method = Anatomy(random_state=1)
    out = method.fit_transform(frame, roles=ROLES)
    assert out.columns == ["age", "group"]
    assert method.extra_["sensitive"].native.columns == ["group", "illness", "count"]
    assert method.extra_["sensitive"].native["illness"].dtype == frame["illness"].dtype
    assert method.extra_["sensitive"].native["count"].sum() == 4


def test_which_row_has_which_value_is_a_fair_coin():
    frame = people("ab" * 4000)
    method = Anatomy(l=2, random_state=7)
    group = method.fit_transform(frame, roles=ROLES)["group"].to_numpy()
    first = np.full(4000, -1)
    # of each group the row that comes first: it should have `a` half of the time
    rows = np.argsort(group, kind="stable")[::2]
    first = frame["illness"].to_numpy()[rows] == "a"
    # 4,000 coins: 0.04 are five standard deviations, a false alarm in 1.7 million
    assert abs(first.mean() - 0.5) < 0.04


@pytest.mark.parametrize(
    ("method", "roles", "frame", "word"),
    [
        (Anatomy(l=1), ROLES, people("ab"), "l is 1"),
        (Anatomy(), Roles(quasi_identifiers=("age",)), people("ab"), "name 0"),
        (Anatomy(), ROLES, people("ab").assign(group=1), "'group'"),
        (Anatomy(), ROLES, people(["a", None]), "'illness'"),
        (Anatomy(sensitive="ilness"), ROLES, people("ab"), "'ilness'"),
    ],
)
def test_refusals_name_what_is_wrong(method, roles, frame, word):
    with pytest.raises(TableError, match=word) as caught:
        method.fit(frame, roles=roles)
    assert caught.value.hint
