"""What each rule lets be spent on each population towards each peer, and what is left of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import Final

from parties.catalog.declarations.declaration import Catalog, load_catalog
from parties.config import Config
from parties.errors import BudgetError
from parties.ledger.accounting import Account, Spent, show_number
from parties.ledger.book import Ledger
from parties.ledger.entries import SPENT, Entry
from parties.policy.rules import Rule, load_policy
from smc.analyses.studies.loss import Loss

MAX_STEPS: Final = 100
"""Jobs of one gauge whose sums are shown."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """What one rule allows on one population towards one peer.

    Attributes:
        rule: its name.
        account: the population.
        datasets: its local data sets.
        peer: the other party.
        delta: at which the epsilons are totalled.
        spent: epsilon so far, rounded up; None where the jobs have used up delta.
        total: the epsilon that the rule allows.
    """

    rule: str
    account: str
    datasets: tuple[str, ...]
    peer: str
    delta: Fraction
    spent: Fraction | None
    total: Fraction

    @property
    def left(self) -> Fraction:
        """The epsilon that is left; 0 where the jobs have used up delta."""
        return Fraction(0) if self.spent is None else max(Fraction(0), self.total - self.spent)

    def words(self) -> dict[str, str]:
        """The figures for people: what is spent rounded up, what is left rounded down."""
        return {
            "spent": "all of delta" if self.spent is None else show_number(self.spent),
            "total": show_number(self.total),
            "left": show_number(self.left, ROUND_FLOOR),
            "delta": show_number(self.delta),
        }


def gauges(config: Config, book: Ledger, peers: Collection[str]) -> Iterator[Gauge]:
    """A gauge for every rule that lets something be spent, population and peer that it is about.

    Raises:
        ConfigError: policy or catalog are wrong.
        LedgerError: the ledger is not whole.
    """
    catalog = load_catalog(config.catalog)
    for rule in load_policy(config.policy).rules:
        if rule.budget.epsilon:
            for account in _accounts(catalog, rule):
                for peer in peers:
                    if not rule.peers.isdisjoint((peer, "*")):
                        yield _gauge(book, rule, account, peer)


@dataclass(frozen=True, slots=True)
class Step:
    """One job that has spent something.

    Attributes:
        time: when, RFC 3339 in UTC.
        job: digest of its contract.
        dataset: the local data set.
        loss: what it has spent.
        total: epsilon of this and all earlier ones together, rounded up; None where they have used up delta.
    """

    time: str
    job: str
    dataset: str
    loss: Loss
    total: Fraction | None

    @property
    def words(self) -> str:
        """`total` for people."""
        return "all of delta" if self.total is None else show_number(self.total)


def steps(gauge: Gauge, entries: Iterable[Entry]) -> list[Step]:
    """What was spent when, of what a gauge is about, the oldest first; `MAX_STEPS` at most, the newest.

    Args:
        gauge: of a rule, population and peer.
        entries: of the ledger.
    """
    account = Account(gauge.account, frozenset(gauge.datasets))
    together, found = Spent(), []
    for entry in entries:
        if entry.event == SPENT and entry.peer == gauge.peer and account.covers(entry.account, entry.dataset):
            together += entry.loss
            found.append((entry, together))
    return [
        Step(entry.time, entry.job, entry.dataset, entry.loss, _total(sofar, gauge.delta))
        for entry, sofar in found[-MAX_STEPS:]
    ]


def _total(spent: Spent, delta: Fraction) -> Fraction | None:
    try:
        return spent.epsilon_at(delta)
    except BudgetError:
        return None


def _gauge(book: Ledger, rule: Rule, account: Account, peer: str) -> Gauge:
    spent = _total(book.spending(account, peer), rule.budget.delta)
    datasets = tuple(sorted(account.datasets))
    return Gauge(rule.name, account.name, datasets, peer, rule.budget.delta, spent, rule.budget.epsilon)


def _accounts(catalog: Catalog, rule: Rule) -> list[Account]:
    """The populations of the data sets that a rule is about, each with all of its data sets."""
    about = {
        dataset.population
        for dataset in catalog.datasets.values()
        if not rule.datasets.isdisjoint((dataset.name, "*"))
    }
    return [
        Account(name, frozenset(d.name for d in catalog.datasets.values() if d.population == name))
        for name in sorted(about)
    ]
