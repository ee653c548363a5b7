"""What a plan takes, and what it says of itself from its parts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.plan.joining import joined_texts
from smc.analyses.plan.study import PLAN
from smc.analyses.registry import study_of
from smc.analyses.studies.columns import MARK, PERSONS, Column, Schema, missing_mark
from smc.analyses.studies.facts import Stated, Whom
from smc.analyses.studies.precision import PRECISION
from smc.errors import DisclosureRefused, DomainError, UsageError
from smc.forms import Role
from smc.testing import check_analysis
from smc.testing.case import Case, run_case
from tests.smc.analyses.validation.test_validation import PARAMETERS, model, patients

BOTH = frozenset(Role)
AGE = Schema("integer", lower=0, upper=120)
LABELS = Schema("category", categories=("no", "yes"))
ROWS = 60


def part(name, analysis="statistics", columns=None, **parameters):
    given = {"name": name, "analysis": analysis, "parameters": parameters}
    return given | ({"columns": columns} if columns else {})


def exact(name, **query):
    return part(name, noise="none", queries=[query])


MEAN = part("mean", epsilon="1", queries=[{"kind": "mean", "column": "age"}])
COUNT = exact("count", kind="count", column="age", by="smoker")
MODEL = part("model", "models", models=[{"kind": "linear", "outcome": "age", "on": ["smoker"]}])
MATCH = {
    "layout": "vertical",
    "match": {"keys": ["card"]},
    "alice_columns": ["age"],
    "bob_columns": ["smoker"],
}
MATCHED = part("matched", epsilon="2", queries=[{"kind": "mean", "column": "age", "by": "smoker"}], **MATCH)
MATCHED_MODEL = part(
    "fit", "models", models=[{"kind": "linear", "outcome": "age", "on": ["smoker"]}], **MATCH
)


def plan(*parts, **more):
    return study_of(PLAN, {"parts": [*parts], **more})


def data(role):
    shift = 0 if role is Role.ALICE else 3
    rows = np.arange(ROWS)
    return {
        "age": Column((20 + rows * 7 + shift) % 100, AGE),
        "smoker": Column((rows + shift) % 2, LABELS),
        PERSONS: Column(rows, Schema("integer")),
    }


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({}, "lacks the key 'parts'"),
        ({"parts": []}, "parts"),
        ({"parts": [COUNT], "other": 1}, "other"),
        ({"parts": [COUNT | {"more": 1}]}, "more"),
        ({"parts": ["count"]}, "parts"),
        ({"parts": [COUNT | {"name": ""}]}, "name"),
        ({"parts": [COUNT | {"name": 'a "b"'}]}, "quotation mark"),
        ({"parts": [COUNT | {"name": "a: b"}]}, "colon"),
        ({"parts": [COUNT | {"name": "a\nb"}]}, "name"),
        ({"parts": [COUNT | {"name": 3}]}, "name"),
        ({"parts": [COUNT, COUNT | {"name": "Count"}]}, "two of one name"),
        ({"parts": [COUNT | {"parameters": "x"}]}, "is not a table"),
        ({"parts": [COUNT | {"columns": {"age": ""}}]}, "columns"),
        ({"parts": [COUNT | {"columns": {"age": "x", "smoker": "x"}}]}, "columns"),
        ({"parts": [COUNT | {"columns": {"age": "smoker"}}]}, "under two names"),
        ({"parts": [COUNT | {"columns": {"weight": "x"}}]}, "that it does not use"),
        ({"parts": [COUNT | {"name": f"part {place}"} for place in range(21)]}, "parts"),
        ({"parts": [part("other", "no-such")]}, "cannot be part of a plan"),
        ({"parts": [part("other", "clustering", clusters=2)]}, "cannot be part of a plan"),
        ({"parts": [part("other", "plan", parts=[COUNT])]}, "cannot be part of a plan"),
        ({"parts": [part("other", "scoring")]}, "cannot be part of a plan"),
        ({"parts": [part("bad", queries=[])]}, "Part 'bad'"),
        ({"parts": [part("bad", "models", models=[])]}, "Part 'bad'"),
    ],
)
def test_what_is_no_plan_is_refused_by_its_place(given, what):
    with pytest.raises(UsageError, match=what) as refusal:
        study_of(PLAN, given)
    assert refusal.value.hint


def test_an_exact_part_holds_one_figure():
    queries = COUNT["parameters"]["queries"]
    two = part("two", noise="none", queries=[*queries, queries[0] | {"name": "again"}])
    with pytest.raises(UsageError, match="holds 2 exact figures") as refusal:
        plan(two)
    assert "part of its own" in refusal.value.hint
    models = part("two", "models", models=MODEL["parameters"]["models"] * 2)
    models["parameters"]["models"] = [
        each | {"name": str(n)} for n, each in enumerate(models["parameters"]["models"])
    ]
    with pytest.raises(UsageError, match="holds 2 exact figures"):
        plan(models)
    assert (
        len(plan(part("noisy", epsilon="1", queries=[*queries, queries[0] | {"name": "again"}])).parts) == 1
    )


def test_facts_are_those_of_all_parts():
    facts = plan(
        MEAN, COUNT, MODEL, part("more", noise="gaussian", rho="1/8", queries=MEAN["parameters"]["queries"])
    ).facts(BOTH)
    assert (facts.loss.epsilon, facts.loss.rho) == (1, Fraction(1, 8))
    assert facts.asked.parts == {"statistics", "models"}
    assert facts.asked.queries == {"mean", "count", "linear"}
    assert facts.sorts_by == {"smoker"}
    assert not facts.matches
    assert (facts.exact.count, facts.exact.together, facts.exact.apart) == (2, 2, 1)
    assert facts.exact.whom is Whom.CELLS
    assert (facts.scope.figures, facts.scope.apart, facts.scope.together) == (2, 1, True)
    assert plan(MEAN).facts(BOTH).exact is None


def test_the_bound_on_rows_is_the_least():
    bounded = [replace_parameters(MEAN, name, maximum_rows=rows) for name, rows in (("a", 500), ("b", 90))]
    assert plan(*bounded, MODEL).facts(BOTH).bounds.rows == 90


def replace_parameters(given, name, **parameters):
    return given | {"name": name, "parameters": given["parameters"] | parameters}


def test_keys_of_one_part_are_values_where_another_takes_them_so():
    cards = exact("cards", kind="count", column="card")
    assert plan(MATCHED).facts(BOTH).asked.values == set()
    asked = plan(MATCHED, cards).facts(BOTH).asked
    assert asked.keys == asked.values == {"card"}


def test_exact_figures_over_matches_stand_alone_under_limits():
    """Nobody knows whom they are about, so that nothing holds them against others."""
    five = Limits(minimum_group=5)
    five.check_single_figure(plan(MATCHED_MODEL, MEAN).facts(BOTH).exact.apart)
    for parts in ((MATCHED_MODEL, COUNT), (MATCHED_MODEL, MATCHED_MODEL | {"name": "again"})):
        exact_figures = plan(*parts).facts(BOTH).exact
        assert exact_figures.apart == 2
        with pytest.raises(DisclosureRefused, match="one figure"):
            five.check_single_figure(exact_figures.apart)


def test_columns_are_called_as_the_job_calls_them():
    study = plan(COUNT | {"columns": {"smoker": "habit"}}, MEAN | {"columns": {"age": "years"}})
    assert study.columns == dict.fromkeys(Role, ("age", "habit", "years"))
    facts = study.facts(BOTH)
    assert facts.sorts_by == {"habit"}
    with pytest.raises(UsageError, match=r"Part 'count'.*'smoker'"):
        study.check_side({"age": AGE, "years": AGE}, Role.ALICE)


def test_derived_columns_are_for_all_parts_or_for_one():
    age = {"decade": {"column": "age", "cuts": [40]}}
    table = exact("decades", kind="count", column="age", by="decade")
    for study in (
        plan(table, MEAN, derived=age),
        plan(replace_parameters(table, "decades", derived=age), MEAN),
    ):
        assert study.columns[Role.ALICE] == ("age",)
        assert Stated.DERIVED in study.facts(BOTH).asked.states
        (alice, bob), _ = run_case(study, Case({}, data(Role.ALICE), data(Role.BOB)), NO_LIMITS)
        assert alice.tables[0].columns == bob.tables[0].columns
        assert alice.tables[0].name == "decades: results"


def test_missing_cells_are_counted_by_no_part_while_another_takes_them_for_values():
    table = part("people", epsilon="1", queries=[{"kind": "table-one", "numbers": ["age"]}])
    kept = plan(table).facts(BOTH).keeps_missing
    assert kept == {"age"}
    with pytest.raises(UsageError, match="Part 'mean' takes values of 'age'"):
        plan(table, MEAN)
    with pytest.raises(UsageError, match="Part 'mean' takes values of 'years'"):
        plan(table | {"columns": {"age": "years"}}, MEAN | {"columns": {"age": "years"}})
    study = plan(table | {"columns": {"age": "years"}})
    held = {"years": data(Role.ALICE)["age"], missing_mark("years"): Column(np.zeros(ROWS, np.int64), MARK)}
    assert set(study.parts[0].data(held, Role.ALICE)) == {"age", missing_mark("age")}


def test_who_learns_what_is_said_once_by_all_who_say_it():
    study = plan(MEAN, COUNT)
    leakage = study.leakage(BOTH)
    assert any(line.startswith('"mean": the noisy results') for line in leakage.alice)
    assert any(line.startswith('"count": the exact results') for line in leakage.bob)
    assert "one bit for all" in leakage.alice[-1]
    assert sum("at most 10000000 rows" in line for line in leakage.public) == 1
    assert not any("one bit for all" in line for line in plan(MEAN).leakage(BOTH).alice)
    # Whose part nobody else gets is not asked: a party that receives nothing hears no answer.
    assert study.leakage(frozenset({Role.BOB})).alice == ()
    brief = study.brief(frozenset({Role.BOB}))
    assert brief.alice == ()
    assert brief.figures == ("mean: mean of age", "count: count of age by smoker")
    assert joined_texts([("a", ["x", "y"]), ("b", ["x"]), ("c", ["x", "y"])]) == ("x", '"a", "c": y')
    assert joined_texts([("a", ["x"])]) == ('"a": x',)


def test_a_check_of_rows_is_that_of_each_part():
    study = plan(MEAN, COUNT)
    preview = study.preview(data(Role.ALICE), Role.ALICE, NO_LIMITS)
    (row,) = preview.details[PRECISION]
    assert row["query"] == "mean: mean of age"
    few = plan(replace_parameters(MEAN, "mean", maximum_rows=10), COUNT)
    refusal = few.preview(data(Role.ALICE), Role.ALICE, NO_LIMITS).refusal
    assert isinstance(refusal, DomainError)
    assert refusal.what.startswith("Part 'mean': ")


def test_results_are_those_of_jobs_of_their_own():
    parts = (COUNT, MODEL, exact("hist", kind="histogram", column="age", edges=[0, 50, 120]))
    case = Case({}, data(Role.ALICE), data(Role.BOB))
    (found, _), _ = run_case(plan(*parts), case, NO_LIMITS)
    for each in (COUNT, parts[2]):
        (alone, _), _ = run_case(plan(each), case, NO_LIMITS)
        wanted = [table for table in found.tables if table.name.startswith(f"{each['name']}: ")]
        assert [*alone.tables] == wanted
    assert found.details["parts"].keys() == {"count", "model", "hist"}


def test_recipients_are_those_of_every_part():
    with pytest.raises(UsageError, match=r"Part 'model'.*Both sides receive"):
        plan(COUNT, MODEL).check_recipients(frozenset({Role.ALICE}))
    plan(COUNT, MEAN).check_recipients(frozenset({Role.ALICE}))


def test_validations_are_parts():
    """Two of one model, whose loss is that of both."""
    parts = [
        part(name, "validation", **{**PARAMETERS, "epsilon": "1/2", "cuts": cuts})
        for name, cuts in (("halves", ["1/2"]), ("quarters", ["1/4", "1/2", "3/4"]))
    ]
    assert plan(*parts).facts(BOTH).loss.epsilon == 1
    assert check_analysis(PLAN, Case({"parts": parts}, model(), patients(300), compare=False))
