"""Commands about the audit log: what happened here, and whether the log is whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from commons.exits import REFUSED
from commons.logs.witnesses import Standing, Witness, standing
from parties.audit.files import AuditLog, read_log
from parties.audit.keys import find_forged
from parties.audit.lines import DECIDED, ENTRIES, EVENTS, GAP, KEYS, LINE, SIGNED, AuditError, AuditLine
from parties.audit.verification import (
    known_gaps,
    log_witnesses,
    lost_decisions,
    lost_lines,
    missing_decisions,
    missing_entries,
    missing_lines,
)
from parties.audit.writer import Audit
from parties.cli.options import Listing, as_option, config_option
from parties.cli.output import Screen, emit, json_option, table
from parties.cli.stamps import print_stamps, stamps_document, stamps_options
from parties.clock import CLOCK
from parties.config import Config, load
from parties.jobs.agreement.decisions import own_person
from parties.ledger.book import open_ledger
from parties.ledger.entries import Entry
from parties.pki.home import own_pairing
from parties.pki.lock import only_one
from parties.stamps.verification import Stamps, own_stamps
from smc.errors import UsageError

_USUAL_LINES: Final = 40
_SHORT: Final = 16


@click.group("log", cls=Listing)
def log() -> None:
    """What happened to jobs and daemon: the audit log."""


@log.command()
@click.option("--job", default="", help="Only lines about jobs whose name, or contract's digest, begins so.")
@click.option("--event", type=click.Choice(EVENTS), help="Only lines of this kind.")
@click.option("--lines", default=_USUAL_LINES, show_default=True, help="So many of the last; 0 for all.")
@config_option
@json_option
def show(job: str, event: str | None, lines: int, config_path: Path | None, as_json: bool) -> None:
    """List the last lines in their order: who decided what, and what began, ended and was refused."""
    if lines < 0:
        raise UsageError(f"--lines {lines} is below 0.", "Write 0 for all lines.")
    whole = read_log(load(config_path).home).lines
    jobs = _jobs(whole)
    found = [line for line in whole if _fits(line, jobs, job, event)]
    found = found[len(found) - lines if lines else 0 :] if lines < len(found) else found

    def render(out: Screen) -> None:
        if not found:
            out.print("There are no such lines.")
            return
        rows = [
            (n.sequence, n.time, n.event, _job(n, jobs)[:_SHORT], n.about.get("peer", ""), _rest(n))
            for n in found
        ]
        out.print(table("", ("line", "time", "event", "job", "peer", "what"), rows))

    emit({"lines": [line.document() for line in found]}, render, as_json=as_json)


@log.command()
@click.option("--head", help="NUMBER:HASH of a line as it was noted elsewhere; the log has to have it.")
@stamps_options
@config_option
@json_option
def verify(
    head: str | None, stamps: Path | None, stamps_ca: Path | None, config_path: Path | None, as_json: bool
) -> None:
    """Check the chain of the log, that it has every decision of the ledger, and that the ledger lost nothing.

    A line that was changed, dropped or moved is found. Lines missing at the end are found by a decision or a
    head of the log that the ledger has, by stamps, or with --head. Ends with status 77 if anything is wrong.
    """
    config = load(config_path)
    stamped = own_stamps(config, stamps, stamps_ca)
    try:
        found = read_log(config.home)
        entries = open_ledger(config.home).entries()
        problems = [
            *missing_decisions(found, entries),
            *missing_entries(found, entries),
            *missing_lines(found, _witnesses(entries, stamped)),
            *stamped.problems,
            *_check(found, head),
            *_describe_unsigned(config, found),
        ]
    except AuditError as error:
        found, problems = AuditLog((), ()), [str(error), *stamped.problems]
    last, gaps = found.lines[-1] if found.lines else None, known_gaps(found)

    def render(out: Screen) -> None:
        if last is None and not problems:
            out.print("The log is empty.")
        if last is not None:
            out.print(f"{config.name}: {len(found.lines)} lines, chain intact.")
            out.print(f"Head to note elsewhere: {last.sequence}:{last.hash}")
        if found.lines and found.lines[0].about.get("ledger"):
            out.print(f"It begins when the ledger had {found.lines[0].about['ledger']} entries.")
        if found.begins_later:
            out.print(f"The log begins with line {found.lines[0].sequence}: files before it were moved away.")
        if found.torn:
            out.print(f"Pieces that a crash cut off lie in {', '.join(found.torn)}.")
        print_stamps(out, stamped)
        for gap in gaps:
            out.print(f"GAP: {gap}")
        for problem in problems:
            out.print(f"WRONG: {problem}")

    document = {
        "party": config.name,
        "lines": len(found.lines),
        "first": found.lines[0].sequence if found.lines else None,
        "head": f"{last.sequence}:{last.hash}" if last is not None else "",
        "torn": list(found.torn),
        "gaps": gaps,
        "stamps": stamps_document(stamped),
        "problems": problems,
    }
    emit(document, render, as_json=as_json)
    if problems:
        raise SystemExit(REFUSED)


def _witnesses(entries: Sequence[Entry], stamped: Stamps) -> list[Witness]:
    """What ledger and stamps say of lines that the log had."""
    return [*log_witnesses(entries), *stamped.log]


def _describe_unsigned(config: Config, found: AuditLog) -> list[str]:
    """The lines about the protection of the keys that the party's key has not signed."""
    lines = [line for line in found.lines if line.event == KEYS]
    if not lines:
        return []
    wrong = find_forged(lines, own_pairing(config).identity.signing)
    return [f"Line {number}, about the keys, is not signed by the key of {config.name}." for number in wrong]


@log.command()
@as_option
@config_option
@json_option
def record_gap(name: str, config_path: Path | None, as_json: bool) -> None:
    """Record in the log which lines and decisions of the ledger it lacks, after its newest copy is lost.

    Only with the daemon stopped. `duetto log verify` goes on to tell of the gap, and finds what is lost after
    it. If there is a newer copy of the folder `audit`, put it in the place of this one instead.
    """
    config, person = load(config_path), own_person(name)
    with only_one(config):
        found, entries = read_log(config.home), open_ledger(config.home).entries()
        if behind := missing_entries(found, entries):
            raise AuditError(behind[0], "Bring back the newest copy of the ledger first.")
        lost = lost_decisions(found, entries) if found.lines else []
        gone = lost_lines(found, _witnesses(entries, own_stamps(config))) if found.lines else []
        if lost or gone:
            numbers = {"lost": len(lost), "uid": person.uid, ENTRIES: len(entries)}
            if lost:
                numbers |= {"first": lost[0].sequence, "last": lost[-1].sequence}
            if gone:
                numbers[LINE] = max(one.head[0] for one in gone)
            Audit(config.home, CLOCK.stamp).write(GAP, actor=person.name, **numbers)
    gaps = known_gaps(read_log(config.home))

    def render(out: Screen) -> None:
        if not found.lines:
            out.print("The log is empty: the daemon begins a new one when it is started.")
        elif not lost and not gone:
            out.print("The log lacks no decision of the ledger and no line; nothing was written.")
        else:
            out.print(f"Recorded: {gaps[-1]}")

    document = {
        "lost": [entry.sequence for entry in lost],
        "lines": sorted({one.head[0] for one in gone}),
        "gaps": gaps,
    }
    emit(document, render, as_json=as_json)


COMMANDS: Final[tuple[click.Command, ...]] = (log,)


def _jobs(lines: tuple[AuditLine, ...]) -> dict[str, str]:
    """The name of the job of each digest of a contract, from the lines that have both.

    A decision names the digest only, and the whole contract has another one than the draft by which its job
    is named.
    """
    both = ((line.about.get("digest"), line.about.get("job")) for line in lines)
    return {str(digest): str(job) for digest, job in both if digest and job}


def _job(line: AuditLine, jobs: dict[str, str]) -> str:
    digest = str(line.about.get("digest", ""))
    return str(line.about.get("job", "")) or jobs.get(digest, digest)


def _fits(line: AuditLine, jobs: dict[str, str], job: str, event: str | None) -> bool:
    named = (_job(line, jobs), str(line.about.get("digest", "")))
    return event in (None, line.event) and (not job or any(name.startswith(job) for name in named))


def _rest(line: AuditLine) -> str:
    """What a line says beside its job and peer, for people."""
    about = dict(line.about)
    if "job" not in about:
        about.pop("digest", None)
    if line.event == SIGNED:
        behalf = f" for {about['behalf']}" if "behalf" in about else ""
        return f"{about['act']} by {about['actor']}{behalf}, with the key {about['key']}"
    if line.event == DECIDED:
        by = (
            f"{about['actor']} (account {about['uid']})"
            if "actor" in about
            else f"rule {about.get('rule')!r}"
        )
        return f"{about['decision']} by {by}"
    words = [
        f"{name} {str(value)[:_SHORT] if 'digest' in name else value}"
        for name, value in about.items()
        if name not in ("job", "peer", "digest")
    ]
    return ", ".join(words)


def _check(found: AuditLog, head: str | None) -> list[str]:
    """Whether a line that was noted elsewhere is there as it was."""
    if head is None:
        return []
    number, colon, noted = head.partition(":")
    if not colon or not number.isdecimal() or not number.isascii() or len(noted) != 64:
        raise UsageError(f"--head {head[:100]!r} is not a number and a hash.", "Write NUMBER:HASH.")
    where = standing(found.lines, (int(number), noted))
    if where is Standing.ELSEWHERE:
        raise AuditError(
            f"Line {number} is in a file that was moved away.",
            "Bring the file back into the folder `audit`.",
        )
    if where is Standing.MISSING:
        return [f"Line {number} is missing: the log ends before it."]
    return [] if where is Standing.THERE else [f"Line {number} has another hash."]
