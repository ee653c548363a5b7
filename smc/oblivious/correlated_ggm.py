"""Correlated trees of seeds: a party knows all leaves, the other all but one and learns that one plus D.

    owner (D, a seed s per tree, rows q_i)                guest (choice r_i, row t_i = q_i ^ r_i D)
      first level: s, s ^ D
      below: left = H(parent), right = parent ^ left
      c_i = sum of the left nodes of level i ^ q_i  -- c --> c_i ^ t_i = sum of the nodes on side r_i
      leaves v                                              leaves w = v, but w_a = v_a ^ D

All nodes of a level sum to D, so one value per level opens the sum of either side. The missing leaf a takes
at each level i the side 1 - r_i; the guest knows it plus D as the sum of all its other leaves.

Learns: the owner nothing (it receives nothing); the guest nothing of D or of v_a beyond w_a = v_a ^ D.
Assumes: correlated rows that are used for nothing else; H(x) = E(o(x)) ^ o(x) with the
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

    def _next_key(self) -> Word:
        key = hashlib.sha256(self._prefix + self._number.to_bytes(8, "big")).digest()[:_KEY_BYTES]
        self._number += 1
        return np.frombuffer(key, dtype=np.uint64)

    def _nodes(self) -> Word:
        return self._workspace.words("nodes", 1 << self._sizes.depth, self._sizes.group, 2)

    def grow(self, seeds: Word, offset: Word) -> tuple[Word, Word]:
        """The owner's side of one block.

        Args:
            seeds: uniform, shape (g, 2).
            offset: D, shape (2,).

        Returns:
            The leaves, shape (2**depth * g, 2), valid until the next call in the workspace, leaf by leaf and
            within it tree by tree, with 0 for the lowest bit of each; and the sums of the left nodes, shape
            (depth, g, 2).
        """
        nodes = self._nodes()
        sums = self._kernels.grow(seeds, offset, self._next_key(), nodes)
        return nodes.reshape(-1, 2), sums

    def regrow(self, sums: Word, choices: Bit) -> Word:
        """The guest's side of one block.

        Args:
            sums: of the side that was chosen, shape (depth, g, 2).
            choices: shape (depth, g).

        Returns:
            The leaves, as of `grow`, but the missing one of each tree plus D and with 1 for its lowest bit.
        """
        nodes = self._nodes()
        self._kernels.regrow(sums, choices, self._next_key(), nodes)
        return nodes.reshape(-1, 2)
