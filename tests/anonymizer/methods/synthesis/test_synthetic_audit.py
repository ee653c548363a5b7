"""Audits of synthetic tables: what released files of two neighbouring tables prove of epsilon.

The second table has one row more, of a kind that no other row is. The audit sees files alone: it counts the
cells of that row in each. The bound may be wrong with a probability of 1e-6 each.
"""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest

from anonymizer.dp.audit import loss_at_least
from anonymizer.gate.gate import Gate
from anonymizer.methods.registry import METHODS
from anonymizer.methods.synthesis.synthesis import Synthesis
from anonymizer.schema.columns import Column, Schema
from anonymizer.synthetic.budget import Budget
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from tests.support.grids import grid

SCHEMA = Schema(
    {"town": Column("category", categories=("a", "b")), "ill": Column("category", categories=("no", "yes"))}
)
WRONG = 1e-6
EPSILON = 0.5
RUNS = 80
"""Half of them are counted: events that are always seen on one table and never on the other prove 0.83."""


def neighbours(rows: int = 12) -> tuple[Table, Table]:
    frame = pd.DataFrame({"town": ["a"] * rows, "ill": ["no"] * rows})
    more = pd.concat([frame, pd.DataFrame({"town": ["b"], "ill": ["yes"]})], ignore_index=True)
    fewer, larger = (Table.of(one, Roles(quasi_identifiers=("town",)), {}, SCHEMA) for one in (frame, more))
    return fewer, larger


def told(method: Synthesis, table: Table, folder) -> float:
    """How many rows of a released file are like the one that only one table has."""
    Gate().write(method.release(table), folder / "out.csv")
    with (folder / "out.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return float(sum((row["town"] == "b") + (row["ill"] == "yes") for row in rows))


def audited(make, folder, runs: int, delta: float) -> float:
    fewer, larger = neighbours()
    samples = [[told(make(), table, folder) for _ in range(runs)] for table in (fewer, larger)]
    return loss_at_least(*samples, delta=delta, wrong=WRONG)


@pytest.mark.parametrize("word", grid(["synth-histogram", "synth-privbayes"], ["synth-privbayes"]))
def test_files_prove_no_more_than_is_promised(word, tmp_path):
    def make():
        return METHODS[word](epsilon=EPSILON, delta=1e-6)

    assert audited(make, tmp_path, RUNS, 1e-6) <= EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("word", sorted(word for word in METHODS if word.startswith("synth-")))
def test_many_files_prove_no_more_than_is_promised(word, tmp_path):
    runs = 300 if word in ("synth-aim", "synth-mst") else 2000

    def make():
        return METHODS[word](epsilon=EPSILON, delta=1e-6)

    assert audited(make, tmp_path, runs, 1e-6) <= EPSILON


class Careless(METHODS["synth-independent"]):
    """Promises epsilon 0.5 and spends 40."""

    def _learn(self, data, budget, randomness):
        learned = super()._learn(data, Budget(40.0, self.delta), randomness)
        budget.counts(np.array([0]), budget.total)
        return learned


@pytest.mark.slow
def test_the_audit_finds_a_method_that_spends_more_than_it_says(tmp_path):
    assert audited(lambda: Careless(epsilon=EPSILON), tmp_path, RUNS, 1e-6) > EPSILON


@pytest.mark.parametrize(("delta", "part"), [(0.0, 0.3), (1e-6, 0.05)])
def test_noisy_counts_prove_a_part_of_what_is_spent(delta, part):
    # the counts themselves, where an adversary sees most; too little noise would be found
    runs, epsilon = 30_000, 2.0
    samples = []
    for count in (0, 1):
        budget = Budget(epsilon, delta)
        noisy = budget.counts(np.full(runs, count), budget.total)  # noise of each cell is independent
        samples.append(noisy.values)
    found = loss_at_least(*samples, delta=delta, wrong=WRONG)
    assert part * epsilon < found <= epsilon
