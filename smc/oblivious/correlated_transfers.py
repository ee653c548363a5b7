"""Random transfers of every kind over the channel: rows that differ by a secret offset, and their pads.

    receiver (choices c)                            sender (offsets D_v)
      row t_j = q_j + D_c     -- matrices -->         row q_j
      pad: form of t_j                                pads: form of q_j + D_v for every v

A kind says how rows are made (1-of-2 and 1-of-16 transfers), a form what is taken of them: two bits of the
hash, 64, 128, or the row itself. A batch is cut into pieces of which each is one message, so that computing
overlaps sending. Every batch of every kind and form is checked here, by `smc.oblivious.consistency`.

Inputs: choices at the receiver.
Outputs: a pad for each transfer at the receiver, those of all choices at the sender.
Learns: neither party anything of the other's.
Assumes: the kind's module; `smc.oblivious.correlation_robust_hash`; for a receiver that deviates
`smc.oblivious.consistency`.
Cost: the matrices in one flight, and `CHALLENGE_BYTES` from the sender, which wait for nobody.
Reference: those of the kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import ot_1_of_16, softspoken
from smc.oblivious.bitmatrix import COLUMNS, SLOTS, Word
from smc.oblivious.consistency import MASK_WORDS, Checker, Prover
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
    """The matrix of the transfers that hide what the next check tells, from their receiver."""

    matrix: ByteRows


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
        random: the source of masks and keys.
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
        self._prover = Prover(kind.planes, make_kernels(shared.workspace), shared.channel)

    def begin(self, salt: bytes) -> None:
        """Take the peer's salt, before the first transfers."""
        self._hash = self._shared.hash(self._shared.role.other, self._kind, salt)

    def receive(self, choices: Word, form: PadForm) -> Word:
        """Transfers with the given choices.

        Args:
            choices: planes, shape (planes, w), which nobody changes before the next message from the peer.
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
        pieces = []
        for part in chunks(width, self._kind.piece_words):
            columns = self._extend(choices[:, part], self._kind.matrix)
            self._hash.add_salt(columns)
            pads[:, :, part] = form.hash(self._hash, columns, NO_OFFSET)
            pieces.append((choices[:, part], columns))
        if pieces:
            self._prover.keep(pieces)
        result: Word = pads[0]
        return result

    def renew(self) -> None:
        """Send the mask of the next check."""
        choices = self._random.words(self._kind.planes * MASK_WORDS).reshape(-1, MASK_WORDS)
        self._prover.begin(choices, self._extend(choices, TransferMask))

    def prove_and_renew(self) -> None:
        """Show that all transfers since the mask are consistent, whose keys have come; send the next mask."""
        self._channel.send(self._prover.proof())
        self.renew()

    def _extend(self, choices: Word, message: type[Matrix]) -> Word:
        """Send a matrix; the columns, shape (128, w)."""
        columns = np.empty((COLUMNS, choices.shape[1]), dtype=np.uint64)
        matrix = self._end.extend(choices, columns)
        self._channel.send(message(ByteRows(matrix.view(np.uint8))))
        return columns


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
        kernels = make_kernels(shared.workspace)
        self._checker = Checker(end.offsets, kernels, shared.channel, shared.random)

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
        """
        pads = form.empty(1 if form is ROWS else len(self._end.offsets), width)
        batch = self._checker.batch()
        for part in chunks(width, self._kind.piece_words):
            columns = self._columns(part.stop - part.start, self._kind.matrix)
            self._hash.add_salt(columns)
            self._checker.take(batch, columns)
            pads[:, :, part] = form.hash(self._hash, columns, self._end.offsets)
        if width:
            self._checker.tell(batch)
        return pads

    def renew(self) -> None:
        """Take the mask of the next check."""
        self._checker.begin(self._columns(MASK_WORDS, TransferMask))

    def check_and_renew(self) -> bool:
        """Take the peer's proof and its next mask; whether the proof holds."""
        held = self._checker.check()
        self.renew()
        return held

    def _columns(self, width: int, message: type[Matrix]) -> Word:
        expected = ExpectedByteRows(self._kind.matrix_rows, _WORD * width)
        return self._end.extend(self._channel.recv(message, expected).view(np.uint64))
