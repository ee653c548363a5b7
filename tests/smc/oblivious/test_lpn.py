"""The code and the sizes of silent transfer."""

from __future__ import annotations

import copy
import hashlib
from math import log2

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from smc.forms import Role
from smc.oblivious import silent_ot
from smc.oblivious.lpn import PRODUCTION, WEIGHT, LocalCode, LpnSet
from tests.support.seeds import seeded

RANDOM = seeded()
TOY = LpnSet(log_length=8, trees=60, depth=4, group=4)
WIDE = LpnSet(log_length=9, trees=40, depth=9, group=4)


def rows_of(count):
    return RANDOM.words(2 * count).reshape(count, 2)


def places(session, sizes, block, piece, sender=Role.ALICE):
    """The ones of each row, from the key stream, one at a time."""
    name = session + sender.value.encode().ljust(8)
    key = hashlib.sha256(b"duetto/oblivious/local-code/2" + name).digest()[:16]
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
    code = LocalCode(b"s", Role.ALICE, sizes)
    for _ in range(block):
        code.add(secret, rows.copy())
    code.add(secret, rows)
    assert rows.tolist() == expected


def made(code, blocks):
    """What the code adds for a secret in which each entry is its place."""
    secret = np.repeat(np.arange(TOY.length, dtype=np.uint64)[:, None], 2, axis=1)
    rows = [np.zeros((TOY.block_rows, 2), dtype=np.uint64) for _ in range(blocks)]
    for each in rows:
        code.add(secret, each)
    return [each.tobytes() for each in rows]


def test_no_block_of_the_matrix_comes_twice_and_directions_and_sessions_differ():
    codes = [LocalCode(session, sender, TOY) for session in (b"a", b"b") for sender in Role]
    assert len({block for code in codes for block in made(code, 20)}) == 80
    assert made(LocalCode(b"a", Role.BOB, TOY), 20) == made(LocalCode(b"a", Role.BOB, TOY), 20)


def test_an_iteration_does_not_use_the_blocks_of_the_one_before(monkeypatch):
    """An elimination of A that serves all iterations at once would pay once for all of them."""
    seen = []

    class Seen(LocalCode):
        def add(self, secret, rows):
            seen.append(made_next(self))
            super().add(secret, rows)

    def made_next(code):
        twin = copy.copy(code)
        rows = np.zeros((TOY.block_rows, 2), dtype=np.uint64)
        LocalCode.add(twin, np.arange(2 * TOY.length, dtype=np.uint64).reshape(-1, 2), rows)
        return rows.tobytes()

    monkeypatch.setattr(silent_ot, "LocalCode", Seen)
    for sender in Role:
        reserve = rows_of(TOY.reserve_rows)
        end = silent_ot.SilentSender(rows_of(1)[0], reserve, b"s" * 32, sender, TOY, RANDOM)
        for _ in range(3):
            end.extend(TOY.most_blocks)
    assert len(seen) == len(set(seen)) == 2 * 3 * (TOY.most_blocks + TOY.reserve_blocks)


def test_the_map_is_linear():
    left, right = rows_of(TOY.length), rows_of(TOY.length)
    sums = []
    for secret in (left, right, left ^ right):
        rows = np.zeros((TOY.block_rows, 2), dtype=np.uint64)
        LocalCode(b"s", Role.ALICE, TOY).add(secret, rows)
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
    assert (PRODUCTION.length, PRODUCTION.trees, 1 << PRODUCTION.depth) == (1 << 17, 2336, 1 << 10)
    # guessing k places without noise and solving: a lower bound that the set must not fall below
    guesses = -PRODUCTION.length * log2(1 - 1 / (1 << PRODUCTION.depth))
    assert guesses + 2 * log2(PRODUCTION.length) > 126


@pytest.mark.parametrize(
    ("words", "expected"), [(0, []), (1, [1]), (2, [2]), (5, [5]), (6, [5, 1]), (15, [5, 5, 5])]
)
def test_iterations_cover_what_is_wanted(words, expected):
    assert TOY.block_words == 1
    assert TOY.most_blocks == 5
    assert TOY.iterations(words) == expected
