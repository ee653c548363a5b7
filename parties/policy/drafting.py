"""A further rule for `policy.toml`, for people who do not want to write it by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import tomli_w

from commons.errors import near
from commons.settings.toml import parse, read
from parties.catalog.declarations.declaration import load_catalog
from parties.config import Config
from parties.errors import ConfigError, PolicyError
from parties.pki.files import write_atomically
from parties.plugins import load_plugins, with_plugins
from parties.policy.risks import MAX_ASKED
from parties.policy.rules import NOISY_RUNS, Policy, parse_policy
from smc.errors import UsageError


@dataclass(frozen=True, slots=True)
class NoisyRule:
    """A rule that allows results with noise, each job after a person has approved it or without.

    Attributes:
        name: of the rule; no other may have it.
        analysis: what it allows.
        peer: with whom.
        dataset: on which local data set.
        columns: of its columns these.
        epsilon_per_job: the largest loss of a job, such as `1/2`.
        epsilon_total: the largest loss of all jobs towards the peer together.
        needs_person: whether a person approves each job.
        recipients: `self`, `peer` or `both`.
        runs_total: how many runs; None for a usual number.
    """

    name: str
    analysis: str
    peer: str
    dataset: str
    columns: tuple[str, ...]
    epsilon_per_job: str
    epsilon_total: str
    needs_person: bool = True
    recipients: str = "both"
    runs_total: int | None = None

    def toml(self) -> str:
        """The rule as it stands in the file."""
        rule = {
            "name": self.name,
            "analyses": [self.analysis],
            "peers": [self.peer],
            "datasets": [self.dataset],
            "columns": list(self.columns),
            "recipients": [self.recipients],
            "epsilon_per_job": self.epsilon_per_job,
            "epsilon_total": self.epsilon_total,
            "runs_total": NOISY_RUNS if self.runs_total is None else self.runs_total,
            "approval": "person" if self.needs_person else "auto",
        }
        return f"\n[[rules]]\n{tomli_w.dumps(rule)}"


def complete_rule(config: Config, rule: NoisyRule) -> NoisyRule:
    """A rule about what there is at a party.

    Args:
        config: of the party.
        rule: with an empty name, for one made of analysis and peer, and of the data set where a rule about
            another one is called so; or no columns, for all that are declared.

    Raises:
        ConfigError: no such peer is paired, or configuration or catalog are wrong.
        DataError: there is no such data set or column.
        UsageError: there is no such analysis.
    """
    known = with_plugins(load_plugins(config.plugins))
    if rule.analysis not in known:
        raise UsageError(f"There is no analysis {rule.analysis!r}.", near(rule.analysis, list(known)))
    catalog = load_catalog(config.catalog)
    for column in rule.columns:
        catalog.schema(rule.dataset, column)
    runs = MAX_ASKED if known[rule.analysis].always_matches else NOISY_RUNS
    usual = f"noisy {rule.analysis} with {config.peer(rule.peer).name}"
    others = parse_policy(read(config.policy, ConfigError), config.policy.name).rules if not rule.name else ()
    if any(one.name == usual and rule.dataset not in one.datasets for one in others):
        usual = f"{usual} on {rule.dataset}"
    return replace(
        rule,
        runs_total=runs if rule.runs_total is None else rule.runs_total,
        name=rule.name or usual,
        columns=rule.columns or tuple(catalog.dataset(rule.dataset).columns),
    )


def add_rule(path: Path, rule: NoisyRule) -> Policy:
    """Write a rule behind those of a policy, whose own text stays as it is.

    Args:
        path: the policy's file.
        rule: what it shall allow.

    Returns:
        The policy with the rule.

    Raises:
        ConfigError: the policy is wrong as it stands, or would be with the rule; nothing was written.
        PolicyError: a rule has that name.
    """
    known = parse_policy(read(path, ConfigError), path.name)
    if any(one.name == rule.name for one in known.rules):
        raise PolicyError(
            f"{path.name} has a rule {rule.name!r} already.",
            "Choose another name, or change that rule in the file.",
        )
    before = path.read_bytes()
    text = before.decode().rstrip("\n") + "\n" + rule.toml()
    found = parse_policy(parse(text, path.name, ConfigError), path.name)
    write_atomically(path, text.encode(), path.stat().st_mode & 0o777)
    return found
