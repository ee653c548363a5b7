"""What has been spent on whom towards which peer, what that guarantees, and what rules leave of it."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from parties.catalog.declarations.declaration import load_catalog
from parties.config import Config
from parties.errors import ConfigError, StorageError
from parties.jobs.storage.reading import JobReader
from parties.ledger.accounting import DELTA_TOTAL, Account, Spent, describe_loss, show_number
from parties.ledger.book import Ledger, open_ledger
from parties.ledger.entries import EXACT, RUN, SPENT
from smc.analyses.studies.loss import Loss

_LOSSES = ("sequence", "time", "job", "account", "dataset", "peer", "epsilon", "delta", "rho")


@dataclass(frozen=True, slots=True)
class Total:
    """What an account has lost towards a peer, or towards all together if `peer` is None."""

    account: Account
    peer: str | None
    spent: Spent
    latest: Loss

    def document(self) -> dict[str, Any]:
        """As plain JSON values; losses are exact, as texts."""
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
        """Whether the jobs leave some of delta, so that a guarantee can be stated."""
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
            spent = describe_loss(self.spent.loss)
            return (
                f"{about} cannot be stated at delta {show_number(DELTA_TOTAL)}, since more is spent: {spent}."
            )
        epsilon = self.spent.epsilon_at(DELTA_TOTAL)
        return (
            f"{about} is ({show_number(epsilon)}, {show_number(DELTA_TOTAL)})-differentially private: "
            "whether any one person is in the data changes the odds of any conclusion by a factor of "
            f"{_odds(epsilon)} at most, but for a chance of {show_number(DELTA_TOTAL)}. (Where no person is "
            "declared, read row.)" + self._room()
        )

    def _room(self) -> str:
        if self.peer is None or self.jobs_left is None:
            return ""
        return f" Delta {show_number(DELTA_TOTAL)} has room for {self.jobs_left} more jobs like the latest."


def ledger_document(config: Config) -> dict[str, Any]:
    """What has been spent, by account and peer, with releases and runs, as plain JSON values.

    Returns:
        `entries`: each loss; `totals`: of each account towards each peer, and towards all; `unsigned`: the
        numbers of entries that lack the peer's signature; `exact`: releases without noise; `runs`: by rule.

    Raises:
        LedgerError: the ledger is not whole.
    """
    book = open_ledger(config.home)
    every = book.entries()
    names = names_of_jobs(config)
    exact = Counter((e.account, e.peer) for e in every if e.event == EXACT)
    runs = Counter((e.account, e.peer, e.rule) for e in every if e.event == RUN)
    return {
        "entries": [
            {name: getattr(entry, name) for name in _LOSSES} | {"job_id": names.get(entry.job)}
            for entry in every
            if entry.event == SPENT
        ],
        "totals": [total.document() for total in totals(config, book)],
        "unsigned": [entry.sequence for entry in book.to_sign()],
        "exact": [{"account": a, "peer": p, "jobs": count} for (a, p), count in exact.items()],
        "runs": [{"account": a, "peer": p, "rule": r, "began": n} for (a, p, r), n in runs.items()],
    }


def log_document(config: Config) -> dict[str, Any]:
    """All entries of the ledger in their order, as plain JSON values.

    Raises:
        LedgerError: the ledger is not whole.
    """
    names = names_of_jobs(config)
    entries = open_ledger(config.home).entries()
    return {"entries": [entry.document() | {"job_id": names.get(entry.job)} for entry in entries]}


def _odds(epsilon: Fraction) -> str:
    """e**epsilon for people, rounded up."""
    return f"{math.exp(epsilon) * 1.0005:.3g}" if epsilon < 700 else "any size"


def totals(config: Config, book: Ledger) -> list[Total]:
    """What each account has lost towards each peer, and towards all together where there are several."""
    entries = [entry for entry in book.entries() if entry.event == SPENT]
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
            total = book.spending(account, peer)
            found.append(Total(account, peer, total, latest[peer] if peer else Loss()))
    return found


def names_of_jobs(config: Config) -> dict[str, str]:
    """The names of the known jobs by the digests of their contracts, in hexadecimal.

    None where the database of the jobs cannot be read as it stands: the ledger is a file of its own, and
    what it holds is shown without names. Nothing is written.
    """
    try:
        with closing(JobReader(config.home, only_looks=True)) as jobs:
            return jobs.names_by_digest()
    except StorageError:
        return {}
