"""All-but-one transfers: trees of seeds of which one party knows all leaves and the other all but one.

    owner (key pairs k0_i, k1_i; a root per tree)         guest (key kc_i of each pair)
      s = G0(parent), s' = G1(parent) down to 2**d leaves
      per level: sums of all left, of all right nodes
                                 -- sums ^ keys -->       opens one sum per level, regrows the tree without
                                                          the path that its choices c_1 .. c_d avoid

The missing leaf has the number whose bits are 1 - c_1, ..., 1 - c_d, the most significant first.

Learns: the owner nothing of the choices (it receives nothing); the guest nothing of the missing leaf.
Assumes: semi-honest parties, base keys that are used for nothing else; AES as an ideal cipher for the
generators Gb(s) = E_kb(s) ^ s under two public keys of the session and direction; about 2**128 / (number of
nodes) evaluations find a node of one tree.
Reference: Goldreich, Goldwasser and Micali, JACM 1986; transfer of all leaves but one: Boyle, Couteau,
Gilboa, Ishai, Kohl, Rindal and Scholl, Efficient two-round OT extension and silent non-interactive secure
computation, CCS 2019; generator: Guo, Katz, Wang and Yu, IEEE S&P 2020.
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from smc.forms import Role
from smc.oblivious.bitmatrix import Bit, Word
from smc.oblivious.prg import SEED_BYTES

_DOMAIN: Final = b"duetto/oblivious/tree-key/1"


class SeedTrees:
    """Trees of one depth in one direction of one session.

    Args:
        session: id of the session.
        owner: the party that knows all leaves.
        depth: levels below the root, d.
    """

    def __init__(self, session: bytes, owner: Role, depth: int) -> None:
        name = _DOMAIN + session + owner.value.encode().ljust(8) + bytes([depth])
        self._ciphers = [
            Cipher(algorithms.AES(hashlib.sha256(name + side).digest()[:SEED_BYTES]), modes.ECB())  # noqa: S305
            for side in (b"left", b"right")
        ]
        self._depth = depth

    def _children(self, nodes: Word) -> Word:
        """Shape (t, m, 2) to (t, 2 m, 2)."""
        trees, count, _ = nodes.shape
        data = nodes.tobytes()
        result = np.empty((trees, count, 2, 2), dtype=np.uint64)
        for side, cipher in enumerate(self._ciphers):
            hashed = np.frombuffer(cipher.encryptor().update(data), dtype=np.uint64)
            np.bitwise_xor(hashed.reshape(nodes.shape), nodes, out=result[:, :, side])
        return result.reshape(trees, 2 * count, 2)

    def grow(self, roots: Word, keys: Word) -> tuple[Word, NDArray[np.uint8]]:
        """The owner's side.

        Args:
            roots: shape (t, 2), uniform.
            keys: both keys of each base transfer, shape (t, d, 2, 2).

        Returns:
            All leaves, shape (t, 2**d, 2), and the masked sums for the guest, shape (t * d, 32) bytes.
        """
        nodes = roots[:, None]
        sums = np.empty_like(keys)
        for level in range(self._depth):
            nodes = self._children(nodes)
            pairs = nodes.reshape(len(nodes), -1, 2, 2)
            np.bitwise_xor.reduce(pairs, axis=1, out=sums[:, level])
        # The guest has one key of each level: it opens the sum of all left children, or that of all right
        # ones.
        sums ^= keys
        return nodes, sums.view(np.uint8).reshape(-1, 2 * SEED_BYTES)

    def regrow(self, sums: NDArray[np.uint8], choices: Bit, keys: Word) -> tuple[Word, NDArray[np.int64]]:
        """The guest's side.

        Args:
            sums: from the owner, shape (t * d, 32) bytes.
            choices: shape (t, d).
            keys: the chosen keys, shape (t, d, 2).

        Returns:
            The leaves, shape (t, 2**d, 2), with zeros in the place of the missing one, and the missing
            one's number for each tree, shape (t,).
        """
        trees = np.arange(len(choices))
        opened = np.frombuffer(sums.tobytes(), dtype=np.uint64).reshape(len(choices), self._depth, 2, 2)
        nodes = np.zeros((len(choices), 1, 2), dtype=np.uint64)
        path = np.zeros(len(choices), dtype=np.int64)
        for level in range(self._depth):
            pairs = self._children(nodes).reshape(len(choices), -1, 2, 2)
            # What was made of the missing node, which stands as zero, is not of the tree.
            pairs[trees, path] = 0
            side = choices[:, level].astype(np.int64)
            # The opened sum less the known nodes of that side is the child that was missing there.
            known = np.bitwise_xor.reduce(pairs[trees, :, side], axis=1)
            pairs[trees, path, side] = known ^ keys[:, level] ^ opened[trees, level, side]
            nodes = pairs.reshape(len(choices), -1, 2)
            # Its sibling is missing from now on.
            path = 2 * path + 1 - side
        return nodes, path
