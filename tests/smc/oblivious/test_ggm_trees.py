"""Correlated trees against a tree made of whole numbers."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from smc.forms import Role
from smc.oblivious.correlated_ggm import PuncturedTrees
from smc.oblivious.lpn import PRODUCTION, LpnSet
from smc.oblivious.workspace import Workspace
from tests.support.seeds import seeded

RANDOM = seeded()
SESSION = bytes(32)
SMALL = [LpnSet(8, 60, depth, group) for depth, group in ((1, 1), (2, 3), (4, 4), (7, 2))]


def number(row):
    return int(row[0]) | int(row[1]) << 64


def hashed(key, node):
    low, high = node & (1 << 64) - 1, node >> 64
    turned = (low ^ high) | low << 64
    encrypted = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(turned.to_bytes(16, "little"))
    return int.from_bytes(encrypted, "little") ^ turned


def naive(seed, offset, depth, owner, block):
    """All levels below the root, node by node; bit i of a leaf's number is the side it takes at level i."""
    name = (
        b"duetto/oblivious/punctured/1" + SESSION + owner.value.encode().ljust(8) + block.to_bytes(8, "big")
    )
    key = hashlib.sha256(name).digest()[:16]
    levels = [[seed, seed ^ offset]]
    for _ in range(1, depth):
        left = [hashed(key, node) for node in levels[-1]]
        levels.append(left + [node ^ child for node, child in zip(levels[-1], left, strict=True)])
    return levels


def block_of(sizes, offset, owner=Role.ALICE):
    trees = PuncturedTrees(SESSION, owner, sizes, Workspace())
    seeds = RANDOM.words(2 * sizes.group).reshape(sizes.group, 2)
    leaves, sums = trees.grow(seeds, offset)
    return seeds, leaves.copy(), sums


@pytest.mark.parametrize("sizes", SMALL)
def test_leaves_and_sums_agree_with_a_naive_tree(sizes):
    offset = RANDOM.words(2)
    seeds, leaves, sums = block_of(sizes, offset)
    shaped = leaves.reshape(1 << sizes.depth, sizes.group, 2)
    for tree, seed in enumerate(seeds):
        levels = naive(number(seed), number(offset), sizes.depth, Role.ALICE, 0)
        # The lowest bit of a leaf is its choice, and 0 in the owner's.
        assert [number(row) for row in shaped[:, tree]] == [leaf & ~1 for leaf in levels[-1]]
        for level, nodes in enumerate(levels):
            total = 0
            for node in nodes[: len(nodes) // 2]:
                total ^= node
            assert number(sums[level, tree]) == total


@pytest.mark.parametrize("sizes", [*SMALL, PRODUCTION])
def test_the_guest_knows_all_leaves_and_the_missing_one_plus_the_offset(sizes):
    offset = RANDOM.words(2)
    _, leaves, sums = block_of(sizes, offset)
    choices = RANDOM.bits(sizes.depth * sizes.group).reshape(sizes.depth, sizes.group)
    opened = sums ^ offset * choices[:, :, None].astype(np.uint64)
    found = PuncturedTrees(SESSION, Role.ALICE, sizes, Workspace()).regrow(opened, choices)
    expected = leaves.copy()
    path = sum(1 - choices[level].astype(int) << level for level in range(sizes.depth))
    missing = [int(leaf) * sizes.group + tree for tree, leaf in enumerate(path)]
    expected[missing] ^= offset
    expected[missing, 0] |= np.uint64(1)
    assert (found == expected).all()


def test_every_block_session_and_owner_has_its_own_trees():
    sizes, offset = SMALL[2], RANDOM.words(2)
    seeds = RANDOM.words(8).reshape(4, 2)
    made = set()
    for session in (b"1", b"2"):
        for owner in Role:
            trees = PuncturedTrees(session, owner, sizes, Workspace())
            made |= {row.tobytes() for _ in range(2) for row in trees.grow(seeds, offset)[0]}
    assert len(made) == 8 * sizes.block_rows


@pytest.mark.parametrize("offset", [[1, 0], [1, 1 << 63]])
def test_sums_look_uniform_whatever_the_offset(offset):
    sizes = LpnSet(8, 60, 6, 16)
    trees = PuncturedTrees(SESSION, Role.BOB, sizes, Workspace())
    data = b"".join(
        trees.grow(RANDOM.words(32).reshape(16, 2), np.array(offset, dtype=np.uint64))[1].tobytes()
        for _ in range(20)
    )
    bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8))
    assert abs(int(bits.sum()) - bits.size / 2) < 4.9 * (bits.size / 4) ** 0.5
