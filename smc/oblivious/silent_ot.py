"""Silent extension: random 1-of-2 transfers of four bits or of 128 at a fraction of a bit of traffic each.

    sender (D; rows q)                                    receiver (choices r; rows t = q ^ r D)
      a reserve of k + t d rows                             the same rows' other side
      v: leaves of t trees              -- c -->            w: leaves, w_a = v_a ^ D
      q' = A q ^ v                                          t' = A t ^ w
      the first rows of q' are the next reserve             the first rows of t' are the next reserve
      pad0 = H(q'), pad1 = H(q' ^ D)                        pad = H(t'), choice = lowest bit of t'

t' = q' ^ r' D with r' = A r ^ e, where e is 1 at the missing leaves: pseudo-random to the sender. The lowest
bit of D is 1 and that of every q is 0, so the lowest bit of a row t is its choice, and choices are not kept
apart. The trees' choices are those of reserve rows, so the receiver never sends anything. A reserve is used
up by one iteration, whatever was asked for, and an iteration makes no more blocks than that takes.

Inputs: nothing.
Outputs: two pads of four bits per transfer, or of 128, at the sender; a random bit and its pad at the
receiver.
Learns: the sender nothing of the choices, the receiver nothing of the other pads.
Assumes: of a sender that deviates `smc.oblivious.silent_consistency`;
`smc.oblivious.lpn` for the choices, `smc.oblivious.correlated_ggm` for D,
which is uniform on 127 bits; the first reserve from `smc.oblivious.softspoken`, whose D is the same but for
the lowest bit; H(z) = E(z) ^ z correlation robust, with a key per block of rows, as in
`smc.oblivious.correlation_robust_hash`.
Cost: the sender's message of `Refill` bytes per iteration, one flight for any number of them.
Reference: Yang, Weng, Lan, Zhang and Wang, Ferret, CCS 2020 (semi-honest, iterated with a reserve), with the
trees of Half-Tree, EUROCRYPT 2023. The papers' text was not at hand: this was rebuilt from the constructions
as commonly described.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.bitmatrix import SLOTS, Bit, Word
from smc.oblivious.correlated_ggm import PuncturedTrees
from smc.oblivious.correlation_robust_hash import NO_OFFSET
from smc.oblivious.kernels import make_kernels
from smc.oblivious.lpn import LocalCode, LpnSet
from smc.oblivious.silent_consistency import MASK_ROWS, RowSums
from smc.oblivious.workspace import Workspace

PAD_BITS: Final = 4
"""Bits of each pad."""

ROW_BYTES: Final = 16

_DOMAIN: Final = b"duetto/oblivious/silent-hash/1"
_KEY_BYTES: Final = 16
_ONE: Final = np.uint64(1)
_REST: Final = ~_ONE


def message_bytes(sizes: LpnSet, blocks: int) -> int:
    """Bytes of the message of an iteration that gives out so many blocks."""
    return (blocks + sizes.reserve_blocks) * sizes.group * sizes.depth * ROW_BYTES


class PadHash:
    """The hash of one direction of one session, block by block.

    Args:
        session: id of the session.
        sender: the party that sends.
        workspace: scratch memory.
    """

    def __init__(self, session: bytes, sender: Role, workspace: Workspace) -> None:
        self._prefix = _DOMAIN + session + sender.value.encode().ljust(8)
        self._workspace = workspace
        self._kernels = make_kernels(workspace)
        self._number = 0
        self._key: Word | None = None

    def renew(self) -> None:
        """Take the next key."""
        key = hashlib.sha256(self._prefix + self._number.to_bytes(8, "big")).digest()[:_KEY_BYTES]
        self._number += 1
        self._key = np.frombuffer(key, dtype=np.uint64)

    def bits(self, rows: Word, offsets: Word, planes: Word, choices: Word | None = None) -> None:
        """Four bits of the hash of each row plus each offset, under the key of the last `renew`.

        Args:
            rows: contiguous, shape (64 * w, 2); row r * w + k belongs to bit r of word k. Their content is
                lost.
            offsets: shape (n, 2) with n either 1 or 2, of which the first is zero.
            planes: shape (n, 4, w), part of a contiguous array that is wider; written.
            choices: shape (w,); gets the lowest bits of the rows.

        Raises:
            UsageError: there is no key yet.
        """
        self._kernels.hash_rows(rows, self._current(), offsets, planes, choices)

    def blocks(self, rows: Word, pads: Word) -> None:
        """All 128 bits of the hash of each row, under the key of the last `renew`.

        Args:
            rows: contiguous, shape (n, 2).
            pads: shape (n, 2), written.

        Raises:
            UsageError: there is no key yet.
        """
        output = self._workspace.output("hashed", rows.nbytes)
        cipher = Cipher(algorithms.AES(self._current().tobytes()), modes.ECB())  # noqa: S305 - one block per row
        cipher.encryptor().update_into(rows.view(np.uint8).reshape(-1).data, output.data)
        np.bitwise_xor(output[: rows.nbytes].view(np.uint64).reshape(rows.shape), rows, out=pads)

    def _current(self) -> Word:
        if self._key is None:
            raise UsageError("The hash has no key yet.", "Call renew before you hash.")
        return self._key


class _End:
    """What both ends of a direction have: a reserve of rows, the trees, the code and the hash."""

    def __init__(self, reserve: Word, session: bytes, sender: Role, sizes: LpnSet) -> None:
        if reserve.shape != (sizes.reserve_rows, 2):
            raise UsageError(
                f"The reserve has shape {reserve.shape} instead of {(sizes.reserve_rows, 2)}.",
                "Give as many rows as the parameter set asks for.",
            )
        self._sizes = sizes
        self._workspace = Workspace()
        self.trees = PuncturedTrees(session, sender, sizes, self._workspace)
        self.code = LocalCode(session, sender, sizes)
        self.hash = PadHash(session, sender, self._workspace)
        self._reserve: Word | None = np.ascontiguousarray(reserve)

    def take_reserve(self, blocks: int) -> tuple[Word, Word]:
        """The secret, shape (k, 2), and the trees' rows, shape (blocks, depth, g, 2); they are used up."""
        sizes = self._sizes
        if not 1 <= blocks <= sizes.most_blocks:
            raise UsageError(
                f"One iteration cannot give out {blocks} blocks.", f"Ask for 1 to {sizes.most_blocks}."
            )
        if self._reserve is None:
            raise UsageError(
                "Silent transfer has failed in this session and cannot be used again.",
                "Start a new session.",
            )
        # Gone before it is used: an iteration that fails leaves no reserve behind, and no row is used twice.
        reserve, self._reserve = self._reserve, None
        trees = (blocks + sizes.reserve_blocks) * sizes.group
        rows = reserve[sizes.length : sizes.length + trees * sizes.depth]
        return reserve[: sizes.length], rows.reshape(-1, sizes.depth, sizes.group, 2)

    def keep(self, fresh: Word) -> Word:
        """Keep the blocks, shape (b, `block_rows`, 2), for the next iteration; gives the rows of a mask."""
        rows, count = fresh.reshape(-1, 2), self._sizes.reserve_rows
        self._reserve = rows[:count].copy()
        return rows[count : count + MASK_ROWS]

    def fresh(self) -> Word:
        sizes = self._sizes
        return self._workspace.words("fresh", sizes.reserve_blocks, sizes.block_rows, 2)


class SilentSender:
    """The sending end of one direction.

    Args:
        offset: D, shape (2,), uniform; its lowest bit is taken to be 1.
        reserve: q, shape (`sizes.reserve_rows`, 2), uniform; the lowest bits are ignored.
        session: id of the session.
        sender: this side's role.
        sizes: of the problem.
        random: the source of seeds.
        sums: of the check; None where others check.
    """

    def __init__(
        self,
        offset: Word,
        reserve: Word,
        session: bytes,
        sender: Role,
        sizes: LpnSet,
        random: Randomness,
        sums: RowSums | None = None,
    ) -> None:
        self._offset = offset.copy()
        self._offset[0] |= _ONE
        self._end = _End(even(reserve), session, sender, sizes)
        self._sizes = sizes
        self._random = random
        self._sums = sums

    def seeds(self, blocks: int) -> Word:
        """Draw the seeds of an iteration that gives out so many blocks."""
        group = self._sizes.group
        trees = (blocks + self._sizes.reserve_blocks) * group
        return self._random.words(2 * trees).reshape(-1, group, 2)

    def extend(self, blocks: int, seeds: Word | None = None) -> tuple[NDArray[np.uint8], Word, Word]:
        """One iteration.

        Args:
            blocks: 1 to `sizes.most_blocks`; w is so many times `sizes.block_words`.
            seeds: from `seeds`, used only here; None to draw them now. With them nothing is drawn, so that
                another thread may call this.

        Returns:
            The message for the receiver, shape (1, `message_bytes`), and the pads of choice 0 and of choice
            1, shape (4, w) each.

        Raises:
            UsageError: an iteration failed before, or gives out another number of blocks.
        """
        message, made = self._begin(blocks, seeds)
        width = self._sizes.block_words
        pads = np.empty((2, PAD_BITS, blocks * width), dtype=np.uint64)
        offsets = np.stack([np.zeros_like(self._offset), self._offset])
        for place, rows in made:
            self._end.hash.bits(rows, offsets, pads[:, :, place * width : (place + 1) * width])
        return message.view(np.uint8).reshape(1, -1), pads[0], pads[1]

    def extend_blocks(self, blocks: int, seeds: Word | None = None) -> tuple[NDArray[np.uint8], Word, Word]:
        """One iteration, as `extend`, but for pads of 128 bits: n is so many times `sizes.block_rows`.

        Returns:
            The message for the receiver, and the pads of choice 0 and of choice 1, shape (n, 2) each.

        Raises:
            UsageError: as there.
        """
        message, made = self._begin(blocks, seeds)
        height = self._sizes.block_rows
        zero, one = (np.empty((blocks * height, 2), dtype=np.uint64) for _ in range(2))
        for place, rows in made:
            part = slice(place * height, (place + 1) * height)
            self._end.hash.blocks(rows, zero[part])
            self._shift(rows)
            self._end.hash.blocks(rows, one[part])
        return message.view(np.uint8).reshape(1, -1), zero, one

    def extend_rows(self, blocks: int) -> tuple[NDArray[np.uint8], Word]:
        """One iteration, as `extend`, but for rows before the hash: n is so many times `sizes.block_rows`.

        Returns:
            The message for the receiver, and the rows of choice 0, shape (n, 2); those of choice 1 are these
            plus `offset`.

        Raises:
            UsageError: as there.
        """
        message, made = self._begin(blocks, None)
        height = self._sizes.block_rows
        result = np.empty((blocks * height, 2), dtype=np.uint64)
        for place, rows in made:
            result[place * height : (place + 1) * height] = rows
        return message.view(np.uint8).reshape(1, -1), result

    @property
    def offset(self) -> Word:
        """D, whose lowest bit is 1, shape (2,)."""
        return self._offset

    def _begin(self, blocks: int, seeds: Word | None) -> tuple[Word, Iterator[tuple[int, Word]]]:
        """The message, complete with the last block, and the blocks, see `_rows`."""
        secret, sums = self._end.take_reserve(blocks)
        message = np.empty_like(sums)
        return message, self._rows(secret, sums, message, self.seeds(blocks) if seeds is None else seeds)

    def _rows(self, secret: Word, sums: Word, message: Word, seeds: Word) -> Iterator[tuple[int, Word]]:
        """The blocks' rows of choice 0, contiguous, each with a key of the hash; valid for one step."""
        end, sizes = self._end, self._sizes
        fresh = end.fresh()
        for block in range(len(sums)):
            rows, left = end.trees.grow(seeds[block], self._offset)
            # The nodes of a level sum to D. So the receiver, who has q ^ r D in the place of q, opens the sum
            # of the left nodes if r is 0 and that of the right ones if r is 1.
            np.bitwise_xor(left, sums[block], out=message[block])
            if self._sums is not None:
                self._sums.add(message[block], rows, marked=False)
            end.code.add(secret, rows)
            # The first blocks are the next reserve; they are kept as they are, and never hashed.
            place = block - sizes.reserve_blocks
            if place < 0:
                fresh[block] = rows
                continue
            end.hash.renew()
            yield place, rows
        mask = end.keep(fresh)
        if self._sums is not None:
            self._sums.end_iteration(mask)

    def _shift(self, rows: Word) -> None:
        """The rows of choice 1 in the place of those of choice 0, which are hashed already."""
        flat = rows.reshape(SLOTS, -1)
        np.bitwise_xor(flat, np.tile(self._offset, self._sizes.block_words), out=flat)


class SilentReceiver:
    """The receiving end of one direction.

    Args:
        choices: r, bits, shape (`sizes.reserve_rows`,), uniform.
        reserve: t, shape (`sizes.reserve_rows`, 2).
        session: id of the session.
        sender: the party that sends, which is the peer.
        sizes: of the problem.
        sums: of the check; None where others check.
    """

    def __init__(
        self,
        choices: Bit,
        reserve: Word,
        session: bytes,
        sender: Role,
        sizes: LpnSet,
        sums: RowSums | None = None,
    ) -> None:
        self._end = _End(mark_choices(choices, reserve), session, sender, sizes)
        self._sizes = sizes
        self._sums = sums

    def extend(self, blocks: int, message: NDArray[np.uint8]) -> tuple[Word, Word]:
        """One iteration.

        Args:
            blocks: as the sender's; w is so many times `sizes.block_words`.
            message: from the sender, `message_bytes` bytes.

        Returns:
            The choices, a plane, shape (w,), and the pads, shape (4, w).

        Raises:
            UsageError: an iteration failed before, gives out another number of blocks, or the message is of
                another size.
        """
        made = self._begin(blocks, message)
        width = self._sizes.block_words
        choices = np.empty(blocks * width, dtype=np.uint64)
        pads = np.empty((1, PAD_BITS, blocks * width), dtype=np.uint64)
        for place, rows in made:
            part = slice(place * width, (place + 1) * width)
            self._end.hash.bits(rows, NO_OFFSET, pads[:, :, part], choices[part])
        return choices, pads[0]

    def extend_blocks(self, blocks: int, message: NDArray[np.uint8]) -> tuple[Bit, Word]:
        """One iteration, as `extend`, but for pads of 128 bits: n is so many times `sizes.block_rows`.

        Returns:
            The choices, bits, shape (n,), and the pads, shape (n, 2).

        Raises:
            UsageError: as there.
        """
        made = self._begin(blocks, message)
        height = self._sizes.block_rows
        choices = np.empty(blocks * height, dtype=np.uint8)
        pads = np.empty((blocks * height, 2), dtype=np.uint64)
        for place, rows in made:
            part = slice(place * height, (place + 1) * height)
            choices[part] = rows[:, 0] & _ONE
            self._end.hash.blocks(rows, pads[part])
        return choices, pads

    def extend_rows(self, blocks: int, message: NDArray[np.uint8]) -> Word:
        """One iteration, as `extend`, but for rows before the hash: n is so many times `sizes.block_rows`.

        Returns:
            The rows, whose lowest bits are the choices, shape (n, 2).

        Raises:
            UsageError: as there.
        """
        made = self._begin(blocks, message)
        height = self._sizes.block_rows
        result = np.empty((blocks * height, 2), dtype=np.uint64)
        for place, rows in made:
            result[place * height : (place + 1) * height] = rows
        return result

    def _begin(self, blocks: int, message: NDArray[np.uint8]) -> Iterator[tuple[int, Word]]:
        sizes = self._sizes
        secret, rows_of_trees = self._end.take_reserve(blocks)
        if message.size != message_bytes(sizes, blocks):
            raise UsageError(
                f"The message has {message.size} bytes instead of {message_bytes(sizes, blocks)}.",
                "Receive it with the number of blocks that the sender was given.",
            )
        opened = np.frombuffer(message.tobytes(), dtype=np.uint64).reshape(rows_of_trees.shape)
        return self._rows(secret, opened, rows_of_trees)

    def _rows(self, secret: Word, opened: Word, rows_of_trees: Word) -> Iterator[tuple[int, Word]]:
        """The blocks' rows, their choices in the lowest bits, as of `SilentSender`."""
        end, sizes = self._end, self._sizes
        # The lowest bit of a reserve row is its choice, which is the side that the tree opens.
        sides = (rows_of_trees[..., 0] & _ONE).astype(np.uint8)
        fresh = end.fresh()
        for block in range(len(opened)):
            # A missing leaf comes out plus D, and D is odd: the lowest bit, the choice, is 1 there and 0
            # elsewhere, as in all of the sender's.
            rows = end.trees.regrow(opened[block] ^ rows_of_trees[block], sides[block])
            if self._sums is not None:
                self._sums.add(opened[block], rows, marked=True)
            end.code.add(secret, rows)
            place = block - sizes.reserve_blocks
            if place < 0:
                fresh[block] = rows
                continue
            end.hash.renew()
            yield place, rows
        mask = end.keep(fresh)
        if self._sums is not None:
            self._sums.end_iteration(mask)


def mark_choices(choices: Bit, rows: Word) -> Word:
    """A copy in which the lowest bit of every row is its choice."""
    result = even(rows)
    result[:, 0] |= choices
    return result


def even(rows: Word) -> Word:
    """A copy in which the lowest bit of every row is 0."""
    result = rows.copy()
    result[:, 0] &= _REST
    return result
