"""How many ones two parties' rows of bits have in common, for all pairs of rows within a block.

    chooser (rows a of bits)                          sender (rows b)
      choice a_t of every row and bit t  -- matrices -->  pads P0, P1 of 128 bits each
      has pad P_a                                         c = P0 - P1 + (b_t of all rows of the block)
                                       <-- c --
      sum over t of (P_a + a_t c)                         minus the sum over t of P0

A pad serves a row and a bit of the chooser against all rows of the sender's block at once, one byte each:
hence at most 16 rows a block. Bytes add up modulo 256; a pair has at most 255 ones in common.

Inputs: blocks of rows of bits at each party, of the same public shape.
Outputs: shares modulo 256 of the number of common ones of each pair of rows of a block.
Learns: neither party anything; every correction is masked by what the chooser did not choose.
Assumes: `smc.oblivious`; of large batches silent transfers.
Cost: `cost`; per pair and bit 1 byte of corrections and 4 / rows bytes of matrices, or 1 / (4 rows) where
the transfers are silent, see `transfer_costs.takes_silent_blocks`.
Reference: Gilboa, Two party RSA key generation, CRYPTO 1999, section 4, on vectors as in
`smc.secret.products.gilboa`; the words are as narrow as the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import UsageError
from smc.forms import Role
from smc.network import Network
from smc.numeric.shapes import contiguous, shape_array
from smc.pieces import chunks
from smc.protocols.against import Against
from smc.protocols.flights import Flight, Flights
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure, cost_each
from smc.protocols.transfer_costs import TRANSFERS, cost_blocks, takes_silent_blocks
from smc.tracing.charges import charge

Octet = NDArray[np.uint8]
Word = NDArray[np.uint64]

PAD_BYTES: Final = 16
"""Most rows of a block."""

BATCH_TRANSFERS: Final = 1 << 19
"""Most transfers of one batch, unless a single block needs more."""

SILENT_BATCH_TRANSFERS: Final = 1 << 20
"""The same where they are silent: each batch costs a reserve."""


@dataclass(frozen=True, slots=True)
class OverlapCorrections(Message, kind="overlap-corrections", hidden=True):
    """Corrections of the transfers of a batch of blocks, from the sender."""

    corrections: ByteRows


def _price(session: Session, rows: Octet, chooser: Role = Role.ALICE) -> tuple[Cost, Octet]:
    """What `overlaps` costs and gives."""
    count, height, bits = rows.shape
    stated = cost(count, height, bits, chooser, session.network)
    return stated, shape_array((count, height, height), np.uint8)


def _silent_sender(session: Session, rows: Octet, chooser: Role = Role.ALICE) -> Role:
    del session, rows
    return chooser.other


@charge(_price, silent_sender=_silent_sender)
def overlaps(session: Session, rows: Octet, chooser: Role = Role.ALICE) -> Octet:
    """The sizes of the overlaps within each block; the chooser chooses, the other party sends.

    Args:
        session: this side of the run.
        rows: own rows of bits, zeros and ones, shape (blocks, r, bits), r at most 16; the shape is public
            and the same on both sides. The sender's may be numbers modulo 256, of which those where the
            chooser has a one are added.
        chooser: public.

    Returns:
        Local shares modulo 256, shape (blocks, r, r): entry (k, i, j) is of the chooser's row i and the
        sender's row j.

    Raises:
        UsageError: the blocks are too large.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    count, height = rows.shape[:2]
    if not 0 < height <= PAD_BYTES:
        raise UsageError(f"A block cannot have {height} rows.", f"Use blocks of 1 to {PAD_BYTES} rows.")
    side = _choose if session.role is chooser else _send
    result = np.empty((height, count, height), dtype=np.uint8, like=rows)
    for part, shares in side(session, rows):
        result[:, part] = shares
    return result.transpose(1, 0, 2)


def cost(
    blocks: int, height: int, bits: int, chooser: Role = Role.ALICE, network: Network | None = None
) -> Cost:
    """The exact cost of `overlaps` over a network: flights and bytes, without the set-up of the transfers."""
    silent = takes_silent_blocks(network, blocks * height * bits)
    return _cost(blocks, height, bits, chooser, silent, _batch_transfers(silent=silent))


@lru_cache(256)
def _cost(blocks: int, height: int, bits: int, chooser: Role, silent: bool, most: int) -> Cost:
    sizes = [bits * height * (part.stop - part.start) for part in _batches(blocks, height, bits, most=most)]
    if not sizes:
        return Cost()
    if silent:
        # Two batches are under way at a time.
        turns = -(-len(sizes) // 2)
        flights = (Flight.RESERVE, *(Flight.BOB, Flight.ALICE) * turns, Flight.BOB)
    else:
        flights = (Flight.ALICE, *(Flight.BOTH,) * (len(sizes) - 1), Flight.BOB)
    each = cost_each(sizes, lambda size: cost_blocks(size, silent=silent).mirror)
    total = replace(each + Cost((), 0, height * sum(sizes)), flights=Flights.of(flights))
    return total if chooser is Role.ALICE else total.mirror


def _batch_transfers(*, silent: bool) -> int:
    return SILENT_BATCH_TRANSFERS if silent else BATCH_TRANSFERS


def _batches(blocks: int, height: int, bits: int, *, most: int) -> Iterator[slice]:
    return chunks(blocks if bits else 0, max(1, most // max(1, height * bits)))


def _plane(rows: Octet, part: slice) -> Octet:
    """The bits of a batch as transfers are ordered, shape (bits, r, b): sums run over the first axis."""
    return contiguous(rows[part].transpose(2, 1, 0))


def _choose(session: Session, rows: Octet) -> Iterator[tuple[slice, Octet]]:
    """The chooser's shares, shape (r, b, r) per batch; the next batch is chosen ahead of waiting."""
    begun: list[tuple[slice, Octet, Word]] = []
    silent = takes_silent_blocks(session.network, rows.size)
    for part in _batches(*rows.shape, most=_batch_transfers(silent=silent)):
        plane = _plane(rows, part)
        pads = session.oblivious.receive_blocks(plane.reshape(-1), silent=silent)
        begun.append((part, plane, pads))
        if len(begun) > 1:
            yield _receive(session, *begun.pop(0))
    for last in begun:
        yield _receive(session, *last)


def _receive(session: Session, part: slice, plane: Octet, pads: Word) -> tuple[slice, Octet]:
    height = plane.shape[1]
    expected = ExpectedByteRows(plane.size, height)
    corrections = session.channel.recv(OverlapCorrections, expected).reshape(*plane.shape, height)
    # Modulo 256 the negative of a bit is all ones or all zeros: AND with it is the product.
    chosen = np.negative(plane)[..., None] & corrections
    chosen += _octets(pads, plane)
    return part, chosen.sum(axis=0, dtype=np.uint8)


def _send(session: Session, rows: Octet) -> Iterator[tuple[slice, Octet]]:
    """The sender's shares, as of `_choose`; the next batch is begun ahead of waiting, too."""
    begun: list[tuple[slice, Octet, Callable[[], tuple[Word, Word]]]] = []
    silent = takes_silent_blocks(session.network, rows.size)
    for part in _batches(*rows.shape, most=_batch_transfers(silent=silent)):
        plane = _plane(rows, part)
        begun.append((part, plane, session.oblivious.begin_blocks(plane.size, silent=silent)))
        if len(begun) > 1:
            yield _correct(session, *begun.pop(0))
    for last in begun:
        yield _correct(session, *last)


def _correct(
    session: Session, part: slice, plane: Octet, end: Callable[[], tuple[Word, Word]]
) -> tuple[slice, Octet]:
    zero, one = (_octets(pads, plane) for pads in end())
    corrections = zero - one
    corrections += plane.transpose(0, 2, 1)[:, None]
    session.channel.send(OverlapCorrections(ByteRows(corrections.reshape(plane.size, -1))))
    return part, np.negative(zero.sum(axis=0, dtype=np.uint8))


def _octets(pads: Word, plane: Octet) -> Octet:
    """One byte of each pad for each row of the sender's block, shape (bits, r, b, r)."""
    return pads.view(np.uint8).reshape(*plane.shape, PAD_BYTES)[..., : plane.shape[1]]


SPEC: Final = Procedure(
    name="common-ones",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"blocks": 10, "height": 4, "bits": 64},
)
