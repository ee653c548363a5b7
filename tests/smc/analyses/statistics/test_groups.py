"""Groups, persons, and the withholding of small groups in noisy results."""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.disclosure.limits import Limits
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.queries.parameters import MAX_DELTA
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import UsageError
from smc.forms import Role
from tests.smc.analyses.statistics_runs import (
    BOTH,
    GROUP,
    SCHEMAS,
    columns,
    joint,
    parsed,
    results,
    silence,
    table,
    traffic,
)

BY = """
epsilon = "2"
maximum_rows = 1000
[[queries]]
kind = "count"
by = "group"
[[queries]]
kind = "sum"
column = "age"
by = "group"
[[queries]]
kind = "mean"
column = "weight"
by = "group"
[[queries]]
kind = "median"
column = "age"
points = 4
by = "group"
[[queries]]
kind = "histogram"
column = "age"
edges = [0, 40, 150]
by = "group"
[[queries]]
kind = "sum"
column = "age"
"""
OF_PERSONS = Schema("integer", lower=0, upper=1000)


def with_persons(data, persons):
    return {**data, PERSONS: Column(np.array(persons, dtype=np.int64), OF_PERSONS)}


def by_group(outcome, query):
    rows = outcome.tables[0].columns
    return {
        group: value
        for name, group, value in zip(rows["query"], rows["group"], rows["value"], strict=True)
        if name == query
    }


def test_every_group_has_its_own_statistics(monkeypatch):
    silence(monkeypatch)
    alice, bob = table(60), table(40)
    first, _ = joint(parsed(BY), alice, bob)
    twin = parsed(BY).reference(alice, bob, BOTH)[0]
    every = {name: np.array([*alice[name].values, *bob[name].values]) for name in alice}
    for outcome in (first, twin):
        counts, sums, means = (
            by_group(outcome, name)
            for name in ("count by group", "sum of age by group", "mean of weight by group")
        )
        for place, label in enumerate(GROUP.categories):
            chosen = every["group"] == place
            assert counts[label] == chosen.sum()
            assert sums[label] == every["age"][chosen].sum()
            assert means[label] == pytest.approx(every["weight"][chosen].mean() / 10)
        assert by_group(outcome, "sum of age") == {None: every["age"].sum()}
        assert [one.name for one in outcome.tables[1:]] == [
            f"histogram of age by group: {label}" for label in GROUP.categories
        ]
    assert by_group(first, "median of age by group") == by_group(twin, "median of age by group")


def test_every_group_has_the_whole_loss_of_its_query():
    grouped, whole = (
        plan(parsed(f'epsilon = "1"\n[[queries]]\nkind = "sum"\ncolumn = "age"\n{by}').parameters, SCHEMAS)[0]
        for by in ('by = "group"', "")
    )
    assert grouped.distributions == whole.distributions * 4
    assert grouped.delta == whole.delta


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('kind = "count"\nby = "age"', "category"),
        ('kind = "sum"\ncolumn = "age"\nby = "sex"', "has no column"),
        ('kind = "histogram"\ncolumn = "group"\nby = "group"', "itself computes on"),
        ('kind = "count"\nby = 3', "not a name"),
    ],
)
def test_wrong_groups_are_named(query, words):
    with pytest.raises(UsageError, match=words):
        parsed(f'epsilon = "1"\n[[queries]]\n{query}').check(SCHEMAS, SCHEMAS)


def test_only_the_first_rows_of_a_person_are_used(monkeypatch):
    silence(monkeypatch)
    text = 'epsilon = "1"\nrows_per_person = %d\n[[queries]]\nkind = "sum"\ncolumn = "age"'
    alice = with_persons(columns(age=[1, 2, 4, 8, 16, 32]), [5, 0, 5, 7, 5, 0])
    bob = columns(age=[64] * 3)  # no numbers: each row a person
    for rows, total in ((1, 1 + 2 + 8), (2, 1 + 2 + 4 + 8 + 32), (3, 63)):
        study = parsed(text % rows)
        assert results(joint(study, alice, bob)[0])["sum of age"]["value"] == total + 192
        twin = study.reference(alice, bob, BOTH)[0]
        assert results(twin)["sum of age"]["value"] == total + 192


def test_persons_of_many_rows_make_more_noise():
    text = 'epsilon = "1"\nrows_per_person = {}\n[[queries]]\nkind = "mean"\ncolumn = "age"'
    one, three = (
        plan(parsed(text.format(rows)).parameters, SCHEMAS)[0]
        for rows in (1, 3)
    )  # fmt: skip
    assert [distribution.rate for distribution in three.distributions] == [
        distribution.rate / 3 for distribution in one.distributions
    ]
    rho = (
        'noise = "gaussian"\nrho = "1/100"\nrows_per_person = %d\n[[queries]]\nkind = "count"\ncolumn = "age"'
    )
    one, three = (plan(parsed(rho % rows).parameters, SCHEMAS)[0] for rows in (1, 3))
    assert (one.distributions[0].variance, three.distributions[0].variance) == (50, 450)


def test_persons_of_another_number_than_rows_are_refused():
    alice = with_persons(columns(age=[1, 2]), [0])
    with pytest.raises(UsageError, match="different lengths"):
        joint(parsed('epsilon = "1"\n[[queries]]\nkind = "count"\ncolumn = "age"'), alice, alice)


def test_small_groups_are_withheld(monkeypatch):
    silence(monkeypatch)
    alice = columns(age=[50] * 9, weight=[800] * 9, group=[0] * 5 + [1] * 2 + [3] * 2)
    bob = columns(age=[30] * 6, weight=[700] * 6, group=[0, 0, 1, 1, 1, 3])
    outcome, _ = joint(parsed(BY), alice, bob, limits=Limits(minimum_group=5))
    shown = {"A", "B"}
    queries = ("count", "sum of age", "mean of weight", "median of age")
    for query in queries:
        found = by_group(outcome, f"{query} by group")
        assert {label for label, value in found.items() if value is not None} == shown
    assert by_group(outcome, "sum of age by group")["A"] == 5 * 50 + 2 * 30
    assert by_group(outcome, "sum of age") == {None: 9 * 50 + 6 * 30}
    assert [one.columns["count"] for one in outcome.tables[1:]] == [
        [None, 5], [None, None], [None, None], [None, None]
    ]  # fmt: skip
    assert any("withheld" in note for note in outcome.notes)
    whole, _ = joint(parsed(BY), alice, bob, limits=Limits(minimum_group=16))
    assert by_group(whole, "sum of age") == {None: None}


def test_without_a_withheld_group_limits_change_nothing_but_the_noise(monkeypatch):
    silence(monkeypatch)
    alice, bob = table(900), table(900)  # about 37 rows in the smallest cell
    free, limited = (joint(parsed(BY), alice, bob, limits=Limits(minimum_group=m))[0] for m in (0, 5))
    for query in ("count", "sum of age", "mean of weight", "median of age"):
        assert by_group(free, f"{query} by group") == by_group(limited, f"{query} by group")
    assert not any("withheld" in note for note in limited.notes)


def test_persons_of_many_rows_need_larger_groups(monkeypatch):
    silence(monkeypatch)
    text = 'epsilon = "1"\nrows_per_person = 3\n[[queries]]\nkind = "count"\ncolumn = "age"'
    for rows, shown in ((14, False), (15, True)):
        outcome, _ = joint(parsed(text), columns(age=[1] * rows), columns(age=[]), limits=Limits(5))
        assert (results(outcome)["count of age"]["value"] is not None) == shown


@pytest.mark.parametrize(
    ("budget", "recipients", "least"),
    [
        ('epsilon = "2"', BOTH, 0),
        ('epsilon = "2"', frozenset({Role.BOB}), 5),
        ('noise = "gaussian"\nrho = "1/2"', frozenset({Role.ALICE}), 5),
    ],
)
def test_cost_is_as_declared_and_the_same_for_all_data(recipients, least, budget):
    """What is sent tells nothing of the rows: not their number, nor their values, nor what is withheld."""
    study = parsed(BY.replace('epsilon = "2"', budget))
    declared = estimate_cost(study, SCHEMAS, recipients, RunSetting((60, 60), Limits(minimum_group=least)))
    for alice, bob in ((table(50), table(1)), (table(0), table(0))):
        sent = traffic(study, alice, bob, recipients, Limits(minimum_group=least))
        assert (sent[0].sent, sent[1].sent) == (declared.alice_bytes, declared.bob_bytes)
        assert max(sent[0].rounds, sent[1].rounds) == declared.rounds


def test_gaussian_jobs():
    text = '[[queries]]\nkind = "count"\ncolumn = "age"\n[[queries]]\nkind = "sum"\ncolumn = "age"'
    by_rho = parsed('noise = "gaussian"\nrho = "1/100"\n' + text)
    loss = by_rho.facts(BOTH).loss
    assert (loss.epsilon, loss.delta, loss.rho * 100) == (0, MAX_DELTA, 1)
    distributions = [
        distribution for planned in plan(by_rho.parameters, SCHEMAS) for distribution in planned.distributions
    ]
    assert [distribution.variance for distribution in distributions] == [
        100,
        100 * 150**2,
    ]  # sensitivity**2 / (2 rho / 2)
    stated = parsed('noise = "gaussian"\nepsilon = "1"\ndelta = "1/1000000"\n' + text)
    loss = stated.facts(BOTH).loss
    assert 0.999 < float(loss.epsilon_at(1 / MAX_DELTA * MAX_DELTA / 10**6)) <= 1
    outcome, _ = joint(by_rho, columns(age=[40] * 30), columns(age=[20] * 10))
    rows = results(outcome)
    assert rows["count of age"]["rho"] == "0.005"
    assert rows["count of age"]["noise_scale"] == 10
    assert abs(rows["count of age"]["value"] - 40) < 60
    assert 0 < outcome.details["delta"] <= MAX_DELTA
    assert outcome.details["rho"] == "0.01"


@pytest.mark.parametrize(
    ("top", "words"),
    [
        ('noise = "gaussian"', "rho"),
        ('noise = "gaussian"\nepsilon = "1"', "rho"),
        ('noise = "gaussian"\nrho = "1"\nepsilon = "1"', "rho"),
        ('noise = "gaussian"\nrho = "0"', "not positive"),
        ('noise = "gaussian"\nrho = "101"', "above"),
        ('noise = "gaussian"\nepsilon = "1"\ndelta = "1"', "delta"),
        ('noise = "gaussian"\nepsilon = "1"\ndelta = "1/1099511627776"', "delta"),
        ('noise = "gaussian"\nepsilon = "101"\ndelta = "1/1000"', "above"),
        ('noise = "gauss"\nrho = "1"', "not a known kind"),
        ('noise = "laplace"\nrho = "1"', "unknown key"),
        ('noise = "none"\nepsilon = "1"', "have no meaning"),
        ('epsilon = "1"\nrows_per_person = 0', "rows_per_person"),
    ],
)
def test_wrong_budgets_are_named(top, words):
    with pytest.raises(UsageError, match=words):
        parsed(f'{top}\n[[queries]]\nkind = "count"\ncolumn = "age"')


THREE = """
epsilon = "2"
[[queries]]
kind = "mean"
column = "age"
by = ["group", "sex", "old"]
[derived.old]
column = "age"
cuts = [60]
labels = ["no", "yes"]
"""


def test_groups_by_three_columns(monkeypatch):
    silence(monkeypatch)
    sex = Schema("category", categories=("f", "m"))
    drawn = np.random.default_rng(5)
    alice, bob = (
        columns(age=drawn.integers(20, 90, 120), group=drawn.integers(0, 4, 120))
        | {"sex": Column(drawn.integers(0, 2, 120), sex)}
        for _ in Role
    )
    study = parsed(THREE)
    study.check({n: c.schema for n, c in alice.items()}, {n: c.schema for n, c in bob.items()})
    found = by_group(joint(study, alice, bob)[0], "mean of age by group, sex, old")
    assert len(found) == 4 * 2 * 2
    every = {name: np.concatenate([alice[name].array, bob[name].array]) for name in alice}
    chosen = (every["group"] == 2) & (every["sex"] == 1) & (every["age"] >= 60)
    assert found["AB / m / yes"] == pytest.approx(every["age"][chosen].mean())
    with pytest.raises(UsageError, match="more than 3 columns"):
        parsed(THREE.replace('"old"]', '"old", "more"]'))
