"""What a party can hold against its own covert run at home, beside the audit: its ledger and its policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from parties.contracts.contract import Contract
from parties.jobs.checks.task import Task
from parties.ledger.accounting import Account
from parties.ledger.entries import COUNTERSIGNED, EXACT, RUN, SPENT, Entry
from parties.policy.rules import Policy, Rule
from smc.analyses.studies.loss import Loss


@dataclass(frozen=True, slots=True)
class HomeCheck:
    """Something that was looked at.

    Attributes:
        what: what was found, in a sentence.
        holds: whether it is as it should be.
    """

    what: str
    holds: bool


@dataclass(frozen=True, slots=True)
class AtHome:
    """What a party has at home of its covert run, and of those on the same people.

    Attributes:
        account: whom the job is about.
        entries: all of the ledger.
        policy: in force now.
        nearest: in how many local persons the exact job differs from the nearest earlier one, as of
            `parties.disclosure.history.History.nearest`.
    """

    account: Account
    entries: Sequence[Entry]
    policy: Policy
    nearest: int | None = None


def check_at_home(task: Task, contract: Contract, home: AtHome, *, whole: bool) -> Iterator[HomeCheck]:
    """Hold ledger, policy and sets of persons of a party against the contract of a covert run of its own.

    Args:
        task: the job as this party understands it.
        contract: its contract, which both have signed.
        home: what the party has.
        whole: whether both have signed the record of the whole run.
    """
    entries = [entry for entry in home.entries if entry.job == contract.digest.hex()]
    runs = [entry for entry in entries if entry.event == RUN]
    about = (task.side.dataset, task.peer)
    if not runs:
        yield HomeCheck("The ledger has no entry of the run: it does not count for runs_total.", False)
    elif any((entry.dataset, entry.peer) != about for entry in runs):
        yield HomeCheck("The ledger has the run with another data set or peer than the contract.", False)
    else:
        yield HomeCheck(f"The run stands in the ledger, as entry {runs[0].sequence}.", True)
    if whole:
        yield from _check_release(task, entries)
    for run in runs[:1]:
        rule = next((rule for rule in home.policy.rules if rule.name == run.rule), None)
        if rule is None:
            yield HomeCheck(f"The policy has no rule {run.rule!r} any more, which allowed the run.", False)
            continue
        yield _check_limits(task, contract, rule)
        yield from _counted(run, rule, home)
        if EXACT in {entry.event for entry in entries}:
            yield from _apart(rule, home.nearest)


def _check_release(task: Task, entries: Sequence[Entry]) -> Iterator[HomeCheck]:
    """Whether the ledger has what was released, which the peer has countersigned."""
    loss = sum((entry.loss for entry in entries if entry.event == SPENT), Loss())
    if loss != task.facts.loss:
        yield HomeCheck("The ledger has another privacy loss of the run than the job states.", False)
    events = {entry.event for entry in entries}
    if task.facts.exact is not None and task.side.dataset and EXACT not in events:
        yield HomeCheck("The ledger has no exact release of the run, which made one.", False)
    if COUNTERSIGNED not in events:
        yield HomeCheck("The ledger lacks the peer's countersignature, and the run came to its end.", False)


def _check_limits(task: Task, contract: Contract, rule: Rule) -> HomeCheck:
    """Whether the contract has the limits that the rule asks for which allowed the run, as it stands now."""
    limits = contract.limits[task.role]
    if limits is None or limits.stricter(rule.limits_of(task.facts)) != limits:
        what = f"Rule {rule.name!r}, which allowed the run, asks for stricter limits than the contract has."
        return HomeCheck(what, False)
    return HomeCheck(f"The contract has the limits of rule {rule.name!r}, which allowed the run.", True)


def _counted(run: Entry, rule: Rule, home: AtHome) -> Iterator[HomeCheck]:
    """Whether so many runs might begin under the rule, those from before it was counted included."""
    if rule.runs_total is None:
        return
    number = sum(
        entry.event == RUN
        and entry.peer == run.peer
        and entry.rule in (rule.name, "")
        and home.account.covers(entry.account, entry.dataset)
        and entry.sequence <= run.sequence
        for entry in home.entries
    )
    what = f"It was run {number} of the {rule.runs_total} that rule {rule.name!r} allows (runs_total)."
    yield HomeCheck(what, number <= rule.runs_total)


def _apart(rule: Rule, nearest: int | None) -> Iterator[HomeCheck]:
    """Whether the exact job differs in enough persons from each earlier one, unless in none."""
    least = max(rule.overlap, rule.limits.minimum_group)
    if least < 2:
        return
    if nearest is not None and nearest < least:
        what = (
            f"Its persons differ from those of an earlier exact job in {nearest}; at least {least} have to."
        )
        yield HomeCheck(what, False)
    else:
        yield HomeCheck(
            f"Its persons differ in none or at least {least} from those of each earlier one.", True
        )
