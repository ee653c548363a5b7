"""Full-domain generalization against brute force over the whole lattice."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import SpecError, UnreachableError
from anonymizer.methods.conditions.constraints import Closeness, DistinctDiversity, EntropyDiversity
from anonymizer.methods.recoding.incognito import Incognito
from anonymizer.tables.table import Table
from tests.anonymizer.tables import HIERARCHIES, ROLES, measures, tables

LIMITS = {
    None: lambda one: True,
    DistinctDiversity("illness", 2): lambda one: one["distinct"] >= 2,
    EntropyDiversity("illness", 1.5): lambda one: one["entropy"] >= 1.5 - 1e-9,
    Closeness("illness", 0.3): lambda one: one["distance"] <= 0.3 + 1e-9,
}


def plain(table, k, limit, most):
    """Of each allowed choice of levels its three losses, with a level for a top that hierarchies lack."""
    frame = table.native
    everything = frame["illness"].tolist()
    columns = []
    for name in ROLES.quasi_identifiers:
        values, codes = np.unique(frame[name].to_numpy(dtype=object), return_inverse=True)
        levels = HIERARCHIES[name].bind(values, name)
        columns.append([[(level.labels[g], level.loss[g]) for g in level.groups[codes]] for level in levels])
        if len({label for label, _ in columns[-1][-1]}) > 1:
            columns[-1].append([("*", 1.0)] * len(frame))
    found = {}
    for node in itertools.product(*(range(len(levels)) for levels in columns)):
        chosen = [levels[number] for levels, number in zip(columns, node, strict=True)]
        rows = list(zip(*([label for label, _ in cells] for cells in chosen), strict=True))
        members = {row: [i for i, other in enumerate(rows) if other == row] for row in set(rows)}
        good = {
            row
            for row, places in members.items()
            if len(places) >= k and LIMITS[limit](measures([everything[i] for i in places], everything))
        }
        kept = [i for i, row in enumerate(rows) if row in good]
        gone = len(rows) - len(kept)
        if gone > most or not kept:
            continue
        sizes = Counter(rows[i] for i in kept)
        lost = sum(cells[i][1] for cells in chosen for i in kept) / len(columns) + gone
        found[node] = {
            "ncp": lost / len(rows),
            "discernibility": sum(s * s for s in sizes.values()) + gone * len(rows),
            "height": sum(node),
        }
    return found


@given(
    table=tables(least=3, most=25),
    k=st.integers(2, 3),
    limit=st.sampled_from(list(LIMITS)),
    share=st.sampled_from([0.0, 0.1, 0.4, 1.0]),
    loss=st.sampled_from(["ncp", "discernibility", "height"]),
)
def test_the_choice_is_the_best_of_all(table, k, limit, share, loss):
    allowed = plain(table, k, limit, int(share * len(table)))
    everything = table.native["illness"].tolist()
    if not LIMITS[limit](measures(everything, everything)):
        return
    constraints = () if limit is None else (limit,)
    method = Incognito(k=k, constraints=constraints, maximum_suppression=share, loss=loss)
    method.fit_transform_table(table)
    chosen = tuple(method.levels_.values())
    assert allowed[chosen][loss] == pytest.approx(min(one[loss] for one in allowed.values()))
    minimal = {
        node
        for node in allowed
        if not any(
            other in allowed
            for place in range(len(node))
            for other in [(*node[:place], node[place] - 1, *node[place + 1 :])]
        )
    }
    assert set(method.minimal_) == minimal


def test_wrong_parameters_are_named():
    frame = pd.DataFrame({"age": [1]})
    with pytest.raises(SpecError, match="'npc'"):
        Incognito(loss="npc").fit(frame)
    with pytest.raises(SpecError, match=r"maximum_suppression is 1\.5"):
        Incognito(maximum_suppression=1.5).fit(frame)


@given(
    table=tables(least=3, most=25),
    k=st.integers(2, 3),
    share=st.sampled_from([0.0, 0.4]),
    limits=st.fixed_dictionaries(
        {}, optional={name: st.sampled_from([(0, 1), (1, 1), (1, 2)]) for name in ("age", "city", "job")}
    ),
    weights=st.fixed_dictionaries(
        {}, optional={name: st.sampled_from([0.1, 5.0]) for name in ("age", "city", "job")}
    ),
)
def test_weights_and_limits_give_the_best_of_what_they_leave(table, k, share, limits, weights):
    method = Incognito(k=k, maximum_suppression=share, limits=limits, weights=weights)
    most = int(share * len(table))
    names = ROLES.quasi_identifiers
    allowed = {
        node: weighted_loss(table, node, k, [weights.get(name, 1.0) for name in names])
        for node in plain(table, k, None, most)
        if all(
            low <= level <= high
            for name, level in zip(names, node, strict=True)
            for low, high in [limits.get(name, (0, 9))]
        )
    }
    if not allowed:
        with pytest.raises(UnreachableError, match=r"within the limits|k is"):
            method.release(table)
        return
    release = method.release(table)
    assert release.guarantees[0].parameters == {"k": k} if k > 1 else not release.guarantees
    chosen = tuple(method.levels_.values())
    assert allowed[chosen] == pytest.approx(min(allowed.values()))


def test_the_lowest_level_within_limits_may_join_values():
    """Two of the three jobs are alike at level 1, which is the lowest here: nothing else need be coarser."""
    frame = pd.DataFrame({"age": [0] * 3, "city": ["a"] * 3, "job": ["x", "x", "y"], "illness": ["u"] * 3})
    method = Incognito(k=2, limits={"job": (1, 1)})
    method.release(Table.of(frame, ROLES, HIERARCHIES))
    assert method.minimal_ == [(0, 0, 1)]


def weighted_loss(table, node, k, weights):
    """The mean loss of a row, those in classes below k losing all."""
    frame = table.native
    cells = []
    for name, level in zip(ROLES.quasi_identifiers, node, strict=True):
        values, codes = np.unique(frame[name].to_numpy(dtype=object), return_inverse=True)
        levels = HIERARCHIES[name].bind(values, name)
        here = levels[level] if level < len(levels) else None
        cells.append(
            [(here.labels[here.groups[c]], here.loss[here.groups[c]]) if here else ("*", 1.0) for c in codes]
        )
    rows = [tuple(label for label, _ in row) for row in zip(*cells, strict=True)]
    counts = Counter(rows)
    return sum(
        sum(w * (loss if counts[row] >= k else 1.0) for w, (_, loss) in zip(weights, some, strict=True))
        for row, some in zip(rows, zip(*cells, strict=True), strict=True)
    ) / len(rows)
