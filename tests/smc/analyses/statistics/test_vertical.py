"""Joint statistics over matched rows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from parties.bench.workloads import MATCHED, WORKLOADS
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.disclosure.opener import Opener
from smc.analyses.registry import ANALYSES
from smc.analyses.statistics.plans import noisy, noisy_results
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.statistics.vertical import sums as vertical_sums
from smc.analyses.statistics.vertical.run import Brought, plan_queries
from smc.analyses.statistics.vertical.terms import pairs
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.channel.vectors import Residues
from smc.errors import DisclosureRefused, DomainError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.protocols.exchange.row_counts import Counts
from smc.protocols.spec import Cost
from tests.smc.analyses.statistics_runs import BOTH, RANDOM, results, silence
from tests.smc.analyses.vertical_runs import (
    DOSE,
    ID,
    KINDS,
    SCHEMAS,
    SIDES,
    job,
    joint,
    side,
    tables,
    traffic,
)
from tests.support.costs import stated
from tests.support.studies import changed

ALICE, BOB = Role.ALICE, Role.BOB
SIMULATED = ("regression", "t-test", "crosstab", "risks", "survival")
"""Kinds whose results with noise differ from those without it even where the noise is 0."""


def joined(parameters, alice, bob):
    """The matched rows, by a join of the texts."""
    places = {text.strip(): place for place, text in enumerate(bob["id"].texts)}
    common = [(i, places[t.strip()]) for i, t in enumerate(alice["id"].texts) if t.strip() in places]
    places_of = np.array(common, dtype=np.int64).reshape(-1, 2)
    columns = {
        name: column.array[places_of[:, number]]
        for number, data in enumerate((alice, bob))
        for name, column in data.items()
        if name in parameters.columns
    }
    return LocalRows(columns, np.arange(len(common)), len(common))


@pytest.mark.parametrize("counts", [(60, 90), (90, 60), (5, 5)])
def test_sums_of_all_kinds_are_those_of_the_join(counts):
    study = job(*KINDS.values())
    data = tables(*counts, common=min(counts) // 2 + 2)
    plans = plan(study.parameters, SCHEMAS, counted=True)
    wanted = [pair for each in plans for pair in pairs(each, study.parameters.vertical.alice)]

    def one(session):
        own = Brought.of(study.parameters, study.parameters.vertical, data[session.role is BOB], session.role)
        keys = np.array([[hash(text) % 2**64, 1] for text in own.keyed.texts[0]], dtype=np.uint64)
        peer = counts[session.role is ALICE]
        return vertical_sums.sums(session, wanted, own.columns, keys, peer)

    shares = run_pair(one, one)
    rows = joined(study.parameters, *data)
    expected = np.concatenate([noisy.local(each, rows).reshape(-1) for each in plans])
    assert (shares[0] + shares[1]).view(np.int64).tolist() == expected.tolist()
    assert expected.any()


@pytest.fixture
def encrypted(monkeypatch):
    """Products by lattice encryption whatever they send; how often they were planned."""
    seen = []

    def dear(layout, slots, owner=ALICE):
        seen.append(slots)
        return Cost((), 1 << 60, 0)

    monkeypatch.setattr(vertical_sums.FeatureLayout, "cost_blocks", dear)
    return seen


@pytest.mark.parametrize("counts", [(60, 90), (90, 60)])
def test_sums_by_lattice_encryption_are_those_of_the_join(encrypted, counts):
    test_sums_of_all_kinds_are_those_of_the_join(counts)
    assert encrypted


@pytest.mark.parametrize("counts", [(30, 50), (50, 30)])
def test_traffic_by_lattice_encryption_is_as_declared(monkeypatch, encrypted, counts):
    test_traffic_is_as_declared(monkeypatch, NO_LIMITS, counts, BOTH)
    assert encrypted


def test_regression_of_large_tables_is_encrypted_and_sends_a_fifth():
    """Four columns of each side: the way is chosen by bytes, and the alignment is what is left."""
    work = WORKLOADS["matched-moments"]
    study = ANALYSES["statistics"].parse(work.parameters)
    measure = Schema("integer", lower=0, upper=4095)
    plans = plan(study.parameters, {name: measure for names in MATCHED for name in names})
    wanted = [pair for each in plans for pair in pairs(each, study.vertical.alice)]
    layout = vertical_sums.FeatureLayout.of(wanted, ALICE)
    few, many = layout.lattice_features(100), layout.lattice_features(127_000)
    assert few is None
    sent = many.columns.query_bytes + many.columns.response_bytes(len(many.owner))
    transfers = layout.cost_blocks(127_000)
    assert sent * 20 < transfers.alice_bytes + transfers.bob_bytes


@pytest.mark.parametrize("recipients", [BOTH, frozenset({ALICE}), frozenset({BOB})])
def test_joint_runs_agree_with_the_plain_twin(monkeypatch, recipients):
    silence(monkeypatch)
    study = job(*(query for kind, query in KINDS.items() if kind not in SIMULATED))
    alice, bob = tables()
    plain = study.reference(alice, bob, recipients)
    for role, run, twin in zip(Role, joint(study, alice, bob, recipients), plain, strict=True):
        assert len(run.tables) == len(twin.tables)
        assert bool(run.tables) is (role in recipients)
        for mine, other in zip(run.tables, twin.tables, strict=True):
            for name in {"value", "count", "group", "bin"} & set(mine.columns):
                assert list(mine.columns[name]) == list(other.columns[name])


def test_the_plain_twin_against_a_join_by_hand():
    study = job(KINDS["sum by"], KINDS["crosstab"], KINDS["correlation"])
    alice, bob = tables(200, 300, 120)
    rows = joined(study.parameters, alice, bob)
    outcome = study.reference(alice, bob, BOTH)[0]
    ages, states = rows.columns["age"], rows.columns["state"]
    assert outcome.tables[0].columns["value"][:3] == [int(ages[states == code].sum()) for code in range(3)]
    cells = np.zeros((2, 3), dtype=np.int64)
    np.add.at(cells, (rows.columns["sex"], states), 1)
    assert outcome.tables[1].columns["count"] == cells.reshape(-1).tolist()
    found = np.corrcoef(rows.columns["costs"], ages)[0, 1]
    assert outcome.tables[0].columns["value"][-1] == pytest.approx(found, abs=1e-12)


def test_noise_stays_within_its_distribution():
    study = job('kind = "count"', epsilon="1/2")
    alice, bob = tables()
    (distribution,) = plan(study.parameters, SCHEMAS)[0].distributions
    # eight draws are the same once in 13 million times
    found = [joint(study, alice, bob)[0].tables[0].columns["value"][0] for _ in range(8)]
    assert all(abs(value - 25) <= distribution.half_width(Fraction(1, 10**7)) for value in found)
    assert len(set(found)) > 1


@pytest.mark.parametrize("change", ["removed", "replaced"])
@pytest.mark.parametrize("duplicates", ["error", "distinct"])
def test_one_row_changes_no_more_than_the_noise_is_for(duplicates, change):
    """Of a replaced row key and values are those of a row that nobody else has, or of a match."""
    study = job(*KINDS.values(), duplicates=duplicates)
    plans = plan(study.parameters, SCHEMAS)
    alice, bob = tables(40, 30, 20)
    if duplicates == "distinct":
        alice = side(0, np.concatenate([np.arange(40), np.arange(40)]), 5)
    others = side(0, np.arange(25, 70), 9)
    changes = study.parameters.neighbours.changes
    touched = 0
    for place in range(0, len(alice["id"]), 3):
        other = {
            name: Column(
                [
                    *column.values[:place],
                    *([others[name].values[place % 45]] if change == "replaced" else []),
                    *column.values[place + 1 :],
                ],
                column.schema,
            )
            for name, column in alice.items()
        }
        if duplicates == "error" and len(set(other["id"].values)) < len(other["id"]):
            continue
        for each in plans:
            first, second = (noisy.local(each, brought_join(study, one, bob)) for one in (alice, other))
            moved = np.abs(first - second)
            touched += bool(moved.any())
            if each.query.kind in ("quantile", "median"):
                assert moved.sum() <= changes
                continue
            start = 0
            for part in each.statistic.parts:
                assert moved[:, start : start + part.size].sum() <= part.sensitivity * changes
                start += part.size
    assert touched


def brought_join(study, alice, bob):
    first, second = (
        Brought.of(study.parameters, study.parameters.vertical, data, role)
        for data, role in ((alice, ALICE), (bob, BOB))
    )
    places = {key: place for place, key in enumerate(second.keyed.plain())}
    common = [(i, places[key]) for i, key in enumerate(first.keyed.plain()) if key in places]
    rows = np.array(common, dtype=np.int64).reshape(-1, 2)
    columns = {name: column[rows[:, 0]] for name, column in first.columns.items()}
    columns |= {name: column[rows[:, 1]] for name, column in second.columns.items()}
    return LocalRows(columns, np.arange(len(rows)), len(rows))


LIMITED = Limits(minimum_group=3, minimum_intersection=2)


def test_both_recipients_get_the_same_simulated_figures(monkeypatch):
    silence(monkeypatch)
    study = job(KINDS["t-test"], KINDS["crosstab"])
    for limits in (NO_LIMITS, Limits(minimum_intersection=5)):
        first, second = joint(study, *tables(200, 300, 150), limits=limits)
        assert None not in first.tables[0].columns["p_value"]
        assert (first.tables, first.notes) == (second.tables, second.notes)


def test_only_what_says_so_simulates():
    study = job(*KINDS.values(), epsilon="11")
    rows = joined(study.parameters, *tables(200, 300, 150))
    asked = []

    def counted(count):
        asked.append(count)
        return RANDOM.bytes(count)

    for each in plan(study.parameters, SCHEMAS):
        del asked[:]
        for entries in noisy_results.exact(each, [noisy.local(each, rows)]).tolist():
            each.statistic.result(entries, each.statistic.distributions, Randomness(counted))
        assert bool(asked) is each.statistic.simulates
        kinds = ("t-test", "risks", "survival")
        assert each.statistic.simulates is (each.query.kind in kinds or each.query.test)


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_group=3), LIMITED])
@pytest.mark.parametrize(("counts", "recipients"), [((30, 50), BOTH), ((50, 30), frozenset({BOB}))])
def test_traffic_is_as_declared(monkeypatch, limits, counts, recipients):
    pass_all_tests(monkeypatch)
    study = job(KINDS["correlation"], KINDS["median"], KINDS["crosstab"], KINDS["sum by"])
    found = traffic(study, *tables(*counts, 20), recipients, limits)
    cost = stated(study, *tables(*counts, 20), recipients, limits)
    assert (found[0].sent, found[1].sent) == (cost.alice_bytes, cost.bob_bytes)
    assert max(each.rounds for each in found) == cost.rounds


def pass_all_tests(monkeypatch):
    """The tests of limits with their traffic, whatever they say."""
    pattern = Opener.pattern
    monkeypatch.setattr(Opener, "pattern", lambda self, bits, told: np.ones_like(pattern(self, bits, told)))


def test_sizes_depend_on_row_counts_only():
    study = job(KINDS["regression"], KINDS["size"], KINDS["t-test"])
    sent = [traffic(study, *tables(40, 50, common, seed=common + 3)) for common in (0, 20, 40)]
    shapes = [[(each.sent, each.received, each.messages, each.rounds) for each in run] for run in sent]
    assert shapes[0] == shapes[1] == shapes[2]


def test_estimates_are_exact_with_all_declarations_and_work_without():
    study = job(*KINDS.values())
    exact = estimate_cost(study, SCHEMAS, BOTH, RunSetting((50, 50)))
    found = traffic(study, *tables(50, 50, 20))
    assert (max(each.rounds for each in found), found[0].sent) == (exact.rounds, exact.alice_bytes)
    for schemas in SIDES:
        guess = estimate_cost(study, schemas, BOTH, RunSetting((50, 50)))
        assert 0.2 < guess.alice_bytes / exact.alice_bytes < 5
        assert guess.rounds >= exact.rounds // 2


def test_a_small_intersection_is_refused_at_both_sides(monkeypatch):
    silence(monkeypatch)
    study = job(KINDS["mean"])
    with pytest.raises(DisclosureRefused, match="fewer matches or persons"):
        joint(study, *tables(common=9), limits=Limits(minimum_intersection=10))
    outcome = joint(study, *tables(common=10), limits=Limits(minimum_intersection=10))[1]
    assert outcome.tables[0].columns["query"] == ["0"]


def test_the_noisy_size_takes_a_tenth_of_the_loss():
    study = job(KINDS["mean"], KINDS["sum"])
    plans = plan_queries(study.parameters, SCHEMAS, counts_matches=True, counts_groups=False)
    spent = [each.query.loss.epsilon for each in plans]
    assert spent == [Fraction(4, 10), Fraction(18, 10), Fraction(18, 10)]
    assert [each.query.kind for each in plans] == ["count", "mean", "sum"]


def test_small_groups_are_withheld(monkeypatch):
    silence(monkeypatch)
    study = job(KINDS["sum by"], KINDS["crosstab"])
    alice, bob = tables()
    plain = study.reference(alice, bob, BOTH)[0].tables[1].columns["count"]
    found = joint(study, alice, bob, limits=Limits(minimum_group=4))[0]
    assert found.tables[1].columns["count"] == [count if count >= 4 else None for count in plain]
    assert None in found.tables[1].columns["count"]
    assert None not in found.tables[0].columns["value"][:3]
    hidden = joint(study, alice, bob, limits=Limits(minimum_group=9))[0]
    assert hidden.tables[0].columns["value"][:3].count(None) == 2


def test_small_sets_are_refused_before_anything_else():
    with pytest.raises(DisclosureRefused, match="100 rows"):
        joint(job(KINDS["mean"]), *tables(), limits=Limits(minimum_set=100))


def test_columns_and_recipients_are_as_the_job_says():
    study = job(KINDS["covariance"], KINDS["size"])
    assert study.columns[ALICE] == ("id", "age", "dose")
    assert study.columns[BOB] == ("id", "costs", "state")
    study.check(*SIDES)
    assert study.facts(BOTH).loss.epsilon == 4
    assert not study.facts(BOTH).exact
    leakage = study.leakage(frozenset({ALICE}))
    assert len(leakage.alice) == 2
    assert len(leakage.bob) == 1
    assert "number of rows" in leakage.public[0]
    results_of = results(study.reference(*tables(), BOTH)[0])
    assert set(results_of) == {"0", "1"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (({"dose": Schema("text")}, {}), "kind text"),
        (({"id": Schema("decimal", 2)}, {}), "cannot be a key"),
        (({}, {"costs": replace(DOSE, lower=None)}), "a lower bound"),
        (({}, {"costs": Schema("category", categories=("a",))}), "needs a number"),
    ],
)
def test_columns_that_do_not_fit_are_refused(changes, words):
    sides = [{**schemas, **change} for schemas, change in zip(SIDES, changes, strict=True)]
    with pytest.raises(UsageError, match=words):
        job(KINDS["covariance"]).check(*sides)


def test_missing_columns_and_too_many_products_are_refused():
    with pytest.raises(UsageError, match="bob has no column 'costs'"):
        job(KINDS["covariance"]).check(SIDES[0], {"id": ID})
    many = job('kind = "median"\ncolumn = "costs"\npoints = 30000', epsilon="1")
    with pytest.raises(UsageError, match="sums over matched rows"):
        many.check(*SIDES)


def test_data_that_do_not_fit_are_refused():
    study = job(KINDS["covariance"])
    alice, bob = tables()
    with pytest.raises(DomainError, match="different lengths"):
        joint(study, {**alice, "dose": Column([1], DOSE)}, bob)
    with pytest.raises(DomainError, match="repeat the key"):
        joint(study, side(0, [1, 2, 2], 3), bob)
    with pytest.raises(DomainError, match="about one person"):
        joint(study, side(0, [1, 2, 3], 3, persons=[0, 1, 1]), bob)
    with pytest.raises(DomainError, match="maximum_rows"):
        joint(changed(study, maximum_rows=59), alice, bob)


def test_rows_that_repeat_a_key_count_once_where_asked():
    study = job('kind = "count"', KINDS["mean"], duplicates="distinct")
    alice, bob = side(0, [1, 2, 2, 3], 3), side(1, [2, 3, 3, 4], 4)
    table = study.reference(alice, bob, BOTH)[0].tables[0].columns
    assert table["value"][0] == 2
    assert table["value"][1] == np.mean([alice["age"].array[1], alice["age"].array[3]])
    noise = [plan(job('kind = "count"', duplicates=how).parameters, SCHEMAS)[0].statistic.noise_scale
             for how in ("error", "distinct")]  # fmt: skip
    assert noise[1] == 2 * noise[0]


def test_too_many_numbers_for_a_run_are_refused(monkeypatch):
    monkeypatch.setattr(vertical_sums, "MAX_NUMBERS", 1000)
    with pytest.raises(DomainError, match="memory of a run"):
        joint(job(KINDS["quantile"]), *tables())


def test_a_peer_with_other_declarations_is_found_out():
    study = job(KINDS["covariance"])
    alice, bob = tables()
    lying = {**bob, "costs": Column(bob["costs"].values, Schema("decimal", 40, 0, 100_000))}
    with pytest.raises(ProtocolViolation, match="impossible"):
        joint(study, alice, lying)


def test_a_peer_with_more_rows_than_the_job_allows_is_stopped_at_its_word():
    study = job(KINDS["sum"])

    def liar(session):
        session.channel.send(Counts(Residues([study.parameters.maximum_rows + 1, 40], 1 << 32)))

    def honest(session):
        run_study(study, session, side(0, range(5), 1), BOTH, NO_LIMITS.of_both)

    with pytest.raises(ProtocolViolation, match="5001 rows; this run has room for 5000"):
        run_pair(honest, liar)
