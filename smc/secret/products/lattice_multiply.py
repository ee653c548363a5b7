"""Products of words of 64 bits, one factor of each party, one by one, by additive lattice encryption.

    Alice (words x_k, k < T)                              Bob (words y_k)
                             <-- seed, an encryption of zero --
                             <-- encrypted y_k --
                             -- responses -->
      shares modulo 2**64 of sum_k x_k y_k, by rounding what each can compute

8,192 products make a block. With T = 2 both inner terms of a product of shared words take one response, which
saves nearly a third. Bob sends the next blocks before he reads the responses to the last ones, so that both
work at the same time.

Inputs: T words for each product at either party.
Outputs: shares modulo 2**64 of the sums of the T products.
Learns: neither party anything. Alice sees ciphertexts; what Bob gets does not depend on what he encrypted,
and is uniform to him under the assumption. Of 2**25 products any is wrong with probability 2**-30 at most.
Assumes: `smc.ciphers.lattice_slots`. If Bob deviates, he learns nothing; if Alice does, she learns nothing
before shares are opened.
Cost: `cost`; 196 bytes a product for T = 2, 122 for T = 1, where blocks are full.
Reference: `smc.ciphers.lattice_slots`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, byte_row
from smc.ciphers.lattice import SEED_BYTES
from smc.ciphers.lattice_ring import (
    LIMB_BITS,
    pack_limbs,
    pack_words,
    packed_limbs_size,
    packed_size,
    unpack_limbs,
    unpack_words,
)
from smc.ciphers.lattice_slots import OwnSlots, PeerSlots, SlotParameters
from smc.ciphers.slot_transform import DEGREE
from smc.forms import Role
from smc.oblivious.spans import SPAN_BYTES
from smc.pieces import chunks
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure

Word = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class SlotZeros(Message, kind="slot-zeros", hidden=True):
    """What the public polynomials are drawn from, and an encryption of zero, from Bob."""

    seed: ByteRows
    zeros: ByteRows


@dataclass(frozen=True, slots=True)
class SlotQuery(Message, kind="slot-query", hidden=True):
    """The encrypted factors of a block, from Bob."""

    limbs: ByteRows


@dataclass(frozen=True, slots=True)
class SlotResponse(Message, kind="slot-response", hidden=True):
    """Second components of the products of a block, from Alice."""

    second: ByteRows


def _zeros_size(parameters: SlotParameters) -> int:
    return packed_size(parameters.lattice.limbs * DEGREE, LIMB_BITS)


def _query_size(parameters: SlotParameters) -> int:
    return packed_size(parameters.groups * parameters.terms * parameters.lattice.limbs * DEGREE, LIMB_BITS)


def _response_size(parameters: SlotParameters) -> int:
    return packed_limbs_size(parameters.groups * DEGREE, parameters.lattice.second_bits)


def _groups(parameters: SlotParameters) -> Iterator[slice]:
    """Blocks that are sent at once; of two such groups the second is sent before the first is answered."""
    return chunks(parameters.blocks, max(1, SPAN_BYTES // (4 * _query_size(parameters))))


def multiply(session: Session, factors: Sequence[Word]) -> Word:
    """Sums of products of own words and the peer's; both parties give as many.

    Args:
        session: this side of the run.
        factors: T arrays of words of 64 bits, 1 or 2, shape (n,) each, n at least 1.

    Returns:
        Local shares modulo 2**64, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    count, terms = len(factors[0]), len(factors)
    parameters = SlotParameters.of(count, terms)

    def block(part: slice) -> list[Word]:
        return [each[part] for each in factors]

    if session.role is Role.ALICE:
        found: Word = evaluate(session, parameters, count, lambda part: [block(part)], 1)[0]
    else:
        found = hold(session, parameters, count, block, 1)[0]
    return found


def slots(count: int) -> int:
    """Slots that so many products take: those of whole blocks."""
    return -(-count // DEGREE) * DEGREE


def evaluate(
    session: Session,
    parameters: SlotParameters,
    count: int,
    sums: Callable[[slice], Sequence[Sequence[Word]]],
    answers: int,
) -> Word:
    """Alice's side of sums of products.

    Args:
        session: this side of the run.
        parameters: public.
        count: rows.
        sums: gives of some rows for each sum that is wanted of them T words, shape (rows,) each.
        answers: sums that are wanted of each row.

    Returns:
        Local shares as of `PeerSlots.respond`, shape (answers, count).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    channel, limbs, size = session.channel, parameters.lattice.limbs, parameters.block_size
    seed, data = channel.recv(
        SlotZeros, ExpectedByteRows(1, SEED_BYTES), ExpectedByteRows(1, _zeros_size(parameters))
    )
    zeros = unpack_words(data, limbs * DEGREE, LIMB_BITS).reshape(limbs, DEGREE)
    cipher = PeerSlots(parameters, seed.tobytes(), zeros, session.random)
    shape = (parameters.groups, parameters.terms, limbs, DEGREE)
    found = []
    for part in chunks(count, size):
        data = channel.recv(SlotQuery, ExpectedByteRows(1, _query_size(parameters)))
        query = unpack_words(data, int(np.prod(shape)), LIMB_BITS).reshape(shape)
        second, shares = cipher.respond(query, [_fill(each, size) for each in sums(part)])
        for place in range(answers):
            packed = pack_limbs(second[:, place], parameters.lattice.second_bits)
            channel.send(SlotResponse(ByteRows(packed[None])))
        found.append(shares[:, : part.stop - part.start])
    return np.concatenate(found, axis=1)


def hold(
    session: Session,
    parameters: SlotParameters,
    count: int,
    words: Callable[[slice], Sequence[Word]],
    answers: int,
) -> Word:
    """Bob's side, with T words of each row; otherwise as `evaluate`."""
    channel, size = session.channel, parameters.block_size
    cipher = OwnSlots(parameters, session.random)
    channel.send(SlotZeros(byte_row(cipher.seed), _bytes(cipher.zeros())))
    parts = list(chunks(count, size))
    found = []
    waiting = slice(0, 0)
    for group in [*_groups(parameters), slice(0, 0)]:
        for block in range(group.start, group.stop):
            query = cipher.encrypt(block, _fill(words(parts[block]), size))
            channel.send(SlotQuery(_bytes(query)))
        for block in range(waiting.start, waiting.stop):
            rows = parts[block].stop - parts[block].start
            shares = []
            for _ in range(answers):
                data = channel.recv(SlotResponse, ExpectedByteRows(1, _response_size(parameters)))
                second = unpack_limbs(data, (parameters.groups, DEGREE), parameters.lattice.second_bits)
                shares.append(cipher.decrypt(second)[:rows])
            found.append(np.stack(shares))
        waiting = group
    return np.concatenate(found, axis=1)


def _fill(words: Sequence[Word], size: int) -> list[Word]:
    """Words of the last rows, with zeros up to a whole block."""
    result = []
    for own in words:
        filled = np.zeros(size, dtype=np.uint64, like=own)
        filled[: len(own)] = own
        result.append(filled)
    return result


def _bytes(limbs: Word) -> ByteRows:
    return ByteRows(pack_words(limbs.reshape(-1), LIMB_BITS)[None])


@cache
def cost(count: int, terms: int) -> Cost:
    """The exact cost of `multiply` of at least one product."""
    return cost_sums(SlotParameters.of(count, terms), 1)


def cost_sums(parameters: SlotParameters, answers: int) -> Cost:
    """The exact cost of `hold` and `evaluate`."""
    # The second group goes with the first one, each later one answers a response, and the last two
    # responses go together.
    rounds = max(1, len(list(_groups(parameters))) - 1)
    return Cost(
        (Flight.BOB, Flight.ALICE) * rounds,
        parameters.blocks * answers * _response_size(parameters),
        SEED_BYTES + _zeros_size(parameters) + parameters.blocks * _query_size(parameters),
    )


SPEC: Final = Procedure(
    name="lattice-products",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    example={"count": 10_000, "terms": 2},
)
