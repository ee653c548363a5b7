"""Correlated transfers and triples that are prepared: right products, one round each, no transfer twice."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.errors import PeerError, ProtocolViolation
from smc.forms import Role
from smc.oblivious import cost, silent_transfers
from smc.oblivious.prepared import PreparedTransfers
from smc.oblivious.transfers import TransferCorrections, TransferFlips
from smc.pair import run_pair
from smc.protocols.transfer_costs import cost_of
from tests.support.seeds import seeded
from tests.support.transcript import truncated

RANDOM = seeded()
Z = 4.9  # standard deviations: a false alarm once in a million
COUNTS = (1, 63, 64, 65, 300)


def drawn(count):
    """Integers of both parties, and bits of both."""
    words = RANDOM.words(2 * count).reshape(2, -1)
    words[:, 0] = 0, (1 << 64) - 1
    return words, (RANDOM.words(2 * count) & np.uint64(1)).astype(np.uint8).reshape(2, -1)


def used(count, words, bits, prepared):
    """All steps that take prepared transfers, and their traffic."""

    def run(session):
        engine, mine = session.oblivious, int(session.role is Role.BOB)
        engine.setup()
        marks = [session.channel.traffic]
        if prepared:
            # As many as the steps take, and not one more.
            engine.deliver(3 * count, -(-count // 64))
        marks.append(session.channel.traffic)
        found = [*engine.exchange(words[mine], bits[mine])]
        found.append(engine.correlate(words[0]) if not mine else engine.receive(bits[1]))
        found.append(engine.bits_to_arithmetic(bits[mine]))
        found.append(engine.and_bits(bits[mine], bits[1 - mine]))
        marks.append(session.channel.traffic)
        # Nothing is left.
        found.append(engine.and_bits(bits[mine], bits[mine]))
        return found, [after.since(before) for before, after in pairwise(marks)]

    return run_pair(run)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("prepared", [True, False])
def test_steps_give_the_same_with_and_without(count, prepared):
    words, bits = drawn(count)
    (a, traffic), (b, back) = used(count, words, bits, prepared)
    one, other = bits.astype(np.uint64)
    assert (a[0] + b[1] == words[0] * other).all()
    assert (b[0] + a[1] == words[1] * one).all()
    assert (a[2] + b[2] == words[0] * other).all()
    assert (a[3] + b[3] == (bits[0] ^ bits[1])).all()
    both = bits[0] ^ bits[1]
    assert (a[4] ^ b[4] == both & both).all()
    assert (a[5] ^ b[5] == (bits[0] ^ bits[1])).all()
    flights = [
        *cost.exchange(count, taken=prepared),
        *cost.bits_to_arithmetic(count, taken=prepared) * 2,
        *cost.conjunction(count, taken=prepared),
    ]
    steps = cost_of(flights)
    taken = sum(each.prepared for each in flights), sum(each.triples for each in flights)
    assert taken == ((3 * count, -(-count // 64)) if prepared else (0, 0))
    made = cost_of(cost.prepare(3 * count, -(-count // 64)) if prepared else [])
    for declared, measured in ((made, 0), (steps, 1)):
        assert (traffic[measured].sent, back[measured].sent) == (declared.alice_bytes, declared.bob_bytes)
        assert traffic[measured].rounds == declared.rounds
    assert steps.rounds == (4 if prepared else 8)


@pytest.mark.parametrize("bits", [1, 8, 13, 24, 32, 33, 64])
@pytest.mark.parametrize("prepared", [True, False])
def test_products_of_few_bits_send_few_bytes(bits, prepared):
    count = 65
    words, choices = drawn(count)

    def run(session):
        engine, mine = session.oblivious, int(session.role is Role.BOB)
        engine.setup()
        if prepared:
            engine.deliver(count)
        before = session.channel.traffic
        return engine.exchange(words[mine], choices[mine], bits), session.channel.traffic.since(before)

    (a, there), (b, back) = run_pair(run)
    unused = np.uint64(64 - bits)
    one, other = choices.astype(np.uint64)
    assert (a[0] + b[1] << unused == words[0] * other << unused).all()
    assert (b[0] + a[1] << unused == words[1] * one << unused).all()
    declared = cost_of(cost.exchange(count, bits=bits, taken=prepared))
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    corrections = 8 * -(-count * -(-bits // 8) // 8)
    assert there.sent == corrections + (16 if prepared else cost.matrix_bytes(count))


@pytest.mark.parametrize("count", COUNTS)
def test_silent_transfers_serve_as_prepared_ones(count):
    """What is ordered beside comparisons replaces what was prepared before, for the same steps."""
    words, bits = drawn(count)

    def run(session):
        engine, mine = session.oblivious, int(session.role is Role.BOB)
        engine.setup_silent()
        engine.deliver(1000, 1000)
        engine.order_silent(3, 3 * count, -(-count // 64))
        before = session.channel.traffic
        engine.deliver()
        delivered = session.channel.traffic
        found = [*engine.exchange(words[mine], bits[mine])]
        found.append(engine.correlate(words[0]) if not mine else engine.receive(bits[1]))
        found.append(engine.bits_to_arithmetic(bits[mine]))
        found.append(engine.and_bits(bits[mine], bits[1 - mine]))
        used = session.channel.traffic
        found.append(engine.and_bits(bits[mine], bits[mine]))  # nothing is left
        return found, delivered.since(before), used.since(delivered)

    (a, there, steps), (b, _, _) = run_pair(run)
    one, other = bits.astype(np.uint64)
    both = bits[0] ^ bits[1]
    assert (a[0] + b[1] == words[0] * other).all()
    assert (b[0] + a[1] == words[1] * one).all()
    assert (a[2] + b[2] == words[0] * other).all()
    assert (a[3] + b[3] == both).all()
    assert (a[4] ^ b[4] == both & both).all()
    assert (a[5] ^ b[5] == both).all()
    ahead = silent_transfers.prepared_words(3 * count, -(-count // 64))
    assert there.sent == silent_transfers.refills(ahead) + silent_transfers.refills(3)
    assert (there.rounds, steps.rounds) == (1, 4)


def test_an_order_of_comparisons_alone_drops_what_was_prepared():
    def run(session):
        engine, bits = session.oblivious, np.ones(10, dtype=np.uint8)
        engine.deliver(10, 1)
        engine.order_silent(3)
        engine.deliver()
        before = session.channel.traffic
        engine.exchange(bits.astype(np.uint64), bits)
        return session.channel.traffic.since(before).rounds

    assert run_pair(run) == (2, 2)


def test_where_too_few_are_left_others_are_made():
    words, bits = drawn(10)

    def run(session):
        engine, mine = session.oblivious, int(session.role is Role.BOB)
        engine.deliver(9, 0)
        first = engine.exchange(words[mine], bits[mine])
        second = engine.exchange(words[mine][:9], bits[mine][:9])
        return *first, *second

    a, b = run_pair(run)
    assert (a[0] + b[1] == words[0] * bits[1]).all()
    assert (a[2] + b[3] == words[0][:9] * bits[1][:9]).all()


def test_what_is_taken_is_gone():
    words = [RANDOM.words(10) for _ in range(3)]
    made = PreparedTransfers(
        words[0], words[1], np.zeros(10, dtype=np.uint8), words[2], PreparedTransfers.none().triples
    )
    first, second = made.take(4), made.take(6)
    assert (np.concatenate([first.zero, second.zero]) == words[0]).all()
    assert made.take(1) is None
    assert made.taken_triples(1) is None
    assert "zero" not in repr(first)


@pytest.mark.parametrize("value", [0, 1])
def test_choices_and_integers_look_uniform(monkeypatch, value):
    sent = {TransferFlips.__name__: [], TransferCorrections.__name__: []}
    honest = Channel.send

    def send(self, message):
        if type(message).__name__ in sent:
            sent[type(message).__name__].append(message.encode())
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    count = 6400

    def run(session):
        session.oblivious.deliver(count, 0)
        return session.oblivious.exchange(
            np.full(count, value, dtype=np.uint64), np.full(count, value, dtype=np.uint8)
        )

    run_pair(run)
    for kind, messages in sent.items():
        assert len(messages) == 2, kind
        for message in messages:
            bits = np.unpackbits(np.frombuffer(message, dtype=np.uint8))
            assert abs(int(bits.sum()) - bits.size / 2) < Z * (bits.size / 4) ** 0.5


@pytest.mark.parametrize("kind", [TransferFlips.__name__, TransferCorrections.__name__])
def test_truncated_messages_are_refused(monkeypatch, kind):
    channels = truncated(monkeypatch, kind)
    words, bits = drawn(5)

    def cheat(session):
        channels.append(session.channel)
        session.oblivious.deliver(5, 0)
        session.oblivious.exchange(words[0], bits[0])

    def fair(session):
        session.oblivious.deliver(5, 0)
        session.oblivious.exchange(words[1], bits[1])

    with pytest.raises((ProtocolViolation, PeerError)):
        run_pair(cheat, fair)
