"""What a party can hold against its own covert run at home, beside the audit: its ledger and its policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from parties.contracts.contract import Contract
from parties.jobs.checks.task import Task
from parties.ledger.entries import COUNTERSIGNED, EXACT, RUN, SPENT, Entry
from parties.policy.rules import Policy
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


def check_at_home(
    task: Task, contract: Contract, entries: tuple[Entry, ...], policy: Policy, *, whole: bool
) -> Iterator[HomeCheck]:
    """Hold ledger and policy of a party against the contract of a covert run of its own.

    Args:
        task: the job as this party understands it.
        contract: its contract, which both have signed.
        entries: of the ledger about the contract.
        policy: in force now.
        whole: whether both have signed the record of the whole run.
    """
    runs = [entry for entry in entries if entry.event == RUN]
    about = (task.side.dataset, task.peer)
    if not runs:
        yield HomeCheck("The ledger has no entry of the run: it does not count for runs_total.", False)
    elif any((entry.dataset, entry.peer) != about for entry in runs):
        yield HomeCheck("The ledger has the run with another data set or peer than the contract.", False)
    else:
        yield HomeCheck(f"The run stands in the ledger, as entry {runs[0].sequence}.", True)
    if whole:
        yield from _released(task, entries)
    for run in runs[:1]:
        yield _limited(task, contract, run.rule, policy)


def _released(task: Task, entries: tuple[Entry, ...]) -> Iterator[HomeCheck]:
    """Whether the ledger has what was released, which the peer has countersigned."""
    loss = sum((entry.loss for entry in entries if entry.event == SPENT), Loss())
    if loss != task.facts.loss:
        yield HomeCheck("The ledger has another privacy loss of the run than the job states.", False)
    events = {entry.event for entry in entries}
    if task.facts.exact is not None and task.side.dataset and EXACT not in events:
        yield HomeCheck("The ledger has no exact release of the run, which made one.", False)
    if COUNTERSIGNED not in events:
        yield HomeCheck("The ledger lacks the peer's countersignature, and the run came to its end.", False)


def _limited(task: Task, contract: Contract, name: str, policy: Policy) -> HomeCheck:
    """Whether the contract has the limits that the rule asks for which allowed the run, as it stands now."""
    rule = next((rule for rule in policy.rules if rule.name == name), None)
    if rule is None:
        return HomeCheck(f"The policy has no rule {name!r} any more, which allowed the run.", False)
    limits = contract.limits[task.role]
    if limits is None or limits.stricter(rule.limits_of(task.facts)) != limits:
        what = f"Rule {name!r}, which allowed the run, asks for stricter limits than the contract has."
        return HomeCheck(what, False)
    return HomeCheck(f"The contract has the limits of rule {name!r}, which allowed the run.", True)
