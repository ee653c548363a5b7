"""Extension of the base transfers: any number of random transfers of 64-bit pads.

    receiver (seed pairs k0_i, k1_i; choices r)      sender (s, seeds ks_i)
      t_i = G(k0_i)
      u_i = t_i ^ G(k1_i) ^ r           -- u -->     q_i = G(ks_i) ^ s_i u_i      for 128 columns i
      pad_j = H(row j of t)                          pad0_j = H(q_j), pad1_j = H(q_j ^ s)

Row j of q is that of t, plus s where r_j = 1, so the receiver's pad is the sender's pad number r_j.

Learns: the sender nothing (each u_i is masked by a stream of a seed it does not have), the receiver nothing
of the other pads.
Assumes: semi-honest parties; AES-128 in counter mode as the generator G; AES as an ideal cipher for H, which
is H(z) = E_k(z) ^ z under a fresh public key k for every 8192 rows. The receiver's advantage against one
block of m rows is at most about m * p / 2**127 for p evaluations of the cipher under that block's key, plus
the birthday term m**2 / 2**128: with m = 2**13, finding the sender's offset takes about 2**114 evaluations
under one key, one bit fewer for each doubling of m.
Nothing is used twice: the streams of G run on from call to call, and k is derived from the session id, the
direction and a running block number.
Reference: Ishai, Kilian, Nissim and Petrank, Extending oblivious transfers efficiently, CRYPTO 2003, section
3 (semi-honest); hash: Guo, Katz, Wang and Yu, Efficient and secure multiparty computation from fixed-key
block ciphers, IEEE S&P 2020 (correlation robustness of this construction).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from smc.forms import Role
from smc.oblivious.base import BaseKeys
from smc.oblivious.bitmatrix import COLUMNS, Bit, Word, pack_slots, transpose, words_for

HASH_ROWS: Final = 1 << 13
"""Rows that are hashed under one key."""

_HASH_DOMAIN: Final = b"duetto/oblivious/hash-key/1"
_AES_BLOCK: Final = 16


class PadHash:
    """The correlation-robust hash of one direction of one session.

    Args:
        session: id of the session.
        sender: the party that sends in this direction.
    """

    def __init__(self, session: bytes, sender: Role) -> None:
        self._prefix = _HASH_DOMAIN + session + sender.value.encode().ljust(8)
        self._block = 0
        self._output = np.empty(HASH_ROWS * _AES_BLOCK + _AES_BLOCK, dtype=np.uint8)

    def _cipher(self) -> CipherContext:
        key = hashlib.sha256(self._prefix + self._block.to_bytes(8, "big")).digest()[:_AES_BLOCK]
        self._block += 1
        return Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - one block per row

    def pads(self, *inputs: Word) -> list[Word]:
        """Hash rows; corresponding rows of several inputs share a key.

        Args:
            inputs: arrays of shape (n, 2), each row 128 bits.

        Returns:
            One array of shape (n,) per input: 64 bits of each row's hash.
        """
        count = len(inputs[0])
        results = [np.empty(count, dtype=np.uint64) for _ in inputs]
        for start in range(0, count, HASH_ROWS):
            cipher = self._cipher()
            for rows, result in zip(inputs, results, strict=True):
                block = np.ascontiguousarray(rows[start : start + HASH_ROWS])
                size = cipher.update_into(block.view(np.uint8).reshape(-1).data, self._output.data)
                hashed = self._output[:size].view(np.uint64)[::2]
                np.bitwise_xor(hashed, block[:, 0], out=result[start : start + len(block)])
        return results


class _Streams:
    """128 pseudorandom streams that run on from call to call."""

    def __init__(self, seeds: Sequence[bytes]) -> None:
        self._streams = [Cipher(algorithms.AES(s), modes.CTR(bytes(16))).encryptor() for s in seeds]

    def columns(self, width: int) -> Word:
        """The next `width` words of every stream, shape (128, width)."""
        zeros = bytes(8 * width)
        result = np.empty((COLUMNS, width), dtype=np.uint64)
        for stream, column in zip(self._streams, result.view(np.uint8), strict=True):
            stream.update_into(zeros, column.data)
        return result


class OtReceiver:
    """The receiving end of one direction.

    Args:
        keys: the own base keys; this end was the sender of the base transfers.
        role: the own role.
    """

    def __init__(self, keys: BaseKeys, role: Role) -> None:
        self._zero = _Streams([pair[0] for pair in keys.pairs])
        self._one = _Streams([pair[1] for pair in keys.pairs])
        self._hash = PadHash(keys.session, role.other)

    def extend(self, choices: Bit) -> tuple[NDArray[np.uint8], Word]:
        """Random transfers with the given choices.

        Args:
            choices: shape (n,), bits.

        Returns:
            The matrix for the sender, shape (128, 8 * ceil(n / 64)) bytes, and the pads, shape (n,).
        """
        width = words_for(len(choices))
        own = self._zero.columns(width)
        matrix = self._one.columns(width)
        matrix ^= own
        matrix ^= pack_slots(choices)
        (pads,) = self._hash.pads(transpose(own)[: len(choices)])
        return matrix.view(np.uint8), pads


class OtSender:
    """The sending end of one direction.

    Args:
        keys: the own base keys; this end was the receiver of the base transfers.
        role: the own role.
    """

    def __init__(self, keys: BaseKeys, role: Role) -> None:
        self._streams = _Streams(keys.chosen)
        self._masks = -keys.choices.astype(np.uint64)[:, None]
        self._offset = np.packbits(keys.choices, bitorder="little").view(np.uint64)
        self._hash = PadHash(keys.session, role)

    def extend(self, count: int, matrix: NDArray[np.uint8]) -> tuple[Word, Word]:
        """The sender's side of `count` random transfers.

        Args:
            count: how many.
            matrix: from the receiver, shape (128, 8 * ceil(count / 64)) bytes.

        Returns:
            The pads of choice 0 and of choice 1, each of shape (count,).
        """
        columns = self._streams.columns(words_for(count))
        columns ^= matrix.view(np.uint64) & self._masks
        rows = transpose(columns)[:count]
        zero, one = self._hash.pads(rows, rows ^ self._offset)
        return zero, one
