"""Correlated transfers modulo any M: shares of a bit of one party times a number of the other.

    chooser (bit c)                                     sender (d in [0, M))
      choice c                  -- matrices -->           pads p_0, p_1 of 128 bits, as numbers modulo M
      has p_c                   <-- corrections --        p_0 + d - p_1 mod M
      share p_c + c (p_0 + d - p_1) = p_0 + c d           share -p_0

A pad serves as it is where M is a power of two up to 2**64, is reduced where M is at most 2**32, and else is
the seed of 64 bits more than M has, which are reduced: numbers modulo M within distance 2**-64 of uniform.

Inputs: a bit per transfer at the chooser, a number modulo M at the sender.
Outputs: shares modulo M of their products.
Learns: neither party anything; a correction is masked by the pad that the chooser did not choose.
Assumes: `smc.oblivious.softspoken`; SHAKE128 as a random oracle where seeds are
expanded, with a salt that the sender draws for every span, so that no work against one seed serves another
batch.
Cost: `cost`.
Reference: Gilboa, Two party RSA key generation, CRYPTO 1999, section 4; correlated transfers: Asharov,
Lindell, Schneider and Zohner, CCS 2013.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import (
    ByteRows,
    ExpectedByteRows,
    ExpectedResidues,
    ExpectedResidueWords,
    Residues,
    residues_bytes,
)
from smc.oblivious.bitmatrix import SLOTS, Bit, Word
from smc.oblivious.cost import FlightBytes, extended_blocks, matrix_bytes
from smc.oblivious.spans import spans
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Parameters, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_of
from smc.values import Share, of_array

Numbers = NDArray[Any]
"""Numbers modulo M, shape (n,): of type uint64 if M `fits_words`, else Python integers."""

SALT_BYTES: Final = 16

_DOMAIN: Final = b"duetto correlated transfers\0"
_SPARE_BITS: Final = 64
_WORD: Final = 1 << 64
_HALF_WORD: Final = 1 << 32


@dataclass(frozen=True, slots=True)
class CorrelatedCorrections(Message, kind="correlated-corrections", hidden=True):
    """Corrections of a span, from the sender; M is at most 2**32 or a power of two up to 2**64."""

    numbers: Residues


@dataclass(frozen=True, slots=True)
class SeededCorrections(Message, kind="seeded-corrections", hidden=True):
    """Corrections of a span whose pads are expanded, from the sender."""

    salt: ByteRows
    numbers: Residues


def fits_words(modulus: int) -> bool:
    """Whether numbers modulo M are words, so that all arithmetic is numpy's."""
    return modulus <= _HALF_WORD or _is_word_power(modulus)


def _is_word_power(modulus: int) -> bool:
    return modulus <= _WORD and modulus & (modulus - 1) == 0


def reduce_modulo(sums: Numbers, modulus: int) -> Numbers:
    """Numbers modulo M, of sums and differences of a few numbers modulo M.

    Args:
        sums: of at most three numbers, none subtracted where M `fits_words` and is not a power of two.
        modulus: M.
    """
    if _is_word_power(modulus):
        powers: Numbers = sums & np.uint64(modulus - 1)
        return powers
    rest: Numbers = sums % (np.uint64(modulus) if fits_words(modulus) else modulus)
    return rest


def numbers(values: Sequence[int] | Bit | Numbers, modulus: int) -> Numbers:
    """The type in which numbers modulo M are reckoned with, from integers in [0, M)."""
    return np.array(values, dtype=np.uint64 if fits_words(modulus) else object)


def select_numbers(bits: Bit, one: int, zero: int, modulus: int) -> Numbers:
    """Numbers modulo M: `one` where the bit is 1, else `zero`, both in [0, M)."""
    return np.where(bits, numbers([one], modulus), numbers([zero], modulus))


def share(sums: Numbers, modulus: int) -> Share:
    """A share modulo M of what `reduce_modulo` takes."""
    return Share(integers(reduce_modulo(sums, modulus)), modulus)


def integers(found: Numbers) -> Sequence[int]:
    """Numbers modulo M as a message or a share takes them."""
    return of_array(found) if found.dtype == np.uint64 else found.tolist()


def send(session: Session, factors: Numbers, modulus: int) -> Numbers:
    """Give the numbers; the peer calls `choose`.

    Args:
        session: this side of the run.
        factors: the numbers modulo M, shape (n,).
        modulus: M, at least 2.

    Returns:
        Local shares of bit times number modulo M, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    whole = np.uint64(modulus % _WORD) if fits_words(modulus) else modulus
    results: list[Numbers] = []
    for part in _spans(len(factors), residues_bytes(modulus, SLOTS)):
        seeds = session.oblivious.send_blocks(part.stop - part.start)
        salt = b"" if fits_words(modulus) else session.random.bytes(SALT_BYTES)
        zero, one = (_as_numbers(pads, modulus, salt) for pads in seeds)
        corrections = integers(reduce_modulo(zero + factors[part] + (whole - one), modulus))
        if salt:
            row = ByteRows(np.frombuffer(salt, dtype=np.uint8).reshape(1, -1))
            session.channel.send(SeededCorrections(row, Residues(corrections, modulus)))
        else:
            session.channel.send(CorrelatedCorrections(Residues(corrections, modulus)))
        results.append(reduce_modulo(whole - zero, modulus))
    return np.concatenate(results)


def choose(session: Session, choices: Bit, modulus: int) -> Numbers:
    """Give the bits; the peer calls `send`.

    Args:
        session: this side of the run.
        choices: bits, shape (n,).
        modulus: M, at least 2.

    Returns:
        Local shares of bit times number modulo M, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    results: list[Numbers] = []
    for part in _spans(len(choices), residues_bytes(modulus, SLOTS)):
        count = part.stop - part.start
        pads = session.oblivious.receive_blocks(choices[part])
        corrections: Numbers
        if fits_words(modulus):
            corrections = session.channel.recv(CorrelatedCorrections, ExpectedResidueWords(modulus, count))
            salt = b""
        else:
            row, residues = session.channel.recv(
                SeededCorrections, ExpectedByteRows(1, SALT_BYTES), ExpectedResidues(modulus, count)
            )
            salt, corrections = row.tobytes(), np.array(residues, dtype=object)
        chosen = _as_numbers(pads, modulus, salt)
        results.append(reduce_modulo(chosen + choices[part].astype(chosen.dtype) * corrections, modulus))
    return np.concatenate(results)


def cost(parameters: Parameters) -> Cost:
    """The cost of one transfer for each value, which Alice sends, modulo the modulus that comes out."""
    modulus, count = parameters.modulus_out, parameters.count
    seeded = not (isinstance(modulus, int) and fits_words(modulus))
    steps: list[FlightBytes] = []
    for part in _spans(count, parameters.share_bytes(modulus, SLOTS)):
        size = part.stop - part.start
        corrections = parameters.share_bytes(modulus, size) + (SALT_BYTES if seeded else 0)
        steps += [*extended_blocks(size), FlightBytes(corrections, 0)]
    total = cost_of(steps)
    work = {"ot": count, "ot_expand": count} if seeded else {"ot": count}
    return Cost(total.flights, total.alice_bytes, total.bob_bytes, work, work)


def cost_modulo(count: int, modulus: int) -> Cost:
    """The cost of so many transfers modulo M, which Alice sends."""
    return cost(Parameters(count, 1, 0, 0, modulus_out=modulus))


def _spans(count: int, lane_bytes: int) -> Iterator[slice]:
    """Spans of a batch of which 64 corrections take so many bytes."""
    return spans(count, matrix_bytes(SLOTS) + lane_bytes)


def _as_numbers(pads: Word, modulus: int, salt: bytes) -> Numbers:
    """Pads, shape (n, 2), as numbers modulo M, shape (n,)."""
    if _is_word_power(modulus):
        return pads[:, 0] & np.uint64(modulus - 1)
    if fits_words(modulus):
        small = np.uint64(modulus)
        high = pads[:, 1] % small * np.uint64(_WORD % modulus)  # at most (M - 1)**2
        return (high + pads[:, 0] % small) % small
    size = (modulus.bit_length() + _SPARE_BITS + 7) // 8
    data = np.ascontiguousarray(pads, dtype="<u8").tobytes()
    found = np.empty(len(pads), dtype=object)
    for row in range(len(pads)):
        name = _DOMAIN + salt + row.to_bytes(8, "big") + data[16 * row : 16 * row + 16]
        found[row] = int.from_bytes(hashlib.shake_128(name).digest(size), "big") % modulus
    return found


SPEC: Final = Procedure(
    name="correlated-transfers-modulo",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost_modulo,
    setups=(TRANSFERS,),
    example={"count": 1000, "modulus": 10**9 + 7},
)
