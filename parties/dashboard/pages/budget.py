"""Budget: what each rule lets be spent on each population towards each peer, and what was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_FLOOR
from fractions import Fraction

from starlette.requests import Request
from starlette.responses import Response

from parties.catalog.declaration import Catalog, load_catalog
from parties.config import Config
from parties.dashboard.drawing.desk import Desk, render
from parties.errors import BudgetError
from parties.ledger.accounting import Account, described, shown
from parties.ledger.book import Ledger, open_ledger
from parties.ledger.entries import SPENT
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


def page(desk: Desk, request: Request) -> Response:
    """The page."""
    config = desk.config
    book = open_ledger(config.home)
    entries = [entry for entry in book.entries() if entry.event == SPENT]
    return render(
        desk,
        request,
        "budget.html",
        gauges=list(gauges(config, book)),
        entries=[(e.time, e.account, e.dataset, e.peer, described(e.loss)) for e in reversed(entries)][:200],
        count=len(entries),
    )


def gauges(config: Config, book: Ledger) -> Iterator[Gauge]:
    """A gauge for every rule that lets something be spent, population and paired peer that it is about.

    Raises:
        ConfigError: policy or catalog are wrong.
        LedgerError: the ledger is not whole.
    """
    catalog = load_catalog(config.catalog)
    for rule in load_policy(config.policy).rules:
        if rule.budget.epsilon:
            for account in _accounts(catalog, rule):
                for peer in config.peers:
                    if not rule.peers.isdisjoint((peer.name, "*")):
                        yield _gauge(book, rule, account, peer.name)


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
