"""Figures about an intersection that itself stays secret: its size, sums over it, or shares of it.

The rows of both sides are aligned in secret (`smc.secret.joins.circuit_psi`); sums over the slots are sums
over the intersection, as everything else is zero. What the policies ask is tested in secret before anything
is opened by the release.

With epsilon the size and every sum get discrete Laplace noise that neither party knows, from equal parts of
epsilon; values are clamped to their bounds first. Neighbouring inputs have one row of a side replaced, as the
numbers of rows are public (`smc.analyses.studies.neighbours`).
"""

from __future__ import annotations

from collections.abc import Sequence

from smc.analyses.disclosure.figures import Groups, Noisy, Shares, Size, Sum
from smc.analyses.disclosure.persons import check_one_row_each
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.aggregates.checks import check_room, counts_persons
from smc.analyses.matching.aggregates.columns import FigureColumns, count_apart, exchange_declared
from smc.analyses.matching.aggregates.parameters import SHARES, SIZE, AggregateParameters, distributions
from smc.analyses.matching.aggregates.tables import results, share_outcome
from smc.analyses.records.joint_keys import key_rows
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.joins.circuit_psi import align
from smc.secret.linear_ints import LinearInts, concatenate
from smc.secret.noise import noise
from smc.secret.noise.laplace import DiscreteLaplace
from smc.secret.sharing.bounds import Bounds


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
    every = exchange_declared(session, parameters, rows.data)
    brought = FigureColumns.of(parameters, every, weighs=release.weighs, counts=release.counts_groups)
    noises = distributions(parameters, brought.bounds)
    # No more rows can match than the smaller side has; sums and weights have to fit for that many.
    most = min(len(rows.keys), peer_count)
    check_room(brought.bounds, noises, most, release.weight_factor if brought.weighs else 1)
    aligned = align(
        session,
        rows.keys,
        peer_count,
        brought.local(session.role, len(rows.keys), rows.column),
        *(brought.spans(role) for role in Role),
    )
    columns = brought.group({Role.ALICE: aligned.alice, Role.BOB: aligned.bob})
    member = LinearInts.from_bits(aligned.member)
    figures = [aligned.total(member), *(aligned.total(column) for column in columns.values)]
    marks = [columns.marks[place] for place in sorted(columns.marks)]
    distinguished = count_apart(aligned.member, figures[0], aligned.total, marks)
    if noises:
        figures = _noisy(session, figures, noises)
    size = figures[0]
    # With epsilon this is the noisy size, as the loss covers nothing else.
    release.intersection(lambda: (size,))
    if parameters.output == SHARES:
        release.persons(size)
        release.admit(Shares())
        return share_outcome(parameters, [column.shares for column in (member, *columns.values)], every)
    sums = brought.sums(columns, dict.fromkeys(Role, member), aligned.total)
    about = _about(parameters, size, sums, distinguished)
    opened = release.open(size if parameters.output == SIZE else concatenate(figures), recipients, about)
    return results(parameters, every, None if opened is None else opened.tolist(), noises)


def _about(
    parameters: AggregateParameters,
    size: LinearInts,
    sums: Sequence[Sum],
    distinguished: Sequence[LinearInts],
) -> Groups | Noisy | Size:
    """What the figures are about: a size on its own is tested as an intersection, and not as a group."""
    if parameters.epsilon is not None:
        return Noisy(persons=() if parameters.output == SIZE else (size,))
    return Size() if parameters.output == SIZE else Groups((size,), sums, distinguished)


def _noisy(
    session: Session, figures: Sequence[LinearInts], noises: Sequence[DiscreteLaplace]
) -> list[LinearInts]:
    drawn = noise.draw(session, noises)
    return [
        figure
        + LinearInts.from_shares(
            session, drawn[place : place + 1], Bounds(-distribution.bound, distribution.bound)
        )
        for place, (figure, distribution) in enumerate(zip(figures, noises, strict=True))
    ]
