"""Figures about an intersection that itself stays secret: its size, sums over it, or shares of it.

The rows of both sides are aligned in secret (`smc.secret.circuit_psi`); sums over the slots are sums over the
intersection, as everything else is zero. What the policies ask is tested in secret before anything is opened
by the release.

With epsilon the size and every sum get discrete Laplace noise that neither party knows, from equal parts of
epsilon; values are clamped to their bounds first. Neighbouring inputs have one row of a side replaced, as the
numbers of rows are public (`smc.analyses.studies.neighbours`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.crowds import BESIDE_BOUNDS, off_bounds
from smc.analyses.disclosure.figures import Groups, Noisy, Shares, Size, Sum
from smc.analyses.disclosure.persons import check_one_row_each
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.aggregates.checks import check_room, counts_persons
from smc.analyses.matching.aggregates.parameters import (
    SHARES,
    SIZE,
    STATISTICS,
    AggregateParameters,
    declared,
    distributions,
)
from smc.analyses.matching.aggregates.tables import results, share_outcome
from smc.analyses.records.joint_keys import HashedRows, key_rows
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role
from smc.protocols.exchange.bounds import Declared, exchange_declarations
from smc.protocols.session import Session
from smc.secret import majority, noise
from smc.secret.bounds import Bounds
from smc.secret.circuit_psi import Aligned, align
from smc.secret.ints import SecretInts, concatenate
from smc.secret.laplace import DiscreteLaplace


def run(
    parameters: AggregateParameters,
    session: Session,
    data: Data,
    recipients: frozenset[Role],
    release: Release,
) -> Outcome:
    """The joint run, one side.

    Args:
        parameters: as parsed.
        session: this side.
        data: the local columns.
        recipients: who gets the results.
        release: opens them.

    Raises:
        DisclosureRefused: a limit stands against the run or its result, at both sides; nothing was opened.
        DomainError: keys repeat or are missing, several rows are about one person where limits or noise count
            persons, a sum could leave 63 bits, or a value lies outside its bounds.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    rows, peer_count = key_rows(session, parameters.keys, data, release)
    if counts_persons(parameters, release):
        check_one_row_each(rows.persons)
    every = _exchanged(session, parameters, rows.data)
    bounds = tuple(Bounds(each.lower, each.upper) for each in every)
    noises = distributions(parameters, bounds)
    # No more rows can match than the smaller side has; sums and weights have to fit for that many.
    most = min(len(rows.keys), peer_count)
    exact_sums = parameters.epsilon is None and parameters.output == STATISTICS
    weighs = release.weighs and exact_sums
    check_room(bounds, noises, most, release.weight_factor if weighs else 1)
    # Beside its values a party brings what the limits are tested on: absolute values where a column has
    # negative ones, and marks of the rows that stand apart from the rest.
    signed = tuple(place for place, each in enumerate(bounds) if each.lower < 0) if weighs else ()
    counted = tuple(range(len(bounds))) if release.counts_groups and exact_sums else ()
    marks = [BESIDE_BOUNDS + bounds[i].span_bits for i in counted]
    further = (*signed, *np.repeat(counted, marks).tolist())
    sides = [value.side for value in parameters.values] + [parameters.values[i].side for i in further]
    spans = [*bounds, *(Bounds(0, bounds[i].magnitude) for i in signed)]
    spans += [Bounds(0, 1)] * sum(marks)
    aligned = align(
        session,
        rows.keys,
        peer_count,
        _local_columns(session.role, parameters, rows, bounds, signed, counted),
        *([span for span, side in zip(spans, sides, strict=True) if side is role] for role in Role),
    )
    # Each party's columns come in the order of the job; taking the next of its side puts them together again.
    brought = {Role.ALICE: iter(aligned.alice), Role.BOB: iter(aligned.bob)}
    columns = [next(brought[side]) for side in sides]
    values, rest = columns[: len(every)], columns[len(every) :]
    absolutes = dict(zip(signed, rest[: len(signed)], strict=True))
    member = SecretInts.from_bits(aligned.member)
    figures = [aligned.total(member), *(aligned.total(column) for column in values)]
    apart = _apart(aligned, figures[0], rest[len(signed) :], marks)
    if noises:
        figures = _noisy(session, figures, noises)
    size = figures[0]
    # With epsilon this is the noisy size, as the loss covers nothing else.
    release.intersection(lambda: (size,))
    if parameters.output == SHARES:
        release.persons(size)
        release.admit(Shares())
        return share_outcome(parameters, [column.shares for column in (member, *values)], every)
    compared = [absolutes.get(place, column) for place, column in enumerate(values)] if weighs else []
    about = _about(parameters, size, [Sum(aligned.total(column), column) for column in compared], apart)
    opened = release.open(size if parameters.output == SIZE else concatenate(figures), recipients, about)
    return results(parameters, every, None if opened is None else opened.tolist(), noises)


def _about(
    parameters: AggregateParameters, size: SecretInts, sums: Sequence[Sum], apart: Sequence[SecretInts]
) -> Groups | Noisy | Size:
    """What the figures are about: a size on its own is tested as an intersection, and not as a group."""
    if parameters.epsilon is not None:
        return Noisy(persons=() if parameters.output == SIZE else (size,))
    return Size() if parameters.output == SIZE else Groups((size,), sums, apart)


def _exchanged(session: Session, parameters: AggregateParameters, data: Data) -> list[Declared]:
    """The declarations of all values of both sides, in the order of the job."""
    if not parameters.values:
        return []
    local = [
        declared(value, data[value.column].schema, clamped=parameters.epsilon is not None)
        for value in parameters.values
        if value.side is session.role
    ]
    theirs = exchange_declarations(session, local, len(parameters.values) - len(local))
    sides = {session.role: iter(local), session.role.other: iter(theirs)}
    return [next(sides[value.side]) for value in parameters.values]


def _local_columns(
    role: Role,
    parameters: AggregateParameters,
    rows: HashedRows,
    bounds: Sequence[Bounds],
    signed: Sequence[int],
    counted: Sequence[int],
) -> NDArray[np.int64]:
    """Local values, clamped if there is noise, then absolute ones, then marks of who stands apart; (n, c)."""
    columns: dict[int, NDArray[np.int64]] = {}
    for place, (value, each) in enumerate(zip(parameters.values, bounds, strict=True)):
        if value.side is role:
            column = rows.column(value.column)
            noisy = parameters.epsilon is not None
            columns[place] = np.clip(column, each.lower, each.upper) if noisy else column
    chosen = [*columns.values(), *(np.abs(columns[place]) for place in signed if place in columns)]
    for place in counted:
        if place in columns:
            chosen += off_bounds(columns[place], (bounds[place].lower, bounds[place].upper))
            chosen += majority.digits(columns[place], bounds[place])
    return np.array(chosen, dtype=np.int64).reshape(len(chosen), len(rows.keys)).T


def _apart(
    aligned: Aligned, size: SecretInts, columns: Sequence[SecretInts], marks: Sequence[int]
) -> list[SecretInts]:
    """How many matches stand apart in each sum: from its bounds, and from what most of the matches have.

    Args:
        aligned: the rows.
        size: of the intersection.
        columns: `BESIDE_BOUNDS` marks of each sum, then the digits of its values.
        marks: how many columns each sum has.
    """
    ends = np.cumsum([0, *marks]).tolist()
    groups = [columns[start:end] for start, end in pairwise(ends)]
    found = [aligned.total(column) for group in groups for column in group[:BESIDE_BOUNDS]]
    return found + majority.differing(aligned.member, size, [group[BESIDE_BOUNDS:] for group in groups])


def _noisy(
    session: Session, figures: Sequence[SecretInts], noises: Sequence[DiscreteLaplace]
) -> list[SecretInts]:
    drawn = noise.draw(session, noises)
    return [
        figure
        + SecretInts.from_shares(
            session, drawn[place : place + 1], Bounds(-distribution.bound, distribution.bound)
        )
        for place, (figure, distribution) in enumerate(zip(figures, noises, strict=True))
    ]
