"""Commands about what this party allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import click

from commons.exits import REFUSED
from commons.settings.reader import fields_of
from parties.catalog.declarations.declaration import load_catalog
from parties.cli.options import Listing, config_option
from parties.cli.output import Screen, emit, json_option, table
from parties.cli.signing import say_what_to_sign
from parties.client import job_text
from parties.config import load
from parties.contracts.contract import limits_document
from parties.disclosure.history import History
from parties.policy.rules import APPROVALS, RECIPIENTS, Rule, load_policy
from smc.analyses.disclosure.limits import Limits


@click.group(cls=Listing)
def policy() -> None:
    """What this party allows."""


@policy.command()
@click.option("--strict", is_flag=True, help=f"End with status {REFUSED} if there are warnings.")
@config_option
@json_option
def check(strict: bool, config_path: Path | None, as_json: bool) -> None:
    """Read the policy; warn of rules that give away more than they seem to.

    What comparisons give away follows from the bounds in the catalog.
    """
    from parties.policy.risks import risks

    config = load(config_path)
    rules = load_policy(config.policy)
    datasets = load_catalog(config.catalog).datasets.values()
    declared = {d.name: {name: column.schema for name, column in d.columns.items()} for d in datasets}
    warnings = risks(rules, declared)
    names = [rule.name for rule in rules.rules]
    count = f"{len(names)} {'rule' if len(names) == 1 else 'rules'}"

    def render(out: Screen) -> None:
        name = config.policy.name
        out.print(f"{name} is valid: {count}." if names else f"{name} allows nothing.")
        for warning in warnings:
            out.print(f"warning: {warning.what}. {warning.hint}")

    emit({"rules": names, "warnings": [asdict(one) for one in warnings]}, render, as_json=as_json)
    if strict and warnings:
        raise SystemExit(REFUSED)


@policy.command()
@click.argument("name", required=False)
@config_option
@json_option
def show(name: str | None, config_path: Path | None, as_json: bool) -> None:
    """Show the rules, or rule NAME, with what holds where nothing is written."""
    rules = [rule for rule in load_policy(load(config_path).policy).rules if name in (None, rule.name)]
    shown = [_document(rule) for rule in rules]

    def render(out: Screen) -> None:
        for entry in shown:
            cells = [(key, _cell(key, value)) for key, value in entry.items() if key != "name"]
            out.print(table(f"rule {entry['name']!r}", ("entry", "value"), cells))
        if not shown:
            out.print("Nothing is allowed." if name is None else f"There is no rule {name!r}.")

    emit({"rules": shown}, render, as_json=as_json)


@policy.command()
@click.argument("file", type=click.Path(path_type=Path))
@config_option
@json_option
def test(file: Path, config_path: Path | None, as_json: bool) -> None:
    """Check the job in FILE against every rule; needs no daemon."""
    from parties.jobs.checks.opening import local_admission
    from parties.jobs.reports import policy_document

    report = policy_document(local_admission(load(config_path)), job_text(file))
    verdict, overlap = report["verdict"], report["overlap"]
    allowed = verdict["allowed"] and overlap is None

    def render(out: Screen) -> None:
        by_rule: dict[str, list[dict[str, Any]]] = {}
        for condition in verdict["conditions"]:
            by_rule.setdefault(condition["rule"], []).append(condition)
        named = {rule for rule, found in by_rule.items() if _is_met(found, "analyses")}
        for rule, found in by_rule.items():
            if named and rule not in named:
                out.print(f"rule {rule!r}: {found[0]['what']}.")
                continue
            rows = [(c["key"], "yes" if c["holds"] else "NO", c["what"]) for c in found]
            out.print(table(f"rule {rule!r}", ("condition", "holds", "how it stands"), rows))
            for condition in found:
                if not condition["holds"]:
                    out.print(f"{condition['key']}: {condition['hint']}")
        if overlap is not None:
            out.print(f"Refused in view of earlier jobs: {overlap['what']} {overlap['hint']}")
        if overlap is None or not verdict["allowed"]:
            print_verdict(out, verdict)

    emit(report, render, as_json=as_json)
    if not allowed:
        raise SystemExit(REFUSED)


@policy.command()
@click.argument("analysis")
@click.option("--peer", required=True, help="With whom.")
@click.option("--dataset", required=True, help="On which data set of the catalog.")
@click.option(
    "--column", "columns", multiple=True, help="A column that jobs may use; all declared ones unless given."
)
@click.option("--epsilon-per-job", default="1", show_default=True, help="The largest loss of one job.")
@click.option("--epsilon-total", required=True, help="The largest loss of all jobs with the peer together.")
@click.option(
    "--runs-total",
    type=click.IntRange(min=1),
    help="How many runs, those that fail included; 100 unless given, 20 for analyses that match rows.",
)
@click.option("--recipients", type=click.Choice(RECIPIENTS), default="both", show_default=True)
@click.option("--approval", type=click.Choice(APPROVALS), default="person", show_default=True)
@click.option("--name", default="", help="Name of the rule; by default its analysis and peer.")
@config_option
@json_option
def allow(
    analysis: str,
    *,
    peer: str,
    dataset: str,
    columns: tuple[str, ...],
    epsilon_per_job: str,
    epsilon_total: str,
    runs_total: int | None,
    recipients: str,
    approval: str,
    name: str,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Add a rule that allows noisy results of ANALYSIS; what is in the file stays as it is.

    Rules for exact figures and for results about single rows are written by hand, see docs/policy.md.
    """
    from parties.policy.drafting import NoisyRule, add_rule, complete_rule

    config = load(config_path)
    asked = NoisyRule(
        name=name,
        analysis=analysis,
        peer=peer,
        dataset=dataset,
        columns=columns,
        epsilon_per_job=epsilon_per_job,
        epsilon_total=epsilon_total,
        needs_person=approval == "person",
        recipients=recipients,
        runs_total=runs_total,
    )
    rule = complete_rule(config, asked)
    add_rule(config.policy, rule)
    say_what_to_sign(config)
    emit(
        {"rule": rule.name, "policy": str(config.policy), "toml": rule.toml()},
        lambda out: out.print(f"{config.policy} has a new rule:", *rule.toml().strip().split("\n")),
        as_json=as_json,
    )


@policy.command()
@config_option
@json_option
def history(config_path: Path | None, as_json: bool) -> None:
    """List the jobs with exact figures, with which later ones are compared; persons are kept as hashes."""
    records = History(load(config_path).home).records()
    heads = ("time", "job", "peer", "dataset", "account", "persons")
    rows = [{head: getattr(record, head) for head in heads} for record in records]
    emit(
        {"jobs": rows},
        lambda out: out.print(table("exact jobs", heads, [list(row.values()) for row in rows])),
        as_json=as_json,
    )


def print_verdict(out: Screen, verdict: dict[str, Any]) -> None:
    """Say who decides on a job, and which limits go into its contract."""
    if not verdict["allowed"]:
        out.print(f"{out.mark(good=False)} No rule allows the job.")
        return
    how = "a person has to approve it" if verdict["needs_person"] else "nobody has to approve it"
    out.print(f"{out.mark(good=True)} Allowed by rule {verdict['rule']!r}; {how}.")
    out.print(f"Limits of this party on results: {limits_text(verdict['limits'])}.")
    if verdict["unheld"]:
        out.print(
            f"Earlier exact jobs that the ledger does not list: {', '.join(verdict['unheld'])}. What their "
            "tables showed cannot be held against this job, so a person has to: compare the groups and edges "
            "with `duetto job show ID`."
        )


def print_reasons(out: Screen, reasons: Sequence[dict[str, Any]]) -> None:
    """Say what the rule that comes nearest to allowing a job has against it; none if it is allowed."""
    rules = [*dict.fromkeys(reason["rule"] for reason in reasons)]
    for reason in reasons:
        if reason["rule"] == rules[0]:
            rule = f"rule {rules[0]!r}" if rules[0] else "the policy"
            out.print(f"  {rule}: {reason['what']}. {reason['hint']}")
    if (others := len(rules) - 1) > 0:
        count = "1 other rule comes" if others == 1 else f"{others} other rules come"
        out.print(f"  {count} less near: `duetto policy test FILE` says why.")


def limits_text(limits: dict[str, Any] | None) -> str:
    """Limits for people, without those that limit nothing."""
    usual = limits_document(Limits())
    found = [
        f"{key.replace('_', ' ')} {value}"
        for key, value in (limits or {}).items()
        if usual and value != usual[key]
    ]
    return ", ".join(found) or "none"


COMMANDS: tuple[click.Command, ...] = (policy,)


def _is_met(conditions: list[dict[str, Any]], key: str) -> bool:
    return any(condition["key"] == key and condition["holds"] for condition in conditions)


def _document(rule: Rule) -> dict[str, Any]:
    """A rule as plain JSON values, by the names that it has in the file."""
    document: dict[str, Any] = {"number": rule.number}
    for field in fields_of(Rule):
        value = getattr(rule, field.name)
        if isinstance(value, Limits):
            document |= limits_document(value) or {}
        elif isinstance(value, frozenset):
            document[field.key] = sorted(one.value if isinstance(one, Enum) else one for one in value)
        elif field.key:
            document[field.key] = str(value) if isinstance(value, Fraction) else value
    return document


_USUAL: Final = {
    "types": "any whose result nobody sees",
    "keys": "any; for exact figures key and person of the data set",
    "may_state": "anything; for exact figures where, derived",
}
"""What holds where an entry is not written."""

_UNLIMITED: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("runs_per_day", "runs_total")),
    **dict.fromkeys(("minimum_rows", "overlap"), 0),
    **(limits_document(Limits()) or {}),
    "maximum_ratio": 0,
}
"""With which value an entry limits nothing."""


def _cell(key: str, value: Any) -> Any:
    if key in _UNLIMITED and str(value) == str(_UNLIMITED[key]):
        return "no limit"
    if (key == "parameters" and not value) or (key in ("values", "queries") and value is None):
        return "any"
    if key in _USUAL and value is None:
        return _USUAL[key]
    if isinstance(value, list | tuple):
        return ", ".join(value)
    if isinstance(value, str) and value.startswith("1/") and _is_power(Fraction(value).denominator):
        return f"2^-{Fraction(value).denominator.bit_length() - 1}"
    return str(value).lower() if isinstance(value, bool) else value


def _is_power(number: int) -> bool:
    return number > 1 << 10 and number & (number - 1) == 0
