"""Full-domain generalization against brute force over the whole lattice."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.errors import SpecError
from anonymizer.models.constraints import Closeness, DistinctDiversity, EntropyDiversity
from anonymizer.models.incognito import Incognito
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


@settings(max_examples=80, deadline=None)
@given(
    table=tables(least=3, most=25),
    k=st.integers(1, 3),
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
    method = Incognito(k=k, constraints=constraints, max_suppression=share, loss=loss)
    method.release(table)
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
    with pytest.raises(SpecError, match=r"max_suppression is 1\.5"):
        Incognito(max_suppression=1.5).fit(frame)
