"""Private set intersection: the receiver learns which of its keys the sender has.

    receiver (n keys)                              sender (m keys)
      F(x) of its keys           <-- oprf -->        F
                                 <-- masks --        parts of F(y) of all its keys, in order
      the keys x with F(x) among the masks
    where both are to learn the intersection:
      one bit per mask           -- matches -->      the keys y whose mask has a match

All masks are of the same length, which depends on n and m alone: 40 + log2(n m) bits.

Inputs: distinct keys of 128 bits, hashed under a salt that was not known when they were chosen. Both know n
    and m; if either is 0 nothing is sent.
Outputs: a bit for each key of the receiver, and of the sender if both are to learn.
Learns: the receiver which of its keys the sender has. The sender nothing, or which of its keys the receiver
    has. The masks are pseudorandom but for those of common keys, and so their order says nothing. A receiver
    that deviates can test as many keys as its store has entries instead of n: 1.35 n of many, and of few
    ceil(1.3 n) + 48, so that one that announces a single key tests 50. A sender that deviates
    can make one mask stand for several keys, for 2**40 evaluations of F and more each; it can leave keys out.
    Whatever the receiver says of matches stands on trust.
Assumes: `oprf` of this folder. A key is taken for common that is not with probability below 2**-40 over all
    keys; hashes of 128 bits add n m 2**-128.
Cost: `records.cost_intersection`; 22 bytes per key of the receiver and 8 per key of the sender at a million
    keys each; 3 rounds, 4 if both are to learn, and 3 more where the session has made no transfers yet. The
    party with fewer keys should be the receiver: a key of the sender costs a third as much.
Reference: Rindal and Schoppmann, VOLE-PSI: Fast OPRF and circuit-PSI from vector-OLE, EUROCRYPT 2021;
    Raghuraman and Rindal, Blazing fast PSI from improved OKVS and subfield VOLE, CCS 2022.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import Bits, ByteRows, ExpectedBits, ExpectedByteRows
from smc.pieces import chunks
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.intersection import oprf
from smc.protocols.intersection.sorted_masks import MaskLayout, locate, pack
from smc.protocols.session import Session

Word = NDArray[np.uint64]
Found = NDArray[np.bool_]

_PIECE_BYTES: Final = 1 << 20
_VALUE_WORDS: Final = 2


@dataclass(frozen=True, slots=True)
class IntersectionMasks(Message, kind="intersection-masks"):
    """A piece of the sender's masks, see `sorted_masks`."""

    octets: ByteRows


@dataclass(frozen=True, slots=True)
class IntersectionMatches(Message, kind="intersection-matches"):
    """Which masks have a match, from the receiver."""

    bits: Bits


def receive(session: Session, keys: Word, peer_count: RowCount, *, tell: bool = False) -> Found:
    """The side that learns; the peer calls `send`.

    Args:
        session: this side of the run.
        keys: distinct, shape (n, 2).
        peer_count: keys of the sender.
        tell: whether the sender is to learn which of its keys match; both say the same.

    Returns:
        Which of this party's keys the sender has, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    found = np.zeros(len(keys), dtype=np.bool_, like=keys)
    if not (len(keys) and peer_count):
        return found
    evaluated, layout = oprf.receive(session, keys), MaskLayout.of(peer_count, len(keys))
    values = evaluated.values(keys, _VALUE_WORDS)
    octets = np.empty(layout.size, dtype=np.uint8, like=values)
    for part in _pieces(layout):
        piece = session.channel.recv(IntersectionMasks, ExpectedByteRows(1, part.stop - part.start))
        octets[part] = piece.reshape(-1)
        session.report("intersection", part.stop, layout.size)
    places = locate(layout, octets, values)
    found |= places >= 0
    matched = np.zeros(peer_count, dtype=np.uint8, like=values)
    matched[places[found]] = 1
    if tell:
        session.oblivious.verify()
        session.channel.send(IntersectionMatches(Bits(matched)))
    return found


def send(session: Session, keys: Word, peer_count: RowCount, *, tell: bool = False) -> Found | None:
    """The side that answers; the peer calls `receive`.

    Args:
        session: this side of the run.
        keys: distinct, shape (m, 2).
        peer_count: keys of the receiver.
        tell: as there.

    Returns:
        Which of this party's keys the receiver has, shape (m,), or None without `tell`.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    if not (len(keys) and peer_count):
        return np.zeros(len(keys), dtype=np.bool_, like=keys) if tell else None
    values = oprf.send(session, peer_count).values(keys, _VALUE_WORDS)
    layout = MaskLayout.of(len(keys), peer_count)
    octets, order = pack(layout, values)
    for part in _pieces(layout):
        session.channel.send(IntersectionMasks(ByteRows(octets[part].reshape(1, -1))))
        session.report("intersection", part.stop, layout.size)
    if not tell:
        return None
    found = np.empty(len(keys), dtype=np.bool_, like=keys)
    session.oblivious.verify()
    found[order] = session.channel.recv(IntersectionMatches, ExpectedBits(len(keys)))
    return found


def _pieces(layout: MaskLayout) -> Iterator[slice]:
    return chunks(layout.size, _PIECE_BYTES)
