"""The rules of `policy.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from parties.errors import ConfigError
from parties.toml import StrictTable, read
from smc.forms import Form

APPROVALS = ("auto", "person")
RECIPIENTS = ("self", "peer", "both")


@dataclass(frozen=True, slots=True)
class Rule:
    """What one rule allows. A list that holds `*` allows every name.

    Attributes:
        name: how verdicts call it.
        analyses: the analyses.
        peers: the peers.
        datasets: the own data sets.
        columns: the own columns.
        recipients: who may get results, among `self` and `peer`.
        types: patterns of comparison types, or None where any will do.
        epsilon_per_job: the largest privacy loss of one job.
        epsilon_total: the largest sum of privacy losses of a data set towards a peer, for ever.
        minimum_rows: the least number of own rows.
        runs_per_day: runs of a data set with a peer in 24 hours, or None.
        max_seconds: the longest deadline of a job.
        needs_person: whether a person has to approve each job.
    """

    name: str
    analyses: frozenset[str]
    peers: frozenset[str]
    datasets: frozenset[str]
    columns: frozenset[str]
    recipients: frozenset[str]
    types: tuple[str, ...] | None
    epsilon_per_job: Fraction
    epsilon_total: Fraction
    minimum_rows: int
    runs_per_day: int | None
    max_seconds: int
    needs_person: bool


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
    rule = Rule(
        name=table.text("name", f"rule {number}"),
        analyses=frozenset(table.texts("analyses")),
        peers=frozenset(table.texts("peers")),
        datasets=frozenset(table.texts("datasets")),
        columns=frozenset(table.texts("columns")),
        recipients=frozenset(("self", "peer")) if "both" in recipients else recipients,
        types=_types(table),
        epsilon_per_job=table.fraction("epsilon_per_job", "0"),
        epsilon_total=table.fraction("epsilon_total", "0"),
        minimum_rows=table.integer("minimum_rows", 0, least=0),
        runs_per_day=table.integer("runs_per_day", least=0) if table.has("runs_per_day") else None,
        max_seconds=table.integer("max_seconds", 3600, least=1),
        needs_person=table.choice("approval", APPROVALS, "person") == "person",
    )
    table.close()
    return rule


def _types(table: StrictTable) -> tuple[str, ...] | None:
    if not table.has("types"):
        return None
    patterns = tuple(pattern.upper() for pattern in table.texts("types"))
    known = {form.value for form in Form} | {"*"}
    for pattern in patterns:
        parts = pattern.split("-")
        if len(parts) != 3 or not set(parts) <= known:
            raise table.fail(
                "types", f"holds {pattern!r}", "Write three forms or * joined by hyphens: SS-SS-*."
            )
    return patterns
