"""Statistics of the rows that meet conditions, by one or two columns: over rows of both, and over matches."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.statistics.plans.noisy import local
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import UsageError
from smc.forms import Role
from tests.smc.analyses import statistics_runs, vertical_runs
from tests.smc.analyses.statistics_runs import (
    BOTH,
    GROUP,
    SCHEMAS,
    columns,
    joint,
    parsed,
    silence,
    table,
    traffic,
)
from tests.smc.analyses.test_estimates import check

SEX = Schema("category", categories=("f", "m"))
OLD = '{ column = "age", at_least = 60 }'
LIGHT = '{ any = [{ column = "weight", below = "100.0" }, { column = "group", in = ["A", "0"] }] }'
QUERIES = f"""
[[queries]]
kind = "count"
column = "weight"
[[queries]]
kind = "mean"
column = "weight"
by = "group"
where = [{LIGHT}]
[[queries]]
kind = "histogram"
column = "group"
where = [{{ column = "weight", above = 20 }}]
"""
HEAD = f"maximum_rows = 1000\nwhere = [{OLD}]\n"


def job(head='epsilon = "4"', queries=QUERIES):
    return parsed(f"{head}\n{HEAD}{queries}")


def values(outcome, name):
    found = outcome.tables[0].columns
    return [value for query, value in zip(found["query"], found["value"], strict=True) if query == name]


@pytest.mark.parametrize("head", ['epsilon = "4"', 'noise = "none"'])
def test_results_are_those_of_the_rows_that_meet_all_conditions(monkeypatch, head):
    silence(monkeypatch)
    alice, bob = table(80), table(70)
    outcome, _ = joint(job(head), alice, bob)
    every = {name: np.array([*alice[name].values, *bob[name].values]) for name in alice}
    old = every["age"] >= 60
    assert values(outcome, "count of weight") == [old.sum()]
    light = old & ((every["weight"] < 1000) | np.isin(every["group"], (0, 3)))
    (name,) = {each for each in outcome.tables[0].columns["query"] if each.startswith("mean")}
    assert name == "mean of weight by group where (weight < 100.0 or group in (A, 0))"
    for place, value in enumerate(values(outcome, name)[:4]):
        chosen = every["weight"][light & (every["group"] == place)]
        assert value == (pytest.approx(chosen.mean() / 10) if len(chosen) else None)
    heavy = every["group"][old & (every["weight"] > 200)]
    assert outcome.tables[1].columns["count"][:4] == np.bincount(heavy, minlength=4).tolist()
    if "none" in head:
        assert job(head).reference(alice, bob, BOTH)[0] == outcome


def test_what_is_sent_does_not_depend_on_how_many_rows_meet_them():
    """The number of rows stays secret, so a filtered one must not show in sizes or rounds."""
    sent = set()
    for age in (20, 90):
        data = columns(age=[age] * 30, weight=[500] * 30, group=[1] * 30)
        first, second = traffic(job(), data, data)
        sent.add((first.sent, second.sent, first.rounds, second.rounds))
    assert len(sent) == 1


@pytest.mark.parametrize("head", ['epsilon = "4"', 'noise = "none"'])
@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_group=3)])
def test_estimates_are_what_runs_cost(head, limits):
    data = columns(age=[61] * 40, weight=list(range(210, 610, 10)), group=[place % 4 for place in range(40)])
    queries = QUERIES if "epsilon" in head else QUERIES.split("[[queries]]")[2].join(["[[queries]]", ""])
    check(job(head, queries), data, data, limits)


def test_a_filter_leaves_the_sensitivity_and_so_the_noise_as_they_are():
    filtered, whole = (
        plan(parsed(f'epsilon = "1"\n{extra}[[queries]]\nkind = "sum"\ncolumn = "age"').parameters, SCHEMAS)
        for extra in (f"where = [{OLD}]\n", "")
    )
    assert filtered[0].distributions == whole[0].distributions


@pytest.mark.parametrize("most", [1, 2])
def test_a_person_moves_every_count_by_no_more_than_its_rows(most):
    """Neighbours: all rows of one person, of any ages, are taken away; conditions look at single rows."""
    drawn = np.random.default_rng(most)
    study = parsed(
        f'epsilon = "1"\nrows_per_person = {most}\nwhere = [{OLD}]\n'
        '[[queries]]\nkind = "count"\nby = "group"\n[[queries]]\nkind = "sum"\ncolumn = "age"'
    )
    plans = plan(study.parameters, SCHEMAS)
    reached = 0
    for _ in range(40):
        data = columns(age=drawn.integers(50, 70, 30), group=drawn.integers(0, 4, 30))
        persons = drawn.integers(0, 8, 30)
        gone = int(persons[0])

        def entries(kept, data=data, persons=persons):
            side = {name: Column(column.array[kept], column.schema) for name, column in data.items()}
            side[PERSONS] = Column(persons[kept], Schema("integer"))
            return [local(each, LocalRows.of(study.parameters, side, each.where)) for each in plans]

        all_of, without = entries(np.ones(30, dtype=bool)), entries(persons != gone)
        change = [int(np.abs(one - two).sum()) for one, two in zip(all_of, without, strict=True)]
        assert change[0] <= most
        assert change[1] <= most * 150
        reached = max(reached, change[0])
    assert reached == most


def test_rows_of_a_person_are_limited_among_those_that_meet_the_conditions(monkeypatch):
    silence(monkeypatch)
    side = columns(age=[20, 70, 80, 30], weight=[0] * 4, group=[0] * 4)
    side[PERSONS] = Column(np.array([0, 0, 0, 1]), Schema("integer"))
    study = parsed(f'epsilon = "1"\nwhere = [{OLD}]\n[[queries]]\nkind = "sum"\ncolumn = "age"')
    outcome, _ = joint(study, side, columns(age=[], weight=[], group=[]))
    assert values(outcome, "sum of age") == [70]


def test_a_small_filtered_group_is_withheld_without_noise():
    """By another name it is the small cell of a table."""
    alice = columns(age=[90, 91, *[30] * 40], weight=[500] * 42)
    bob = columns(age=[30] * 40, weight=[500] * 40)
    limits = Limits(minimum_group=5, dominance=Fraction(4, 5))
    for kind in ('kind = "count"', 'kind = "sum"', 'kind = "mean"'):
        text = f'noise = "none"\n[[queries]]\n{kind}\ncolumn = "weight"\nwhere = [{OLD}]'
        _, outcome = joint(parsed(text), alice, bob, limits=limits)
        assert outcome.tables[0].columns["value"] == [None]
        assert outcome.tables[0].columns["rows"] == [None]


def test_conditions_sort_rows_of_exact_tables():
    facts = job('noise = "none"').facts(BOTH)
    assert facts.sorts_by == {"age", "weight", "group"}


def test_the_statement_names_the_conditions_and_their_queries():
    public = job().leakage(BOTH).public
    assert 'that only rows count with age >= 60, in "count of weight"; not how many these are' in public
    assert any('age >= 60 and weight > 20, in "histogram of group where weight > 20"' in s for s in public)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('where = [{ column = "size", above = 3 }]\n[[queries]]\nkind = "count"\ncolumn = "age"', "'size'"),
        ('where = 3\n[[queries]]\nkind = "count"\ncolumn = "age"', "parameters.where is not a list"),
        (
            '[[queries]]\nkind = "count"\nwhere = [{ column = "age", over = 3 }]',
            r"queries\[0\].where\[0\] has an unknown key",
        ),
        ('[[queries]]\nkind = "count"\nby = ["group", "group"]', "names more than 3 columns, or one twice"),
        ('[[queries]]\nkind = "count"\nby = ["group", "age", "weight", "size"]', "names more than 3 columns"),
        ('[[queries]]\nkind = "count"\nby = ["group", "age"]', "by needs a category column, 'age'"),
    ],
)
def test_wrong_conditions_and_groups_are_named(text, words):
    def check_job():
        parsed(f'epsilon = "1"\n{text}').check(SCHEMAS, SCHEMAS)

    with pytest.raises(UsageError, match=words):
        check_job()


@pytest.mark.parametrize("head", ['epsilon = "4"', 'noise = "none"'])
def test_two_columns_of_by_make_a_group_of_each_pair(monkeypatch, head):
    silence(monkeypatch)
    drawn = np.random.default_rng(3)
    sides = [table(rows) | {"sex": Column(drawn.integers(0, 2, rows), SEX)} for rows in (60, 50)]
    text = 'kind = "mean"\ncolumn = "age"\nby = ["group", "sex"]'
    study = parsed(f"{head}\nmaximum_rows = 1000\n[[queries]]\n{text}")
    outcome, _ = joint(study, *sides)
    found = outcome.tables[0].columns
    means = dict(zip(found["group"], found["value"], strict=True))
    every = {name: np.concatenate([side[name].array for side in sides]) for name in sides[0]}
    for code, label in enumerate(GROUP.categories):
        for place, sex in enumerate(SEX.categories):
            chosen = every["age"][(every["group"] == code) & (every["sex"] == place)]
            assert means[f"{label} / {sex}"] == pytest.approx(chosen.mean())
    twin = study.reference(*sides, BOTH)[0].tables[0].columns
    assert twin["group"] == found["group"]
    assert study.columns[Role.ALICE] == ("age", "group", "sex")


VERTICAL = {
    "alice": ('{ column = "age", above = 30 }', lambda t: t["age"] > 30),
    "bob": ('{ column = "state", in = ["well", "dead"] }', lambda t: np.isin(t["state"], (0, 2))),
    "both": (
        '{ column = "age", above = 30 }, { column = "state", equals = "ill" }',
        lambda t: (t["age"] > 30) & (t["state"] == 1),
    ),
}


@pytest.mark.parametrize("name", VERTICAL)
def test_over_matches_conditions_and_groups_of_both_sides_join(monkeypatch, name):
    statistics_runs.silence(monkeypatch)
    text, chosen = VERTICAL[name]
    study = vertical_runs.job(
        f'kind = "sum"\ncolumn = "costs"\nby = ["sex", "state"]\nwhere = [{text}]',
        'kind = "count"\ncolumn = "age"',
    )
    alice, bob = vertical_runs.tables()
    first, _ = vertical_runs.joint(study, alice, bob)
    assert first.tables[0].columns["value"] == study.reference(alice, bob, BOTH)[0].tables[0].columns["value"]
    places = {key.strip(): place for place, key in enumerate(bob["id"].values)}
    pairs = [(i, places[k.strip()]) for i, k in enumerate(alice["id"].values) if k.strip() in places]
    mine, theirs = np.array(pairs).T
    joined = {key: column.array[mine] for key, column in alice.items() if key != "id"}
    joined |= {key: column.array[theirs] for key, column in bob.items() if key != "id"}
    met = chosen(joined)
    sums = [
        joined["costs"][met & (joined["sex"] == sex) & (joined["state"] == state)].sum()
        for sex in range(2)
        for state in range(3)
    ]
    assert [Fraction(each) * 100 for each in first.tables[0].columns["value"][:6]] == sums
    assert len({*sums}) > 1


@pytest.mark.parametrize("name", VERTICAL)
def test_over_matches_estimates_are_what_runs_cost(name):
    study = vertical_runs.job(
        f'kind = "mean"\ncolumn = "costs"\nby = ["sex", "state"]\nwhere = [{VERTICAL[name][0]}]',
        'kind = "count"\ncolumn = "age"',
    )
    alice, bob = vertical_runs.tables(60, 60, 25)
    check(study, alice, bob, NO_LIMITS)
    for known in (alice, bob):  # the peer's columns are assumed
        schemas = {key: column.schema for key, column in known.items()}
        assert estimate_cost(study, schemas, BOTH, RunSetting((60, 60))).rounds > 0


def test_over_matches_a_condition_belongs_to_one_side():
    mixed = '{ any = [{ column = "age", above = 30 }, { column = "state", equals = "ill" }] }'
    with pytest.raises(UsageError, match="columns of both sides"):
        vertical_runs.job(f'kind = "mean"\ncolumn = "costs"\nwhere = [{mixed}]')


def test_over_matches_the_assumed_columns_of_a_peer_fit_the_conditions():
    conditions = (
        '{ column = "state", at_least = "1990-12-31" }',
        '{ column = "state", below = "0.25" }',
        '{ column = "state", not_in = ["x", "y"] }',
    )
    for text in conditions:
        study = vertical_runs.job(f'kind = "mean"\ncolumn = "age"\nwhere = [{text}]')
        known = {"id": vertical_runs.ID, "age": vertical_runs.AGE}
        assert estimate_cost(study, known, BOTH, RunSetting((60, 60))).alice_bytes > 0
