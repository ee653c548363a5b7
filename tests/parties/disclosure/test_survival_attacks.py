"""A peer asks for curves without noise, and reads no single person's event, whatever it asks and brings.

What the peer has learned is taken as more than it is: of every two points that a curve shows, exactly which
persons had an event, or left, between them, and of a test exactly who had an event. It has read somebody if
one such set of persons holds another one, and fewer than the smallest group are left.
"""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest

from smc.analyses.disclosure.limits import Limits
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.protocols.agreement import Agreement
from tests.parties.disclosure.test_attacks import LOOSE, VICTIM, Victim
from tests.support.grids import grid

M = 10
POLICY = Limits(minimum_group=M)
DAYS = Schema("integer", lower=0, upper=3650, unit="days")
ENDED = Schema("category", categories=("followed", "died", "moved"))
ARM = Schema("category", categories=("A", "B"))
AGE = Schema("integer", lower=0, upper=120, unit="years")
ROWS = 1600

ALONE = 7
"""The person whom the peer is after, the only one of that age."""

BASE = {
    "kind": "survival",
    "name": "survival",
    "time": "days",
    "event": "ended",
    "events": ["died"],
    "by": "arm",
    "every": 30,
    "until": 360,
}
TESTED = {**BASE, "test": "log-rank"}
OLD = {"column": "age", "cuts": [97]}


def victims(seed=5):
    """Their rows; a few have moved, and one of them is 97 years old and died on day 171."""
    drawn = np.random.default_rng(seed)
    times = np.ceil(drawn.exponential(250, ROWS)).astype(int)
    ends = drawn.integers(200, 1000, ROWS)
    days, ended = np.minimum(times, ends), (times <= ends).astype(int)
    moved = drawn.choice(np.arange(20, ROWS), 6, replace=False)
    ended[moved] = 2
    age = drawn.integers(20, 97, ROWS)
    days[ALONE], ended[ALONE], age[ALONE] = 171, 1, 97
    schemas = {"days": DAYS, "ended": ENDED, "arm": ARM, "age": AGE}
    held = {"days": days, "ended": ended, "arm": drawn.integers(0, 2, ROWS), "age": age}
    found = {name: Column(np.array(held[name], np.int64), schemas[name]) for name in schemas}
    return found | {PERSONS: Column(np.arange(ROWS), Schema("integer"))}


def job(query, derived=None):
    """The job; in long steps, which change nothing of what is shown and where."""
    query = {"step": query["every"], **query}
    more = {"derived": derived} if derived else {}
    return STATISTICS.parse({"noise": "none", "maximum_rows": 10_000, "queries": [query], **more})


def old(values):
    return values["age"].array >= 97


def chosen(query, values):
    """The rows of a query: its conditions, as far as these tests have some."""
    marks = np.ones(ROWS, dtype=bool)
    compare = {"at_most": np.less_equal, "at_least": np.greater_equal, "not_equals": np.not_equal}
    for condition in query.get("where", []):
        (word,) = condition.keys() & compare.keys()
        marks &= compare[word](values[condition["column"]].array, condition[word])
    return marks


def learned(query, outcome, values):
    """The sets of persons that the peer is taken to know."""
    days, ended = values["days"].array, values["ended"].array
    event = np.isin(ended, [ENDED.categories.index(label) for label in query["events"]])
    every = event | np.isin(ended, [ENDED.categories.index(each) for each in query.get("competing", [])])
    rows = chosen(query, values)
    labels = {"arm": [ARM.categories[code] for code in values["arm"].array]}
    labels["old"] = ["97 and above" if one else "below 97" for one in old(values)]
    by = query.get("by", [])
    names = [labels[column] for column in ([by] if isinstance(by, str) else by)]
    group = np.array([" / ".join(parts) for parts in zip(*names, strict=True)] if names else [""] * ROWS)
    tables = {table.name: table.columns for table in outcome.tables}
    curve = tables["survival"]
    found = []
    for name in dict.fromkeys(curve.get("group", [""])):
        places = [place for place, each in enumerate(curve.get("group", [""] * 10_000)) if each == name]
        places = [place for place in places if place < len(curve["time"])]
        own = rows & (group == name)
        shown = [curve["time"][place] for place in places if curve["survival"][place] is not None]
        left = [curve["time"][place] for place in places if curve["at_risk"][place] is not None]
        kinds = [every]
        if query.get("competing"):
            times = [
                time
                for label, each, time, value in zip(
                    *(tables["survival: incidence"].get(k) for k in ("event", "group", "time", "incidence")),
                    strict=True,
                )
                if each == name and value is not None and label == query["events"][0]
            ]
            found += between(times, days, own & event) + between(times, days, own & every & ~event)
        found += between(shown, days, own & kinds[0]) + between(left, days, own)
        if left:
            found.append(frozenset(np.flatnonzero(own)))
        if query.get("test"):
            found.append(frozenset(np.flatnonzero(own & event & (days <= query["until"]))))
    return found


def between(times, days, rows):
    return [
        frozenset(np.flatnonzero(rows & (days > low) & (days <= high)))
        for low, high in combinations(times, 2)
    ]


def read(sets):
    """Differences of sets that are known, of fewer persons than the smallest group."""
    sets = list(dict.fromkeys(sets))
    small = [one for one in sets if 0 < len(one) < M]
    return small + [
        two - one if one < two else one - two
        for one, two in combinations(sets, 2)
        if (one < two or two < one) and 0 < abs(len(one) - len(two)) < M
    ]


ATTACKS = {
    "every day": [{**BASE, "every": 1}],
    "every five days": [{**BASE, "every": 5}],
    "every ten days of a long tail": [{**BASE, "every": 10, "until": 990}],
    "points a day earlier": [BASE, {**BASE, "every": 29, "until": 348}],
    "points a day later": [BASE, {**BASE, "every": 31, "until": 341}],
    "points of two and of three months": [BASE, {**BASE, "every": 60}, {**BASE, "every": 90}],
    "a horizon a month earlier": [TESTED, {**TESTED, "until": 330}],
    "horizons of neighbouring days": [
        {**TESTED, "every": 90},
        {**TESTED, "every": 91, "until": 364},
        {**TESTED, "every": 89, "until": 356},
    ],
    "a threshold of the times": [BASE, {**BASE, "where": [{"column": "days", "at_most": 100}]}],
    "neighbouring thresholds of the times": [
        {**BASE, "where": [{"column": "days", "at_most": 170}]},
        {**BASE, "where": [{"column": "days", "at_most": 171}]},
    ],
    "all but the day of an event": [BASE, {**BASE, "where": [{"column": "days", "not_equals": 171}]}],
    "all but one person": [BASE, {**BASE, "where": [{"column": "age", "not_equals": 97}]}],
    "one person": [{**BASE, "where": [{"column": "age", "at_least": 97}]}],
    "neighbouring ages": [
        {**TESTED, "where": [{"column": "age", "at_least": 40}]},
        {**TESTED, "where": [{"column": "age", "at_least": 41}]},
    ],
    "a group of one person": [BASE, {**BASE, "by": "old"}],
    "pairs of groups": [BASE, {**BASE, "by": ["arm", "old"]}],
    "a stratum of one person": [TESTED, {**TESTED, "strata": ["old"]}],
    "deaths with and without moves": [BASE, {**BASE, "events": ["died", "moved"]}],
    "moves as competing events": [BASE, {**BASE, "competing": ["moved"]}],
    "moves alone": [{**BASE, "events": ["moved"]}],
    "all rows and groups": [BASE, {key: value for key, value in BASE.items() if key != "by"}],
    "groups tested without curves between": [{**TESTED, "every": 360}, TESTED],
}


@pytest.mark.parametrize(
    ("name", "zeros"), grid(product(ATTACKS, ["withheld", "shown"]), [(name, "withheld") for name in ATTACKS])
)
def test_jobs_together_read_nobody(tmp_path, name, zeros):
    values = victims()
    victim = Victim(tmp_path, values, Limits(minimum_group=M, zeros=zeros), overlap=M)
    known = []
    for query in ATTACKS[name]:
        derived = {"old": OLD} if "old" in str([query.get("by"), query.get("strata")]) else None
        received, outcome = victim.asked(job(query, derived))
        if outcome is None:
            answered = [message.answer.encode() for message in received if isinstance(message, Agreement)]
            assert answered == [b"\x00"]
        else:
            known += learned(query, outcome, values)
    assert read(known) == []
    if ATTACKS[name][0] in (BASE, TESTED):
        assert known  # the first job is answered


def test_the_measure_finds_who_could_be_read(tmp_path):
    """Without limits the same jobs do read somebody."""
    values = victims()
    for name in ("all but one person", "points a day earlier", "a group of one person"):
        (folder := tmp_path / name).mkdir()
        victim = Victim(folder, values, LOOSE, overlap=0)
        known = []
        for query in ATTACKS[name]:
            derived = {"old": OLD} if "old" in str(query.get("by")) else None
            _, outcome = victim.asked(job(query, derived))
            known += learned(query, outcome, values)
        assert read(known)


def test_the_peers_own_policy_moves_no_threshold(tmp_path):
    """What it hears where it receives nothing is one bit, which is always the same."""
    heard = []
    for place, group in enumerate((0, 2, 9, 11, 200)):
        (folder := tmp_path / str(place)).mkdir()
        victim = Victim(folder, victims(), POLICY, overlap=M)
        received, _ = victim.asked(
            job(TESTED), policy=Limits(minimum_group=group), recipients=frozenset({VICTIM})
        )
        heard.append([message.encode() for message in received if isinstance(message, Agreement)])
    assert heard == [heard[0]] * len(heard)
    shown = []
    for place, group in enumerate((0, 2, 9)):
        (folder := tmp_path / f"shown{place}").mkdir()
        victim = Victim(folder, victims(), POLICY, overlap=M)
        _, outcome = victim.asked(job(TESTED), policy=Limits(minimum_group=group))
        shown.append([value is None for value in outcome.tables[1].columns["survival"]])
    assert shown == [shown[0]] * len(shown)


def test_rows_of_the_peers_own_find_no_day_on_which_somebody_leaves(tmp_path):
    """It brings 1,000 events of a day, which multiply a curve by n / (n + 1000): how many were at risk then?

    Whatever happened on the other days it is taken to know. Days could be told apart if the numbers at risk
    that fit what it sees did not overlap for neighbouring ones.
    """
    values, own, fits = victims(), 1000, []
    victim = Victim(tmp_path, values, POLICY, overlap=M)
    days, event = values["days"].array, values["ended"].array == 1
    group = values["arm"].array == 0
    for day in (170, 171, 172):
        brought = {name: np.full(own, value) for name, value in (("days", day), ("ended", 1), ("arm", 0))}
        _, outcome = victim.asked(job({**BASE, "step": 1}), brought={**brought, "age": np.zeros(own)})
        columns = outcome.tables[1].columns
        rows = zip(*(columns[name] for name in ("group", "time", "survival")), strict=True)
        curve = {time: value for name, time, value in rows if name == "A"}
        unit = 2.0**-5  # of 320 to 639 persons of the victim in the group who are followed further
        assert all((curve[time] / unit).is_integer() for time in (150, 180))
        true = int((group & (days >= day)).sum())
        part = 1.0
        for other in range(151, 181):
            at_risk = int((group & (days >= other)).sum()) + own * (other <= day)
            part *= 1 - (int((group & event & (days == other)).sum()) + own * (other == day)) / at_risk
        expected = {n: part * n / (n + own) * (true + own) / true for n in range(1, ROWS)}
        found = [
            n
            for n, ratio in expected.items()
            if abs(curve[150] * ratio - curve[180]) <= unit / 2 * (1 + ratio)
        ]
        assert true in found
        fits.append(found)
    assert all(len(found) > 2 for found in fits)
    for one, other in pairwise(fits):
        assert set(one) & set(other)


def test_more_rows_of_the_peers_own_give_it_no_more_digits(tmp_path):
    values = victims()
    for place, rows in enumerate((0, 9_000)):
        (folder := tmp_path / str(place)).mkdir()
        victim = Victim(folder, values, POLICY, overlap=M)
        brought = {name: np.zeros(rows) for name in ("days", "ended", "arm", "age")}
        _, outcome = victim.asked(job(BASE), brought=brought)
        shown = [value for value in outcome.tables[1].columns["survival"] if value is not None]
        assert len(shown) > 10
        assert all((value * 2**7).is_integer() for value in shown)


STEP = 10


def moved(count, day, until, ended):
    """The victim's rows; so many of the first arm who leave after a day, in this way, do so before it."""
    values = victims()
    days, later = values["days"].array.copy(), (values["arm"].array == 0) & (values["ended"].array == ended)
    days[np.flatnonzero(later & (days > day) & (days <= until))[:count]] = day - STEP - 1
    return values | {"days": Column(days, DAYS)}


@pytest.mark.parametrize(
    ("day", "until", "arm", "ended"),
    [(320, 450, 0, 1), (560, 600, 0, 1), (560, 600, 1, 1), (560, 600, 0, 0)],
)
def test_rows_of_the_peers_own_do_not_count_who_leaves_after_their_day(tmp_path, day, until, arm, ended):
    """Up to nine persons leave before a day of the peer's choice, or after it: nothing moves, or one unit.

    Its events on that day tell of those at risk then; its rows that leave then without one of events after.
    """
    query = {**BASE, "every": 150, "until": 600, "test": "log-rank"}
    own = 8000 + 1000 * arm  # in the other arm some are followed further: they expect events in this one
    brought = {"days": np.where(np.arange(own) < 8000, day, 1000), "arm": np.full(own, arm)}
    brought |= {"ended": ended * (brought["days"] == day), "age": np.zeros(own)}
    told = {}
    for count in (0, 6, 9):
        (folder := tmp_path / str(count)).mkdir()
        victim = Victim(folder, moved(count, day, until, 1 - ended), POLICY, overlap=M)
        _, outcome = victim.asked(job({**query, "step": STEP}), brought=brought)
        for table in outcome.tables:
            for name, column in table.columns.items():
                for place, value in enumerate(column):
                    told.setdefault((table.name, name, place), []).append(value)
    assert {table for table, *_ in told} == {"results", "survival", "survival: groups", "survival: log-rank"}
    for place, values in told.items():
        assert len(set(values)) <= 2, (place, values)


def test_events_of_the_peers_own_do_not_weigh_those_at_risk_in_a_test(tmp_path):
    """It brings 8,500 events of a day in the other arm, which expect as many of those of the first."""
    drawn, size, day = np.random.default_rng(2), 240, 300
    arm, days, ended = np.arange(size) % 2, drawn.integers(30, 420, size), np.zeros(size, dtype=int)
    events = drawn.choice(size, 34, replace=False)
    ended[events], days[events] = 1, drawn.integers(10, 290, 34)
    later = np.flatnonzero((arm == 0) & (ended == 0) & (days > day) & (days <= 360))
    brought = {"days": np.repeat([day, 1000], [8500, 1400]), "ended": np.repeat([1, 0], [8500, 1400])}
    brought |= {"arm": np.ones(9900), "age": np.zeros(9900)}
    told = []
    for count in (0, 3, 6, 9):
        (folder := tmp_path / str(count)).mkdir()
        left = days.copy()
        left[later[:count]] = day - 11
        held = {"days": left, "ended": ended, "arm": arm, "age": np.full(size, 50)}
        schemas = {"days": DAYS, "ended": ENDED, "arm": ARM, "age": AGE}
        values = {name: Column(each, schemas[name]) for name, each in held.items()}
        victim = Victim(
            folder, values | {PERSONS: Column(np.arange(size), Schema("integer"))}, POLICY, overlap=M
        )
        query = {**TESTED, "every": 360, "step": 10}
        _, outcome = victim.asked(job(query), brought=brought)
        (groups,) = [table.columns for table in outcome.tables if table.name == "survival: groups"]
        told.append(groups["expected"][0])
    assert len(set(told)) <= 2, told
