"""Sums over matched rows that nobody sees: of products of a feature of Alice and one of Bob.

    Alice, Bob      rows with keys                        aligned in slots, with secret member bits
    other party     its features                          shared by slot, 0 where there is no match
    owner           its features, which it knows by slot
    sums            of the member bits and the shared features, slot by slot: local
                    of the owner's features times them: a matrix product of one party's numbers and shares,
                    block by block with transfers, or all at once with the other's shares encrypted; where
                    one feature at most is 1 in a slot, and the others 0, sums over groups of slots

The owner of the slots' table knows which own row lies in which slot, so its features need not be shared or
masked: what it has in a slot without a match is multiplied by 0. Which slots have a match, nobody learns.
Of the ways that there are that is taken which sends least.

References: `smc.secret.joins.circuit_psi`, `smc.secret.products.words`, `smc.secret.lattice.columns`,
`smc.secret.orders.group_sums`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.statistics.queries.rows import Ints
from smc.analyses.statistics.vertical.terms import Feature, Pair, bounds_of, values_of
from smc.errors import TooManyRowsError
from smc.forms import Role
from smc.network import Network
from smc.numeric.shapes import of_shape, shape_array
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.intersection import cuckoo
from smc.protocols.session import Session
from smc.protocols.spec import Cost
from smc.secret.comparison.records import cost_to_words
from smc.secret.joins.circuit_psi import Aligned, align, table_owner
from smc.secret.joins.records import cost_align
from smc.secret.lattice.columns import (
    ColumnsLayout,
    columns_layout,
    cost_inner_products,
    inner_products,
)
from smc.secret.linear_ints import LinearInts
from smc.secret.orders import group_sums
from smc.secret.products import words as products
from smc.secret.sharing.bounds import SHARED, WORD_BITS, Bounds, Operand

GroupOf = Callable[[Mapping[str, Ints]], Ints]
"""From columns, shape (n,) each, to a place for each row."""

MAX_NUMBERS: Final = 1 << 27
"""Features times rows of a side, and features times slots: a gigabyte."""

_STAGE: Final = "sums"


@dataclass(frozen=True, slots=True)
class Block:
    """Products that are formed together.

    Attributes:
        bounds: of the owner's features, 0 included.
        owner: features of the owner of the table.
        other: features of the other party, by their places; 0 is the feature 1, the member bit.
    """

    bounds: Bounds
    owner: tuple[Feature, ...]
    other: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EncryptedFeatures:
    """All blocks at once, by lattice encryption.

    Attributes:
        owner: all features of the owner of the table but the feature 1.
        other: the places of the other party's features that they are multiplied by.
        columns: how these are encrypted.
    """

    owner: tuple[Feature, ...]
    other: tuple[int, ...]
    columns: ColumnsLayout


@dataclass(frozen=True, slots=True)
class FeatureLayout:
    """Which products are needed, from the place of the owner of the table.

    Attributes:
        pairs: owner's feature and the place of the other's, in the order of the entries.
        other: features of the other party, from place 1 on.
        blocks: products, but those with the owner's feature 1, which are sums of what is shared.
    """

    pairs: tuple[tuple[Feature, int], ...]
    other: tuple[Feature, ...]
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, pairs: Sequence[Pair], owner: Role) -> FeatureLayout:
        """Arrange products so that each is formed once, and all of the same factors together."""
        turned = [pair if owner is Role.ALICE else pair[::-1] for pair in pairs]
        places: dict[Feature, int] = {(): 0}
        placed = tuple((own, places.setdefault(other, len(places))) for own, other in turned)
        needed: dict[Feature, set[int]] = {}
        for own, place in placed:
            needed.setdefault(own, set()).add(place)
        needed.pop((), None)
        blocks: dict[tuple[Bounds, tuple[int, ...]], list[Feature]] = {}
        for own, wanted in needed.items():
            bounds = bounds_of(own).hull(Bounds(0, 0))
            blocks.setdefault((bounds, tuple(sorted(wanted))), []).append(own)
        arranged = tuple(Block(bounds, tuple(own), other) for (bounds, other), own in blocks.items())
        return cls(placed, tuple(places)[1:], arranged)

    @property
    def own(self) -> tuple[Feature, ...]:
        """Features of the owner of the table but the feature 1, each once."""
        return tuple(dict.fromkeys(feature for feature, _ in self.pairs if feature))

    @property
    def multiplied(self) -> tuple[int, ...]:
        """The places of the other party's features that these are multiplied by."""
        return tuple(sorted({place for block in self.blocks for place in block.other}))

    def sums_groups(self, slots: int, owner: Role, network: Network | None) -> bool:
        """Whether sums over groups of slots send less than products, where each slot is in one group."""
        columns = len(self.multiplied)
        groups = group_sums.cost(slots, len(self.own), columns, owner, network)
        encrypted = self.lattice_features(slots)
        if encrypted is None:
            products_cost = self.cost_blocks(slots)
            others = products_cost.alice_bytes + products_cost.bob_bytes
        else:
            others = encrypted.columns.query_bytes + encrypted.columns.response_bytes(len(encrypted.owner))
        return groups.alice_bytes + groups.bob_bytes < others

    @property
    def other_bounds(self) -> list[Bounds]:
        """Of the other party's features."""
        return [bounds_of(feature) for feature in self.other]

    def lattice_features(self, slots: int) -> EncryptedFeatures | None:
        """All products by lattice encryption; None where transfers send less, or nothing is multiplied."""
        owner = tuple(feature for block in self.blocks for feature in block.owner)
        other = self.multiplied
        bound = max((block.bounds.magnitude for block in self.blocks), default=0)
        columns = columns_layout(slots, len(other), bound, len(owner), WORD_BITS)
        if columns is None:
            return None
        transfers = self.cost_blocks(slots)
        lattice = columns.query_bytes + columns.response_bytes(len(owner))
        fewer = lattice < transfers.alice_bytes + transfers.bob_bytes
        return EncryptedFeatures(owner, other, columns) if fewer else None

    def cost_blocks(self, slots: int, owner: Role = Role.ALICE) -> Cost:
        """The exact cost of all products with transfers."""
        total = Cost()
        for block in self.blocks:
            known = Operand(block.bounds, owner)
            total += products.cost_matmul(len(block.owner), slots, len(block.other), known, SHARED)
        return total


def sums(
    session: Session,
    wanted: Sequence[Pair],
    columns: Mapping[str, Ints],
    keys: NDArray[np.uint64],
    peer_count: RowCount,
    owner: Role | None = None,
    group_of: GroupOf | None = None,
) -> NDArray[np.uint64]:
    """Own shares modulo 2**64 of the sums over matched rows of products of features.

    Args:
        session: this side of the run.
        wanted: the products.
        columns: the local columns, shape (n,) each.
        keys: of the local rows, distinct, shape (n, 2).
        peer_count: rows of the peer.
        owner: whose rows lie in the slots; None for the side with fewer.
        group_of: where of the owner's features but the feature 1 one at most is 1 in a row, and the others
            are 0: from its columns, of each row the place of that one in `FeatureLayout.own`, -1 for none.

    Returns:
        Shape (len(wanted),).

    Raises:
        TooManyRowsError: too many features for so many rows; both sides know, and nothing was sent.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    counts = {session.role: len(keys), session.role.other: peer_count}
    owner = owner or table_owner(counts[Role.ALICE], counts[Role.BOB])
    layout = FeatureLayout.of(wanted, owner)
    grouped = group_of is not None and layout.sums_groups(
        cuckoo.bins_for(counts[owner]), owner, session.network
    )
    _check_room(layout, counts[owner], counts[owner.other], grouped=grouped)
    bounds: dict[Role, list[Bounds]] = {owner: [], owner.other: layout.other_bounds}
    features = () if session.role is owner else layout.other
    brought = [values_of(feature, columns, len(keys)) for feature in features]
    own = np.stack(brought, axis=1) if brought else np.zeros((len(keys), 0), dtype=np.int64, like=keys)
    aligned = align(
        session,
        keys,
        peer_count,
        own,
        bounds[Role.ALICE],
        bounds[Role.BOB],
        owner=owner,
    )
    shared = _shared_columns(aligned)
    totals: dict[tuple[Feature, int], np.uint64] = {
        ((), place): each.shares.sum(dtype=np.uint64) for place, each in enumerate(shared)
    }
    encrypted = None if grouped else layout.lattice_features(len(aligned.member))
    if group_of is not None and grouped:
        totals |= _sum_groups(session, aligned, layout, group_of, columns, shared)
    if encrypted is not None:
        totals |= _all(session, aligned, encrypted, columns, shared)
    for done, block in enumerate(layout.blocks if encrypted is None and not grouped else ()):
        session.report(_STAGE, done, len(layout.blocks))
        found = _block(session, aligned, block, columns, shared)
        totals |= {
            (feature, place): found[row, column]
            for row, feature in enumerate(block.owner)
            for column, place in enumerate(block.other)
        }
    session.report(_STAGE, len(layout.blocks), len(layout.blocks))
    return np.array([totals[pair] for pair in layout.pairs], dtype=np.uint64)


def _check_room(layout: FeatureLayout, owner_count: int, other_count: int, *, grouped: bool) -> None:
    slots = cuckoo.bins_for(owner_count)
    rows = max(slots, other_count)
    # Encrypted sums are formed some at a time, and those of groups without the features.
    blocks = () if grouped or layout.lattice_features(slots) is not None else layout.blocks
    widest = max([len(layout.other) + 1, *(len(block.owner) for block in blocks)])
    if rows * widest > MAX_NUMBERS:
        raise TooManyRowsError(
            f"{widest} numbers for each of {rows} rows do not fit the memory of a run.",
            "Ask for fewer bins or candidates, in several jobs, or use fewer rows.",
        )


def _shared_columns(aligned: Aligned) -> list[LinearInts]:
    """The member bits, then the features of the other party."""
    columns = aligned.bob if aligned.owner is Role.ALICE else aligned.alice
    return [LinearInts.from_bits(aligned.member), *columns]


def _block(
    session: Session,
    aligned: Aligned,
    block: Block,
    columns: Mapping[str, Ints],
    shared: Sequence[LinearInts],
) -> NDArray[np.uint64]:
    """Own shares of the sums, shape (owner's features, other's)."""
    known = None if aligned.rows is None else _owner_features(aligned.rows, block.owner, columns)
    left = LinearInts.from_plain(
        session, known, aligned.owner, block.bounds, (len(block.owner), len(aligned.member))
    )
    right = np.stack([shared[place].shares for place in block.other], axis=1)
    return products.matmul(session, left.shares, right, left.kind, SHARED)


def _owner_features(
    slots: NDArray[np.int64], features: Sequence[Feature], columns: Mapping[str, Ints]
) -> NDArray[np.int64]:
    """The owner's features by slot, 0 where it has no row, shape (features, slots)."""
    held = slots >= 0
    known = np.zeros((len(features), len(held)), dtype=np.int64, like=held)
    numbers = slots[held]
    rows = {name: column[numbers] for name, column in columns.items()}
    for place, feature in enumerate(features):
        known[place, held] = values_of(feature, rows, len(numbers))
    return known


def _all(
    session: Session,
    aligned: Aligned,
    encrypted: EncryptedFeatures,
    columns: Mapping[str, Ints],
    shared: Sequence[LinearInts],
) -> dict[tuple[Feature, int], np.uint64]:
    """Own shares of all sums of products, by feature of the owner and place of the other's."""
    right = np.stack([shared[place].shares for place in encrypted.other], axis=1)
    slots = aligned.rows
    if slots is None:
        found = inner_products(session, encrypted.columns, None, right)
    else:
        local = np.empty((len(encrypted.owner), right.shape[1]), dtype=np.uint64, like=right)

        def owner_features(part: slice) -> NDArray[np.int64]:
            features = _owner_features(slots, encrypted.owner[part], columns)
            local[part] = features.view(np.uint64) @ right
            return features

        found = inner_products(session, encrypted.columns, owner_features, None) + local
    return {
        (feature, place): found[row, column]
        for row, feature in enumerate(encrypted.owner)
        for column, place in enumerate(encrypted.other)
    }


def _sum_groups(
    session: Session,
    aligned: Aligned,
    layout: FeatureLayout,
    group_of: GroupOf,
    columns: Mapping[str, Ints],
    shared: Sequence[LinearInts],
) -> dict[tuple[Feature, int], np.uint64]:
    """Own shares of all sums of products, as those of groups of slots."""
    places, own = layout.multiplied, layout.own
    rows = np.stack([shared[place].shares for place in places], axis=1)
    groups = None if aligned.rows is None else _groups(aligned.rows, group_of(columns))
    found = group_sums.group_sums(session, rows, aligned.owner, groups, len(own))
    return {
        (feature, place): found[row, column]
        for row, feature in enumerate(own)
        for column, place in enumerate(places)
    }


@of_shape(lambda slots, groups: shape_array(len(slots), np.int64))
def _groups(slots: Ints, groups: Ints) -> Ints:
    """The group of each slot, -1 where it has none."""
    found = np.full(len(slots), -1, dtype=np.int64)
    found[slots >= 0] = groups[slots[slots >= 0]]
    return found


def cost(wanted: Sequence[Pair], alice_count: int, bob_count: int) -> Cost:
    """The exact cost of `sums` in a fresh session.

    Args:
        wanted: the products.
        alice_count: rows of Alice.
        bob_count: rows of Bob.
    """
    owner = table_owner(alice_count, bob_count)
    layout = FeatureLayout.of(wanted, owner)
    slots = cuckoo.bins_for(min(alice_count, bob_count))
    columns = {owner: 0, owner.other: len(layout.other)}
    total = cost_align(alice_count, bob_count, columns[Role.ALICE], columns[Role.BOB], fresh=True)
    total += cost_to_words(slots)
    encrypted = layout.lattice_features(slots)
    if encrypted is None:
        return total + layout.cost_blocks(slots, owner)
    made = cost_inner_products(encrypted.columns)
    return total + (made if owner is Role.ALICE else made.mirror)
