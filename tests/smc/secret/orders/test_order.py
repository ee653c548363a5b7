"""Orders of rows, and columns that are brought into them and back."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.shape_arrays import shape_array
from smc.pair import run_pair
from smc.secret.ints import SecretInts
from smc.secret.orders import permutation
from smc.secret.orders.order import Order
from smc.secret.sharing.bounds import Bounds
from smc.tracing.session import trace
from tests.support.seeds import seeded

RANDOM = seeded()
BOUNDS = Bounds(0, 1000)
COUNT = 150


def numbers(count=COUNT, upper=1000):
    return (RANDOM.words(count) % np.uint64(upper + 1)).astype(np.int64)


def shared(session, values, masks, scale=0):
    shares = masks if session.role is Role.ALICE else values.view(np.uint64) - masks
    return SecretInts.from_shares(session, shares, BOUNDS, scale)


def owned(session, values, owner):
    held = values if session.role is owner else None
    return SecretInts.from_plain(session, held, owner, BOUNDS, values.shape)


KEYS = {
    "neither": shared,
    "alice": lambda session, values, masks: owned(session, values, Role.ALICE),
    "bob": lambda session, values, masks: owned(session, values, Role.BOB),
}


@pytest.mark.parametrize("whose", KEYS)
def test_columns_of_all_kinds_come_into_order_and_back(whose):
    keys, x, y = numbers(upper=20), numbers(), numbers(2 * COUNT).reshape(COUNT, 2)
    masks = [RANDOM.words(values.size).reshape(values.shape) for values in (keys, x, y)]
    wanted = np.argsort(keys, kind="stable")

    def side(session):
        order = Order.of(KEYS[whose](session, keys, masks[0]))
        assert len(order) == COUNT
        columns = [
            shared(session, x, masks[1], scale=3),
            shared(session, y, masks[2]),
            owned(session, x, Role.ALICE),
            owned(session, x, Role.BOB),
        ]
        moved = order.apply(*columns)
        back = order.back(*moved)
        ranks = SecretInts.from_plain(
            session,
            np.arange(COUNT) if session.role is Role.BOB else None,
            Role.BOB,
            BOUNDS,
            COUNT,
        )
        (ranked,) = order.back(ranks)
        assert [each.scale for each in moved] == [3, 0, 0, 0]
        assert all(each.bounds == BOUNDS for each in moved)
        owners = [each.owner for each in moved[2:]]
        assert owners == [role if role.value == whose else None for role in Role]
        return [each.reveal() for each in (*moved, *back, ranked)]

    alice, bob = run_pair(side)
    assert all((a == b).all() for a, b in zip(alice, bob, strict=True))
    for found, values in zip(alice[:4], (x, y, x, x), strict=True):
        assert (found == values[wanted]).all()
    for found, values in zip(alice[4:8], (x, y, x, x), strict=True):
        assert (found == values).all()
    assert (alice[8][wanted] == np.arange(COUNT)).all()


def test_an_owners_columns_move_for_nothing_in_its_own_order():
    keys = numbers()

    def side(session):
        order = Order.of(owned(session, keys, Role.BOB))
        (moved,) = order.apply(owned(session, keys, Role.BOB))
        return moved.shares.view(np.int64), session.channel.traffic

    (alice, there), (bob, back) = run_pair(side)
    assert (bob == np.sort(keys)).all()
    assert not alice.any()
    assert there.sent == back.sent == 0


def test_a_further_column_costs_a_word_a_switch():
    keys, masks = numbers(), RANDOM.words(COUNT)

    def taken(count):
        def side(session):
            session.oblivious.setup()
            order = Order.of(owned(session, keys, Role.ALICE))
            before = session.channel.traffic
            order.apply(*[shared(session, keys, masks)] * count)
            return session.channel.traffic.since(before)

        return run_pair(side)

    few, many = taken(1), taken(5)
    assert few[0].sent == many[0].sent
    switches = 15 * 128
    assert many[1].sent - few[1].sent == 4 * 8 * switches
    assert many[0].rounds == few[0].rounds == 2


@pytest.mark.parametrize("whose", KEYS)
def test_a_run_over_shapes_takes_the_bytes_and_rounds_of_a_run(whose):
    keys, masks = numbers(), RANDOM.words(COUNT)

    def program(session, key, column):
        order = Order.of(key)
        order.back(*order.apply(column, column))

    def side(session):
        session.oblivious.setup()
        program(session, KEYS[whose](session, keys, masks), shared(session, keys, masks))
        return session.channel.traffic

    def shapes(session):
        session.oblivious.setup()
        column = SecretInts.from_shares(session, shape_array(COUNT, np.uint64), BOUNDS)
        key = KEYS[whose](session, shape_array(COUNT, np.int64), shape_array(COUNT, np.uint64))
        program(session, key, column)

    alice, bob = run_pair(side)
    found = trace(shapes)
    assert (alice.sent, bob.sent) == (found.alice_bytes, found.bob_bytes)
    assert max(alice.rounds, bob.rounds) == found.rounds


def test_an_order_that_one_party_makes():
    values, masks, wanted = numbers(), RANDOM.words(COUNT), RANDOM.permutation(COUNT)

    def side(session):
        order = Order.of_owner(session, Role.BOB, wanted if session.role is Role.BOB else None, COUNT)
        return order.apply(shared(session, values, masks))[0].reveal()

    alice, _ = run_pair(side)
    assert (alice == values[wanted]).all()


def test_what_does_not_fit_is_refused():
    def side(session):
        column = shared(session, numbers(4), np.zeros(4, dtype=np.uint64))
        order = Order.of_owner(session, Role.ALICE, np.arange(3) if session.role is Role.ALICE else None, 3)
        with pytest.raises(UsageError, match="4 rows, and the order 3"):
            order.apply(column)
        with pytest.raises(UsageError, match="wrong side"):
            Order.of_owner(session, Role.ALICE, None if session.role is Role.ALICE else np.arange(3), 3)
        with pytest.raises(UsageError, match="one dimension"):
            Order.of(column.reshape(2, 2))
        return session.channel.traffic.sent

    assert run_pair(side) == (0, 0)


def test_an_order_that_is_no_permutation_is_refused():
    def side(session):
        order = Order.of_owner(
            session, Role.ALICE, np.zeros(3, np.int64) if session.role is Role.ALICE else None, 3
        )
        return order.apply(shared(session, numbers(3), np.zeros(3, dtype=np.uint64)))

    with pytest.raises(UsageError, match="permutation"):
        run_pair(side)


def test_the_network_is_the_one_of_permutations(monkeypatch):
    """All columns of a step go through one network, whatever their shapes."""
    shapes = []
    honest = permutation.permute

    def watched(session, rows, *args, **kwargs):
        shapes.append(rows.shape)
        return honest(session, rows, *args, **kwargs)

    monkeypatch.setattr(permutation, "permute", watched)
    values, masks = numbers(12).reshape(6, 2), RANDOM.words(12).reshape(6, 2)

    def side(session):
        order = Order.of_owner(session, Role.ALICE, np.arange(6) if session.role is Role.ALICE else None, 6)
        wide, narrow = shared(session, values, masks), shared(session, values[:, 0], masks[:, 0])
        order.apply(wide, narrow, owned(session, values[:, 0], Role.BOB))

    run_pair(side)
    assert shapes == [(6, 4), (6, 4)]
