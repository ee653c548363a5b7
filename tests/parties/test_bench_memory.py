"""Memory in estimates: the model is near to what benchmarks have measured, and is None where nothing was."""

from __future__ import annotations

import pytest

from parties.bench.workloads import WORKLOADS
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.memory import MEBI, Memory
from smc.forms import Role

MEASURED = [
    ("exact", 200_000, 84),
    ("exact-size", 50_000, 69),
    ("exact-size", 200_000, 134),
    ("exact-sums", 200_000, 161),
    ("tolerant", 500, 76),
    ("tolerant", 5_000, 161),
    ("tolerant-ranks", 1_000, 54),
    ("tolerant-ranks", 3_000, 90),
    ("tolerant-ranks", 10_000, 116),
    ("tolerant-ranks", 40_000, 252),
    ("tolerant-ranks", 100_000, 510),
    ("vectors", 300, 73),
    ("vectors", 1_000, 166),
    ("vectors-narrow", 2_000, 187),
    ("clusters", 2_000, 33),
    ("clusters", 20_000, 119),
    ("clusters", 50_000, 218),
    ("clusters-many", 5_000, 111),
    ("clusters-narrow", 5_000, 40),
    ("histogram", 200_000, 35),
    ("matched-moments", 100_000, 233),
    ("matched-moments", 300_000, 652),
    ("median", 50_000, 39),
]
"""Workload, rows a side, and MiB of the larger party over an idle one; docs/benchmarks.md has the command."""


def estimated(name, rows, limits=NO_LIMITS):
    workload = WORKLOADS[name]
    analysis = ANALYSES[workload.analysis]
    study = analysis.parse(workload.parameters)
    data = workload.data(10)
    schemas = {column: held.schema for role in Role for column, held in data[role].items()}
    return study.cost(schemas, frozenset(Role), rows, 2048, limits).memory


@pytest.mark.parametrize(("name", "rows", "mebibytes"), MEASURED)
def test_the_model_is_near_to_measurements(name, rows, mebibytes):
    assert mebibytes / 1.4 < estimated(name, rows) / MEBI < 1.4 * mebibytes


def test_a_least_intersection_takes_the_memory_of_an_alignment():
    limits = Limits(minimum_intersection=4)
    assert estimated("exact", 1000, limits) == estimated("exact-size", 1000) > estimated("exact", 1000)


def test_the_model_is_a_fixed_part_and_rows():
    assert [Memory(7, 2.5).at(rows) for rows in (0, 4)] == [7, 17]


def number(bits):
    return Schema("integer", lower=0, upper=(1 << bits) - 1)


def of_preparation(count, bits):
    return said("preparation", {"count": count, "bits": bits}, {}, 1)


def of_comparison(rows, bits, **changed):
    parameters = {"type": "PN-NP-SS", "bits": bits, "engine": "oblivious"} | changed
    return said("comparison", parameters, {"x": number(bits), "y": number(bits)}, rows)


def of_sums(rows, bits):
    values = [{"side": "bob", "column": "v"}]
    parameters = {"method": "exact", "keys": ["id"], "output": "statistics", "values": values}
    return said("matching", parameters, {"id": number(30), "v": number(bits)}, rows, Limits(minimum_group=10))


def of_matched(rows, query):
    parameters = {
        "layout": "vertical",
        "epsilon": "1",
        "alice_columns": ["a"],
        "bob_columns": ["b"],
        "match": {"keys": ["id"]},
        "queries": [query],
    }
    return said("statistics", parameters, {"id": number(30), "a": number(7), "b": number(7)}, rows)


def said(name, parameters, schemas, rows, limits=NO_LIMITS):
    analysis = ANALYSES[name]
    parsed = analysis.parse(parameters)
    return parsed.cost(schemas, frozenset(Role), rows, 2048, limits).memory


def crosstab(bins):
    edges = [str(place * 100 // bins) for place in range(bins + 1)]
    return {"kind": "crosstab", "columns": ["a", "b"], "edges": {"a": edges, "b": edges}}


CORRELATION = {"kind": "correlation", "columns": ["a", "b"]}
IN_ONE_PROCESS = [
    (of_preparation, (100_000, 16), 15),
    (of_preparation, (1_000_000, 16), 44),
    (of_preparation, (300_000, 64), 54),
    (of_comparison, (100_000, 16), 20),
    (of_comparison, (1_000_000, 16), 108),
    (of_comparison, (200_000, 60), 39),
    (of_sums, (100_000, 17), 192),
    (of_sums, (100_000, 40), 353),
    (of_matched, (20_000, CORRELATION), 31),
    (of_matched, (100_000, CORRELATION), 57),
    (of_matched, (100_000, crosstab(3)), 68),
    (of_matched, (100_000, crosstab(10)), 132),
    (of_matched, (100_000, crosstab(30)), 244),
]
"""What is asked, and MiB: half of what both parties of one process took at their peak."""


@pytest.mark.parametrize(("estimate", "size", "mebibytes"), IN_ONE_PROCESS)
def test_the_model_is_near_to_both_parties_in_one_process(estimate, size, mebibytes):
    assert mebibytes / 1.4 < estimate(*size) / MEBI < 1.4 * mebibytes


@pytest.mark.parametrize("changed", [{"engine": "paillier"}, {"engine": "silent"}, {"type": "PN-NP-ES"}])
def test_there_is_no_figure_where_nothing_was_measured(changed):
    assert of_comparison(10, 8) is not None
    assert of_comparison(10, 8, **changed) is None


def test_there_is_no_figure_of_clusters_over_matched_rows():
    parameters = {
        "clusters": 2,
        "layout": "vertical",
        "alice_columns": ["a"],
        "bob_columns": ["b"],
        "labels": False,
        "match": {"keys": ["id"]},
    }
    assert said("clustering", parameters, {"id": number(30), "a": number(7), "b": number(7)}, 10) is None
