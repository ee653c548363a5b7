"""Base transfers on the curve."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from coincurve import PublicKey

from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import base_ot
from smc.oblivious.base_ot import TRANSFERS, exchange
from smc.pair import run_pair
from tests.support.seeds import seeded

RANDOM = seeded()


def fixed(seed: int) -> Randomness:
    state = [0]

    def source(count: int) -> bytes:
        state[0] += 1
        return hashlib.shake_256(f"{seed}/{state[0]}".encode()).digest(count)

    return Randomness(source)


def exchanged(randomness=None):
    return run_pair(
        lambda s: exchange(s.role, s.channel, s.random),
        lambda s: exchange(s.role, s.channel, s.random),
        randomness=randomness,
    )


def test_base_transfers_give_the_chosen_key_of_each_pair():
    alice, bob = exchanged()
    for sender, receiver in ((alice, bob), (bob, alice)):
        for pair, choice, key in zip(sender.pairs, receiver.choices, receiver.chosen, strict=True):
            assert key == pair[choice]
            assert key != pair[1 - choice]
    assert alice.session == bob.session
    assert len({key for keys in (alice, bob) for pair in keys.pairs for key in pair}) == 4 * TRANSFERS == 1152


def test_a_repeated_nonce_of_one_side_still_gives_a_new_session():
    runs = [exchanged((fixed(1), seeded())) for _ in range(2)]
    assert runs[0][0].session != runs[1][0].session
    keys = [{key for pair in alice.pairs for key in pair} | set(alice.chosen) for alice, _ in runs]
    assert not keys[0] & keys[1]


def test_keys_depend_on_the_session_even_if_all_points_repeat():
    points = [PublicKey.from_secret(RANDOM.bytes(32)) for _ in range(2)]
    offer = np.frombuffer(b"".join(p.format() for p in points), dtype=np.uint8).reshape(2, 33)
    keys = []
    for session in (b"1" * 32, b"2" * 32):
        direction = base_ot._Direction(session, Role.ALICE, offer.tobytes())
        keys.append(base_ot._choose(direction, offer, np.zeros(3, dtype=np.uint8), fixed(5))[1])
    assert not set(keys[0]) & set(keys[1])


def test_a_reflected_nonce_is_refused():
    with pytest.raises(ProtocolViolation, match="nonce"):
        exchanged((fixed(1), fixed(1)))


@pytest.mark.parametrize(
    "bad", [b"\x02" + b"\xff" * 32, bytes(33), b"\x04" + b"\x01" * 32, b"\x02" + bytes(32)]
)
@pytest.mark.parametrize("place", ["offer", "choice"])
def test_points_off_the_curve_are_refused(bad, place, monkeypatch):
    honest = base_ot._rows

    def spoiled(points):
        rows = honest(points).copy()
        if (len(rows) == 2) == (place == "offer"):
            rows[-1] = np.frombuffer(bad, dtype=np.uint8)
        return rows

    monkeypatch.setattr(base_ot, "_rows", spoiled)
    with pytest.raises(ProtocolViolation, match="curve"):
        exchanged()


def test_a_choice_equal_to_the_senders_point_is_refused():
    secret, other = RANDOM.bytes(32), PublicKey.from_secret(RANDOM.bytes(32))
    direction = base_ot._Direction(b"s", Role.ALICE, b"")
    with pytest.raises(ProtocolViolation, match="coincide"):
        base_ot._key_pairs(direction, other, secret, base_ot._rows([other]))
