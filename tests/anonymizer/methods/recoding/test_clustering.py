"""Clusters of rows, and the look-ups that they are made with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import TableError
from anonymizer.methods.conditions.allowed import Allowed
from anonymizer.methods.recoding.attributes import attribute, class_losses, covers
from anonymizer.methods.recoding.clustering import k_member, one_pass
from anonymizer.methods.recoding.joining import Joins, join_classes
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from scripts.bench.ncp import ncp
from tests.anonymizer.tables import HIERARCHIES, ROLES, tables


def attributes(table, *, numbers=False):
    if numbers:
        table = replace(table, hierarchies={n: h for n, h in HIERARCHIES.items() if n != "age"})
    return [attribute(table, column) for column in ROLES.quasi_identifiers]


@given(tables(), st.booleans(), st.data())
def test_covers_join_as_the_look_up_says(table, numbers, data):
    for one in attributes(table, numbers=numbers):
        place = st.integers(0, one.width - 1)
        low, high = sorted((data.draw(place), data.draw(place)))
        joins = Joins(one)(low, high)
        values = np.arange(one.width)
        assert joins == pytest.approx(one.loss(np.minimum(values, low), np.maximum(values, high)))


@given(tables(), st.integers(1, 5), st.integers(0, 9))
def test_clusters_have_k_rows(table, k, seed):
    columns = attributes(table)
    sizes = np.bincount(k_member(columns, k, Randomness(seed)))
    assert sorted(sizes.tolist()) == sorted([k] * (len(table) // k) + [1] * (len(table) % k))
    if k <= len(table):
        sizes = np.bincount(one_pass(columns, k, Randomness(seed)))
        assert len(sizes) == len(table) // k
        assert sizes.min() >= k
        assert sizes.sum() == len(table)


@given(
    tables(least=4), st.integers(1, 4), st.booleans(), st.lists(st.integers(0, 5), min_size=40, max_size=40)
)
def test_joined_classes_are_unions_and_the_first_is_the_cheapest(table, k, numbers, given_classes):
    columns = attributes(table, numbers=numbers)
    before = np.array(given_classes)[: len(table)]
    after = join_classes(columns, before, Allowed(table, k))
    assert np.bincount(after)[np.unique(after)].min() >= k
    for number in np.unique(before):
        assert len(np.unique(after[before == number])) == 1

    # with one class too small, all ways to join it can be tried
    sizes = np.bincount(before)
    present = np.flatnonzero(sizes)
    if np.count_nonzero(sizes[present] < k) != 1:
        return
    small = next(number for number in present if sizes[number] < k)

    def total(classes):
        own = np.unique(classes, return_inverse=True)[1]
        return float((class_losses(columns, own, own.max() + 1) * np.bincount(own)).sum())

    costs = [total(np.where(before == small, other, before)) for other in present if other != small]
    assert total(after) == pytest.approx(min(costs))


def test_covers_are_the_lowest_common_labels():
    table = Table.of(
        pd.DataFrame({"age": [0, 1, 7, 15], "city": list("abce"), "job": list("xyzx")}),
        Roles(quasi_identifiers=ROLES.quasi_identifiers),
        HIERARCHIES,
    )
    classes = np.array([0, 0, 1, 1])
    labels = [one.labels(*covers(one.codes, classes, 2)) for one in attributes(table)]
    texts = [one.values[one.codes].tolist() for one in labels]
    assert texts == [["[0, 2)", "*"], ["east", "west"], ["work", "*"]]


@given(tables(least=5))
def test_the_loss_of_a_release_is_that_of_its_classes(table):
    release = LocalRecoding(k=2).fit_transform_table(table)
    assert ncp(table, table) == 0
    half = np.arange(len(table) // 2)
    assert ncp(table, table.take(half), half) == pytest.approx(1 - len(half) / len(table))
    everything = release.replace({name: ["*"] * len(table) for name in ROLES.quasi_identifiers})
    assert ncp(table, everything) == pytest.approx(1)
    with pytest.raises(TableError, match="which is not one of its labels"):
        ncp(table, release.replace({"city": ["north"] * len(table)}))
    with pytest.raises(TableError, match="duetto anonymize --report"):
        ncp(table, table.take(half))
