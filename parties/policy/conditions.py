"""The conditions of a rule, one by one, as a job meets or misses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import Final

from commons.errors import near
from parties.audit_terms import COVERT, AuditTerms
from parties.errors import BudgetError
from parties.ledger.accounting import Budget, Runs, Spent, describe_loss, show_number
from parties.policy.rules import Rule
from smc.analyses.studies.facts import Facts, Stated
from smc.forms import ComparisonType

BY_ROWS: Final = frozenset({"minimum_rows", "minimum_set"})
"""The conditions that depend on local rows: they refuse a job, and never choose the rule that allows it."""

RUNS: Final = 3
"""How many more runs a rule is advised to allow where it has to bound them."""


@dataclass(frozen=True, slots=True)
class JobView:
    """What a policy looks at.

    Attributes:
        analysis: name of the analysis.
        peer: the other party.
        dataset: the local data set; empty if the job uses none.
        columns: the local catalog columns in use.
        recipients: who gets results, among `self` and `peer`.
        facts: what the analysis says of the job.
        rows: rows of the local data set; None before it has been read, which leaves that condition open.
        persons: whom they are about; as many as rows where the data set declares no persons.
        seconds: deadline of the job.
        spent: what has been spent on the data set's account towards this peer.
        runs: earlier runs on the same people with this peer, by the name of the rule that allowed them.
        names_of_persons: the local catalog columns that name persons and by which exact tables would sort
            rows.
        parameters: the parameters that are texts, as the job gives them.
        keys: the local catalog columns by which rows are matched.
        values: those that are used for anything else.
        naming: those that the data set declares as key or person.
        network: whether the link that the job is planned for can make comparisons silent.
        answers: how many answers about rows of the peer a run gives by the local data, at most.
        audit: how its runs are audited; None unless it is covert.
    """

    analysis: str
    peer: str
    dataset: str
    columns: frozenset[str]
    recipients: frozenset[str]
    facts: Facts
    rows: int | None
    persons: int | None
    seconds: int
    spent: Spent
    runs: Callable[[str], Runs]
    names_of_persons: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    keys: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    naming: frozenset[str] = frozenset()
    network: bool = False
    answers: int = 0
    audit: AuditTerms | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a rule, held against a job.

    Attributes:
        rule: the rule's name.
        key: the rule's entry.
        holds: whether the job meets it.
        code: `policy` or `budget`.
        what: how job and rule stand, or what does not fit.
        hint: what would make it fit; empty if it holds.
        by_amount: whether it fails by an amount alone, used up or too large, and not by what the job is.
    """

    rule: str
    key: str
    holds: bool
    code: str
    what: str
    hint: str = ""
    by_amount: bool = False


def conditions(rule: Rule, view: JobView) -> Iterator[Condition]:
    """All conditions of a rule that bear on a job."""

    def names(key: str, asked: Sequence[str], known: AbstractSet[str]) -> Condition:
        missing = [name for name in asked if name not in known and "*" not in known]
        if not missing:
            return pass_(key, f"{', '.join(map(repr, asked)) or 'nothing'} asked")
        hint = near(missing[0], sorted(known))
        what = f"{', '.join(map(repr, missing))} {'is' if len(missing) == 1 else 'are'} not among {key}"
        return missed(key, what, f"Add {missing[0]!r} to {key}. {hint}")

    def pass_(key: str, what: str) -> Condition:
        return Condition(rule.name, key, True, "policy", what)

    def missed(key: str, what: str, hint: str) -> Condition:
        return Condition(rule.name, key, False, "policy", what, hint)

    yield names("analyses", sorted({view.analysis, *view.facts.asked.parts}), rule.analyses)
    yield names("peers", [view.peer], rule.peers)
    if view.dataset:
        yield names("datasets", [view.dataset], rule.datasets)
        yield names("columns", sorted(view.columns), rule.columns)
    outside = sorted(view.recipients - rule.recipients)
    if outside:
        yield missed("recipients", f"{outside[0]} may not get results", f"Add {outside[0]!r} to recipients.")
    else:
        yield pass_("recipients", " and ".join(sorted(view.recipients)) or "nobody")
    kind = view.facts.comparison_type
    if kind is not None:
        yield from _type(rule, view.facts, kind)
    yield from _named_parameters(rule, view)
    yield from _request_conditions(rule, view)
    if not rule.lpn:
        yield _lpn(rule, view)
    if view.dataset and view.rows is not None and view.persons is not None:
        yield from _least_rows(rule, view, view.rows, view.persons)
    lower = "Set seconds below [limits] lower."
    yield _at_most(rule, "maximum_seconds", view.seconds, "seconds", rule.maximum_seconds, lower)
    yield from _kinds(rule, view, kind)
    yield from _audit_condition(rule, view.audit)
    yield from _runs(rule, view)
    if view.answers:
        yield _answers(rule, view)
    if view.facts.loss:
        yield from _losses(rule, view)


def _at_most(rule: Rule, key: str, value: int, unit: str, limit: int, hint: str) -> Condition:
    if value <= limit:
        return Condition(rule.name, key, True, "policy", f"{value} of at most {limit} {unit}")
    what = f"{value} {unit} are over {key} {limit}"
    return Condition(rule.name, key, False, "policy", what, hint, by_amount=True)


def _runs(rule: Rule, view: JobView) -> Iterator[Condition]:
    """Whether one more run fits; those of jobs that match rows have to be bounded."""
    runs = view.runs(rule.name)
    if rule.runs_per_day is not None:
        again = "Try again tomorrow."
        yield _at_most(rule, "runs_per_day", runs.day + 1, "runs in 24 hours", rule.runs_per_day, again)
    if rule.runs_total is not None:
        over = "Raise runs_total, if results of so many runs may lie side by side."
        yield _at_most(rule, "runs_total", runs.ever + 1, "runs", rule.runs_total, over)
    if not rule.has_runs and (view.facts.matches or view.facts.exact is not None):
        what = (
            "the job matches rows, and by whether limits hold, whoever brings chosen rows can ask in each "
            "run whether a person is there; the rule does not bound the runs"
            if view.facts.matches
            else "of figures without noise each run tells a little more, even one that is refused; the rule "
            "does not bound the runs"
        )
        hint = f"Bound the runs: {_settings(rule, *_missing(rule, view))}."
        yield Condition(rule.name, "runs_total", False, "policy", what, hint)


def _audit_condition(rule: Rule, audit: AuditTerms | None) -> Iterator[Condition]:
    """Whether runs can be audited where the rule asks for it, and by an auditor whom it names."""
    if audit is None:
        if rule.security == COVERT:
            what = "the rule asks for runs that can be audited, and the job is not covert"
            named = f'auditor = "{min(rule.auditors)}"' if rule.auditors else "auditor"
            hint = f'Write security = "{COVERT}" below [job], and [audit] with {named}, key and rate.'
            yield Condition(rule.name, "security", False, "policy", what, hint)
        return
    if rule.auditors.get(audit.auditor) != audit.key:
        what = f"the auditor {audit.auditor!r} with key {audit.key[:16]} is not among auditors"
        hint = (
            "Compare the fingerprint with the auditor, and add "
            f'auditors = {{ {audit.auditor} = "{audit.key}" }} to the rule.'
        )
        yield Condition(rule.name, "auditors", False, "policy", what, hint)
    else:
        yield Condition(rule.name, "auditors", True, "policy", f"audited by {audit.auditor!r}")
    if audit.rate < rule.audit_rate:
        what = f"runs are audited with probability {audit.rate}, and audit_rate is {rule.audit_rate}"
        hint = f'Write rate = "{rule.audit_rate}" below [audit].'
        yield Condition(rule.name, "audit_rate", False, "policy", what, hint)


def _answers(rule: Rule, view: JobView) -> Condition:
    """Whether all runs that the rule allows give few enough answers by the local model."""
    runs = rule.runs_total
    if rule.answers_total is None or runs is None:
        what = (
            f"each run answers up to {view.answers} rows of the peer's choice by the local model, and "
            "enough answers find it; the rule does not bound them"
        )
        wanted = view.answers * (RUNS if runs is None else runs)
        hint = f"Bound the answers: {_settings(rule, *_missing(rule, view), f'answers_total = {wanted}')}."
        return Condition(rule.name, "answers_total", False, "policy", what, hint)
    return _at_most(
        rule,
        "answers_total",
        view.answers * runs,
        f"answers ({runs} runs of {view.answers} rows)",
        rule.answers_total,
        "Set maximum_rows below [parameters] lower, or runs_total in the rule; or let the model's side alone "
        "receive a validation.",
    )


def _kinds(rule: Rule, view: JobView, kind: ComparisonType | None) -> Iterator[Condition]:
    """Whether the rule allows the kinds of results that the job has."""
    if view.facts.row_results and rule.row_results:
        yield Condition(rule.name, "row_results", True, "policy", "results about single rows are allowed")
    elif view.facts.row_results:
        types = () if kind is None or rule.types is not None else (f'types = ["{_pattern(kind)}"]',)
        settings = _settings(rule, *_missing(rule, view), "row_results = true", *types)
        what = "somebody would learn something about single rows"
        hint = f"{_instead(view.facts)}; or {settings}."
        yield Condition(rule.name, "row_results", False, "policy", what, hint)
    if view.facts.exact is not None and rule.exact_aggregates:
        what = "exact figures about several persons are allowed"
        yield Condition(rule.name, "exact_aggregates", True, "policy", what)
    elif view.facts.exact is not None:
        what = "the results are exact figures about several persons"
        settings = _settings(rule, *_missing(rule, view), "exact_aggregates = true")
        hint = f"Add noise to the job (epsilon), or {settings}."
        yield Condition(rule.name, "exact_aggregates", False, "policy", what, hint)
    if view.facts.exact is not None and view.facts.asked.parts:
        figures, unit = view.facts.exact.count, "exact figures in one plan"
        lower = f"Ask for fewer of them; or {_settings(rule, f'figures_per_job = {figures}')}."
        yield _at_most(rule, "figures_per_job", figures, unit, rule.figures_per_job, lower)
    if view.names_of_persons:
        named = " and ".join(map(repr, view.names_of_persons))
        what = f"an exact table by {named}, which tells persons apart, shows who is in the data"
        hint = "Add noise to the job (epsilon), or sort rows by a column whose values many persons share."
        yield Condition(rule.name, "exact_aggregates", False, "policy", what, hint)


def _settings(rule: Rule, *entries: str) -> str:
    """What to write into a rule, lines of TOML joined by commas."""
    whose = f"rule {rule.name!r}" if rule.has_name else rule.name
    return f"in {whose} of the policy set {', '.join(entries)}"


def _missing(rule: Rule, view: JobView) -> tuple[str, ...]:
    """What a rule lacks to bound its runs: a name to count them by, and how many, with those so far."""
    if rule.has_runs:
        return ()
    total = f"runs_total = {view.runs(rule.name).ever + RUNS}"
    return (total,) if rule.has_name else (f'name = "{rule.name}"', total)


def _instead(facts: Facts) -> str:
    """What a job could ask for that tells nobody of single rows."""
    if facts.exact is not None:
        return (
            "Add noise to the job (epsilon), where its analysis has it (for a linear model the kind "
            "regression of statistics); or ask for less, of matches for their number alone"
        )
    return "Ask for a result that stays shared or is about groups"


def _type(rule: Rule, facts: Facts, kind: ComparisonType) -> Iterator[Condition]:
    """Whether the rule allows a comparison type; one whose result somebody sees has to be named."""
    if rule.types is None and not (facts.row_results and rule.row_results):
        return
    if any(fits(pattern, kind) for pattern in rule.types or ()):
        yield Condition(rule.name, "types", True, "policy", str(kind))
        return
    what = (
        f"type {kind} is not among types"
        if rule.types is not None
        else f"a comparison of type {kind} tells of single rows, and the rule names no types"
    )
    hint = (
        f"Add {_pattern(kind)!r} to types."
        if rule.types is not None
        else f'Add types = ["{_pattern(kind)}"].'
    )
    yield Condition(rule.name, "types", False, "policy", what, hint)


def _named_parameters(rule: Rule, view: JobView) -> Iterator[Condition]:
    """One condition for each parameter that the rule names, and for those that it would have to."""
    for key in sorted(view.facts.asked.named - rule.parameters.keys()):
        value = view.parameters.get(key, "")
        what = (
            f"a job with {key} = {value!r} tells more than others of {view.analysis}, and the rule does not "
            f"name {key}"
        )
        hint = f'Add parameters = {{ {key} = ["{value}"] }} to the rule, if such jobs may run.'
        yield Condition(rule.name, "parameters", False, "policy", what, hint)
    for key, allowed in sorted(rule.parameters.items()):
        given = view.parameters.get(key)
        if given in allowed:
            yield Condition(rule.name, "parameters", True, "policy", f"{key} = {given!r}")
            continue
        said = f"gives {key} as {given!r}" if given is not None else f"does not say {key}"
        what = f"the job {said}, allowed is {' or '.join(map(repr, allowed))}"
        hint = f"Write {key} = {allowed[0]!r} below [parameters], or add the value to the rule."
        yield Condition(rule.name, "parameters", False, "policy", what, hint)


def _lpn(rule: Rule, view: JobView) -> Condition:
    """Whether a job keeps off learning parity with noise, whatever the planner chooses."""
    allow = "or write lpn = true in the rule."
    if view.facts.lpn and view.facts.matches:
        what = "the job matches rows by keys, and all such matching rests on LPN"
        hint = "Write lpn = true in the rule: there is no matching by keys without it."
    elif view.facts.lpn:
        what = "the engine of the job takes silent transfers, which rest on LPN, or may"
        hint = f'Write engine = "oblivious" below [parameters], {allow}'
    elif view.network:
        what = "the job is planned for a link on which comparisons may be silent, which rests on LPN"
        hint = f"Write rtt_ms = 0 and mbit = 1000000 below [network] in the job, {allow}"
    else:
        return Condition(rule.name, "lpn", True, "policy", "nothing in the job rests on LPN")
    return Condition(rule.name, "lpn", False, "policy", what, hint)


def _request_conditions(rule: Rule, view: JobView) -> Iterator[Condition]:
    """What columns are used for, and what a job asks and states of its own."""
    facts, asked = view.facts, view.facts.asked
    without = facts.exact is not None
    usual = view.naming if without else frozenset({"*"})
    keys = rule.keys if rule.keys is not None else usual
    if strange := sorted(view.keys - keys) if "*" not in keys else []:
        names = ", ".join(map(repr, strange))
        what = f"rows would be matched by {names}"
        what += ", not among keys" if rule.keys is not None else ", neither key nor person of the data set"
        listed = ", ".join(f'"{name}"' for name in sorted(view.keys | (rule.keys or frozenset())))
        hint = f"Write keys = [{listed}] in the rule; exact figures then count who has which value."
        yield Condition(rule.name, "keys", False, "policy", what, hint)
    elif view.keys and rule.keys is not None:
        yield Condition(rule.name, "keys", True, "policy", f"matched by {_list_names(view.keys)}")
    for key, given, allowed in (
        ("values", view.values, rule.values),
        ("queries", asked.queries, rule.queries),
        ("may_state", frozenset(each.value for each in asked.states), _may_state(rule, exact=without)),
    ):
        if not given or allowed is None or "*" in allowed:
            continue
        if left := sorted(given - allowed):
            what = f"{', '.join(map(repr, left))} {'is' if len(left) == 1 else 'are'} not among {key}"
            listed = ", ".join(f'"{name}"' for name in sorted(given | allowed))
            hint = f"Write {key} = [{listed}] in the rule."
            if (
                key == "may_state"
                and without
                and rule.limits.allow_one_figure
                and Stated.CENTRES.value in left
            ):
                what = "under limits no exact clusters begin at stated centres, whatever may_state says"
                hint = "Leave out centres, so that clusters begin elsewhere, or add noise (epsilon)."
            yield Condition(rule.name, key, False, "policy", what, hint)
        else:
            yield Condition(rule.name, key, True, "policy", f"{_list_names(given)} asked")


def _may_state(rule: Rule, *, exact: bool) -> frozenset[str] | None:
    """What a job may state of its own; without noise no bounds and centres, unless the rule says so.

    Under limits no rule lets exact clusters begin at stated centres: the lines between them would lie where a
    job wants them.
    """
    if rule.may_state is None and not exact:
        return None
    words = rule.may_state if rule.may_state is not None else {Stated.WHERE, Stated.DERIVED}
    if exact and rule.limits.allow_one_figure:
        words -= {Stated.CENTRES}
    return frozenset(each.value for each in words)


def _list_names(names: AbstractSet[str]) -> str:
    return " and ".join(map(repr, sorted(names)))


def _least_rows(rule: Rule, view: JobView, rows: int, persons: int) -> Iterator[Condition]:
    """The least sizes, as far as they follow from the local rows alone."""
    minimum_set = rule.limits.minimum_set if view.facts.matches else 0
    unit = "rows" if persons == rows else "persons"
    for key, count, minimum, what in (
        ("minimum_rows", persons, rule.minimum_rows, unit),
        ("minimum_set", rows, minimum_set, "rows"),
    ):
        if count < minimum:
            text = f"the data set has fewer than {minimum} {what}"
            yield Condition(rule.name, key, False, "policy", text, f"Use more {what}.", by_amount=True)
        elif minimum:
            yield Condition(rule.name, key, True, "policy", f"at least {minimum} {what}")


def _losses(rule: Rule, view: JobView) -> Iterator[Condition]:
    asked = describe_loss(view.facts.loss)
    alone = _epsilon(Spent() + view.facts.loss, rule.per_job)
    limit = f"{show_number(rule.per_job.epsilon)} at delta {show_number(rule.per_job.delta)}"
    too_much = alone is None or alone > rule.per_job.epsilon
    if too_much:
        what = f"{asked} is over epsilon_per_job {limit}"
        yield Condition(rule.name, "epsilon_per_job", False, "budget", what, "Ask for less.", by_amount=True)
    else:
        yield Condition(rule.name, "epsilon_per_job", True, "budget", f"{asked} of at most {limit}")
    total = _epsilon(view.spent + view.facts.loss, rule.budget)
    spent = _epsilon(view.spent, rule.budget)
    left = Fraction(0) if spent is None else max(Fraction(0), rule.budget.epsilon - spent)
    gone = "all" if spent is None else f"epsilon {show_number(spent)}"
    what = (
        f"{asked} asked, {gone} spent, epsilon {show_number(left, ROUND_FLOOR)} left of "
        f"{show_number(rule.budget.epsilon)} at delta {show_number(rule.budget.delta)} in total"
    )
    jobs = view.spent.jobs_left(rule.budget.delta, view.facts.loss)
    if jobs is not None:
        what += f"; its delta has room for {jobs} such jobs"
    fits = total is not None and total <= rule.budget.epsilon
    hint = (
        "What is spent does not come back." if too_much else "Ask for less; what is spent does not come back."
    )
    yield Condition(
        rule.name, "epsilon_total", fits, "budget", what, "" if fits else hint, by_amount=not fits
    )


def _epsilon(spent: Spent, budget: Budget) -> Fraction | None:
    """Losses as an epsilon at the budget's delta; None if their own deltas leave nothing of it."""
    try:
        return spent.epsilon_at(budget.delta)
    except BudgetError:
        return None


def fits(pattern: str, kind: ComparisonType) -> bool:
    """Whether a comparison type is one of a pattern of `types`, such as `PN-NP-*`."""
    forms = _pattern(kind).split("-")
    return all(part in ("*", form) for part, form in zip(pattern.split("-"), forms, strict=True))


def _pattern(kind: ComparisonType) -> str:
    return f"{kind.x.value}-{kind.y.value}-{kind.delta.value}"
