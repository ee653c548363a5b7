"""Products by lattice encryption: results, cost, messages, choice, and faults."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.products import gilboa, lattice_multiply
from smc.secret.products import words as products
from smc.secret.products.lattice_multiply import SlotQuery, SlotResponse, SlotZeros, cost
from smc.secret.sharing.bounds import SHARED, Bounds, Operand
from tests.smc.secret.secret_runs import RANDOM, TOP, Secret, check_cost, measured, opened, uniform
from tests.support.transcript import BYTES_BOUND, byte_statistic, shapes, transcripts, truncated


def program(x, y):
    def side(session):
        own = x if session.role is Role.ALICE else y
        return lattice_multiply.multiply(session, own), session.channel.traffic

    return side


def drawn(count, terms):
    return [RANDOM.words(count) for _ in range(terms)]


@pytest.mark.parametrize(("count", "terms"), [(1, 1), (8192, 2), (8193, 1), (30_000, 2), (60_000, 2)])
def test_products_and_their_cost(count, terms):
    x, y = drawn(count, terms), drawn(count, terms)
    side = program(x, y)
    (alice, there), (bob, back) = run_pair(side, side)
    assert (alice + bob == sum(a * b for a, b in zip(x, y, strict=True))).all()
    declared = cost(count, terms)
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(there.rounds, back.rounds) == declared.rounds


def test_a_product_takes_at_most_200_bytes():
    for count in (1 << 20, 1_000_000, 8192 * 40):
        both = cost(count, 2)
        assert (both.alice_bytes + both.bob_bytes) / count < 200


@pytest.mark.parametrize("bits", [31, 20])
def test_many_products_of_secrets_are_encrypted(bits, monkeypatch):
    count, most = 8000, (1 << bits) - 1
    x, y = (Secret(uniform(count, -most, most), Bounds(-most, most)) for _ in range(2))
    used = []
    honest = lattice_multiply.multiply
    monkeypatch.setattr(
        lattice_multiply, "multiply", lambda session, own: (used.append(len(own)), honest(session, own))[1]
    )
    assert (opened(lambda a, b: a * b, x, y) == x.held * y.held).all()
    assert (opened(lambda a: a * a, x) == x.held**2).all()
    assert sorted(used) == [1, 1, 2, 2]
    check_cost(products.cost_multiply(count), lambda a, b: a * b, x, y)


def test_what_does_not_fill_a_block_is_transferred_where_that_is_cheaper():
    count, full, most = 10_000, 8192, 1 << 20
    x, y = (Secret(uniform(count, -most, most), Bounds(-most, most)) for _ in range(2))
    for declared, spared, program, exact in (
        (products.cost_multiply, products.cost_multiply(count - full), lambda a, b: a * b, x.held * y.held),
        (products.cost_square, products.cost_square(count - full), lambda a, b: a * a, x.held**2),
    ):
        assert (opened(program, x, y) == exact).all()
        check_cost(declared(count), program, x, y)
        both = cost(full, 1 if declared is products.cost_square else 2) + spared
        assert declared(count) == both
    # Half a block more, and all are encrypted.
    assert products.cost_multiply(14_000) == cost(14_000, 2)
    check_cost(products.cost_square(count), lambda a: a * a, x)


def test_an_owned_factor_takes_one_term_and_short_ones_transfers():
    count = 8000
    x = Secret(uniform(count, -TOP // 4, TOP // 4), Bounds(-TOP // 4, TOP // 4), Role.BOB)
    y = Secret(uniform(count, -1, 1), Bounds(-1, 1))
    assert (opened(lambda a, b: a * b, x, y) == x.held * y.held).all()
    alice, bob = measured(lambda a, b: a * b, x, y)
    declared = cost(count, 1)
    assert (alice.sent, bob.sent) == (declared.alice_bytes, declared.bob_bytes)
    short = Operand(Bounds(0, 4095), Role.ALICE)
    transfers = products.cost_multiply(100_000, short, SHARED)
    assert transfers.alice_bytes + transfers.bob_bytes == gilboa.total_bytes(100_000, 1, 12)


def test_few_products_take_transfers():
    for count in (1, 1000, 4000):
        transfers = products.cost_multiply(count)
        assert transfers.alice_bytes + transfers.bob_bytes == 2 * gilboa.total_bytes(count, 1, 64)
    assert products.cost_multiply(8192) == cost(8192, 2)


def test_messages_say_nothing(monkeypatch):
    """Sizes follow from the count, and bytes are uniform for words that are all alike."""
    full = [np.full(100, TOP, dtype=np.uint64)]
    empty = [np.zeros(100, dtype=np.uint64)]
    results, seen = transcripts(monkeypatch, program(full, full))
    assert shapes(seen) == shapes(transcripts(monkeypatch, program(empty, empty))[1])
    for role, kind in ((Role.ALICE, SlotQuery), (Role.ALICE, SlotZeros), (Role.BOB, SlotResponse)):
        data = b"".join(body for name, body in seen[role] if name == kind.__name__)
        assert len(data) > 50_000
        assert byte_statistic(data) < BYTES_BOUND
    for shares, _ in results:
        assert len(np.unique(shares)) == shares.size


@pytest.mark.parametrize("kind", [SlotZeros, SlotQuery, SlotResponse])
def test_a_message_of_another_size_is_a_violation(monkeypatch, kind):
    channels = truncated(monkeypatch, kind.__name__)
    run = program(drawn(5, 1), drawn(5, 1))

    def watched(session):
        channels.append(session.channel)
        return run(session)

    both = (watched, run) if kind is SlotResponse else (run, watched)
    with pytest.raises(ProtocolViolation):
        run_pair(*both)
