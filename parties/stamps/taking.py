"""Takes a stamp: the audit log's head into the ledger, both heads under one digest, and that to the service.

    audit log          ledger                         statement                 service
      line 57   --->     entry 12: line 57, its hash
                         its head: entry 12   --->      party, 12, 57, salt
                                                        SHA-256 of it   --->      time, digest: signed
                                              stamps/...stamp   <--- checked ---

By the entry the audit log's head is under the ledger's, which peers see at the beginning of every session and
sign (`parties.ledger.heads`): also without a service, and with no message more.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from commons.logs.lines import Link
from parties.ledger.book import Ledger
from parties.ledger.entries import LOG_HEAD
from parties.stamp_settings import StampSettings
from parties.stamps.fetching import fetch
from parties.stamps.files import write_stamp
from parties.stamps.statement import StampStatement
from parties.stamps.tokens import check_answer, make_request, read_authorities


@dataclass(frozen=True, slots=True)
class Taken:
    """What was done.

    Attributes:
        ledger: the head of the ledger; None if it has no entry.
        log: the head of the audit log; None if it has no line.
        path: of the stamp; None without a service.
        time: that the service states; None without one.
    """

    ledger: Link | None
    log: Link | None
    path: Path | None = None
    time: datetime | None = None


def take_stamp(home: Path, party: str, settings: StampSettings, ledger: Ledger, log: Link | None) -> Taken:
    """Note the head of the audit log in the ledger, and have both stamped if a service is set.

    Args:
        home: the folder of the party.
        party: its name.
        settings: which service.
        ledger: its ledger.
        log: number and hash of the last line of its audit log; None if it has none.

    Raises:
        LedgerError: the ledger is broken or cannot be written.
        StampError: the service has not stamped, or the stamp is not genuine or cannot be kept.
        ConfigError: the authority's certificate cannot be read, or the extra `stamps` is not installed.
    """
    if log is not None:
        ledger.note(LOG_HEAD, log_line=log[0], log_hash=log[1])
    head = ledger.head()
    last = head.link if head is not None else None
    if not settings.url or settings.ca is None:
        return Taken(last, log)
    authorities = read_authorities(settings.ca)
    statement = StampStatement(party, last, log)
    request = make_request(statement.data)
    answer = fetch(settings, request.data)
    time = check_answer(answer, statement.data, authorities, request.nonce)
    return Taken(last, log, write_stamp(home, statement, answer, time), time)
