"""Figures about an intersection that itself stays secret: its size, sums over it, or shares of it.

The rows of both sides are aligned in secret (`smc.secret.circuit_psi`); sums over the slots are sums over the
intersection, as everything else is zero. What the policies ask is tested in secret before anything is opened
by the release.

With epsilon the size and every sum get discrete Laplace noise that neither party knows, from equal parts of
epsilon; values are clamped to their bounds first. Neighbouring inputs have one row of a side replaced, as the
numbers of rows are public (`smc.analyses.neighbours`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from smc.analyses.columns import PERSONS, Data, Schema
from smc.analyses.disclosure.crowds import BESIDE_BOUNDS, off_bounds
from smc.analyses.disclosure.figures import Groups, Noisy, Shares, Size, Sum
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.persons import check_one_row_each
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.aggregates.parameters import (
    SHARES,
    SIZE,
    STATISTICS,
    AggregateParameters,
    declared,
    distributions,
)
from smc.analyses.matching.aggregates.tables import results, share_outcome
from smc.analyses.outcome import Outcome
from smc.forms import Role
from smc.protocols.exchange.bounds import Declared, exchange_declarations
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.session import Session
from smc.secret import majority, noise
from smc.secret.bounds import Bounds
from smc.secret.circuit_psi import Aligned, align
from smc.secret.ints import SecretInts, concatenate
from smc.secret.laplace import DiscreteLaplace

Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Brought:
    """The rows that a side brings to a matching.

    Attributes:
        keys: distinct, shape (n, 2): hashed to 128 bits under a salt of the run.
        numbers: the row of the data set that each key stands for, from 0, shape (n,).
        data: the local columns.
    """

    keys: Keys
    numbers: NDArray[np.int64]
    data: Data

    @property
    def persons(self) -> NDArray[np.int64] | None:
        """Whom each row is about; None where each row is a person of its own."""
        return self.data[PERSONS].array[self.numbers] if PERSONS in self.data else None

    def column(self, name: str) -> NDArray[np.int64]:
        """The values that go with the keys."""
        return self.data[name].array[self.numbers]


def run_aggregates(
    session: Session,
    parameters: AggregateParameters,
    rows: Brought,
    peer_count: RowCount,
    recipients: frozenset[Role],
    release: Release,
) -> Outcome:
    """The joint run, one side, after the row counts have been exchanged and checked.

    Args:
        session: this side.
        parameters: as parsed.
        rows: the local rows.
        peer_count: rows of the peer.
        recipients: who gets the results.
        release: opens them.

    Raises:
        DisclosureRefused: a limit stands against the result, at both sides; nothing else was opened.
        DomainError: several rows are about one person where limits or noise count persons, a sum could
            leave 63 bits, or a value lies outside its bounds.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    if _counts_persons(parameters, release):
        check_one_row_each(rows.persons)
    every = _exchanged(session, parameters, rows.data)
    bounds = tuple(Bounds(each.lower, each.upper) for each in every)
    noises = distributions(parameters, bounds)
    most = min(len(rows.keys), peer_count)
    exact_sums = parameters.epsilon is None and parameters.output == STATISTICS
    weighs = release.weighs and exact_sums
    _check_room(bounds, noises, most, release.weight_factor if weighs else 1)
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
        _own_columns(session.role, parameters, rows, bounds, signed, counted),
        *([span for span, side in zip(spans, sides, strict=True) if side is role] for role in Role),
    )
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
    release.intersection(lambda: (size,))
    if parameters.output == SHARES:
        release.persons(size)
        release.admit(Shares())
        return share_outcome(parameters, [column.shares for column in (member, *values)], every)
    compared = [absolutes.get(place, column) for place, column in enumerate(values)] if weighs else []
    about = _about(parameters, size, [Sum(aligned.total(column), column) for column in compared], apart)
    opened = release.open(size if parameters.output == SIZE else concatenate(figures), recipients, about)
    return results(parameters, every, None if opened is None else opened.tolist(), noises)


def plain_aggregates(
    parameters: AggregateParameters,
    keys: tuple[Sequence[Hashable], Sequence[Hashable]],
    numbers: tuple[NDArray[np.int64], NDArray[np.int64]],
    data: tuple[Data, Data],
    recipients: frozenset[Role],
) -> tuple[Outcome, Outcome]:
    """The reference: exact figures; of shares, Alice has the values of the matches and Bob zeros.

    Args:
        parameters: as parsed.
        keys: Alice's and Bob's, distinct; of any kind that compares alike on both sides.
        numbers: the row that each key stands for.
        data: their columns.
        recipients: who gets the results.
    """
    places = {key: place for place, key in enumerate(keys[1])}
    common = [(place, places[key]) for place, key in enumerate(keys[0]) if key in places]
    pairs = np.array(common, dtype=np.int64).reshape(-1, 2)
    every, values = [], []
    for value in parameters.values:
        side = list(Role).index(value.side)
        column = data[side][value.column]
        every.append(declared(value, column.schema, clamped=parameters.epsilon is not None))
        chosen = column.array[numbers[side][pairs[:, side]]]
        bounded = parameters.epsilon is not None
        values.append(np.clip(chosen, every[-1].lower, every[-1].upper) if bounded else chosen)
    if parameters.output == SHARES:
        first = [np.ones(len(pairs), dtype=np.int64), *values]
        alice, bob = (
            share_outcome(parameters, [column.view(np.uint64) * np.uint64(factor) for column in first], every)
            for factor in (1, 0)
        )
        return alice, bob
    figures = [len(pairs), *(int(value.sum()) for value in values)]
    alice, bob = (results(parameters, every, figures if role in recipients else None, ()) for role in Role)
    return alice, bob


def _counts_persons(parameters: AggregateParameters, release: Release | Limits) -> bool:
    """Whether limits that apply, or epsilon, are about persons and not about rows."""
    limited = parameters.output != SIZE and (release.counts_groups or release.weighs)
    return limited or parameters.epsilon is not None


def check_own(
    parameters: AggregateParameters,
    numbers: NDArray[np.int64],
    data: Data,
    role: Role,
    limits: Limits,
    peer: Mapping[str, Schema] | None,
) -> None:
    """Check what a run would refuse of one side's rows.

    Args:
        parameters: as parsed.
        numbers: the rows that take part, from 0.
        data: the columns of this side.
        role: which side it is.
        limits: of disclosure, as far as they are known.
        peer: the declarations of the peer's columns; None where they are not known.

    Raises:
        DomainError: as `run_aggregates`.
        UsageError: values are not numbers, bounds of the job do not fit the declared ones, or no noise does.
        DisclosureRefused: there are fewer rows than the smallest group.
    """
    if _counts_persons(parameters, limits):
        check_one_row_each(data[PERSONS].array[numbers] if PERSONS in data else None)
    weighs = limits.weighs and parameters.epsilon is None and parameters.output == STATISTICS
    own = {name: column.schema for name, column in data.items()}
    for side, schemas, most in (
        (role, own, len(numbers)),
        (role.other, peer, limits.fewest_matchable(len(numbers))),
    ):
        values = [value for value in parameters.values if value.side is side and schemas is not None]
        every = [
            declared(v, (schemas or {})[v.column], clamped=parameters.epsilon is not None) for v in values
        ]
        bounds = [Bounds(each.lower, each.upper) for each in every]
        _check_room(
            bounds, distributions(parameters, tuple(bounds)), most, limits.weight_factor if weighs else 1
        )
    if parameters.epsilon is None and parameters.output != SIZE:
        limits.check_persons(len(numbers))


def _about(
    parameters: AggregateParameters, size: SecretInts, sums: Sequence[Sum], apart: Sequence[SecretInts]
) -> Groups | Noisy | Size:
    """What the figures are about: a size on its own is tested as an intersection, and not as a group."""
    if parameters.epsilon is not None:
        return Noisy(persons=() if parameters.output == SIZE else (size,))
    return Size() if parameters.output == SIZE else Groups((size,), sums, apart)


def _check_room(bounds: Sequence[Bounds], noises: Sequence[DiscreteLaplace], most: int, factor: int) -> None:
    """Check, before rows are aligned, that no sum and no test of a limit can leave 63 bits.

    Args:
        bounds: of every value.
        noises: of the size and of every sum; empty if they are exact.
        most: the largest size that the intersection can have.
        factor: by which sums are multiplied in tests.

    Raises:
        DomainError: one could.
    """
    reach = [distribution.bound for distribution in noises[1:]] or [0] * len(bounds)
    for each, most_noise in zip(bounds, reach, strict=True):
        Bounds(0, 2 * factor * max(1, most) * each.magnitude + most_noise).fit("sum over the intersection")


def _exchanged(session: Session, parameters: AggregateParameters, data: Data) -> list[Declared]:
    """The declarations of all values of both sides, in the order of the job."""
    if not parameters.values:
        return []
    own = [
        declared(value, data[value.column].schema, clamped=parameters.epsilon is not None)
        for value in parameters.values
        if value.side is session.role
    ]
    theirs = exchange_declarations(session, own, len(parameters.values) - len(own))
    sides = {session.role: iter(own), session.role.other: iter(theirs)}
    return [next(sides[value.side]) for value in parameters.values]


def _own_columns(
    role: Role,
    parameters: AggregateParameters,
    rows: Brought,
    bounds: Sequence[Bounds],
    signed: Sequence[int],
    counted: Sequence[int],
) -> NDArray[np.int64]:
    """Own values, clamped if there is noise, then absolute ones, then marks of who is told apart; (n, c)."""
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
    """How many matches each sum tells apart: from its bounds, and from what most of the matches have.

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
