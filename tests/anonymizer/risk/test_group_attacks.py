"""The deFinetti and the minimality attack: they tell more than the groups where they can, and else not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anonymizer.errors import TableError
from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.measures.contract.measure import Case
from anonymizer.measures.registry import MEASURES
from anonymizer.methods.recoding.clustering import KMember
from anonymizer.methods.recoding.mondrian import Mondrian
from anonymizer.methods.sensitive.anatomy import Anatomy
from anonymizer.methods.sensitive.splu_gen import SpluGen
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.risk import definetti
from anonymizer.risk.covering import ReleasedRows
from anonymizer.risk.definetti import definetti_risk
from anonymizer.risk.minimality import minimality_risk
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROLES = Roles(quasi_identifiers=("age", "job"), sensitive=("ill",))
TREE = {"age": IntervalHierarchy([[0, 8, 16, 24, 32, 40, 48, 56, 64], [0, 16, 32, 48, 64], [0, 32, 64]])}
HERE = Randomness(1, "tests")


def people(rows: int, related: float) -> Table:
    """Jobs that say the illness with some probability."""
    random = np.random.default_rng(3)
    ill = random.choice(6, rows, p=[0.28, 0.22, 0.18, 0.14, 0.1, 0.08])
    job = np.where(random.random(rows) < related, ill, random.integers(0, 6, rows))
    frame = pd.DataFrame({"age": random.integers(0, 64, rows), "job": job, "ill": [f"i{n}" for n in ill]})
    return Table.of(frame, ROLES)


def anatomy(table: Table) -> ReleasedRows:
    made = Anatomy(l=3, random_state=2).release(table)
    return ReleasedRows.of("anatomy", made.table, ROLES, made.extra, made.origin)


def test_values_that_go_with_a_job_are_guessed_beyond_one_of_l():
    table = people(1500, 0.8)
    found = definetti_risk(table, anatomy(table), "ill", HERE)
    assert found.by_groups == pytest.approx(1 / 3, abs=0.01)
    assert found.right > 0.6
    assert found.surest > 0.8
    assert found.persons > 700


def test_values_that_go_with_nothing_are_not():
    table = people(1500, 0.0)
    found = definetti_risk(table, anatomy(table), "ill", HERE)
    assert found.right == pytest.approx(1 / 3, abs=0.05)


def test_classes_of_rows_alike_are_attacked_by_what_was_coarsened():
    table = people(1500, 0.9)
    pipeline = Pipeline(steps=[("mondrian", Mondrian(k=30, columns=("age", "job")))])
    release = pipeline.fit_transform_table(table)
    rows = ReleasedRows.of("mondrian", release, ROLES, persons=pipeline.origin_)
    found = definetti_risk(table, rows, "ill", HERE)
    assert found.right > found.by_groups - 0.05
    assert found.persons == 1500


def test_of_many_persons_a_part_is_drawn(monkeypatch):
    monkeypatch.setattr(definetti, "MAX_PERSONS", 300)
    table = people(900, 0.5)
    assert definetti_risk(table, anatomy(table), "ill", HERE).looked == 300
    monkeypatch.setattr(definetti, "MAX_VALUES", 5)
    with pytest.raises(TableError, match="6 values"):
        definetti_risk(table, anatomy(table), "ill", HERE)


def outbreak() -> Table:
    """Four people of an age with two illnesses, once four with one, and last eight with four."""
    frame = pd.DataFrame(
        {
            "age": [*np.repeat(np.arange(7) * 8, 4), *[56] * 8],
            "job": 1,
            "ill": ["a", "b"] * 12 + ["flu"] * 4 + ["a", "b", "c", "d"] * 2,
        }
    )
    return Table.of(frame, ROLES, TREE)


def released(table: Table, joined: int) -> ReleasedRows:
    """Each age by itself, and the last ages together, as a method does that loses little."""
    age = np.asarray(table.native["age"])
    labels = np.where(age >= 64 - 8 * joined, f"[{64 - 8 * joined}, 64)", [f"[{a}, {a + 8})" for a in age])
    return ReleasedRows.of("joined", Table.of(table.native.assign(age=labels)), ROLES)


def test_who_was_joined_for_having_one_value_is_told():
    table = outbreak()
    found = minimality_risk(table, released(table, 2), "ill", HERE)
    assert (found.told, found.right, found.l) == (4, 4, 2)
    assert found.by_share == pytest.approx(4 * 4 / 12)


def test_where_several_values_fit_nobody_is_told():
    table = outbreak()
    frame = table.native.copy()
    frame.loc[28:, "ill"] = ["a", "b"] * 4
    mixed = Table.of(frame, ROLES, TREE)
    assert minimality_risk(mixed, released(mixed, 2), "ill", HERE).told == 0


@pytest.mark.parametrize("related", [0.0, 0.95])
def test_values_that_were_drawn_from_decoys_are_guessed_by_quasi_identifiers(related):
    table = people(1500, related)
    pipeline = Pipeline(steps=[("splu-gen", SpluGen(gamma=3, random_state=4))])
    made = pipeline.release(table)
    one, case = MEASURES["definetti"], Case(table, made.table, pipeline, seed=1)
    assert one.lacks(case) == ""
    found = one.measure(case)["ill"]
    assert (found.persons, found.looked) == (1500, 1500)
    assert found.by_groups == pytest.approx(1 / 3, abs=0.02)
    if related:
        assert found.right > 0.6
        assert found.surest > 0.9
        assert "by the groups alone it would be" in one.describe({"ill": found}).cautions[0]
    else:
        assert found.right == pytest.approx(1 / 3, abs=0.06)


def test_a_person_with_many_rows_counts_once():
    number = np.arange(60)
    frame = pd.DataFrame(
        {
            "who": np.where(number < 50, 0, number),
            "age": 1,
            "job": np.where(number < 50, 0, 1),
            "ill": np.where(number < 50, "flu", "cold"),
        }
    )
    roles = Roles(quasi_identifiers=("age", "job"), sensitive=("ill",), person="who")
    original = Table.of(frame, roles)
    coarse = ReleasedRows.of("coarse", Table.of(frame.drop(columns="who").assign(job="*"), ROLES), roles)
    rows = ReleasedRows.of("rows", coarse.table, roles, persons=number)
    for release in (coarse, rows):
        found = definetti_risk(original, release, "ill", HERE)
        assert (found.persons, found.looked) == (11, 11)
        assert found.commonest == pytest.approx(1 / 11)
        assert found.by_groups == pytest.approx(5 / 6)


def test_a_part_of_many_rows_of_few_persons_does_not_stand_alone():
    table = outbreak()
    frame = table.native.assign(who=np.arange(36))
    roles = Roles(quasi_identifiers=("age", "job"), sensitive=("ill",), person="who")
    again = frame[frame.ill == "flu"][:2]
    twice = Table.of(pd.concat([frame[:28], again, frame[28:]]), roles, TREE)
    joined = released(twice, 2)
    joined = ReleasedRows.of("joined", Table.of(joined.table.native.drop(columns="who"), ROLES), roles)
    assert twice.persons.repeat
    found = minimality_risk(twice, joined, "ill", HERE)
    assert (found.told, found.right, found.persons) == (4, 4, 36)
    assert found.by_share == pytest.approx(4 * 6 / 14)
    one = frame.assign(who=np.where(frame.ill == "flu", 99, frame.who))
    alone = Table.of(pd.concat([one[:28], one[one.ill == "flu"][:2], one[28:]]), roles, TREE)
    assert minimality_risk(alone, joined, "ill", HERE).told == 0


@pytest.mark.parametrize("word", ["definetti", "minimality"])
def test_they_say_where_they_do_not_apply(word):
    one = MEASURES[word]
    table = people(60, 0.5)
    assert "rest on groups" in one.lacks(Case(table, table))
    pipeline = Pipeline(steps=[("k", KMember(k=3, random_state=1))])
    original = Table.of(table.native, ROLES, {"age": TREE["age"]})
    release = pipeline.fit_transform_table(original)
    assert one.lacks(Case(original, release, pipeline)) == ""
    without = Roles(quasi_identifiers=("age", "job"))
    assert "no sensitive" in one.lacks(Case(Table.of(table.native, without), Table.of(table.native, without)))


@pytest.mark.parametrize("word", ["definetti", "minimality"])
def test_a_column_of_many_values_does_not_keep_the_others_from_being_measured(word):
    """Costs of 240 values took the whole measure away, as `init` makes such columns sensitive."""
    one, table = MEASURES[word], people(240, 0.5)
    roles = Roles(quasi_identifiers=("age", "job"), sensitive=("cost", "ill"))
    frame = table.native.assign(cost=[f"{1000 + 7 * n}" for n in range(240)])
    original = Table.of(frame, roles, {"age": TREE["age"]})
    pipeline = Pipeline(steps=[("k", KMember(k=3, random_state=1))])
    found = one.measure(Case(original, pipeline.fit_transform_table(original), pipeline))
    assert found["cost"] is None
    assert found["ill"].persons > 0
    told = one.describe(found)
    assert [*told.values] == ["ill"]
    assert any("not measured of cost: more than 100 values" in text for _, text in told.lines)
    alone = Table.of(
        frame, Roles(quasi_identifiers=("age", "job"), sensitive=("cost",)), {"age": TREE["age"]}
    )
    with pytest.raises(TableError, match="240 values"):
        one.measure(Case(alone, pipeline.fit_transform_table(alone), pipeline))


def test_the_promise_of_anatomy_says_its_condition():
    promise = Anatomy(l=3, random_state=2).release(people(60, 0.5)).guarantees[0]
    assert "By the groups alone" in promise.condition
    assert "quasi-identifiers that have to do with the value raise it" in promise.condition
