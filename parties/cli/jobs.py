"""Commands about jobs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import click

from commons.exits import REFUSED
from parties.cli import certificates, results, retention
from parties.cli.following import follow, print_cheaper, who_decides
from parties.cli.hints import config_words, with_config
from parties.cli.options import Finite, Listing, as_option, config_option
from parties.cli.output import Screen, emit, is_at_terminal, json_option, listing
from parties.cli.policy import limits_text, print_reasons, print_verdict
from parties.cli.precision import print_precision
from parties.cli.results import print_facts, print_leakage, print_result
from parties.cli.signing import Signing, say_who_signs, signing_options
from parties.cli.terms import print_jobs, print_page
from parties.client import Job, Party, job_text
from parties.client.pace import Pace, duration
from parties.client.words import audit_lines, byte_count, local_time, state_words
from parties.config import load
from parties.contracts.state import State
from parties.jobs.agreement.decisions import MIN_LETTERS, check_named, own_person
from parties.ledger.accounting import describe_loss
from parties.pki.home import own_pairing
from parties.texts import with_unit
from smc.analyses.studies.loss import Loss
from smc.errors import Cancelled
from smc.protocols.against import Against
from smc.protocols.exchange.row_counts import MAX_ROWS

_SHOWN: Final = {
    "state": "state",
    "waits_for": "waits for",
    "title": "title",
    "analysis": "analysis",
    "peer": "with",
    "role": "this party is",
    "digest": "contract",
    "shown": "contract shown",
}
_TIMES: Final = {"created": "proposed", "updated": "changed", "result_deleted": "result deleted"}
"""What is said of a job, and under which words; listed are those that have a value."""

_ESTIMATES: Final = {
    "rows": "rows",
    "rounds": "rounds",
    "sent": "sent",
    "received": "received",
    "seconds": "computing",
    "network_seconds": "waiting for the network",
    "total_seconds": "in all",
    "memory": "memory",
    "key_bits": "bits of the keys",
    "route": "how",
}


@click.group(cls=Listing)
def job() -> None:
    """Jobs: check, submit, decide, watch, and get results."""


@job.command()
@click.argument("file", type=click.Path(path_type=Path))
@config_option
@json_option
def check(file: Path, config_path: Path | None, as_json: bool) -> None:
    """Check the job in FILE against the catalog, data and policy here; needs no daemon.

    It ends with the status with which submitting the job would end, as far as that is known here.
    """
    from parties.jobs.checks.opening import local_admission  # with all analyses: few commands need them
    from parties.jobs.reports import decision_report

    config = load(config_path)
    report = decision_report(local_admission(config), job_text(file))
    terms = report.pop("terms")
    report["paired"] = any(peer.name == report["peer"] for peer in config.peers)
    verdict, overlap, used = report["verdict"], report["overlap"], report["columns"].values()

    def render(out: Screen) -> None:
        if not report["paired"]:
            out.print(f"No peer {report['peer']!r} is paired; see `duetto pair`.")
        if overlap is None or not verdict["allowed"]:
            print_verdict(out, verdict)
            print_reasons(out, verdict["reasons"])
        if overlap is not None:
            out.print(f"Refused in view of earlier jobs: {overlap['what']} {overlap['hint']}")
        out.print(f"{report['analysis']} with {report['peer']}; this party is {report['role']}.")
        if report["dataset"]:
            columns = [with_unit(one["column"], one["unit"]) for one in used]
            out.print(f"Reads {report['rows']:,} rows of {report['dataset']}: {', '.join(columns)}.")
        out.print(f"privacy loss: {describe_loss(_loss(report))}; at most {report['seconds']} seconds")
        if network := report["network"]:
            said = f"planned for a link of {network['rtt_ms']} ms and {network['mbit']} Mbit/s"
            took = f"; about {duration(report['estimate']['total_seconds'])}" if report["estimate"] else ""
            out.print(said + took)
        if report["lanes"] > 1:
            out.print(f"large batches in {report['lanes']} lanes, each a process of its own on either side")
        if report["audit"]:
            out.print(report["audit"]["words"])
        own = report["role"]
        names = {own: "you", "bob" if own == "alice" else "alice": report["peer"]}
        print_leakage(out, report["leakage"], "would learn", names)
        if report["estimate"]:
            out.print(Against(report["estimate"]["against"]).means)
        for lost in report["bisection"]:
            chosen = f"{lost['jobs']} such jobs with values that {report['peer']} chooses"
            out.print(f"{chosen} find every value of {lost['column']}.")
        _print_preview(out, report["preview"], terms)
        _print_most(out, report["estimate"] or {})
        print_cheaper(out, report["estimate"] or {})

    emit(report, render, as_json=as_json)
    if not verdict["allowed"] or overlap is not None:
        raise SystemExit(REFUSED)
    if refusal := report["preview"]["refusal"]:
        raise SystemExit(refusal["status"])


@job.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--rows", type=click.IntRange(1, MAX_ROWS), help="Rows a side; else those of the local data.")
@click.option("--peer-rows", type=click.IntRange(1, MAX_ROWS), help="Rows of the peer; else as many.")
@click.option("--rtt-ms", type=Finite(min=0), default=0.0, help="Round trip of the network.")
@click.option("--mbit", type=Finite(min=0), default=0.0, help="Rate of each direction, Mbit/s.")
@config_option
@json_option
def estimate(
    file: Path,
    rows: int | None,
    peer_rows: int | None,
    rtt_ms: float,
    mbit: float,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Tell what the job in FILE would cost; needs no daemon."""
    from parties.jobs.checks.opening import local_admission
    from parties.jobs.reports import estimate_report

    config = load(config_path)
    bits = own_pairing(config).identity.paillier.bits
    admission = local_admission(config)
    report = estimate_report(
        admission,
        job_text(file),
        rows=rows or 0,
        key_bits=bits,
        rtt_ms=rtt_ms,
        mbit=mbit,
        peer_rows=peer_rows or 0,
    )
    seconds = ("seconds", "network_seconds", "total_seconds")
    names = ("rows", "rounds", "sent", "received", *seconds, "memory", "key_bits", "route")

    def render(out: Screen) -> None:
        out.print(
            listing(("", ""), [(_ESTIMATES[name], _format_figure(name, report[name])) for name in names])
        )
        if report["limits"] is None:
            out.print("The policy refuses this job; its limits are not in these figures.")
        out.print(f"privacy loss: {describe_loss(_loss(report))}")
        if report["preview"] is not None:
            _print_preview(out, report["preview"])
        _print_most(out, report)
        print_cheaper(out, report)

    emit(report, render, as_json=as_json)


@job.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--wait", is_flag=True, help="Wait for the result and print it.")
@signing_options
@config_option
@json_option
def submit(file: Path, wait: bool, signing: Signing, config_path: Path | None, as_json: bool) -> None:
    """Propose the job in FILE to the peer; it runs as soon as both sides have approved."""
    with Party(config_path, signing.of(config_path)) as party:
        found = party.submit(file)
        if wait:
            follow(found, config_path)
            print_result(found.result(), as_json=as_json, job=found.describe())
        else:
            _print_job(found, as_json=as_json, words=config_words(config_path))


@job.command(name="list")
@click.option(
    "--limit", type=click.IntRange(min=0), default=50, help="At most so many; 0 is all. Default: 50."
)
@click.option("--before", default="", metavar="JOB_ID", help="Only jobs older than this one: the next page.")
@click.option("--state", "states", multiple=True, help="Only jobs in this state; may be given several times.")
@click.option("--waiting", is_flag=True, help="Only jobs that wait for a decision of this party.")
@config_option
@json_option
def list_jobs(
    *,
    limit: int,
    before: str,
    states: tuple[str, ...],
    waiting: bool,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """List jobs, the newest first."""
    states = (*states, State.WAITING_OWN.value) if waiting else states
    with Party(config_path) as party:
        before = party.job(before).id if before else ""
        page = [
            found.describe() for found in party.jobs(*states, limit=limit + 1 if limit else 0, before=before)
        ]
    jobs, more = (page[:limit], len(page) > limit) if limit else (page, False)

    def render(out: Screen) -> None:
        if not jobs:
            out.print("There is no such job." if before or states else "There are no jobs yet.")
            return
        print_jobs(out, jobs)
        if more:
            out.print(with_config(f"There are older ones: `duetto job list --before {jobs[-1]['job_id']}`"))

    emit({"jobs": jobs, "more": more}, render, as_json=as_json)


@job.command()
@click.argument("job_id")
@config_option
@json_option
def show(job_id: str, config_path: Path | None, as_json: bool) -> None:
    """Show a job, its contract and what it cost."""
    with Party(config_path) as party:
        found = party.job(job_id)
        _print_job(found, as_json=as_json, contract=True, words=config_words(config_path))


@job.command()
@click.argument("job_id")
@config_option
@json_option
def watch(job_id: str, config_path: Path | None, as_json: bool) -> None:
    """Follow a job to its end; interrupting this does not touch the job."""
    with Party(config_path) as party:
        found = party.job(job_id)
        follow(found, config_path)
        _print_job(found, as_json=as_json)


@job.command()
@click.argument("job_id")
@as_option
@signing_options
@config_option
@json_option
def cancel(job_id: str, name: str, signing: Signing, config_path: Path | None, as_json: bool) -> None:
    """Cancel a job, whatever it is doing, and notify the peer.

    JOB_ID is the name of the job or at least its first 8 characters; it fails if several jobs begin so.
    """
    check_named(job_id)
    with Party(config_path, signing.of(config_path)) as party:
        _print_job(party.job(job_id).cancel(name), as_json=as_json)


@job.command()
@click.argument("job_id")
@as_option
@click.option("--digest", default="", help="What you have looked at, as `duetto job show` names it.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@signing_options
@config_option
@json_option
def approve(
    job_id: str,
    name: str,
    digest: str,
    *,
    yes: bool,
    signing: Signing,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Allow a job that waits for a person here.

    JOB_ID is the name of the job or at least its first 8 characters; it fails if several jobs begin so.
    Without --digest one page says what it comes to, and on a terminal you are asked; what was shown is
    approved.
    """
    check_named(job_id)
    signer = signing.of(config_path)
    with Party(config_path, signer) as party:
        found = party.job(job_id)
        say_who_signs(config_path)
        person = signer.person.name if signer is not None else own_person(name).name
        if not digest and not as_json:
            print_page(Screen(), party, found)
            if is_at_terminal() and not yes and not click.confirm(f"Approve as {person}?", err=True):
                raise Cancelled(
                    "Nothing was approved; the job still waits.",
                    f"Deny it with `duetto job deny {found.id[:MIN_LETTERS]}`, or approve it later.",
                )
        found.approve(name, digest)
        if as_json:
            _print_job(found, as_json=True, contract=True)
        else:
            waits = f", waits for {found.waits_for}" if found.waits_for else ""
            Screen().print(f"Job {found.id[:MIN_LETTERS]}: {state_words(found.state.value)}{waits}.")


@job.command()
@click.argument("job_id")
@as_option
@click.option("--reason", default="", help="Kept at home; the peer learns only that the job was denied.")
@signing_options
@config_option
@json_option
def deny(
    job_id: str, name: str, reason: str, signing: Signing, config_path: Path | None, as_json: bool
) -> None:
    """Refuse a job that waits for a person here.

    JOB_ID is the name of the job or at least its first 8 characters; it fails if several jobs begin so.
    """
    check_named(job_id)
    with Party(config_path, signing.of(config_path)) as party:
        _print_job(party.job(job_id).deny(reason, name), as_json=as_json)


for _command in (
    results.result,
    results.report,
    certificates.certificate,
    certificates.verify,
    retention.forget,
    retention.prune,
    retention.aside,
):
    job.add_command(_command)

COMMANDS: tuple[click.Command, ...] = (job,)


def _print_job(found: Job, *, as_json: bool, contract: bool = False, words: str = "") -> None:
    description: dict[str, Any] = found.describe()
    if contract:
        description |= {"contract": found.contract, "facts": found.facts, "leakage": found.leakage}
        description |= {"shown": found.shown, "audit": found.audit or None}

    def render(out: Screen) -> None:
        said = description | {"state": state_words(description["state"])}
        shown = [(label, said[name]) for name, label in _SHOWN.items() if said.get(name)]
        shown += [
            (label, local_time(description[name])) for name, label in _TIMES.items() if description[name]
        ]
        if found.state is State.RUNNING:
            pace = Pace()
            pace.see(found)
            shown.append(("progress", pace.words()))
        out.print(listing(("", ""), [("job", found.id), *shown]))
        if description["error"]:
            out.print(f"{description['error']['what']} {description['error']['hint']}")
        if contract and found.is_older:
            out.print(
                f"The job is of an older release (format {description['format']}); its contract as stored:"
            )
            out.json(description["contract"])
        elif contract:
            out.print(*job_text(description["contract"]["spec"]).rstrip().split("\n"))
            for role, limits in description["contract"]["limits"].items():
                out.print(f"limits of {role}: {'not known yet' if limits is None else limits_text(limits)}")
        if contract:
            out.print(*audit_lines(found.audit))
            print_facts(out, found.facts)
            if found.leakage and not found.facts:
                print_leakage(out, description["leakage"], "would learn")
        if decides := who_decides(found, words, found.shown if contract else ""):
            out.print(decides)

    emit(description, render, as_json=as_json)


def _loss(report: dict[str, Any]) -> Loss:
    return Loss(*(Fraction(report[name]) for name in ("epsilon", "delta", "rho")))


def _format_figure(name: str, value: Any) -> str:
    """A figure of an estimate with its unit."""
    if value is None:
        return "not known"
    if name in ("sent", "received", "memory"):
        return byte_count(value)
    return duration(value) if name.endswith("seconds") else str(value)


def _print_most(out: Screen, estimate: dict[str, Any]) -> None:
    """Say how long a run can become where the data decide it."""
    if most := estimate.get("most"):
        sent, received = byte_count(most["sent"]), byte_count(most["received"])
        out.print(
            "The data decide how many steps a run takes. The figures are those of usual data; the longest "
            f"run takes {most['rounds']:,} rounds, {sent} sent and {received} received."
        )


def _print_preview(out: Screen, preview: dict[str, Any], terms: dict[str, Any] | None = None) -> None:
    for note in preview["notes"]:
        out.print(note)
    vague = [figure["vague"] for figure in terms["figures"]] if terms else []
    rows = preview["details"].get("precision", ())
    print_precision(out, rows, vague, terms["advice"] if terms else ())
    if refusal := preview["refusal"]:
        out.print(f"The run would refuse these rows. {refusal['what']} {refusal['hint']}")
