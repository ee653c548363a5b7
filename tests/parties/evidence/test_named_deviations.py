"""Deviations inside a protocol, by somebody who knows it: that side is convicted, and the other is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident

import numpy as np
import pytest

from smc.channel.vectors import Bits
from smc.forms import Role
from smc.oblivious.silent_engine import SilentEngine
from smc.protocols.intersection import cuckoo, exact, opprf
from smc.secret.joins.circuit_psi import Aligned
from smc.secret.linear_ints import LinearInts
from tests.parties.evidence.covert import FOLLOWED, covert, finding, place
from tests.parties.evidence.test_covert_jobs import KINDS, NAMES, SHORT, prepare

Patch = pytest.MonkeyPatch
SUMS = "matching, exact sums"


class Inside:
    """In which threads a side is inside a function that it changes what is below of."""

    def __init__(self) -> None:
        self._threads: set[int] = set()

    @contextmanager
    def entered(self) -> Iterator[None]:
        self._threads.add(get_ident())
        try:
            yield
        finally:
            self._threads.discard(get_ident())

    def __bool__(self) -> bool:
        return get_ident() in self._threads


def flipped_noise(patch: Patch) -> None:
    """Its own shares of two biased bits of noise."""
    honest = SilentEngine.below

    def below(engine, words, bounds, *, silent=False):
        found = honest(engine, words, bounds, silent=silent)
        if engine._role is Role.BOB:
            found = found.copy()
            found[:2] ^= 1
        return found

    patch.setattr(SilentEngine, "below", below)


def more_matches(patch: Patch) -> None:
    """A number is added to the side's share of the count."""
    honest = Aligned.total

    def total(aligned, column):
        found = honest(aligned, column)
        if column.session.role is Role.ALICE:
            return found
        return LinearInts.from_shares(column.session, found.shares + np.uint64(5), found.bounds, found.scale)

    patch.setattr(Aligned, "total", total)


def all_match(patch: Patch) -> None:
    """The receiver of an intersection says that all keys of the sender match."""
    patch.setattr(exact, "Bits", lambda matched: Bits(np.ones_like(matched)))


def other_payloads(patch: Patch) -> None:
    """The store of a programmed function has other payloads than the committed column."""
    honest = opprf.send

    def send(session, keys, payloads, *given):
        if session.role is Role.BOB:
            payloads = payloads.copy()
            payloads[:, -1] += np.uint64(1)
        return honest(session, keys, payloads, *given)

    patch.setattr(opprf, "send", send)


def one_bin(patch: Patch) -> None:
    """A key is put into one of its three bins alone, so that it matches by chance."""
    inside, honest, simple = Inside(), opprf.send, cuckoo.simple

    def send(session, *given):
        if session.role is Role.ALICE:
            return honest(session, *given)
        with inside.entered():
            return honest(session, *given)

    def fewer(keys, seed, bins):
        places, numbers, hashes = simple(keys, seed, bins)
        if inside:
            places = places.copy()
            places[len(keys)] = places[2 * len(keys)] = places[0]
        return places, numbers, hashes

    patch.setattr(opprf, "send", send)
    patch.setattr(cuckoo, "simple", fewer)


@pytest.mark.parametrize(
    ("kind", "deviate", "guilty", "named"),
    [
        # The columns for the bits themselves, and then those of what is computed from them.
        (SHORT, flipped_noise, "south", ("transfer-columns", 1)),
        (SUMS, more_matches, "south", ("opened-shares", 0)),
        (
            "matching, keys of both sides, with a least intersection",
            all_match,
            "north",
            ("intersection-matches", 0),
        ),
        (SUMS, other_payloads, "south", ("store-piece", 0)),
        (SUMS, one_bin, "south", ("store-piece", 0)),
    ],
)
def test_who_deviates_inside_a_protocol_is_convicted(
    institutions, monkeypatch, kind, deviate: Callable[[Patch], None], guilty, named
):
    prepare(institutions)
    with monkeypatch.context() as patch:
        deviate(patch)
        job_id = institutions.submit(covert(KINDS[kind]))
        institutions.ended(job_id)
    found = {name: finding(institutions, name, job_id) for name in NAMES}
    (victim,) = {*NAMES} - {guilty}
    assert place(institutions, victim, job_id, found[guilty]) == named
    assert found[victim].outcome in FOLLOWED, found
