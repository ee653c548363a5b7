"""Statistics without noise: tables of counts and sums, opened as far as the limits of disclosure allow.

Every query becomes a table whose cells are its groups, or its bins, or both; beside the counts there are, for
sums and means, sums of the values' distances from their lower bounds. Each side withholds small and dominated
cells of its part before anything is opened, see `smc.analyses.disclosure.tables`. Bounds are those that the
catalogs
declare: jobs without noise have none of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from math import prod
from typing import Final

import numpy as np

from smc.analyses.disclosure.amounts import Amounts
from smc.analyses.disclosure.audit import Members
from smc.analyses.disclosure.crowds import Crowds, persons_of, told_apart, told_by_digits
from smc.analyses.disclosure.kish import kish
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.disclosure.opened import OpenedTable
from smc.analyses.disclosure.owned import Owned
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.tables import TablePart, TablesFigure, Weighed, join_parts, suppress
from smc.analyses.records.held_conditions import Where
from smc.analyses.records.real_units import real
from smc.analyses.statistics.kinds.chi_square import exact_test
from smc.analyses.statistics.kinds.crosstabs import Cells
from smc.analyses.statistics.kinds.moments import WeightedMean
from smc.analyses.statistics.kinds.statistic import Result, Statistic
from smc.analyses.statistics.kinds.sums import Clamp, Clamped
from smc.analyses.statistics.plans.groups import groups
from smc.analyses.statistics.plans.plan import conditions, resolve
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.declared import declared_bounds
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.protocols.session import Session
from smc.secret.sharing.bounds import Bounds

MARGIN = "(all)"
"""The label of totals."""

Results = list[tuple[str | None, Result]]
"""Each group with its result."""

_SUM: Final = "sum"
_WEIGHTS: Final = "weights"
"""Names of the sums of a table."""

_ONE_ROW: Final = Owned(Bounds(0, 1))
"""What a row adds to a count of rows."""


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
    maximum_rows: int

    @classmethod
    def of(cls, query: Query, parameters: StatisticsParameters, schemas: Mapping[str, Schema]) -> Tables:
        """Resolve a query.

        Raises:
            UsageError: it does not fit its columns, or a sum could exceed 63 bits.
        """
        statistic = resolve(query, parameters, schemas)
        bound = conditions(query, schemas)
        found = cls(query, statistic, *groups(query, schemas), bound, parameters.maximum_rows)
        clamp = found.clamp
        if clamp is not None:
            reach = max(abs(clamp.lower), abs(clamp.upper), clamp.upper - clamp.lower) * found.heaviest
            if 2 * parameters.maximum_rows * reach >= 1 << 63:
                raise UsageError(
                    f"Query {query.name!r} could exceed 63 bits: 2 * maximum_rows * bound is too large.",
                    "Lower maximum_rows, or declare narrower bounds in the catalog.",
                )
        return found

    @property
    def clamp(self) -> Clamp | None:
        """Of a sum or mean."""
        return self.statistic.clamps[0] if isinstance(self.statistic, Clamped) else None

    @property
    def heaviest(self) -> int:
        """The largest weight of a row, in held units."""
        return self.statistic.clamps[1].upper if isinstance(self.statistic, WeightedMean) else 1

    def local(self, rows: LocalRows, data: Data) -> list[TablePart]:
        """The local parts: of a count, sum or mean one table of its groups, else one table for each group.

        Args:
            rows: that meet the conditions of the query.
            data: the local columns, whose catalog declares the bounds.

        Raises:
            UsageError: the column of a sum declares no bounds.
        """
        group = np.zeros(rows.count, dtype=np.int64)
        for name, last in zip(self.query.by, self.codes[-1], strict=True):
            group = group * (last + 1) + rows.columns[name]
        if isinstance(self.statistic, Cells):
            cells = self.statistic.places(rows)
            sizes = [len(bins.labels) for bins in self.statistic.bins]
            shape = (prod(sizes[:-1]), sizes[-1])
            return [
                count(np.where(group == code, cells, -1), rows.persons, shape)
                for code in range(len(self.groups))
            ]
        if self.clamp is None:
            return [count(group, rows.persons, (1, len(self.groups)))]
        name, *weights = self.query.columns
        declared = declared_bounds(data[name], name)
        if not weights:
            return [_sum(group, rows.persons, rows.columns[name], declared, len(self.groups))]
        values = (rows.columns[name], rows.columns[weights[0]])
        limits = (declared, declared_bounds(data[weights[0]], weights[0]))
        return [_sum_weighted(group, rows.persons, values, limits, len(self.groups))]

    def open(
        self, release: Release, own: Sequence[TablePart], maximum_rows: int, recipients: frozenset[Role]
    ) -> list[OpenedTable] | None:
        """The tables as far as the limits allow; None for a party that is not a recipient."""
        span = 1 if self.clamp is None else max(1, self.clamp.upper - self.clamp.lower) * self.heaviest
        return release.exact(TablesFigure(own, maximum_rows * span, self._margins, self._axes), recipients)

    def run(
        self, session: Session, release: Release, rows: LocalRows, data: Data, recipients: frozenset[Role]
    ) -> Results | None:
        """The joint run, one side; None for a party that is not a recipient.

        Args:
            session: this side of the run.
            release: opens what its limits allow.
            rows: that meet the conditions of the query.
            data: the local columns.
            recipients: who gets the results.
        """
        del session
        opened = self.open(release, self.local(rows, data), self.maximum_rows, recipients)
        return None if opened is None else self.results(opened)

    def reference(self, sides: Sequence[tuple[LocalRows, Data]]) -> Results:
        """What a recipient would get from both sides' rows without limits."""
        return self.results(self.plain([self.local(rows, data) for rows, data in sides]))

    def plain(
        self, sides: Sequence[Sequence[TablePart]], limits: Sequence[Limits] = (NO_LIMITS, NO_LIMITS)
    ) -> list[OpenedTable]:
        """The reference of `open`: what a recipient would get from both sides' parts under their limits."""
        return [
            join_parts(
                parts,
                [
                    suppress(Owned(own), part, margins=self._margins)
                    for own, part in zip(limits, parts, strict=True)
                ],
                margins=self._margins,
            )
            for parts in zip(*sides, strict=True)
        ]

    @property
    def _axes(self) -> tuple[int, ...]:
        by = [last + 1 for last in self.codes[-1]]
        bins = [len(each.labels) for each in self.statistic.bins] if isinstance(self.statistic, Cells) else []
        return (*by, *bins) or (1,)

    @property
    def _margins(self) -> bool:
        return self.statistic.has_margins if isinstance(self.statistic, Cells) else len(self.groups) > 1

    def results(self, tables: Sequence[OpenedTable]) -> Results:
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
            sums = {name: totals.total for name, totals in table.value_totals.items()}
            found.append((MARGIN, self._single(True, table.count_totals.total, sums, ())))
        return found

    def _single(self, shown: bool, count: int, sums: Mapping[str, int], notes: tuple[str, ...]) -> Result:
        clamp = self.clamp
        if not shown:
            return Result(notes=notes)
        if clamp is None:
            return Result(count, count, count, rows=count, notes=notes)
        weights = sums.get(_WEIGHTS, count)
        total = sums[_SUM] + weights * clamp.lower
        if self.query.kind == "sum":
            return Result(*(real(total, clamp.scale),) * 3, rows=count, notes=notes)
        if not weights:
            return Result(rows=count, notes=notes)
        return Result(*(float(Fraction(total, weights * clamp.unit)),) * 3, rows=count, notes=notes)

    def _cells(self, statistic: Cells, table: OpenedTable) -> Result:
        labels = {name: list(column) for name, column in statistic.labels().items()}
        entries = [
            count if shown else None
            for count, shown in zip(
                table.counts.reshape(-1).tolist(), table.shown.reshape(-1).tolist(), strict=True
            )
        ]
        if not statistic.has_margins:
            found = statistic.result(entries, (), Randomness.from_seed(b"", self.query.name))
            return replace(found, notes=(*table.notes, *found.notes))
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


def _row(table: OpenedTable) -> list[tuple[bool, int, dict[str, int]]]:
    """Whether shown, count and sums of each cell of a table of one row."""
    return [
        (
            bool(shown),
            int(table.counts[0, place]),
            {name: int(sums[0, place]) for name, sums in table.values.items()},
        )
        for place, shown in enumerate(table.shown[0])
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


def count(cells: Ints, persons: Ints, shape: tuple[int, int]) -> TablePart:
    """Count the rows by cell; those in cell -1 are in none.

    A count of rows is a sum as well, of each person's number of rows: whoever has nearly all rows of a cell
    dominates it, and those who have more rows than most can be told apart.
    """
    inside = cells >= 0
    cells, persons = cells[inside], persons[inside]
    size = shape[0] * shape[1]
    counts = np.bincount(cells, minlength=size).astype(np.int64).reshape(shape)
    everybody = persons_of(cells, persons, size)
    ones = np.ones(len(cells), dtype=np.int64)
    several = bool((everybody != counts.reshape(-1)).any())
    apart = told_apart(cells, persons, ones, _ONE_ROW, size) if several else ()
    crowds = Crowds.of(*(part.reshape(shape) for part in (everybody, *apart)))
    weighed = _weigh(cells, persons, Amounts.of(ones, _ONE_ROW), shape)
    return TablePart(counts, crowds, {}, weighed, Members(persons, cells, ones if several else None))


def _sum(cells: Ints, persons: Ints, values: Ints, declared: Owned[Bounds], size: int) -> TablePart:
    """Count the rows by cell, and add up their values' distances from the lower bound."""
    bounds, shape = declared.value, (1, size)
    values = np.clip(values, bounds.lower, bounds.upper)
    amounts = Amounts.of(values, declared)
    part = count(cells, persons, shape)
    weighed = _weigh(cells, persons, amounts, shape)
    digits, lacking = told_by_digits(cells, persons, [amounts.above], size)
    crowds = _beside(part.crowds, digits, [*told_apart(cells, persons, values, declared, size), lacking])
    sums = {_SUM: weighed[0].totals}
    members = amounts.members(persons, cells)
    return TablePart(part.counts, crowds, sums, [*part.weighed, *weighed], members)


def _beside(crowds: Crowds, numbers: Sequence[Ints], shown: Sequence[Ints]) -> Crowds:
    """See `Crowds.beside`; numbers are of shape (cells,)."""
    shape = crowds.everybody.shape
    further = [each.reshape(shape) for each in numbers]
    return crowds.beside(*further, shown=[each.reshape(shape) for each in shown])


def _sum_weighted(
    cells: Ints, persons: Ints, values: tuple[Ints, Ints], declared: tuple[Owned[Bounds], ...], size: int
) -> TablePart:
    """Count the rows by cell, and add up their weights, and these times distances from the lower bound.

    Kish's number of the persons' weights has to be a group like their number: with one heavy weight among
    light ones the mean is one person's.
    """
    (bounds, limits), shape = (each.value for each in declared), (1, size)
    heaviest = Owned(Bounds(0, limits.upper))
    weights = np.clip(values[1], 0, limits.upper)
    amounts = Amounts.of(np.clip(values[0], bounds.lower, bounds.upper), declared[0]).times(weights)
    reach = Owned(Bounds(0, (bounds.upper - bounds.lower) * limits.upper))
    part = count(cells, persons, shape)
    shown = told_apart(cells, persons, amounts.above, reach, size)
    shown += told_apart(cells, persons, weights, heaviest, size)
    digits, lacking = told_by_digits(cells, persons, [weights, amounts.above], size)
    both = (amounts, Amounts.of(weights, heaviest))
    weighed = [_weigh(cells, persons, each, shape) for each in both]
    crowds = _beside(part.crowds, [*digits, kish(cells, persons, weights, size)], [*shown, lacking])
    sums = {name: found[0].totals for name, found in zip((_SUM, _WEIGHTS), weighed, strict=True)}
    members, of_weights = (each.members(persons, cells) for each in both)
    every = [*part.weighed, *chain(*weighed)]
    return TablePart(part.counts, crowds, sums, every, members, [of_weights])


def _weigh(cells: Ints, persons: Ints, amounts: Amounts, shape: tuple[int, int]) -> list[Weighed]:
    """What nobody may have too large a part of, distances from the bound first."""
    return [_by_person(cells, persons, added, shape) for added in amounts.ways]


def _by_person(cells: Ints, persons: Ints, added: Ints, shape: tuple[int, int]) -> Weighed:
    size, people = shape[0] * shape[1], int(persons.max()) + 1 if len(persons) else 1
    pairs, which = np.unique(cells * people + persons, return_inverse=True)
    sums, shares, largest = (np.zeros(length, dtype=np.int64) for length in (size, len(pairs), size))
    np.add.at(sums, cells, added)
    np.add.at(shares, which.reshape(-1), added)
    np.maximum.at(largest, pairs // people, shares)
    return Weighed(largest.reshape(shape), sums.reshape(shape))
