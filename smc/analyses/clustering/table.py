"""The table that is clustered, whichever way it lies between the parties, and what is computed over it.

Each party holds a block of the table, some rows and some columns, and a cell is the sum of what both blocks
say of it. Blocks of local rows lie above each other, blocks of local columns beside each other, and two that
cover the whole table are added. Of matched rows one party, the owner of their slots, knows its own columns;
those of the other are shared between both, modulo 2**64, and belong to the block of each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.clustering.parameters import ClusteringParameters, Layout
from smc.analyses.records.fixed_point import FixedPointColumns
from smc.forms import Role
from smc.protocols.intersection import cuckoo
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.ints import SecretInts
from smc.secret.joins.circuit_psi import table_owner
from smc.secret.lattice.factors import LatticeFactors, LatticePlan
from smc.secret.lattice.sums import LatticeSums, SumsPlan
from smc.secret.products import grouped, repeated
from smc.secret.products import words as products
from smc.secret.products.grouped import Grouping
from smc.secret.products.repeated import FactorShape, RepeatedFactors
from smc.secret.sharing.bounds import Bounds, Operand

Word = NDArray[np.uint64]

WORD_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class Shape:
    """What is public of a table.

    Attributes:
        scaled: its columns.
        layout: how it lies.
        rows: Alice's and Bob's rows.
        columns: places of Alice's and of Bob's columns in the scaled.
        owner: of matched rows, who knows which of its rows lies in which slot; else None.
        passes: how often the rows are assigned to centres, at most.
        clusters: how many centres there are.
    """

    scaled: FixedPointColumns
    layout: Layout
    rows: tuple[int, int]
    columns: tuple[tuple[int, ...], tuple[int, ...]]
    owner: Role | None = None
    passes: int = 1
    clusters: int = 1

    @classmethod
    def of(cls, parameters: ClusteringParameters, scaled: FixedPointColumns, alice: int, bob: int) -> Shape:
        """The shape of a job's table with so many rows of each side."""
        first = range(len(parameters.alice_columns))
        start = len(first) if parameters.layout is Layout.VERTICAL else 0
        second = range(start, start + len(parameters.bob_columns))
        owner = table_owner(alice, bob) if parameters.match is not None else None
        columns = (tuple(first), tuple(second))
        # Once more than centres are moved: results are about the last ones.
        passes = parameters.iterations + 1
        return cls(scaled, parameters.layout, (alice, bob), columns, owner, passes, parameters.clusters)

    @property
    def count(self) -> int:
        """Rows of the table; of matched rows their slots."""
        if self.owner is not None:
            return cuckoo.bins_for(self.most)
        return sum(self.rows) if self.layout is Layout.HORIZONTAL else self.rows[0]

    @property
    def most(self) -> int:
        """The most rows that there can be in truth."""
        return self.count if self.owner is None else min(self.rows)

    def rows_of(self, role: Role) -> slice:
        """The rows of a party in the table."""
        alice, bob = self.rows
        if self.layout is not Layout.HORIZONTAL:
            return slice(0, self.count)
        return slice(0, alice) if role is Role.ALICE else slice(alice, alice + bob)

    def columns_of(self, role: Role) -> list[int]:
        """The columns of a party's block in the table; those that are shared stand in both blocks."""
        own = self.columns[role is Role.BOB]
        return sorted({*own, *self.shared})

    @property
    def shared(self) -> tuple[int, ...]:
        """The columns that neither party knows."""
        return () if self.owner is None else self.columns[self.owner is Role.ALICE]

    def holds(self, role: Role) -> tuple[Role, ...]:
        """The sides whose columns a party's block has, or has shares of; the owner of slots has both."""
        return tuple(Role) if self.owner is role else (role,)

    def entries(self, role: Role) -> FactorShape:
        """A party's block as a factor; of shared columns no more bits than distances are computed with."""
        part = self.rows_of(role)
        bits = tuple(
            self.scaled.width if i in self.shared else self.scaled.columns[i].part.bit_length()
            for i in self.columns_of(role)
        )
        return FactorShape(part.stop - part.start, bits)

    def counts(self, role: Role) -> bool:
        """Whether a party counts the rows of clusters: where both hold all rows, Alice alone does."""
        return role is Role.ALICE or self.layout is Layout.HORIZONTAL

    def grouping(self, role: Role, groups: int) -> Grouping:
        """A party's rows as they are summed, with the count."""
        length = len(self.columns_of(role)) + self.counts(role)
        return Grouping(self.entries(role).rows, length, groups)

    def lattice(self, length: int, width: int) -> LatticePlan | None:
        """How rows are multiplied by lattice encryption; None where oblivious transfer sends less."""
        alice, bob = (self.entries(role) for role in Role)
        # The start multiplies by each centre once, and each pass by all of them.
        times = self.passes + self.clusters
        plan = LatticePlan.of(alice, bob, (length, length), width, times)
        if plan is None:
            return None
        costs = plan.cost(), repeated.cost(alice, bob, (length, length), width, first=False)
        lattice, transfers = (cost.alice_bytes + cost.bob_bytes for cost in costs)
        return plan if lattice < transfers else None

    def lattice_sums(self) -> SumsPlan | None:
        """How rows are summed by lattice encryption; None where oblivious transfer sends less in all."""
        # The start takes as many groups as a pass.
        times = self.passes + 1
        alice, bob = (self.grouping(role, self.clusters) for role in Role)
        plan = SumsPlan.of(alice, bob, self.sum_bits, times * self.clusters)
        if plan is None:
            return None
        costs = plan.cost_once(), plan.cost(self.clusters), grouped.cost(alice, bob, self.sum_bits)
        once, lattice, transfers = (cost.alice_bytes + cost.bob_bytes for cost in costs)
        return plan if once + times * lattice < times * transfers else None

    @property
    def sum_bits(self) -> int:
        """Bits of the words in which columns are summed."""
        return grouped.word_bits(self.count * max(1, int(self.scaled.largest.max())))


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over the rows of each of k clusters, secret.

    Attributes:
        values: of all columns, shape (k, d).
        sizes: rows, shape (k,).
    """

    values: SecretInts
    sizes: SecretInts


@dataclass(slots=True)
class SecretTable:
    """This side of a table.

    Attributes:
        session: this side of the run.
        shape: what is public of it.
        own: the local block, shape (rows, columns).
        valid: which rows there are in truth, shape (count,); None for all. Rows that are not belong to no
            cluster.
        squares: local shares of the squared norms of all rows, shape (count,), where columns are shared.
    """

    session: Session
    shape: Shape
    own: Word = field(repr=False)
    valid: SecretBits | None = None
    squares: Word | None = field(default=None, repr=False)
    _factors: RepeatedFactors | None = field(default=None, repr=False)
    _lattice: dict[LatticePlan, LatticeFactors] = field(default_factory=dict, repr=False)
    _sums: LatticeSums | None = field(default=None, repr=False)

    def prepare(self) -> None:
        """Encrypt the rows that are summed later, where that sends less.

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        plan = self.shape.lattice_sums()
        if plan is not None:
            self._sums = LatticeSums(self.session, plan, self._block_with_ones())

    def _block_with_ones(self) -> Word:
        """The local block, with a column of ones where this party counts rows."""
        if not self.shape.counts(self.session.role):
            return self.own
        return np.hstack([self.own, np.ones((len(self.own), 1), dtype=np.uint64, like=self.own)])

    def products(self, vectors: Word, width: int) -> Word:
        """All rows times secret vectors.

        Args:
            vectors: local shares, shape (d, length).
            width: bits of the words; at most those of distances where columns are shared.

        Returns:
            Own shares modulo 2**width (bits above are arbitrary), shape (count, length).
        """
        role = self.session.role
        mine, theirs = (vectors[self.shape.columns_of(side)] for side in (role, role.other))
        result = np.zeros((self.shape.count, vectors.shape[1]), dtype=np.uint64, like=self.own)
        own_words, peer_words = self._multiply(mine, theirs, width)
        result[self.shape.rows_of(role)] += own_words
        result[self.shape.rows_of(role.other)] += peer_words
        return result

    def _multiply(self, mine: Word, theirs: Word, width: int) -> tuple[Word, Word]:
        """The local block and the peer's times local shares of what each is multiplied by."""
        shape, role = self.shape, self.session.role
        own, peer = shape.entries(role), shape.entries(role.other)
        plan = shape.lattice(mine.shape[1], width)
        if plan is not None:
            if plan not in self._lattice:
                self._lattice[plan] = LatticeFactors(self.session, plan, self.own, own, peer)
            return self._lattice[plan].times(mine, theirs, width)
        if self._factors is None:
            block = self.own
            if shape.shared:
                block = block & np.array([(1 << bits) - 1 for bits in own.bits], dtype=np.uint64)
            self._factors = RepeatedFactors(self.session, block, own, peer)
        found = self._factors.times(mine, theirs, width)
        return found[0].astype(np.uint64), found[1].astype(np.uint64)

    def sums(self, bits: SecretBits) -> Sums:
        """Sum all rows over secret groups; bits of shape (count, k)."""
        session, shape = self.session, self.shape
        role, k = session.role, bits.shape[1]
        mine, theirs = (bits.shares[shape.rows_of(side)] for side in (role, role.other))
        if self._sums is not None:
            parts = self._sums.sums(mine, theirs)
        else:
            peer = shape.grouping(role.other, k)
            parts = grouped.sums(session, [self._block_with_ones()], mine, peer, theirs, shape.sum_bits)
        dimensions = shape.scaled.dimensions
        total = np.zeros((k, dimensions + 1), dtype=parts[0].dtype, like=parts[0])
        for side, part in zip((role, role.other), parts, strict=True):
            total[:, shape.columns_of(side) + [dimensions] * shape.counts(side)] += part
        words = grouped.extend_shares(session, total, shape.sum_bits)
        largest = int(shape.scaled.largest.max())
        sizes = SecretInts(session, words[:, dimensions].copy(), Bounds(0, shape.count))
        values = SecretInts(session, words[:, :dimensions].copy(), Bounds(0, shape.count * largest))
        return Sums(values, sizes)

    def norms(self) -> Word:
        """Own shares of the squared norms of all rows, shape (count,)."""
        if self.squares is not None:
            return self.squares
        shape, role = self.shape, self.session.role
        result = np.zeros(shape.count, dtype=np.uint64, like=self.own)
        result[shape.rows_of(role)] = (self.own * self.own).sum(axis=1, dtype=np.uint64)
        if shape.layout is not Layout.ARBITRARY:
            return result
        own, zero = self.own.reshape(-1), np.zeros(self.own.size, dtype=np.uint64, like=self.own)
        left, right = (own, zero) if role is Role.ALICE else (zero, own)
        mixed = products.multiply(self.session, left, right, *_operands(shape))
        result += mixed.reshape(self.own.shape).sum(axis=1, dtype=np.uint64) << np.uint64(1)
        return result


def _operands(shape: Shape) -> tuple[Operand, Operand]:
    largest = max(axis.part for axis in shape.scaled.columns)
    return Operand(Bounds(0, largest), Role.ALICE), Operand(Bounds(0, largest), Role.BOB)
