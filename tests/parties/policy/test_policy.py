"""The policy: default deny, each condition alone, and what the reasons say."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest

from parties.errors import BudgetError, ConfigError, PolicyError
from parties.policy import EXAMPLE
from parties.policy.rules import load_policy, parse_policy
from parties.policy.verdict import JobView, evaluate

RULE = {
    "name": "r",
    "analyses": ["statistics", "comparison"],
    "peers": ["south"],
    "datasets": ["patients"],
    "columns": ["age", "mass"],
    "recipients": ["both"],
    "types": ["SS-*-SS", "PN-NP-*"],
    "epsilon_per_job": "1/2",
    "epsilon_total": "2",
    "minimum_rows": 10,
    "runs_per_day": 3,
    "max_seconds": 60,
    "approval": "auto",
}

VIEW = {
    "analysis": "statistics",
    "peer": "south",
    "dataset": "patients",
    "columns": frozenset({"age"}),
    "recipients": frozenset({"self", "peer"}),
    "comparison_type": None,
    "epsilon": Fraction(1, 2),
    "rows": 10,
    "seconds": 60,
    "spent": Fraction(3, 2),
    "runs": 2,
}


def verdict(rules, **changes):
    return evaluate(parse_policy({"rules": rules}, "policy.toml"), JobView(**(VIEW | changes)))


def test_nothing_is_allowed_by_nothing(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(EXAMPLE)
    policy = load_policy(path)
    assert policy.rules == ()
    found = evaluate(policy, JobView(**VIEW))
    assert not found.allowed
    assert found.reasons[0].mend


def test_the_comment_of_the_example_is_a_valid_rule():
    plain = "\n".join(line.removeprefix("#").strip() for line in EXAMPLE.splitlines()[3:])
    rule = parse_policy(tomllib.loads(plain, parse_float=Decimal), "policy.toml").rules[0]
    assert rule.needs_person
    assert rule.epsilon_total == 2


def test_a_job_at_every_limit_is_allowed():
    found = verdict([RULE])
    assert found.allowed
    assert not found.needs_person
    assert found.epsilon_total == 2
    found.require()


BREAKS = {
    "analysis": "clustering",
    "peer": "west",
    "dataset": "visits",
    "columns": frozenset({"age", "name"}),
    "rows": 9,
    "seconds": 61,
    "runs": 3,
    "epsilon": Fraction(501, 1000),
    "spent": Fraction(1501, 1000),
    "comparison_type": "SS-SS-PP",
}


@pytest.mark.parametrize("broken", BREAKS)
def test_each_condition_alone_refuses(broken):
    found = verdict([RULE], **{broken: BREAKS[broken]})
    assert not found.allowed
    assert all(reason.rule == "r" and reason.what and reason.mend for reason in found.reasons)
    with pytest.raises(BudgetError if broken in ("epsilon", "spent") else PolicyError) as caught:
        found.require()
    assert isinstance(caught.value, BudgetError) == (broken in ("epsilon", "spent"))


def test_every_pair_of_conditions_refuses_with_both_reasons():
    for first, second in product(BREAKS, repeat=2):
        if first < second:
            found = verdict([RULE], **{first: BREAKS[first], second: BREAKS[second]})
            assert not found.allowed
            assert len(found.reasons) >= 2


@pytest.mark.parametrize(
    ("allowed", "asked", "result"),
    [
        (["self"], {"self"}, True),
        (["self"], {"peer"}, False),
        (["self"], {"self", "peer"}, False),
        (["peer"], {"peer"}, True),
        (["peer"], {"self"}, False),
        (["self", "peer"], {"self", "peer"}, True),
        (["both"], {"self"}, True),
        (["both"], set(), True),
    ],
)
def test_recipients(allowed, asked, result):
    assert verdict([RULE | {"recipients": allowed}], recipients=frozenset(asked)).allowed is result


@pytest.mark.parametrize(
    ("kind", "result"),
    [("SS-SS-SS", True), ("SS-PN-SS", True), ("PN-NP-PP", True), ("SE-SE-SE", False), (None, True)],
)
def test_comparison_types(kind, result):
    assert verdict([RULE], comparison_type=kind).allowed is result
    without = {key: value for key, value in RULE.items() if key != "types"}
    assert verdict([without], comparison_type=kind).allowed


def test_a_person_is_the_default_and_auto_wins_only_if_it_allows_everything():
    person = {key: value for key, value in RULE.items() if key != "approval"} | {"name": "p"}
    assert verdict([person]).needs_person
    found = verdict([person, RULE])
    assert not found.needs_person
    assert found.rule == "r"
    assert verdict([person, RULE | {"peers": ["west"]}]).needs_person
    assert verdict([person, RULE | {"peers": ["west"]}]).reasons[0].rule == "r"


def test_conditions_of_two_rules_do_not_add_up():
    rules = [RULE | {"peers": ["west"]}, RULE | {"name": "s", "columns": ["mass"]}]
    assert not verdict(rules).allowed


def test_epsilon_is_zero_unless_given():
    rule = {key: value for key, value in RULE.items() if not key.startswith("epsilon")}
    assert not verdict([rule], spent=Fraction(0)).allowed
    assert verdict([rule], epsilon=Fraction(0)).allowed


def test_a_job_without_own_data_needs_no_data_set_or_rows():
    assert verdict([RULE], dataset="", columns=frozenset(), rows=0).allowed


def test_the_budget_reason_shows_asked_spent_and_left():
    found = verdict([RULE], spent=Fraction(7, 4))
    assert "1/2 asked, 7/4 spent, 1/4 left" in found.reasons[0].what


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"analysis": ["x"]}, "'analyses'"),
        ({"recipients": []}, "recipients"),
        ({"recipients": ["alice"]}, "recipients"),
        ({"peers": "south"}, "list of texts"),
        ({"types": ["SS-SS"]}, "types"),
        ({"epsilon_total": "-1"}, "negative"),
        ({"epsilon_total": "many"}, "not a number"),
        ({"epsilon_total": True}, "not a number"),
        ({"minimum_rows": -1}, "below 0"),
        ({"approval": "nobody"}, "approval"),
        ({"max_seconds": 0}, "below 1"),
    ],
)
def test_a_wrong_rule_names_its_place(change, part):
    with pytest.raises(ConfigError) as caught:
        parse_policy({"rules": [RULE | change]}, "policy.toml")
    assert "policy.toml, rule 1" in str(caught.value)
    assert part in str(caught.value)


def test_unknown_tables_and_repeated_names_are_errors():
    with pytest.raises(ConfigError, match="'rules'"):
        parse_policy({"rule": []}, "policy.toml")
    with pytest.raises(ConfigError, match="two rules"):
        parse_policy({"rules": [RULE, RULE]}, "policy.toml")


def test_exact_epsilon_from_any_spelling():
    for text in ("0.1", "1/10", Decimal("0.1")):
        rule = parse_policy({"rules": [RULE | {"epsilon_total": text}]}, "p").rules[0]
        assert rule.epsilon_total == Fraction(1, 10)
