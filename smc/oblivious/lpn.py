"""Learning parity with noise over the field of two elements: the code and the sizes of silent transfer.

    y = A s + e,    A: n x k, ten ones per row at places that a public key stream names,
                    e: one 1 in each bin of n / t rows, at a uniform place

Applied to rows of 128 bits, the same linear map takes k correlated rows to n ones.

Assumes: regular-noise LPN with a 10-local linear code: for the sizes of `PRODUCTION`, (A, A s + e) cannot be
distinguished from (A, uniform) with s and the places of e uniform. Fewer bins are part of the same problem,
so a call that makes fewer rows is at least as hard to break.
Reference: Yang, Weng, Lan, Zhang and Wang, Ferret: Fast extension for correlated OT with small communication,
CCS 2020 (regular noise, local code); Boyle, Couteau, Gilboa, Ishai, Kohl, Rindal and Scholl, CCS 2019. Sizes:
k and n as of the set for bins of 2**11 of the library emp-ot, but twice as many bins, of 2**10: with its 1168
bins elimination within a random subset of the columns, which a code of ten ones per row allows and the usual
estimators leave out, takes about 2**106 operations. docs/proofs/vole.md has the estimate of this and of all
other attacks, made by `scripts/lpn_estimate.py`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.forms import Role
from smc.oblivious.bitmatrix import SLOTS, Word
from smc.oblivious.kernels import make_kernels
from smc.oblivious.numpy_field import ELEMENT_BITS
from smc.oblivious.workspace import Workspace
from smc.pieces import check_cancelled

WEIGHT: Final = 10
"""Ones in each row of A."""

_DOMAIN: Final = b"duetto/oblivious/local-code/2"
_KEY_BYTES: Final = 16
_PIECE_ROWS: Final = 1024


@dataclass(frozen=True, slots=True)
class LpnSet:
    """Sizes. Rows are made in blocks of `group` trees; a tree is a bin.

    Attributes:
        log_length: the secret s has k = 2**log_length entries, at most 2**32.
        trees: bins of a whole iteration, t; a multiple of `group`.
        depth: a bin has 2**depth rows.
        group: trees in a block; a block has a multiple of 64 rows.
    """

    log_length: int
    trees: int
    depth: int
    group: int

    @property
    def length(self) -> int:
        """Entries of the secret, k."""
        return 1 << self.log_length

    @property
    def block_rows(self) -> int:
        """Rows of a block."""
        return self.group << self.depth

    @property
    def block_words(self) -> int:
        """Words of 64 slots of a block."""
        return self.block_rows // SLOTS

    @property
    def reserve_rows(self) -> int:
        """Rows that an iteration uses up at most: the secret, and one per level of each tree."""
        return self.length + self.trees * self.depth

    @property
    def reserve_blocks(self) -> int:
        """Blocks of an iteration that are kept for the next one, with rows that hide a check."""
        return -(-(self.reserve_rows + ELEMENT_BITS) // self.block_rows)

    @property
    def most_blocks(self) -> int:
        """Blocks that an iteration gives out at most."""
        return self.trees // self.group - self.reserve_blocks

    def iterations(self, words: int) -> list[int]:
        """Blocks that each iteration gives out where so many words of 64 rows are wanted."""
        blocks = -(-words // self.block_words)
        full, rest = divmod(blocks, self.most_blocks)
        return [self.most_blocks] * full + ([rest] if rest else [])


PRODUCTION: Final = LpnSet(log_length=17, trees=2336, depth=10, group=16)
"""k = 131,072, t = 2336, n = 2,392,064; more than 128 bits, see above."""

SMALLER: Final = LpnSet(log_length=16, trees=1472, depth=9, group=32)
"""k = 65,536, t = 1472, n = 753,664, for what takes half a million rows: its first reserve is half as large,
and it is harder to break; the estimate is in docs/proofs/vole.md."""


class LocalCode:
    """The public matrix A, made row by row when it is applied.

    No rows are used twice, neither in a later iteration nor in the other direction: whoever attacks the
    problem cannot do once, for all iterations, the work that depends on A alone.

    Args:
        session: id of the session, which names the matrix.
        sender: the party that sends the transfers, as each direction has a matrix of its own.
        sizes: of the problem.
    """

    def __init__(self, session: bytes, sender: Role, sizes: LpnSet) -> None:
        name = session + sender.value.encode().ljust(8)
        self._key = np.frombuffer(hashlib.sha256(_DOMAIN + name).digest()[:_KEY_BYTES], dtype=np.uint64)
        self._blocks = 0
        self._piece = min(_PIECE_ROWS, sizes.block_rows)
        self._kernels = make_kernels(Workspace())

    def add(self, secret: Word, rows: Word) -> None:
        """Add A s to the rows of the next block; both ends do so for the same blocks in the same order.

        Args:
            secret: s, contiguous, shape (k, 2).
            rows: contiguous, shape (`block_rows`, 2), changed in place.
        """
        check_cancelled()
        number = self._blocks
        self._blocks += 1
        self._kernels.add_code(secret, self._key, number, self._piece, rows)
