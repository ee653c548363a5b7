"""The report of a finished job: what was asked and found, who learned what, and what it cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from parties.audit_terms import AUDITED, AuditTerms
from parties.client.result import Result
from parties.config import Config
from parties.contracts.contract import limits_document
from parties.jobs.checks.spending import totals
from parties.ledger.accounting import describe_loss
from parties.ledger.book import open_ledger
from parties.ledger.entries import EXACT, SPENT, Entry
from parties.policy.budgets import gauges
from parties.results.page import Facts, Report, report_page
from smc.analyses.disclosure.limits import Limits
from smc.analyses.studies.loss import Loss
from smc.errors import DuettoError

_ROLES: Final = ("alice", "bob")
_DIGITS: Final = 16
_LONGEST: Final = 300


def report_html(
    config: Config,
    result: Result,
    job: Mapping[str, Any],
    contract: Mapping[str, Any],
    certificate: Mapping[str, Any],
) -> str:
    """The report as one HTML file.

    Args:
        config: of this party; its ledger, policy and catalog say what is spent and left.
        result: of the job.
        job: what the daemon says of it.
        contract: what was signed.
        certificate: as this party has signed it.

    Raises:
        ConfigError: Jinja2 is not installed.
    """
    names = _names(contract, job)
    entries = [e for e in open_ledger(config.home).entries() if e.job == certificate["certificate"]["digest"]]
    report = Report(
        title=str(job["title"] or f"{job['analysis']} with {job['peer']}"),
        subtitle=f"{job['analysis']} of {names['alice']} and {names['bob']}, as {config.name} received it. "
        f"Job {job['job_id']}, finished {job['updated']}.",
        cards=_cards(config, job, entries),
        asked=_describe_request(contract, names),
        parameters=_parameters(contract),
        notes=result.notes,
        learned=[
            *((names[role], "; ".join(result.leakage.get(role, ())) or "nothing") for role in _ROLES),
            ("public", "; ".join(result.leakage.get("public", ())) or "nothing"),
        ],
        spent=_describe_spent(config, job, entries),
        totals=_totals(config, job, entries),
        cost=_cost(result.traffic),
        certificate=_certificate(certificate["certificate"]),
    )
    return report_page(report, [result.table(name) for name in result.tables])


def _names(contract: Mapping[str, Any], job: Mapping[str, Any]) -> dict[str, str]:
    said = contract.get("spec", {}).get("job", {})
    usual = {role: "this party" if job["role"] == role else job["peer"] for role in _ROLES}
    return {role: str(said.get(role, usual[role])) for role in _ROLES}


def _cards(config: Config, job: Mapping[str, Any], entries: Sequence[Entry]) -> Facts:
    losses = [entry.loss for entry in entries if entry.event == SPENT]
    exact = any(entry.event == EXACT for entry in entries)
    return [
        (describe_loss(losses[0]) if losses else "nothing", "spent under differential privacy"),
        ("yes" if exact else "no", "figures about groups without noise"),
        (f"{config.name} and {job['peer']}", "computed; nobody else took part"),
    ]


def _describe_request(contract: Mapping[str, Any], names: Mapping[str, str]) -> Facts:
    spec = contract.get("spec", {})
    said = spec.get("job", {})
    facts = [("analysis", str(said.get("analysis", "")))]
    for role in _ROLES:
        side = spec.get(role, {})
        called = side.get("columns", {}).items()
        columns = ", ".join(
            name if name == column else f"{name} (column {column})" for name, column in called
        )
        data = f"data set {side.get('dataset', '')}: {columns or 'no columns'}"
        facts.append((f"{names[role]} ({role})", data))
    recipients = ", ".join(names[role] for role in said.get("recipients", ()) if role in names)
    facts.append(("results go to", recipients or "nobody"))
    usual = limits_document(Limits()) or {}
    for role, limits in contract.get("limits", {}).items():
        kept = [f"{name} {value}" for name, value in (limits or {}).items() if value != usual.get(name)]
        facts.append((f"limits of {names.get(role, role)}", ", ".join(kept) or "none"))
    if "audit" in spec:
        facts.append(("level", AuditTerms.of(spec["audit"]).words(AUDITED)))
    return facts


def _parameters(contract: Mapping[str, Any]) -> str:
    parameters = contract.get("spec", {}).get("parameters", {})
    return json.dumps(parameters, indent=2, ensure_ascii=False) if parameters else ""


def _describe_spent(config: Config, job: Mapping[str, Any], entries: Sequence[Entry]) -> Facts:
    losses = [entry for entry in entries if entry.event == SPENT]
    facts = [(f"this job, on {entry.account!r}", describe_loss(entry.loss)) for entry in losses]
    if not facts:
        facts = [("this job", describe_loss(Loss()))]
    accounts = {entry.account for entry in losses}
    try:
        every = list(gauges(config, open_ledger(config.home), [job["peer"]]))
    except DuettoError as error:
        return [*facts, ("what is left", f"cannot be said: {error.what}")]
    for one in every:
        if one.account not in accounts:
            continue
        words = one.words()
        left = f"epsilon {words['left']} of {words['total']} at delta {words['delta']}"
        facts.append((f"left under rule {one.rule!r}, when this report was made", left))
    return facts


def _totals(config: Config, job: Mapping[str, Any], entries: Sequence[Entry]) -> list[str]:
    accounts = {entry.account for entry in entries if entry.event == SPENT}
    every = totals(config, open_ledger(config.home))
    return [one.words() for one in every if one.account.name in accounts and one.peer == job["peer"]]


def _cost(facts: Mapping[str, Any]) -> Facts:
    estimate = facts.get("estimate") or {}
    found = []
    for name, unit in (("rounds", ""), ("sent", " bytes"), ("received", " bytes"), ("seconds", " s")):
        said = f"; estimated {estimate[name]:,}{unit}" if name in estimate else ""
        found.append((name, f"{facts[name]:,}{unit}{said}"))
    return [*found, ("local rows", f"{facts['rows']:,}"), ("route", str(facts.get("route") or "none"))]


def _certificate(body: Mapping[str, Any]) -> Facts:
    """What a certificate says; digests, heads and keys by their first digits."""
    noise, commitment = body.get("noise", {}), body["result"]["commitment"]
    program = [f"{name} {value}" for name, value in body["program"].items() if isinstance(value, str)]
    ledger = ", ".join(f"{event} as entry {entry['sequence']}" for event, entry in body["ledger"].items())
    return [
        ("digest of the contract", f"{body['digest'][:_DIGITS]}…"),
        *((f"signing key of {role}", f"{key[:_DIGITS]}…") for role, key in body["keys"].items()),
        ("in the ledger", ledger or "nothing"),
        (
            "loss",
            describe_loss(Loss(*(Fraction(body["loss"][name]) for name in ("epsilon", "delta", "rho")))),
        ),
        ("guarantee", str(noise.get("guarantee", "none stated"))),
        ("mechanism", str(noise.get("mechanism", "none stated"))),
        ("commitment to the result", f"{commitment[:_DIGITS]}…" if commitment else "none"),
        *_record(body.get("record")),
        ("finished", str(body["run"]["finished"])),
        ("program", ", ".join(program)[:_LONGEST]),
    ]


def _record(record: Mapping[str, Any] | None) -> Facts:
    """The record of a covert run."""
    if record is None:
        return []
    return [
        (what, ", ".join(f"{way} {head[:_DIGITS]}…" for way, head in record[place].items()))
        for place, what in (("gate", "record at the gate, signed by both"), ("end", "record at the end"))
    ]
