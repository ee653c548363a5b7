"""Random transfers of every kind over the channel: rows that differ by a secret offset, and their pads.

    receiver (choices c)                            sender (offsets D_v)
      row t_j = q_j + D_c     -- matrices, proof -->  row q_j
      pad: form of t_j                                pads: form of q_j + D_v for every v

A kind says how rows are made (1-of-2 and 1-of-16 transfers), a form what is taken of them: two bits of the
hash, 64, 128, or the row itself. A batch is cut into pieces of which each is one message, so that computing
overlaps sending. Every batch of every kind and form carries a proof and is checked here, by
`smc.oblivious.consistency`, before its pads are given to anybody.

Inputs: choices at the receiver.
Outputs: a pad for each transfer at the receiver, those of all choices at the sender.
Learns: neither party anything of the other's.
Assumes: the kind's module; `smc.oblivious.correlation_robust_hash`; for a receiver that deviates
`smc.oblivious.consistency`.
Cost: the matrices and the proof, `TransferKind.bytes_received`, in one flight.
Reference: those of the kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, ExpectedWords, Words
from smc.errors import InconsistentTransfers, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import ot_1_of_16, softspoken
from smc.oblivious.bitmatrix import COLUMNS, SLOTS, Word
from smc.oblivious.consistency import DIGEST_BYTES, MASK_WORDS, TAG_WORDS, Checker, Prover, proof_bytes
from smc.oblivious.correlation_robust_hash import NO_OFFSET, RowHash
from smc.oblivious.kernels import make_kernels
from smc.oblivious.workspace import Workspace
from smc.pieces import chunks

_WORD: Final = 8


@dataclass(frozen=True, slots=True)
class TransferColumns(Message, kind="transfer-columns", hidden=True):
    """The matrix of 1-of-2 transfers, from their receiver."""

    matrix: ByteRows


@dataclass(frozen=True, slots=True)
class TransferChoiceColumns(Message, kind="transfer-choice-columns", hidden=True):
    """The matrix of 1-of-16 transfers, from their receiver."""

    matrix: ByteRows


@dataclass(frozen=True, slots=True)
class TransferMask(Message, kind="transfer-mask", hidden=True):
    """The matrix of the transfers that hide what the first proof tells, from their receiver."""

    matrix: ByteRows


@dataclass(frozen=True, slots=True)
class TransferProof(Message, kind="transfer-proof", hidden=True):
    """Behind a batch's matrices: tags of choices, digest of those of columns, matrix of the next mask."""

    tags: Words
    digest: ByteRows
    mask: ByteRows


Matrix = TransferColumns | TransferChoiceColumns | TransferMask


@dataclass(frozen=True, slots=True)
class TransferKind:
    """How rows are made.

    Attributes:
        matrix: the message that carries the receiver's matrices.
        planes: bits of a choice.
        matrix_rows: of the matrices.
        piece_words: most words per column in one message.
        purpose: of the hash.
    """

    matrix: type[Matrix]
    planes: int
    matrix_rows: int
    piece_words: int
    purpose: bytes

    def bytes_received(self, words: int) -> int:
        """Bytes that the receiver of a batch of so many words of slots sends; 0 for none."""
        return self.matrix_rows * _WORD * words + proof_bytes(self.planes, self.matrix_rows) if words else 0


ONE_OF_2: Final = TransferKind(
    TransferColumns, 1, softspoken.TREES, softspoken.PIECE_WORDS, softspoken.PURPOSE
)
ONE_OF_16: Final = TransferKind(
    TransferChoiceColumns,
    ot_1_of_16.DIGIT_BITS,
    ot_1_of_16.MATRIX_ROWS,
    ot_1_of_16.PIECE_WORDS,
    ot_1_of_16.PURPOSE,
)
KINDS: Final = (ONE_OF_2, ONE_OF_16)


@dataclass(frozen=True, slots=True)
class PadForm:
    """What is taken of a row.

    Attributes:
        shape: of a word of slots, before and after the axis of words.
        hash: makes it of columns and offsets, see `RowHash`.
    """

    shape: tuple[tuple[int, ...], tuple[int, ...]]
    hash: Callable[[RowHash, Word, Word], Word]

    def empty(self, count: int, width: int) -> Word:
        """Room for so many choices."""
        before, after = self.shape
        return np.empty((count, *before, width, *after), dtype=np.uint64)


BITS: Final = PadForm(((2,), ()), RowHash.bits)
WORDS: Final = PadForm(((SLOTS,), ()), RowHash.words)
BLOCKS: Final = PadForm(((SLOTS,), (2,)), RowHash.blocks)
ROWS: Final = PadForm(((SLOTS,), (2,)), RowHash.rows)


class ReceivingEnd(Protocol):
    """What makes rows of one kind from choices."""

    def extend(self, choices: Word, columns: Word) -> Word:
        """See `softspoken.BitReceiver`."""
        ...


class SendingEnd(Protocol):
    """What makes rows of one kind from matrices."""

    @property
    def offsets(self) -> Word:
        """What a row of each choice has more than that of choice 0, shape (2**planes, 2)."""
        ...

    def extend(self, matrix: Word) -> Word:
        """See `softspoken.BitSender`."""
        ...


@dataclass(frozen=True, slots=True)
class Conversation:
    """What all ends of a party have in common.

    Attributes:
        session: id of the session.
        role: this party's.
        channel: the conversation with the peer.
        random: the source of masks.
        workspace: scratch memory.
    """

    session: bytes
    role: Role
    channel: Channel
    random: Randomness
    workspace: Workspace

    def hash(self, sender: Role, kind: TransferKind, salt: bytes) -> RowHash:
        """The hash of one direction and kind."""
        return RowHash(self.session, sender, kind.purpose, self.workspace, salt)

    def name(self, sender: Role, kind: TransferKind) -> bytes:
        """Names one direction and kind, as no other."""
        return b"/".join((self.session, sender.value.encode(), kind.purpose))


class Receiver:
    """The receiving end of one kind and direction; the peer has the `Sender`.

    Args:
        kind: of the transfers.
        end: what makes rows.
        shared: with the other ends.
    """

    def __init__(self, kind: TransferKind, end: ReceivingEnd, shared: Conversation) -> None:
        self._kind, self._end, self._shared = kind, end, shared
        self._channel, self._random = shared.channel, shared.random
        self._hash: RowHash | None = None
        name = shared.name(shared.role.other, kind)
        self._prover = Prover(kind.planes, make_kernels(shared.workspace), name)

    def begin(self, salt: bytes) -> None:
        """Take the peer's salt, before the first transfers."""
        self._hash = self._shared.hash(self._shared.role.other, self._kind, salt)

    def receive(self, choices: Word, form: PadForm) -> Word:
        """Transfers with the given choices.

        Args:
            choices: planes, shape (planes, w).
            form: of the pads.

        Returns:
            The pads, of the form's shape.

        Raises:
            UsageError: the salt has not come.
        """
        if self._hash is None:
            raise UsageError("The peer's salt has not come.", "Set up before you make transfers.")
        width = choices.shape[1]
        pads = form.empty(1, width)
        for part in chunks(width, self._kind.piece_words):
            matrix, columns = self._extend(choices[:, part])
            self._channel.send(self._kind.matrix(ByteRows(matrix.view(np.uint8))))
            self._prover.add(matrix, choices[:, part], columns)
            self._hash.add_salt(columns)
            pads[:, :, part] = form.hash(self._hash, columns, NO_OFFSET)
        if width:
            tags, digest = self._prover.prove()
            mask = ByteRows(self._renew().view(np.uint8))
            self._channel.send(TransferProof(Words(tags), ByteRows(digest), mask))
        result: Word = pads[0]
        return result

    def send_mask(self) -> None:
        """Send the mask of the first batch."""
        self._channel.send(TransferMask(ByteRows(self._renew().view(np.uint8))))

    def _renew(self) -> Word:
        """The matrix of the next batch's mask."""
        choices = self._random.words(self._kind.planes * MASK_WORDS).reshape(-1, MASK_WORDS)
        matrix, columns = self._extend(choices)
        self._prover.begin(matrix, choices, columns)
        return matrix

    def _extend(self, choices: Word) -> tuple[Word, Word]:
        """The matrix, valid until the next one is made, and the columns, shape (128, w)."""
        columns = np.empty((COLUMNS, choices.shape[1]), dtype=np.uint64)
        return self._end.extend(choices, columns), columns


class Sender:
    """The sending end of one kind and direction; the peer has the `Receiver`.

    Args:
        kind: of the transfers.
        end: what makes rows.
        shared: with the other ends.
        salt: of this party.
    """

    def __init__(self, kind: TransferKind, end: SendingEnd, shared: Conversation, salt: bytes) -> None:
        self._kind, self._end = kind, end
        self._channel = shared.channel
        self._hash = shared.hash(shared.role, kind, salt)
        name = shared.name(shared.role, kind)
        self._checker = Checker(end.offsets, make_kernels(shared.workspace), name)

    @property
    def offset(self) -> Word:
        """What a row of choice 1 has more than that of choice 0, shape (2,)."""
        offset: Word = self._end.offsets[1]
        return offset

    def send(self, width: int, form: PadForm) -> Word:
        """Transfers of as many words as the peer receives.

        Args:
            width: words per plane.
            form: of the pads.

        Returns:
            The pads of every choice, of the form's shape each; of `ROWS` those of choice 0 alone.

        Raises:
            InconsistentTransfers: the peer's matrices are not consistent.
        """
        pads = form.empty(1 if form is ROWS else len(self._end.offsets), width)
        for part in chunks(width, self._kind.piece_words):
            matrix = self._channel.recv(self._kind.matrix, self._expect(part.stop - part.start))
            columns = self._take(matrix, self._checker.add)
            self._hash.add_salt(columns)
            pads[:, :, part] = form.hash(self._hash, columns, self._end.offsets)
        if width:
            tags, digest, mask = self._channel.recv(
                TransferProof,
                ExpectedWords(TAG_WORDS * self._kind.planes),
                ExpectedByteRows(1, DIGEST_BYTES),
                self._expect(MASK_WORDS),
            )
            if not self._checker.holds(tags, digest):
                raise InconsistentTransfers
            self._take(mask, self._checker.begin)
        return pads

    def take_mask(self) -> None:
        """Take the mask of the first batch."""
        self._take(self._channel.recv(TransferMask, self._expect(MASK_WORDS)), self._checker.begin)

    def _expect(self, width: int) -> ExpectedByteRows:
        return ExpectedByteRows(self._kind.matrix_rows, _WORD * width)

    def _take(self, sent: NDArray[np.uint8], note: Callable[[Word, Word], None]) -> Word:
        """The columns of a matrix that came, which the checker is to note, shape (128, w)."""
        matrix = sent.view(np.uint64)
        columns = self._end.extend(matrix)
        note(matrix, columns)
        return columns
