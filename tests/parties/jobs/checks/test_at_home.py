"""A party's ledger and policy held against a covert run of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from parties.jobs.checks.at_home import check_at_home
from parties.ledger.entries import COUNTERSIGNED, EXACT, RUN, SPENT
from parties.policy.rules import load_policy
from scripts.soak.kinds import furnish, kinds
from smc.forms import Role
from tests.parties.evidence.covert import AUDITED, covert
from tests.parties.jobs.institutions import Institutions

NAMES = ("north", "south")
KINDS = kinds(NAMES)
NOISY, SUMS = "statistics, noisy", "matching, exact sums"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A job with noise and one with exact figures, as north has them."""
    folder = tmp_path_factory.mktemp("p")
    made = Institutions(folder)
    for number, name in enumerate(NAMES):
        furnish(folder / name, number, 40, **AUDITED)
    found = {}
    for kind in (NOISY, SUMS):
        job_id = made.submit(covert(KINDS[kind]))
        record = made.ended(job_id)["north"]
        entries = made.network.managers["north"].ledger.of_job(record.contract.digest.hex())
        policy = load_policy(folder / "north" / "policy.toml")
        found[kind] = (made.task("north", covert(KINDS[kind])), record.contract, entries, policy)
    yield found
    made.close()


def problems(task, contract, entries, policy, *, whole=True):
    found = [*check_at_home(task, contract, tuple(entries), policy, whole=whole)]
    assert found
    return [one.what for one in found if not one.holds]


@pytest.mark.parametrize("kind", [NOISY, SUMS])
def test_an_honest_run_stands_in_ledger_and_policy(finished, kind):
    assert problems(*finished[kind]) == []


@pytest.mark.parametrize(
    ("kind", "event", "said"),
    [
        (NOISY, RUN, "no entry of the run"),
        (NOISY, SPENT, "another privacy loss"),
        (SUMS, EXACT, "no exact release"),
        (NOISY, COUNTERSIGNED, "countersignature"),
    ],
)
def test_what_the_ledger_lacks_is_said(finished, kind, event, said):
    task, contract, entries, policy = finished[kind]
    left = [entry for entry in entries if entry.event != event]
    assert len(left) == len(entries) - 1
    assert [said in what for what in problems(task, contract, left, policy)] == [True]


def test_a_run_that_broke_off_need_not_have_released_anything(finished):
    task, contract, entries, policy = finished[NOISY]
    begun = [entry for entry in entries if entry.event == RUN]
    assert problems(task, contract, begun, policy, whole=False) == []


@pytest.mark.parametrize("changed", [{"dataset": "others"}, {"peer": "west"}])
def test_a_run_of_something_else_is_said(finished, changed):
    task, contract, entries, policy = finished[NOISY]
    others = [replace(entry, **changed) if entry.event == RUN else entry for entry in entries]
    assert len(problems(task, contract, others, policy)) == 1


def test_a_policy_that_asks_for_more_or_has_no_such_rule_is_said(finished):
    task, contract, entries, policy = finished[NOISY]
    run = next(entry for entry in entries if entry.event == RUN)
    (place,) = (number for number, rule in enumerate(policy.rules) if rule.name == run.rule)
    stricter = list(policy.rules)
    stricter[place] = replace(stricter[place], limits=replace(stricter[place].limits, minimum_group=50))
    (said,) = problems(task, contract, entries, replace(policy, rules=tuple(stricter)))
    assert "stricter limits" in said
    (said,) = problems(task, contract, entries, replace(policy, rules=()))
    assert "no rule" in said
    more = replace(stricter[place].limits_of(task.facts), minimum_group=60)
    allowed = replace(contract, limits={**contract.limits, Role.ALICE: more})
    assert problems(task, allowed, entries, replace(policy, rules=tuple(stricter))) == []
