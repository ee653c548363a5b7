"""What `duetto policy check` warns of: each risk by the entries that make it, and nothing without them."""

from __future__ import annotations

from typing import Any

import pytest

from parties.policy.risks import Risk, risks
from parties.policy.rules import parse_policy
from smc.analyses.studies.columns import Schema

AGE = Schema("integer", lower=0, upper=120)
DECLARED = {
    "patients": {
        "age": AGE,
        "weight": Schema("decimal", 1, 0, 4095),
        "card": Schema("text"),
        "part": Schema("share", modulus=str(2**32)),
        "unbounded": Schema("integer"),
        "country": Schema("integer", lower=49, upper=49),
    },
    "visits": {"age": Schema("integer", lower=0, upper=3)},
}

BY_ROW = {
    "name": "by row",
    "analyses": ["comparison"],
    "peers": ["south"],
    "datasets": ["patients"],
    "columns": ["age"],
    "recipients": ["both"],
    "row_results": True,
    "types": ["PN-NP-PN"],
    "minimum_rows": 2,
    "runs_total": 3,
    "approval": "person",
}
"""A rule without risks."""

EXACT = {
    "name": "exact",
    "analyses": ["statistics"],
    "peers": ["south", "west"],
    "datasets": ["patients"],
    "columns": ["age"],
    "recipients": ["both"],
    "exact_aggregates": True,
    "minimum_group": 10,
    "runs_total": 5,
    "epsilon_total": "5",
    "approval": "auto",
}
"""Another."""


def of(rule: dict[str, Any], **changes: Any) -> list[Risk]:
    """The risks of a rule with other entries; None leaves one out."""
    given = {key: value for key, value in {**rule, **changes}.items() if value is not None}
    return [*risks(parse_policy({"rules": [given]}, "policy.toml"), DECLARED)]


@pytest.mark.parametrize("rule", [BY_ROW, EXACT])
def test_a_rule_without_risks(rule: dict[str, Any]) -> None:
    assert of(rule) == []
    assert of(rule, row_results=None, exact_aggregates=None) == []


def test_there_is_nothing_to_find_of_a_constant_or_a_text() -> None:
    for column in ("country", "card", "unbounded"):
        assert of(BY_ROW, columns=[column], minimum_rows=0, runs_total=50) == []


def test_seven_jobs_that_nobody_is_asked_about() -> None:
    first, second = of(BY_ROW, runs_total=7, approval="auto")
    assert first == Risk(
        "by row",
        "runs_total",
        "rule 'by row' lets south find every value of age in 7 jobs",
        "Lower runs_total, or name types whose result stays shared.",
    )
    assert second.what == "rule 'by row' tells south about single rows, and nobody is asked"
    assert [risk.key for risk in of(BY_ROW, runs_total=7)] == ["runs_total"]
    assert [risk.key for risk in of(BY_ROW, approval="auto")] == ["approval"]


@pytest.mark.parametrize(("runs", "left"), [(3, None), (4, "8 of 121"), (5, "4 of 121"), (6, "2 of 121")])
def test_fewer_jobs_leave_candidates(runs: int, left: str | None) -> None:
    said = [risk.what for risk in of(BY_ROW, runs_total=runs)]
    expected = f"rule 'by row' lets south narrow down every value of age to {left} in {runs} jobs"
    assert said == ([] if left is None else [expected])


def test_rules_of_the_same_column_and_peer_add_up() -> None:
    def found(**changes: Any) -> list[str]:
        rules = [BY_ROW | {"runs_total": 4, "types": ["NP-PN-NP"]}, BY_ROW | {"name": "b"} | changes]
        return [risk.what for risk in risks(parse_policy({"rules": rules}, "policy.toml"), DECLARED)]

    alone = "rule 'by row' lets south narrow down every value of age to 8 of 121 in 4 jobs"
    assert found() == [
        "rule 'by row' lets south, together with 'b', find every value of age in 7 jobs",
        "rule 'b' lets south, together with 'by row', find every value of age in 7 jobs",
    ]
    assert found(peers=["*"])[0] == found()[0]
    assert found(peers=["west"]) == found(recipients=["self"]) == found(columns=["weight"]) == [alone]


def test_columns_by_their_bounds() -> None:
    (risk,) = of(BY_ROW, columns=["*"], runs_total=10)
    assert "find every value of age in 7 jobs" in risk.what
    assert "narrow down every value of weight to 4 of 4096 in 10 jobs" in risk.what
    assert not {"card", "part", "unbounded"} & {*risk.what.split()}
    (risk,) = of(BY_ROW, datasets=["*"], peers=["*"], runs_total=2)
    assert risk.what == "rule 'by row' lets any peer find every value of age in 2 jobs"


@pytest.mark.parametrize(
    ("types", "columns"),
    [
        (["PN-NP-SS", "SS-SS-SS", "PN-NP-SE"], set()),
        (["PN-PN-PP"], set()),
        (["PN-NP-NP"], {"age"}),
        (["PN-NP-*"], {"age"}),
        (["SS-NP-NP"], {"part"}),
        (["PN-NP-SS", "*-*-PP"], {"age", "part"}),
        (None, set()),
    ],
)
def test_columns_by_the_types(types: list[str] | None, columns: set[str]) -> None:
    """The peer can take either role; in SS-NP-NP it is Bob, and chooses y or shifts its share of x."""
    found = of(BY_ROW, types=types, columns=["age", "part"], runs_total=40)
    assert {
        name for risk in found for name in ("age", "part") if f"value of {name} in" in risk.what
    } == columns


def test_what_only_the_own_party_receives_is_no_risk() -> None:
    assert of(BY_ROW, recipients=["self"], runs_total=100, approval="auto") == []


@pytest.mark.parametrize(
    ("rule", "changes", "key", "part"),
    [
        (
            BY_ROW,
            {"minimum_rows": 1},
            "minimum_rows",
            "find age in a single job where a data set has one row",
        ),
        (BY_ROW, {"maximum_ratio": 0}, "maximum_ratio", "any number of guessed keys"),
        (EXACT, {"minimum_group": None, "dominance": "0.8"}, "minimum_group", "south and west exact figures"),
        (EXACT, {"minimum_group": 1}, "minimum_group", "a single person"),
        (EXACT, {"minimum_intersection": 1}, "minimum_intersection", "intersection of a single person"),
        (EXACT, {"dominance": 1}, "dominance", "one person's value"),
        (EXACT, {"runs_total": None}, "runs_total", "allows no exact figures"),
        (EXACT, {"runs_total": 100}, "runs_total", "ask 100 questions about persons whom it knows"),
        (EXACT, {"figures_per_job": 5}, "figures_per_job", "25 exact figures side by side, by 5 plans of 5"),
        (EXACT, {"maximum_ratio": 0}, "maximum_ratio", "any number of guessed keys"),
        (EXACT, {"keys": ["*"]}, "keys", "whether anybody has a value"),
        (EXACT, {"epsilon_total": "20.5"}, "epsilon_total", "noise hides nobody"),
    ],
)
def test_each_risk_alone(rule: dict[str, Any], changes: dict[str, Any], key: str, part: str) -> None:
    (risk,) = of(rule, **changes)
    assert (risk.rule, risk.key) == (rule["name"], key)
    assert part in risk.what
    assert risk.hint


def test_a_limit_that_is_left_out_of_an_exact_rule() -> None:
    assert [risk.key for risk in of(EXACT, minimum_group=None)] == ["minimum_group", "dominance"]


MATCHING = EXACT | {"name": "matching", "analyses": ["matching"]}


def asked(**changes: Any) -> list[str]:
    return [risk.what for risk in of(MATCHING, **changes) if " there" in risk.what]


@pytest.mark.parametrize("recipients", [["self"], ["both"]])
def test_whom_limits_tell_of_whoever_receives(recipients: list[str]) -> None:
    """Both learn whether limits hold, also where the result goes to the local party only."""
    assert asked(recipients=recipients, runs_total=20) == []
    assert asked(recipients=recipients, runs_total=21) == [
        "rule 'matching' lets south and west ask of 21 persons whether they are there, by whether "
        "limits hold in as many runs"
    ]
    (without,) = asked(recipients=recipients, runs_total=None)
    assert "allows no job that matches rows, since it does not bound the runs" in without


@pytest.mark.parametrize(
    ("changes", "warned"),
    [
        ({"analyses": ["*"]}, True),
        ({"analyses": ["statistics", "matching"]}, True),
        ({"analyses": ["comparison", "preparation"]}, False),
        ({"analyses": ["statistics", "clustering"]}, False),
        ({"analyses": ["statistics"], "runs_total": None}, False),
        ({"analyses": ["*"], "runs_total": None}, True),
    ],
)
def test_which_rules_always_match(changes: dict[str, Any], warned: bool) -> None:
    assert bool(asked(**{"runs_total": 100} | changes)) is warned


def test_each_rule_keeps_its_place() -> None:
    """A rule whose results stay here is looked at beside those whose results go to the peer."""
    first = MATCHING | {"recipients": ["self"], "runs_total": 30}
    rules = [first, EXACT | {"minimum_group": 1}, MATCHING | {"name": "last", "runs_total": 30}]
    found = risks(parse_policy({"rules": rules}, "policy.toml"), DECLARED)
    assert [risk.rule for risk in found] == ["matching", "exact", "last"]


CHOOSING = BY_ROW | {
    "name": "choosing",
    "analyses": ["matching"],
    "types": None,
    "columns": ["age", "weight"],
}


def test_rows_of_the_peers_choice_find_every_value_of_vectors() -> None:
    assert of(CHOOSING) == []
    (risk,) = of(CHOOSING, parameters={"method": ["exact", "vectors"]})
    assert "find every value of a column in one job" in risk.what
    assert "age by 121 rows, weight by 4096 rows" in risk.what
    assert of(CHOOSING, parameters={"method": ["vectors"]}, recipients=["self"]) == []
    assert of(CHOOSING, parameters={"method": ["vectors"]}, columns=["card"]) == []


def test_many_variants_of_a_record_find_its_fields() -> None:
    (risk,) = of(CHOOSING, maximum_ratio=10)
    assert (risk.key, "many variants" in risk.what) == ("maximum_ratio", True)
    assert of(CHOOSING, maximum_ratio=2) == []
    assert of(CHOOSING, maximum_ratio=10, parameters={"method": ["exact"]}) == []
    assert of(CHOOSING, maximum_ratio=10, parameters={"output": ["size"]}) == []
