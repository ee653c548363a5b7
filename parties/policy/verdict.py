"""The verdict of the local policy on one job. The peer evaluates its own policy; both must allow."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from parties.errors import BudgetError, PolicyError
from parties.ledger.accounting import Budget, RunLimits
from parties.persons.roles import Needed
from parties.policy.conditions import BY_ROWS, Condition, JobView, conditions
from parties.policy.rules import APPROVAL_DAYS, Policy
from smc.analyses.disclosure.limits import NO_LIMITS, Limits

NO_BUDGET: Final = Budget(Fraction(0))
"""Nothing may be spent."""

NO_RUNS: Final = RunLimits("", 0, 0)
"""Nothing may run."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the local policy says.

    Attributes:
        allowed: whether some rule allows the whole job.
        needs_person: whether a person has to approve it.
        rule: the rule that allows it.
        budget: what the rule lets be spent on the data set's account towards the peer.
        run_limits: how often the rule lets jobs about the same people run.
        limits: what the rule asks of results.
        overlap: the least number of local persons in which two exact jobs differ, unless in none.
        conditions: all conditions of all rules, in the order of the policy.
        unheld: earlier exact jobs that this one cannot be held against, by their names; a person has to look.
        approval_days: how long an approval by a person holds, in days.
        needed: the approvals by persons in a role that the rule asks for; None for those of anybody.
        evidence_days: for how many days the record of a covert run is kept that is not due.
    """

    allowed: bool
    needs_person: bool = True
    rule: str = ""
    budget: Budget = NO_BUDGET
    run_limits: RunLimits = NO_RUNS
    limits: Limits = NO_LIMITS
    overlap: int = 0
    conditions: tuple[Condition, ...] = ()
    unheld: tuple[str, ...] = ()
    approval_days: int = APPROVAL_DAYS
    needed: Needed | None = None
    evidence_days: int = 0

    @property
    def reasons(self) -> tuple[Condition, ...]:
        """What the job misses of the rules that do not allow it, the nearest rule first.

        That is one that allows such jobs and has an amount used up: to follow the hint of another would
        loosen the policy. Then come those about the job's analysis, and of these those that miss least.
        """
        missed = [condition for condition in self.conditions if not condition.holds]
        count = Counter(condition.rule for condition in missed)
        others = {condition.rule for condition in missed if condition.key == "analyses"}
        unlike = {condition.rule for condition in missed if not condition.by_amount}
        return tuple(
            sorted(missed, key=lambda one: (one.rule in unlike, one.rule in others, count[one.rule]))
        )

    def require(self) -> None:
        """Do nothing if the job is allowed.

        Raises:
            BudgetError: only the privacy budget stands against it.
            PolicyError: no rule allows it.
        """
        if self.allowed:
            return
        nearest = [reason for reason in self.reasons if reason.rule == self.reasons[0].rule]
        what = "; ".join(f"rule {reason.rule!r}: {reason.what}" for reason in nearest)
        hint = " ".join(dict.fromkeys(reason.hint for reason in nearest))
        kind = BudgetError if all(reason.code == "budget" for reason in nearest) else PolicyError
        raise kind(f"The policy does not allow this job: {what}.", hint)


def evaluate(policy: Policy, view: JobView) -> Verdict:
    """Judge a job.

    A job is allowed if a single rule allows all of it. Of several rules that do so by declarations, one that
    asks for no person wins; among equals the first. Its limits are those that go into the contract. Whether
    there are rows enough decides afterwards: else a peer could tell by the rule that answers.
    """
    judged = [(rule, tuple(conditions(rule, view))) for rule in policy.rules]
    every = tuple(condition for _, found in judged for condition in found)
    allowing = [
        (rule, all(condition.holds for condition in found))
        for rule, found in judged
        if all(condition.holds or condition.key in BY_ROWS for condition in found)
    ]
    rule, allowed = min(allowing, key=lambda each: each[0].needs_person, default=(None, False))
    if rule is not None and allowed:
        overlap = max(rule.overlap, rule.limits.minimum_group)
        return Verdict(
            True,
            rule.needs_person,
            rule.name,
            rule.budget,
            RunLimits(rule.name, rule.runs_per_day, rule.runs_total),
            rule.limits_of(view.facts),
            overlap,
            every,
            approval_days=rule.approval_days,
            needed=rule.needed,
            evidence_days=rule.evidence_days,
        )
    if not every:
        hint = "Add a rule to policy.toml; the comments there show how."
        every = (Condition("(none)", "rules", False, "policy", "there is no rule at all", hint),)
    return Verdict(False, conditions=every)
