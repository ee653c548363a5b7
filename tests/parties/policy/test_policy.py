"""The policy: default deny, each condition alone, and what the reasons say."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest

from parties.errors import BudgetError, ConfigError, PolicyError
from parties.ledger.accounting import Budget, Runs, Spent
from parties.policy import EXAMPLE
from parties.policy.conditions import JobView
from parties.policy.rules import load_policy, parse_policy
from parties.policy.verdict import evaluate
from smc.analyses.disclosure.limits import Limits
from smc.analyses.studies.facts import Asked, ExactFigures, Facts, RowBounds, Whom
from smc.analyses.studies.loss import Loss
from smc.forms import ComparisonType

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
    "runs_total": 8,
    "maximum_seconds": 60,
    "approval": "auto",
}

EXACT = ExactFigures(1, Whom.CELLS)

FACTS = Facts(
    pairs_by_position=False,
    matches=False,
    lpn=False,
    row_results=False,
    comparison_type=None,
    exact=None,
    sorts_by=frozenset(),
    keeps_missing=frozenset(),
    loss=Loss(Fraction(1, 2)),
    bounds=RowBounds(),
    asked=Asked(),
)

USUAL = Limits(maximum_ratio=Fraction(10))
"""Limits of a rule that says nothing of them."""

VIEW = {
    "analysis": "statistics",
    "peer": "south",
    "dataset": "patients",
    "columns": frozenset({"age"}),
    "recipients": frozenset({"self", "peer"}),
    "facts": FACTS,
    "rows": 10,
    "persons": 10,
    "seconds": 60,
    "spent": Spent() + Loss(Fraction(3, 2)),
    "runs": lambda rule: Runs(2, 7),
}


def verdict(rules, **changes):
    """Of a job that differs from `VIEW` by these entries of the view or of its facts."""
    stated = {key: changes.pop(key) for key in [*changes] if key in Facts.__dataclass_fields__}
    changes["facts"] = replace(FACTS, **stated)
    return evaluate(parse_policy({"rules": rules}, "policy.toml"), JobView(**(VIEW | changes)))


def test_nothing_is_allowed_by_nothing(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(EXAMPLE)
    policy = load_policy(path)
    assert policy.rules == ()
    found = evaluate(policy, JobView(**VIEW))
    assert not found.allowed
    assert found.reasons[0].hint


def test_the_comment_of_the_example_is_a_valid_rule():
    plain = "\n".join(line.removeprefix("#").strip() for line in EXAMPLE.splitlines()[3:])
    rule = parse_policy(tomllib.loads(plain, parse_float=Decimal), "policy.toml").rules[0]
    assert rule.needs_person
    assert rule.budget == Budget(Fraction(2), Fraction(1, 2**30))
    assert rule.exact_aggregates
    assert rule.limits == Limits(10, Fraction(4, 5), 100, Fraction(10), 10)


def test_a_job_has_to_give_one_of_the_values_that_a_rule_names():
    rule = RULE | {"parameters": {"method": ["exact"], "output": ["size", "statistics"]}}
    assert verdict([rule], parameters={"method": "exact", "output": "size", "other": "x"}).allowed
    for given, word in (
        ({"method": "exact", "output": "keys"}, "gives output as 'keys', allowed is 'size' or 'statistics'"),
        ({"method": "exact"}, "does not say output"),
    ):
        found = verdict([rule], parameters=given)
        assert not found.allowed
        assert [reason.hint for reason in found.reasons if word in reason.what] == [
            "Write output = 'size' below [parameters], or add the value to the rule."
        ]


def test_a_job_at_every_limit_is_allowed():
    found = verdict([RULE])
    assert found.allowed
    assert not found.needs_person
    assert found.budget == Budget(Fraction(2))
    found.require()


BREAKS = {
    "analysis": "clustering",
    "peer": "west",
    "dataset": "visits",
    "columns": frozenset({"age", "name"}),
    "persons": 9,
    "seconds": 61,
    "runs": lambda rule: Runs(3, 7),
    "runs ever": lambda rule: Runs(0, 8),
    "exact": True,
    "loss": Loss(Fraction(501, 1000)),
    "spent": Spent() + Loss(Fraction(1501, 1000)),
    "comparison_type": ComparisonType.parse("SS-SS-PP"),
}


@pytest.mark.parametrize("broken", BREAKS)
def test_each_condition_alone_refuses(broken):
    found = verdict([RULE], **{broken.split()[0]: BREAKS[broken]})
    assert not found.allowed
    assert all(reason.rule == "r" and reason.what and reason.hint for reason in found.reasons)
    with pytest.raises(BudgetError if broken in ("loss", "spent") else PolicyError) as caught:
        found.require()
    assert isinstance(caught.value, BudgetError) == (broken in ("loss", "spent"))


def test_every_pair_of_conditions_refuses_with_both_reasons():
    for first, second in product(BREAKS, repeat=2):
        if first.split()[0] < second.split()[0]:
            found = verdict([RULE], **{key.split()[0]: BREAKS[key] for key in (first, second)})
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
    kind = None if kind is None else ComparisonType.parse(kind)
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
    assert not verdict([rule], spent=Spent()).allowed
    assert verdict([rule], loss=Loss()).allowed


def test_a_job_without_own_data_needs_no_data_set_or_rows():
    assert verdict([RULE], dataset="", columns=frozenset(), rows=0).allowed


def test_least_rows_are_counted_by_persons():
    """200 copies of one person are one person; sets that are matched are counted by rows."""
    rule = RULE | {"minimum_rows": 100, "minimum_set": 150}
    (reason,) = verdict([rule], rows=200, persons=1).reasons
    assert (reason.key, reason.what) == ("minimum_rows", "the data set has fewer than 100 persons")
    assert verdict([rule], rows=100, persons=100).allowed
    assert verdict([rule], rows=200, persons=100, matches=True).allowed
    (reason,) = verdict([rule], rows=100, persons=100, matches=True).reasons
    assert (reason.key, reason.what) == ("minimum_set", "the data set has fewer than 150 rows")


@pytest.mark.parametrize("key", ["runs_per_day", "runs_total"])
def test_runs_are_counted_by_a_name_that_the_rule_has(key):
    """The number of a rule is not a name to count by: another rule before it would take its runs over."""
    rule = {name: value for name, value in RULE.items() if name not in ("name", "runs_per_day", "runs_total")}
    parse_policy({"rules": [rule]}, "policy.toml")
    with pytest.raises(ConfigError, match=f"rule 1: {key} is counted by the name"):
        parse_policy({"rules": [rule | {key: 5}]}, "policy.toml")


def test_the_budget_reason_shows_asked_spent_and_left():
    found = verdict([RULE], spent=Spent() + Loss(Fraction(7, 4)))
    assert "epsilon 0.5 asked, epsilon 1.75 spent, epsilon 0.25 left of 2" in found.reasons[0].what


def test_deltas_are_limited_by_job_and_in_total():
    loss = Loss(Fraction(1, 2), Fraction(1, 2**32))
    assert verdict([RULE], loss=loss, spent=Spent()).allowed
    small = RULE | {"delta_per_job": "2^-33"}
    assert [reason.key for reason in verdict([small], loss=loss, spent=Spent()).reasons] == [
        "epsilon_per_job"
    ]
    spent = Spent() + Loss(delta=Fraction(1, 2**30))
    assert [reason.key for reason in verdict([RULE], loss=loss, spent=spent).reasons] == ["epsilon_total"]
    assert verdict([RULE | {"delta_total": "1e-6"}], loss=loss, spent=spent).allowed


def test_exact_figures_need_a_word_of_the_rule_and_carry_its_limits():
    assert not verdict([RULE], exact=EXACT, loss=Loss()).allowed
    rule = RULE | {"exact_aggregates": True, "minimum_group": 5, "dominance": "0.8", "overlap": 12}
    found = verdict([rule], exact=EXACT, loss=Loss())
    assert found.allowed
    assert found.limits == replace(USUAL, minimum_group=5, dominance=Fraction(4, 5), minimum_intersection=5)
    assert found.overlap == 12
    assert verdict([rule | {"overlap": 2}], exact=EXACT).overlap == 5
    assert verdict([RULE], exact=None).limits == USUAL


def test_the_limits_are_those_of_the_rule_that_allows():
    strict = RULE | {"name": "strict", "minimum_group": 20, "approval": "person"}
    assert verdict([strict, RULE]).limits == USUAL
    assert verdict([strict, RULE | {"peers": ["west"]}]).limits == replace(USUAL, minimum_group=20)


EXACT_RULE = RULE | {"exact_aggregates": True}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"runs": lambda rule: Runs(0, 8)}, "runs_total"),
        ({"runs": lambda rule: Runs(3, 7)}, "runs_per_day"),
        ({"runs": lambda rule: Runs(3, 8), "seconds": 61}, "maximum_seconds"),
        ({"persons": 9, "seconds": 61}, "minimum_rows"),
        ({"loss": Loss(Fraction(501, 1000))}, "epsilon_per_job"),
        ({"spent": Spent() + Loss(Fraction(1501, 1000))}, "epsilon_total"),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_a_rule_that_has_run_out_is_named_before_one_that_forbids_such_jobs(changes, key, order):
    """However much of it is used up: to follow the other's hint would open exact figures without limits."""
    amounts = ("maximum_seconds", "runs_per_day", "epsilon_per_job", "epsilon_total", "minimum_rows")
    wide = dict.fromkeys(amounts[:2], 1000) | dict.fromkeys(amounts[2:4], "1000") | {"runs_total": 1000}
    noisy = {entry: RULE[entry] for entry in RULE.keys() - {*amounts}} | wide | {"name": "noisy"}
    tables = EXACT_RULE | {"name": "exact tables"}
    found = verdict([noisy, tables][::order], exact=EXACT, **changes)
    assert found.reasons[0].rule == "exact tables"
    assert key in [reason.key for reason in found.reasons if reason.rule == "exact tables"]
    with pytest.raises(PolicyError) as caught:
        found.require()
    assert "exact tables" in caught.value.what
    assert "noisy" not in str(caught.value)
    assert "exact_aggregates" not in str(caught.value)


def test_a_rule_without_a_bound_on_runs_has_not_run_out():
    unbound = {key: value for key, value in RULE.items() if key not in ("runs_total", "runs_per_day")}
    rules = [unbound | {"name": "unbound"}, RULE | {"name": "bound"}]
    found = verdict(rules, matches=True, runs=lambda rule: Runs(0, 8))
    assert [reason.rule for reason in found.reasons] == ["bound", "unbound"]


def test_what_to_do_is_said_once():
    found = verdict([RULE], loss=Loss(Fraction(3)))
    with pytest.raises(BudgetError) as caught:
        found.require()
    assert caught.value.hint == "Ask for less. What is spent does not come back."


@pytest.mark.parametrize(
    ("rule", "dominance", "intersection"),
    [
        (EXACT_RULE, 1, 0),
        (EXACT_RULE | {"minimum_group": 7}, Fraction(4, 5), 7),
        (RULE | {"minimum_group": 7}, 1, 0),
        (EXACT_RULE | {"minimum_group": 7, "dominance": "0.5"}, Fraction(1, 2), 7),
        (EXACT_RULE | {"minimum_group": 7, "dominance": "1", "minimum_intersection": 0}, 1, 0),
        (EXACT_RULE | {"minimum_group": 7, "minimum_intersection": 30}, Fraction(4, 5), 30),
    ],
)
def test_limits_that_follow_from_the_smallest_group_of_exact_figures(rule, dominance, intersection):
    limits = verdict([rule]).limits
    assert (limits.dominance, limits.minimum_intersection) == (dominance, intersection)


def test_maximum_ratio_unless_a_rule_says_otherwise():
    assert verdict([RULE]).limits.maximum_ratio == 10
    assert verdict([RULE | {"maximum_ratio": "2.5"}]).limits.maximum_ratio == Fraction(5, 2)
    assert verdict([RULE | {"maximum_ratio": 0}]).limits.maximum_ratio == 0


SEEN = ComparisonType.parse("PN-NP-PN")


def test_results_about_single_rows_need_a_word_of_the_rule():
    allowed = RULE | {"row_results": True}
    found = verdict([RULE], row_results=True)
    assert not found.allowed
    assert [reason.key for reason in found.reasons] == ["row_results"]
    assert verdict([allowed], row_results=True).allowed
    assert verdict([allowed]).allowed
    assert verdict([RULE], comparison_type=ComparisonType.parse("PN-NP-SS")).allowed


def test_a_comparison_that_somebody_sees_has_to_be_named_by_its_type():
    rule = {key: value for key, value in RULE.items() if key != "types"} | {"row_results": True}
    found = verdict([rule], row_results=True, comparison_type=SEEN)
    assert not found.allowed
    (reason,) = found.reasons
    assert (reason.key, reason.hint) == ("types", 'Add types = ["PN-NP-PN"].')
    assert verdict([rule | {"types": ["PN-NP-PN"]}], row_results=True, comparison_type=SEEN).allowed
    assert verdict([rule], row_results=True).allowed
    assert verdict([rule], comparison_type=ComparisonType.parse("PN-NP-SS")).allowed


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("loss", [Loss(), Loss(Fraction(1, 2))])
def test_jobs_that_match_rows_need_a_bound_on_their_runs(rows, loss):
    """With noise as well: that the bit is taken from noisy numbers is for analyses to see to."""
    rule = {key: value for key, value in RULE.items() if key != "runs_total"}
    found = verdict([rule], matches=True, loss=loss)
    assert [reason.key for reason in found.reasons] == ["runs_total"]
    assert verdict([rule], loss=loss).allowed
    assert verdict([rule | {"runs_total": 8, "row_results": rows}], matches=True, row_results=rows).allowed
    full = verdict([rule | {"runs_total": 7, "row_results": rows}], matches=True, row_results=rows)
    assert [reason.key for reason in full.reasons] == ["runs_total"]


def test_a_rule_for_single_rows_without_a_number_of_runs_is_no_policy():
    rule = {key: value for key, value in RULE.items() if key != "runs_total"} | {"row_results": True}
    with pytest.raises(ConfigError, match="rule 1: row_results is set without runs_total") as caught:
        parse_policy({"rules": [rule]}, "policy.toml")
    assert "runs_total = 3" in caught.value.hint
    parse_policy({"rules": [rule | {"runs_total": 3}]}, "policy.toml")


def test_every_condition_of_every_rule_is_told():
    found = verdict([RULE, RULE | {"name": "s", "peers": ["west"]}], loss=Loss(Fraction(1, 2)))
    keys = [condition.key for condition in found.conditions if condition.rule == "r"]
    expected = {
        "analyses", "peers", "datasets", "columns", "recipients", "minimum_rows", "maximum_seconds",
        "runs_per_day", "runs_total", "epsilon_per_job", "epsilon_total",
    }  # fmt: skip
    assert set(keys) == expected
    assert len(keys) == len(expected)
    assert [c.key for c in found.conditions if not c.holds] == ["peers"]
    assert all(bool(c.hint) is not c.holds and c.what for c in found.conditions)


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
        ({"maximum_seconds": 0}, "below 1"),
        ({"exact_aggregates": "yes"}, "exact_aggregates"),
        ({"delta_total": "1"}, "not below 1"),
        ({"delta_per_job": "2^30"}, "not a number"),
        ({"dominance": "0"}, "dominance"),
        ({"dominance": "1.01"}, "dominance"),
        ({"dominance": "0.12345678"}, "above 1000000"),
        ({"epsilon_total": "1e400000"}, "epsilon_total is not a number of at most 30 digits"),
        ({"epsilon_total": Decimal("1e400")}, "not a number of at most 30 digits"),
        ({"epsilon_total": 10**40}, "not a number of at most 30 digits"),
        ({"epsilon_per_job": "1/1000000001"}, "above 1000000000"),
        ({"epsilon_total": "3.0000000001"}, "above 1000000000"),
        ({"delta_per_job": "1e-99"}, "above 1000000000"),
        ({"delta_total": "2^-4000"}, "not a number"),
        ({"maximum_ratio": "0.5"}, "maximum_ratio"),
        ({"minimum_group": 1_000_001}, "above 1000000"),
        ({"runs_total": -1}, "below 0"),
        ({"minimum_persons": 5}, "minimum_persons"),
    ],
)
def test_a_wrong_rule_names_its_place(change, part):
    with pytest.raises(ConfigError) as caught:
        parse_policy({"rules": [RULE | change]}, "policy.toml")
    assert "policy.toml, rule 1" in str(caught.value)
    assert part in str(caught.value)


def test_an_old_name_of_a_bound_is_refused_with_the_new_one():
    """Policies of earlier releases say `max_seconds`."""
    old = dict(RULE)
    old["max_seconds"] = old.pop("maximum_seconds")
    with pytest.raises(ConfigError, match="'max_seconds'") as refused:
        parse_policy({"rules": [old]}, "policy.toml")
    assert refused.value.hint == "Did you mean 'maximum_seconds'?"


def test_unknown_tables_and_repeated_names_are_errors():
    with pytest.raises(ConfigError, match="'rules'"):
        parse_policy({"rule": []}, "policy.toml")
    with pytest.raises(ConfigError, match="two rules"):
        parse_policy({"rules": [RULE, RULE]}, "policy.toml")


def test_exact_epsilon_from_any_spelling():
    for text in ("0.1", "1/10", Decimal("0.1")):
        rule = parse_policy({"rules": [RULE | {"epsilon_total": text}]}, "p").rules[0]
        assert rule.budget.epsilon == Fraction(1, 10)


def without_lpn(**changes):
    """The conditions of this name of a rule that allows no LPN, or one that says nothing of it."""
    found = verdict([RULE | {"lpn": False}], **changes)
    assert not [c for c in verdict([RULE], **changes).conditions if c.key == "lpn"]
    return [(c.holds, c.what, c.hint) for c in found.conditions if c.key == "lpn"]


def test_a_policy_without_lpn_has_no_matching_by_keys_and_says_so():
    ((holds, what, hint),) = without_lpn(matches=True, lpn=True)
    assert not holds
    assert what == "the job matches rows by keys, and all such matching rests on LPN"
    assert "there is no matching by keys without it" in hint
    assert without_lpn(matches=True, lpn=False)[0][0] is True  # of vectors


def test_a_policy_without_lpn_wants_to_know_by_what_a_job_compares():
    ((holds, what, hint),) = without_lpn(lpn=True)
    assert not holds
    assert "engine" in what
    assert 'engine = "oblivious"' in hint


def test_a_policy_without_lpn_takes_no_job_for_a_slow_link():
    ((holds, what, hint),) = without_lpn(network=True)
    assert not holds
    assert "planned for a link" in what
    assert "mbit = 1000000 below [network]" in hint
    assert without_lpn() == [(True, "nothing in the job rests on LPN", "")]


def test_exact_figures_of_a_plan_are_bounded_by_the_rule_and_one_unless_it_says_so():
    rule = RULE | {"analyses": ["plan", "statistics", "models"], "exact_aggregates": True}

    def plan(figures, *parts):
        return {
            "analysis": "plan",
            "exact": ExactFigures(figures, Whom.CELLS, together=figures),
            "asked": Asked(parts=frozenset(parts)),
        }

    assert verdict([rule], **plan(1, "statistics")).allowed
    (reason,) = verdict([rule], **plan(3, "statistics")).reasons
    assert (reason.key, reason.code) == ("figures_per_job", "policy")
    assert "3 exact figures in one plan are over figures_per_job 1" in reason.what
    assert "figures_per_job = 3" in reason.hint
    assert verdict([rule | {"figures_per_job": 3}], **plan(3, "statistics", "models")).allowed
    # A rule that names an analysis for jobs of their own does not allow it in a plan, nor the other way.
    (reason,) = verdict([rule], **plan(1, "statistics", "validation")).reasons
    assert "'validation' is not among analyses" in reason.what
    (reason,) = verdict([rule | {"analyses": ["statistics"]}], **plan(1, "statistics")).reasons
    assert "'plan' is not among analyses" in reason.what
    for number in (0, 1001):
        with pytest.raises(ConfigError, match="figures_per_job"):
            verdict([rule | {"figures_per_job": number}])


def test_answers_by_a_local_model_are_bounded_by_rows_times_runs():
    scoring = {"row_results": True, "loss": Loss(), "answers": 100}
    rule = RULE | {"row_results": True, "types": ["SS-*-SS"]}
    (reason,) = verdict([rule], **scoring).reasons
    assert reason.key == "answers_total"
    assert "answers_total = 800" in reason.hint
    assert verdict([rule | {"answers_total": 800}], **scoring).allowed
    (reason,) = verdict([rule | {"answers_total": 799}], **scoring).reasons
    assert "800 answers (8 runs of 100 rows) are over answers_total 799" in reason.what
    # Whose rows are scored has no model to lose.
    assert verdict([rule], **scoring | {"answers": 0}).allowed
