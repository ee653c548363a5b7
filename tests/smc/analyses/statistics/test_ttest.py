"""Welch's t-test: exact against known values, joint against plain, valid under the noise, wrong jobs."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.statistics.kinds.draws import chi_squares, noise_like, normals
from smc.analyses.statistics.kinds.ttest_student import Sample, Welch, critical, two_sided
from smc.analyses.statistics.plans import noisy
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.coins import toss
from tests.smc.analyses.statistics_runs import silence
from tests.support.seeds import seeded

RANDOM = seeded()
BOTH = frozenset(Role)
VALUE = Schema("decimal", scale=1, lower=0, upper=2000, unit="mm")
GROUP = Schema("category", lower=0, upper=2, categories=("a", "b", "c"))
SCHEMAS = {"x": VALUE, "g": GROUP}
QUERY = {"kind": "t-test", "column": "x", "by": "g", "labels": ["a", "c"]}


def parsed(query=QUERY, **fields):
    return STATISTICS.parse({"epsilon": "4", "maximum_rows": 100_000, "queries": [query], **fields})


def table(values, labels):
    """Columns of held values and group numbers."""
    return {
        "x": Column(np.array(values, dtype=np.int64), VALUE),
        "g": Column(np.array(labels, dtype=np.int64), GROUP),
    }


def drawn(rows, means=(1000, 1000, 1000), spread=100):
    labels = np.array(RANDOM.below(3, rows))
    values = np.array(means)[labels] + np.rint(spread * normals(rows, RANDOM)).astype(np.int64)
    return table(values, labels)


def found(outcome):
    """The common row and the test's own table."""
    common = outcome.tables[0].columns
    row = {name: column[0] for name, column in common.items()}
    test = outcome.tables[1].columns if len(outcome.tables) > 1 else {"quantity": [], "value": []}
    return row, dict(zip(test["quantity"], test["value"], strict=True))


def plain(study, alice, bob):
    return study.reference(alice, bob, BOTH)[0]


def joint(study, alice, bob, recipients=BOTH):
    return run_pair(
        lambda s: run_study(study, s, alice, recipients, NO_LIMITS.of_both),
        lambda s: run_study(study, s, bob, recipients, NO_LIMITS.of_both),
    )


def test_student_with_one_two_and_many_degrees_of_freedom():
    for t in (0.0, 0.3, 1.0, 7.5, 300.0):
        assert two_sided(t, 1) == pytest.approx(1 - 2 * np.arctan(t) / np.pi, rel=1e-9)
        assert two_sided(t, 2) == pytest.approx(1 - t / np.sqrt(2 + t * t), rel=1e-7)
    assert two_sided(2.2281388519649385, 10) == pytest.approx(0.05, rel=1e-9)
    assert critical(0.05, 10) == pytest.approx(2.2281388519649385, rel=1e-10)
    assert critical(0.05, 1e7) == pytest.approx(1.959964, rel=1e-6)


@given(st.floats(0.5, 500), st.floats(1e-6, 0.999))
def test_the_critical_value_is_where_the_tail_is(freedom, level):
    assert two_sided(critical(level, freedom), freedom) == pytest.approx(level, rel=1e-6)


def test_welch_by_a_known_example():
    """Values by hand: means 20 and 30, variances 10 and 40, sizes 5 and 10."""
    tested = Welch.of([Sample(5, 20.0, 10.0), Sample(10, 30.0, 40.0)])
    assert tested.t == pytest.approx(-10 / 6**0.5)
    assert tested.freedom == pytest.approx(36 / (4 / 4 + 16 / 9))
    assert Welch.of([Sample(1, 20.0, 0.0), Sample(10, 30.0, 40.0)]) is None
    assert Welch.of([Sample(5, 20.0, 0.0), Sample(10, 30.0, 0.0)]) is None


def test_the_plain_twin_is_welchs_test_of_both_tables():
    alice = table([10, 20, 30, 5000, 990], [0, 0, 2, 2, 1])
    bob = table([40, -70, 80, 90], [0, 0, 2, 2])
    row, test = found(plain(parsed(), alice, bob))
    a, c = np.array([1.0, 2.0, 4.0, 0.0]), np.array([3.0, 200.0, 8.0, 9.0])
    square = a.var(ddof=1) / 4 + c.var(ddof=1) / 4
    assert row["value"] == pytest.approx(a.mean() - c.mean())
    assert test["t"] == pytest.approx((a.mean() - c.mean()) / square**0.5)
    assert test["p_value"] == pytest.approx(two_sided(abs(test["t"]), test["degrees_of_freedom"]))
    assert test["rows of a"] == test["rows of c"] == 4
    assert test["variance of c"] == pytest.approx(c.var(ddof=1))
    width = critical(0.05, test["degrees_of_freedom"]) * square**0.5
    assert (row["lower_95"], row["upper_95"]) == pytest.approx((row["value"] - width, row["value"] + width))


def test_a_joint_run_comes_near_the_plain_twin():
    alice, bob = drawn(6000, means=(900, 0, 1100)), drawn(3000, means=(900, 0, 1100))
    study = parsed()
    for outcome in joint(study, alice, bob):
        row, test = found(outcome)
        exact, exact_test = found(plain(study, alice, bob))
        assert row["value"] == pytest.approx(exact["value"], abs=2)
        assert test["p_value"] == 1 / 10_000
        assert exact_test["p_value"] < 1e-9
        assert row["upper_95"] < 0
        assert test["degrees_of_freedom"] is None
        assert test["mean of a"] == pytest.approx(exact_test["mean of a"], abs=2)
        assert any("simulated with the noise" in note for note in outcome.notes)
        assert outcome.details["epsilon"] == "4"


def test_gaussian_noise_and_one_recipient():
    alice, bob = drawn(3000), drawn(3000)
    study = STATISTICS.parse({"noise": "gaussian", "rho": "1/10", "queries": [QUERY]})
    first, second = joint(study, alice, bob, frozenset({Role.BOB}))
    assert first.tables == ()
    assert found(second)[1]["rows of a"] > 0


@pytest.mark.parametrize("budget", [{"epsilon": "4"}, {"noise": "gaussian", "rho": "1/10"}])
def test_both_recipients_get_the_same_figures(budget):
    """The interval's ends are quantiles of what is simulated, which two simulations never have in common."""
    study = STATISTICS.parse({"queries": [QUERY], **budget})
    first, second = joint(study, drawn(1000), drawn(1000))
    assert found(first)[0]["lower_95"] < found(first)[0]["upper_95"]
    assert (first.tables, first.notes) == (second.tables, second.notes)


def test_each_query_and_each_run_has_draws_of_its_own(monkeypatch):
    silence(monkeypatch)
    study = parsed(queries=[QUERY | {"name": name} for name in ("one", "two")])
    alice, bob = drawn(500), drawn(500)
    ends = [joint(study, alice, bob)[0].tables[0].columns["lower_95"] for _ in range(2)]
    assert len({end for run in ends for end in run}) == 4


@pytest.mark.parametrize("recipients", [BOTH, frozenset({Role.ALICE}), frozenset({Role.BOB})])
def test_the_seed_is_tossed_before_the_gate_whoever_receives(monkeypatch, recipients):
    events = {role: [] for role in Role}

    def tossed(session):
        events[session.role].append("seed")
        return toss(session)

    monkeypatch.setattr(noisy, "toss", tossed)

    def side(data):
        def run(session):
            def gate(channel):
                events[session.role].append("gate")

            run_study(parsed(), session, data, recipients, NO_LIMITS.of_both, gate)
            return session.channel.traffic

        return run

    sent = run_pair(side(drawn(50)), side(drawn(20)))
    assert events == {role: ["seed", "gate"] for role in Role}
    cost = estimate_cost(parsed(), SCHEMAS, recipients, RunSetting((60, 60)))
    assert (sent[0].sent, sent[1].sent) == (cost.alice_bytes, cost.bob_bytes)
    assert max(each.rounds for each in sent) == cost.rounds


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_groups_that_are_too_small_give_a_note_and_no_number(rows):
    alice, bob = table([100] * rows, [0] * rows), table([200] * 500, [2] * 500)
    for outcome in (plain(parsed(), alice, bob), joint(parsed(), alice, bob)[0]):
        row, test = found(outcome)
        assert row["value"] is None
        assert not test
        assert any("cannot be computed" in note for note in outcome.notes)


def simulated(query, rows, means, spread, tests):
    """p-values of noisy tests on tables of two groups, with the noise of the protocol's distributions."""
    statistic = plan(parsed(query).parameters, SCHEMAS)[0].statistic
    found = []
    labels = np.repeat([0, 2], rows)
    for _ in range(tests):
        values = np.repeat(means, rows) + np.rint(spread * normals(sum(rows), RANDOM)).astype(np.int64)
        exact = statistic.local(LocalRows({"x": values, "g": labels}, np.arange(len(labels)), len(labels)))
        noise = [noise_like(distribution, 1, RANDOM)[0] for distribution in statistic.distributions]
        entries = [int(entry + drawn) for entry, drawn in zip(exact, noise, strict=True)]
        result = statistic.result(entries, statistic.distributions, RANDOM)
        found.append((result, dict(zip(result.table["quantity"], result.table["value"], strict=True))))
    return found


def most_likely(tests, chance):
    """The least k that more than k successes exceed with probability below 1e-6."""
    tail, k = 1.0, -1
    while tail > 1e-6:
        k += 1
        tail -= comb(tests, k) * chance**k * (1 - chance) ** (tests - k)
    return k


@pytest.mark.parametrize(("rows", "means"), [((60, 60), (1000, 1000)), ((200, 1000), (300, 300))])
def test_equal_means_are_rejected_as_rarely_as_stated(rows, means):
    """At 5 %: a true rate up to 8 %, for what the simulation takes from noisy sums, passes but for 1e-6."""
    tests = 200
    outcomes = simulated(QUERY, rows, means, 200, tests)
    rejected = sum(test["p_value"] <= 0.05 for _, test in outcomes)
    missed = sum(not result.lower <= 0 <= result.upper for result, _ in outcomes)
    assert rejected <= most_likely(tests, 0.08)
    assert missed <= most_likely(tests, 0.08)


def test_students_distribution_would_reject_far_more_often():
    """The control: with the noise, the usual test is wrong more often than the bound above allows."""
    tests = 200
    wrong = 0
    for _, test in simulated(QUERY, (60, 60), (1000, 1000), 20, tests):
        samples = [
            Sample(*(test[f"{what} of {label}"] for what in ("rows", "mean", "variance")))
            for label in ("a", "c")
        ]
        usual = Welch.of(samples)
        wrong += usual is None or usual.p_value <= 0.05
    assert wrong > most_likely(tests, 0.08)


def test_a_large_difference_is_found():
    assert all(test["p_value"] < 0.01 for _, test in simulated(QUERY, (500, 500), (400, 1600), 100, 10))


@pytest.mark.parametrize("freedom", [1, 2, 30, 31, 1000])
def test_chi_square_draws_have_their_mean_and_variance(freedom):
    """Each within 5.3 standard errors: false alarm below 1e-6 in all."""
    count = 200_000
    values = chi_squares(freedom, count, RANDOM)
    assert abs(values.mean() - freedom) < 5.3 * (2 * freedom / count) ** 0.5 + 1e-4 * freedom
    fourth = 12 * freedom * (freedom + 4)
    error = ((fourth - (2 * freedom) ** 2) / count) ** 0.5
    assert abs(values.var() - 2 * freedom) < 5.3 * error + 5e-3 * freedom


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ({"kind": "t-test", "column": "x"}, "by is missing"),
        ({"kind": "t-test", "by": "g"}, "column is missing"),
        (QUERY | {"by": "x"}, "twice"),
        (QUERY | {"edges": [0, 1]}, "edges"),
        (QUERY | {"labels": "a"}, "list"),
        (QUERY | {"labels": ["a", "a"]}, "different"),
    ],
)
def test_wrong_queries_are_refused(query, part):
    with pytest.raises(UsageError, match=part):
        parsed(query)


@pytest.mark.parametrize(
    ("query", "schemas", "part"),
    [
        (QUERY | {"labels": ["a"]}, SCHEMAS, "two groups"),
        (QUERY | {"labels": ["a", "d"]}, SCHEMAS, "two groups"),
        ({"kind": "t-test", "column": "x", "by": "g"}, SCHEMAS, "two groups"),
        (QUERY, SCHEMAS | {"g": VALUE}, "category"),
        (QUERY, SCHEMAS | {"x": GROUP}, "needs a number"),
        (QUERY, SCHEMAS | {"x": Schema("text")}, "needs a number"),
        (QUERY | {"lower": "5", "upper": "5"}, SCHEMAS, "at most one value"),
    ],
)
def test_queries_that_do_not_fit_the_columns(query, schemas, part):
    with pytest.raises(UsageError, match=part):
        parsed(query).check(schemas, schemas)


def test_two_declared_labels_need_not_be_named():
    schemas = SCHEMAS | {"g": Schema("category", lower=0, upper=1, categories=("a", "b"))}
    query = {"kind": "t-test", "column": "x", "by": "g", "lower": "10", "upper": "30"}
    statistic = plan(parsed(query).parameters, schemas)[0].statistic
    assert statistic.labels.labels == ("a", "b")
    assert (statistic.clamps[0].lower, statistic.clamps[0].upper) == (100, 300)
    assert [part.sensitivity for part in statistic.parts] == [100, 10_000, 1]
    assert sum(part.weight for part in statistic.parts) == Fraction(1)


def test_without_noise_there_is_no_test():
    with pytest.raises(UsageError, match="not released without noise"):
        STATISTICS.parse({"noise": "none", "queries": [QUERY]})
