"""Base transfers: both halves together, and what is refused from the peer."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from queue import Queue

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.channel.vectors import ByteRows
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import base_ot
from smc.oblivious.base_ot import (
    BaseAnswer,
    BaseKeyOffer,
    BaseOffer,
    BaseTransfers,
    answer_bytes,
    offer_bytes,
)
from smc.pair import run_pair
from tests.support.seeds import seeded

RANDOM = seeded()
COUNT = 8


def exchanging(count=COUNT, way=BaseTransfers):
    """One side of a set-up of base transfers alone: its keys, and those that it receives."""

    def side(session):
        base = way(session.role, session.channel, session.random, count)
        base.offer()
        keys = base.answer()
        return keys, base.receive()

    return side


def exchanged(count=COUNT, randomness=None):
    return run_pair(exchanging(count), exchanging(count), randomness=randomness)


def fixed(seed: int) -> Randomness:
    state = [0]

    def source(count: int) -> bytes:
        state[0] += 1
        return hashlib.shake_256(f"{seed}/{state[0]}".encode()).digest(count)

    return Randomness(source)


def test_base_transfers_give_the_chosen_key_of_each_pair():
    alice, bob = exchanged(40)
    for (sent, _), (received, chosen) in ((alice, bob), (bob, alice)):
        for pair, choice, key in zip(sent.pairs, received.choices, chosen, strict=True):
            assert key == pair[choice]
            assert key != pair[1 - choice]
    assert alice[0].session == bob[0].session
    assert len({key for keys, _ in (alice, bob) for pair in keys.pairs for key in pair}) == 4 * 40


def test_they_take_two_rounds_and_the_bytes_that_are_said():
    def side(session):
        exchanging()(session)
        return session.channel.traffic

    for traffic in run_pair(side, side):
        assert traffic.rounds == 2
        assert traffic.sent == offer_bytes(COUNT) + answer_bytes(COUNT)


def test_a_repeated_nonce_of_one_side_still_gives_a_new_session():
    runs = [exchanged(randomness=(fixed(1), seeded())) for _ in range(2)]
    assert runs[0][0][0].session != runs[1][0][0].session
    keys = [{key for pair in alice.pairs for key in pair} | set(chosen) for (alice, chosen), _ in runs]
    assert not keys[0] & keys[1]


def test_a_reflected_nonce_is_refused():
    with pytest.raises(ProtocolViolation, match="nonce"):
        exchanged(randomness=(fixed(1), fixed(1)))


def spoiled(monkeypatch, kind, change):
    """Let Alice send `change(message)` in the place of every message of this kind."""
    honest = Channel.send
    channels: list[Channel] = []

    def send(self, message):
        honest(self, change(message) if type(message) is kind and self in channels else message)

    monkeypatch.setattr(Channel, "send", send)

    def cheat(session):
        channels.append(session.channel)
        return exchanging()(session)

    return run_pair(cheat, exchanging())


def with_row(field, row, data):
    """A change that puts bytes into a row of a field."""

    def change(message):
        values = getattr(message, field).values.copy()
        values[row, : len(data)] = np.frombuffer(data, dtype=np.uint8)
        return replace(message, **{field: ByteRows(values)})

    return change


@pytest.mark.parametrize(
    "bad", [b"\x02" + b"\xff" * 32, bytes(33), b"\x04" + b"\x01" * 32, b"\x02" + bytes(32)]
)
@pytest.mark.parametrize("field", ["point", "points"])
def test_points_off_the_curve_are_refused(monkeypatch, bad, field):
    with pytest.raises(ProtocolViolation, match="curve"):
        spoiled(monkeypatch, BaseOffer, with_row(field, -1, bad))


@pytest.mark.parametrize("word", [3329, 4095])
@pytest.mark.parametrize("place", [0, 767])
def test_coefficients_that_are_not_reduced_are_refused(monkeypatch, word, place):
    def change(message):
        keys = message.keys.values.copy()
        words = keys[3].reshape(-1, 3)[place // 2].astype(int)
        pair = [words[0] | (words[1] & 15) << 8, words[1] >> 4 | words[2] << 4]
        pair[place % 2] = word
        keys[3].reshape(-1, 3)[place // 2] = pair[0] & 255, pair[0] >> 8 | (pair[1] & 15) << 4, pair[1] >> 4
        return replace(message, keys=ByteRows(keys))

    with pytest.raises(ProtocolViolation, match="modulus"):
        spoiled(monkeypatch, BaseKeyOffer, change)


@pytest.mark.parametrize(
    "way", ["twice in one transfer", "twice in two", "as A", "reflected A", "reflected R"]
)
def test_points_that_were_sent_before_are_refused(monkeypatch, way):
    honest, heard = BaseTransfers.offer, Queue()

    def offer(self):
        if self._role is Role.BOB:
            heard.put((self._sender.point, self._curve.points))
        honest(self)

    def change(message):
        points, point = message.points.values.copy(), message.point.values.copy()
        peer_point, peer_points = heard.get()
        match way:
            case "twice in one transfer":
                points[2, 33:] = points[2, :33]
            case "twice in two":
                points[2, 33:] = points[5, :33]
            case "as A":
                point[0] = points[0, :33]
            case "reflected A":
                point[0] = np.frombuffer(peer_point, dtype=np.uint8)
            case "reflected R":
                points[1] = peer_points[1]
        return replace(message, points=ByteRows(points), point=ByteRows(point))

    monkeypatch.setattr(BaseTransfers, "offer", offer)
    with pytest.raises(ProtocolViolation, match="before"):
        spoiled(monkeypatch, BaseOffer, change)


def test_a_bad_ciphertext_gives_another_key_and_no_error(monkeypatch):
    """Nothing shows whether the receiver opened the bad one: that is what trees are checked for."""

    def change(message):
        rows = message.ciphertexts.values.copy()
        rows[0::2] ^= 1  # all those of choice 0
        return BaseAnswer(ByteRows(rows))

    # The key of the side that was not chosen changes, too, as the transcript does: both keys are lost.
    (alice, _), (bob, chosen) = spoiled(monkeypatch, BaseAnswer, change)
    for pair, key in zip(alice.pairs, chosen, strict=True):
        assert key not in pair
    assert 0 < bob.choices.sum() < COUNT


def test_keys_are_bound_to_all_that_was_sent():
    rows = {
        "points": np.zeros((2, 66), dtype=np.uint8),
        "seeds": np.zeros((2, 32), dtype=np.uint8),
        "keys": np.zeros((2, 2, 1152), dtype=np.uint8),
    }
    direction = base_ot._Direction(bytes(32), Role.ALICE, bytes(33), **rows)
    ciphertexts = np.zeros((2, 1088), dtype=np.uint8)
    others = [
        replace(direction, session=b"1" * 32),
        replace(direction, sender=Role.BOB),
        replace(direction, point=b"1" * 33),
        *(replace(direction, **{name: values | np.uint8(1)}) for name, values in rows.items()),
    ]
    seen = [each.transcript(0, ciphertexts) for each in (direction, *others)]
    seen += [direction.transcript(1, ciphertexts), direction.transcript(0, ciphertexts | np.uint8(1))]
    assert len(set(seen)) == len(others) + 3
    keys = [
        base_ot._key(transcript, side, curve * 32, lattice * 32)
        for transcript in seen[:2]
        for side in (0, 1)
        for curve in (b"0", b"1")
        for lattice in (b"0", b"1")
    ]
    assert len(set(keys)) == 16
