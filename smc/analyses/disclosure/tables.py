"""The opening of tables about groups of people: small and dominated cells are withheld before anything opens.

    secret      has a side 1 to m - 1 persons in a cell, or one person with too much of its sum? is it roomy?
    opened      these two bits for each cell, to both parties
    public      which further cells and totals stay closed (`smc.analyses.disclosure.suppression`)
    secret      is there room for the totals?
    opened      that one bit, to both parties; then cells and totals that are not withheld, to the recipients

A party that receives a table knows its own part of it and can subtract it. So each side's part has to be safe
by itself: a cell is opened if each side has no person in it or at least m. What holds for the parts holds for
their sum as well.

Zeros are shown unless asked otherwise: they reveal nobody who is in the data. With a smallest group of 2 a
small cell is known to be of one person; ask for 3 or more.

Several tables about the same persons, with bins that differ in little or with and without a condition, may
together reveal a few persons: once it is settled what will be opened, the auditors of both sides are
asked (`smc.analyses.disclosure.audit`), and both parties learn whether one refuses, a bit.

References: as of `smc.analyses.disclosure.suppression`; the dominance rule is the (1, k) rule of Hundepohl et
al., section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from operator import add, and_, or_
from typing import Final

import numpy as np

from smc.analyses.disclosure.audit import Auditor, Members, ShownTable
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.opened import Ints, OpenedTable, Totals, suppression_notes
from smc.analyses.disclosure.opener import Opener
from smc.analyses.disclosure.suppression import Mask, Suppression, choose, roomy_from
from smc.errors import DisclosureRefused, UsageError
from smc.forms import Role
from smc.protocols.agreement import agree
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.ints import SecretInts, concatenate

Parts = Sequence[SecretInts]
"""A table as the sum of the sides' parts, Alice's first."""


PATTERN: Final = (
    "of tables under limits: which cells are withheld, for being small, for being dominated by one person, "
    "or to protect such cells; which others reach twice the smallest group; whether totals can be opened; "
    "whether earlier exact tables stand against this one"
)
"""What both parties learn from an opening with limits, whoever gets the table: for leakage statements."""


@dataclass(frozen=True, slots=True)
class GroupTable:
    """A table about groups of persons, with further tables over the same cells; secret.

    Every table is a part for each side that has rows, each of shape (r, c), or (c,) for a table of one
    dimension. Parts that are their owner's input cost least.

    Attributes:
        counts: of the cells, not negative.
        persons: the numbers of persons that have to be 0 or groups, as the fewest of them, by side
            (`smc.analyses.disclosure.crowds`). The persons of one side are taken as different from the
            other's.
        cover: the fewest persons that a cell adds to others, so that together they are a group.
        values: further tables, such as sums, by name.
        largest: the largest contribution of one of the side's persons to each cell of a further table, by its
            name, in the same scale. The rule of dominance holds for tables that are named here; they are not
            negative.
        members: this party's rows in the cells, for its auditor.
    """

    counts: Parts
    persons: Parts
    cover: Parts
    values: Mapping[str, Parts] = field(default_factory=dict)
    largest: Mapping[str, Parts] = field(default_factory=dict)
    members: Members | None = field(default=None, repr=False)


def open_table(
    opener: Opener,
    limits: Limits,
    cells: GroupTable,
    recipients: AbstractSet[Role],
    *,
    margins: bool,
    zeros: bool,
    auditor: Auditor | None,
) -> OpenedTable | None:
    """Open a table as far as the limits allow; both parties give the same public arguments.

    Args:
        opener: all opening goes through it.
        limits: of both policies.
        cells: the table.
        recipients: who gets it.
        margins: whether totals are to be opened: of rows, of columns and of all cells.
        zeros: whether cells where a side has no persons are withheld as well.
        auditor: remembers what earlier tables have shown to the peer; None where nothing is remembered, or
            the peer gets nothing.

    Returns:
        The table, or None for a party that is not a recipient.

    Raises:
        DisclosureRefused: the auditor of one side does not allow it; at both sides, and no cell was opened.
        UsageError: shapes or names do not fit, or a dominated table could be negative; nothing was opened.
        DomainError: a total could leave 63 bits by its bounds.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    sides = _sides(cells)
    primary, roomy = _classes(opener, sides, limits, zeros=zeros)
    found = choose(primary, roomy, limits.minimum_group, margins=margins, zeros=zeros)
    if len(found.thresholds) and not opener.pattern(_fits(sides, found, limits)).all():
        found = found.without_room()
    _audited(opener.session, cells.members, found, auditor, margins=margins)
    return _opened(opener, sides, found, recipients, margins=margins)


def _audited(
    session: Session, members: Members | None, found: Suppression, auditor: Auditor | None, *, margins: bool
) -> None:
    """Ask the auditors of both sides, and let this one remember what will be opened."""
    shown = None if auditor is None or members is None else ShownTable.of(members, found, margins=margins)
    allowed = auditor is None or (shown is not None and auditor.allows(shown))
    if not agree(session, answer=allowed):
        raise DisclosureRefused(
            "Together with exact tables that were released before, this one would reveal figures of fewer "
            "persons than the policies allow" + (", or that could not be checked." if not allowed else "."),
            "Use the same groups and edges as before, or add noise to the job (epsilon).",
        )
    if auditor is not None and shown is not None:
        auditor.record(shown)


@dataclass(frozen=True, slots=True)
class _Side:
    """One side's part of the tables of an opening, all of shape (r, c)."""

    counts: SecretInts
    persons: SecretInts
    cover: SecretInts
    values: Mapping[str, SecretInts]
    largest: Mapping[str, SecretInts]


def _sides(cells: GroupTable) -> list[_Side]:
    counts, values, largest = cells.counts, cells.values, cells.largest
    everything = [counts, cells.persons, cells.cover, *values.values(), *largest.values()]
    if not counts or any(len(parts) != len(counts) for parts in everything):
        raise UsageError(
            "The tables that are opened together have different numbers of parts.",
            "Give every table as many parts.",
        )
    if any(part.shape != counts[0].shape for parts in everything for part in parts):
        raise UsageError(
            "The tables that are opened together have different shapes.",
            "Give every table the same rows and columns of cells.",
        )
    if unknown := sorted(set(largest) - set(values)):
        raise UsageError(
            f"A largest contribution is given for {unknown[0]!r}, which is not one of the tables.",
            f"Use one of {', '.join(sorted(values))}.",
        )
    if any(part.bounds.lower < 0 for name in largest for part in values[name]):
        raise UsageError(
            "The rule of dominance is for sums of contributions that are not negative.",
            "Measure contributions from their lower bound.",
        )
    rows = 1 if len(counts[0].shape) == 1 else counts[0].shape[0]

    def picked(tables: Mapping[str, Parts], place: int) -> dict[str, SecretInts]:
        return {name: parts[place].reshape(rows, -1) for name, parts in tables.items()}

    return [
        _Side(
            counts[place].reshape(rows, -1),
            cells.persons[place].reshape(rows, -1),
            cells.cover[place].reshape(rows, -1),
            picked(values, place),
            picked(largest, place),
        )
        for place in range(len(counts))
    ]


def _classes(opener: Opener, sides: Sequence[_Side], limits: Limits, *, zeros: bool) -> tuple[Mask, Mask]:
    """The two bits of each cell, opened to both parties; nothing is opened where nothing is limited."""
    shape, group = sides[0].counts.shape, limits.minimum_group
    suspects = [bits for side in sides for bits in _suspects(side, limits, zeros=zeros)]
    if not suspects:
        return np.zeros(shape, dtype=np.bool_), np.ones(shape, dtype=np.bool_)
    suspect = reduce(or_, suspects)
    roomy = reduce(and_, [side.cover >= roomy_from(group) for side in sides]) & ~suspect
    both = np.stack([suspect.shares, roomy.shares]).reshape(2, -1)
    opened = opener.pattern(SecretBits(suspect.session, both))
    return opened[0].reshape(shape), opened[1].reshape(shape)


def _suspects(side: _Side, limits: Limits, *, zeros: bool) -> Iterator[SecretBits]:
    """For each rule the cells of one side that it withholds."""
    group = limits.minimum_group
    if group and zeros:
        yield side.persons < group
    elif group > 1:
        yield (side.persons < group) ^ (side.persons < 1)  # the second implies the first
    if limits.dominance < 1:
        for name, top in side.largest.items():
            yield _heavy(top, side.values[name], limits.dominance)


def _fits(sides: Sequence[_Side], found: Suppression, limits: Limits) -> SecretBits:
    """Whether there is room for the totals: one bit."""
    inside = found.hidden.astype(np.int64)
    tests = [found.coefficients @ side.counts.reshape(-1) >= found.thresholds for side in sides]
    if limits.dominance < 1:
        for axis, lines in found.lines:
            for side in sides:
                for name, top in side.largest.items():
                    heads = (top * inside).maximum(axis)[1][lines]
                    sums = (side.values[name] * inside).sum(axis)[lines]
                    tests.append(~_heavy(heads, sums, limits.dominance))
    passed = SecretBits(tests[0].session, np.concatenate([test.shares for test in tests]))
    return SecretInts.from_bits(passed).sum() == len(passed)


def _heavy(most: SecretInts, total: SecretInts, part: Fraction) -> SecretBits:
    """Whether a largest contribution is more than a part of its sum."""
    return most * part.denominator > total * part.numerator


def _opened(
    opener: Opener,
    sides: Sequence[_Side],
    found: Suppression,
    recipients: AbstractSet[Role],
    *,
    margins: bool,
) -> OpenedTable | None:
    everything = {"": reduce(add, [side.counts for side in sides])}
    for name in sides[0].values:
        everything[f"={name}"] = reduce(add, [side.values[name] for side in sides])
    cells, totals = {}, {}
    for name, table in everything.items():
        opened = opener.ints(_selected(table, found, margins=margins), recipients)
        if opened is not None:
            cells[name], totals[name] = _placed(opened, found, margins=margins)
    if opener.session.role not in recipients:
        return None
    return OpenedTable(
        ~found.hidden,
        found.rows,
        found.columns,
        found.total,
        cells.pop(""),
        {name[1:]: table for name, table in cells.items()},
        totals.pop(""),
        {name[1:]: entry for name, entry in totals.items() if entry is not None},
        suppression_notes(found, margins=margins),
    )


def _selected(table: SecretInts, found: Suppression, *, margins: bool) -> SecretInts:
    """What is opened of a table, in one vector: open cells, then open totals."""
    parts = [table[~found.hidden]]
    if margins:
        parts += [table.sum(axis=1)[found.rows], table.sum(axis=0)[found.columns]]
        parts += [table.sum()] if found.total else []
    return concatenate(parts)


def _placed(opened: Ints, found: Suppression, *, margins: bool) -> tuple[Ints, Totals | None]:
    cells = np.zeros(found.hidden.shape, dtype=np.int64)
    count = int((~found.hidden).sum())
    cells[~found.hidden] = opened[:count]
    if not margins:
        return cells, None
    rows, columns = np.zeros(len(found.rows), np.int64), np.zeros(len(found.columns), np.int64)
    first, second = count + int(found.rows.sum()), count + int(found.rows.sum() + found.columns.sum())
    rows[found.rows], columns[found.columns] = opened[count:first], opened[first:second]
    return cells, Totals(rows, columns, int(opened[second]) if found.total else 0)
