"""Survival without noise over matched rows: what opens, what limits withhold, and what attacks read."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import numpy as np
import pytest

from smc.analyses.disclosure.audit import Members
from smc.analyses.disclosure.curves import CurvesPart, Shows
from smc.analyses.disclosure.limits import NO_LIMITS, SHOWN, WITHHELD, Limits
from smc.analyses.disclosure.matched_curves import MatchedCurvesFigure, MatchedCurvesPart
from smc.analyses.disclosure.opener import Opener, open_gate
from smc.analyses.disclosure.owned import Owned
from smc.analyses.disclosure.release import _UNAUDITED
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.statistics.vertical.curves_run import MatchedCurves
from smc.analyses.statistics.vertical.sums import FeatureLayout
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.facts import Whom
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import DisclosureRefused, DomainError, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.linear_ints import LinearInts
from smc.secret.sharing.bounds import Bounds
from tests.smc.analyses.statistics.survival.followed import (
    BOTH,
    QUERY,
    SCHEMAS,
    curves,
    drawn,
    figures,
    known,
)
from tests.smc.analyses.statistics.survival.test_life_table import CHI_SQUARE, POINTS, STRATIFIED, SURVIVAL
from tests.smc.analyses.statistics_runs import joint, traffic
from tests.support.seeds import seeded
from tests.support.transcript import shapes, transcripts

RANDOM = seeded()
ID = Schema("text")
TIMES, GROUPS = ("days", "ended"), ("arm", "stage")
PLAIN = {"competing": None, "strata": None, "restricted_mean": None}
FIVE = Limits(minimum_group=5)
CONDITIONS = 'where = [{ column = "days", at_least = 4 }, { column = "stage", equals = "I" }]'


def job(times="alice", groups="bob", where="", **changes):
    """A job over matched rows; whose columns the times and the groups are."""
    query = tomllib.loads(QUERY)["queries"][0] | {"step": None} | changes
    asked = {key: value for key, value in query.items() if value is not None}
    used = {asked["time"], asked["event"], *np.atleast_1d(asked.get("by", [])), *asked.get("strata", [])}
    used |= {"stage"} if where else set()
    sides = {"alice": [], "bob": []}
    sides[times] += [name for name in TIMES if name in used]
    sides[groups] += [name for name in GROUPS if name in used]
    parameters = {
        "noise": "none",
        "layout": "vertical",
        "maximum_rows": 100_000,
        "alice_columns": sides["alice"],
        "bob_columns": sides["bob"],
        "match": {"keys": ["id"]},
        "queries": [asked],
    }
    return STATISTICS.parse(parameters | tomllib.loads(where))


def table(names, rows, ids):
    held = {name: Column(rows[name].array, SCHEMAS[name]) for name in names}
    return {"id": Column([f"P{number}" for number in ids], ID), **held}


def taken(rows, chosen):
    return {name: Column(column.array[chosen], column.schema) for name, column in rows.items()}


def joined(first, second):
    """Rows of two tables one after the other."""
    return {
        name: Column(np.concatenate([first[name].array, second[name].array]), first[name].schema)
        for name in first
    }


def sides(rows, extra=(40, 70), times=TIMES, groups=GROUPS):
    """The columns of the same persons at two sides, among others that only one of them has."""
    count = len(rows["days"])
    found = []
    for names, more, start in ((times, extra[0], 10_000), (groups, extra[1], 20_000)):
        every = joined(rows, drawn(more, start)) if more else rows
        ids = np.concatenate([np.arange(count), start + np.arange(more)])
        order = np.random.default_rng(start).permutation(len(ids))
        found.append(table(names, taken(every, order), ids[order]))
    return found


def everyone():
    """The rows that other programs have computed figures of."""
    return joined(*known())


def test_a_joint_run_gives_the_figures_of_lifelines_and_statsmodels():
    found, other = joint(job(), *sides(everyone()))
    assert found == other
    for arm, values in SURVIVAL.items():
        curve = curves(found)
        assert [curve[arm, time] for time in POINTS] == pytest.approx(values, abs=1e-6)
    assert figures(found, "log-rank")[0]["value"] == pytest.approx(STRATIFIED, rel=1e-5)
    plain, _ = joint(job(**PLAIN), *sides(everyone(), groups=("arm",)))
    assert figures(plain, "log-rank")[0]["value"] == pytest.approx(CHI_SQUARE, rel=1e-5)


def close(found, expected):
    assert len(found.tables) == len(expected.tables)
    for one, other in zip(found.tables, expected.tables, strict=True):
        for heading, column in one.columns.items():
            for value, wanted in zip(column, other.columns[heading], strict=True):
                assert value == wanted or value == pytest.approx(wanted, rel=1e-4, abs=2e-5)


@pytest.mark.parametrize(
    ("whose", "changes"),
    [
        ({}, {}),
        ({"times": "bob", "groups": "alice"}, PLAIN),
        ({"times": "alice", "groups": "alice"}, PLAIN),
        ({}, {"by": None, "test": None, "strata": None}),
        ({}, {"step": 5, "competing": None}),
        ({"where": CONDITIONS}, PLAIN | {"test": None}),
        ({"where": CONDITIONS}, PLAIN | {"every": 50, "step": 10}),
        ({"groups": "alice", "where": CONDITIONS}, PLAIN),
    ],
)
def test_a_joint_run_is_its_reference(whose, changes):
    study = job(**whose, **changes)
    brought = study.vertical
    rows = drawn(150, 1)
    first, second = sides(rows, times=brought.alice, groups=brought.bob)
    found, _ = joint(study, first, second)
    expected, _ = study.reference(first, second, BOTH)
    close(found, expected)


@pytest.mark.parametrize("changes", [{}, PLAIN])
def test_it_is_the_same_by_products_of_features(monkeypatch, changes):
    """As they are formed where rows are many and steps few."""
    asked = []
    monkeypatch.setattr(FeatureLayout, "sums_groups", lambda *args: asked.append(args) or False)
    study = job(where=CONDITIONS, **changes)
    first, second = sides(drawn(150, 1), groups=study.vertical.bob)
    found, _ = joint(study, first, second)
    assert len(asked) == 2
    close(found, study.reference(first, second, BOTH)[0])


def test_events_of_the_other_side_than_times():
    query = {"time": "days", "event": "ended", "events": ["died"], "every": 20, "until": 80}
    parameters = {
        "noise": "none",
        "layout": "vertical",
        "maximum_rows": 1000,
        "alice_columns": ["days"],
        "bob_columns": ["ended"],
        "match": {"keys": ["id"]},
        "queries": [{"name": "survival", "kind": "survival"} | query],
    }
    study = STATISTICS.parse(parameters)
    first, second = sides(drawn(150, 1), times=("days",), groups=("ended",))
    found, _ = joint(study, first, second)
    close(found, study.reference(first, second, BOTH)[0])


def test_only_recipients_get_figures():
    study = job(**PLAIN)
    found, other = joint(study, *sides(drawn(150, 1), groups=("arm",)), recipients=frozenset({Role.BOB}))
    assert found.tables == ()
    assert other.tables


def test_the_slots_are_of_the_side_with_the_times():
    for times, groups in (("alice", "bob"), ("bob", "alice")):
        study = job(times, groups)
        asked = MatchedCurves.of(study.parameters, study.vertical, dict(SCHEMAS))
        assert asked.owner.value == times


@pytest.mark.parametrize("limits", [NO_LIMITS, FIVE, replace(FIVE, zeros=SHOWN, minimum_intersection=50)])
@pytest.mark.parametrize("changes", [PLAIN, {}])
def test_an_estimate_is_what_a_run_sends(changes, limits):
    study = job(**changes)
    rows = drawn(600, 3, scale=30.0)
    first, second = sides(rows, (0, 0), groups=study.vertical.bob)
    setting = RunSetting((600, 600), limits=limits)
    estimate = estimate_cost(study, SCHEMAS, BOTH, setting)
    alice, bob = traffic(study, first, second, limits=limits)
    sent = alice.sent, bob.sent, max(alice.rounds, bob.rounds)
    assert (estimate.alice_bytes, estimate.bob_bytes, estimate.rounds) == sent


# limits, beside those of curves over the rows of each side


def oracle(limits, part):
    """Where the rules show figures of rows that one side has alone; None where they refuse."""
    own = Owned(limits)
    shown = part.show(own)
    return None if part.refusal(own, shown) else shown


def opened(limits, parts):
    """The same of the secret test of each part, in one session; None where it refuses, at both sides."""
    masks = [RANDOM.words(part.cells.size) for part in parts]

    def side(session):
        return [_opened(session, limits, part, mask) for part, mask in zip(parts, masks, strict=True)]

    found, other = run_pair(side)
    for one, two in zip(found, other, strict=True):
        assert (one is None) is (two is None)
        assert one is None or (one == two).all()
    return found


def _opened(session, limits, part, mask):
    cells, alice = part.cells.reshape(-1, part.cells.shape[2]), session.role is Role.ALICE
    mask = mask.reshape(cells.shape)
    everybody = Bounds(0, int(cells.sum()))
    secret = LinearInts.from_shares(session, mask if alice else cells.view(np.uint64) - mask, everybody)
    numbers = np.arange(1, 1 + np.prod(part.marks[1:]), dtype=np.uint64).reshape(part.marks[1:])
    held = LinearInts.from_shares(session, numbers if alice else np.zeros_like(numbers), Bounds(0, 10_000))
    asked = MatchedCurvesPart(secret, part.marks[1], part.endings, part.tested)
    opener = Opener(session, open_gate, _UNAUDITED)
    try:
        figure = MatchedCurvesFigure(asked, [(shows, held) for shows in Shows], [])
        found = figure.open(opener, limits.of_both, BOTH)
    except DisclosureRefused:
        return None
    marks, values = found
    for shows, each in zip(Shows, values, strict=True):
        assert (each == np.where(marks[shows], numbers, 0)).all()
    return marks


def random_part(chance, endings, tested):
    """Counts near the smallest group, so that rules decide."""
    groups, strata, points = (
        int(chance.integers(1, 4)),
        int(chance.integers(1, 3)),
        int(chance.integers(1, 9)),
    )
    spread = chance.choice([4, 8, 14])
    cells = chance.integers(0, spread, (groups, strata, points * endings + 1))
    cells[chance.random(cells.shape) < chance.choice([0.0, 0.1, 0.3])] = 0
    cells[:, :, -1] += chance.integers(0, 12)
    return CurvesPart(
        cells.astype(np.int64), endings, Members(np.zeros(0, np.int64), np.zeros(0, np.int64)), tested
    )


@pytest.mark.parametrize("zeros", [SHOWN, WITHHELD])
@pytest.mark.parametrize(("endings", "tested"), [(2, True), (2, False), (3, True), (4, False)])
def test_what_is_shown_is_what_the_rules_show_of_rows_that_are_known(zeros, endings, tested):
    limits = Limits(minimum_group=4, zeros=zeros)
    chance = np.random.default_rng(endings + 10 * tested + 100 * (zeros == SHOWN))
    shown = refused = 0
    parts = [random_part(chance, endings, tested) for _ in range(20)]
    for part, found in zip(parts, opened(limits, parts), strict=True):
        wanted = oracle(limits, part)
        assert (wanted is None) is (found is None)
        refused += wanted is None
        if wanted is not None:
            assert (wanted == found).all()
            shown += not wanted.all()
    assert refused > 0
    assert shown > 0


def test_without_limits_all_is_shown_and_nothing_tested():
    part = random_part(np.random.default_rng(1), 2, tested=True)
    (found,) = opened(NO_LIMITS, [part])
    assert found.all()


def test_under_limits_figures_are_rounded_and_numbers_of_persons_too():
    rows = drawn(900, 5, hazards=(1.0, 1.6, 1.0), scale=30.0)
    study = job(**PLAIN | {"every": 25})
    first, second = sides(rows, groups=("arm",))
    exact, _ = joint(study, first, second)
    found, _ = joint(study, first, second, limits=FIVE)
    left = curves(exact, value="at_risk")
    for heading in ("survival", "at_risk"):
        one, other = curves(found, value=heading), curves(exact, value=heading)
        there = [place for place, value in one.items() if value is not None]
        assert len(there) > 6
        for place in there:
            assert abs(one[place] - other[place]) <= (5 / left[place] if heading == "survival" else 4)
    assert all(value % 8 == 0 for value in curves(found, value="at_risk").values() if value is not None)
    statistic, rounded = (figures(each, "log-rank")[0]["value"] for each in (exact, found))
    assert rounded == pytest.approx(statistic, rel=0.15)


def test_too_few_matches_end_the_run():
    rows = drawn(60, 5)
    limits = Limits(minimum_intersection=61)
    with pytest.raises(DisclosureRefused):
        joint(job(**PLAIN), *sides(rows, groups=("arm",)), limits=limits)


# attacks: a person of whom somebody wants to know something


def outcomes_of(study, first, second, limits=FIVE):
    try:
        found, _ = joint(study, first, second, limits=limits)
    except DisclosureRefused as refused:
        return str(refused)
    return [table.columns for table in found.tables]


def test_a_group_of_one_person_reads_nothing_of_it():
    """Bob calls one common person arm C, alone, and the others A and B."""
    rows = drawn(600, 7, scale=30.0)
    arm = np.where(rows["arm"].array == 2, 0, rows["arm"].array)
    arm[17] = 2
    rows["arm"] = Column(arm, SCHEMAS["arm"])
    seen = []
    for days, ended in ((5, 1), (95, 0), (50, 2)):
        for name, value in (("days", days), ("ended", ended)):
            column = rows[name].array.copy()
            column[17] = value
            rows[name] = Column(column, SCHEMAS[name])
        seen.append(outcomes_of(job(**PLAIN | {"every": 50}), *sides(rows, groups=("arm",))))
    assert seen[0] == seen[1] == seen[2]
    assert "limits of the policies stand against" in seen[0]


def test_thin_intervals_show_no_single_day():
    """Points a day apart: hardly any day has a smallest group of events."""
    rows = drawn(300, 7)
    study = job(**PLAIN | {"every": 1, "until": 40, "by": None, "test": None})
    assert "limits of the policies stand against" in outcomes_of(study, *sides(rows, groups=()))
    exact = outcomes_of(study, *sides(rows, groups=()), limits=NO_LIMITS)
    assert len(exact[1]["survival"]) == 41


def test_a_shifted_grid_does_not_count_who_leaves_in_a_day():
    """Points at 40 and at 41: without limits the difference is the number of that day, with them never."""
    read = {FIVE: 0, NO_LIMITS: 0}
    for seed in range(2):
        rows = drawn(500, 20 + seed, scale=60.0)
        days = rows["days"].array
        true = int((days == 41).sum())
        assert 0 < true < 8
        for limits in read:
            left = []
            for every in (40, 41):
                study = job(**PLAIN | {"every": every, "until": every, "by": None, "test": None})
                columns = outcomes_of(study, *sides(rows, groups=()), limits=limits)[1]
                left.append((columns["at_risk"][1], columns["survival"][1]))
            events = int((days[rows["ended"].array == 1] == 41).sum())
            guess = left[0][0] * (1 - left[1][1] / left[0][1]) if left[0][1] else 0
            read[limits] += left[0][0] - left[1][0] == true and abs(guess - events) < 0.5
    assert read == {FIVE: 0, NO_LIMITS: 2}


def test_who_receives_nothing_sees_no_pattern(monkeypatch):
    """Which points are withheld, and how many, is seen by recipients alone."""
    seen = []
    for scale in (30.0, 12.0):
        rows = drawn(600, 9, scale=scale)
        study = job(**PLAIN | {"every": 25})
        first, second = sides(rows, groups=("arm",))

        def side(session, study=study, first=first, second=second):
            data = first if session.role is Role.ALICE else second
            return run_study(study, session, data, frozenset({Role.ALICE}), FIVE.of_both)

        results, messages = transcripts(monkeypatch, side)
        assert results[1].tables == ()
        seen.append((shapes(messages)[Role.BOB], results[0].tables))
    assert seen[0][0] == seen[1][0]
    patterns = [[value is None for value in tables[1].columns["survival"]] for _, tables in seen]
    assert patterns[0] != patterns[1]


# what is refused, and what is said


def test_a_person_has_one_row():
    rows = drawn(150, 1)
    first, second = sides(rows, groups=("arm",))
    first[PERSONS] = Column(np.zeros(len(first["days"]), dtype=np.int64), Schema("integer"))
    with pytest.raises(DomainError, match="about one person"):
        joint(job(**PLAIN), first, second)


def test_other_queries_over_matched_rows_need_noise():
    parameters = {
        "noise": "none",
        "layout": "vertical",
        "alice_columns": ["days"],
        "bob_columns": [],
        "match": {"keys": ["id"]},
        "queries": [{"kind": "sum", "column": "days"}],
    }
    with pytest.raises(UsageError, match="but for survival"):
        STATISTICS.parse(parameters)


def test_who_learns_what():
    study = job(**PLAIN)
    facts = study.facts(BOTH)
    assert facts.exact.whom is Whom.MATCHES
    assert facts.matches
    assert facts.row_results
    assert job(times="alice", groups="alice", **PLAIN).facts(frozenset({Role.BOB})).row_results
    leakage = study.leakage(frozenset({Role.BOB}))
    assert any("which figures are withheld" in each for each in leakage.bob)
    assert any("chosen values of its own columns" in each for each in leakage.bob)
    (bit,) = leakage.alice
    assert bit.startswith("whether the limits of disclosure hold, one bit")
