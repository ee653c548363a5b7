"""Plans as jobs: several studies under one approval, and the attacks that several exact figures invite."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from parties.contracts.state import State
from parties.errors import DuettoError
from parties.results.plots import plots_of
from parties.results.tables import ResultTable
from tests.parties.jobs.institutions import job

ROWS = 240
LABELS = {"type": "category", "values": ["no", "yes"]}
DECLARED = {
    "id": {"type": "text"},
    "age": {"type": "integer", "lower": 0, "upper": 120},
    "years": {"type": "integer", "lower": 0, "upper": 240},
    "visits": {"type": "integer", "lower": 0, "upper": 5},
    "days": {"type": "integer", "lower": 0, "upper": 400},
    "cost": {"type": "integer", "lower": 0, "upper": 1000},
    **dict.fromkeys(("smoker", "died", "some", "others", "rare"), LABELS),
}
REFUSED = dict.fromkeys(("north", "south"), (State.FAILED, "disclosure"))


def yes_where(chosen):
    return [("no", "yes")[each] for each in chosen]


def cells_of(place, order=1):
    """A hospital; `some` and `others` are groups that differ in one person, whom the peer knows."""
    rows = [*range(place * ROWS, (place + 1) * ROWS)][::order]
    age = [20 + row * 37 % 70 for row in rows]
    some = [row % 5 == 1 for row in rows]
    return {
        "id": [f"person {row}" for row in rows],
        "age": age,
        "years": [2 * each for each in age],
        "days": [1 + row * 31 % 365 for row in rows],
        "visits": [row * 13 % 6 for row in rows],
        "cost": [100 + row * 61 % 700 for row in rows],
        "smoker": yes_where(row * 7 % 3 == 0 for row in rows),
        "died": yes_where((row * 7919 % 97) / 97 < years / 100 for row, years in zip(rows, age, strict=True)),
        "some": yes_where(some),
        "others": yes_where(one or row == place * ROWS + 7 for row, one in zip(rows, some, strict=True)),
        "rare": yes_where(row % ROWS == 11 for row in rows),
    }


@pytest.fixture
def cohorts(institutions):
    for place, name in enumerate(("north", "south")):
        institutions.hold(name, cells_of(place), DECLARED, person="id", maximum_rows_per_person=1)
    return institutions


def allow(cohorts, **rule):
    for name in ("north", "south"):
        limits = {"minimum_group": 5, "dominance": "0.5", "row_results": True, "types": None}
        cohorts.allow(name, **limits | rule)


def part(name, analysis="statistics", **parameters):
    return {"name": name, "analysis": analysis, "parameters": parameters}


def exact(name, **query):
    return part(name, noise="none", queries=[query])


def plan(*parts, columns=("age", "smoker", "died"), **more):
    return job("plan", {"parts": [*parts]}, columns, **more)


AGES = exact("ages", kind="mean", column="age", by="smoker")
DEATHS = exact("deaths", kind="crosstab", columns=["smoker", "died"])
RISKS = exact("risks", kind="risks", columns=["smoker", "died"], categories={"died": ["no", "yes"]})
DECADES = exact("decades", kind="histogram", column="age", edges=[0, 40, 60, 120])


def model(name, *on, kind="linear", outcome="cost", **more):
    return part(name, "models", models=[{"kind": kind, "outcome": outcome, "on": [*on], **more}])


LOGISTIC = model("model", "age", "smoker", kind="logistic", outcome="died", label="yes")
SURVIVAL = exact(
    "curve",
    kind="survival",
    time="days",
    event="died",
    events=["yes"],
    by="smoker",
    every=90,
    until=360,
)


def test_an_exact_plan_of_five_is_what_five_jobs_are(cohorts):
    allow(cohorts)
    parts = [AGES, DEATHS, DECADES, SURVIVAL, LOGISTIC]
    done = cohorts.run(plan(*parts, columns=["age", "smoker", "died", "days"]))
    assert done.tables("north") == done.tables("south")
    found = done.tables("north")
    assert {name.partition(": ")[0] for name in found} == {each["name"] for each in parts}
    plain = done.plain_tables("north")
    for name in ("ages: results", "deaths: crosstab of smoker, died", "decades: histogram of age"):
        assert found[name] == plain[name]
    table, clear = (each["model: logistic model of died"] for each in (found, plain))
    for one, other, error in zip(
        table["coefficient"], clear["coefficient"], clear["standard_error"], strict=True
    ):
        assert abs(one - other) < error / 32
    titles = {plot.title for plot in plots_of([ResultTable(name, each, {}) for name, each in found.items()])}
    assert {title.partition(": ")[0] for title in titles} == {each["name"] for each in parts}
    assert "ages: mean of age by smoker" in titles


def test_a_noisy_plan_spends_the_sum_of_its_parts_once(cohorts):
    allow(cohorts)
    document = plan(
        part("ages", epsilon="1", queries=[{"kind": "mean", "column": "age"}]),
        part("deaths", epsilon="1/2", queries=[{"kind": "crosstab", "columns": ["smoker", "died"]}]),
        part("all", noise="gaussian", rho="1/4", queries=[{"kind": "count", "column": "age"}]),
    )
    done = cohorts.run(document)
    assert set(done.tables("north")) == {
        "ages: results",
        "deaths: results",
        "deaths: crosstab of smoker, died",
        "all: results",
    }
    assert cohorts.spent("north") == cohorts.spent("south") == Fraction(3, 2)
    assert cohorts.task("north", document).facts.loss.rho == Fraction(1, 4)
    assert list(done.details("north")["parts"]) == ["ages", "deaths", "all"]


def test_exact_and_noisy_parts_go_together(cohorts):
    allow(cohorts)
    done = cohorts.run(
        plan(
            AGES,
            part("spread", epsilon="1", queries=[{"kind": "deviation", "column": "age"}]),
            columns=["age", "smoker"],
        )
    )
    assert done.tables("south")["ages: results"] == done.plain_tables("south")["ages: results"]
    assert cohorts.spent("south") == 1


def test_over_matched_rows_with_noise(cohorts):
    """Two parts that each match rows; whether enough match is one bit for both."""
    for name, place in (("north", 0), ("south", 0)):
        cohorts.hold(name, cells_of(place), DECLARED, person="id", maximum_rows_per_person=1)
    allow(cohorts, minimum_intersection=20)
    parts = [
        part(
            name,
            layout="vertical",
            alice_columns=["age"],
            bob_columns=["died"],
            match={"keys": ["id"]},
            epsilon="10",
            queries=[{"kind": "count", "column": "age", "by": "died"}],
        )
        for name in ("first", "second")
    ]
    sides = {"alice": ["id", "age"], "bob": ["id", "died"]}
    done = cohorts.run(plan(*parts, columns=sides))
    assert set(done.tables("north")) == {"first: results", "second: results"}
    # an exact table beside it: one bit in which the answers of both sides are, and whether enough match
    habits = exact("habits", kind="count", column="age", by="died")
    mixed = plan(parts[0], habits, columns=["id", "age", "died"])
    done = cohorts.run(mixed)
    assert done.tables("south")["habits: results"] == done.plain_tables("south")["habits: results"]
    estimate = done.results["south"]["facts"]["estimate"]
    assert done.results["south"]["facts"]["sent"] == estimate["sent"]
    assert done.results["south"]["facts"]["rounds"] == estimate["rounds"]
    # too few match
    allow(cohorts, minimum_intersection=ROWS, minimum_group=5)
    short = {
        key: each[:-40] + [f"{key} {place}" if key == "id" else each[0] for place in range(40)]
        for key, each in cells_of(0).items()
    }
    cohorts.hold("south", short, DECLARED, person="id", maximum_rows_per_person=1)
    assert cohorts.failed(plan(*parts, columns=sides)) == REFUSED


def test_models_of_all_kinds_and_pooled_ratios_go_together(cohorts):
    allow(cohorts)
    done = cohorts.run(
        of_used_columns(
            model("linear", "age", "smoker"),
            model("poisson", "smoker", kind="poisson", outcome="visits", exposure="days"),
            part(
                "cox",
                "models",
                models=[{"kind": "cox", "time": "days", "event": "died", "events": ["yes"], "on": ["age"]}],
            ),
            exact(
                "pooled",
                kind="mantel-haenszel",
                column="died",
                event="yes",
                by="smoker",
                labels=["yes", "no"],
                strata="some",
            ),
        )
    )
    for name in (
        "linear: linear model of cost",
        "poisson: poisson model of visits",
        "cox: cox model of died",
    ):
        found, plain = done.tables("south")[name], done.plain_tables("south")[name]
        for one, other, error in zip(
            found["coefficient"], plain["coefficient"], plain["standard_error"], strict=True
        ):
            assert abs(one - other) < error / 16
    assert done.tables("south")["pooled: results"]["p_value"][0] is not None


def test_only_recipients_get_results(cohorts):
    allow(cohorts)
    cohorts.run(plan(AGES, DEATHS, recipients=["alice"]))


def test_parts_call_columns_otherwise(cohorts):
    allow(cohorts)
    renamed = exact("habit", kind="crosstab", columns=["group", "died"]) | {"columns": {"group": "smoker"}}
    done = cohorts.run(plan(renamed, AGES))
    assert "habit: crosstab of group, died" in done.tables("north")


# attacks: each refused, or harmless; alone the parts are allowed

COUNTS = [exact(name, kind="sum", column="cost", by=name) for name in ("some", "others")]
MIDDLE = {"column": "age", "at_least": 21, "below": 60}
MODELS = [model(f"by {name}", name) for name in ("some", "others")]


@pytest.mark.parametrize("order", [1, -1], ids=["", "the other way round"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (COUNTS[0], COUNTS[1]),
        (MODELS[0], MODELS[1]),
        (MODELS[0], COUNTS[1]),
        (COUNTS[0], MODELS[1]),
        (COUNTS[0], exact("hist", kind="crosstab", columns=["others", "died"])),
        (
            exact("to 40", kind="histogram", column="age", edges=[0, 40, 120]),
            exact("to 41", kind="histogram", column="age", edges=[0, 41, 120]),
        ),
        (
            exact("one cell hidden", kind="histogram", column="age", edges=[0, 21, 60, 120]),
            exact("its neighbour", kind="count", column="age", where=[MIDDLE]),
        ),
        (
            exact("all", kind="count", column="age"),
            exact("but", kind="count", column="age", where=[{"column": "age", "at_least": 21}]),
        ),
        (
            SURVIVAL,
            SURVIVAL["parameters"]
            and exact("shifted", **SURVIVAL["parameters"]["queries"][0] | {"every": 91, "until": 364}),
        ),
    ],
    ids=[
        "groups that differ in one person",
        "covariates of two models",
        "a covariate and a table",
        "a table and a covariate",
        "other kinds of tables",
        "a shifted edge",
        "a hidden cell",
        "a condition",
        "shifted points of a curve",
    ],
)
def test_figures_that_differ_in_few_persons_are_refused_together(cohorts, one, other, order):
    """And nothing is opened or kept: the last one alone is then allowed, as if nobody had asked."""
    allow(cohorts)
    parts = [one, other][::order]
    records = cohorts.ended(cohorts.submit(of_used_columns(*parts)))
    assert {name: (record.state, record.error_code) for name, record in records.items()} == REFUSED
    assert records["south"].error_what.startswith("The figures of the job together, or with exact figures")
    cohorts.run(of_used_columns(parts[1]))
    assert cohorts.failed(of_used_columns(parts[0])) == REFUSED


def of_used_columns(*parts):
    used = json.dumps([each["parameters"] for each in parts])
    return plan(*parts, columns=[name for name in DECLARED if f'"{name}"' in used])


def test_what_was_shown_before_counts(cohorts):
    allow(cohorts)
    cohorts.run(plan(exact("to 40", kind="histogram", column="age", edges=[0, 40, 120]), columns=["age"]))
    later = exact("to 41", kind="histogram", column="age", edges=[0, 41, 120])
    assert cohorts.failed(plan(DEATHS, later)) == REFUSED
    single = {"noise": "none", "queries": [later["parameters"]["queries"][0]]}
    assert cohorts.failed(job("statistics", single, ["age"])) == REFUSED


def test_a_part_that_is_refused_leaves_nothing_of_the_others(cohorts):
    """Of whom nobody else is like, no table is shown: nor those before it, which would have been."""
    allow(cohorts)
    failing = exact("rare", kind="crosstab", columns=["rare", "died"])
    document = plan(DEATHS, failing, columns=["smoker", "died", "rare"])
    records = cohorts.ended(cohorts.submit(document))
    assert {record.error_code for record in records.values()} == {"disclosure"}
    assert records["south"].error_what.startswith("Part 'rare': More than one cell")
    unlike = model("model", "rare", kind="linear", outcome="cost")
    assert cohorts.failed(plan(DEATHS, unlike, columns=["smoker", "died", "rare", "cost"])) == REFUSED


def test_a_model_that_cannot_be_computed_is_one_answer_of_its_own(cohorts):
    allow(cohorts)
    done = cohorts.run(of_used_columns(DEATHS, model("twice", "age", "years")))
    assert done.tables("north")["twice: linear model of cost"]["coefficient"] == [None] * 3
    assert done.tables("north")["deaths: crosstab of smoker, died"]["count"][0] > 0


def test_the_same_figure_twice_tells_nothing_more(cohorts):
    allow(cohorts)
    again = AGES | {"name": "again"}
    done = cohorts.run(plan(AGES, again, columns=["age", "smoker"]))
    assert done.tables("north")["ages: results"] == done.tables("north")["again: results"]


def test_the_order_of_rows_changes_nothing(cohorts):
    allow(cohorts)
    first = cohorts.run(plan(AGES, DEATHS)).tables("south")
    cohorts.hold("south", cells_of(1, order=-1), DECLARED, person="id", maximum_rows_per_person=1)
    assert cohorts.run(plan(DEATHS, AGES)).tables("south").items() == first.items()


def code(cohorts, document):
    """How a job ends; the refusal where it does not begin."""
    try:
        record = cohorts.ended(cohorts.submit(document))["south"]
    except DuettoError as refusal:
        return refusal.stable_code
    return record.error_code or record.state.value


def test_a_hundred_parts_are_no_plan(cohorts):
    allow(cohorts, figures_per_job=20)
    assert code(cohorts, plan(*(AGES | {"name": f"part {place}"} for place in range(100)))) == "usage"


def test_policies_bound_the_figures_of_a_plan(cohorts):
    """A silent rule allows one exact figure, as without plans; and the analyses of parts have to be named."""
    allow(cohorts, figures_per_job=None)
    assert code(cohorts, plan(AGES, columns=["age", "smoker"])) == "finished"
    assert code(cohorts, plan(AGES, DEATHS)) == "policy"
    allow(cohorts, figures_per_job=2)
    assert code(cohorts, plan(AGES, DEATHS)) == "finished"
    assert code(cohorts, plan(AGES, DEATHS, DECADES)) == "policy"
    allow(cohorts, analyses=["statistics", "models"])
    assert code(cohorts, plan(AGES, DEATHS)) == "policy"
    allow(cohorts, analyses=["plan", "statistics"])
    assert code(cohorts, plan(DEATHS, LOGISTIC)) == "policy"
    assert code(cohorts, plan(AGES, DEATHS)) == "finished"


def test_rows_without_persons_cannot_be_held_against_each_other(cohorts):
    allow(cohorts, minimum_group=0, dominance="0.5")
    for place, name in enumerate(("north", "south")):
        cells = {key: cells for key, cells in cells_of(place).items() if key != "id"}
        declared = {key: each for key, each in DECLARED.items() if key != "id"}
        cohorts.hold(name, cells, declared, person=[])
    assert code(cohorts, plan(AGES, columns=["age", "smoker"])) == "finished"
    record = cohorts.ended(cohorts.submit(plan(AGES, DEATHS)))["south"]
    assert record.error_code == "disclosure"
    assert "does not say whom a row is about" in record.error_what
