"""Exact jobs about named persons, to be kept and compared."""

from __future__ import annotations

from parties.catalog.columns.persons import identities
from parties.disclosure.participants import ParticipantSet, persons_of
from parties.ledger.accounting import Account


def people(history, names):
    return persons_of(identities([str(name) for name in names], history.secret()))


def job(history, names, minimum=3, **changes):
    usual = {"job": "00ff", "account": Account.of("patients"), "dataset": "patients", "peer": "south"}
    return ParticipantSet(**(usual | changes), persons=people(history, names), minimum=minimum)


def record(history, participants):
    """Keep a job's persons, as where the ledger gets its entry; returns their digest."""
    with history.record(participants, bool) as digest:
        return digest
