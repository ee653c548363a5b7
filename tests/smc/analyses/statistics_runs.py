"""A statistics job over everything, tables for it, and joint runs."""

from __future__ import annotations

import tomllib

import numpy as np

from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.runner import run_study
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.noise import noise
from tests.support.seeds import seeded

RANDOM = seeded()
BOTH = frozenset(Role)

AGE = Schema("integer", lower=0, upper=150, unit="years")
WEIGHT = Schema("decimal", scale=1, lower=0, upper=2500, unit="kg")
GROUP = Schema("category", categories=("A", "B", "AB", "0"))
SCHEMAS = {"age": AGE, "weight": WEIGHT, "group": GROUP}

EVERYTHING = """
epsilon = "4.0"
maximum_rows = 1000
[[queries]]
name = "patients"
kind = "count"
[[queries]]
kind = "sum"
column = "age"
lower = "18"
upper = 90
[[queries]]
kind = "sum"
column = "weight"
[[queries]]
kind = "mean"
column = "weight"
lower = "40.5"
upper = "120"
[[queries]]
kind = "histogram"
column = "age"
edges = [0, 20, 40, 60, 120]
[[queries]]
name = "groups"
kind = "histogram"
column = "group"
categories = ["B", "0"]
"""


def parsed(text=EVERYTHING):
    return STATISTICS.parse(tomllib.loads(text))


def table(rows):
    return {
        "age": Column([30 + v for v in RANDOM.below(121, rows)], AGE),
        "weight": Column(RANDOM.below(2501, rows), WEIGHT),
        "group": Column(RANDOM.below(4, rows), GROUP),
    }


def joint(study, alice, bob, recipients=BOTH, limits=NO_LIMITS):
    return run_pair(
        lambda s: run_study(study, s, alice, recipients, limits.of_both),
        lambda s: run_study(study, s, bob, recipients, limits.of_both),
    )


def silence(monkeypatch):
    """Draw no noise: joint runs give the exact statistics."""
    monkeypatch.setattr(
        noise, "draw", lambda session, distributions: np.zeros(len(distributions), dtype=np.uint64)
    )


def traffic(study, alice, bob, recipients=BOTH, limits=NO_LIMITS):
    """What Alice and Bob sent and received, messages and rounds."""

    def side(data):
        def run(session):
            run_study(study, session, data, recipients, limits.of_both)
            return session.channel.traffic

        return run

    return run_pair(side(alice), side(bob))


def columns(**held):
    """Data from lists of held values: age, weight and group."""
    return {name: Column(np.array(values, dtype=np.int64), SCHEMAS[name]) for name, values in held.items()}


def results(outcome):
    columns = outcome.tables[0].columns
    return {
        name: dict(zip(columns, row, strict=True))
        for name, *row in ((row[0], *row) for row in zip(*columns.values(), strict=True))
    }
