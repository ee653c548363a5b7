"""All-but-one transfers: trees of seeds of which one party knows all leaves and the other all but one.

    owner (key pairs k0_i, k1_i; a root per tree)         guest (key kc_i of each pair)
      s = G0(parent), s' = G1(parent) down to 2**d leaves
      each leaf gives a seed and a tag of 256 bits
                                 -- digest of all tags -->
      per level: sums of all left, of all right nodes
      per tree: the sum of its tags
                                 -- sums ^ keys, sums of tags -->
                                                          opens one sum per level, regrows the tree without
                                                          the path that its choices c_1 .. c_d avoid; the
                                                          missing tag is the sum less the others: the digest?

The missing leaf has the number whose bits are 1 - c_1, ..., 1 - c_d, the most significant first. Seeds are
what trees are for: of the missing leaf the guest learns the tag. They are named by the session as well, tags
by the owner alone, which commits to them before it knows the session.

Learns: the guest nothing of the missing seed. The owner, whatever it sends, nothing of the choices but
whether the guest goes on: all tags that pass are those of the one set of leaves that the digest commits to,
so that a bent sum passes only where the guest's choices do not open it. An owner that guesses n choices is
found out but once in 2**n times, and knows them where it is not.
Assumes: base keys that are used for nothing else; AES as an ideal cipher for Gb(s) = E_kb(s) ^ s, and for
seeds and tags under three more public keys; SHA-256 as a random oracle for the digest. About 2**128 / (number
of nodes) evaluations find a node of one tree, as many as two leaves with one tag.
Reference: Goldreich, Goldwasser and Micali, JACM 1986; transfer of all leaves but one: Boyle, Couteau,
Gilboa, Ishai, Kohl, Rindal and Scholl, Efficient two-round OT extension and silent non-interactive secure
computation, CCS 2019; generator: Guo, Katz, Wang and Yu, IEEE S&P 2020; check: Roy, SoftSpokenOT, CRYPTO
2022, figures 13 and 14 (malicious owner, selective failure).
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from smc.forms import Role
from smc.oblivious.bitmatrix import Bit, Word
from smc.oblivious.prg import SEED_BYTES

TAG_BYTES: Final = 32
DIGEST_BYTES: Final = 32

_DOMAIN: Final = b"duetto/oblivious/tree-key/2"
_SEED_DOMAIN: Final = b"duetto/oblivious/leaf-seed/1"
_DIGEST_DOMAIN: Final = b"duetto/oblivious/tree-digest/1"


@dataclass(frozen=True, slots=True)
class Commitment:
    """What an owner shows of its leaves.

    Attributes:
        tag_sums: of each tree, shape (t, 32) bytes.
        digest: of all tags.
    """

    tag_sums: NDArray[np.uint8]
    digest: bytes


class SeedTrees:
    """Trees of one depth in one direction of one session.

    Args:
        name: of the session, or of the owner's part in it: the same on both sides, and never the same twice.
        owner: the party that knows all leaves.
        depth: levels below the root, d.
    """

    def __init__(self, name: bytes, owner: Role, depth: int) -> None:
        prefix = _DOMAIN + name + owner.value.encode().ljust(8) + bytes([depth])
        self._ciphers = [_cipher(prefix + side) for side in (b"left", b"right")]
        self._tag_ciphers = [_cipher(prefix + half) for half in (b"tag 0", b"tag 1")]
        self._depth = depth

    def _children(self, nodes: Word) -> Word:
        """Shape (t, m, 2) to (t, 2 m, 2)."""
        trees, count, _ = nodes.shape
        result = np.empty((trees, count, 2, 2), dtype=np.uint64)
        for side, cipher in enumerate(self._ciphers):
            result[:, :, side] = _hash(cipher, nodes)
        return result.reshape(trees, 2 * count, 2)

    def _tags(self, leaves: Word) -> Word:
        """Shape (t, n, 4)."""
        return np.concatenate([_hash(cipher, leaves) for cipher in self._tag_ciphers], axis=2)

    def commit(self, leaves: Word) -> Commitment:
        """What lets the guest check that the owner's sums are of these leaves.

        Args:
            leaves: from `grow`.
        """
        tags = self._tags(leaves)
        sums = np.bitwise_xor.reduce(tags, axis=1)
        return Commitment(sums.view(np.uint8).reshape(-1, TAG_BYTES), _digest(tags))

    def check(
        self, leaves: Word, missing: NDArray[np.int64], tag_sums: NDArray[np.uint8], digest: bytes
    ) -> bool:
        """Whether what the guest has opened is what the owner committed to.

        Args:
            leaves: from `regrow`.
            missing: from there.
            tag_sums: from the owner, shape (t, 32) bytes.
            digest: from the owner, of before it could know what depends on the guest.
        """
        tags = self._tags(leaves)
        trees = np.arange(len(leaves))
        tags[trees, missing] = 0
        total = np.frombuffer(tag_sums.tobytes(), dtype=np.uint64).reshape(len(leaves), -1)
        tags[trees, missing] = np.bitwise_xor.reduce(tags, axis=1) ^ total
        return hmac.compare_digest(_digest(tags), digest)

    def grow(self, roots: Word) -> tuple[Word, Word]:
        """The owner's side.

        Args:
            roots: shape (t, 2), uniform.

        Returns:
            All leaves, shape (t, 2**d, 2), and for each level the sums of its left and of its right nodes,
            shape (t, d, 2, 2): the guest gets them masked by both keys of the level, and opens one of them.
        """
        nodes = roots[:, None]
        sums = np.empty((len(roots), self._depth, 2, 2), dtype=np.uint64)
        for level in range(self._depth):
            nodes = self._children(nodes)
            pairs = nodes.reshape(len(nodes), -1, 2, 2)
            np.bitwise_xor.reduce(pairs, axis=1, out=sums[:, level])
        return nodes, sums

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


def leaf_seeds(leaves: Word, session: bytes, owner: Role, depth: int) -> Word:
    """The seeds of leaves, shape (t, n, 2), which are those of one session even where trees repeat.

    That of a missing leaf is none.
    """
    return _hash(_cipher(_SEED_DOMAIN + session + owner.value.encode().ljust(8) + bytes([depth])), leaves)


def _cipher(name: bytes) -> Cipher[modes.ECB]:
    """AES under a public key of this name."""
    key = hashlib.sha256(name).digest()[:SEED_BYTES]
    return Cipher(algorithms.AES(key), modes.ECB())  # noqa: S305 - one block per node


def _hash(cipher: Cipher[modes.ECB], nodes: Word) -> Word:
    """E(s) ^ s of every node, of the same shape."""
    encrypted = np.frombuffer(cipher.encryptor().update(nodes.tobytes()), dtype=np.uint64)
    return encrypted.reshape(nodes.shape) ^ nodes


def _digest(tags: Word) -> bytes:
    return hashlib.sha256(_DIGEST_DOMAIN + tags.tobytes()).digest()
