"""The opening of tables about groups of people, each side's part as that side's own limits allow it.

    own         which cells are small or dominated, and what else they could be worked out from
                (`smc.analyses.disclosure.suppression`); whether too much would be withheld; the own auditor
    opened      whether both sides go on, one bit of each side whose part the other one gets
    opened      of both sides' parts the sum of what is not withheld, and which cells are; to the recipients

A party that receives a table knows its own part of it and can subtract it: what it gets is the other side's
part. So a part has to be safe by itself, and it is its owner who knows whether it is: the owner's own policy
says how many persons a cell needs, and nothing of the test is computed, or seen, by the other side. Whoever
is no recipient learns nothing: not which cells are withheld, and of the parts of recipients not whether they
are safe. What is shown of a cell is the sum of both parts, where neither is withheld.

Cells in which a side has nobody are withheld like those of a few, unless its policy says `zeros = "shown"`:
beside a withheld cell they tell who is in it. Where zeros are shown, a table with a line in which one cell
alone is not zero is refused: of everybody in that line it would tell the cell. With a smallest group of 2 a
small cell is known to be of one person, where zeros are shown; ask for 3 or more.

Which cells are withheld is a result as well. So a table of which more than `MOST_WITHHELD` of the cells, or
more than `MAX_WITHHELD`, would be withheld for their own sake is refused as a whole.

Several tables about the same persons, with bins that differ in little or with and without a condition, may
together reveal a few persons: once it is settled what will be opened, its auditor is asked
(`smc.analyses.disclosure.audit`).

References: as of `smc.analyses.disclosure.suppression`; the dominance rule is the (1, k) rule of Hundepohl et
al., section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import Final

import numpy as np
from typing_extensions import override

from smc.analyses.disclosure.audit import Bit, Members, ShownTable, ShownTables
from smc.analyses.disclosure.crowds import Crowds
from smc.analyses.disclosure.exact_figure import ExactFigure
from smc.analyses.disclosure.limits import Agreed, Limits
from smc.analyses.disclosure.opened import Ints, OpenedTable, Totals
from smc.analyses.disclosure.opener import Opener
from smc.analyses.disclosure.owned import Owned
from smc.analyses.disclosure.suppression import Mask, Suppression, choose, roomy_from
from smc.errors import DisclosureRefused, UsageError
from smc.forms import Role
from smc.secret.linear_ints import LinearInts
from smc.secret.sharing.bounds import Bounds

MOST_WITHHELD: Final = Fraction(1, 10)
"""The largest part of a job's cells that may be withheld for their own sake; one cell always may be."""

MAX_WITHHELD: Final = 100
"""The most cells of a job that may be."""

WITHHELD: Final = (
    "of each cell whether it is withheld: as a side has too few persons there or one dominates its sum, or "
    "to protect such cells"
)
"""What recipients of a table under limits learn beside it: for leakage statements."""

GOES_ON: Final = (
    "of {other}'s part whether {other} lets it be opened, one bit: not where too many cells would be "
    "withheld, or earlier exact tables stand against it"
)
"""What a recipient of a table under limits learns even where it is refused."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """What of the sums of a table one person contributes most; of the shape of the table.

    Attributes:
        largest: the largest contribution of one of the side's persons to each cell.
        totals: the sum of all contributions, not negative, in the same scale.
    """

    largest: Ints = field(repr=False)
    totals: Ints = field(repr=False)

    def heavy(self, part: Fraction) -> Mask:
        """The cells in which one person contributes more than a part."""
        return _over(self.largest, self.totals, part)

    def heavy_lines(self, found: Suppression, part: Fraction) -> Iterator[Mask]:
        """The same of what is withheld of each line whose total is to be opened."""
        for axis, lines in found.lines:
            inside = [np.where(found.hidden, table, 0) for table in (self.largest, self.totals)]
            yield _over(inside[0].max(axis=axis), inside[1].sum(axis=axis), part)[lines]


@dataclass(frozen=True, slots=True)
class TablePart:
    """One side's part of a table about groups of persons, in the clear.

    All arrays have shape (r, c).

    Attributes:
        counts: rows of the cells, not negative.
        crowds: the numbers of persons that have to be groups.
        values: further tables, not negative, such as sums of distances from a lower bound, by name.
        weighed: what the rule of dominance holds for.
        members: this side's rows in the cells, for its auditor.
        others: the same with what they add to further sums, of which the auditor has to know, too.
    """

    counts: Ints = field(repr=False)
    crowds: Crowds
    values: Mapping[str, Ints] = field(repr=False)
    weighed: Sequence[Weighed]
    members: Members = field(repr=False)
    others: Sequence[Members] = field(default=(), repr=False)

    @property
    def tables(self) -> list[Ints]:
        """The counts and the further tables, in their order."""
        return [self.counts, *self.values.values()]


@dataclass(frozen=True, slots=True)
class TablesFigure(ExactFigure[list[OpenedTable] | None]):
    """The tables of one query.

    Attributes:
        parts: this side's part of each table; all of one shape and with the same further tables, as the
            peer's.
        reach: no total of a part is larger; public.
        margins: whether totals are to be opened: of rows, of columns and of all cells; public.
        axes: how many cells there are along each of what the query divides rows by; the cells of all parts
            in their order are those of such an array.
    """

    parts: Sequence[TablePart]
    reach: int
    margins: bool
    axes: tuple[int, ...]

    @override
    def open(self, opener: Opener, limits: Agreed, recipients: AbstractSet[Role]) -> list[OpenedTable] | None:
        """The tables, each side's part as its own limits allow; None for a party that is not a recipient.

        Raises:
            DisclosureRefused: a side does not let its part be opened; at both sides, and no cell was opened.
            UsageError: shapes or names do not fit; nothing was opened.
            DomainError: a total could leave 63 bits by its bounds, or exceeds `reach`.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        parts, margins = self.parts, self.margins
        _check(parts)
        found = [suppress(limits.own, part, margins=margins) for part in parts]
        session, why = opener.session, None
        shown = ShownTables(
            tuple(
                ShownTable.of(members, each, margins=margins)
                for part, each in zip(parts, found, strict=True)
                for members in (part.members, *part.others)
            )
        )
        if session.role.other in recipients:  # else nobody else sees the part, nor whether it is safe
            why = refusal(limits.own, parts, found, self.axes)
        settle(opener, shown, why, recipients)
        flat = np.concatenate(
            [_flat(part, each, margins=margins) for part, each in zip(parts, found, strict=True)]
        )
        bounds = Bounds(0, max(self.reach, 1))
        both = [
            LinearInts.from_plain(session, flat if session.role is role else None, role, bounds, len(flat))
            for role in Role
        ]
        opened = opener.ints(both[0] + both[1], recipients, shown)
        if opened is None:
            return None
        pieces = opened.reshape(len(parts), -1)
        return [_table(piece, part, margins=margins) for piece, part in zip(pieces, parts, strict=True)]


def settle(
    opener: Opener, shown: ShownTables, why: DisclosureRefused | None, recipients: AbstractSet[Role]
) -> None:
    """Find out whether both sides let their parts be opened.

    Args:
        opener: all opening goes through it.
        shown: what is about to be shown of this side's part.
        why: what this side's limits say against it; None if nothing.
        recipients: who gets it.

    Raises:
        DisclosureRefused: a side does not; at both sides, and nothing was opened.
    """
    if opener.session.role.other in recipients and why is None and not opener.auditor.allows(shown):
        why = _together()
    if not opener.agree(Bit("whether a side's part of a table is opened"), answer=why is None):
        raise why or DisclosureRefused(
            "The other party does not let its part of the table be opened: too much of it would be "
            "withheld, or together with earlier exact tables it would reveal figures of few persons.",
            "Use fewer and larger groups, those of earlier jobs, or add noise to the job (epsilon).",
        )


def suppress(limits: Owned[Limits], part: TablePart, *, margins: bool) -> Suppression:
    """What this party's limits withhold of a part."""
    asked, crowds = limits.value, part.crowds
    primary = reduce(or_, _suspects(part, asked), np.zeros(part.counts.shape, dtype=np.bool_))
    roomy = (crowds.cover >= roomy_from(asked.minimum_group)) & ~primary
    zeros = asked.hides_zeros
    found = choose(primary, roomy, asked.minimum_group, margins=margins, zeros=zeros)
    room = (found.coefficients @ part.counts.reshape(-1) >= found.thresholds).all() and not any(
        lines.any()
        for each in part.weighed
        if asked.weighs
        for lines in each.heavy_lines(found, asked.dominance)
    )
    return found if room else found.without_room()


def refusal(
    limits: Owned[Limits], parts: Sequence[TablePart], found: Sequence[Suppression], axes: tuple[int, ...]
) -> DisclosureRefused | None:
    """Why this party's limits stand against the tables of a query as a whole; None where they do not.

    Args:
        limits: of this party.
        parts: of each table.
        found: what is withheld of each.
        axes: as of `TablesFigure`: a line along any of them tells the same, however the cells are laid out.
    """
    cells = sum(each.hidden.size for each in found)
    closed = sum(int(each.primary.sum()) for each in found)
    if closed > max(1, min(MAX_WITHHELD, int(cells * MOST_WITHHELD))):
        return DisclosureRefused(
            f"More than one cell in {MOST_WITHHELD.denominator}, or more than {MAX_WITHHELD}, would be "
            "withheld of this party's part: they have too few persons, or one of them dominates a sum.",
            "Use fewer and larger groups, or add noise to the job (epsilon).",
        )
    if limits.value.minimum_group > 1 and not limits.value.hides_zeros:
        there = np.stack([part.crowds.everybody > 0 for part in parts]).reshape(axes)
        if any((there.sum(axis=axis) == 1).any() for axis, cells in enumerate(axes) if cells > 1):
            return DisclosureRefused(
                "A row or column of this party's part has persons in one cell only, so the table would tell "
                "of all of them that they are in it.",
                "Use larger groups, or add noise to the job (epsilon).",
            )
    return None


def join_parts(sides: Sequence[TablePart], found: Sequence[Suppression], *, margins: bool) -> OpenedTable:
    """The reference of `TablesFigure.open`: what recipients get of a table, from the parts of both sides.

    Args:
        sides: the parts.
        found: what is withheld of each.
        margins: whether there are totals.
    """
    flat = [_flat(part, each, margins=margins) for part, each in zip(sides, found, strict=True)]
    return _table(np.add.reduce(flat), sides[0], margins=margins)


def _together() -> DisclosureRefused:
    return DisclosureRefused(
        "Together with exact tables that were released before this one would reveal figures of fewer "
        "persons than this party's policy allows, or a sum that one person dominates; or that could not be "
        "checked.",
        "Use the same groups and edges as before, or add noise to the job (epsilon).",
    )


def _check(parts: Sequence[TablePart]) -> None:
    shapes = {
        table.shape for part in parts for table in (*part.tables, part.crowds.fewest, part.crowds.cover)
    }
    if len(shapes) != 1 or len(shapes.pop()) != 2 or len({tuple(part.values) for part in parts}) != 1:
        raise UsageError(
            "The tables that are opened together have different shapes or names.",
            "Give every table the same rows and columns of cells.",
        )


def _suspects(part: TablePart, limits: Limits) -> Iterator[Mask]:
    """For each rule the cells that it withholds."""
    group = limits.minimum_group
    if group > 1:
        few: Mask = part.crowds.fewest < group
        nobody: Mask = part.crowds.least_shown == 0
        yield few | nobody if limits.hides_zeros else few & (part.crowds.fewest > 0)
    if limits.weighs:
        for each in part.weighed:
            yield each.heavy(limits.dominance)


def _over(most: Ints, total: Ints, part: Fraction) -> Mask:
    return np.array(
        most.astype(object) * part.denominator > total.astype(object) * part.numerator, dtype=np.bool_
    )


def _flat(part: TablePart, found: Suppression, *, margins: bool) -> Ints:
    """A part as one vector: which numbers are withheld, then these of each table, 0 where they are."""
    closed = found.hidden.reshape(-1)
    if margins:
        closed = np.concatenate([closed, ~found.rows, ~found.columns, [not found.total]])

    def numbers(table: Ints) -> Ints:
        totals = [table.sum(axis=1), table.sum(axis=0), [table.sum()]] if margins else []
        return np.concatenate([table.reshape(-1), *totals])

    return np.concatenate([closed, *(np.where(closed, 0, numbers(table)) for table in part.tables)])


def _table(flat: Ints, part: TablePart, *, margins: bool) -> OpenedTable:
    """The table of both sides in the sum of both sides' `_flat`."""
    rows, columns = part.counts.shape
    marks, *tables = flat.reshape(1 + len(part.tables), -1)
    shown = marks == 0
    tables = [np.where(shown, table, 0) for table in tables]
    ends = np.cumsum([rows * columns, rows, columns])
    cells = [np.split(table, ends)[0].reshape(rows, columns) for table in tables]
    names = list(part.values)
    if not margins:
        nothing = np.zeros(rows, np.bool_), np.zeros(columns, np.bool_), False
        open_cells = shown.reshape(rows, columns)
        return OpenedTable(open_cells, *nothing, cells[0], dict(zip(names, cells[1:], strict=True)))
    open_cells, *of_lines, of_all = np.split(shown, ends)
    totals = [
        Totals(of_rows, of_columns, int(whole[0]))
        for _, of_rows, of_columns, whole in (np.split(table, ends) for table in tables)
    ]
    return OpenedTable(
        open_cells.reshape(rows, columns),
        of_lines[0],
        of_lines[1],
        bool(of_all[0]),
        cells[0],
        dict(zip(names, cells[1:], strict=True)),
        totals[0],
        dict(zip(names, totals[1:], strict=True)),
    )
