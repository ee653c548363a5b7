"""One party's integers times the other's vectors, by correlated transfers modulo 2**64.

    chooser (integer e, its bits e_i)                 sender (vector v of L words)
      short vectors, word by word:
        choice e_i             -- matrices -->          correlation v 2**i
                               <-- corrections --
      long ones, from seeds:
        choice e_i             -- matrices -->          two random seeds of 128 bits, of one transfer
        has seed e_i           <-- corrections --
        s_i = G(seed_ei) + e_i c_i   <-- c_i --         c_i = G(seed_0) + v - G(seed_1),  s'_i = -G(seed_0)
      shares of e v: the sum over i of 2**i s_i and of 2**i s'_i

Of c_i only 64 - i bits matter, and whole bytes of them are sent: 4.5 bytes per word and bit on average for
64-bit integers, beside 4 bytes per bit for the seeds, against 12 bytes per word and bit.

Inputs: integers of `bits` bits at the chooser, a vector of L words for each of them at the sender.
Outputs: shares modulo 2**64 of integer times vector.
Learns: neither party anything; every correction is masked by what the chooser did not choose.
Assumes: `smc.oblivious`; AES-128 as an ideal cipher in G: word pair t of a seed s is
E_k(s + t) + s + t over bits, under a key k that the sender draws for each batch.
Cost: `steps`.
Reference: Gilboa, Two party RSA key generation, CRYPTO 1999, section 4; vectors and shortened corrections:
Demmler, Schneider and Zohner, ABY, NDSS 2015, section III; Mohassel and Zhang, SecureML, IEEE S&P 2017,
section IV; the cipher as a hash: Guo, Katz, Wang and Yu, IEEE S&P 2020.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, byte_row
from smc.numeric.shapes import contiguous, of_shape, shape_array
from smc.oblivious import cost as oblivious
from smc.oblivious.cost import FlightBytes
from smc.pieces import chunks
from smc.protocols.session import Session

Word = NDArray[np.uint64]

SEEDED_LENGTH: Final = 4
"""From this length on vectors are masked from seeds."""

BATCH_TRANSFERS: Final = 1 << 20
"""Most correlated transfers that one batch takes."""

KEY_BYTES: Final = 16
_PIECE_WORDS: Final = 1 << 19
_OCTET: Final = 8


@dataclass(frozen=True, slots=True)
class ExpansionKey(Message, kind="expansion-key", hidden=True):
    """The public key under which a batch's seeds are expanded, from the sender."""

    key: ByteRows


@dataclass(frozen=True, slots=True)
class VectorCorrections(Message, kind="vector-corrections", hidden=True):
    """Corrections of vectors for up to eight bits of the chooser's integers, from the sender."""

    corrections: ByteRows


def send(session: Session, vectors: Word, bits: int) -> Word:
    """Give the vectors; the peer calls `choose`.

    Args:
        session: this side of the run.
        vectors: shape (n, length), one vector for each of the chooser's integers.
        bits: of the chooser's integers, 0 to 64.

    Returns:
        Local shares of integer times vector, shape (n, length).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    count, length = vectors.shape
    result = np.zeros(vectors.shape, dtype=np.uint64, like=vectors)
    for part in _batches(count, length, bits):
        if length < SEEDED_LENGTH:
            # Bit i chooses 2**i times the vector; what is chosen adds up to the product.
            correlations = vectors[part][None] << _exponents(bits)[:, None, None]
            shares = session.oblivious.correlate(correlations.reshape(-1))
            result[part] = _fold(shares, bits, length)
        else:
            result[part] = _send_seeded(session, vectors[part], bits)
    return result


def choose(session: Session, integers: Word, bits: int, length: int) -> Word:
    """Give the integers; the peer calls `send`.

    Args:
        session: this side of the run.
        integers: shape (n,), each in [0, 2**bits).
        bits: 0 to 64.
        length: of the sender's vectors.

    Returns:
        Local shares of integer times vector, shape (n, length).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    result = np.zeros((len(integers), length), dtype=np.uint64, like=integers)
    for part in _batches(len(integers), length, bits):
        choices = (integers[part][None] >> _exponents(bits)[:, None] & np.uint64(1)).astype(np.uint8)
        if length < SEEDED_LENGTH:
            shares = session.oblivious.receive(np.repeat(choices, length))
            result[part] = _fold(shares, bits, length)
        else:
            result[part] = _choose_seeded(session, choices, length)
    return result


def exchange(session: Session, integers: Word, words: Word, bits: int) -> Word:
    """Both parties' integers times the other's words, at once; both call it.

    Args:
        session: this side of the run.
        integers: shape (n,), each in [0, 2**bits).
        words: shape (n,), one for each of the peer's integers.
        bits: of the integers of both, 0 to 64.

    Returns:
        Local shares of the sums of both products, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    result = np.zeros(len(integers), dtype=np.uint64, like=integers)
    for part in _batches(len(integers), 1, bits):
        exponents = _exponents(bits)[:, None]
        choices = (integers[part][None] >> exponents & np.uint64(1)).astype(np.uint8)
        sent, received = session.oblivious.exchange(
            (words[part][None] << exponents).reshape(-1), choices.reshape(-1)
        )
        result[part] = _fold(sent + received, bits, 1)[:, 0]
    return result


def exchange_steps(count: int, bits: int) -> tuple[FlightBytes, ...]:
    """What `exchange` sends."""
    result: list[FlightBytes] = []
    for part in _batches(count, 1, bits):
        result += oblivious.exchange(bits * (part.stop - part.start))
    return tuple(result)


def steps(count: int, length: int, bits: int) -> tuple[FlightBytes, ...]:
    """What `send` and `choose` exchange; the sender is the first party.

    Args:
        count: integers of the chooser.
        length: of the sender's vectors.
        bits: of the integers.
    """
    result: list[FlightBytes] = []
    for part in _batches(count, length, bits):
        size = part.stop - part.start
        if length < SEEDED_LENGTH:
            result += oblivious.bits_to_arithmetic(bits * size * length)
        else:
            result += oblivious.extended_blocks(bits * size)
            corrections = sum(_correction_bytes(bit) for bit in range(bits)) * size * length
            result.append(FlightBytes(KEY_BYTES + corrections, 0))
    return tuple(result)


def total_bytes(count: int, length: int, bits: int) -> int:
    """Bytes of `steps`, both directions."""
    return sum(step.first + step.second for step in steps(count, length, bits))


def _batches(count: int, length: int, bits: int) -> Iterator[slice]:
    if not (bits and length):
        return
    words = length if length < SEEDED_LENGTH else 1
    size = max(1, BATCH_TRANSFERS // (bits * words))
    yield from chunks(count, size)


def _exponents(bits: int) -> Word:
    return np.arange(bits, dtype=np.uint64)


def _fold(shares: Word, bits: int, length: int) -> Word:
    """The sum over the chooser's bits, shape (n, length)."""
    result: Word = shares.reshape(bits, -1, length).sum(axis=0, dtype=np.uint64)
    return result


def _correction_bytes(bit: int) -> int:
    """Bytes that hold 64 - bit bits."""
    return _OCTET - bit // _OCTET


def _pieces(count: int, length: int, bits: int) -> Iterator[tuple[slice, slice]]:
    """Rows of up to eight bits and columns of integers that are masked at once."""
    size = max(1, _PIECE_WORDS // (_OCTET * length))
    for bit in range(0, bits, _OCTET):
        for start in range(0, count, size):
            yield slice(bit, min(bit + _OCTET, bits)), slice(start, min(start + size, count))


@of_shape(lambda key, seeds, length: shape_array((*seeds.shape[:2], length), np.uint64))
def _expand(key: bytes, seeds: Word, length: int) -> Word:
    """The masks of seeds.

    Args:
        key: of the batch.
        seeds: shape (r, n, 2).
        length: words per seed.

    Returns:
        Shape (r, n, length).
    """
    rows, count = seeds.shape[:2]
    pairs = (length + 1) // 2
    blocks = np.empty((rows, count, pairs, 2), dtype=np.uint64)
    # Block t of a seed s is s + t over bits: t goes into the low word only.
    np.bitwise_xor(seeds[..., None, 0], np.arange(pairs, dtype=np.uint64), out=blocks[..., 0])
    blocks[..., 1] = seeds[..., None, 1]
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - a hash of single blocks
    hashed = np.frombuffer(cipher.update(blocks.view(np.uint8).reshape(-1).data), dtype="<u8").reshape(
        blocks.shape
    )
    masks: Word = (hashed ^ blocks).reshape(rows, count, 2 * pairs)[..., :length]
    return masks


def _send_seeded(session: Session, vectors: Word, bits: int) -> Word:
    count, length = vectors.shape
    # A seed is the pad of one transfer: of two, a chooser could know a half of each seed, and search.
    zero, one = (seeds.reshape(bits, count, 2) for seeds in session.oblivious.send_blocks(bits * count))
    key = session.random.bytes(KEY_BYTES)
    session.channel.send(ExpansionKey(byte_row(key)))
    result = np.zeros(vectors.shape, dtype=np.uint64, like=vectors)
    for rows, part in _pieces(count, length, bits):
        masks = _expand(key, zero[rows, part], length)
        corrections = masks + vectors[part] - _expand(key, one[rows, part], length)
        octets = contiguous(corrections).view(np.uint8).reshape(-1, length, _OCTET)
        # Weighed by 2**bit, of a correction 64 - bit bits are left. A piece holds the bits of one octet, of
        # which the lowest needs the most bytes; little-endian, the bytes that count come first.
        kept = octets[..., : _correction_bytes(rows.start)].reshape(len(octets), -1)
        session.channel.send(VectorCorrections(ByteRows(kept)))
        result[part] -= _weigh(masks, rows)
    return result


def _choose_seeded(session: Session, choices: NDArray[np.uint8], length: int) -> Word:
    bits, count = choices.shape
    seeds = session.oblivious.receive_blocks(contiguous(choices).reshape(-1)).reshape(bits, count, 2)
    key = session.channel.recv(ExpansionKey, ExpectedByteRows(1, KEY_BYTES)).tobytes()
    result = np.zeros((count, length), dtype=np.uint64, like=seeds)
    for rows, part in _pieces(count, length, bits):
        shares = _expand(key, seeds[rows, part], length)
        width = _correction_bytes(rows.start)
        size = shares.shape[0] * shares.shape[1]
        kept = session.channel.recv(VectorCorrections, ExpectedByteRows(size, length * width))
        octets = np.zeros((size, length, _OCTET), dtype=np.uint8, like=kept)
        # The bytes that were not sent fall out of 64 bits when the correction is weighed.
        octets[..., :width] = kept.reshape(size, length, width)
        corrections = octets.view(np.uint64).reshape(shares.shape)
        result[part] += _weigh(shares + corrections * choices[rows, part, None], rows)
    return result


def _weigh(shares: Word, rows: slice) -> Word:
    """The sum of rows times their powers of two, shape (n, length)."""
    exponents = np.arange(rows.start, rows.stop, dtype=np.uint64)[:, None, None]
    result: Word = (shares << exponents).sum(axis=0, dtype=np.uint64)
    return result
