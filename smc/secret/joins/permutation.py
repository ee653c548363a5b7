"""Permuting a shared vector in an order that one party knows and the other does not learn.

    owner (order; switches s of a Benes network)      peer
      choice s of every switch    -- matrices -->       pads P0, P1
      local shares through the network                    local shares through the network
      crossing: d' = its difference                     crossing: d its difference, c = P0 + d - P1
                                  <-- c --
      moved: s d' + P_s + s c                           moved: -P0

At a switch the values u, v become u - s (u - v), v + s (u - v). The owner's part of s (u - v) is local, the
peer's is a correlated transfer; as a pad fixes the peer's new shares, all columns fit into one flight.

Inputs: shares modulo 2**b, with b 64 or 32, of n integers; at the owner an order of n places.
Outputs: shares of the integers in that order.
Learns: neither party anything.
Assumes: `smc.oblivious`; of large batches silent transfers.
Cost: `cost`; two rounds, and 4 + b / 8 bytes for each of n log2 n - n / 2 switches, n rounded up to a power
of two; of large networks three rounds and 0.3 + b / 8 bytes, see `transfer_costs.takes_silent_blocks`.
Reference: Mohassel and Sadeghian, How to hide circuits in MPC, EUROCRYPT 2013, section 3 (oblivious switching
networks); the network as in `smc.secret.joins.benes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.channel.message import Message
from smc.channel.vectors import ExpectedWords, Words
from smc.errors import UsageError
from smc.forms import Role
from smc.network import Network
from smc.numeric.narrow_words import WORD_BITS, Unsigned, pack, packed_words, type_of, unpack
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_blocks, takes_silent_blocks
from smc.secret.joins.benes import Index, Word, apply, columns_for, switches, wires_for
from smc.tracing.repeats import traced_once

WORD_BYTES: Final = WORD_BITS // 8


@dataclass(frozen=True, slots=True)
class SwitchCorrections(Message, kind="switch-corrections", hidden=True):
    """Corrections of all switches, from the party that does not know the order."""

    corrections: Words


@traced_once
def permute(session: Session, shares: Word, owner: Role, order: Index | None, bits: int = WORD_BITS) -> Word:
    """Permute a vector of integers shared modulo 2**bits.

    Args:
        session: this side of the run.
        shares: local shares, shape (n,); bits above are dropped.
        owner: who knows the order.
        order: at the owner a permutation of range(n): entry k of the result is entry order[k]; else None.
        bits: 64 or 32.

    Returns:
        Local shares, shape (n,).

    Raises:
        UsageError: the order is missing, is on the wrong side, or is not a permutation, or there are no words
            of so many bits.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    if (order is None) is (session.role is owner):
        raise UsageError(
            "Either both parties gave an order, or none of them did.",
            "Give the order at its owner, and None at the other party.",
        )
    count = len(shares)
    # The network takes a power of two; both parties' shares of the wires past the vector are zero, and stay.
    wires = wires_for(count)
    padded = np.zeros(wires, dtype=type_of(bits), like=shares)
    padded[:count] = shares.astype(padded.dtype)
    if order is not None:
        moved = _choose(session, padded, _whole(order, count), bits)
    else:
        moved = _send(session, padded, bits)
    return moved[:count].astype(np.uint64)


def cost(count: int, owner: Role, network: Network | None = None, bits: int = WORD_BITS) -> Cost:
    """The exact cost of `permute` over a network: flights and bytes, without the set-up of the transfers."""
    wires = wires_for(count)
    transfers = columns_for(wires) * wires // 2
    answer = Cost((Flight.BOB,), 0, WORD_BYTES * packed_words(transfers, bits))
    total = cost_blocks(transfers, network).mirror + answer
    return total if owner is Role.ALICE else total.mirror


def _whole(order: Index, count: int) -> Index:
    """The order on all wires of the network; those past the vector stay."""
    if order.shape != (count,) or (np.sort(order) != np.arange(count)).any():
        raise UsageError(
            f"The order is not a permutation of the {count} places of the vector.",
            f"Give each number from 0 to {count - 1} once.",
        )
    return np.concatenate([order, np.arange(count, wires_for(count), like=order)])


def _choose(session: Session, values: Unsigned, order: Index, bits: int) -> Unsigned:
    crossed = switches(order)
    silent = takes_silent_blocks(session.network, crossed.size)
    chosen = session.oblivious.receive_blocks(crossed.reshape(-1), silent=silent)
    pads = chosen[:, 0].astype(values.dtype).reshape(crossed.shape)
    expected = ExpectedWords(packed_words(crossed.size, bits))
    words = session.channel.recv(SwitchCorrections, expected)
    received = unpack(words, crossed.size, bits).astype(values.dtype).reshape(crossed.shape)

    def swap(differences: Unsigned, column: int) -> Unsigned:
        # pad_c + c (d + pad_0 + d' - pad_1) = pad_0 + c (d + d'), which with the sender's -pad_0 adds up to
        # what a crossed switch moves from one wire to the other.
        moved: Unsigned = pads[column] + crossed[column] * (differences + received[column])
        return moved

    return apply(values, swap)


def _send(session: Session, values: Unsigned, bits: int) -> Unsigned:
    shape = (columns_for(len(values)), len(values) // 2)
    transfers = shape[0] * shape[1]
    silent = takes_silent_blocks(session.network, transfers)
    both = session.oblivious.send_blocks(transfers, silent=silent)
    zero, one = (pads[:, 0].astype(values.dtype).reshape(shape) for pads in both)
    corrections = np.empty(shape, dtype=values.dtype, like=zero)

    def swap(differences: Unsigned, column: int) -> Unsigned:
        np.subtract(zero[column] + differences, one[column], out=corrections[column])
        moved: Unsigned = np.negative(zero[column])
        return moved

    result = apply(values, swap)
    session.channel.send(SwitchCorrections(Words(pack(corrections.reshape(-1), bits))))
    return result


SPEC: Final = Procedure(
    name="permutation",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"count": 1000, "owner": Role.ALICE},
)
