"""What a person decides by on the command line: who asks for what, what it tells and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from parties.cli.hints import with_config
from parties.cli.output import Screen, listing
from parties.cli.policy import print_reasons
from parties.cli.precision import print_precision, width_text
from parties.cli.results import print_leakage
from parties.client import Job, Party
from parties.client.words import age, audit_lines, state_words
from parties.contracts.state import State
from parties.jobs.agreement.decisions import MIN_LETTERS
from parties.jobs.agreement.standing import usual_waits
from smc.errors import DuettoError

_FEW_FIGURES: Final = 8
"""More of them stand in a table, in the shape of the result."""


def print_page(out: Screen, party: Party, job: Job) -> None:
    """Print what a job that waits comes to for this party; what it promises exactly, `job show` says.

    Where that cannot be found out, because the data or the catalog are wrong, the problem is said, and who
    would learn what.
    """
    described = job.describe()
    title = described["title"] or described["analysis"]
    who = f"{job.peer} ({job.asked_by})" if job.asked_by else job.peer
    asks = f"You ask {job.peer}" if described["direction"] == "outgoing" else f"{who} asks"
    out.print(f"{asks}: {title}")
    if job.purpose:
        out.print(f"Why: {job.purpose}")
    try:
        report = party.check(job.contract["spec"])
    except DuettoError as error:
        out.print(f"What it comes to cannot be said here: {error.what} {error.hint}")
        print_leakage(out, job.leakage, "would learn")
        out.print(*audit_lines(job.audit))
    else:
        rows = [(f"  {label}", text) for label, text in _rows(out, job, report)]
        out.print(listing(("", ""), rows))
        if _in_a_table(report):
            precision = report["preview"]["details"]["precision"]
            print_precision(out, precision, [figure["vague"] for figure in report["terms"]["figures"]])
        if not report["verdict"]["allowed"]:
            print_reasons(out, report["verdict"]["reasons"])
    out.print(f"Contract {job.shown[:8]}. Everything: " + with_config(f"`duetto job show {job.id[:8]}`"))


def print_jobs(out: Screen, jobs: Sequence[dict[str, Any]]) -> None:
    """List jobs, and say which of them wait for a decision of this party.

    Args:
        out: the screen.
        jobs: what the daemon says of them, in the order of the list.
    """
    letters = _letters([job["job_id"] for job in jobs])
    rows = [
        (
            job["job_id"][:letters],
            _state(job),
            job["peer"],
            age(job["updated"]),
            job["title"] or job["analysis"],
        )
        for job in jobs
    ]
    colours = [_COLOURS.get(job["state"], "") for job in jobs]
    out.print(listing(("ID", "STATE", "WITH", "WHEN", "TITLE"), rows, colours=colours))
    for job in jobs:
        if job["waits_for"] and job["waits_for"] not in usual_waits(job["peer"]):
            out.print(f"{job['job_id'][:letters]} waits for {job['waits_for']}.")
    mine = [job["job_id"][:letters] for job in jobs if job["state"] == State.WAITING_OWN.value]
    if mine:
        count = "1 job waits" if len(mine) == 1 else f"{len(mine)} jobs wait"
        out.print(f"{count} for your decision: " + with_config(f"`duetto job approve {mine[0]}`"))


_COLOURS: Final = {
    State.WAITING_OWN.value: "yellow",
    State.FINISHED.value: "green",
    **dict.fromkeys((State.FAILED.value, State.DENIED.value, State.CANCELLED.value), "red"),
}


def _letters(names: Sequence[str]) -> int:
    """As many letters as tell the names apart, and as a decision asks for."""
    letters = MIN_LETTERS
    while len({name[:letters] for name in names}) < len({*names}):
        letters += 1
    return letters


def _state(job: dict[str, Any]) -> str:
    words = state_words(job["state"])
    if job["result_deleted"]:
        return f"{words}, result deleted"
    return f"{words}, older release" if job["older_release"] else words


def _in_a_table(report: dict[str, Any]) -> bool:
    return len(report["preview"]["details"].get("precision", ())) > _FEW_FIGURES


def _rows(out: Screen, job: Job, report: dict[str, Any]) -> Iterator[tuple[str, str]]:
    terms, role = report["terms"], report["role"]
    other = "bob" if role == "alice" else "alice"
    yield "does", f"both programs {terms['does']}"
    if _in_a_table(report):
        yield "figures", f"{len(terms['figures'])}, in the table below"
    for number, figure in enumerate(() if _in_a_table(report) else terms["figures"]):
        yield "" if number else "figures", f"{figure['name']}{width_text(figure, out.plus_minus)}"
    for who, side in ((job.peer, other), ("you", role)):
        for number, line in enumerate(terms["learns"][side] or ["nothing"]):
            yield "" if number else f"{who} learn{'s' * (side == other)}", line
    if terms["hides"]:
        yield "nobody learns", terms["hides"]
    if report["dataset"]:
        columns = ", ".join(column["column"] for column in report["columns"].values())
        yield "reads", f"{columns} of {terms['persons']:,} persons (data set {report['dataset']})"
    yield "costs", cost_text(terms, job.peer)
    for line in terms["advice"]:
        yield "better", line
    verdict = report["verdict"]
    yield "rule", verdict["rule"] if verdict["allowed"] else "none allows it now; approving will be refused"
    if overlap := report["overlap"]:
        yield "refused", f"in view of earlier jobs: {overlap['what']} {overlap['hint']}"
    for number, line in enumerate(audit_lines(job.audit)):
        yield "" if number else "level", line
    for note in report["preview"]["notes"]:
        yield "note", note
    if refusal := report["preview"]["refusal"]:
        yield "refused", f"The run would refuse these rows. {refusal['what']} {refusal['hint']}"


def cost_text(terms: dict[str, Any], peer: str) -> str:
    """What a job costs of the budget towards a peer, by the `terms` of a report."""
    budget = terms["budget"]
    if not terms["loss"]:
        return "no epsilon. What is shown cannot be taken back"
    if not budget["total"]:
        return f"{terms['loss']}. It cannot be undone"
    return (
        f"{terms['loss']}: {budget['after']} of your {budget['total']} with {peer} will be spent, "
        f"{budget['left']} left. It cannot be undone"
    )
