"""Kernels, base transfers and extension, without circuits."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import pytest
from coincurve import PublicKey

from smc.errors import DomainError, ProtocolViolation
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import base
from smc.oblivious.base import BaseKeys, exchange
from smc.oblivious.bitmatrix import pack_slots, planes, transpose
from smc.oblivious.extension import HASH_ROWS, OtReceiver, OtSender, PadHash
from smc.pair import run_pair

RANDOM = Randomness()


def seeded(seed: int) -> Randomness:
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


def simulated(session=b"session"):
    """Base keys as the set-up leaves them, without running it: (receiving end, sending end)."""
    pairs = [(os.urandom(16), os.urandom(16)) for _ in range(128)]
    choices = RANDOM.bits(128)
    chosen = [pair[choice] for pair, choice in zip(pairs, choices, strict=True)]
    return (
        OtReceiver(BaseKeys(session, pairs, choices, chosen), Role.ALICE),
        OtSender(BaseKeys(session, pairs, choices, chosen), Role.BOB),
    )


@pytest.mark.parametrize("width", [1, 2, 511, 512, 513, 1025])
def test_transpose_is_the_transposition(width):
    columns = RANDOM.words(128 * width).reshape(128, width)
    bits = np.unpackbits(columns.view(np.uint8).reshape(128, width, 8), axis=2, bitorder="little")
    rows = np.unpackbits(transpose(columns).view(np.uint8), axis=1, bitorder="little")
    assert (rows.reshape(64, width, 128) == bits.transpose(2, 1, 0)).all()


@pytest.mark.parametrize("count", [1, 63, 64, 65, 1000])
def test_packed_slots_agree_with_the_transposition(count):
    bits = RANDOM.bits(count)
    columns = np.zeros((128, (count + 63) // 64), dtype=np.uint64)
    columns[77] = pack_slots(bits)
    rows = transpose(columns)
    assert (rows[:count, 1] == bits.astype(np.uint64) << np.uint64(13)).all()
    assert not rows[count:].any()
    assert not rows[:, 0].any()


@pytest.mark.parametrize("bits", [1, 7, 8, 63, 64, 65, 128, 256])
def test_planes_hold_the_bits_of_integers(bits):
    values = [0, (1 << bits) - 1, *RANDOM.below(1 << bits, 20)]
    result = planes(values, bits)
    assert result.shape == (bits, len(values))
    assert [sum(int(bit) << i for i, bit in enumerate(column)) for column in result.T] == values
    if bits <= 64:
        assert (planes(np.array(values, dtype=np.uint64), bits) == result).all()


def test_planes_widen_words():
    assert (planes(np.array([5], dtype=np.uint64), 70) == planes([5], 70)).all()


@pytest.mark.parametrize("values", [[-1], [8], [1 << 70], np.array([8], dtype=np.uint64)])
def test_planes_refuse_what_does_not_fit(values):
    with pytest.raises(DomainError):
        planes(values, 3)


def test_base_transfers_give_the_chosen_key_of_each_pair():
    alice, bob = exchanged()
    for sender, receiver in ((alice, bob), (bob, alice)):
        for pair, choice, key in zip(sender.pairs, receiver.choices, receiver.chosen, strict=True):
            assert key == pair[choice]
            assert key != pair[1 - choice]
    assert alice.session == bob.session
    assert len({key for keys in (alice, bob) for pair in keys.pairs for key in pair}) == 512


def test_a_repeated_nonce_of_one_side_still_gives_a_new_session():
    runs = [exchanged((seeded(1), Randomness())) for _ in range(2)]
    assert runs[0][0].session != runs[1][0].session
    keys = [{key for pair in alice.pairs for key in pair} | set(alice.chosen) for alice, _ in runs]
    assert not keys[0] & keys[1]


def test_keys_depend_on_the_session_even_if_all_points_repeat():
    points = [PublicKey.from_secret(os.urandom(32)) for _ in range(2)]
    offer = np.frombuffer(b"".join(p.format() for p in points), dtype=np.uint8).reshape(2, 33)
    keys = []
    for session in (b"1" * 32, b"2" * 32):
        direction = base._Direction(session, Role.ALICE, offer.tobytes())
        keys.append(base._choose(direction, offer, np.zeros(3, dtype=np.uint8), seeded(5))[1])
    assert not set(keys[0]) & set(keys[1])


def test_a_reflected_nonce_is_refused():
    with pytest.raises(ProtocolViolation, match="nonce"):
        exchanged((seeded(1), seeded(1)))


@pytest.mark.parametrize(
    "bad", [b"\x02" + b"\xff" * 32, bytes(33), b"\x04" + b"\x01" * 32, b"\x02" + bytes(32)]
)
@pytest.mark.parametrize("place", ["offer", "choice"])
def test_points_off_the_curve_are_refused(bad, place, monkeypatch):
    honest = base._rows

    def spoiled(points):
        rows = honest(points).copy()
        if (len(rows) == 2) == (place == "offer"):
            rows[-1] = np.frombuffer(bad, dtype=np.uint8)
        return rows

    monkeypatch.setattr(base, "_rows", spoiled)
    with pytest.raises(ProtocolViolation, match="curve"):
        exchanged()


def test_a_choice_equal_to_the_senders_point_is_refused():
    secret, other = os.urandom(32), PublicKey.from_secret(os.urandom(32))
    direction = base._Direction(b"s", Role.ALICE, b"")
    with pytest.raises(ProtocolViolation, match="coincide"):
        base._key_pairs(direction, other, secret, base._rows([other]))


@pytest.mark.parametrize("count", [1, 63, 64, 65, 1000, HASH_ROWS, HASH_ROWS + 1, 100_000])
def test_extension_gives_the_chosen_pad(count):
    receiver, sender = simulated()
    choices = RANDOM.bits(count)
    matrix, chosen = receiver.extend(choices)
    zero, one = sender.extend(count, matrix)
    assert (chosen == np.where(choices, one, zero)).all()
    assert (chosen != np.where(choices, zero, one)).all()
    assert len(np.unique(np.concatenate([zero, one]))) == 2 * count


def test_calls_never_repeat_a_pad_or_a_mask():
    receiver, sender = simulated()
    choices = np.zeros(640, dtype=np.uint8)
    seen: set[int] = set()
    matrices = []
    for _ in range(5):
        matrix, _ = receiver.extend(choices)
        zero, one = sender.extend(len(choices), matrix)
        seen |= set(zero.tolist()) | set(one.tolist())
        matrices.append(matrix.tobytes())
    assert len(seen) == 2 * 5 * len(choices)
    assert len(set(matrices)) == 5


def test_a_tampered_matrix_spoils_pads_only_where_the_secret_offset_says_so():
    receiver, sender = simulated()
    choices = RANDOM.bits(64)
    matrix, chosen = receiver.extend(choices)
    spoiled = matrix.copy()
    spoiled[:, 0] ^= 1  # slot 0 in every column
    zero, one = sender.extend(64, spoiled)
    right = chosen == np.where(choices, one, zero)
    assert right[1:].all()
    assert not right[0]


def test_the_hash_depends_on_session_direction_and_position():
    rows = np.tile(RANDOM.words(2), (HASH_ROWS + 1, 1))
    first = PadHash(b"a", Role.ALICE)
    (pads,) = first.pads(rows)
    again = first.pads(rows)[0]
    others = [PadHash(b"b", Role.ALICE).pads(rows)[0], PadHash(b"a", Role.BOB).pads(rows)[0]]
    assert pads[0] != pads[-1]
    assert len({int(array[0]) for array in (pads, again, *others)}) == 4


def test_the_matrix_looks_uniform_whatever_the_choices():
    receiver, _ = simulated()
    matrix, _ = receiver.extend(np.ones(64_000, dtype=np.uint8))
    ones = int(np.unpackbits(matrix).sum())
    total = matrix.size * 8
    assert abs(ones - total / 2) < 4.9 * (total / 4) ** 0.5  # false alarm 1e-6
    counts = np.bincount(matrix.reshape(-1), minlength=256)
    statistic = float(((counts - matrix.size / 256) ** 2 / (matrix.size / 256)).sum())
    assert statistic < 255 + 4.9 * (2 * 255) ** 0.5 + 20  # chi-square, 255 degrees, about 1e-6
