"""The bytes and rounds beside the bars of docs/benchmarks.md are those of the present state."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from parties.bench.case import Case
from parties.bench.workloads import WORKLOADS
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.forms import ComparisonType, Role
from smc.network import Network
from smc.testing.case import schemas_of

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
SECTION = "## The bars of private transfers and of matching\n"
LINKS = {"loopback": None, "link": Network(rtt_ms=20, mbit=100)}


@cache
def rows():
    """The cells of the section's rows, those of "the same" with the case of the row above."""
    found, case = [], ""
    for line in PAGE.read_text(encoding="utf-8").partition(SECTION)[2].partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|"):
            case = cells[0] if cells[0] != "the same" else case
            found.append((case, *cells[1:]))
    return found


def comparisons():
    return [row for row in rows() if re.fullmatch(r"\d+, [\d,]+, \w+", row[0])]


def analyses():
    return [row for row in rows() if row[0].startswith("`") and row[3]]


def number(text):
    return float(text.replace(",", "").removesuffix(" MB"))


def test_all_rows_are_read():
    assert (len(comparisons()), len(analyses())) == (6, 13)


@pytest.mark.parametrize("row", comparisons(), ids=lambda row: row[0])
def test_bytes_of_comparisons_are_those_that_are_declared(row):
    bits, batch, engine = re.fullmatch(r"(\d+), ([\d,]+), (\w+)", row[0]).groups()
    case = Case(ComparisonType.parse("PN-NP-SS"), int(bits), int(number(batch)), 2048, engine, 2**64)
    cost = case.plan().cost(case.parameters)
    each = (cost.alice_bytes + cost.bob_bytes) / case.batch
    assert number(row[2]) == round(each, 1)
    ratio = number(row[2]) / number(row[1])
    assert number(row[3]) == pytest.approx(ratio, abs=0.006)
    assert row[4].startswith("yes" if ratio <= 1.001 else "missed")


@pytest.mark.parametrize("row", analyses(), ids=lambda row: f"{row[0]}, {row[1]}")
def test_bytes_of_analyses_are_those_that_are_declared(row):
    name, alice, bob = re.match(r"`([\w-]+)`, ([\d,]+) x ([\d,]+)", row[0]).groups()
    workload = WORKLOADS[name]
    study = ANALYSES[workload.analysis].parse(workload.parameters)
    schemas = {
        column: schema for side in workload.data(40).values() for column, schema in schemas_of(side).items()
    }
    setting = RunSetting((int(number(alice)), int(number(bob.rstrip(",")))), network=LINKS[row[1]])
    cost = estimate_cost(study, schemas, frozenset(map(Role, workload.recipients)), setting)
    assert (number(row[3]), number(row[4])) == (
        round((cost.alice_bytes + cost.bob_bytes) / 1e6, 2),
        cost.rounds,
    )
