"""Statistics without noise: tables of counts and sums, opened as far as the limits of disclosure allow.

Every query becomes a table whose cells are its groups, or its bins, or both; beside the counts there are, for
sums and means, sums of the values' distances from their lower bounds. Small and dominated cells are
withheld before anything is opened, see `smc.analyses.disclosure.tables`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from smc.analyses.disclosure.audit import Members
from smc.analyses.disclosure.bounds import check_not_narrower
from smc.analyses.disclosure.costs import cost_table, limits_apply
from smc.analyses.disclosure.crowds import Crowds, persons_of, told_apart
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.disclosure.opened import OpenedTable
from smc.analyses.disclosure.plain import plain_table
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.tables import GroupTable
from smc.analyses.records.conditions import Where
from smc.analyses.records.numbers import real
from smc.analyses.statistics.kinds.chi_square import exact_test
from smc.analyses.statistics.kinds.crosstabs import Cells
from smc.analyses.statistics.kinds.moments import Clamp, Clamped
from smc.analyses.statistics.kinds.statistic import Result, Statistic
from smc.analyses.statistics.plans.outcome import Reported
from smc.analyses.statistics.plans.plan import conditions, groups, resolve
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.queries.query import Query
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session
from smc.protocols.spec import Cost
from smc.secret.bounds import Bounds
from smc.secret.ints import SecretInts

MARGIN = "(all)"
"""The label of totals."""


@dataclass(frozen=True, slots=True)
class Tabulated:
    """One side's part of a table.

    Attributes:
        counts: rows of each cell, shape (c,) or (r, c).
        crowds: persons of each cell, and of a sum those whom it distinguishes.
        sums: of the values' distances from their lower bound; None where the query is about rows.
        largest: what one person contributes most to each sum; None like `sums`.
        span: the largest distance of a value; 0 where the query is about rows.
        members: the rows in the cells.
    """

    counts: Ints
    crowds: Crowds
    sums: Ints | None
    largest: Ints | None
    span: int
    members: Members = field(repr=False)


@dataclass(frozen=True, slots=True)
class Tables:
    """A query without noise: its statistic, its groups, and the conditions on its rows.

    Rows that do not meet them are in no cell, so what is withheld, and what earlier tables have shown, is
    about those that do.
    """

    query: Query
    statistic: Statistic
    groups: tuple[str | None, ...]
    codes: tuple[tuple[int, ...], ...]
    where: Where

    @classmethod
    def of(cls, query: Query, parameters: StatisticsParameters, schemas: Mapping[str, Schema]) -> Tables:
        """Resolve a query.

        Raises:
            UsageError: it does not fit its columns, its bounds are narrower than those of a column, or a sum
                could exceed 63 bits.
        """
        statistic = resolve(query, parameters, schemas)
        found = cls(query, statistic, *groups(query, schemas), conditions(query, schemas))
        clamp = found.clamp
        if clamp is not None:
            schema = schemas[query.columns[0]]
            check_not_narrower(
                clamp.lower, clamp.upper, (schema.lower, schema.upper), f"Query {query.name!r}"
            )
            reach = max(abs(clamp.lower), abs(clamp.upper), clamp.upper - clamp.lower)
            if 2 * parameters.maximum_rows * reach >= 1 << 63:
                raise UsageError(
                    f"Query {query.name!r} could exceed 63 bits: 2 * maximum_rows * bound is too large.",
                    "Lower maximum_rows, or clamp to narrower bounds.",
                )
        return found

    @property
    def clamp(self) -> Clamp | None:
        """Of a sum or mean."""
        return self.statistic.clamps[0] if isinstance(self.statistic, Clamped) else None

    def local(self, rows: LocalRows) -> list[Tabulated]:
        """The local parts: of a count, sum or mean one table of its groups, else one table for each group."""
        group = np.zeros(rows.count, dtype=np.int64)
        for name, last in zip(self.query.by, self.codes[-1], strict=True):
            group = group * (last + 1) + rows.columns[name]
        if isinstance(self.statistic, Cells):
            cells = self.statistic.places(rows)
            shape = tuple(len(bins.labels) for bins in self.statistic.bins)
            return [
                _tabulated(np.where(group == code, cells, -1), rows.persons, None, shape)
                for code in range(len(self.groups))
            ]
        clamp = self.clamp
        values = None if clamp is None else (rows.columns[self.query.columns[0]], clamp)
        return [_tabulated(group, rows.persons, values, (len(self.groups),))]

    def opened(
        self,
        session: Session,
        release: Release,
        own: Sequence[Tabulated],
        maximum_rows: int,
        recipients: frozenset[Role],
    ) -> list[OpenedTable | None]:
        """The tables as far as the limits allow; None for a party that is not a recipient."""
        return [
            _open(session, release, table, maximum_rows, recipients, margins=self._margins) for table in own
        ]

    def plain(self, sides: Sequence[Sequence[Tabulated]], limits: Limits = NO_LIMITS) -> list[OpenedTable]:
        """The reference of `opened`: what a recipient would get from both sides' parts."""
        return [
            plain_table(
                limits,
                [part.counts for part in parts],
                values=_named([part.sums for part in parts]),
                persons=[part.crowds.fewest for part in parts],
                cover=[part.crowds.cover for part in parts],
                largest=_named([part.largest for part in parts]),
                margins=self._margins,
            )
            for parts in zip(*sides, strict=True)
        ]

    def cost(self, limits: Limits, recipients: frozenset[Role]) -> Cost:
        """The exact cost of `opened` where nothing has to be withheld, without the set-up of transfers."""
        sums = int(self.clamp is not None)
        columns, count, length = len(self.groups), 1, 1
        if isinstance(self.statistic, Cells):
            sizes = [len(bins.labels) for bins in self.statistic.bins]
            rows, columns = sizes if len(sizes) == 2 else (1, sizes[0])
            count, length = len(self.groups), rows * columns + rows + columns + 1
            columns *= rows
        elif self._margins:
            length = 2 * columns + 2
        table = cost_table(columns, sums, limits, recipients, [length] * (1 + sums))
        return sum([table] * count, Cost())

    def tested(self, limits: Limits) -> bool:
        """Whether limits are tested, for which transfers are set up."""
        return limits_apply(limits, int(self.clamp is not None))

    @property
    def _margins(self) -> bool:
        return isinstance(self.statistic, Cells) or len(self.groups) > 1

    def results(self, tables: Sequence[OpenedTable]) -> list[tuple[str | None, Result]]:
        """Each group with its result."""
        if isinstance(self.statistic, Cells):
            return [
                (group, self._cells(self.statistic, table))
                for group, table in zip(self.groups, tables, strict=True)
            ]
        (table,) = tables
        found = [
            (group, self._single(*entry, table.notes))
            for group, entry in zip(self.groups, _row(table), strict=True)
        ]
        if table.count_totals is not None and table.shown_total:
            total = table.value_totals.get("sum")
            entry = (True, table.count_totals.total, 0 if total is None else total.total)
            found.append((MARGIN, self._single(*entry, ())))
        return found

    def _single(self, shown: bool, count: int, above: int, notes: tuple[str, ...]) -> Result:
        clamp = self.clamp
        if not shown:
            return Result(notes=notes)
        if clamp is None:
            return Result(count, count, count, rows=count, notes=notes)
        total = above + count * clamp.lower
        if self.query.kind == "sum":
            return Result(*(real(total, clamp.scale),) * 3, rows=count, notes=notes)
        if not count:
            return Result(rows=count, notes=notes)
        return Result(*(float(Fraction(total, count * clamp.unit)),) * 3, rows=count, notes=notes)

    def _cells(self, statistic: Cells, table: OpenedTable) -> Result:
        labels = {name: list(column) for name, column in statistic.labels().items()}
        entries = [
            count if shown else None
            for count, shown in zip(
                table.counts.reshape(-1).tolist(), table.shown.reshape(-1).tolist(), strict=True
            )
        ]
        for places, entry in _margins(statistic, table):
            for column, label in zip(labels.values(), places, strict=True):
                column.append(label)
            entries.append(entry)
        value, notes = None, table.notes
        if self.query.test and not table.withheld:
            value = exact_test(table.counts.astype(np.float64))
            notes += (f"{self.query.name}: the p-value is of a chi-square test of independence.",)
        elif self.query.test:
            notes += (f"{self.query.name}: no test, as cells are withheld.",)
        columns = {**labels, "count": entries, "lower_95": list(entries), "upper_95": list(entries)}
        return Result(p_value=value, table=columns, notes=notes)


def tables_of(parameters: StatisticsParameters, schemas: Mapping[str, Schema]) -> list[Tables]:
    """The tables of all queries.

    Raises:
        UsageError: a query does not fit its columns.
    """
    return [Tables.of(query, parameters, schemas) for query in parameters.queries]


def reported_of(tables: Tables, results: Sequence[tuple[str | None, Result]]) -> list[Reported]:
    """The results of a query's tables, for `smc.analyses.statistics.plans.outcome`."""
    return [(tables.query, tables.statistic, group, result) for group, result in results]


def _row(table: OpenedTable) -> list[tuple[bool, int, int]]:
    """Whether shown, count and sum of each cell of a table of one row."""
    sums = table.values.get("sum", np.zeros_like(table.counts))
    return [
        (bool(shown), int(count), int(above))
        for shown, count, above in zip(table.shown[0], table.counts[0], sums[0], strict=True)
    ]


def _margins(statistic: Cells, table: OpenedTable) -> list[tuple[tuple[str, ...], int | None]]:
    totals = table.count_totals
    if totals is None:
        return []
    found: list[tuple[tuple[str, ...], int | None]] = []
    if len(statistic.bins) == 2:
        rows, columns = statistic.bins
        for place, label in enumerate(rows.labels):
            found.append(((label, MARGIN), int(totals.rows[place]) if table.shown_rows[place] else None))
        for place, label in enumerate(columns.labels):
            found.append(
                ((MARGIN, label), int(totals.columns[place]) if table.shown_columns[place] else None)
            )
    whole = (MARGIN,) * len(statistic.bins)
    return [*found, (whole, totals.total if table.shown_total else None)]


def _tabulated(
    cells: Ints, persons: Ints, values: tuple[Ints, Clamp] | None, shape: tuple[int, ...]
) -> Tabulated:
    """Add up the rows by cell; those in cell -1 are in none."""
    inside = cells >= 0
    cells, persons = cells[inside], persons[inside]
    size = int(np.prod(shape))
    counts = np.bincount(cells, minlength=size).astype(np.int64).reshape(shape)
    everybody = persons_of(cells, persons, size).reshape(shape)
    if values is None:
        return Tabulated(counts, Crowds.of(everybody), None, None, 0, Members(persons, cells))
    column, clamp = values
    above = np.clip(column[inside], clamp.lower, clamp.upper) - clamp.lower
    span = clamp.upper - clamp.lower
    apart = [part.reshape(shape) for part in told_apart(cells, persons, above, (0, span), size)]
    people = int(persons.max()) + 1 if len(persons) else 1
    pairs, which = np.unique(cells * people + persons, return_inverse=True)
    sums, shares, largest = (np.zeros(length, dtype=np.int64) for length in (size, len(pairs), size))
    np.add.at(sums, cells, above)
    np.add.at(shares, which, above)
    np.maximum.at(largest, pairs // people, shares)
    crowds = Crowds.of(everybody, *apart)
    return Tabulated(
        counts, crowds, sums.reshape(shape), largest.reshape(shape), span, Members(persons, cells, above)
    )


def _named(parts: Sequence[Ints | None]) -> dict[str, list[Ints]]:
    """The one further table under its name, if there is one."""
    found = [part for part in parts if part is not None]
    return {"sum": found} if found else {}


def _open(
    session: Session,
    release: Release,
    own: Tabulated,
    maximum_rows: int,
    recipients: frozenset[Role],
    *,
    margins: bool,
) -> OpenedTable | None:
    def parts(entries: Ints, most: int) -> list[SecretInts]:
        return [
            SecretInts.from_plain(
                session, entries if session.role is role else None, role, Bounds(0, most), entries.shape
            )
            for role in Role
        ]

    values, largest = {}, {}
    if own.sums is not None and own.largest is not None:
        values["sum"] = parts(own.sums, maximum_rows * own.span)
        largest["sum"] = parts(own.largest, maximum_rows * own.span)
    cells = GroupTable(
        parts(own.counts, maximum_rows),
        parts(own.crowds.fewest, maximum_rows),
        parts(own.crowds.cover, maximum_rows),
        values,
        largest,
        own.members,
    )
    return release.table(cells, recipients, margins=margins)
