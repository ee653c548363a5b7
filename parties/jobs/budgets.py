"""What each rule lets be spent on each population towards each peer, and what is left of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import ROUND_FLOOR
from fractions import Fraction

from parties.catalog.declaration import Catalog, load_catalog
from parties.config import Config
from parties.errors import BudgetError
from parties.ledger.accounting import Account, shown
from parties.ledger.book import Ledger
from parties.policy.rules import Rule, load_policy


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
            "spent": "all of delta" if self.spent is None else shown(self.spent),
            "total": shown(self.total),
            "left": shown(self.left, ROUND_FLOOR),
            "delta": shown(self.delta),
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


def _gauge(book: Ledger, rule: Rule, account: Account, peer: str) -> Gauge:
    try:
        spent = book.spent(account, peer).epsilon_at(rule.budget.delta)
    except BudgetError:
        spent = None
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
