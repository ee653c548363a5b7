"""Statistics with noise: local sums, noise that neither party knows, and one opening for all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smc.analyses.disclosure.figures import Noisy
from smc.analyses.disclosure.release import Release
from smc.analyses.statistics.kinds.statistic import Word
from smc.analyses.statistics.plans.planned import Planned
from smc.analyses.statistics.queries.rows import Ints, LocalRows, Sampling, check_count, rows_by_condition
from smc.analyses.studies.columns import Data
from smc.analyses.studies.totals import SummedRows
from smc.forms import Role
from smc.protocols.coins import toss
from smc.protocols.session import Session
from smc.secret.linear_ints import LinearInts
from smc.secret.noise import noise
from smc.secret.noise.distribution import Distribution
from smc.secret.sharing.bounds import LIMIT, Bounds


def local(planned: Planned, rows: LocalRows) -> Ints:
    """The local entries, shape (groups, entries); last comes the extra count, if there is one."""
    found = count_rows(planned, rows)
    return found if planned.count_distribution is not None else np.ascontiguousarray(found[:, :-1])


def count_rows(planned: Planned, rows: LocalRows) -> Ints:
    """The local entries of each group and the number of its rows."""
    groups = [rows]
    if planned.query.by:
        keys = [rows.columns[name] for name in planned.query.by]
        groups = [
            rows.where(np.logical_and.reduce([key == code for key, code in zip(keys, codes, strict=True)]))
            for codes in planned.codes
        ]
    entries = np.stack([planned.statistic.local(group) for group in groups])
    return np.column_stack([entries, [group.count for group in groups]])


def local_entries(parameters: Sampling, plans: Sequence[Planned], data: Data) -> list[Ints]:
    """Of each query the local entries, as `local` has them: of rows, or of what was added up of them.

    Raises:
        DomainError: as `LocalRows.of`.
    """
    if isinstance(data, SummedRows):
        if data.refusal is not None:
            raise data.refusal
        check_count(parameters, data.rows)
        return [
            entries if planned.count_distribution is not None else np.ascontiguousarray(entries[:, :-1])
            for planned, entries in zip(plans, data.entries, strict=True)
        ]
    rows = rows_by_condition(parameters, data, [planned.where for planned in plans])
    return [local(planned, rows[planned.where]) for planned in plans]


def noisy_words(session: Session, plans: Sequence[Planned], own: Sequence[Ints]) -> Word:
    """Add noise.

    Args:
        session: this side of the run.
        plans: the statistics.
        own: of each the local part of its entries, as `local` has them; what is wanted is of the sums of both
            sides' parts modulo 2**64.

    Returns:
        Own shares of what is to be opened, one statistic after the other.
    """
    session.report("noise", 0, 1)
    drawn = noise.draw(session, _distributions(plans))
    session.report("noise", 1, 1)
    words = []
    start = 0
    for done, (planned, entries) in enumerate(zip(plans, own, strict=True)):
        session.report("statistics", done, len(plans))
        groups = len(planned.groups)
        middle = start + groups * len(planned.statistic.distributions)
        extra = planned.count_distribution is not None
        summed = np.ascontiguousarray(entries[:, :-1]) if extra else entries
        found = planned.statistic.combine(session, summed, drawn[start:middle].reshape(groups, -1))
        start = middle
        if extra:
            counts = entries[:, -1].view(np.uint64) + drawn[start : start + groups]
            found = np.column_stack([found, counts])
            start += groups
        words.append(found.reshape(-1))
    session.report("statistics", len(plans), len(plans))
    return np.concatenate(words)


def simulation_seed(session: Session, plans: Sequence[Planned]) -> bytes:
    """Toss the public seed of all simulated figures, if there are any; before anything is opened.

    Both parties take part, whoever receives. The seed is for simulations only and never for noise.

    Returns:
        The same at both sides; empty if nothing is simulated.
    """
    return toss(session) if _simulate(plans) else b""


def open_noisy(
    session: Session,
    plans: Sequence[Planned],
    words: Word,
    recipients: frozenset[Role],
    release: Release,
    *,
    rows_per_person: int = 1,
) -> list[Ints] | None:
    """Withhold what is about too few rows, and open the rest.

    Args:
        session: this side of the run.
        plans: the statistics.
        words: local shares of their noisy entries.
        recipients: who gets the results.
        release: withholds what is about too few rows, and opens the rest.
        rows_per_person: the most rows that one person has.

    Returns:
        For each statistic what was opened, shape (groups, entries); None for a party that is not a recipient.
    """
    secret = LinearInts.from_shares(session, words, Bounds(1 - LIMIT // 2, LIMIT // 2 - 1))
    values = release.open(secret, recipients, Noisy(_counts(plans), rows_per_person))
    if values is None:
        return None
    ends = np.cumsum([planned.words for planned in plans])[:-1]
    return [
        part.reshape(len(planned.groups), -1)
        for planned, part in zip(plans, np.split(values, ends), strict=True)
    ]


def biased_bits(plans: Sequence[Planned]) -> int:
    """From how many biased bits the noise is drawn."""
    return noise.biased_bits(_distributions(plans))


def _simulate(plans: Sequence[Planned]) -> bool:
    return any(planned.statistic.simulates for planned in plans)


def _distributions(plans: Sequence[Planned]) -> list[Distribution]:
    return [distribution for planned in plans for distribution in planned.distributions]


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
