"""Silent vector OLE over the field of 2**128 elements: C = A D + B, where D and B are the sender's.

    sender (D)                                          receiver
      rows of silent transfers, q_j                       t_j = q_j + r_j D with random bits r_j
      B = sum of x^j q_j                                  C = sum of x^j t_j, A = sum of x^j r_j: a base entry
    an iteration takes k + t entries and gives n, of which the last k + t are the next one's:
      trees with leaves v, as in correlated_ggm           all leaves but one, at place a of each tree
      v' = H(v)                                           v' of all others
      s = sum of v' + B_base          -- sums, s -->      w = s + sum of the others + C_base = v'_a + A_base D
      B = code(base) + v'                                 C = code(base) + v' (w at a)
                                                          A = code(base) + 0 (A_base at a)
    once for all iterations of a call:
                                 <-- chi, x --            x = sum of chi^i A_i, over more rows than are used
      SHA-256(sum of chi^i B_i + x D)   -- answer -->     the same as SHA-256(sum of chi^i C_i), or the end

Inputs: nothing but how many.
Outputs: D and B at the sender, A and C at the receiver, one element of each per row; D is the same for all
rows of a direction.
Learns: neither party anything; A is pseudo-random to the sender, and B, as far as D does not follow from it,
to the receiver. A sender that bends a sum ends the session but for a chance of n 2**-128, except that it may
guess the place of a missing leaf: a right guess passes, and it then knows that place. A receiver that sends
another x sees a hash of what it cannot know without D.
Assumes: `smc.oblivious.field_lpn` for A; `smc.oblivious.silent_ot` and `smc.oblivious.lpn` for the base
entries, in an instance of their own; `smc.oblivious.correlated_ggm` for the trees; H(z) = E(z) + z
correlation robust with a key per block; SHA-256 as a random oracle.
Cost: `smc.oblivious.vole_steps`.
Reference: Weng, Yang, Katz and Wang, Wolverine, IEEE S&P 2021 (the iteration and the check); Boyle, Couteau,
Gilboa, Ishai, Kohl and Scholl, CCS 2019; base entries from packed transfers: Rindal and Schoppmann, VOLE-PSI,
EUROCRYPT 2021.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, ExpectedWords, Words, byte_row
from smc.errors import InconsistentTransfers, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.bitmatrix import Word
from smc.oblivious.correlated_ggm import PuncturedTrees
from smc.oblivious.field_lpn import FieldCode
from smc.oblivious.kernels import make_kernels
from smc.oblivious.lpn import LpnSet
from smc.oblivious.numpy_field import ELEMENT_BITS
from smc.oblivious.silent_ot import PadHash, SilentReceiver, SilentSender, message_bytes
from smc.oblivious.transfers import Transfers
from smc.oblivious.vole_plan import PRODUCTION, VoleSizes
from smc.oblivious.workspace import Workspace

CHALLENGE_WORDS: Final = 4
HASH_BYTES: Final = 32

_BASE_DOMAIN: Final = b"duetto/oblivious/vole-base/1"
_FIRST_DOMAIN: Final = b"duetto/oblivious/vole-first/1"
_DOMAIN: Final = b"duetto/oblivious/vole/1"
_ANSWER_DOMAIN: Final = b"duetto/oblivious/vole-answer/1"
_ONE: Final = np.uint64(1)


@dataclass(frozen=True, slots=True)
class VoleRows(Message, kind="vole-rows", hidden=True):
    """What makes raw rows of silent transfers, from their sender."""

    sums: ByteRows


@dataclass(frozen=True, slots=True)
class VoleSums(Message, kind="vole-sums", hidden=True):
    """Of each tree of an iteration the masked sums of its levels, and that of its leaves; from the sender."""

    sums: Words


@dataclass(frozen=True, slots=True)
class VoleReady(Message, kind="vole-ready", hidden=True):
    """The receiver has so many iterations, and takes more."""

    ready: ByteRows


@dataclass(frozen=True, slots=True)
class VoleChallenge(Message, kind="vole-challenge", hidden=True):
    """From the receiver: the key of the check, and the sum of its factors by it."""

    words: Words


@dataclass(frozen=True, slots=True)
class VoleAnswer(Message, kind="vole-answer", hidden=True):
    """From the sender: the hash of what the receiver's sums have to come to."""

    hashed: ByteRows


@dataclass(frozen=True, slots=True)
class SentVole:
    """The sender's side of a call.

    Attributes:
        offset: D, shape (2,).
        rows: B, shape (n, 2).
        made: B of all rows that were made, shape (m, 2) with m above n.
        channel: the conversation with the peer.
    """

    offset: Word = field(repr=False)
    rows: Word = field(repr=False)
    made: Word = field(repr=False)
    channel: Channel = field(repr=False)

    def answer(self) -> None:
        """Take the receiver's challenge and answer it: once, before anything of these rows is used.

        Raises:
            ProtocolViolation: the peer sent something else.
        """
        words = self.channel.recv(VoleChallenge, ExpectedWords(CHALLENGE_WORDS))
        loops = make_kernels(Workspace()).field
        total = loops.tag(self.made, words[:2].copy())[None]
        loops.add_products(words[2:].copy()[None], self.offset, total)
        self.channel.send(VoleAnswer(byte_row(_hash(total))))


@dataclass(frozen=True, slots=True)
class ReceivedVole:
    """The receiver's side of a call.

    Attributes:
        sums: C, shape (n, 2).
        factors: A, shape (n, 2); rows lie apart.
        made: C and A of all rows that were made, shape (m, 2, 2).
        channel: the conversation with the peer.
        random: the source of the challenge.
    """

    sums: Word = field(repr=False)
    factors: Word = field(repr=False)
    made: Word = field(repr=False)
    channel: Channel = field(repr=False)
    random: Randomness = field(repr=False)

    def challenge(self) -> bytes:
        """Send the challenge.

        Returns:
            What `verify` compares with.
        """
        key, loops = self.random.words(2), make_kernels(Workspace()).field
        # The row behind the last one that is used hides the sum.
        told = loops.tag(self.made[:, 1], key)
        self.channel.send(VoleChallenge(Words(np.concatenate([key, told]))))
        return _hash(loops.tag(self.made[:, 0], key))

    def verify(self, expected: bytes) -> None:
        """Take the answer: before anything that depends on C is told or shown.

        Args:
            expected: from `challenge`.

        Raises:
            InconsistentTransfers: the peer's sums were not those of the protocol.
        """
        answer = self.channel.recv(VoleAnswer, ExpectedByteRows(1, HASH_BYTES)).tobytes()
        if not hmac.compare_digest(answer, expected):
            raise InconsistentTransfers


class _Sender:
    """The iterations of one problem at the sender; the names of its keys begin with the domain."""

    def __init__(self, domain: bytes, session: bytes, sender: Role, sizes: LpnSet, offset: Word) -> None:
        self._sizes, self._offset, self._workspace = sizes, offset, Workspace()
        name = hashlib.sha256(domain + session).digest()
        self._trees = PuncturedTrees(name, sender, sizes, self._workspace)
        self._hash = PadHash(name, sender, self._workspace)
        self._code = FieldCode(name, sender, sizes)

    def iterate(self, base: Word, paths: Word, seeds: Word, made: Word) -> VoleSums:
        """One iteration.

        Args:
            base: B of the entries, shape (k + t, 2).
            paths: raw rows, shape (blocks * g * depth, 2).
            seeds: uniform, shape (blocks, g, 2).
            made: B, shape (blocks * `block_rows`, 2), written.
        """
        sizes, blocks = self._sizes, len(seeds)
        secret, leaf_base = _split(base, sizes, blocks)
        masks = paths.reshape(blocks, sizes.depth, sizes.group, 2)
        message = np.empty((blocks, sizes.depth + 1, sizes.group, 2), dtype=np.uint64)
        for block, part in enumerate(made.reshape(blocks, -1, 2)):
            nodes, left = self._trees.grow(seeds[block], self._offset)
            np.bitwise_xor(left, masks[block], out=message[block, :-1])
            self._hash.renew()
            self._hash.blocks(nodes, part)
            total = np.bitwise_xor.reduce(part.reshape(-1, 2 * sizes.group), axis=0).reshape(-1, 2)
            np.bitwise_xor(total, leaf_base[block], out=message[block, -1])
            self._code.add(secret[:, None], part[:, None])
        return VoleSums(Words(message.reshape(-1)))


class _Receiver:
    """The iterations of one problem at the receiver."""

    def __init__(self, domain: bytes, session: bytes, sender: Role, sizes: LpnSet) -> None:
        self._sizes, self._workspace = sizes, Workspace()
        name = hashlib.sha256(domain + session).digest()
        self._trees = PuncturedTrees(name, sender, sizes, self._workspace)
        self._hash = PadHash(name, sender, self._workspace)
        self._code = FieldCode(name, sender, sizes)
        self._loops = make_kernels(self._workspace).field

    def iterate(self, base: Word, paths: Word, sums: Word, made: Word) -> None:
        """One iteration.

        Args:
            base: C and A of the entries, shape (k + t, 2, 2).
            paths: raw rows, their choices in the lowest bits, shape (blocks * g * depth, 2).
            sums: from the sender, flat.
            made: C and A, shape (blocks * `block_rows`, 2, 2), written.
        """
        sizes = self._sizes
        message = sums.reshape(-1, sizes.depth + 1, sizes.group, 2)
        secret, leaf_base = _split(base, sizes, len(message))
        masks = paths.reshape(-1, sizes.depth, sizes.group, 2)
        # The lowest bit of a raw row is its choice, which is the side that the tree opens.
        sides = (masks[..., 0] & _ONE).astype(np.uint8)
        leaves = self._workspace.words("leaves", 1 << sizes.depth, sizes.group, 2)
        for block, part in enumerate(made.reshape(len(message), -1, 2, 2)):
            nodes = self._trees.regrow(message[block, :-1] ^ masks[block], sides[block])
            self._hash.renew()
            self._hash.blocks(nodes, leaves.reshape(-1, 2))
            # The lowest bit of a node is 1 where it is the missing one, plus D.
            marked = nodes.reshape(leaves.shape)
            missing = self._loops.known_sums(marked, leaves) ^ message[block, -1] ^ leaf_base[block, :, 0]
            factors = np.ascontiguousarray(leaf_base[block, :, 1])
            self._loops.place_leaves(marked, leaves, missing, factors, part)
            self._code.add(secret, part)


class VoleSender:
    """The sending end of one direction; making one makes the first entries.

    Args:
        transfers: with the peer, which makes a `VoleReceiver` at the same time.
        channel: the conversation with the peer.
        random: the source of seeds.
        sender: this side's role.
        sizes: of the problems.
    """

    def __init__(
        self,
        transfers: Transfers,
        channel: Channel,
        random: Randomness,
        sender: Role,
        sizes: VoleSizes = PRODUCTION,
    ) -> None:
        rows, offset = transfers.send_rows(sizes.silent.reserve_rows)
        self._channel, self._random, self._sizes = channel, random, sizes
        name = hashlib.sha256(_BASE_DOMAIN + transfers.session).digest()
        self._silent = SilentSender(offset, rows, name, sender, sizes.silent, random)
        given = (transfers.session, sender)
        self._iterations = _Sender(_DOMAIN, *given, sizes.field, self._silent.offset)
        raw = self._rows(sizes.first_rows)
        packed = make_kernels(Workspace()).field.pack(raw[: ELEMENT_BITS * sizes.packed])
        made = np.empty((sizes.first_blocks * sizes.first.block_rows, 2), dtype=np.uint64)
        first = _Sender(_FIRST_DOMAIN, *given, sizes.first, self._silent.offset)
        self._iterate(first, packed, raw[ELEMENT_BITS * sizes.packed :], sizes.first, made)
        self._base = made[: sizes.kept]

    def extend(self, count: int) -> SentVole:
        """So many rows.

        Raises:
            UsageError: an earlier call failed.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        sizes, begin = self._sizes, 0
        made = np.empty((sizes.rows_made(count), 2), dtype=np.uint64)
        for number, window in enumerate(sizes.windows(count)):
            if number:
                self._channel.recv(VoleReady, ExpectedByteRows(1, 1))
            paths = self._rows(sizes.path_rows(window))
            for blocks in window:
                used = sizes.path_rows([blocks])
                part = made[begin : begin + blocks * sizes.field.block_rows]
                # Gone before it is used: an iteration that fails leaves no base, and none is used twice.
                base, self._base = self._base, self._base[:0]
                self._iterate(self._iterations, base, paths[:used], sizes.field, part)
                self._base = part[len(part) - sizes.kept :].copy()
                paths, begin = paths[used:], begin + len(part) - sizes.kept
        return SentVole(self._silent.offset, made[:count], made, self._channel)

    def _rows(self, count: int) -> Word:
        """Raw rows of silent transfers, which serve for nothing else."""
        made = []
        for blocks in self._sizes.refills(count):
            message, rows = self._silent.extend_rows(blocks)
            self._channel.send(VoleRows(ByteRows(message)))
            made.append(rows)
        return np.concatenate(made)[:count]

    def _iterate(self, end: _Sender, base: Word, paths: Word, sizes: LpnSet, made: Word) -> None:
        trees = len(made) // sizes.block_rows * sizes.group
        seeds = self._random.words(2 * trees).reshape(-1, sizes.group, 2)
        self._channel.send(end.iterate(base, paths, seeds, made))


class VoleReceiver:
    """The receiving end of one direction; making one makes the first entries.

    Args:
        transfers: with the peer, which makes a `VoleSender` at the same time.
        channel: the conversation with the peer.
        random: the source of choices.
        sender: the party that sends, which is the peer.
        sizes: of the problems.
    """

    def __init__(
        self,
        transfers: Transfers,
        channel: Channel,
        random: Randomness,
        sender: Role,
        sizes: VoleSizes = PRODUCTION,
    ) -> None:
        choices = random.bits(sizes.silent.reserve_rows)
        rows = transfers.receive_rows(choices)
        self._channel, self._random, self._sizes = channel, random, sizes
        name = hashlib.sha256(_BASE_DOMAIN + transfers.session).digest()
        self._silent = SilentReceiver(choices, rows, name, sender, sizes.silent)
        given = (transfers.session, sender)
        self._iterations = _Receiver(_DOMAIN, *given, sizes.field)
        raw = self._rows(sizes.first_rows)
        packed = _pack(raw[: ELEMENT_BITS * sizes.packed])
        made = np.empty((sizes.first_blocks * sizes.first.block_rows, 2, 2), dtype=np.uint64)
        first = _Receiver(_FIRST_DOMAIN, *given, sizes.first)
        self._iterate(first, packed, raw[ELEMENT_BITS * sizes.packed :], sizes.first, made)
        self._base = made[: sizes.kept]

    def extend(self, count: int) -> ReceivedVole:
        """So many rows. Raises as `VoleSender.extend`."""
        sizes, begin = self._sizes, 0
        made = np.empty((sizes.rows_made(count), 2, 2), dtype=np.uint64)
        for number, window in enumerate(sizes.windows(count)):
            if number:
                self._channel.send(VoleReady(byte_row(b"\1")))
            paths = self._rows(sizes.path_rows(window))
            for blocks in window:
                used = sizes.path_rows([blocks])
                part = made[begin : begin + blocks * sizes.field.block_rows]
                base, self._base = self._base, self._base[:0]
                self._iterate(self._iterations, base, paths[:used], sizes.field, part)
                self._base = part[len(part) - sizes.kept :].copy()
                paths, begin = paths[used:], begin + len(part) - sizes.kept
        sums = np.ascontiguousarray(made[:count, 0])
        return ReceivedVole(sums, made[:count, 1], made, self._channel, self._random)

    def _rows(self, count: int) -> Word:
        """Raw rows of silent transfers, their choices in the lowest bits."""
        made = []
        for blocks in self._sizes.refills(count):
            expected = ExpectedByteRows(1, message_bytes(self._sizes.silent, blocks))
            made.append(self._silent.extend_rows(blocks, self._channel.recv(VoleRows, expected)))
        return np.concatenate(made)[:count]

    def _iterate(self, end: _Receiver, base: Word, paths: Word, sizes: LpnSet, made: Word) -> None:
        trees = len(made) // sizes.block_rows * sizes.group
        sums = self._channel.recv(VoleSums, ExpectedWords(2 * trees * (sizes.depth + 1)))
        end.iterate(base, paths, sums, made)


class Voles:
    """Both directions of one session, each set up at its first use.

    Args:
        role: this side's role.
        channel: the conversation with the peer.
        random: the source of randomness.
        sizes: of the problems.
    """

    def __init__(
        self, role: Role, channel: Channel, random: Randomness, sizes: VoleSizes = PRODUCTION
    ) -> None:
        self._role, self._channel, self._random, self._sizes = role, channel, random, sizes
        self._receiver: VoleReceiver | None = None
        self._sender: VoleSender | None = None

    def receive(self, transfers: Transfers, count: int) -> ReceivedVole:
        """So many rows; see `VoleReceiver`."""
        self._sizes.check(count)
        if self._receiver is None:
            given = (transfers, self._channel, self._random, self._role.other, self._sizes)
            self._receiver = VoleReceiver(*given)
        return self._receiver.extend(count)

    def send(self, transfers: Transfers, count: int) -> SentVole:
        """So many rows; see `VoleSender`."""
        self._sizes.check(count)
        if self._sender is None:
            self._sender = VoleSender(transfers, self._channel, self._random, self._role, self._sizes)
        return self._sender.extend(count)


def _split(base: Word, sizes: LpnSet, blocks: int) -> tuple[Word, Word]:
    """The code's secret, shape (k, ...), and what the trees of so many blocks take, (blocks, g, ...)."""
    if not len(base):
        raise UsageError(
            "Vector OLE has failed in this session and cannot be used again.", "Start a new session."
        )
    taken = base[sizes.length : sizes.length + blocks * sizes.group]
    return base[: sizes.length], taken.reshape(blocks, sizes.group, *base.shape[1:])


def _pack(rows: Word) -> Word:
    """Entries of raw rows of the receiver: C and A side by side, shape (n, 2, 2)."""
    bits = (rows[:, 0] & _ONE).astype(np.uint8).reshape(-1, ELEMENT_BITS)
    factors = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    return np.stack([make_kernels(Workspace()).field.pack(rows), factors], axis=1)


def _hash(total: NDArray[np.uint64]) -> bytes:
    return hashlib.sha256(_ANSWER_DOMAIN + total.tobytes()).digest()
