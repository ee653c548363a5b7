"""Matrix products by lattice encryption: results, cost, messages, and faults."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smc.errors import ProtocolViolation, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.lattice import matrices as lattice_products
from smc.secret.lattice.matrices import (
    HeldMatrix,
    LatticeQuery,
    LatticeResponse,
    PeerMatrix,
    cost,
    layout_of,
)
from tests.smc.secret.secret_runs import RANDOM, uniform
from tests.support.transcript import BYTES_BOUND, byte_statistic, shapes, transcripts, truncated


def words(shape, width):
    return RANDOM.words(int(np.prod(shape))).reshape(shape) & np.uint64((1 << width) - 1)


def program(layout, left, right, parts=1):
    """Both sides; Alice multiplies her rows in so many calls, and Bob holds the other matrix."""

    def side(session):
        if session.role is Role.ALICE:
            peer = PeerMatrix(session, layout)
            found = [peer.times(rows) for rows in np.array_split(left, parts)]
        else:
            own = HeldMatrix(session, layout, right)
            found = [own.times(len(rows)) for rows in np.array_split(left, parts)]
        return np.concatenate(found), session.channel.traffic

    return side


@pytest.mark.parametrize(
    ("rows", "inner", "columns", "bound", "width"),
    [
        (1, 1, 1, 1, 1),
        (3, 2, 5, 1, 8),
        (100, 128, 90, 128, 24),
        (300, 5, 7, 4095, 32),
        (2, 300, 3, 128, 24),
        (5, 2, 4100, 10, 20),
        (4100, 2, 3, 10, 20),
        (9, 20, 11, 1 << 15, 43),
        (9, 20, 11, 1 << 12, 64),
    ],
)
@pytest.mark.parametrize("worst", [False, True])
def test_products(rows, inner, columns, bound, width, worst):
    layout = layout_of(rows, inner, columns, bound, width)
    left, right = uniform((rows, inner), -bound, bound), words((inner, columns), width)
    if worst:
        left[:], right[:] = -bound, (1 << width) - 1
    side = program(layout, left, right)
    (alice, there), (bob, back) = run_pair(side, side)
    mask = np.uint64((1 << width) - 1)
    assert ((alice + bob & mask) == (left.view(np.uint64) @ right & mask)).all()
    assert (alice <= mask).all()
    declared = cost(rows, inner, columns, bound, width)
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(there.rounds, back.rounds) == declared.rounds == 2


def test_many_calls_and_batches(monkeypatch):
    monkeypatch.setattr(lattice_products, "_BATCH_WORDS", 1 << 12)
    layout = layout_of(500, 12, 30, 50, 20)
    assert len(list(layout.batches(170))) > 1
    left, right = uniform((500, 12), -50, 50), words((12, 30), 20)
    side = program(layout, left, right, parts=3)
    (alice, _), (bob, _) = run_pair(side, side)
    mask = np.uint64((1 << 20) - 1)
    assert ((alice + bob & mask) == (left.view(np.uint64) @ right & mask)).all()


def test_every_layout_is_right():
    """Of the same small matrices, whatever fits together into a polynomial."""
    best = layout_of(6, 5, 7, 9, 16)
    left, right = uniform((6, 5), -9, 9), words((5, 7), 16)
    for rows_each in (1, 2, 8):
        for inner_each in (1, 4, 8):
            layout = replace(best, rows_each=rows_each, inner_each=inner_each)
            side = program(layout, left, right)
            (alice, _), (bob, _) = run_pair(side, side)
            found = alice + bob & np.uint64((1 << 16) - 1)
            assert (found == left.view(np.uint64) @ right & np.uint64((1 << 16) - 1)).all()


def test_messages_say_nothing(monkeypatch):
    """Their sizes depend on public sizes alone, and their bytes are uniform at the most uneven data."""
    layout = layout_of(40, 16, 30, 100, 24)
    full = np.full((40, 16), 100), np.full((16, 30), (1 << 24) - 1, dtype=np.uint64)
    nothing = np.zeros((40, 16), dtype=np.int64), np.zeros((16, 30), dtype=np.uint64)
    results, seen = transcripts(monkeypatch, program(layout, *full))
    assert shapes(seen) == shapes(transcripts(monkeypatch, program(layout, *nothing))[1])
    for role, kind in ((Role.ALICE, LatticeQuery), (Role.BOB, LatticeResponse)):
        data = b"".join(body for name, body in seen[role] if name == kind.__name__)
        assert len(data) > 5_000
        assert byte_statistic(data) < BYTES_BOUND
    for shares, _ in results:
        low = (shares.reshape(-1) & np.uint64(0xFFFF)).astype("<u2").tobytes()
        assert byte_statistic(low) < BYTES_BOUND


def test_masks_and_secrets_are_drawn_afresh(monkeypatch):
    layout = layout_of(4, 3, 5, 9, 16)
    held = uniform((4, 3), -9, 9), words((3, 5), 16)
    bodies = [transcripts(monkeypatch, program(layout, *held))[1] for _ in range(2)]
    for role in Role:
        for (_, first), (_, second) in zip(*(seen[role] for seen in bodies), strict=True):
            same = np.frombuffer(first, np.uint8) == np.frombuffer(second, np.uint8)
            assert same.mean() < 0.25


def test_a_message_of_another_size_is_a_violation(monkeypatch):
    channels = truncated(monkeypatch, LatticeResponse.__name__)
    layout = layout_of(4, 3, 5, 9, 16)
    run = program(layout, uniform((4, 3), -9, 9), words((3, 5), 16))

    def alice(session):
        channels.append(session.channel)
        return run(session)

    with pytest.raises(ProtocolViolation):
        run_pair(alice, run)


def test_matrices_of_another_shape_or_size_are_refused():
    layout = layout_of(4, 3, 5, 9, 16)
    right = words((3, 5), 16)

    def alice(session):
        peer = PeerMatrix(session, layout)
        for wrong in (np.zeros((4, 2)), np.full((1, 3), 10), np.full((1, 3), -10)):
            with pytest.raises(UsageError, match="rows of 3 entries up to 9"):
                peer.times(wrong.astype(np.int64))

    def bob(session):
        with pytest.raises(UsageError, match="shape"):
            HeldMatrix(session, layout, right[:, :4])
        HeldMatrix(session, layout, right)

    run_pair(alice, bob)


def test_sizes_that_no_secure_lattice_takes():
    assert layout_of(10, 10, 10, 1 << 50, 24) is None
    assert layout_of(10, 10, 10, 1, 65) is None
    with pytest.raises(UsageError, match="oblivious transfer"):
        cost(10, 10, 10, 1, 65)
