"""Masks of words of any width up to 64 bits, drawn from the rows of oblivious transfers, and their packing.

Word t of the mask of a row s is a part of E_k(s + t') + s + t' over bits, for the number t' of the block
of 128 bits that the word lies in, under a key k that belongs to one message and is sent with it.

Assumes: AES-128 as an ideal cipher; rows and rows plus an offset that the chooser does not know are then
independent masks, see `smc.oblivious.correlation_robust_hash`. A key serves one message, thus a row may
serve many of them.
Reference: Guo, Katz, Wang and Yu, Efficient and secure multiparty computation from fixed-key block ciphers,
IEEE S&P 2020.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, byte_row
from smc.numeric.shapes import of_shape, shape_array
from smc.protocols.session import Session

Words = NDArray[Any]
"""An array of uint16, uint32 or uint64."""

KEY_BYTES: Final = 16
_BLOCK_BYTES: Final = 16
_PARTS: Final = (8, 4, 2, 1)
_MIN_WORD: Final = 1 << 8


@dataclass(frozen=True, slots=True)
class MaskedWords(Message, kind="masked-words", hidden=True):
    """A fresh key under which rows are expanded, and words masked so; from the sender of transfers."""

    key: ByteRows
    words: ByteRows


def word_type(width: int) -> np.dtype[Any]:
    """The smallest of uint16, uint32 and uint64 that holds words of so many bits."""
    return np.min_scalar_type(max(_MIN_WORD, (1 << width) - 1))


def packed_bytes(width: int) -> int:
    """Bytes of one word of `width` bits: whole ones, none for a width of 0 or less."""
    return max(0, (width + 7) // 8)


class Expander:
    """Expands rows under one key.

    Args:
        key: 16 bytes, fresh.
        length: words per row.
        width: bits of a word.
    """

    def __init__(self, key: bytes, length: int, width: int) -> None:
        self._cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - single blocks
        self.type = word_type(width)
        self.length = length
        self._blocks = -(-length * self.type.itemsize // _BLOCK_BYTES)
        self._output = np.empty(0, dtype=np.uint8)

    @of_shape(lambda self, rows: shape_array((*rows.shape[:-1], self.length), self.type))
    def masks(self, rows: NDArray[np.uint64]) -> Words:
        """The masks of rows.

        Args:
            rows: shape (..., 2).

        Returns:
            Shape (..., length).
        """
        shape = rows.shape[:-1]
        blocks = np.empty((*shape, self._blocks, 2), dtype=np.uint64)
        np.bitwise_xor(rows[..., None, 0], np.arange(self._blocks, dtype=np.uint64), out=blocks[..., 0])
        blocks[..., 1] = rows[..., None, 1]
        if len(self._output) < blocks.nbytes + _BLOCK_BYTES:
            self._output = np.empty(blocks.nbytes + _BLOCK_BYTES, dtype=np.uint8)
        self._cipher.update_into(blocks.reshape(-1).view(np.uint8).data, self._output.data)
        hashed = self._output[: blocks.nbytes].view(np.uint64).reshape(blocks.shape)
        np.bitwise_xor(hashed, blocks, out=blocks)
        found: Words = blocks.reshape(*shape, 2 * self._blocks).view(self.type)[..., : self.length]
        return found


def _planes(size: int) -> Iterator[tuple[int, int]]:
    """Cut words of `size` bytes into parts of 8, 4, 2 and 1 bytes: place and bytes of each."""
    place = 0
    for part in _PARTS:
        if size & part:
            yield place, part
            place += part


def send_masked(
    session: Session,
    key: bytes,
    parts: Sequence[tuple[Words, int]],
    kind: type[MaskedWords] = MaskedWords,
) -> None:
    """Send masked words in one message.

    Args:
        session: this side.
        key: of the expansion.
        parts: words and how many of their low bits count.
        kind: of the message.
    """
    octets = [
        (words >> words.dtype.type(8 * place)).astype(f"<u{size}", copy=False).reshape(-1).view(np.uint8)
        for words, width in parts
        for place, size in _planes(packed_bytes(width))
    ]
    data = np.concatenate(octets) if octets else np.empty(0, dtype=np.uint8)
    session.channel.send(kind(byte_row(key), ByteRows(data)))


def receive_masked(
    session: Session,
    shapes: Sequence[tuple[tuple[int, ...], int]],
    kind: type[MaskedWords] = MaskedWords,
) -> MaskedParts:
    """Receive what `send_masked` sends.

    Args:
        session: this side.
        shapes: of the words of each part, and how many of their low bits count.
        kind: of the message.

    Raises:
        ProtocolViolation: the peer sent another size.
    """
    size = masked_bytes(shapes) - KEY_BYTES
    key, data = session.channel.recv(kind, ExpectedByteRows(1, KEY_BYTES), ExpectedByteRows(1, size))
    return MaskedParts(key.tobytes(), data.reshape(-1), tuple(shapes))


def masked_bytes(shapes: Sequence[tuple[tuple[int, ...], int]]) -> int:
    """Bytes of a message of `send_masked`."""
    return KEY_BYTES + sum(prod(shape) * packed_bytes(width) for shape, width in shapes)


@dataclass(frozen=True, slots=True)
class MaskedParts:
    """Masked words as they came.

    Attributes:
        key: of the expansion.
        data: packed words.
        shapes: of the parts, and how many low bits of their words count.
    """

    key: bytes
    data: NDArray[np.uint8]
    shapes: tuple[tuple[tuple[int, ...], int], ...]

    def words(self, kind: np.dtype[Any]) -> Iterator[Words]:
        """The parts, one after the other, as words of a type; bits that do not count are 0 or arbitrary."""
        start = 0
        for shape, width in self.shapes:
            count = prod(shape)
            result = np.zeros(count, dtype=kind, like=self.data)
            for place, size in _planes(packed_bytes(width)):
                octets = self.data[start : start + size * count]
                start += size * count
                part = octets.view(f"<u{size}").astype(kind, copy=False)
                result |= part << kind.type(8 * place)
            yield result.reshape(shape)
