"""Memory in estimates: the model is near to what benchmarks have measured, and is None where nothing was."""

from __future__ import annotations

import pytest

from parties.bench.workloads import WORKLOADS
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.memory import MEBI, Memory
from smc.analyses.registry import ANALYSES
from smc.forms import Role

MEASURED = [
    ("exact", 200_000, 84),
    ("exact-size", 50_000, 69),
    ("exact-size", 200_000, 134),
    ("exact-sums", 200_000, 161),
    ("tolerant", 500, 76),
    ("tolerant", 5_000, 161),
    ("vectors", 300, 72),
    ("vectors", 1_000, 148),
    ("vectors-narrow", 2_000, 175),
    ("clusters", 2_000, 43),
    ("clusters", 20_000, 174),
    ("clusters-many", 5_000, 119),
    ("clusters-narrow", 5_000, 30),
    ("histogram", 200_000, 35),
    ("median", 50_000, 39),
]
"""Workload, rows a side, and MiB of the larger party over an idle one; docs/benchmarks.md has the command."""


def estimated(name, rows, limits=NO_LIMITS):
    workload = WORKLOADS[name]
    analysis = ANALYSES[workload.analysis]
    parameters = analysis.parse(workload.parameters)
    schemas = {column: held.schema for column, held in workload.data(10)[Role.ALICE].items()}
    return analysis.estimate(parameters, schemas, frozenset(Role), rows, 2048, limits).memory


@pytest.mark.parametrize(("name", "rows", "mebibytes"), MEASURED)
def test_the_model_is_near_to_measurements(name, rows, mebibytes):
    assert mebibytes / 1.4 < estimated(name, rows) / MEBI < 1.4 * mebibytes


def test_a_least_intersection_takes_the_memory_of_an_alignment():
    limits = Limits(minimum_intersection=4)
    assert estimated("exact", 1000, limits) == estimated("exact-size", 1000) > estimated("exact", 1000)


def test_the_model_is_a_fixed_part_and_rows():
    assert [Memory(7, 2.5).at(rows) for rows in (0, 4)] == [7, 17]


def test_there_is_no_figure_where_nothing_was_measured():
    preparation = ANALYSES["preparation"]
    parameters = preparation.parse({"count": 64, "bits": 10})
    assert preparation.estimate(parameters, {}, frozenset(Role), 1, 2048, NO_LIMITS).memory is None
