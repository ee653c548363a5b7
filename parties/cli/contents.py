"""What the ledger holds: totals by people and peer, and all entries in their order."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from parties.catalog.declaration import load_catalog
from parties.cli.options import config_option
from parties.cli.output import Screen, emit, json_option, table
from parties.config import Config, load
from parties.errors import ConfigError
from parties.jobs.reading import FILE, JobReader
from parties.ledger.accounting import DELTA_TOTAL, Account, Spent, described, shown
from parties.ledger.book import Ledger, open_ledger
from parties.ledger.entries import COUNTERSIGNED, DECISIONS, EXACT, RUN, SPENT, Entry
from smc.analyses.studies.loss import Loss


@dataclass(frozen=True, slots=True)
class _Total:
    """What an account has lost towards a peer, or towards all together if `peer` is None."""

    account: Account
    peer: str | None
    spent: Spent
    latest: Loss

    def document(self) -> dict[str, Any]:
        loss = self.spent.loss
        return {
            "account": self.account.name,
            "datasets": sorted(self.account.datasets),
            "peer": self.peer,
            "epsilon": str(loss.epsilon),
            "delta": str(loss.delta),
            "rho": str(loss.rho),
            "guarantee": {"epsilon": str(self.spent.epsilon_at(DELTA_TOTAL)), "delta": str(DELTA_TOTAL)}
            if self.is_stated
            else None,
            "jobs_left": self.jobs_left,
        }

    @property
    def is_stated(self) -> bool:
        loss = self.spent.loss
        return loss.delta < DELTA_TOTAL or (loss.delta == DELTA_TOTAL and not loss.rho)

    @property
    def jobs_left(self) -> int | None:
        """How many more jobs with the delta of the latest one have room, whatever epsilon is left."""
        return self.spent.jobs_left(DELTA_TOTAL, self.latest)

    def words(self) -> str:
        """The guarantee for a person of the account."""
        who = repr(self.peer) if self.peer else "all peers together"
        about = f"What {who} got about {self.account.name!r}"
        if not self.is_stated:
            spent = described(self.spent.loss)
            return f"{about} cannot be stated at delta {shown(DELTA_TOTAL)}, since more is spent: {spent}."
        epsilon = self.spent.epsilon_at(DELTA_TOTAL)
        return (
            f"{about} is ({shown(epsilon)}, {shown(DELTA_TOTAL)})-differentially private: whether any one "
            f"person is in the data changes the odds of any conclusion by a factor of {_odds(epsilon)} at "
            f"most, but for a chance of {shown(DELTA_TOTAL)}. (Where no person is declared, read row.)"
            + self._room()
        )

    def _room(self) -> str:
        if self.peer is None or self.jobs_left is None:
            return ""
        return f" Delta {shown(DELTA_TOTAL)} has room for {self.jobs_left} more jobs like the latest."


@click.command()
@config_option
@json_option
def show(config_path: Path | None, as_json: bool) -> None:
    """Show what has been spent, by account and peer, and what that guarantees; releases and runs."""
    config = load(config_path)
    book = open_ledger(config.home)
    every = book.entries()
    entries = [entry for entry in every if entry.event == SPENT]
    names_of_jobs = _job_ids(config)
    exact = Counter((e.account, e.peer) for e in every if e.event == EXACT)
    runs = Counter((e.account, e.peer, e.rule) for e in every if e.event == RUN)
    totals = list(_totals(config, book, entries))
    unsigned = book.unsigned()
    names = ("sequence", "time", "job", "account", "dataset", "peer", "epsilon", "delta", "rho")
    listed = [
        {name: getattr(entry, name) for name in names} | {"job_id": names_of_jobs.get(entry.job)}
        for entry in entries
    ]

    def human(out: Screen) -> None:
        for entry in unsigned:
            name = names_of_jobs.get(entry.job, entry.job[:16])
            out.print(
                f"Entry {entry.sequence} ({entry.event}, {entry.time}, job {name}) lacks the signature of "
                f"{entry.peer!r}: the session broke at the gate."
                + (" That party had announced its own." if entry.signature else "")
            )
        if runs:
            rows_of_runs = [(*whose, count) for whose, count in runs.items()]
            out.print(table("runs", ("account", "peer", "rule", "began"), rows_of_runs))
        if exact:
            rows_of_exact = [(*whose, count) for whose, count in exact.items()]
            out.print(table("released without noise", ("account", "peer", "jobs"), rows_of_exact))
        if not entries:
            out.print("Nothing has been spent.")
            return
        rows = [
            (e.time, names_of_jobs.get(e.job), e.dataset, e.account, e.peer, described(e.loss))
            for e in entries
        ]
        out.print(table("spent", ("time", "job", "data set", "account", "peer", "loss"), rows))
        out.print(
            table(
                f"in total, as epsilon at delta {shown(DELTA_TOTAL)}",
                ("account", "peer", "sum of the losses", "epsilon"),
                [
                    (
                        t.account.name,
                        t.peer or "(all)",
                        described(t.spent.loss),
                        shown(t.spent.epsilon_at(DELTA_TOTAL)) if t.is_stated else "none",
                    )
                    for t in totals
                ],
            )
        )
        for total in totals:
            out.print(total.words())
        if len({total.account for total in totals}) > 1:
            out.print(
                "Accounts are about different people, so each stands for itself; a person who is in two of "
                "them has the sum. Declare such data sets with one population."
            )

    document = {
        "entries": listed,
        "totals": [total.document() for total in totals],
        "unsigned": [entry.sequence for entry in unsigned],
        "exact": [{"account": a, "peer": p, "jobs": count} for (a, p), count in exact.items()],
        "runs": [{"account": a, "peer": p, "rule": r, "began": n} for (a, p, r), n in runs.items()],
    }
    emit(document, human, as_json=as_json)


@click.command()
@config_option
@json_option
def log(config_path: Path | None, as_json: bool) -> None:
    """List all entries in their order: what began, was released, was signed, and who decided what."""
    config = load(config_path)
    entries = open_ledger(config.home).entries()
    names_of_jobs = _job_ids(config)

    def human(out: Screen) -> None:
        heads = ("entry", "time", "what", "job", "peer", "by or about")
        rows = [
            (e.sequence, e.time, e.event, names_of_jobs.get(e.job, e.job[:16]), e.peer, _about(e))
            for e in entries
        ]
        out.print(table("", heads, rows))

    listed = [entry.document() | {"job_id": names_of_jobs.get(entry.job)} for entry in entries]
    emit({"entries": listed}, human, as_json=as_json)


def _about(entry: Entry) -> str:
    """What an entry says beside job and peer, for people."""
    if entry.event == SPENT:
        return f"{entry.account}: {described(entry.loss)}"
    if entry.event == COUNTERSIGNED:
        return f"entry {entry.peer_sequence} of the peer"
    if entry.event in DECISIONS:
        return f"{entry.actor} (account {entry.uid})" if entry.actor else f"rule {entry.rule!r}"
    return f"{entry.account}: rule {entry.rule!r}" if entry.event == RUN else entry.account


def _odds(epsilon: Fraction) -> str:
    """e**epsilon for people, rounded up."""
    return f"{math.exp(epsilon) * 1.0005:.3g}" if epsilon < 700 else "any size"


def _totals(config: Config, book: Ledger, entries: list[Entry]) -> list[_Total]:
    """What each account has lost towards each peer, and towards all together where there are several."""
    try:
        declared = {d.name: d.population for d in load_catalog(config.catalog).datasets.values()}
    except ConfigError:
        declared = {}
    names = dict.fromkeys(declared.get(entry.dataset, entry.account) for entry in entries)
    found = []
    for name in names:
        account = Account(name, frozenset(d for d, population in declared.items() if population == name))
        latest = {e.peer: e.loss for e in entries if account.covers(e.account, e.dataset)}
        towards: list[str | None] = [*latest, *([None] if len(latest) > 1 else [])]
        for peer in towards:
            total = book.spent(account, peer)
            found.append(_Total(account, peer, total, latest[peer] if peer else Loss()))
    return found


def _job_ids(config: Config) -> dict[str, str]:
    """The names of the known jobs by the digests of their contracts, in hexadecimal."""
    if not (config.home / FILE).exists():
        return {}
    with closing(JobReader(config.home)) as jobs:
        return jobs.names_by_digest()
