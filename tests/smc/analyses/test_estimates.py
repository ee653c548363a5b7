"""Estimates under limits are what runs cost in which no limit stands against the result, to the byte."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.disclosure.opener import Opener
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.forms import Role
from smc.pair import run_pair
from tests.smc.analyses import (
    clustering_runs,
    statistics_runs,
    vertical_runs,
)
from tests.smc.analyses.clustering import test_matched as test_clustering_matched
from tests.smc.analyses.matching import aggregates_runs, linked_runs, tolerant_runs
from tests.smc.analyses.matching.vectors import test_vectors
from tests.smc.analyses.statistics.test_exact import QUERIES
from tests.smc.analyses.statistics.test_exact import job as exact_job
from tests.support.grids import crossed

ALICE, BOB = frozenset({Role.ALICE}), frozenset({Role.BOB})
BOTH = frozenset(Role)
ALL_LIMITS = Limits(minimum_group=3, dominance=Fraction(4, 5), minimum_intersection=4)
LIMITED = [
    Limits(minimum_intersection=4),
    Limits(minimum_group=3),
    Limits(minimum_group=1),
    Limits(dominance=Fraction(2, 3)),
    ALL_LIMITS,
]


def check(study, alice, bob, limits, recipients=BOTH):
    """Run jointly and compare rounds and bytes with the estimate, which is returned."""
    schemas = {name: column.schema for data in (alice, bob) for name, column in data.items()}
    rows = len(next(iter(alice.values())))
    assert len(next(iter(bob.values()))) == rows
    estimate = estimate_cost(study, schemas, recipients, RunSetting((rows, rows), limits))

    def run(session):
        data = alice if session.role is Role.ALICE else bob
        run_study(study, session, data, recipients, limits.of_both)
        return session.channel.traffic

    first, second = run_pair(run, run)
    assert (first.sent, second.sent) == (estimate.alice_bytes, estimate.bob_bytes)
    assert max(first.rounds, second.rounds) == estimate.rounds
    return estimate


@pytest.mark.parametrize(("limits", "recipients"), crossed([NO_LIMITS, *LIMITED], [ALICE, BOB, BOTH]))
def test_keys(limits, recipients):
    study = MATCHING.parse({"method": "exact", "keys": ["id"]})
    sides = aggregates_runs.side(range(60)), aggregates_runs.side(range(30, 90))
    sides = [{"id": data["id"]} for data in sides]
    check(study, *sides, limits, recipients)


OUTPUTS = {name: getattr(aggregates_runs, name) for name in ("SIZE", "STATISTICS", "SHARES", "NOISY")} | {
    "NOISY SIZE": 'epsilon = "2"\n' + aggregates_runs.SIZE
}


@pytest.mark.parametrize(("name", "limits"), crossed(OUTPUTS, LIMITED))
def test_aggregates(name, limits):
    every = aggregates_runs.side(range(70)), aggregates_runs.side(range(20, 90))
    one_each = name == "STATISTICS" and limits.allow_one_figure
    check(aggregates_runs.parsed(aggregates_runs.ONE_EACH if one_each else OUTPUTS[name]), *every, limits)


@pytest.mark.parametrize(
    ("mode", "recipients"),
    crossed([{"mode": "none"}, {}, {"rounds": 3}, {"mode": "largest"}], [ALICE, BOTH]),
)
def test_tolerant(mode, recipients):
    alice, bob, _ = tolerant_runs.tables(20, 15)
    check(tolerant_runs.parameters(**mode), alice, bob, ALL_LIMITS, recipients)


def linked_job(output, limits, **changes):
    """Sums of one value of each side where limits ask for that."""
    one_each = {"values": linked_runs.VALUES[:2]}
    more = one_each if output == "statistics" and limits.allow_one_figure else {}
    return linked_runs.job(output, **more, **changes)


@pytest.mark.parametrize(
    ("output", "limits", "recipients"),
    crossed(["size", "statistics"], [NO_LIMITS, *LIMITED], [ALICE, BOTH]),
)
def test_figures_about_tolerant_matches(output, limits, recipients):
    alice, bob = linked_runs.tables(20, 18)
    cost = np.arange(20) * 1000
    sides = [linked_runs.with_values(data, cost=cost, days=10 + cost // 1000) for data in (alice, bob)]
    check(linked_job(output, limits), *sides, limits, recipients)


@pytest.mark.parametrize(
    ("output", "limits", "recipients"),
    crossed(["size", "statistics"], [NO_LIMITS, *LIMITED], [ALICE, BOTH]),
)
def test_figures_about_matches_by_ranks(output, limits, recipients):
    alice, bob = linked_runs.tables(20, 18)
    cost = np.arange(20) * 1000
    sides = [linked_runs.with_values(data, cost=cost, days=10 + cost // 1000) for data in (alice, bob)]
    check(linked_job(output, limits, **tolerant_runs.RANKED), *sides, limits, recipients)


CHOSEN = {"ranks": 1, "blocking": [["born:value"]], "threshold": "0.6", "histogram": {"epsilon": "12"}}
"""With so little noise that the least number of matches is reached."""


@pytest.mark.parametrize(("recipients", "chosen"), [(ALICE, {}), (BOB, {}), (BOTH, {}), (BOTH, CHOSEN)])
def test_tolerant_by_ranks(recipients, chosen):
    alice, bob, _ = tolerant_runs.tables(20, 15)
    check(tolerant_runs.by_ranks(**chosen), alice, bob, ALL_LIMITS, recipients)


@pytest.mark.parametrize("text", [test_vectors.NEAR, test_vectors.COLUMNS + "nearest = 2\n"])
@pytest.mark.parametrize("recipients", [BOB, BOTH])
def test_vectors_near_each_other(text, recipients):
    rows = test_vectors.integers(-900, 900, (11, 3))
    table = test_vectors.table(rows)
    check(test_vectors.parsed(text), table, table, ALL_LIMITS, recipients)


@pytest.mark.parametrize(
    ("extra", "split"),
    crossed(["", "labels = false\n", 'epsilon = "5"\nlabels = false\n'], [False, True]),
)
def test_clusters(extra, split):
    layout = clustering_runs.SPLIT if split else clustering_runs.COLUMNS
    study = clustering_runs.parsed(clustering_runs.BASE + layout + clustering_runs.STATED + extra)
    values = np.repeat([-300, 0, 300], 24)[:, None] + np.zeros((1, 3), dtype=np.int64)
    names = clustering_runs.NAMES
    if split:
        alice, bob = (clustering_runs.table(values[:, part], names[part]) for part in (slice(1), slice(1, 3)))
    else:
        alice = bob = clustering_runs.table(values)
    check(study, alice, bob, ALL_LIMITS)


def test_clusters_of_matched_rows():
    alice, bob = test_clustering_matched.tables(40, 40, 25)
    check(test_clustering_matched.job(), alice, bob, ALL_LIMITS)


@pytest.mark.parametrize(
    ("name", "limits", "recipients"),
    crossed(QUERIES, [ALL_LIMITS, NO_LIMITS, *LIMITED[1:]], [ALICE, BOB, BOTH]),
)
def test_exact_tables(name, limits, recipients):
    """What limits withhold is settled locally: with and without them the run costs the same."""
    group, spread = np.repeat(np.arange(4), 24), np.tile(np.arange(24), 4)
    data = statistics_runs.columns(age=10 + 5 * spread, weight=100 * spread, group=group)
    estimate = check(exact_job(name), data, data, limits, recipients)
    schemas = {name: column.schema for name, column in data.items()}
    assert estimate == estimate_cost(
        exact_job(name), schemas, recipients, RunSetting((len(group), len(group)))
    )


@pytest.mark.parametrize("limits", [Limits(minimum_group=3), ALL_LIMITS])
def test_noisy_statistics(limits):
    data = statistics_runs.table(60)
    study = statistics_runs.parsed()
    check(study, data, data, limits)


@pytest.mark.parametrize("limits", [Limits(minimum_intersection=4), ALL_LIMITS])
def test_statistics_of_matched_rows(limits, monkeypatch):
    pattern = Opener.pattern  # the noisy size could miss the limit
    monkeypatch.setattr(Opener, "pattern", lambda self, bits, told: np.ones_like(pattern(self, bits, told)))
    study = vertical_runs.job(*(vertical_runs.KINDS[name] for name in ("correlation", "sum by")))
    check(study, *vertical_runs.tables(50, 50, 30), limits)
