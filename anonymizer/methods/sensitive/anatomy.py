"""Anatomy: quasi-identifiers in one table, the sensitive column in another, joined by groups only.

Every group has at least l rows with different sensitive values, so that by the groups alone who finds a
person's row knows the value with probability 1 / l at most; see `anonymizer.risk.definetti` for more.

Reference: Xiao and Tao, Anatomy: simple and effective privacy preservation, VLDB 2006. Their groups are drawn
one after another from the largest buckets; here rows, sorted by value, are dealt out to n / l groups in turn,
which gives the same: no group gets a value twice if no value has more than n / l rows.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import TableError, UnreachableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.releases.guarantee import Guarantee
from anonymizer.risk.simulator import CellsKept
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Int = NDArray[np.int64]

COUNT: Final = "count"
SENSITIVE: Final = "sensitive"
"""The word of its second table."""


@parameters
class Anatomy(CellsKept, Method):
    """Takes the sensitive column out into a table of its own and adds a column of group numbers.

    Rows are neither changed nor lost; columns without a role stay beside the quasi-identifiers. In a pipeline
    it comes last: rows that a later step drops would stay counted in the sensitive table.

    Args:
        l: the least number of different sensitive values in a group, 2 or more.
        sensitive: the column; the only sensitive one if None.
        group: the name of the new column.
        random_state: a seed, or None for the operating system's randomness.

    Attributes:
        extra_: after a transformation, by the word "sensitive" a table with the columns group, sensitive and
            `count`: how many rows of the group have the value.
        share_: the largest part of a group that has one value: what an attacker's guess is worth at most.
    """

    name: ClassVar[str] = "anatomy"
    keeps_rows: ClassVar[bool] = True
    needs_columns: ClassVar[bool] = False
    makes_classes: ClassVar[bool] = True
    counts_persons: ClassVar[bool] = False
    last: ClassVar[bool] = True
    random: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = False

    l: int = 2  # noqa: E741 - the name that the literature gives it
    sensitive: str | None = None
    group: str = "group"
    random_state: int | None = None

    @override
    def columns_of(self, table: Table) -> tuple[str, ...]:
        """The sensitive column."""
        return table.roles.sensitive if self.sensitive is None else (self.sensitive,)

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """Groups are dealt out by all values of the column, which lie in the further table with them."""
        columns = self.columns_of(table)
        read = table.provenance.content(*columns).spread()
        return table.provenance.recode(dict.fromkeys((self.group, COUNT, *columns), read), gaps="none")

    @property
    @override
    def adds(self) -> tuple[str, ...]:
        """The column of the groups."""
        return (self.group,)

    @override
    def check(self) -> None:
        super().check()
        if self.l < 2:
            raise TableError(f"l is {self.l}.", "Choose 2 or more.")

    @override
    def guarantees(self, table: Table) -> tuple[Guarantee, ...]:
        """That by the groups alone a guess at a person's value is right with probability `share` at most."""
        return (
            Guarantee(
                "anatomy",
                {"l": self.l, "share": self.share_},
                columns=(self.group, self.column_),
                condition=f"The values of {self.column_} lie in a table of their own. By the groups alone "
                f"who finds a row guesses the person's value with probability {self.share_:.3g} at most; "
                "quasi-identifiers that have to do with the value raise it.",
                method=self.name,
            ),
        )

    @override
    def _fit(self, table: Table) -> None:
        for name in (self.group, COUNT):
            if name in table.names:
                raise TableError(f"The table has a column {name!r} already.", "Rename it.")
        columns = self.columns_of(table)
        if len(columns) != 1:
            raise TableError(
                f"Anatomy takes one sensitive column out, and the roles name {len(columns)}.",
                "Say which it is with sensitive, and drop or protect the others.",
            )
        self.column_ = columns[0]
        self._values(table)

    def _values(self, table: Table) -> Int:
        """The codes of the sensitive column, if groups of l different values can be made of it."""
        table.complete((self.column_,))
        codes = table.codes(self.column_)
        counts = np.bincount(codes.codes, minlength=1)
        most = int(counts.argmax())
        if counts[most] * self.l > len(table):
            raise UnreachableError(
                f"{counts[most]} of {len(table)} rows have the value {text_of(codes.values[most])!r} in "
                f"column {self.column_!r}, more than one in {self.l}: it is not {self.l}-eligible.",
                "Lower l, or drop rows with that value.",
            )
        return codes.codes

    @override
    def _transform(self, table: Table) -> Table:
        values = self._values(table)
        groups = deal(values, self.l, Randomness(self.random_state))
        order = np.lexsort((values, groups))
        pairs = np.stack([groups[order], values[order]], axis=1)
        fresh = np.flatnonzero(np.append(True, (np.diff(pairs, axis=0) != 0).any(axis=1)))
        counts = np.diff(np.append(fresh, len(order)))
        named = pairs[fresh, 0]
        self.share_ = float((counts / np.bincount(groups)[named]).max())
        self.extra_ = {SENSITIVE: Table.of(self._sensitive(table, order[fresh], named, counts))}
        # the group beside its rows, and no trace of the column
        return table.without((self.column_,)).replace({self.group: groups})

    def _sensitive(self, table: Table, rows: Int, groups: Int, counts: Int) -> Any:
        space = table.frame.implementation
        cells = table.frame.select(self.column_)[rows, :]
        if space.is_pandas():
            cells = nw.from_native(cells.to_native().reset_index(drop=True), eager_only=True)
        group = nw.new_series(self.group, groups, backend=space)
        count = nw.new_series(COUNT, counts, backend=space)
        return cells.with_columns(group, count).select(self.group, self.column_, COUNT).to_native()


def deal(values: Int, l: int, random: Randomness) -> Int:  # noqa: E741 - as above
    """Group rows so that every group has at least l rows, all of different values.

    Args:
        values: from 0, none in more than one of l rows, shape (n,).
        l: at least 1, at most n.
        random: decides which rows of a value go where, and which values meet.

    Returns:
        The group of each row, from 0, shape (n,).
    """
    count = len(values) // l
    ranks = random.permutation(int(values.max()) + 1)[values]
    order = np.lexsort((random.words(len(values)), ranks))
    groups = np.empty(len(values), dtype=np.int64)
    groups[order] = random.permutation(count)[np.arange(len(values)) % count]
    return groups
