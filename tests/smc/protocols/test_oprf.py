"""Oblivious functions by vector OLE: both sides agree at the receiver's points, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.channel.vectors import byte_row
from smc.errors import ProtocolViolation, UsageError
from smc.oblivious.vole import ReceivedVole, SentVole, VoleChallenge
from smc.pair import run_pair
from smc.protocols.intersection import oprf, single_oprf
from smc.protocols.intersection.oprf import OprfOpening, OprfStore
from smc.protocols.intersection.records import cost_oprf, cost_single_oprf
from tests.smc.oblivious.prf_runs import chi_square
from tests.support.seeds import seeded

RANDOM = seeded()


def points(count):
    return RANDOM.words(2 * count).reshape(-1, 2)


def many(inputs):
    """Both ends of one function, and the receiver's traffic."""
    return run_pair(
        lambda s: (oprf.receive(s, inputs), s.channel.traffic), lambda s: oprf.send(s, len(inputs))
    )


@pytest.mark.parametrize("count", [0, 1, 63, 1000])
@pytest.mark.parametrize("words", [1, 2, 5])
def test_a_function_agrees_where_it_was_asked_and_nowhere_else(count, words):
    inputs = points(count)
    (evaluated, _), function = many(inputs)
    order = RANDOM.permutation(count)
    values = evaluated.values(inputs, words)
    assert values.shape == (count, words)
    assert (function.values(inputs[order], words) == values[order]).all()
    others = inputs ^ np.array([1, 0], dtype=np.uint64)
    assert not (function.values(others, words) == evaluated.values(others, words)).all(axis=1).any()


@pytest.mark.parametrize("count", [0, 1, 63, 1000])
@pytest.mark.parametrize("words", [1, 2, 5])
def test_single_functions_agree_where_they_were_asked_and_nowhere_else(count, words):
    inputs = points(count)
    values, functions = run_pair(
        lambda s: single_oprf.receive(s, inputs, words), lambda s: single_oprf.send(s, count)
    )
    order = RANDOM.permutation(count)
    assert (functions.values(order, inputs[order], words) == values[order]).all()
    if count > 1:
        assert not (functions.values(np.roll(order, 1), inputs[order], words) == values[order]).any()
        others = inputs ^ np.array([0, 1], dtype=np.uint64)
        assert not (functions.values(np.arange(count), others, words) == values).all(axis=1).any()


def test_functions_of_calls_and_directions_differ():
    inputs = points(50)

    def alice(session):
        first, second = (oprf.receive(session, inputs).values(inputs, 2) for _ in range(2))
        single = single_oprf.receive(session, inputs, 2)
        return first, second, single, oprf.send(session, 50).values(inputs, 2)

    def bob(session):
        first, second = (oprf.send(session, 50).values(inputs, 2) for _ in range(2))
        single = single_oprf.send(session, 50).values(np.arange(50), inputs, 2)
        return first, second, single, oprf.receive(session, inputs).values(inputs, 2)

    a, b = run_pair(alice, bob)
    assert all((mine == theirs).all() for mine, theirs in zip(a, b, strict=True))
    assert len(np.unique(np.concatenate(a), axis=0)) == 200


@pytest.mark.parametrize("count", [1, 64, 100_000])
def test_measured_bytes_and_rounds_are_the_declared_ones(count):
    inputs = points(count)
    for ends, declared in (
        ((lambda s: oprf.receive(s, inputs), lambda s: oprf.send(s, count)), cost_oprf(count, fresh=True)),
        (
            (lambda s: single_oprf.receive(s, inputs, 1), lambda s: single_oprf.send(s, count)),
            cost_single_oprf(count, fresh=True),
        ),
    ):
        traffic = run_pair(lambda s, end=ends[0]: (end(s), s.channel.traffic)[1], ends[1])[0]
        assert (traffic.sent, traffic.received) == (declared.alice_bytes, declared.bob_bytes)
        assert traffic.rounds == declared.rounds


def test_what_the_sender_sees_is_uniform_whatever_the_points(monkeypatch):
    seen = []
    honest = Channel.send

    def send(channel, message):
        if isinstance(message, OprfStore):
            seen.append(message.encode())
        honest(channel, message)

    monkeypatch.setattr(Channel, "send", send)
    zeros = np.zeros((3000, 2), dtype=np.uint64)
    run_pair(lambda s: single_oprf.receive(s, zeros, 1), lambda s: single_oprf.send(s, 3000))
    many(points(3000))
    assert all(chi_square(np.frombuffer(data, dtype=np.uint8)) for data in seen)


def test_a_receiver_that_spoils_what_it_asks_reads_nothing_of_the_offset(monkeypatch):
    """It knows the points, and what it has added to all of them: 1. The values of the sender then differ from
    its own by functions of D alone, and would all by the same if these were linear."""
    honest = Channel.send
    inputs = points(2000)

    def send(channel, message):
        if isinstance(message, OprfStore):
            message.entries.values[::2] ^= np.uint64(1)
        honest(channel, message)

    monkeypatch.setattr(Channel, "send", send)
    own, functions = run_pair(
        lambda s: single_oprf.receive(s, inputs, 2), lambda s: single_oprf.send(s, len(inputs))
    )
    differences = own ^ functions.values(np.arange(len(inputs)), inputs, 2)
    assert len(np.unique(differences, axis=0)) == len(inputs)
    assert chi_square(np.frombuffer(differences.tobytes(), dtype=np.uint8))


def test_an_opening_of_another_hash_is_refused(monkeypatch):
    honest = Channel.send
    other = OprfOpening(byte_row(bytes(32)))
    monkeypatch.setattr(
        Channel, "send", lambda channel, m: honest(channel, other if isinstance(m, OprfOpening) else m)
    )
    with pytest.raises(ProtocolViolation, match="committed"):
        many(points(3))


def test_nothing_that_depends_on_the_sums_leaves_before_they_are_checked(monkeypatch):
    """A receiver has sent all when it looks at the answer; a sender opens its key after it has answered."""
    order = []

    def noted(owner, name):
        honest = getattr(owner, name)

        def call(*args):
            order.append(name)
            return honest(*args)

        monkeypatch.setattr(owner, name, call)

    noted(ReceivedVole, ReceivedVole.verify.__name__)
    noted(SentVole, SentVole.answer.__name__)
    honest = Channel.send
    monkeypatch.setattr(Channel, "send", lambda channel, m: (order.append(type(m)), honest(channel, m))[1])
    many(points(3))
    verified, answered = order.index("verify"), order.index("answer")
    assert answered < order.index(OprfOpening)
    assert order.index(VoleChallenge) < order.index(OprfStore) < verified


def test_equal_points_are_refused():
    with pytest.raises(UsageError, match="distinct"):
        many(np.repeat(points(1), 2, axis=0))


def test_values_are_no_linear_function_of_the_offset():
    """At points that differ by one element the values differ in about half of all bits."""
    inputs = points(2000)
    (_, _), function = many(inputs)
    shifted = inputs ^ np.array([1, 0], dtype=np.uint64)
    differing = int(np.bitwise_count(function.values(inputs, 2) ^ function.values(shifted, 2)).sum())
    assert abs(differing - 128_000) < 6 * (256_000 / 4) ** 0.5
