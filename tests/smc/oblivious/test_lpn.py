"""The code and the sizes of silent transfer."""

from __future__ import annotations

import hashlib
from math import log2

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from smc.numeric.random import Randomness
from smc.oblivious.lpn import PRODUCTION, WEIGHT, LocalCode, LpnSet

RANDOM = Randomness()
TOY = LpnSet(log_length=8, trees=60, depth=4, group=4)
WIDE = LpnSet(log_length=9, trees=40, depth=9, group=4)


def rows_of(count):
    return RANDOM.words(2 * count).reshape(count, 2)


def places(session, sizes, block, piece):
    """The ones of each row, from the key stream, one at a time."""
    key = hashlib.sha256(b"duetto/oblivious/local-code/1" + session).digest()[:16]
    stream = Cipher(algorithms.AES(key), modes.CTR(block.to_bytes(8, "big") + bytes(8))).encryptor()
    found = []
    for _ in range(sizes.block_rows // piece):
        words = np.frombuffer(stream.update(bytes(40 * piece)), dtype="<u8").reshape(5, piece)
        for row in range(piece):
            column = [int(word) for word in words[:, row]]
            halves = [w & 0xFFFFFFFF for w in column] + [w >> 32 for w in column]
            found.append([half % sizes.length for half in halves])
    return found


@pytest.mark.parametrize(("sizes", "piece"), [(TOY, 64), (WIDE, 1024)])
@pytest.mark.parametrize("block", [0, 3])
def test_encoding_agrees_with_a_naive_one(sizes, piece, block):
    secret, rows = rows_of(sizes.length), rows_of(sizes.block_rows)
    expected = [list(map(int, row)) for row in rows]
    for row, ones in zip(expected, places(b"s", sizes, block, piece), strict=True):
        assert len(ones) == WEIGHT
        for one in ones:
            row[0] ^= int(secret[one, 0])
            row[1] ^= int(secret[one, 1])
    LocalCode(b"s", sizes).add(secret, block, rows)
    assert rows.tolist() == expected


def test_blocks_do_not_depend_on_each_other_and_sessions_differ():
    secret = rows_of(TOY.length)

    def made(session, *blocks):
        code = LocalCode(session, TOY)
        result = []
        for block in blocks:
            rows = np.zeros((TOY.block_rows, 2), dtype=np.uint64)
            code.add(secret, block, rows)
            result.append(rows.tobytes())
        return result

    assert made(b"a", 0, 1, 2)[2] == made(b"a", 2)[0] == made(b"a", 2, 0)[0]
    assert len({*made(b"a", 0, 1, 2), *made(b"b", 0, 1, 2)}) == 6


def test_the_map_is_linear():
    code = LocalCode(b"s", TOY)
    left, right = rows_of(TOY.length), rows_of(TOY.length)
    sums = []
    for secret in (left, right, left ^ right):
        rows = np.zeros((TOY.block_rows, 2), dtype=np.uint64)
        code.add(secret, 1, rows)
        sums.append(rows)
    assert (sums[0] ^ sums[1] == sums[2]).all()


def test_places_are_spread_evenly():
    sizes = LpnSet(log_length=6, trees=40, depth=9, group=4)
    counts = np.zeros(sizes.length)
    for block in range(4):
        counts += np.bincount(np.array(places(b"s", sizes, block, 1024)).reshape(-1), minlength=sizes.length)
    expected = counts.sum() / sizes.length
    statistic = float(((counts - expected) ** 2 / expected).sum())
    assert statistic < 63 + 4.9 * (2 * 63) ** 0.5 + 20  # chi-square, 63 degrees, about 1e-6


@pytest.mark.parametrize("sizes", [TOY, WIDE, PRODUCTION])
def test_sizes_leave_more_than_they_use(sizes):
    assert sizes.trees % sizes.group == 0
    assert sizes.block_rows % 64 == 0
    assert sizes.block_rows % min(1024, sizes.block_rows) == 0
    assert sizes.reserve_blocks * sizes.block_rows >= sizes.reserve_rows
    assert (sizes.most_blocks + sizes.reserve_blocks) * sizes.group == sizes.trees
    assert sizes.most_blocks > 0


def test_production_sizes():
    assert (PRODUCTION.length, PRODUCTION.trees, 1 << PRODUCTION.depth) == (1 << 17, 1168, 1 << 11)
    # guessing k places without noise and solving: a lower bound that the set must not fall below
    guesses = -PRODUCTION.length * log2(1 - 1 / (1 << PRODUCTION.depth))
    assert guesses + 2 * log2(PRODUCTION.length) > 126


@pytest.mark.parametrize(
    ("words", "expected"), [(0, []), (1, [1]), (2, [2]), (7, [7]), (8, [7, 1]), (21, [7, 7, 7])]
)
def test_iterations_cover_what_is_wanted(words, expected):
    assert TOY.block_words == 1
    assert TOY.most_blocks == 7
    assert TOY.iterations(words) == expected
