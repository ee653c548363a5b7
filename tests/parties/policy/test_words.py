"""What a rule says of the use of columns, of kinds of figures, and of what a job states of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parties.errors import ConfigError
from parties.policy.conditions import JobView
from parties.policy.rules import parse_policy
from parties.policy.verdict import Verdict, evaluate
from smc.analyses.studies.facts import Asked, ExactFigures, Stated, Whom
from smc.analyses.studies.loss import Loss
from tests.parties.policy.test_policy import FACTS, RULE, VIEW

EXACT = ExactFigures(1, Whom.CELLS)
OPEN = {key: value for key, value in RULE.items() if key not in ("types", "minimum_rows")} | {
    "columns": ["*"],
    "exact_aggregates": True,
}


def judged(rule: dict[str, Any], asked: Asked, *, exact: bool = False, **view: Any) -> Verdict:
    facts = replace(FACTS, asked=asked, exact=EXACT if exact else None)
    facts = replace(facts, loss=Loss()) if exact else facts
    policy = parse_policy({"rules": [{**OPEN, **rule}]}, "policy.toml")
    return evaluate(policy, JobView(**{**VIEW, "facts": facts, **view}))


def missed(verdict: Verdict) -> list[str]:
    return [condition.key for condition in verdict.conditions if not condition.holds]


def test_exact_figures_match_rows_by_what_the_data_set_calls_persons() -> None:
    keyed: dict[str, Any] = {"keys": frozenset({"diagnosis"}), "naming": frozenset({"card"})}
    asked = Asked(keys=frozenset({"k"}))
    assert missed(judged({}, asked, exact=True, **keyed)) == ["keys"]
    assert judged({}, asked, exact=True, **keyed | {"keys": frozenset({"card"})}).allowed
    assert judged({}, asked, **keyed).allowed  # with noise
    assert judged({"keys": ["diagnosis"]}, asked, exact=True, **keyed).allowed
    # what a rule names holds for every job
    assert missed(judged({"keys": ["card"]}, asked, **keyed)) == ["keys"]
    assert judged({"keys": ["*"]}, asked, exact=True, **keyed).allowed


def test_a_column_may_be_a_key_and_no_value() -> None:
    used = {"values": frozenset({"age", "card"})}
    assert missed(judged({"values": ["age"]}, Asked(), **used)) == ["values"]
    assert judged({"values": ["age", "card"]}, Asked(), **used).allowed
    assert judged({}, Asked(), **used).allowed


def test_kinds_of_figures() -> None:
    asked = Asked(queries=frozenset({"count", "quantile"}))
    found = judged({"queries": ["count", "mean"]}, asked)
    assert missed(found) == ["queries"]
    assert found.reasons[0].hint == 'Write queries = ["count", "mean", "quantile"] in the rule.'
    assert judged({"queries": ["*"]}, asked).allowed
    assert judged({"queries": ["count"]}, Asked()).allowed  # an analysis of one kind


@pytest.mark.parametrize("word", Stated)
def test_what_a_job_states_of_its_own(word: Stated) -> None:
    asked = Asked(states=frozenset({word}))
    assert judged({}, asked).allowed
    assert missed(judged({"may_state": []}, asked)) == ["may_state"]
    assert judged({"may_state": [word.value]}, asked).allowed
    usual = judged({}, asked, exact=True)
    assert usual.allowed is (word in (Stated.WHERE, Stated.DERIVED))
    assert judged({"may_state": [word.value]}, asked, exact=True).allowed
    limited = judged({"may_state": [word.value], "minimum_group": 5}, asked, exact=True)
    assert limited.allowed is (word is not Stated.CENTRES)
    assert all("Leave out centres" in reason.hint for reason in limited.reasons)  # no rule lets them


def test_a_word_that_does_not_exist() -> None:
    with pytest.raises(ConfigError, match="holds 'wher'") as caught:
        parse_policy({"rules": [{**OPEN, "may_state": ["wher"]}]}, "policy.toml")
    assert "where, derived, bounds, centres" in caught.value.hint


def test_a_method_that_tells_more_has_to_be_named() -> None:
    asked = Asked(named=frozenset({"method"}))
    given = {"parameters": {"method": "vectors"}}
    found = judged({}, asked, **given)
    assert missed(found) == ["parameters"]
    assert 'parameters = { method = ["vectors"] }' in found.reasons[0].hint
    assert judged({"parameters": {"method": ["vectors"]}}, asked, **given).allowed
    assert missed(judged({"parameters": {"method": ["exact"]}}, asked, **given)) == ["parameters"]


def test_the_ratio_of_rows_that_are_paired_by_likeness() -> None:
    ratios = {
        (given, likeness): judged(rule, Asked(likeness=likeness)).limits.maximum_ratio
        for given, rule in (("", {}), ("5", {"maximum_ratio": "5"}), ("0", {"maximum_ratio": "0"}))
        for likeness in (False, True)
    }
    assert ratios == {
        ("", False): 10, ("", True): 2,
        ("5", False): 5, ("5", True): 5,
        ("0", False): 0, ("0", True): 0,
    }  # fmt: skip


def test_exact_jobs_need_a_bound_of_their_runs() -> None:
    unbound = {key: value for key, value in OPEN.items() if key != "runs_total"}
    facts = replace(FACTS, exact=EXACT, loss=Loss())
    view = JobView(**{**VIEW, "facts": facts})
    found = evaluate(parse_policy({"rules": [unbound]}, "policy.toml"), view)
    assert missed(found) == ["runs_total"]
    assert evaluate(parse_policy({"rules": [unbound | {"runs_total": 9}]}, "policy.toml"), view).allowed
