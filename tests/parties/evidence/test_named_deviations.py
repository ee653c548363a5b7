"""Deviations inside a protocol, by somebody who knows it: that side is convicted, and the other is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident

import numpy as np
import pytest

from parties.auditors.audit import Outcome
from smc.channel.vectors import Bits
from smc.forms import Role
from smc.oblivious.laned_engine import LanedEngine
from smc.protocols.intersection import cuckoo, exact, opprf
from smc.secret.joins.circuit_psi import Aligned
from smc.secret.lattice.matrices import PeerMatrix
from smc.secret.linear_ints import LinearInts
from smc.secret.products import gilboa
from tests.parties.evidence.covert import FOLLOWED, covert, finding
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


def monomials(patch: Patch) -> None:
    """An evaluator of lattice products answers with a monomial: shares of the key holder are secrets then."""
    honest = PeerMatrix.send

    def send(peer, rows):
        if peer._session.role is Role.BOB:
            respond = peer._cipher.respond

            def answer(*given):
                second, shares = respond(*given)
                bent = np.zeros_like(second)
                bent[..., 0] = 1
                return bent, shares

            peer._cipher.respond = answer
        return honest(peer, rows)

    patch.setattr(PeerMatrix, "send", send)


def other_vectors(patch: Patch) -> None:
    """A sender gives another vector for the first bit of the chooser's integers than for the others."""
    inside, honest, expanded = Inside(), gilboa._send_seeded, gilboa._expanded
    turns = []

    def send(session, vectors, bits):
        if session.role is Role.ALICE:
            return honest(session, vectors, bits)
        with inside.entered():
            return honest(session, vectors, bits)

    def bent(key, seeds, length):
        masks = expanded(key, seeds, length)
        if inside:
            turns.append(key)
            if len(turns) == 2:  # the mask of a one in the first bits
                masks = masks.copy()
                masks[0] -= np.uint64(1)
        return masks

    patch.setattr(gilboa, "_send_seeded", send)
    patch.setattr(gilboa, "_expanded", bent)


def flipped_noise(patch: Patch) -> None:
    """Its own shares of two biased bits of noise."""
    honest = LanedEngine.below

    def below(engine, words, bounds, *, silent=False):
        found = honest(engine, words, bounds, silent=silent)
        if engine._role is Role.BOB:
            found = found.copy()
            found[:2] ^= 1
        return found

    patch.setattr(LanedEngine, "below", below)


def more_matches(patch: Patch) -> None:
    """A number is added to the own share of the count."""
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
    ("kind", "deviate", "guilty"),
    [
        ("models, counts over matched rows", monomials, "south"),
        ("validation", other_vectors, "south"),
        (SHORT, flipped_noise, "south"),
        (SUMS, more_matches, "south"),
        ("matching, keys of both sides, with a least intersection", all_match, "north"),
        (SUMS, other_payloads, "south"),
        (SUMS, one_bin, "south"),
    ],
)
def test_who_deviates_inside_a_protocol_is_convicted(
    institutions, monkeypatch, kind, deviate: Callable[[Patch], None], guilty
):
    prepare(institutions)
    with monkeypatch.context() as patch:
        deviate(patch)
        job_id = institutions.submit(covert(KINDS[kind]))
        institutions.ended(job_id)
    found = {name: finding(institutions, name, job_id) for name in NAMES}
    assert found.pop(guilty).outcome is Outcome.CONVICTED
    assert {each.outcome for each in found.values()} <= {*FOLLOWED}, found
