"""Derived columns: what they hold, that both sides derive alike, and how analyses use them."""

from __future__ import annotations

import tomllib
from datetime import date, timedelta

import numpy as np
import pytest

from smc.analyses.clustering.study import CLUSTERING
from smc.analyses.derived.columns import parse_derived
from smc.analyses.derived.study import DerivedStudy
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.studies.columns import DAYS, PERSONS, Column, Schema
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import UsageError
from smc.forms import Role
from tests.smc.analyses.statistics_runs import BOTH, joint, silence
from tests.smc.analyses.test_estimates import check

EPOCH = date(1970, 1, 1)
AGE = Schema("integer", lower=0, upper=120, unit="years")
BORN = Schema("integer", lower=-25567, upper=20000, unit=DAYS)
CAME = Schema("integer", lower=16000, upper=20000, unit=DAYS)
ID = Schema("text")
SCHEMAS = {"id": ID, "age": AGE, "born": BORN, "came": CAME, "left": CAME}

DERIVED = """
[derived.group]
column = "age_then"
cuts = [18, 65]
labels = ["child", "adult", "old"]
[derived.age_then]
from = "born"
to = "came"
unit = "years"
[derived.stay]
from = "came"
to = "left"
unit = "days"
lower = 0
upper = 30
"""


def columns(text):
    return {each.name: each for each in parse_derived(tomllib.loads(text)["derived"], "derived")}


def side(rows, seed, first=0):
    drawn = np.random.default_rng(seed)
    came = drawn.integers(16000, 19000, rows)
    return {
        "id": Column([f"key {place}" for place in range(first, first + rows)], ID),
        "age": Column(drawn.integers(0, 121, rows), AGE),
        "born": Column(came - drawn.integers(0, 33000, rows), BORN),
        "came": Column(came, CAME),
        "left": Column(came + drawn.integers(-3, 60, rows), CAME),
    }


def picked(data, *names):
    return {name: data[name] for name in names}


def years(born, then):
    """Whole years by the calendar, from the standard library's dates."""
    one, two = EPOCH + timedelta(days=int(born)), EPOCH + timedelta(days=int(then))
    return two.year - one.year - ((two.month, two.day) < (one.month, one.day))


def test_years_are_counted_as_an_age_is():
    difference = columns('[derived.a]\nfrom = "born"\nto = "came"\nunit = "years"')["a"]
    drawn = np.random.default_rng(5)
    born, came = drawn.integers(-40000, 20000, 4000), drawn.integers(-40000, 20000, 4000)
    leap = (date(2000, 2, 29) - EPOCH).days
    edges = [leap + 364, leap + 365, leap + 366, leap + 1460, leap + 1461, leap, leap - 1]
    born, came = np.append(born, [leap] * 7), np.append(came, edges)
    found = difference.values({"born": born, "came": came}, {})
    assert found.tolist() == [years(*pair) for pair in zip(born, came, strict=True)]


@pytest.mark.parametrize("unit", ["days", "years"])
def test_no_difference_is_beyond_the_bounds_that_follow_from_the_dates(unit):
    difference = columns(f'[derived.a]\nfrom = "born"\nto = "came"\nunit = "{unit}"')["a"]
    schema = difference.schema(SCHEMAS, exact=True)
    drawn = np.random.default_rng(6)
    held = {
        name: np.append(drawn.integers(s.lower, s.upper + 1, 5000), [s.lower, s.upper] * 2)
        for name, s in SCHEMAS.items()
        if s.is_date
    }
    held["came"][-2:] = held["came"][-2:][::-1]
    found = difference.values(held, SCHEMAS)
    assert (found.min(), found.max()) == (schema.lower, schema.upper)
    assert schema.unit == unit
    fixed = columns(f'[derived.a]\nfrom = "born"\nto = "2020-01-01"\nunit = "{unit}"')["a"]
    assert fixed.sources == ("born",)
    first = fixed.values({"born": np.array([0])}, SCHEMAS)
    assert first.tolist() == [{"days": 18262, "years": 50}[unit]]


def test_every_row_is_in_one_group():
    groups = columns('[derived.a]\ncolumn = "age"\ncuts = [18, 65]')["a"]
    assert groups.labels == ("below 18", "18 to below 65", "65 and above")
    held = {"age": np.array([0, 17, 18, 64, 65, 120])}
    assert groups.values(held, SCHEMAS).tolist() == [0, 0, 1, 1, 2, 2]
    by_date = columns('[derived.a]\ncolumn = "born"\ncuts = ["1970-01-01"]')["a"]
    assert by_date.values({"born": np.array([-1, 0])}, SCHEMAS).tolist() == [0, 1]


STATISTICS_JOB = """
maximum_rows = 1000
where = [{ column = "stay", below = 20 }]
[[queries]]
kind = "mean"
column = "stay"
by = "group"
"""


@pytest.mark.parametrize("head", ['epsilon = "4"', 'epsilon = "4"\nrows_per_person = 2', 'noise = "none"'])
def test_statistics_by_groups_of_an_age_that_is_derived(monkeypatch, head):
    silence(monkeypatch)
    text = DERIVED if "none" not in head else DERIVED.replace("lower = 0\nupper = 30", "")
    study = STATISTICS.parse(tomllib.loads(f"{head}\n{STATISTICS_JOB}{text}"))
    assert study.columns == dict.fromkeys(Role, ("came", "left", "born"))
    alice, bob = (picked(side(rows, rows), "came", "left", "born") for rows in (70, 60))
    bob[PERSONS] = Column(np.arange(60), Schema("integer"))
    study.check({n: SCHEMAS[n] for n in study.columns[Role.ALICE]}, {n: SCHEMAS[n] for n in alice})
    outcome, _ = joint(study, alice, bob)
    every = {name: np.concatenate([alice[name].array, bob[name].array]) for name in alice}
    stay = every["left"] - every["came"]
    stay = stay if "none" in head else np.clip(stay, 0, 30)
    ages = np.array([years(*pair) for pair in zip(every["born"], every["came"], strict=True)])
    found = dict(zip(outcome.tables[0].columns["group"], outcome.tables[0].columns["value"], strict=True))
    for label, chosen in (("child", ages < 18), ("adult", (ages >= 18) & (ages < 65)), ("old", ages >= 65)):
        assert found[label] == pytest.approx(stay[chosen & (stay < 20)].mean())
    assert study.reference(alice, bob, BOTH)[0].tables == outcome.tables or "none" not in head


def test_a_derived_column_may_be_used_by_itself_and_in_another_one():
    queries = ['kind = "mean"\ncolumn = "age_then"\nby = "group"', 'kind = "sum"\ncolumn = "age_then"']
    text = (
        "".join(f"[[queries]]\n{query}\n" for query in queries)
        + DERIVED.split("[derived.stay]", maxsplit=1)[0]
    )
    study = STATISTICS.parse(tomllib.loads(f'epsilon = "1"\n{text}'))
    assert study.columns == dict.fromkeys(Role, ("born", "came"))


def test_estimates_are_what_runs_cost():
    study = STATISTICS.parse(tomllib.loads(f'epsilon = "4"\n{STATISTICS_JOB}{DERIVED}'))
    data = picked(side(50, 1), "came", "left", "born")
    check(study, data, data, Limits(minimum_group=3))


VERTICAL_JOB = """
epsilon = "4"
layout = "vertical"
alice_columns = ["group"]
bob_columns = ["stay"]
[match]
keys = ["id"]
[[queries]]
kind = "mean"
column = "stay"
by = "group"
where = [{ column = "stay", above = 0 }]
"""


def test_over_matched_rows_each_side_derives_its_own(monkeypatch):
    silence(monkeypatch)
    study = STATISTICS.parse(tomllib.loads(VERTICAL_JOB + DERIVED))
    assert study.columns == {Role.ALICE: ("id", "born", "came"), Role.BOB: ("id", "came", "left")}
    alice = picked(side(60, 1), "id", "born", "came")
    bob = picked(side(60, 2, first=20), "id", "came", "left")
    study.check({n: c.schema for n, c in alice.items()}, {n: c.schema for n, c in bob.items()})
    outcome, _ = joint(study, alice, bob)
    assert (
        outcome.tables[0].columns["value"] == study.reference(alice, bob, BOTH)[0].tables[0].columns["value"]
    )
    monkeypatch.undo()
    estimate = check(study, alice, bob, NO_LIMITS)
    for known in (alice, bob):
        schemas = {name: column.schema for name, column in known.items()}
        assert estimate_cost(study, schemas, BOTH, RunSetting((60, 60))).rounds <= estimate.rounds


CLUSTERS = """
clusters = 2
columns = ["stay", "age_then"]
centres = [["3", "20"], ["20", "60"]]
epsilon = "2"
iterations = 2
[derived.stay]
from = "came"
to = "left"
unit = "days"
[derived.age_then]
from = "born"
to = "came"
unit = "years"
"""


def test_clusters_over_derived_columns():
    study = CLUSTERING.parse(tomllib.loads(CLUSTERS))
    alice, bob = (picked(side(70, seed), "came", "left", "born") for seed in (1, 2))
    study.check({n: c.schema for n, c in alice.items()}, {n: c.schema for n, c in bob.items()})
    check(study, alice, bob, NO_LIMITS)
    assert set(study.columns[Role.ALICE]) == {"came", "left", "born"}
    with pytest.raises(UsageError, match="'arbitrary'"):
        CLUSTERING.parse(tomllib.loads('layout = "arbitrary"\n' + CLUSTERS))


def test_sums_of_derived_values_over_an_intersection():
    job = 'method = "exact"\nkeys = ["id"]\noutput = "statistics"\n'
    values = '[[values]]\nside = "bob"\ncolumn = "stay"\n'
    table = '[derived.stay]\nfrom = "came"\nto = "left"\nunit = "days"\n'
    study = MATCHING.parse(tomllib.loads(job + values + table))
    alice, bob = picked(side(40, 1), "id"), picked(side(40, 2, first=10), "id", "came", "left")
    outcome, _ = joint(study, alice, bob)
    assert outcome.tables == study.reference(alice, bob, BOTH)[0].tables
    narrow = MATCHING.parse(tomllib.loads(job + values + table + "lower = 0\nupper = 1\n"))
    with pytest.raises(UsageError, match="need noise"):
        narrow.check({"id": ID}, {"id": ID, "came": CAME, "left": CAME})


def test_without_noise_a_derived_column_has_no_bounds_of_its_own():
    """What lies above a chosen bound could be one person's; far from wide bounds nobody dominates."""
    text = 'noise = "none"\n[[queries]]\nkind = "sum"\ncolumn = "stay"\n'
    text += '[derived.stay]\nfrom = "came"\nto = "left"\n'
    wide = {"came": CAME, "left": CAME}
    for bounds in ("lower = 59\nupper = 5000", "upper = 3999", "lower = -4000\nupper = 180000"):
        study = STATISTICS.parse(tomllib.loads(f'{text}unit = "days"\n{bounds}'))
        with pytest.raises(UsageError, match="need noise"):
            study.check(wide, wide)
        assert isinstance(study.preview(side(9, 1), Role.ALICE, NO_LIMITS).refusal, UsageError)
    STATISTICS.parse(tomllib.loads(f'{text}unit = "days"')).check(wide, wide)


def test_exact_tables_by_a_derived_column_sort_by_its_sources():
    study = STATISTICS.parse(
        tomllib.loads(f'noise = "none"\n{STATISTICS_JOB}{DERIVED}'.replace("lower = 0\nupper = 30", ""))
    )
    assert study.facts(BOTH).sorts_by == {"born", "came", "left"}


def test_the_statement_names_derived_columns():
    study = STATISTICS.parse(tomllib.loads(f'epsilon = "4"\n{STATISTICS_JOB}{DERIVED}'))
    assert isinstance(study, DerivedStudy)
    assert [each for each in study.leakage(BOTH).public if "derived" in each] == [
        "the derived column age_then = years from born to came",
        "the derived column stay = days from came to left, clamped to 0..30",
        "the derived column group = age_then cut at 18, 65 (child; adult; old)",
    ]


COUNT = 'epsilon = "1"\nqueries = [{ kind = "count", column = "x" }]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("derived = 3", "not a table of 1 to 100 columns"),
        ("[derived.x]\ncuts = [1]", "by one of column, from, date, numbers"),
        ('[derived.x]\ncolumn = "age"\ncuts = [1]\nfrom = "born"', "by one of column, from, date, numbers"),
        ('[derived.x]\ncolumn = "age"', "cuts is not a list"),
        ('[derived.x]\ncolumn = "age"\ncuts = [1.5]', "does not fit"),
        ('[derived.x]\ncolumn = "age"\ncuts = [3, 1]', "do not increase"),
        ('[derived.x]\ncolumn = "age"\ncuts = ["0.5"]', "more decimals"),
        ('[derived.x]\ncolumn = "age"\ncuts = [1]\nlabels = ["a"]', "not 2 different texts"),
        ('[derived.x]\ncolumn = "id"\ncuts = [1]', "cannot be cut"),
        ('[derived.x]\nfrom = "age"\nto = "born"\nunit = "days"', "does not hold dates"),
        ('[derived.x]\nfrom = "born"\nto = "2020-13-01"\nunit = "days"', "not a date"),
        ('[derived.x]\nfrom = "born"\nto = "born"\nunit = "days"', "the same in every row"),
        ('[derived.x]\nfrom = "2019-01-01"\nto = "2020-01-01"\nunit = "days"', "the same in every row"),
        ('[derived.x]\nfrom = "born"\nto = "came"\nunit = "weeks"', "unit cannot be 'weeks'"),
        ('[derived.x]\nfrom = "born"\nto = "came"\nunit = "days"\nlower = 9\nupper = 1', "above the upper"),
        ('[derived.x]\nfrom = "born"\nto = "came"\nunit = "days"\nleast = 9', "unknown key 'least'"),
        ('[derived.x]\ncolumn = "y"\ncuts = [1]\n[derived.y]\ncolumn = "x"\ncuts = [1]', "from itself"),
        ('[derived.y]\ncolumn = "age"\ncuts = [1]', "nothing uses the derived column 'y'"),
        ('[derived."a b"]\ncolumn = "age"\ncuts = [1]', "not a plain word"),
    ],
)
def test_what_is_wrong_is_named(text, words):
    def check_job():
        STATISTICS.parse(tomllib.loads(COUNT + text)).check(SCHEMAS, SCHEMAS)

    with pytest.raises(UsageError, match=words) as caught:
        check_job()
    assert caught.value.hint


def test_both_sides_have_to_measure_alike():
    study = STATISTICS.parse(tomllib.loads(COUNT + '[derived.x]\ncolumn = "age"\ncuts = [18]'))
    months = Schema("integer", lower=0, upper=1440, unit="months")
    with pytest.raises(UsageError, match="unit of 'age' differently"):
        study.check({"age": AGE}, {"age": months})


SHARED = """
layout = "vertical"
noise = "none"
alice_columns = ["arm", "days"]
bob_columns = ["ended"]
match = { keys = ["card"] }
[derived.days]
from = "entry"
to = "death"
unit = "days"
[[queries]]
kind = "survival"
time = "days"
event = "ended"
events = ["died"]
by = "arm"
every = 30
until = 300
"""


def test_of_dates_of_two_sides_it_is_said_that_no_column_is_derived():
    alice = {
        "card": Schema("text"),
        "arm": Schema("category", categories=("new", "old")),
        "entry": Schema("integer", lower=0, upper=3000, unit=DAYS),
    }
    bob = {
        "card": Schema("text"),
        "ended": Schema("category", categories=("died", "alive")),
        "death": Schema("integer", lower=3000, upper=6000, unit=DAYS),
    }
    study = STATISTICS.parse(tomllib.loads(SHARED))
    with pytest.raises(UsageError, match=r"derived.days: 'death' is at bob") as caught:
        study.check(alice, bob)
    assert "of both sides" in caught.value.hint
    with pytest.raises(UsageError, match=r"derived.days: alice has no column 'death'. Add it"):
        study.check(alice, {name: bob[name] for name in ("card", "ended")})
    study.check(alice | {"death": bob["death"]}, bob)
