"""Items of both parties joined by their keys, and values carried to and fro between those that meet.

    owner of the slots (keys)                         the other party (keys, columns)
      coins                      <-- coins -->          the seed of the hash functions
      its keys in the slots      <-- opprf -->          tag 0 and columns c per key
      member_b = [tags cancel]                          one secret bit per slot
      v_b                                               r_b     v_b + r_b or v_b ^ r_b = c where both meet

To carry shared values w from the owner's slots to the other party's items, one of the columns is a mask
that only the other party knows. The owner learns w + mask slot by slot and brings it, by its own keys, into
slots of the other party, which takes its mask off again:

      w_b + mask_b               <-- share --           w'_b + mask'_b
      column w + mask per key    <-- opprf -->          owner of slots now; shares of w + mask, less the mask

Where a key is not on both sides, r_b is uniform to the owner of the slots: columns are noise there, and so is
what is opened. Whatever depends on them has to be ruled out by the member bit. Unlike in
`smc.secret.joins.circuit_psi` nothing is multiplied by it, so that columns may be shared by XOR, and wide.

Inputs: at each party distinct keys of 128 bits, hashed under a salt that was not known when they were chosen;
    columns of words at the party that does not own the slots.
Outputs: XOR shares of a bit per slot, and shares of the columns.
Learns: neither party anything but the number of the other's keys.
Assumes: `smc.protocols.intersection.opprf`, `smc.oblivious`; a mask serves one value.
Cost: `cost`, `cost_values`; a member bit 496 bytes per slot of a thousand keys, 553 of a million, a
    column 32 bytes per key.
Reference: Pinkas, Schneider, Tkachenko and Yanai, Efficient circuit-based PSI with linear communication,
EUROCRYPT 2019; carrying values back by masks among the columns: this project.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import ExpectedWords, Words
from smc.forms import Role
from smc.numeric.narrow_words import WORD_BITS, pack, packed_words, unpack
from smc.oblivious import vole_steps
from smc.protocols.against import Against
from smc.protocols.coins import toss
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.intersection import cuckoo, opprf
from smc.protocols.intersection.records import cost_opprf
from smc.protocols.public_records import TOSS_COST
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, VOLE, cost_comparison, cost_of
from smc.secret.joins.circuit_psi import same_tags, tag_bits
from smc.secret.orders import permutation

Word = NDArray[np.uint64]
Bit = NDArray[np.uint8]
Index = NDArray[np.int64]

_TAG: Final = 1


@dataclass(frozen=True, slots=True)
class CarriedValues(Message, kind="carried-values", hidden=True):
    """Shares of values plus masks, slot by slot, for the owner of the slots."""

    shares: Words


@dataclass(frozen=True, slots=True)
class Join:
    """The slots of one party, joined with the other's items.

    Attributes:
        owner: whose items lie in the slots.
        items: the number of the local item in each slot or -1, at the owner; None at the other party.
        member: local XOR shares of whether the other party has the item's key, shape (slots,).
        columns: local shares of the other party's columns, noise where the bit is 0, shape (slots, w).
        seed: of the hash functions.
    """

    owner: Role
    items: Index | None = field(repr=False)
    member: Bit = field(repr=False)
    columns: Word = field(repr=False)
    seed: bytes = field(repr=False)

    def order(self, size: int) -> Index | None:
        """At the owner the slot of each of its `size` items, then the slots without one; else None."""
        if self.items is None:
            return None
        order = np.empty(len(self.items), dtype=np.int64, like=self.items)
        taken = self.items >= 0
        order[self.items[taken]] = np.flatnonzero(taken)
        order[size:] = np.flatnonzero(~taken)
        return order


def join(
    session: Session,
    keys: Word,
    peer_count: RowCount,
    owner: Role,
    columns: Word | int,
    *,
    xored: int = 0,
) -> Join:
    """Join the items of both parties.

    Args:
        session: this side of the run.
        keys: this party's keys, distinct, shape (n, 2): 128 bits each, hashed under a salt of this run.
        peer_count: items of the peer.
        owner: whose items lie in the slots.
        columns: of the party that does not own the slots, shape (n, w); at the owner, w.
        xored: how many of the columns, the last ones, are shared by XOR instead of by addition.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
        UsageError: the keys are not distinct, which the side sees that does not own the slots. The owner's
            caller makes its keys distinct: equal ones would count as several items, or have no place.
    """
    seed = toss(session)
    mine = session.role is owner
    if isinstance(columns, int):
        items, shares = _receive(session, keys, peer_count, _TAG + columns, seed)
    else:
        # Shares of the tag 0 add up to zero where both have the key.
        payloads = np.concatenate([np.zeros((len(keys), _TAG), dtype=np.uint64, like=keys), columns], axis=1)
        items, shares = None, opprf.send(session, keys, payloads, peer_count, seed, xored)
    member = same_tags(session, shares[:, 0] if mine else np.negative(shares[:, 0]), mine)
    return Join(owner, items, member, shares[:, _TAG:], seed)


def values(session: Session, joined: Join, keys: Word, peer_count: RowCount, columns: Word | int) -> Word:
    """Bring further columns of the other party into the slots of a join of the same keys.

    Args:
        session: this side of the run.
        joined: the join.
        keys: this party's keys, as of the join.
        peer_count: items of the peer.
        columns: as of `join`.

    Returns:
        Local shares of the columns, noise where the member bit is 0, shape (slots, w).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    if isinstance(columns, int):
        return _receive(session, keys, peer_count, columns, joined.seed)[1]
    return opprf.send(session, keys, columns, peer_count, joined.seed)


def by_item(session: Session, joined: Join, values: Word, items: int, bits: int = WORD_BITS) -> Word:
    """Bring values from slots into the order of their owner's items.

    Args:
        session: this side of the run.
        joined: the join.
        values: local shares modulo 2**bits, shape (slots,).
        items: of the owner.
        bits: 64 or 32.

    Returns:
        Local shares, shape (items,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    return permutation.permute(session, values, joined.owner, joined.order(items), bits)[:items]


def carry_values(
    session: Session, joined: Join, values: Word, masks: Word, bits: int = WORD_BITS
) -> Word | None:
    """Show the owner of the slots values of its items under masks of the other party.

    Args:
        session: this side of the run.
        joined: the join.
        values: local shares modulo 2**bits by item, shape (items,).
        masks: local shares of a column of masks slot by slot, which served for nothing else, shape (slots,).
        bits: 64 or 32.

    Returns:
        Values plus masks modulo 2**bits at the owner, noise where its item meets none, shape (items,); None
        at the other party.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    padded = np.zeros(len(masks), dtype=np.uint64, like=masks)
    padded[: len(values)] = values
    order = joined.order(len(values))
    inverse = None if order is None else np.argsort(order)
    moved = permutation.permute(session, padded, joined.owner, inverse, bits)
    hidden = moved + masks
    if order is None:
        session.channel.send(CarriedValues(Words(pack(hidden, bits))))
        return None
    expected = ExpectedWords(packed_words(len(hidden), bits))
    hidden += unpack(session.channel.recv(CarriedValues, expected), len(hidden), bits)
    shown: Word = hidden[order[: len(values)]] & np.uint64((1 << bits) - 1)
    return shown


def unmask(joined: Join, values: Word, masks: Word) -> Word:
    """Values slot by slot less the masks of the local items in them.

    Args:
        joined: the join.
        values: local shares, shape (slots,).
        masks: this party's, by its items; they count at the owner of the slots.
    """
    found = values.copy()
    if joined.items is not None:
        taken = joined.items >= 0
        found[taken] -= masks[joined.items[taken]]
    return found


def cost(counts: Mapping[Role, int], owner: Role, columns: int, *, fresh: bool = False) -> Cost:
    """The exact cost of `join`, without the set-up of oblivious transfer.

    Args:
        counts: items of each side.
        owner: whose items lie in the slots.
        columns: of the other party.
        fresh: whether it is the first join of the session with this owner, which sets up its functions.
    """
    slots = cuckoo.bins_for(counts[owner])
    test = cost_comparison(slots, tag_bits(slots))
    function = cost_opprf(counts[owner], counts[owner.other], _TAG + columns, seeded=True)
    total = (cost_of(vole_steps.setup()).mirror if fresh else Cost()) + function + test
    return TOSS_COST + (total if owner is Role.ALICE else total.mirror)


def cost_values(counts: Mapping[Role, int], owner: Role, columns: int) -> Cost:
    """The exact cost of `values`, after the tests of the join; arguments as of `cost`."""
    total = cost_opprf(counts[owner], counts[owner.other], columns, seeded=True)
    return total if owner is Role.ALICE else total.mirror


def _receive(
    session: Session, keys: Word, peer_count: RowCount, words: int, seed: bytes
) -> tuple[Index, Word]:
    received = opprf.receive(session, keys, peer_count, words, seed)
    return received.slots, received.values


SPEC: Final = Procedure(
    name="join",
    module=__name__,
    cost=cost,
    setups=(TRANSFERS, VOLE),
    against=Against.PRIVATE,
    example={"counts": {Role.ALICE: 1000, Role.BOB: 2000}, "owner": Role.ALICE, "columns": 2},
)
