"""The verdict of the own policy on one job. The peer evaluates its own policy; both must allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from parties.errors import BudgetError, PolicyError
from parties.policy.rules import Policy, Rule
from parties.toml import near


@dataclass(frozen=True, slots=True)
class JobView:
    """What a policy looks at.

    Attributes:
        analysis: name of the analysis.
        peer: the other party.
        dataset: the own data set; empty if the job uses none.
        columns: the own catalog columns in use.
        recipients: who gets results, among `self` and `peer`.
        comparison_type: the type `XX-YY-DD`, or None for other analyses.
        epsilon: the privacy loss of the job.
        rows: rows of the own data set; None before it has been read, which leaves that condition open.
        seconds: deadline of the job.
        spent: privacy loss that the data set has had towards this peer.
        runs: runs of this data set with this peer in the last 24 hours.
    """

    analysis: str
    peer: str
    dataset: str
    columns: frozenset[str]
    recipients: frozenset[str]
    comparison_type: str | None
    epsilon: Fraction
    rows: int | None
    seconds: int
    spent: Fraction
    runs: int


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a rule does not allow a job.

    Attributes:
        rule: the rule's name.
        code: `policy` or `budget`.
        what: what does not fit.
        mend: what would make it fit.
    """

    rule: str
    code: str
    what: str
    mend: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the own policy says.

    Attributes:
        allowed: whether some rule allows the whole job.
        needs_person: whether a person has to approve it.
        rule: the rule that allows it.
        epsilon_total: the budget that the rule gives the data set towards the peer.
        reasons: what the rules miss that do not allow it; the nearest rules come first.
    """

    allowed: bool
    needs_person: bool = True
    rule: str = ""
    epsilon_total: Fraction = Fraction(0)
    reasons: tuple[Reason, ...] = ()

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
        mend = " ".join(dict.fromkeys(reason.mend for reason in nearest))
        kind = BudgetError if all(reason.code == "budget" for reason in nearest) else PolicyError
        raise kind(f"The policy does not allow this job: {what}.", mend)


def evaluate(policy: Policy, view: JobView) -> Verdict:
    """Judge a job.

    A job is allowed if a single rule allows all of it. Of several such rules, one that asks for no person
    wins; among equals the first.
    """
    refused: list[list[Reason]] = []
    allowing: list[Rule] = []
    for rule in policy.rules:
        missed = list(_misses(rule, view))
        if missed:
            refused.append(missed)
        else:
            allowing.append(rule)
    refused.sort(key=len)
    reasons = tuple(reason for missed in refused for reason in missed)
    if allowing:
        rule = min(allowing, key=lambda candidate: candidate.needs_person)
        return Verdict(True, rule.needs_person, rule.name, rule.epsilon_total, reasons)
    if not reasons:
        mend = "Add a rule to policy.toml; the comments there show how."
        return Verdict(False, reasons=(Reason("(none)", "policy", "there is no rule at all", mend),))
    return Verdict(False, reasons=reasons)


def _misses(rule: Rule, view: JobView) -> Iterator[Reason]:
    def reason(what: str, mend: str, code: str = "policy") -> Reason:
        return Reason(rule.name, code, what, mend)

    asked = [("analyses", view.analysis, rule.analyses), ("peers", view.peer, rule.peers)]
    if view.dataset:
        asked.append(("datasets", view.dataset, rule.datasets))
        asked += [("columns", column, rule.columns) for column in sorted(view.columns)]
    for key, name, known in asked:
        if name not in known and "*" not in known:
            yield reason(
                f"{name!r} is not among {key}", f"Add {name!r} to {key}. {near(name, sorted(known))}"
            )
    for party in sorted(view.recipients - rule.recipients):
        yield reason(f"{party} may not get results", f"Add {party!r} to recipients.")
    kind = view.comparison_type
    if kind is not None and rule.types is not None and not any(_fits(p, kind) for p in rule.types):
        yield reason(f"type {kind} is not among types", "Add a pattern to types.")
    if view.dataset and view.rows is not None and view.rows < rule.minimum_rows:
        yield reason(f"the data set has fewer than {rule.minimum_rows} rows", "Use more rows.")
    if view.seconds > rule.max_seconds:
        yield reason(
            f"{view.seconds} seconds are over max_seconds {rule.max_seconds}",
            "Set seconds below [limits] lower.",
        )
    if rule.runs_per_day is not None and view.runs >= rule.runs_per_day:
        yield reason(f"{view.runs} runs in 24 hours, {rule.runs_per_day} are allowed", "Try again tomorrow.")
    yield from _budget(rule, view)


def _budget(rule: Rule, view: JobView) -> Iterator[Reason]:
    if not view.epsilon:
        return
    if view.epsilon > rule.epsilon_per_job:
        yield Reason(
            rule.name,
            "budget",
            f"epsilon {view.epsilon} is over epsilon_per_job {rule.epsilon_per_job}",
            "Ask for less epsilon.",
        )
    if view.spent + view.epsilon > rule.epsilon_total:
        left = max(Fraction(0), rule.epsilon_total - view.spent)
        yield Reason(
            rule.name,
            "budget",
            f"epsilon {view.epsilon} asked, {view.spent} spent, {left} left of {rule.epsilon_total} in total",
            "Ask for less epsilon; what is spent does not come back.",
        )


def _fits(pattern: str, comparison_type: str) -> bool:
    forms = comparison_type.replace("[bits]", "").split("-")
    return all(part in ("*", form) for part, form in zip(pattern.split("-"), forms, strict=True))
