"""The rules of `policy.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from commons.settings.bounds import Between, OneOf, Terms
from commons.settings.marks import (
    Given,
    Inline,
    Item,
    Length,
    Matching,
    Parse,
    Powers,
    Read,
    UnfitError,
    Unread,
    Wrong,
)
from commons.settings.reader import Tables, read_declared
from commons.settings.table import StrictTable
from commons.settings.toml import parse, text_of
from parties.audit_terms import COVERT
from parties.errors import ConfigError
from parties.ledger.accounting import DELTA_TOTAL, Budget
from parties.persons.roles import Needed
from parties.texts import FINGERPRINT
from smc.analyses.disclosure.limits import MAX_LIMIT, Limits
from smc.analyses.studies.facts import MAX_PARTS, Facts, Stated
from smc.analyses.studies.loss import MAX_TERM
from smc.forms import Form

APPROVALS: Final = ("auto", "person")
RECIPIENTS: Final = ("self", "peer", "both")

MAXIMUM_RATIO: Final = Fraction(10)
"""How many times as many rows one side of a matching may have, unless a rule says otherwise."""

RATIO_OF_LIKENESS: Final = Fraction(2)
"""The same where rows are paired that are alike: many variants of a record find the nearest."""

NOISY_RUNS: Final = 100
"""How many runs a rule for results with noise allows, unless it says so: a run that fails spends nothing, and
tells a little all the same."""

APPROVAL_DAYS: Final = 30
"""How long an approval by a person holds where a rule says nothing, in days."""

DOMINANCE: Final = Fraction(4, 5)
"""The largest part of an exact sum that may come from one person, where a rule says nothing but a smallest
group."""

_FINGERPRINT: Final = Matching(
    FINGERPRINT, "is not 64 hexadecimal digits", "Copy it from `duetto evidence auditor show`."
)
_AUDITORS: Final = "Add auditors = { NAME = KEY }, as `duetto evidence auditor show` prints it."
_STATED = f"Known are {', '.join(word.value for word in Stated)}."
_FEW_RUNS = "Add runs_total = 3, or as many as may lie side by side; or leave row_results out."


def _parse_type(text: str) -> str:
    pattern = text.upper()
    parts = pattern.split("-")
    if len(parts) != 3 or not set(parts) <= {form.value for form in Form} | {"*"}:
        raise ConfigError(
            f"{pattern!r} is not a comparison type.",
            "Write three forms or * joined by hyphens: SS-SS-*.",
        )
    return pattern


def _parse_approval(value: Any, place: str) -> str | Needed:
    if isinstance(value, Mapping):
        return read_declared(Needed, StrictTable(value, place, ConfigError))
    if value not in APPROVALS:
        raise ConfigError(
            f"{place} is not one of {', '.join(APPROVALS)}, nor a table.",
            'Write approval = "person", or approval = { role = "steward", count = 2 }.',
        )
    return str(value)


_APPROVAL: Final = {"anyOf": [{"enum": list(APPROVALS)}, Tables(Needed).schema]}

Names = frozenset[str]
Count = Annotated[int, Between(minimum=0)]
Term = Annotated[Fraction, Terms(MAX_TERM)]
Delta = Annotated[Fraction, Terms(MAX_TERM), Powers()]


@dataclass(frozen=True, slots=True)
class Rule:
    """What one rule allows. A list that holds `*` allows every name.

    Attributes:
        number: its place in the file, from 1.
        name: how verdicts call it; `rule` and its number where the file gives none.
        has_name: whether the file gives one.
        analyses: the analyses.
        peers: the peers.
        datasets: the local data sets.
        columns: the local columns.
        recipients: who may get results, among `self` and `peer`; `both` in the file is the two.
        types: patterns of comparison types; None where any will do, and no row result of a comparison.
        parameters: of some parameters of an analysis the values that a job may give, which must give one.
        epsilon_per_job: the largest privacy loss of one job, at `delta_per_job`.
        delta_per_job: see there; below 1.
        epsilon_total: the largest privacy loss of a data set's population towards a peer, for ever.
        delta_total: at this delta, below 1.
        minimum_rows: the least number of persons in the local data set, or of rows where it declares none.
        runs_per_day: runs of a data set with a peer in 24 hours, or None.
        runs_total: runs of a data set with a peer, ever, or None.
        has_runs: whether the file says so.
        maximum_seconds: the longest deadline of a job.
        approval: whether a person has to approve each job, or how many in which role of persons.toml.
        approval_days: how long such an approval holds, in days.
        exact_aggregates: whether figures about several persons may be released without noise.
        row_results: whether somebody may learn something about single rows.
        figures_per_job: how many figures without noise a plan may hold.
        answers_total: how many answers by a local model all runs together may give; None for none.
        overlap: the least number of local persons in which two exact jobs differ, unless in none.
        limits: of disclosure; where exact figures about groups are allowed, some follow from the smallest
            group unless the file says otherwise.
        has_dominance: whether the file says which part of a sum may come from one person.
        has_ratio: whether the file says how many times as many rows one side of a matching may have.
        has_intersection: whether the file says how many matches there have to be.
        keys: the local columns by which rows may be matched; None where the file does not say.
        values: the local columns that may be used for anything else; likewise.
        queries: the kinds of figures, such as `mean`; likewise.
        may_state: what a job may state of its own; likewise.
        lpn: whether a job may rest on learning parity with noise.
        security: `covert` where only jobs may run whose runs can be audited.
        auditors: who may audit covert jobs: fingerprints of their keys, by their names.
        audit_rate: the least probability with which a run of a covert job is audited.
        evidence_days: for how many days the record of a covert run is kept that is not due for an audit.

    Raises:
        UnfitError: the entries do not fit each other.
    """

    number: Annotated[int, Unread()]
    analyses: Names
    peers: Names
    datasets: Names
    columns: Names
    recipients: Annotated[
        frozenset[Literal["self", "peer", "both"]],
        Length(1),
        Wrong("is not a list of self, peer, both", 'Write recipients = ["self"].'),
    ]
    has_name: Annotated[bool, Given("name")]
    has_runs: Annotated[bool, Given("runs_total")]
    has_dominance: Annotated[bool, Given("dominance")]
    has_ratio: Annotated[bool, Given("maximum_ratio")]
    has_intersection: Annotated[bool, Given("minimum_intersection")]
    limits: Annotated[Limits, Inline()]
    name: str = ""
    types: tuple[Annotated[str, Parse(_parse_type)], ...] | None = None
    parameters: Mapping[str, Annotated[tuple[str, ...], Length(1)]] = field(default_factory=dict)
    epsilon_per_job: Term = Fraction(0)
    delta_per_job: Delta = DELTA_TOTAL
    epsilon_total: Term = Fraction(0)
    delta_total: Delta = DELTA_TOTAL
    minimum_rows: Count = 0
    runs_per_day: Count | None = None
    runs_total: Count | None = None
    maximum_seconds: Annotated[int, Between(minimum=1)] = 3600
    approval: Annotated[str | Needed, Read(_parse_approval, _APPROVAL)] = "person"
    approval_days: Annotated[int, Between(minimum=1)] = APPROVAL_DAYS
    exact_aggregates: bool = False
    row_results: bool = False
    figures_per_job: Annotated[int, Between(1, MAX_PARTS, f"Write 1 to {MAX_PARTS}.")] = 1
    answers_total: Count | None = None
    lpn: bool = True
    security: Literal["private", "covert"] = "private"
    auditors: Mapping[str, Annotated[str, _FINGERPRINT]] = field(default_factory=dict)
    audit_rate: Term = Fraction(0)
    evidence_days: Annotated[int, Between(0, 36500)] = 0
    overlap: Annotated[int, Between(0, MAX_LIMIT, f"Write 0 to {MAX_LIMIT}.")] = 0
    keys: Names | None = None
    values: Names | None = None
    queries: Names | None = None
    may_state: Annotated[frozenset[Stated] | None, OneOf((), _STATED)] = None

    def __post_init__(self) -> None:
        self._check()
        limits = self.limits
        if self.exact_aggregates and limits.minimum_group:
            if not self.has_dominance:
                limits = replace(limits, dominance=DOMINANCE)
            if not self.has_intersection:
                limits = replace(limits, minimum_intersection=limits.minimum_group)
        if not self.has_ratio:
            limits = replace(limits, maximum_ratio=MAXIMUM_RATIO)
        object.__setattr__(self, "limits", limits)
        if "both" in self.recipients:
            object.__setattr__(self, "recipients", frozenset(("self", "peer")))
        if not self.has_runs and self.epsilon_total:
            object.__setattr__(self, "runs_total", NOISY_RUNS)

    def _check(self) -> None:
        """Check what does not follow from one entry alone, and give the rule a name."""
        if not self.has_name:
            object.__setattr__(self, "name", f"rule {self.number}")
        if not self.name.strip():
            raise UnfitError("name", "is empty", "Write a name, or leave it out.")
        for key, delta in (("delta_per_job", self.delta_per_job), ("delta_total", self.delta_total)):
            if delta >= 1:
                raise UnfitError(key, "is not below 1", 'Write it as "2^-30".')
        if self.audit_rate > 1:
            raise UnfitError("audit_rate", "is above 1", 'Write it as "1/10".')
        if self.security == COVERT and not self.auditors:
            raise UnfitError("security", "is covert, and no auditors are named", _AUDITORS)
        if not 0 < self.limits.dominance <= 1:
            raise UnfitError("dominance", "is not above 0 and at most 1", 'Write it as "0.8".')
        if 0 < self.limits.maximum_ratio < 1:
            raise UnfitError("maximum_ratio", "is below 1", "Write 1 or more, or 0 for none.")
        for key, limit in (("runs_per_day", self.runs_per_day), ("runs_total", self.runs_total)):
            if limit is not None and not self.has_name:
                raise UnfitError(
                    key,
                    "is counted by the name of the rule, which has none",
                    f'Add name = "{self.name}", or another name, and keep it.',
                )
        if self.row_results and not self.has_runs:
            raise UnfitError(
                "row_results",
                "is set without runs_total, and each run may reveal one more bit of every row",
                _FEW_RUNS if self.has_name else f'Add name = "{self.name}". {_FEW_RUNS}',
            )

    @property
    def needs_person(self) -> bool:
        """Whether a person has to approve each job."""
        return self.approval != "auto"

    @property
    def needed(self) -> Needed | None:
        """The approvals by persons in a role that it asks for; None for those of anybody."""
        return self.approval if isinstance(self.approval, Needed) else None

    @property
    def per_job(self) -> Budget:
        """The largest privacy loss of one job."""
        return Budget(self.epsilon_per_job, self.delta_per_job)

    @property
    def budget(self) -> Budget:
        """The largest privacy loss of a data set's population towards a peer, for ever."""
        return Budget(self.epsilon_total, self.delta_total)

    def limits_of(self, facts: Facts) -> Limits:
        """The limits for a job: those of the rule, and what holds of its kind where the rule says nothing."""
        if self.has_ratio or not facts.asked.likeness:
            return self.limits
        return replace(self.limits, maximum_ratio=RATIO_OF_LIKENESS)


@dataclass(frozen=True, slots=True)
class Policy:
    """All rules of a party; without rules nothing is allowed."""

    rules: Annotated[tuple[Rule, ...], Item("rule")] = ()

    def __post_init__(self) -> None:
        names = [rule.name for rule in self.rules]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"two rules are called {name!r}.", "Rename one.")


def load_policy(path: Path) -> Policy:
    """Read a policy.

    Raises:
        ConfigError: the file is missing, or a rule has an unknown, missing or impossible entry.
    """
    return load_text(text_of(path, ConfigError), path.name)


def load_text(text: str, place: str) -> Policy:
    """The policy in the text of a file. Raises as `load_policy`."""
    return parse_policy(parse(text.removeprefix("\ufeff"), place, ConfigError), place)


def parse_policy(document: dict[str, Any], place: str) -> Policy:
    """The policy in a parsed TOML document.

    Raises:
        ConfigError: as `load_policy`.
    """
    return read_declared(Policy, StrictTable(document, place, ConfigError))
