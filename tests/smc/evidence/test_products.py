"""Who deviates inside a product is named, a lattice evaluator or a sender of vectors; the other is not."""

from __future__ import annotations

from threading import get_ident

import numpy as np
import pytest

from smc.forms import Role
from smc.secret.lattice.matrices import HeldMatrix, PeerMatrix, layout_of
from smc.secret.products import gilboa
from tests.support.recorded import named, recorded

ROWS, INNER, COLUMNS, BOUND, WIDTH = 8, 16, 4, 100, 24
X = np.arange(ROWS * INNER).reshape(ROWS, INNER) % BOUND
Y = np.arange(INNER * COLUMNS, dtype=np.uint64).reshape(INNER, COLUMNS)
LAYOUT = layout_of(ROWS, INNER, COLUMNS, BOUND, WIDTH)


def program(session):
    if session.role is Role.ALICE:
        return HeldMatrix(session, LAYOUT, Y).times(ROWS)
    return PeerMatrix(session, LAYOUT).times(X)


def monomials(session):
    """Of an evaluator whose answers say nothing of its rows: the key holder's shares are its secrets then."""
    if session.role is Role.ALICE:
        return program(session)
    peer = PeerMatrix(session, LAYOUT)
    respond = peer._cipher.respond

    def answer(*given):
        second, shares = respond(*given)
        bent = np.zeros_like(second)
        bent[..., 0] = 1
        return bent, shares

    peer._cipher.respond = answer
    return peer.times(X)


def test_an_evaluator_that_answers_with_monomials_is_named():
    sides = recorded(monomials)
    assert all(each.error is None for each in sides.values())
    assert named(sides[Role.BOB], program) == ("lattice-response", 0)
    assert sides[Role.ALICE].verdict(program).is_cleared


def product(length):
    def side(session):
        if session.role is Role.ALICE:
            return gilboa.choose(session, np.arange(9, dtype=np.uint64), 4, length)
        return gilboa.send(session, np.arange(9 * length, dtype=np.uint64).reshape(9, length), 4)

    return side


@pytest.mark.parametrize(
    ("length", "kind"), [(1, "transfer-corrections"), (gilboa.SEEDED_LENGTH, "vector-corrections")]
)
def test_a_sender_that_gives_another_vector_for_a_bit_of_the_integers_is_named(monkeypatch, length, kind):
    honest, expanded, masks = product(length), gilboa._expand, {}

    def bent(session):
        correlate = session.oblivious.correlate
        if session.role is Role.BOB:
            masks[get_ident()] = []
            session.oblivious.correlate = lambda deltas: correlate(
                np.where(np.arange(len(deltas)), deltas, 7)
            )
        return honest(session)

    def other(*given):
        found, made = expanded(*given), masks.get(get_ident(), [])
        made.append(found)
        if len(made) == 2:  # the sender expands both seeds of each transfer
            found[0] -= np.uint64(1)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(gilboa, "_expand", other)
        sides = recorded(bent)
    assert all(each.error is None for each in sides.values())
    assert named(sides[Role.BOB], honest) == (kind, 0)
    assert sides[Role.ALICE].verdict(honest).is_cleared
