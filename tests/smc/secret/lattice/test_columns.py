"""Inner products of long columns by lattice encryption: results, cost, messages, and faults."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from smc.ciphers.lattice import SEED_BYTES
from smc.errors import ProtocolViolation, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.lattice import columns as lattice_columns
from smc.secret.lattice.columns import (
    HeldColumns,
    LatticeColumns,
    LatticeInner,
    LatticeZeros,
    PeerInner,
    columns_layout,
    cost,
    cost_exchange,
    exchange_columns,
    inner_products,
)
from tests.smc.secret.secret_runs import RANDOM, uniform
from tests.support.transcript import BYTES_BOUND, byte_statistic, shapes, transcripts, truncated, used_bits


def words(shape, width):
    return RANDOM.words(int(np.prod(shape))).reshape(shape) & np.uint64((1 << width) - 1)


def program(layout, rows, columns, parts=1):
    """Both sides; Alice has integers, in so many calls, and Bob the columns."""

    def side(session):
        pieces = np.array_split(rows, parts)
        if session.role is Role.ALICE:
            peer = PeerInner(session, layout)
            for group in layout.groups():
                peer.take(group)
            found = [peer.times(part) for part in pieces]
        else:
            held = HeldColumns(session, layout, columns)
            for group in layout.groups():
                held.send(group)
            found = [held.times(len(part)) for part in pieces]
        return np.concatenate(found), session.channel.traffic

    return side


@pytest.mark.parametrize(
    ("rows", "length", "columns", "bound", "width"),
    [(1, 1, 1, 1, 1), (3, 1000, 2, 4095, 64), (40, 100, 3, 1 << 31, 32), (2, 20_000, 5, 1 << 20, 50)],
)
def test_products_and_their_cost(rows, length, columns, bound, width):
    layout = columns_layout(length, columns, bound, rows, width)
    x, y = uniform((rows, length), -bound, bound), words((length, columns), width)
    side = program(layout, x, y)
    (alice, there), (bob, back) = run_pair(side, side)
    mask = np.uint64((1 << width) - 1)
    assert ((alice + bob & mask) == (x.view(np.uint64) @ y & mask)).all()
    declared = cost(rows, length, columns, bound, width)
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(there.rounds, back.rounds) == declared.rounds == 2


def test_columns_serve_many_calls_both_ways_at_once(monkeypatch):
    """And however few bytes go at once."""
    layouts = {
        Role.ALICE: columns_layout(30_000, 2, 1 << 31, 6, 32),
        Role.BOB: columns_layout(9_000, 1, 1 << 31, 6, 32),
    }
    monkeypatch.setattr(lattice_columns, "SPAN_BYTES", 1 << 19)
    assert len(list(layouts[Role.ALICE].groups())) > len(list(layouts[Role.BOB].groups()))
    columns = {
        role: words((each.parameters.length, each.parameters.columns), 32) for role, each in layouts.items()
    }
    rows = {role: uniform((6, each.parameters.length), -(1 << 31), 1 << 31) for role, each in layouts.items()}

    def side(session):
        mine, peer = session.role, session.role.other
        held, inner = exchange_columns(session, (layouts[mine], columns[mine]), layouts[peer])
        traffic = session.channel.traffic
        found = []
        for part in (slice(0, 2), slice(2, 6)):
            given = inner.times(rows[peer][part])
            found.append((held.times(part.stop - part.start), given))
        return [np.concatenate(parts) for parts in zip(*found, strict=True)], traffic

    (alice, there), (bob, back) = run_pair(side, side)
    for role, mine, given in ((Role.ALICE, alice[0], bob[1]), (Role.BOB, bob[0], alice[1])):
        wanted = rows[role].view(np.uint64) @ columns[role]
        assert ((mine + given - wanted).astype(np.uint32) == 0).all()
    declared = cost_exchange(layouts[Role.ALICE], layouts[Role.BOB])
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)


def test_messages_say_nothing(monkeypatch):
    """Their sizes depend on public sizes alone, and their bytes are uniform at the most uneven data.

    Of ciphertexts all bytes but the idle bits are: those are zero whatever the data.
    """
    layout = columns_layout(400, 3, 1 << 20, 20, 32)
    lattice = layout.parameters.lattice
    assert lattice.idle_bits > 0
    # Responses have no idle bits.
    assert lattice.second_bits <= lattice.modulus_bits - lattice.idle_bits
    full = np.full((20, 400), 1 << 20), np.full((400, 3), (1 << 32) - 1, dtype=np.uint64)
    nothing = np.zeros((20, 400), dtype=np.int64), np.zeros((400, 3), dtype=np.uint64)
    results, seen = transcripts(monkeypatch, program(layout, *full))
    assert shapes(seen) == shapes(transcripts(monkeypatch, program(layout, *nothing))[1])

    def zeros(body):
        return body[:SEED_BYTES] + used_bits(lattice, body[SEED_BYTES:])

    kinds = (
        (Role.ALICE, LatticeColumns, partial(used_bits, lattice)),
        (Role.ALICE, LatticeZeros, zeros),
        (Role.BOB, LatticeInner, bytes),
    )
    for role, kind, used in kinds:
        data = b"".join(used(body) for name, body in seen[role] if name == kind.__name__)
        assert len(data) > 5_000
        assert byte_statistic(data) < BYTES_BOUND
    for shares, _ in results:
        assert len(np.unique(shares)) == shares.size


def test_masks_and_secrets_are_drawn_afresh(monkeypatch):
    layout = columns_layout(50, 2, 9, 4, 32)
    held = uniform((4, 50), -9, 9), words((50, 2), 32)
    bodies = [transcripts(monkeypatch, program(layout, *held))[1] for _ in range(2)]
    for role in Role:
        for (_, first), (_, second) in zip(*(seen[role] for seen in bodies), strict=True):
            same = np.frombuffer(first, np.uint8) == np.frombuffer(second, np.uint8)
            assert same.mean() < 0.25


def test_padding_that_is_not_zero_is_a_violation(monkeypatch):
    """The entries of these columns leave their last group of eight words incomplete."""
    layout = columns_layout(50, 1, 9, 4, 32)
    honest, entries = lattice_columns.pack_words, 50 * layout.parameters.lattice.limbs
    assert entries % 8

    def dirty(values, bits):
        data = honest(values, bits)
        if len(values) == entries:
            data[-1] |= 128
        return data

    monkeypatch.setattr(lattice_columns, "pack_words", dirty)
    run = program(layout, uniform((4, 50), -9, 9), words((50, 1), 32))
    with pytest.raises(ProtocolViolation, match="padding"):
        run_pair(run, run)


@pytest.mark.parametrize("kind", [LatticeZeros, LatticeColumns, LatticeInner])
def test_a_message_of_another_size_is_a_violation(monkeypatch, kind):
    channels = truncated(monkeypatch, kind.__name__)
    layout = columns_layout(50, 2, 9, 4, 32)
    run = program(layout, uniform((4, 50), -9, 9), words((50, 2), 32))

    def watched(session):
        channels.append(session.channel)
        return run(session)

    both = (watched, run) if kind is LatticeInner else (run, watched)
    with pytest.raises(ProtocolViolation):
        run_pair(*both)


def test_what_does_not_fit_is_refused():
    layout = columns_layout(50, 2, 9, 4, 32)

    def alice(session):
        with pytest.raises(UsageError, match="neither"):
            inner_products(session, layout, None, None)
        with pytest.raises(UsageError, match="have not come"):
            PeerInner(session, layout).send(np.zeros((1, 50), dtype=np.int64))
        return program(layout, uniform((4, 50), -9, 9), None)(session)

    def bob(session):
        with pytest.raises(UsageError, match="shape"):
            HeldColumns(session, layout, words((50, 3), 32))
        return program(layout, np.zeros((4, 50)), words((50, 2), 32))(session)

    run_pair(alice, bob)
    with pytest.raises(UsageError, match="oblivious transfer"):
        cost(10, 10, 10, 1, 65)
