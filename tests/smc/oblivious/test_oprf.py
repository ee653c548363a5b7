"""Batched oblivious pseudorandom functions."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.channel.channel import Channel
from smc.errors import ProtocolViolation, UsageError
from smc.forms import Role
from smc.oblivious import gf16, oprf, oprf_steps
from smc.oblivious.oprf import PrfMatrix, PrfSums
from smc.oblivious.prf_ciphers import PrfCiphers
from smc.oblivious.workspace import Workspace
from smc.pair import run_pair
from smc.protocols.transfer_costs import SETUP_COST, cost_of
from tests.smc.oblivious.prf_runs import chi_square, spoiled
from tests.support.seeds import seeded

RANDOM = seeded()


def points(count):
    """Random inputs."""
    return RANDOM.words(2 * count).reshape(-1, 2)


def evaluated(inputs, width=16):
    """The receiver's values, and the sender's functions."""
    return run_pair(
        lambda s: s.oblivious.prf_receive(inputs, width), lambda s: s.oblivious.prf_send(len(inputs), width)
    )


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, (1 << 15) + 3])
@pytest.mark.parametrize("width", [1, 16, 40])
def test_both_sides_agree_where_the_receiver_asked_and_nowhere_else(count, width):
    inputs = points(count)
    values, keys = evaluated(inputs, width)
    order = RANDOM.permutation(count)
    assert values.shape == (count, width)
    assert (keys.evaluate(order, inputs[order]) == values[order]).all()
    if width >= 16:
        others = inputs ^ np.array([1, 0], dtype=np.uint64)
        assert not (keys.evaluate(np.arange(count), others) == values).all(axis=1).any()


def test_functions_of_instances_batches_and_directions_differ():
    inputs = np.zeros((50, 2), dtype=np.uint64)

    def alice(session):
        first, second = (session.oblivious.prf_receive(inputs) for _ in range(2))
        keys = session.oblivious.prf_send(50)
        return first, second, keys.evaluate(np.arange(50), inputs)

    def bob(session):
        keys = [session.oblivious.prf_send(50) for _ in range(2)]
        back = session.oblivious.prf_receive(inputs)
        return *(each.evaluate(np.arange(50), inputs) for each in keys), back

    a, b = run_pair(alice, bob)
    assert all((mine == theirs).all() for mine, theirs in zip(a, b, strict=True))
    assert len(np.unique(np.concatenate(a), axis=0)) == 150


def test_evaluation_refuses_instances_that_do_not_exist():
    keys = evaluated(points(3))[1]
    for instances in ([3], [-1]):
        with pytest.raises(UsageError):
            keys.evaluate(np.array(instances), points(1))
    with pytest.raises(UsageError):
        keys.evaluate(np.array([0, 1]), points(1))


@pytest.mark.parametrize("count", [1, 64, 100, (1 << 15) + 1])
def test_measured_bytes_and_rounds_are_the_declared_ones(count):
    inputs = points(count)
    _, traffic = run_pair(
        lambda s: s.oblivious.prf_receive(inputs),
        lambda s: (s.oblivious.prf_send(count), s.channel.traffic)[1],
    )
    declared = SETUP_COST + cost_of((*oprf_steps.SETUP, *oprf_steps.steps(count))).mirror
    assert (traffic.received, traffic.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert traffic.rounds == declared.rounds


def field_product(left, right):
    """Modulo w**4 + w + 1, bit by bit."""
    product = 0
    for bit in range(4):
        if right >> bit & 1:
            product ^= left << bit
    for bit in (6, 5, 4):
        if product >> bit & 1:
            product ^= 0b10011 << (bit - 4)
    return product


@given(st.lists(st.integers(0, 15), min_size=64, max_size=64), st.integers(0, 15))
def test_products_with_a_fixed_vector(vector, factor):
    masks = gf16.products(np.array(vector))
    for place in (0, 7, 63):
        found = 0
        for bit in range(4):
            parity = sum(factor >> power & 1 & int(masks[bit, power]) >> place for power in range(4))
            found |= (parity & 1) << bit
        assert found == field_product(vector[place], factor)


@given(st.lists(st.integers(0, 15), min_size=4, max_size=4))
def test_sums_times_powers(sums):
    planes = np.array([[[value >> bit & 1] for bit in range(4)] for value in sums], dtype=np.uint64)
    result = np.empty((4, 1), dtype=np.uint64)
    gf16.times_powers(planes, result)
    wanted = 0
    for power, value in enumerate(sums):
        wanted ^= field_product(value, 1 << power)
    assert sum(int(result[bit, 0]) << bit for bit in range(4)) == wanted


def test_code_words_are_far_apart_but_for_the_stated_chance():
    assert log2(oprf.distance_failure(1)) < -74
    assert oprf.distance_failure(1 << 34) < 2**-40
    ciphers = PrfCiphers(bytes(32), Role.ALICE, Workspace())
    words = np.concatenate(ciphers.code(0, points(20_000)), axis=1)
    differing = np.bitwise_or.reduce(words[::2] ^ words[1::2], axis=1)
    distances = np.bitwise_count(differing)
    assert distances.min() >= oprf.DISTANCE
    # 10,000 sums of 64 bits that are 1 with probability 15/16: five and a half deviations
    assert abs(float(distances.mean()) - 60) < 5.5 * (64 * 15 / 256 / 10_000) ** 0.5


def test_what_the_sender_sees_is_uniform_whatever_the_inputs(monkeypatch):
    seen = []
    honest = Channel.send

    def send(self, message):
        if isinstance(message, oprf.PrfMatrix):
            seen.append(message.encode())
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    for inputs in (np.zeros((4096, 2), dtype=np.uint64), points(4096)):
        evaluated(inputs)
    assert len(seen[0]) == len(seen[1]) == 32 * 4096
    assert all(chi_square(np.frombuffer(data, dtype=np.uint8)) for data in seen)


def test_values_at_other_points_are_uniform_to_the_receiver():
    inputs = points(5000)
    values, keys = evaluated(inputs)
    others = keys.evaluate(np.arange(5000), inputs ^ np.uint64(1))
    assert chi_square(others)
    assert chi_square(others ^ values)


@pytest.mark.parametrize("kind", [PrfSums.__name__, PrfMatrix.__name__])
def test_truncated_messages_are_refused(monkeypatch, kind):
    spoiled(monkeypatch, kind)
    with pytest.raises(ProtocolViolation):
        evaluated(points(3))
