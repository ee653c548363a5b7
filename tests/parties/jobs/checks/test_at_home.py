"""A party's ledger and policy held against a covert run of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from parties.jobs.checks.at_home import AtHome, check_at_home
from parties.ledger.entries import COUNTERSIGNED, EXACT, RUN, SPENT
from parties.policy.rules import Policy, load_policy
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
        north = made.network.managers["north"]
        task = made.task("north", covert(KINDS[kind]))
        home = AtHome(
            north._admission.account(task),
            north.ledger.of_job(record.contract.digest.hex()),
            load_policy(folder / "north" / "policy.toml"),
        )
        found[kind] = (task, record.contract, home)
    yield found
    made.close()


def problems(task, contract, home, *, whole=True):
    found = [*check_at_home(task, contract, home, whole=whole)]
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
    task, contract, home = finished[kind]
    left = [entry for entry in home.entries if entry.event != event]
    assert len(left) == len(home.entries) - 1
    assert [said in what for what in problems(task, contract, replace(home, entries=left))] == [True]


def test_a_run_that_broke_off_need_not_have_released_anything(finished):
    task, contract, home = finished[NOISY]
    begun = [entry for entry in home.entries if entry.event == RUN]
    assert problems(task, contract, replace(home, entries=begun), whole=False) == []


@pytest.mark.parametrize("changed", [{"dataset": "others"}, {"peer": "west"}])
def test_a_run_of_something_else_is_said(finished, changed):
    task, contract, home = finished[NOISY]
    others = [replace(entry, **changed) if entry.event == RUN else entry for entry in home.entries]
    assert len(problems(task, contract, replace(home, entries=others))) == 1


def ruled(home, **changed):
    """A home whose rule that allowed the run, the first of its policy, is another; its number of runs."""
    first, *others = home.policy.rules
    return replace(home, policy=Policy((replace(first, **changed), *others)))


def test_a_policy_that_asks_for_more_or_has_no_such_rule_is_said(finished):
    task, contract, home = finished[NOISY]
    rule = home.policy.rules[0]
    assert {entry.rule for entry in home.entries if entry.event == RUN} == {rule.name}
    stricter = ruled(home, limits=replace(rule.limits, minimum_group=50))
    (said,) = problems(task, contract, stricter)
    assert "stricter limits" in said
    (said,) = problems(task, contract, replace(home, policy=Policy()))
    assert "no rule" in said
    more = replace(stricter.policy.rules[0].limits_of(task.facts), minimum_group=60)
    allowed = replace(contract, limits={**contract.limits, Role.ALICE: more})
    own = [replace(entry, job=allowed.digest.hex()) for entry in home.entries]
    assert problems(task, allowed, replace(stricter, entries=own)) == []


def test_more_runs_than_the_rule_allows_are_said(finished):
    """Those on the same people with the peer count, begun no later; others do not."""
    task, contract, home = finished[NOISY]
    (run,) = (entry for entry in home.entries if entry.event == RUN)
    others = [
        replace(run, job="00" * 32, sequence=run.sequence - 1),
        replace(run, job="01" * 32, sequence=run.sequence + 1),
        replace(run, job="02" * 32, sequence=run.sequence - 2, peer="west"),
        replace(run, job="03" * 32, sequence=run.sequence - 2, account="x", dataset="x"),
        replace(run, job="04" * 32, sequence=run.sequence - 2, rule="another"),
    ]
    crowded = replace(home, entries=[*home.entries, *others])
    assert problems(task, contract, ruled(crowded, runs_total=2)) == []
    (said,) = problems(task, contract, ruled(crowded, runs_total=1))
    assert "run 2 of the 1" in said


def test_too_few_other_persons_than_in_an_earlier_exact_job_are_said(finished):
    task, contract, home = finished[SUMS]
    strict = ruled(home, overlap=10)
    for nearest in (None, 10):
        assert problems(task, contract, replace(strict, nearest=nearest)) == []
    (said,) = problems(task, contract, replace(strict, nearest=9))
    assert "in 9; at least 10" in said
    assert problems(task, contract, replace(home, nearest=1)) == []
    noisy_task, noisy, noisy_home = finished[NOISY]
    assert problems(noisy_task, noisy, replace(ruled(noisy_home, overlap=10), nearest=1)) == []
