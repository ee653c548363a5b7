"""Rows that are followed, and jobs about their survival."""

from __future__ import annotations

import tomllib

import numpy as np

from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.studies.columns import Column, Schema
from smc.forms import Role

DAYS = Schema("integer", lower=0, upper=5000, unit="days")
ENDED = Schema("category", categories=("followed", "died", "moved"))
ARM = Schema("category", categories=("A", "B", "C"))
STAGE = Schema("category", categories=("I", "II"))
SCHEMAS = {"days": DAYS, "ended": ENDED, "arm": ARM, "stage": STAGE}
BOTH = frozenset(Role)

QUERY = """
[[queries]]
name = "survival"
kind = "survival"
time = "days"
event = "ended"
events = ["died"]
competing = ["moved"]
by = "arm"
strata = ["stage"]
every = 10
until = 100
step = 1
test = "log-rank"
restricted_mean = 40
"""


def job(query=QUERY, budget='epsilon = "1"', **changes):
    """The job, with keys of the query changed, or left out where they are None."""
    parameters = tomllib.loads(f"{budget}\nmaximum_rows = 100000\n{query}")
    (asked,) = parameters["queries"]
    asked |= changes
    parameters["queries"] = [{key: value for key, value in asked.items() if value is not None}]
    return STATISTICS.parse(parameters)


def columns(days, ended, arm, stage):
    held = {"days": days, "ended": ended, "arm": arm, "stage": stage}
    return {name: Column(np.array(values, dtype=np.int64), SCHEMAS[name]) for name, values in held.items()}


def known():
    """400 rows by a formula, of which other programs have computed figures, and the same as two sides."""
    i = np.arange(400)
    arm = i * 13 % 5 % 3
    days = 1 + i * i * 37 % (97 - i % 40)
    days = np.where(arm == 1, 1 + days * 2 // 3, days)
    ended = np.array([0, 0, 0, 2, 1, 1, 1])[i * 31 % 7]
    every = (days, ended, arm, i * 7 % 11 % 2)
    return tuple(columns(*(column[part] for column in every)) for part in (slice(0, 150), slice(150, None)))


def drawn(rows, seed, hazards=(1.0, 1.0, 1.0), scale=60.0):
    """Rows with the same chance of each arm, whose times are exponential, and cut off at random."""
    chance = np.random.default_rng(seed)
    arm, stage = chance.integers(0, 3, rows), chance.integers(0, 2, rows)
    times = chance.exponential(scale / np.array(hazards)[arm])
    ends = chance.uniform(0, 130, rows)
    moves = chance.exponential(400, rows)
    first = np.minimum(np.minimum(times, ends), moves)
    ended = np.where(times <= first, 1, np.where(moves <= first, 2, 0))
    return columns(np.ceil(first).astype(np.int64), ended, arm, stage)


def curves(outcome, name="survival", value="survival"):
    """The rows of a table of curves, by group and time."""
    (table,) = [table for table in outcome.tables if table.name == name]
    keys = zip(table.columns.get("group", [None] * 10_000), table.columns["time"], strict=False)
    return dict(zip(keys, table.columns[value], strict=False))


def figures(outcome, name):
    """A table as a list of its rows."""
    (table,) = [table for table in outcome.tables if table.name == f"survival: {name}"]
    return [dict(zip(table.columns, row, strict=True)) for row in zip(*table.columns.values(), strict=True)]
