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
Assumes: semi-honest parties, `smc.oblivious.ggm_trees`; AES-128 in counter mode as the generator G;
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

from smc.forms import Role
from smc.oblivious.bitmatrix import COLUMNS, SLOTS, Word
from smc.oblivious.correlation_robust_hash import NO_OFFSET, RowHash
from smc.oblivious.kernels import make_kernels
from smc.oblivious.workspace import Workspace

DEPTH: Final = 4
"""Bits of one tree's missing leaf, k."""

TREES: Final = COLUMNS // DEPTH
LEAVES: Final = 1 << DEPTH

PIECE_WORDS: Final = 4096
"""Most words per column that are extended at once: a mebibyte in one message."""

_PURPOSE: Final = b"one-of-2"


class BitReceiver:
    """The receiving end of one direction.

    Args:
        leaves: of the local trees, shape (32, 16, 2).
        session: id of the session.
        sender: the party that sends, which is the peer.
        workspace: scratch memory.
    """

    def __init__(self, leaves: Word, session: bytes, sender: Role, workspace: Workspace) -> None:
        self._streams = make_kernels(workspace).streams(leaves)
        self._hash = RowHash(session, sender, _PURPOSE, workspace)
        self._workspace = workspace

    def _extend(self, choices: Word) -> tuple[Word, Word]:
        """The matrix for the sender, shape (32, w), and the local columns, shape (128, w)."""
        width = len(choices)
        columns = self._workspace.words("columns", TREES, DEPTH, width)
        matrix = self._workspace.words("matrix", TREES, width)
        for part in self._streams.groups(width):
            self._streams.weigh(part, columns[part], matrix[part])
            # That is u_b, the sum of all streams.
            np.bitwise_xor(matrix[part], choices, out=matrix[part])
        return matrix, columns.reshape(COLUMNS, width)

    def bits(self, choices: Word) -> tuple[NDArray[np.uint8], Word]:
        """Random transfers of two bits with the given choices.

        Args:
            choices: a plane, shape (w,) with w at most `PIECE_WORDS`.

        Returns:
            The matrix for the sender, shape (32, 8 w) bytes, valid until the next call in the workspace,
            and the pads, shape (2, w).
        """
        matrix, columns = self._extend(choices)
        return matrix.view(np.uint8), self._hash.bits(columns, NO_OFFSET)[0]

    def words(self, choices: Word) -> tuple[NDArray[np.uint8], Word]:
        """Random transfers of 64 bits.

        Args:
            choices: as for `bits`.

        Returns:
            The matrix, as of `bits`, and the pads, shape (64, w): entry (r, k) is that of slot (r, k).
        """
        matrix, columns = self._extend(choices)
        pads = np.empty((SLOTS, len(choices)), dtype=np.uint64)
        for part, rows in self._hash.rows(columns):
            pads[:, part] = self._hash.words(rows)
        return matrix.view(np.uint8), pads

    def blocks(self, choices: Word) -> tuple[NDArray[np.uint8], Word]:
        """Random transfers of 128 bits.

        Args:
            choices: as for `bits`.

        Returns:
            The matrix, as of `bits`, and the pads, shape (64, w, 2).
        """
        matrix, columns = self._extend(choices)
        pads = np.empty((SLOTS, len(choices), 2), dtype=np.uint64)
        for part, rows in self._hash.rows(columns):
            pads[:, part] = self._hash.blocks(rows)
        return matrix.view(np.uint8), pads

    def rows(self, choices: Word) -> tuple[NDArray[np.uint8], Word]:
        """Correlated transfers before the hash: rows that differ from the sender's by D where r_j = 1.

        Args:
            choices: as for `bits`.

        Returns:
            The matrix, as of `bits`, and the rows, shape (64, w, 2).
        """
        matrix, columns = self._extend(choices)
        found = np.empty((SLOTS, len(choices), 2), dtype=np.uint64)
        for part, rows in self._hash.rows(columns):
            found[:, part] = rows
        return matrix.view(np.uint8), found


class BitSender:
    """The sending end of one direction.

    Args:
        leaves: of the peer's trees, shape (32, 16, 2); what stands for the missing ones is not used.
        missing: their numbers, shape (32,).
        session: id of the session.
        sender: this side's role.
        workspace: scratch memory.
    """

    def __init__(
        self, leaves: Word, missing: NDArray[np.int64], session: bytes, sender: Role, workspace: Workspace
    ) -> None:
        # Stream y is that of leaf x = y ^ D_b, whose weight x ^ D_b is y: streams are weighed by their place,
        # as the receiver's are, and the missing leaf, at y = 0, has no weight.
        moved = np.arange(LEAVES) ^ missing[:, None]
        self._streams = make_kernels(workspace).streams(leaves[np.arange(TREES)[:, None], moved])
        bits = (missing[:, None] >> np.arange(DEPTH) & 1).astype(np.uint8)
        # All ones where D_b has the bit, so that AND with it is multiplication by the bit.
        self._masks = (-bits.astype(np.int64)).view(np.uint64)[:, :, None]
        self._offset = np.packbits(bits.reshape(-1), bitorder="little").view(np.uint64)
        self._hash = RowHash(session, sender, _PURPOSE, workspace)
        self._workspace = workspace

    def _extend(self, matrix: NDArray[np.uint8]) -> Word:
        """The columns, shape (128, w)."""
        received = matrix.view(np.uint64)
        width = received.shape[1]
        columns = self._workspace.words("columns", TREES, DEPTH, width)
        for part in self._streams.groups(width):
            count = part.stop - part.start
            self._streams.weigh(part, columns[part], self._workspace.words("total", count, width))
            multiples = self._workspace.words("multiples", count, DEPTH, width)  # D_b c_b
            np.bitwise_and(received[part, None], self._masks[part], out=multiples)
            np.bitwise_xor(columns[part], multiples, out=columns[part])
        return columns.reshape(COLUMNS, width)

    def bits(self, matrix: NDArray[np.uint8]) -> tuple[Word, Word]:
        """The sender's side of random transfers of two bits.

        Args:
            matrix: from the receiver, shape (32, 8 w) bytes.

        Returns:
            The pads of choice 0 and of choice 1, shape (2, w) each.
        """
        zero, one = self._hash.bits(self._extend(matrix), np.stack([NO_OFFSET[0], self._offset]))
        return zero, one

    def words(self, matrix: NDArray[np.uint8]) -> tuple[Word, Word]:
        """The sender's side of random transfers of 64 bits.

        Args:
            matrix: as for `bits`.

        Returns:
            The pads of choice 0 and of choice 1, shape (64, w) each.
        """
        columns = self._extend(matrix)
        zero, one = (np.empty((SLOTS, columns.shape[1]), dtype=np.uint64) for _ in range(2))
        for part, rows in self._hash.rows(columns):
            zero[:, part] = self._hash.words(rows)
            self._shift(rows)
            one[:, part] = self._hash.words(rows)
        return zero, one

    def blocks(self, matrix: NDArray[np.uint8]) -> tuple[Word, Word]:
        """The sender's side of random transfers of 128 bits.

        Args:
            matrix: as for `bits`.

        Returns:
            The pads of choice 0 and of choice 1, shape (64, w, 2) each.
        """
        columns = self._extend(matrix)
        zero, one = (np.empty((SLOTS, columns.shape[1], 2), dtype=np.uint64) for _ in range(2))
        for part, rows in self._hash.rows(columns):
            zero[:, part] = self._hash.blocks(rows)
            self._shift(rows)
            one[:, part] = self._hash.blocks(rows)
        return zero, one

    def rows(self, matrix: NDArray[np.uint8]) -> Word:
        """The sender's side of correlated transfers before the hash.

        Args:
            matrix: as for `bits`.

        Returns:
            The rows, shape (64, w, 2).
        """
        columns = self._extend(matrix)
        found = np.empty((SLOTS, columns.shape[1], 2), dtype=np.uint64)
        for part, rows in self._hash.rows(columns):
            found[:, part] = rows
        return found

    @property
    def offset(self) -> Word:
        """D, shape (2,)."""
        return self._offset

    def _shift(self, rows: Word) -> None:
        # The rows of choice 1: q_j ^ D, every row with the same D.
        flat = rows.reshape(SLOTS, -1)
        np.bitwise_xor(flat, np.tile(self._offset, rows.shape[1]), out=flat)
