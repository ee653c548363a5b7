"""What the ledger holds: totals by people and peer, and all entries in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from parties.cli.options import config_option
from parties.cli.output import Screen, emit, json_option, listing
from parties.client.words import DUE_BECAUSE, local_time
from parties.config import load
from parties.jobs.checks.spending import ledger_document, log_document, names_of_jobs, totals
from parties.ledger.accounting import DELTA_TOTAL, describe_loss, show_number
from parties.ledger.book import open_ledger
from parties.ledger.entries import (
    COUNTERSIGNED,
    DECISIONS,
    DUE,
    EXACT,
    LOG_HEAD,
    RUN,
    SIGNED,
    SPENT,
    VERDICT,
    Entry,
)

_LETTERS: Final = 8
"""Of the name of a job, as `duetto job list` shows it."""
_NEWEST: Final = 40
"""Losses that are listed, and entries without the peer's signature, unless all are asked for."""


@click.command()
@click.option("--all", "every_one", is_flag=True, help=f"List every loss, not only the newest {_NEWEST}.")
@config_option
@json_option
def show(*, every_one: bool, config_path: Path | None, as_json: bool) -> None:
    """Show what has been spent, by account and peer, and what that guarantees; releases and runs.

    For people the newest losses are listed; totals are always of all, and --json has every loss.
    """
    config = load(config_path)
    book = open_ledger(config.home)
    every = book.entries()
    entries = [entry for entry in every if entry.event == SPENT]
    names = names_of_jobs(config)
    exact = Counter((e.account, e.peer) for e in every if e.event == EXACT)
    runs = Counter((e.account, e.peer, e.rule) for e in every if e.event == RUN)
    every_total = list(totals(config, book))
    unsigned = book.to_sign()

    def newest(out: Screen, found: Sequence[Entry], what: str) -> Sequence[Entry]:
        if every_one or len(found) <= _NEWEST:
            return found
        out.print(f"The newest {_NEWEST} of {len(found)} {what}; --all lists every one.")
        return found[-_NEWEST:]

    def render(out: Screen) -> None:
        for entry in newest(out, unsigned, "entries without the signature of the peer"):
            name = names.get(entry.job, entry.job[:16])
            out.print(
                f"Entry {entry.sequence} ({entry.event}, {local_time(entry.time)}, job {name}) lacks the "
                f"signature of {entry.peer!r}: the session broke at the gate."
                + (" That party had announced its own." if entry.signature else "")
            )
        if runs:
            rows_of_runs = [(*whose, count) for whose, count in runs.items()]
            out.print(listing(("account", "peer", "rule", "began"), rows_of_runs, title="Runs:"), "")
        if exact:
            rows_of_exact = [(*whose, count) for whose, count in exact.items()]
            title = "Released without noise:"
            out.print(listing(("account", "peer", "jobs"), rows_of_exact, title=title), "")
        if not entries:
            out.print("Nothing has been spent.")
            return
        listed = newest(out, entries, "losses")
        rows = [
            (
                local_time(e.time),
                names.get(e.job, e.job)[:_LETTERS],
                e.dataset,
                e.account,
                e.peer,
                describe_loss(e.loss),
            )
            for e in listed
        ]
        out.print(listing(("time", "job", "data set", "account", "peer", "loss"), rows, title="Spent:"), "")
        out.print(
            listing(
                ("account", "peer", "sum of the losses", "epsilon"),
                [
                    (
                        t.account.name,
                        t.peer or "(all)",
                        describe_loss(t.spent.loss),
                        show_number(t.spent.epsilon_at(DELTA_TOTAL)) if t.is_stated else "none",
                    )
                    for t in every_total
                ],
                title=f"In total, as epsilon at delta {show_number(DELTA_TOTAL)}:",
            )
        )
        for total in every_total:
            out.print(total.words())
        if len({total.account for total in every_total}) > 1:
            out.print(
                "Accounts are about different people, so each stands for itself; a person who is in two of "
                "them has the sum. Declare such data sets with one population."
            )

    emit(ledger_document(config), render, as_json=as_json)


@click.command()
@config_option
@json_option
def log(config_path: Path | None, as_json: bool) -> None:
    """List all entries in their order: what began, was released, was signed, and who decided what."""
    config = load(config_path)
    entries = open_ledger(config.home).entries()
    names = names_of_jobs(config)

    def render(out: Screen) -> None:
        heads = ("entry", "time", "what", "job", "peer", "by or about")
        rows = [
            (e.sequence, local_time(e.time), e.event, names.get(e.job, e.job)[:_LETTERS], e.peer, _about(e))
            for e in entries
        ]
        out.print(listing(heads, rows))

    emit(log_document(config), render, as_json=as_json)


def _about(entry: Entry) -> str:
    """What an entry says beside job and peer, for people."""
    if entry.event in DECISIONS:
        return f"{entry.actor} (account {entry.uid})" if entry.actor else f"rule {entry.rule!r}"
    said = {
        SPENT: f"{entry.account}: {describe_loss(entry.loss)}",
        COUNTERSIGNED: f"entry {entry.peer_sequence} of the peer",
        SIGNED: f"{entry.act}, {entry.actor}" + (f" for {entry.behalf}" if entry.behalf else ""),
        LOG_HEAD: f"line {entry.log_line} of the audit log",
        DUE: f"for an audit {DUE_BECAUSE.get(entry.why, entry.why)}",
        VERDICT: f"{entry.about} is {entry.outcome}, by {entry.auditor}",
        RUN: f"{entry.account}: rule {entry.rule!r}",
    }
    return said.get(entry.event, entry.account)
