"""The rules of `policy.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from parties.errors import ConfigError
from parties.ledger.accounting import DELTA_TOTAL, Budget
from parties.toml import StrictTable, read
from smc.analyses.disclosure.limits import MAX_LIMIT, ZEROS, Limits
from smc.analyses.studies.facts import Facts, Stated
from smc.analyses.studies.loss import MAX_TERM
from smc.forms import Form

APPROVALS: Final = ("auto", "person")
RECIPIENTS: Final = ("self", "peer", "both")

MAXIMUM_RATIO: Final = "10"
"""How many times as many rows one side of a matching may have, unless a rule says otherwise."""

RATIO_OF_LIKENESS: Final = Fraction(2)
"""The same where rows are paired that are alike: many variants of a record find the nearest."""

NOISY_RUNS: Final = 100
"""How many runs a rule for results with noise allows, unless it says so: a run that fails spends nothing, and
tells a little all the same."""

APPROVAL_DAYS: Final = 30
"""How long an approval by a person holds where a rule says nothing, in days."""

DOMINANCE: Final = "4/5"
"""The largest part of an exact sum that may come from one person, where a rule says nothing but a smallest
group."""

_FEW_RUNS = "Add runs_total = 3, or as many as may lie side by side; or leave row_results out."
_POWER = re.compile(r"2\^-([0-9]{1,2})")


@dataclass(frozen=True, slots=True)
class Rule:
    """What one rule allows. A list that holds `*` allows every name.

    Attributes:
        name: how verdicts call it; `rule` and its number where the file gives none.
        has_name: whether the file gives one.
        analyses: the analyses.
        peers: the peers.
        datasets: the local data sets.
        columns: the local columns.
        recipients: who may get results, among `self` and `peer`.
        types: patterns of comparison types; None where any will do, and no row result of a comparison.
        parameters: of some parameters of an analysis the values that a job may give, which must give one.
        per_job: the largest privacy loss of one job.
        budget: the largest privacy loss of a data set's population towards a peer, for ever.
        minimum_rows: the least number of persons in the local data set, or of rows where it declares none.
        runs_per_day: runs of a data set with a peer in 24 hours, or None.
        runs_total: runs of a data set with a peer, ever, or None.
        has_runs: whether the file says so.
        maximum_seconds: the longest deadline of a job.
        needs_person: whether a person has to approve each job.
        approval_days: how long such an approval holds, in days.
        exact_aggregates: whether figures about several persons may be released without noise.
        row_results: whether somebody may learn something about single rows.
        overlap: the least number of local persons in which two exact jobs differ, unless in none.
        limits: of disclosure.
        has_ratio: whether the file says how many times as many rows one side of a matching may have.
        keys: the local columns by which rows may be matched; None where the file does not say.
        values: the local columns that may be used for anything else; likewise.
        queries: the kinds of figures, such as `mean`; likewise.
        may_state: what a job may state of its own; likewise.
    """

    name: str
    has_name: bool
    analyses: frozenset[str]
    peers: frozenset[str]
    datasets: frozenset[str]
    columns: frozenset[str]
    recipients: frozenset[str]
    types: tuple[str, ...] | None
    parameters: Mapping[str, tuple[str, ...]]
    per_job: Budget
    budget: Budget
    minimum_rows: int
    runs_per_day: int | None
    runs_total: int | None
    has_runs: bool
    maximum_seconds: int
    needs_person: bool
    approval_days: int
    exact_aggregates: bool
    row_results: bool
    overlap: int
    limits: Limits
    has_ratio: bool
    keys: frozenset[str] | None
    values: frozenset[str] | None
    queries: frozenset[str] | None
    may_state: frozenset[Stated] | None

    def limits_of(self, facts: Facts) -> Limits:
        """The limits for a job: those of the rule, and what holds of its kind where the rule says nothing."""
        if self.has_ratio or not facts.asked.likeness:
            return self.limits
        return replace(self.limits, maximum_ratio=RATIO_OF_LIKENESS)


@dataclass(frozen=True, slots=True)
class Policy:
    """All rules of a party; without rules nothing is allowed."""

    rules: tuple[Rule, ...]


def load_policy(path: Path) -> Policy:
    """Read a policy.

    Raises:
        ConfigError: the file is missing, or a rule has an unknown, missing or impossible entry.
    """
    return parse_policy(read(path, ConfigError), path.name)


def parse_policy(document: dict[str, Any], place: str) -> Policy:
    """The policy in a parsed TOML document.

    Raises:
        ConfigError: as `load_policy`.
    """
    top = StrictTable(document, place, ConfigError)
    raw = top.raw("rules") if top.has("rules") else []
    top.close()
    if not isinstance(raw, list):
        raise top.fail("rules", "has to be a list of tables", "Write each rule below [[rules]].")
    rules = tuple(_rule(StrictTable(r, f"{place}, rule {i}", ConfigError), i) for i, r in enumerate(raw, 1))
    names = [rule.name for rule in rules]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{place}: two rules are called {name!r}.", "Rename one.")
    return Policy(rules)


def _rule(table: StrictTable, number: int) -> Rule:
    recipients = frozenset(table.texts("recipients"))
    if not recipients or not recipients <= set(RECIPIENTS):
        raise table.fail("recipients", "is not a list of self, peer, both", 'Write recipients = ["self"].')
    exact_aggregates, row_results = _flag(table, "exact_aggregates"), _flag(table, "row_results")
    budget = Budget(_short(table, "epsilon_total", "0", MAX_TERM), _delta(table, "delta_total"))
    rule = Rule(
        name=table.text("name", f"rule {number}"),
        has_name=table.has("name"),
        analyses=frozenset(table.texts("analyses")),
        peers=frozenset(table.texts("peers")),
        datasets=frozenset(table.texts("datasets")),
        columns=frozenset(table.texts("columns")),
        recipients=frozenset(("self", "peer")) if "both" in recipients else recipients,
        types=_types(table),
        parameters=_parameters(table),
        per_job=Budget(_short(table, "epsilon_per_job", "0", MAX_TERM), _delta(table, "delta_per_job")),
        budget=budget,
        minimum_rows=table.integer("minimum_rows", 0, minimum=0),
        runs_per_day=_optional(table, "runs_per_day"),
        runs_total=_optional(table, "runs_total", NOISY_RUNS if budget.epsilon else None),
        has_runs=table.has("runs_total"),
        maximum_seconds=table.integer("maximum_seconds", 3600, minimum=1),
        needs_person=table.choice("approval", APPROVALS, "person") == "person",
        approval_days=table.integer("approval_days", APPROVAL_DAYS, minimum=1),
        exact_aggregates=exact_aggregates,
        row_results=row_results,
        overlap=_count(table, "overlap"),
        limits=_limits(table, exact=exact_aggregates),
        has_ratio=table.has("maximum_ratio"),
        keys=_words(table, "keys"),
        values=_words(table, "values"),
        queries=_words(table, "queries"),
        may_state=_stated(table),
    )
    table.close()
    if not rule.name.strip():
        raise table.fail("name", "is empty", "Write a name, or leave it out.")
    for key, limit in (("runs_per_day", rule.runs_per_day), ("runs_total", rule.runs_total)):
        if limit is not None and table.has(key) and not table.has("name"):
            raise table.fail(
                key,
                "is counted by the name of the rule, which has none",
                f'Add name = "{rule.name}", or another name, and keep it.',
            )
    if rule.row_results and not rule.has_runs:
        raise table.fail(
            "row_results",
            "is set without runs_total, and each run may reveal one more bit of every row",
            _FEW_RUNS if table.has("name") else f'Add name = "{rule.name}". {_FEW_RUNS}',
        )
    return rule


def _optional(table: StrictTable, key: str, default: int | None = None) -> int | None:
    return table.integer(key, minimum=0) if table.has(key) else default


def _words(table: StrictTable, key: str) -> frozenset[str] | None:
    return frozenset(table.texts(key)) if table.has(key) else None


def _stated(table: StrictTable) -> frozenset[Stated] | None:
    words = _words(table, "may_state")
    if words is None:
        return None
    known = [word.value for word in Stated]
    for word in sorted(words):
        if word not in known:
            raise table.fail("may_state", f"holds {word!r}", f"Known are {', '.join(known)}.")
    return frozenset(map(Stated, words))


def _flag(table: StrictTable, key: str) -> bool:
    value = table.raw(key)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise table.fail(key, "is neither true nor false", "Write it without quotation marks.")
    return value


def _delta(table: StrictTable, key: str) -> Fraction:
    """A delta, written `2^-30`, `"1e-9"` or `"0"`."""
    text = table.raw(key)
    if text is None:
        return DELTA_TOTAL
    power = _POWER.fullmatch(text.strip()) if isinstance(text, str) else None
    delta = Fraction(1, 2 ** int(power[1])) if power else _short(table, key, "0", MAX_TERM)
    if delta >= 1:
        raise table.fail(key, "is not below 1", 'Write it as "2^-30".')
    return delta


def _limits(table: StrictTable, *, exact: bool) -> Limits:
    """The limits; where exact figures about groups are allowed, some follow from the smallest group."""
    group = _count(table, "minimum_group")
    grouped = exact and group > 0
    limits = Limits(
        minimum_group=group,
        dominance=_short(table, "dominance", DOMINANCE if grouped else "1"),
        minimum_set=_count(table, "minimum_set"),
        maximum_ratio=_short(table, "maximum_ratio", MAXIMUM_RATIO),
        minimum_intersection=_count(table, "minimum_intersection", group if grouped else 0),
        zeros=table.choice("zeros", ZEROS, ZEROS[0]),
    )
    if not 0 < limits.dominance <= 1:
        raise table.fail("dominance", "is not above 0 and at most 1", 'Write it as "0.8".')
    if 0 < limits.maximum_ratio < 1:
        raise table.fail("maximum_ratio", "is below 1", "Write 1 or more, or 0 for none.")
    return limits


def _count(table: StrictTable, key: str, default: int = 0) -> int:
    value = table.integer(key, default, minimum=0)
    if value > MAX_LIMIT:
        raise table.fail(key, f"is above {MAX_LIMIT}", "Write a smaller number.")
    return value


def _short(table: StrictTable, key: str, default: str, maximum: int = MAX_LIMIT) -> Fraction:
    value = table.fraction(key, default)
    if max(value.numerator, value.denominator) > maximum:
        raise table.fail(
            key, f"has a numerator or denominator above {maximum}", 'Write it as "0.8" or "4/5".'
        )
    return value


def _parameters(table: StrictTable) -> Mapping[str, tuple[str, ...]]:
    inner = table.table("parameters", required=False)
    named = {name: inner.texts(name) for name, _ in inner.items()}
    for name, values in named.items():
        if not values:
            raise inner.fail(name, "allows no value", 'Write such as output = ["size"].')
    return named


def _types(table: StrictTable) -> tuple[str, ...] | None:
    if not table.has("types"):
        return None
    patterns = tuple(pattern.upper() for pattern in table.texts("types"))
    known = {form.value for form in Form} | {"*"}
    for pattern in patterns:
        parts = pattern.split("-")
        if len(parts) != 3 or not set(parts) <= known:
            raise table.fail(
                "types",
                f"holds {pattern!r}, which is not a comparison type",
                "Write three forms or * joined by hyphens: SS-SS-*.",
            )
    return patterns
