"""Silent extension without a channel."""

from __future__ import annotations

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.lpn import PRODUCTION, LpnSet
from smc.oblivious.silent_ot import PadHash, SilentReceiver, SilentSender, message_bytes
from smc.oblivious.workspace import Workspace
from tests.support.seeds import seeded

RANDOM = seeded()
SESSION = bytes(32)
TOY = LpnSet(log_length=8, trees=60, depth=4, group=4)
MIDDLE = LpnSet(log_length=11, trees=160, depth=7, group=8)
Z = 4.9  # standard deviations: a false alarm once in a million


def ends(sizes, session=SESSION):
    """Both ends over correlated rows, as the extension would give them."""
    count = sizes.reserve_rows
    offset, sent = RANDOM.words(2), RANDOM.words(2 * count).reshape(count, 2)
    choices = RANDOM.bits(count)
    received = sent ^ offset * choices[:, None].astype(np.uint64)
    return (
        SilentSender(offset, sent, session, Role.ALICE, sizes, RANDOM),
        SilentReceiver(choices, received, session, Role.ALICE, sizes),
    )


def agree(zero, one, choices, pads):
    return (pads == zero & ~choices | one & choices).all()


def correlated(sender, receiver):
    """Whether all rows of the two reserves differ by the offset exactly where the lowest bit says 1."""
    q, t = sender._end._reserve, receiver._end._reserve
    chosen = t[:, 0] & np.uint64(1)
    return (
        not (q[:, 0] & np.uint64(1)).any()
        and int(sender._offset[0]) & 1
        and (q ^ t == sender._offset * chosen[:, None]).all()
    )


@pytest.mark.parametrize("sizes", [TOY, MIDDLE])
def test_pads_and_rows_agree_over_many_iterations(sizes):
    sender, receiver = ends(sizes)
    assert correlated(sender, receiver)
    for blocks in (1, sizes.most_blocks, 2, sizes.most_blocks):
        message, zero, one = sender.extend(blocks)
        assert message.shape == (1, message_bytes(sizes, blocks))
        choices, pads = receiver.extend(blocks, message)
        assert pads.shape == zero.shape == one.shape == (4, blocks * sizes.block_words)
        assert agree(zero, one, choices, pads)
        assert correlated(sender, receiver)


def test_the_production_sizes_work():
    sender, receiver = ends(PRODUCTION)
    for blocks in (1, 3):
        message, zero, one = sender.extend(blocks)
        choices, pads = receiver.extend(blocks, message)
        assert agree(zero, one, choices, pads)
        assert correlated(sender, receiver)
    assert message_bytes(PRODUCTION, PRODUCTION.most_blocks) * 8 < 1.36 * PRODUCTION.most_blocks * 16384


def test_choices_and_the_other_pads_are_even_and_unrelated():
    sender, receiver = ends(MIDDLE)
    blocks = MIDDLE.most_blocks
    message, zero, one = sender.extend(blocks)
    choices, pads = receiver.extend(blocks, message)
    others = zero & choices | one & ~choices
    planes = [choices, *zero, *one, *(zero ^ one), *(others ^ pads), *(others ^ choices), *(pads ^ choices)]
    planes += [zero[0] ^ zero[2], zero[1] ^ zero[3], zero[0] ^ zero[1], zero[2] ^ zero[3]]
    for plane in planes:
        bits = np.unpackbits(plane.view(np.uint8))
        assert abs(int(bits.sum()) - bits.size / 2) < Z * (bits.size / 4) ** 0.5


def test_messages_look_uniform():
    sender, _ = ends(MIDDLE)
    data = np.concatenate([sender.extend(MIDDLE.most_blocks)[0] for _ in range(3)], axis=None)
    counts = np.bincount(data, minlength=256)
    statistic = float(((counts - data.size / 256) ** 2 / (data.size / 256)).sum())
    assert statistic < 255 + Z * (2 * 255) ** 0.5 + 20  # chi-square, 255 degrees, about 1e-6


def test_nothing_repeats_over_iterations():
    sender, receiver = ends(MIDDLE)
    seen = []
    for _ in range(3):
        message, zero, one = sender.extend(2)
        choices, _ = receiver.extend(2, message)
        seen += [plane.tobytes() for plane in (*zero, *one, choices)]
        seen += [part.tobytes() for part in message.reshape(-1, 128)]
    assert len(set(seen)) == len(seen)


def test_pads_depend_on_the_session():
    sender, _ = ends(TOY)
    _, receiver = ends(TOY)
    message, zero, one = sender.extend(2)
    choices, pads = receiver.extend(2, message)
    assert not agree(zero, one, choices, pads)
    first, second = ends(TOY, b"1" * 32)
    second._end.hash = PadHash(b"2" * 32, Role.ALICE, second._end._workspace)
    message, zero, one = first.extend(2)
    choices, pads = second.extend(2, message)
    assert not agree(zero, one, choices, pads)


@pytest.mark.parametrize("width", [1, 3, 256])
def test_the_hash_takes_four_different_bits_of_each_row(width):
    rows, offsets = RANDOM.words(128 * width).reshape(64 * width, 2), np.zeros((1, 2), dtype=np.uint64)
    planes, choices = np.empty((1, 4, width), dtype=np.uint64), np.empty(width, dtype=np.uint64)
    hashing = PadHash(SESSION, Role.BOB, Workspace())
    with pytest.raises(UsageError, match="key"):
        hashing.bits(rows.copy(), offsets, planes)
    hashing.renew()
    hashing.bits(rows.copy(), offsets, planes, choices)
    cipher = Cipher(algorithms.AES(hashing._key.tobytes()), modes.ECB())
    encrypted = cipher.encryptor().update(rows.tobytes())
    full = np.frombuffer(encrypted, dtype=np.uint64).reshape(-1, 2) ^ rows
    for row in range(64 * width):
        lane, word = divmod(row, width)
        found = [int(plane[word]) >> lane & 1 for plane in planes[0]]
        assert int(choices[word]) >> lane & 1 == int(rows[row, 0]) & 1
        low, high = int(full[row, 0]), int(full[row, 1])
        other = lane ^ 32
        assert found == [low >> lane & 1, high >> lane & 1, low >> other & 1, high >> other & 1]
    before = planes.copy()
    hashing.renew()
    hashing.bits(rows.copy(), offsets, planes)
    assert (before != planes).any()


@pytest.mark.parametrize("blocks", [0, -1, TOY.most_blocks + 1])
def test_iterations_of_another_size_are_refused(blocks):
    sender, receiver = ends(TOY)
    with pytest.raises(UsageError, match="blocks"):
        sender.extend(blocks)
    with pytest.raises(UsageError, match="blocks"):
        receiver.extend(blocks, np.zeros((1, 0), dtype=np.uint8))


def test_an_end_that_failed_is_not_used_again():
    sender, receiver = ends(TOY)
    message, _, _ = sender.extend(1)
    with pytest.raises(UsageError, match="bytes"):
        receiver.extend(1, message[:, :-1])
    with pytest.raises(UsageError, match="failed"):
        receiver.extend(1, message)

    def broken(count):
        raise OSError("no randomness")

    sender._random = Randomness(broken)
    with pytest.raises(OSError, match="no randomness"):
        sender.extend(1)
    sender._random = RANDOM
    with pytest.raises(UsageError, match="failed"):
        sender.extend(1)


def test_a_reserve_of_another_size_is_refused():
    rows = RANDOM.words(2 * TOY.reserve_rows).reshape(-1, 2)
    with pytest.raises(UsageError, match="reserve"):
        SilentSender(RANDOM.words(2), rows[1:], SESSION, Role.ALICE, TOY, RANDOM)
    with pytest.raises(UsageError, match="reserve"):
        SilentReceiver(RANDOM.bits(len(rows) - 1), rows[1:], SESSION, Role.ALICE, TOY)


def test_a_tampered_message_spoils_transfers_of_that_tree_only():
    sender, receiver = ends(MIDDLE)
    message, zero, one = sender.extend(4)
    spoiled = message.copy().reshape(-1, MIDDLE.depth, MIDDLE.group, 16)
    spoiled[-1, 0, 3] ^= 1  # the last block, of which nothing is kept
    choices, pads = receiver.extend(4, spoiled.reshape(1, -1))
    wrong = pads ^ (zero & ~choices | one & choices)
    width = MIDDLE.block_words
    assert not wrong[:, : 3 * width].any()
    last = np.unpackbits(wrong[:, 3 * width :].copy().view(np.uint8), bitorder="little").reshape(4, width, 64)
    rows = last.any(axis=0).T.reshape(-1, MIDDLE.group)
    assert rows[:, 3].any()
    assert not np.delete(rows, 3, axis=1).any()
