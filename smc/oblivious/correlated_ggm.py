"""Correlated trees of seeds: a party knows all leaves, the other all but one and learns that one plus D.

    owner (D, a seed s per tree, rows q_i)                guest (choice r_i, row t_i = q_i ^ r_i D)
      first level: s, s ^ D
      below: left = H(parent), right = parent ^ left
      c_i = sum of the left nodes of level i ^ q_i  -- c --> c_i ^ t_i = sum of the nodes on side r_i
      leaves v                                              leaves w = v, but w_a = v_a ^ D

All nodes of a level sum to D, so one value per level opens the sum of either side. The missing leaf a takes
at each level i the side 1 - r_i; the guest knows it plus D as the sum of all its other leaves.

Learns: the owner nothing (it receives nothing); the guest nothing of D or of v_a beyond w_a = v_a ^ D.
Assumes: semi-honest parties, correlated rows that are used for nothing else; H(x) = E(o(x)) ^ o(x) with the
orthomorphism o(a, b) = (a ^ b, a) circular correlation robust, which holds for AES-128 under a public key as
an ideal cipher; each key serves one block of trees, so the loss is a few bits of 128 per block.
Reference: Guo, Yang, Wang, Zhang, Xie, Liu and Zhao, Half-Tree: Halving the cost of tree expansion in COT and
DPF, EUROCRYPT 2023 (the single-point correlated transfer), rebuilt without the paper's text at hand; the tree
is that of Goldreich, Goldwasser and Micali, JACM 1986.
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from smc.forms import Role
from smc.oblivious.bitmatrix import Bit, Word
from smc.oblivious.kernels import make_kernels
from smc.oblivious.lpn import LpnSet
from smc.oblivious.workspace import Workspace

_DOMAIN: Final = b"duetto/oblivious/punctured/1"
_KEY_BYTES: Final = 16


class PuncturedTrees:
    """Blocks of trees of one direction of one session, the same sequence on both sides.

    Args:
        session: id of the session.
        owner: the party that knows all leaves.
        sizes: how many trees a block has, and how deep they are.
        workspace: scratch memory.
    """

    def __init__(self, session: bytes, owner: Role, sizes: LpnSet, workspace: Workspace) -> None:
        self._prefix = _DOMAIN + session + owner.value.encode().ljust(8)
        self._sizes = sizes
        self._workspace = workspace
        self._kernels = make_kernels(workspace)
        self._number = 0

    def _next_key(self) -> CipherContext:
        key = hashlib.sha256(self._prefix + self._number.to_bytes(8, "big")).digest()[:_KEY_BYTES]
        self._number += 1
        return Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - one block per node

    def _double(self, nodes: Word, count: int, cipher: CipherContext) -> Word:
        """Put the left children of the first `count` rows of nodes in their place, the right ones behind.

        Returns:
            The sums of the left ones, shape (g, 2).
        """
        parents, right = nodes[:count], nodes[count : 2 * count]
        turned = self._workspace.words("turned", *parents.shape)
        # sigma(low, high) = (low + high, low): linear, and both sigma and sigma + 1 are one-to-one, which
        # makes E(sigma(z)) + sigma(z) circular correlation robust for an ideal cipher E.
        self._kernels.turn(parents, turned)
        output = self._workspace.output("children", turned.nbytes)
        cipher.update_into(turned.view(np.uint8).reshape(-1).data, output.data)
        hashed = output[: turned.nbytes].view(np.uint64).reshape(parents.shape)
        # Children sum to their parent: one cipher call makes both, and every level sums to D.
        return self._kernels.children(parents, hashed, turned, right)

    def _nodes(self) -> Word:
        return self._workspace.words("nodes", 1 << self._sizes.depth, self._sizes.group, 2)

    def grow(self, seeds: Word, offset: Word) -> tuple[Word, Word]:
        """The owner's side of one block.

        Args:
            seeds: uniform, shape (g, 2).
            offset: D, shape (2,).

        Returns:
            The leaves, shape (2**depth * g, 2), valid until the next call in the workspace, leaf by leaf and
            within it tree by tree; and the sums of the left nodes, shape (depth, g, 2).
        """
        nodes = self._nodes()
        cipher = self._next_key()
        sums = np.empty((self._sizes.depth, *seeds.shape), dtype=np.uint64)
        nodes[0], nodes[1] = seeds, seeds ^ offset
        sums[0] = seeds
        for level in range(1, self._sizes.depth):
            count = 1 << level
            sums[level] = self._double(nodes, count, cipher)
        return nodes.reshape(-1, 2), sums

    def regrow(self, sums: Word, choices: Bit) -> tuple[Word, Word]:
        """The guest's side of one block.

        Args:
            sums: of the side that was chosen, shape (depth, g, 2).
            choices: shape (depth, g).

        Returns:
            The leaves, as of `grow`; and the rows in which the missing leaves stand, plus D, shape (g,).
        """
        nodes = self._nodes()
        cipher = self._next_key()
        trees = np.arange(self._sizes.group, dtype=np.uint64)
        path = np.zeros(self._sizes.group, dtype=np.uint64)
        known = np.zeros((self._sizes.group, 2), dtype=np.uint64)  # the sum of all nodes but the missing one
        nodes[0] = 0
        left = np.zeros_like(known)
        for level in range(self._sizes.depth):
            count = 1 << level
            if level:
                left = self._double(nodes, count, cipher)
            # The right child stands `count` rows behind the left one. Both children of the missing node are
            # unknown; as zeros they leave the sums.
            far = path + np.uint64(count)
            left ^= nodes[path, trees]
            nodes[path, trees] = 0
            nodes[far, trees] = 0
            chosen = choices[level].astype(bool)
            # What is known of the right nodes sums to `known` less the left ones, as children sum to parents.
            # The sum of a whole side less what is known of it is the one node that was missing there.
            opened = sums[level] ^ np.where(chosen[:, None], known ^ left, left)
            nodes[np.where(chosen, far, path), trees] = opened
            # Its sibling is the missing node of the next level.
            path = np.where(chosen, path, far)
            known ^= opened
        # All leaves sum to D, so the sum of the others is the missing leaf plus D.
        nodes[path, trees] = known
        return nodes.reshape(-1, 2), path * np.uint64(self._sizes.group) + trees
