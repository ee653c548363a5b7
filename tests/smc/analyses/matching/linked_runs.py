"""Exact figures about tolerant matches: jobs, tables with numbers, and the pairs in the clear."""

from __future__ import annotations

import numpy as np

from smc.analyses.matching.analysis import MATCHING
from smc.analyses.matching.tolerant.plain import plain_links
from smc.analyses.matching.tolerant.records import prepare, read_texts
from smc.analyses.studies.columns import Column, Schema
from tests.smc.analyses.matching import tolerant_runs as people

COST = Schema("decimal", scale=2, lower=-50_000, upper=900_000)
DAYS = Schema("integer", lower=0, upper=365)
VALUES = [
    {"side": "bob", "column": "days"},
    {"side": "alice", "column": "cost"},
    {"side": "bob", "column": "cost"},
]


def job(output="statistics", **changes):
    values = {"values": VALUES} if output == "statistics" else {}
    given = {"method": "tolerant", "output": output, **people.PASSES, **values, **changes}
    return MATCHING.parse({key: value for key, value in given.items() if value is not None})


ONE_EACH = job(values=VALUES[:2])
"""One value of each side, as limits ask for."""


def with_values(data, cost=None, days=None):
    rows = len(data["surname"])
    cost = [(7919 * row) % 950_001 - 50_000 for row in range(rows)] if cost is None else cost
    days = [(31 * row) % 366 for row in range(rows)] if days is None else days
    return {
        **data,
        "cost": Column(np.array(cost, dtype=np.int64), COST),
        "days": Column(np.array(days, dtype=np.int64), DAYS),
    }


def tables(rows=60, common=45, bob_rows=None):
    alice, bob, _ = people.tables(rows, common, bob_rows)
    return with_values(alice), with_values(bob)


def pairs_of(study, alice, bob):
    """The pairs that are summed over, in the clear."""
    matching = study.parameters.matching
    buckets = matching.buckets((len(alice["surname"]), len(bob["surname"])))
    sides = (prepare(matching, read_texts(matching, data), buckets) for data in (alice, bob))
    return plain_links(matching, *sides)


def figures(outcome):
    (table,) = outcome.tables
    return {name: list(cells) for name, cells in table.columns.items()}
