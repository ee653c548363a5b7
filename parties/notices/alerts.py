"""What is told because it holds, not because it has just happened: budgets, dates, jobs that wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

from parties.clock import moment
from parties.config import Config
from parties.contracts.records import Summary
from parties.contracts.state import WAITING
from parties.hooks import EventKind
from parties.jobs.storage.reading import JobReader
from parties.ledger.book import Ledger
from parties.ledger.doubts import Whose
from parties.ledger.heads import ledger_doubts
from parties.pki import certificate
from parties.policy.budgets import gauges
from smc.errors import DuettoError

SHARES: Final = (Fraction(95, 100), Fraction(80, 100))
"""Of a budget, at which somebody is told once."""

DAYS: Final = (1, 7, 30)
"""Before the end of a certificate, at which somebody is told once."""

_LAST: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that holds.

    Attributes:
        event: what is told of it.
        subject: what it is about; stays in the home.
        state: which bound is reached.
        peer: the other party; empty for none.
        job: the job; empty for none.
    """

    event: EventKind
    subject: str
    state: str
    peer: str = ""
    job: str = ""

    @property
    def key(self) -> str:
        """What tells it from others."""
        return "|".join((self.event.value, self.subject, self.state))


Sources = Iterable[tuple[EventKind, Callable[[], Iterable[Alert]]]]
"""By event, what finds the conditions that hold."""


def budgets(config: Config, ledger: Ledger) -> Iterator[Alert]:
    """Which budgets are nearly spent, the highest bound first."""
    for gauge in gauges(config, ledger, [peer.name for peer in config.peers]):
        subject = f"{gauge.rule}/{gauge.account}/{gauge.peer}"
        for share in SHARES:
            if gauge.spent is None or gauge.spent >= share * gauge.total:
                yield Alert(EventKind.BUDGET, subject, f"{int(100 * share)} % or more", gauge.peer)


def certificates(own: bytes, peers: Mapping[str, bytes], now: datetime, name: str) -> Iterator[Alert]:
    """Which certificates end soon, the nearest bound first.

    Args:
        own: those of this party, PEM.
        peers: those of the peers, PEM.
        now: the time.
        name: of this party.
    """
    for subject, peer, pem in ((name, "", own), *((peer, peer, pem) for peer, pem in peers.items())):
        left = certificate.ends(pem) - now
        for days in DAYS:
            if left <= timedelta(days=days):
                state = f"ends-within-{days}-days" if days > 1 else "ends-within-a-day"
                # By its end, so that the next certificate is told of again.
                yield Alert(
                    EventKind.CERTIFICATE, f"{subject}/{certificate.ends(pem).timestamp():.0f}", state, peer
                )


def expiring(
    jobs: JobReader, wait_days: int, now: datetime, is_ending: Callable[[Summary], bool]
) -> Iterator[Alert]:
    """Which jobs end within a day because nobody decides, the peer does not come or an approval ends.

    Args:
        jobs: all of them.
        wait_days: for how long a job waits in one state.
        now: the time.
        is_ending: whether the approval of an approved job ends within a day.
    """
    age = timedelta(days=wait_days)
    early = max(age - _LAST, age / 2)
    for job in jobs.all(*WAITING):
        if now - moment(job.updated) >= early or is_ending(job):
            yield Alert(EventKind.EXPIRING, job.job_id, job.state.value, job.peer, job.job_id)


def doubtful(ledger: Ledger) -> Iterator[Alert]:
    """Which ledgers speak against each other."""
    for doubt in ledger_doubts(ledger):
        state = "own-ledger-in-doubt" if doubt.whose is Whose.OWN else "ledger-in-doubt"
        yield Alert(EventKind.PEER, doubt.peer, state, doubt.peer)


def all_alerts(
    config: Config,
    ledger: Ledger,
    jobs: JobReader,
    pems: tuple[bytes, Mapping[str, bytes]],
    is_ending: Callable[[Summary], bool],
) -> Sources:
    """All that is told because it holds; each is asked when it is called.

    Args:
        config: of the party.
        ledger: its ledger.
        jobs: its jobs.
        pems: its certificates, and those of its peers by name; PEM.
        is_ending: whether the approval of an approved job ends within a day.
    """
    now, own, peers = ledger.clock.now(), *pems
    return (
        (EventKind.BUDGET, lambda: budgets(config, ledger)),
        (EventKind.CERTIFICATE, lambda: certificates(own, peers, now, config.name)),
        (EventKind.EXPIRING, lambda: expiring(jobs, config.limits.wait_days, now, is_ending)),
        (EventKind.PEER, lambda: doubtful(ledger)),
    )


def newly_true(sources: Sources, told: set[str]) -> tuple[list[Alert], set[str]]:
    """Which conditions are to be told, and which were told then.

    Of several bounds of one subject that are reached at once only the first is told. Where a source cannot be
    read nothing changes.

    Args:
        sources: by event, what holds.
        told: keys of conditions that were told, and held when this was asked last.
    """
    new, now = [], set[str]()
    for event, source in sources:
        found = None
        with suppress(DuettoError):  # doctor and log tell of it
            found = [*source()]
        if found is None:
            now |= {key for key in told if key.startswith(f"{event.value}|")}
            continue
        now |= {condition.key for condition in found}
        subjects = set[str]()
        for condition in found:
            if condition.key not in told and condition.subject not in subjects:
                new.append(condition)
            subjects.add(condition.subject)
    return new, now
