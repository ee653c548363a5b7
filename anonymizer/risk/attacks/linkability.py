"""Linkability: does the release tell which two halves of what is known belong to one person?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.errors import TableError
from anonymizer.risk.attacks.outcome import Attack, Rate
from anonymizer.risk.attacks.rows import Nearest, Rows, align_rows, shared_columns
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table


def linkability(
    original: Table,
    release: Table,
    control: Table | None = None,
    *,
    known: tuple[Sequence[str], Sequence[str]] | None = None,
    attempts: int = 2000,
    neighbours: int = 1,
    level: float = 0.95,
    random_state: int | None = None,
) -> Attack:
    """Attack with two sources that know different columns of a target.

    Each source looks for the released rows nearest to what it knows, all that tie; the attempt succeeds if a
    row is nearest for both. Where m rows are, the attacker guesses one of them, and the attempt counts 1 / m:
    a row of a class of k alike is a link to k people. The naive rate joins the halves of two different
    targets.

    Args:
        original: the rows that the release was made of.
        release: what is attacked.
        control: rows from the same source that the release was not made of.
        known: the columns of each source; None deals the shared columns out in turn.
        attempts: targets from each table, at least 1; no more than its rows.
        neighbours: rows as near as this nearest one count.
        level: of the intervals.
        random_state: None is the operating system's randomness.

    Raises:
        TableError: a table is empty, a column is missing, or a source knows none.

    Reference: Giomi et al., PETS 2023, section 4.2.
    """
    if known is None:
        shared = shared_columns(original, release)
        known = shared[::2], shared[1::2]
    first, second = tuple(known[0]), tuple(known[1])
    if not first or not second:
        raise TableError("A source of the linkability attack knows no column.", "Give each at least one.")
    others = (original,) if control is None else (original, control)
    released, *groups = align_rows(release, others, (*first, *second))
    halves = range(len(first)), range(len(first), len(first) + len(second))
    finders = [Nearest(released.only(half)) for half in halves]
    randomness = Randomness(random_state, "linkability")
    rates, naive = [], Rate(0, 0)
    for group in groups:
        targets = group.take(randomness.sample(len(group), attempts))
        sides = [targets.only(half) for half in halves]
        rates.append(_link(finders, sides, neighbours))
        if len(rates) == 1:
            shifted = sides[1].take(np.roll(np.arange(len(targets)), 1))
            naive = _link(finders, [sides[0], shifted], neighbours)
    return Attack("linkability", rates[0], rates[1] if len(rates) > 1 else None, naive, level)


def _link(finders: Sequence[Nearest], sides: Sequence[Rows], neighbours: int) -> Rate:
    hits = 0.0
    found = [finder.near(side, neighbours) for finder, side in zip(finders, sides, strict=True)]
    for (_, left), (_, right) in zip(*found, strict=True):
        both = (left & right).sum(axis=1)
        hits += float((1 / both[both > 0]).sum())
    return Rate(hits, len(sides[0]))
