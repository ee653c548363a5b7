"""Identities whose certificates begin and end when a test wants it."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from parties.pki import certificate
from tests.parties.rpc.harness import public

START = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)


def real_now():
    return dt.datetime.now(dt.UTC)


def certified(own, made):
    """An identity whose certificate was made at this time."""
    pem, key = certificate.make(own.name, made)
    return replace(own, certificate=pem, tls_key=key)


def ending_in(own, left):
    """An identity whose certificate has so much time left by the real clock."""
    return certified(own, real_now() + left - certificate.DAYS * DAY)


def renewed(own):
    return replace(own, renewed=certificate.make(own.name))


def both(own):
    return replace(public(own), certificates=own.certificates)
