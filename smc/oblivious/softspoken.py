"""Extension of the base transfers: any number of random 1-of-2 transfers, 4 bytes each.

    receiver (all leaves of 32 trees; choices r)          sender (all leaves but one of each)
      u_b = sum of G(leaf x) over x                         D_b = number of the missing leaf
      v_b = sum of x G(leaf x)
      c_b = u_b ^ r                     -- c -->            q_b = sum of (x ^ D_b) G(leaf x) ^ D_b c_b
      pad_j = H(row j of v)                                 pad0_j = H(q_j), pad1_j = H(q_j ^ D)

x runs over the 16 numbers of four bits, as vectors over the field of two elements; b over the 32 trees. The
missing leaf counts zero times in q, and row j of q is that of v plus D where r_j = 1.

Inputs: bits r_j at the receiver.
Outputs: pad0_j and pad1_j of 128 bits at the sender, the one of r_j at the receiver.
Learns: the sender nothing (each u_b contains the stream of the leaf it lacks), the receiver nothing of the
other pads: D, 4 bits per tree, is uniform on 128 bits to it.
Assumes: `smc.oblivious.ggm_trees`, of a receiver that deviates
`smc.oblivious.consistency`; AES-128 in counter mode as the generator G;
`smc.oblivious.correlation_robust_hash`. Nothing is used twice: the streams run on, and every hash key
serves one block.
Cost: 1 flight, 4 bytes per transfer, in whole words of 64; `smc.oblivious.cost.matrix_bytes`.
Reference: Roy, SoftSpokenOT: quieter OT extension from small-field silent VOLE in the Minicrypt model, CRYPTO
2022, sections 3 and 5 (semi-honest, repetition code, k = 4); it generalises Ishai, Kilian, Nissim and
Petrank, CRYPTO 2003.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.oblivious.bitmatrix import COLUMNS, Word
from smc.oblivious.kernels import make_kernels
from smc.oblivious.workspace import Workspace

DEPTH: Final = 4
"""Bits of one tree's missing leaf, k."""

TREES: Final = COLUMNS // DEPTH
LEAVES: Final = 1 << DEPTH

PIECE_WORDS: Final = 4096
"""Most words per column that are extended at once: a mebibyte in one message."""

PURPOSE: Final = b"one-of-2"
"""Of the hash of these transfers."""


class BitReceiver:
    """The receiving end of one direction.

    Args:
        leaves: of the local trees, shape (32, 16, 2).
        workspace: scratch memory.
    """

    def __init__(self, leaves: Word, workspace: Workspace) -> None:
        self._streams = make_kernels(workspace).streams(leaves)
        self._workspace = workspace

    def extend(self, choices: Word, columns: Word) -> Word:
        """Random transfers with the given choices.

        Args:
            choices: a plane, shape (1, w) with w at most `PIECE_WORDS`.
            columns: shape (128, w), gets the local columns v.

        Returns:
            The matrix for the sender, shape (32, w), valid until the next call in the workspace.
        """
        width = choices.shape[1]
        weighed = columns.reshape(TREES, DEPTH, width)
        matrix = self._workspace.words("matrix", TREES, width)
        for part in self._streams.groups(width):
            self._streams.weigh(part, weighed[part], matrix[part])
            # That is u_b, the sum of all streams.
            np.bitwise_xor(matrix[part], choices, out=matrix[part])
        return matrix


class BitSender:
    """The sending end of one direction.

    Args:
        leaves: of the peer's trees, shape (32, 16, 2); what stands for the missing ones is not used.
        missing: their numbers, shape (32,).
        workspace: scratch memory.

    Attributes:
        offsets: 0 and D, shape (2, 2).
    """

    def __init__(self, leaves: Word, missing: NDArray[np.int64], workspace: Workspace) -> None:
        # Stream y is that of leaf x = y ^ D_b, whose weight x ^ D_b is y: streams are weighed by their place,
        # as the receiver's are, and the missing leaf, at y = 0, has no weight.
        moved = np.arange(LEAVES) ^ missing[:, None]
        self._streams = make_kernels(workspace).streams(leaves[np.arange(TREES)[:, None], moved])
        bits = (missing[:, None] >> np.arange(DEPTH) & 1).astype(np.uint8)
        # All ones where D_b has the bit, so that AND with it is multiplication by the bit.
        self._masks = (-bits.astype(np.int64)).view(np.uint64)[:, :, None]
        offset = np.packbits(bits.reshape(-1), bitorder="little").view(np.uint64)
        self.offsets = np.stack([np.zeros_like(offset), offset])
        self._workspace = workspace

    def extend(self, matrix: Word) -> Word:
        """The sender's side of random transfers.

        Args:
            matrix: from the receiver, shape (32, w).

        Returns:
            The columns q, shape (128, w), valid until the next call in the workspace.
        """
        width = matrix.shape[1]
        columns = self._workspace.words("columns", TREES, DEPTH, width)
        for part in self._streams.groups(width):
            count = part.stop - part.start
            self._streams.weigh(part, columns[part], self._workspace.words("total", count, width))
            multiples = self._workspace.words("multiples", count, DEPTH, width)  # D_b c_b
            np.bitwise_and(matrix[part, None], self._masks[part], out=multiples)
            np.bitwise_xor(columns[part], multiples, out=columns[part])
        return columns.reshape(COLUMNS, width)
