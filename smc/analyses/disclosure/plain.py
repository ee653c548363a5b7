"""The reference of the opening of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.opened import Ints, OpenedTable, Totals, suppression_notes
from smc.analyses.disclosure.suppression import Mask, Suppression, choose, roomy_from


def plain_table(
    limits: Limits,
    counts: Sequence[Ints],
    *,
    persons: Sequence[Ints],
    cover: Sequence[Ints],
    values: Mapping[str, Sequence[Ints]] | None = None,
    largest: Mapping[str, Sequence[Ints]] | None = None,
    margins: bool = False,
    zeros: bool = False,
) -> OpenedTable:
    """What a recipient would get of `smc.analyses.disclosure.tables.open_table`, from parts in the clear."""
    cells = [np.atleast_2d(part) for part in counts]
    shape = cells[0].shape
    people = [np.reshape(part, shape) for part in persons]
    further = {name: [np.reshape(p, shape) for p in parts] for name, parts in (values or {}).items()}
    tops = {name: [np.reshape(p, shape) for p in parts] for name, parts in (largest or {}).items()}
    pairs = [(top, part) for name in tops for top, part in zip(tops[name], further[name], strict=True)]
    group = limits.minimum_group
    primary = np.zeros(shape, dtype=np.bool_)
    for part in people:
        primary |= (part < group) & ((part > 0) | zeros)
    for top, part in pairs:
        primary |= _over(top, part, limits.dominance)
    roomy = np.logical_and.reduce([np.reshape(part, shape) >= roomy_from(group) for part in cover]) & ~primary
    found = choose(primary, roomy, group, margins=margins, zeros=zeros)
    if len(found.thresholds):
        room = all((found.coefficients @ part.reshape(-1) >= found.thresholds).all() for part in cells)
        for axis, lines in found.lines:
            for top, part in pairs:
                heads, sums = (top * found.hidden).max(axis=axis), (part * found.hidden).sum(axis=axis)
                room = room and not _over(heads, sums, limits.dominance)[lines].any()
        found = found if room else found.without_room()
    table = sum(cells[1:], cells[0])
    joined = {name: sum(parts[1:], parts[0]) for name, parts in further.items()}
    return OpenedTable(
        ~found.hidden,
        found.rows,
        found.columns,
        found.total,
        np.where(found.hidden, 0, table),
        {name: np.where(found.hidden, 0, part) for name, part in joined.items()},
        _plain_totals(table, found) if margins else None,
        {name: _plain_totals(part, found) for name, part in joined.items()} if margins else {},
        suppression_notes(found, margins=margins),
    )


def _over(most: Ints, total: Ints, part: Fraction) -> Mask:
    return np.array(most * part.denominator > total * part.numerator)


def _plain_totals(table: Ints, found: Suppression) -> Totals:
    rows, columns = table.sum(axis=1) * found.rows, table.sum(axis=0) * found.columns
    return Totals(rows, columns, int(table.sum()) if found.total else 0)
