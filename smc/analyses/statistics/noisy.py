"""Statistics with noise: own sums, noise that neither party knows, and one opening for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from smc.analyses.disclosure.release import Release
from smc.analyses.statistics.plan import Planned
from smc.analyses.statistics.rows import Ints, Rows
from smc.analyses.statistics.statistic import Result
from smc.analyses.statistics.suppression import withhold, withhold_cost
from smc.analyses.statistics.tables import Cells
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.protocols.session import Session
from smc.protocols.spec import Cost
from smc.secret import noise, opening
from smc.secret.law import Law

WITHHELD = "Some results were withheld: their noisy counts are below the policies' minimum_group."


def local(planned: Planned, rows: Rows) -> Ints:
    """The own entries, shape (groups, entries)."""
    if not planned.query.by:
        return planned.statistic.local(rows)[None]
    column = rows.columns[planned.query.by]
    return np.stack([planned.statistic.local(rows.where(column == code)) for code in planned.codes])


def group_sizes(planned: Planned, rows: Rows) -> Ints:
    """The own rows of each group."""
    if not planned.query.by:
        return np.array([rows.count])
    return np.array([(rows.columns[planned.query.by] == code).sum() for code in planned.codes])


def opened(
    session: Session,
    plans: Sequence[Planned],
    rows: Rows,
    least: int,
    recipients: frozenset[Role],
    release: Release,
) -> list[Ints] | None:
    """Add up, add noise, withhold and open.

    Args:
        session: the own side of the run.
        plans: the statistics.
        rows: the own rows.
        least: rows that every result is about at least; 0 for no limit.
        recipients: who gets the results.
        release: opens them.

    Returns:
        For each statistic what was opened, shape (groups, entries); None for a party that is no recipient.
    """
    session.report("noise", 0, 1)
    drawn = noise.draw(session, _laws(plans))
    session.report("noise", 1, 1)
    words = []
    start = 0
    for done, planned in enumerate(plans):
        session.report("statistics", done, len(plans))
        groups = len(planned.groups)
        middle = start + groups * len(planned.statistic.laws)
        own = drawn[start:middle].reshape(groups, -1)
        found = planned.statistic.combine(session, local(planned, rows), own)
        start = middle
        if planned.count_law is not None:
            counts = group_sizes(planned, rows).view(np.uint64) + drawn[start : start + groups]
            found = np.column_stack([found, counts])
            start += groups
        words.append(found.reshape(-1))
    session.report("statistics", len(plans), len(plans))
    together = np.concatenate(words)
    if least:
        together = withhold(session, together, _counts(plans), least)
    values = release.words(session, together, recipients)
    if values is None:
        return None
    ends = np.cumsum([planned.words for planned in plans])[:-1]
    return [
        part.view(np.int64).reshape(len(planned.groups), -1)
        for planned, part in zip(plans, np.split(values, ends), strict=True)
    ]


def exact(planned: Planned, sides: Sequence[Rows]) -> Ints:
    """What would be opened without noise, from the rows of both sides."""
    return planned.statistic.exact(np.sum([local(planned, rows) for rows in sides], axis=0))


def results(
    planned: Planned, entries: Ints, random: Randomness, *, noisy: bool, least: int
) -> list[tuple[str | None, Result]]:
    """Each group with its result.

    Args:
        planned: the statistic.
        entries: what was opened, shape (groups, entries).
        random: for simulations.
        noisy: whether there is noise in it.
        least: rows that every result is about at least; 0 for no limit.
    """
    statistic = planned.statistic
    laws = statistic.laws if noisy else ()
    found: list[tuple[str | None, Result]] = []
    for group, row in zip(planned.groups, entries.tolist(), strict=True):
        own = row[: statistic.size]
        if least and isinstance(statistic, Cells):
            result = statistic.result([entry or None for entry in own], laws, random)
            if not all(own):
                result = replace(result, notes=(*result.notes, WITHHELD))
        elif least and not row[-1]:
            result = Result(notes=(WITHHELD,))
        else:
            result = statistic.result(own, laws, random)
        found.append((group, result))
    return found


def cost(plans: Sequence[Planned], least: int, recipients: frozenset[Role]) -> Cost:
    """The exact cost of `opened`, without the set-up of oblivious transfer and what the gate sends."""
    total = noise.cost(_laws(plans))
    for planned in plans:
        total += planned.statistic.combine_cost(len(planned.groups))
    if least:
        total += withhold_cost(_counts(plans), least)
    return total + opening.cost(sum(planned.words for planned in plans), recipients)


def _laws(plans: Sequence[Planned]) -> list[Law]:
    return [law for planned in plans for law in planned.laws]


def _counts(plans: Sequence[Planned]) -> Ints:
    """For each opened number, which one counts the rows that it is about."""
    places = []
    start = 0
    for planned in plans:
        width = planned.words // len(planned.groups)
        own = planned.statistic.counts or (width - 1,) * width
        firsts = start + width * np.arange(len(planned.groups))
        places.append((firsts[:, None] + np.array(own)).reshape(-1))
        start += planned.words
    return np.concatenate(places)
