"""Rows of both sides brought together by their keys, in secret: slots with a bit and the columns of both.

    owner of the table (n keys)                       the other party (m keys, its columns c)
      its keys in the bins of a cuckoo table            its keys in the bins of all hash functions
                            <-- programmed function -->  payloads (0, c) per key
      t_b, u_b                                          t'_b, u'_b       t_b + t'_b = 0 if both have x_b
      member_b = [t_b == -t'_b]                         one secret bit per bin
      own column or 0                                   u_b + u'_b       every column times member_b

A slot is a bin: there are about 1.3 times as many as the owner has keys. Its bit says whether the key in it
is one of the other party's; where it is not, and where there is no key, every column is zero. What is
computed of the bits and the columns, a sum for instance, is that of the intersection. The party with fewer
rows owns the table, unless the caller says who does; the owner of the table knows which own row lies in which
slot, the other party does not.

Inputs: at each party distinct keys of 128 bits, hashed under a salt that was not known when they were chosen,
and columns of integers within public bounds, one row per key.
Outputs: XOR shares of a bit per slot, and shares modulo 2**64 of all columns times it.
Learns: neither party anything but the number of the other's keys. Which rows match, and how many, is secret.
Assumes: `smc.protocols.intersection.opprf`, `smc.oblivious`; the keys of each side
are distinct. A key that the peer does not have is taken for a match with probability below 2**-40 over all
slots: t_b + t'_b is uniform there, and 40 + ceil(log2 slots) bits of it are tested.
Cost: `records.cost_align`; 11 rounds, 14 with columns of both, 6 more per 76,000 slots; at a million rows
each 703 bytes per row, 15 more for a column of the owner and 63 for one of the other party.
Reference: Pinkas, Schneider, Tkachenko and Yanai, Efficient circuit-based PSI with linear communication,
EUROCRYPT 2019 (bins, one target each, equality inside; payloads); Rindal and Schoppmann, VOLE-PSI, EUROCRYPT
2021.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.numeric.shapes import contiguous
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.intersection import opprf
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.comparison import mux
from smc.secret.linear_ints import LinearInts
from smc.secret.sharing.bounds import WORD_BITS, Bounds

Word = NDArray[np.uint64]

STATISTICAL_BITS: Final = 40
"""A slot without a match passes the test with probability below 2**-40, all slots taken together."""

_STAGE: Final = "alignment"
_STEPS: Final = 3


@dataclass(frozen=True, slots=True)
class Aligned:
    """Slots, of which those with member bit 1 are the intersection.

    Attributes:
        owner: whose keys lie in the slots.
        rows: the number of the local row in each slot, or -1, at the owner; None at the other party.
        most: the largest size that the intersection can have.
        member: one bit per slot.
        alice: Alice's columns, zero where the bit is 0; their bounds are the declared ones and 0.
        bob: Bob's columns.
    """

    owner: Role
    rows: NDArray[np.int64] | None = field(repr=False)
    most: int
    member: SecretBits
    alice: tuple[LinearInts, ...]
    bob: tuple[LinearInts, ...]

    def size(self) -> LinearInts:
        """The number of matches, one secret integer; two rounds, 12 bytes per slot."""
        return self.total(LinearInts.from_bits(self.member))

    def total(self, column: LinearInts) -> LinearInts:
        """The sum of a column that is zero where the bit is 0, one secret integer; local.

        Raises:
            DomainError: by the bounds of the column and the size of the intersection it could wrap.
        """
        bounds = column.bounds.sum_of(self.most).fit("sum")
        total = column.shares.sum(dtype=np.uint64, keepdims=True)
        return LinearInts.from_shares(column.session, total, bounds, column.scale)


def align(
    session: Session,
    keys: Word,
    peer_count: RowCount,
    columns: NDArray[np.int64],
    alice: Sequence[Bounds],
    bob: Sequence[Bounds],
    *,
    owner: Role | None = None,
) -> Aligned:
    """Bring the rows of both sides together; both parties call it.

    Args:
        session: this side of the run.
        keys: this party's keys, distinct, shape (n, 2): 128 bits each, hashed under a salt of this run.
        peer_count: rows of the peer.
        columns: the local columns, shape (n, c).
        alice: bounds of Alice's columns.
        bob: bounds of Bob's columns.
        owner: who owns the table, if that does not depend on the numbers of rows; public.

    Raises:
        UsageError: the local columns are not as many, or as long, as declared.
        DomainError: two own keys are equal, or a value lies outside its bounds.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    count = len(keys)
    declared = {Role.ALICE: alice, Role.BOB: bob}
    _check(keys, columns, declared[session.role])
    counts = {session.role: count, session.role.other: peer_count}
    owner = owner or table_owner(counts[Role.ALICE], counts[Role.BOB])
    mine = session.role is owner
    # Only the columns of the other party travel as payloads; the owner knows where its own ones belong.
    words = 1 + len(declared[owner.other])
    if mine:
        received = opprf.receive(session, keys, peer_count, words)
        rows, shares = received.slots, received.values
        slots = len(rows)
    else:
        # The first word of a payload is the tag 0: where both have the key, shares of the tag add up to zero.
        payloads = np.concatenate([np.zeros((count, 1), dtype=np.int64, like=columns), columns], axis=1).view(
            np.uint64
        )
        rows, shares = None, opprf.send(session, keys, payloads, peer_count)
        slots = len(shares)
    session.report(_STAGE, 1, _STEPS)
    # Shares of a tag add up to zero if and only if one is the negative of the other.
    member = same_tags(session, shares[:, 0] if mine else np.negative(shares[:, 0]), mine)
    session.report(_STAGE, 2, _STEPS)
    own = np.zeros((slots, len(declared[owner])), dtype=np.uint64, like=shares)
    if rows is not None and declared[owner]:
        # Where a bin holds no key, the owner's columns are zero already; its other slots become zero by the
        # member bit.
        own[rows >= 0] = columns[rows[rows >= 0]].view(np.uint64)
    # Without a match the payload words are random: the member bit makes them zero, too.
    gated = {
        owner: _gate(session, member, own, declared[owner], owner),
        owner.other: _gate(session, member, shares[:, 1:], declared[owner.other], None),
    }
    session.report(_STAGE, _STEPS, _STEPS)
    return Aligned(
        owner,
        rows,
        min(count, peer_count),
        SecretBits(session, member),
        gated[Role.ALICE],
        gated[Role.BOB],
    )


def table_owner(alice_count: int, bob_count: int) -> Role:
    """Whose keys lie in the slots: of the party with fewer rows, as the slots cost most."""
    return Role.ALICE if alice_count <= bob_count else Role.BOB


def tag_bits(slots: int) -> int:
    """How many bits of the tags are tested."""
    return min(WORD_BITS, STATISTICAL_BITS + slots.bit_length())


def _check(keys: Word, columns: NDArray[np.int64], bounds: Sequence[Bounds]) -> None:
    if columns.shape != (len(keys), len(bounds)):
        problem = f"The local columns have shape {columns.shape} instead of {(len(keys), len(bounds))}."
        raise UsageError(problem, "Give one row for each key and one column for each declared bound.")
    for column, each in zip(columns.T, bounds, strict=True):
        if not each.holds(column):
            raise DomainError(
                "A value lies outside its declared bounds.", "Declare wider bounds, or correct the data."
            )
    # Whole keys are sorted only if two agree in their first word, which hashes hardly ever do.
    if _find_repeated(np.sort(keys[:, 0])) and _find_repeated(keys[np.lexsort((keys[:, 1], keys[:, 0]))]):
        raise DomainError("Two rows of this side have the same key.", "Keep one row of each key.")


def _find_repeated(ordered: Word) -> bool:
    """Whether two neighbours are the same, shape (n,) or (n, 2)."""
    same = ordered[1:] == ordered[:-1]
    return bool((same if same.ndim == 1 else same.all(axis=1)).any())


def same_tags(session: Session, tags: Word, mine: bool) -> NDArray[np.uint8]:
    """XOR shares of whether the tags of both parties are the same, shape (slots,).

    Args:
        session: this side of the run.
        tags: the local ones, one per slot; `tag_bits` of them are tested.
        mine: whether this party owns the table.
    """
    bits = tag_bits(len(tags))
    low = tags & np.uint64((1 << bits) - 1)
    silent = session.takes_silent(len(tags), bits)
    return session.oblivious.equal(low, bits, holds_x=mine, silent=silent)


def _gate(
    session: Session, member: NDArray[np.uint8], shares: Word, bounds: Sequence[Bounds], owner: Role | None
) -> tuple[LinearInts, ...]:
    """Columns times the member bits; all in one batch."""
    if not bounds:
        return ()
    # Column after column in one batch, which takes as many rounds as one column.
    words = contiguous(shares.T).reshape(-1)
    gated = mux.select(session, np.tile(member, len(bounds)), words, owner).reshape(len(bounds), -1)
    zero = Bounds(0, 0)
    return tuple(
        LinearInts.from_shares(session, column, each.hull(zero))
        for column, each in zip(gated, bounds, strict=True)
    )
