"""Exact figures about the pairs of a tolerant matching, one side; the pairs stay secret.

    pairing, one to one          -->  XOR shares, for each row of either side, of whether it has a partner
    those bits times the values  -->  shared columns, zero where a row has none
    their sums                   -->  the figures

A sum over the pairs is one over the rows of a single side, as every row is in one pair at most. So no value
travels to its pair: its side multiplies it by the bit of its row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.figures import Groups, Size
from smc.analyses.disclosure.persons import check_one_row_each
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.aggregates.checks import check_room, counts_persons
from smc.analyses.matching.aggregates.columns import FigureColumns, count_apart, exchange_declared
from smc.analyses.matching.aggregates.parameters import SIZE
from smc.analyses.matching.aggregates.tables import results
from smc.analyses.matching.linked.parameters import LinkedParameters
from smc.analyses.matching.tolerant.outcome import details_of
from smc.analyses.matching.tolerant.preview import preview_rows
from smc.analyses.matching.tolerant.records import count_rows, prepare, read_texts
from smc.analyses.matching.tolerant.run import one_to_one
from smc.analyses.studies.columns import PERSONS, Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role
from smc.protocols.exchange.bounds import Declared
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.comparison import mux
from smc.secret.linear_ints import LinearInts, concatenate
from smc.secret.sharing.bounds import Bounds

_NOTHING = Bounds(0, 0)
_LIKELY: Final = (
    "Rows were paired by likeness: a wrong pair counts like a right one, and a pair that is missed does not "
    "count. The figures are exact about the pairs that were made, not about the persons in common."
)


def run(
    parameters: LinkedParameters,
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
        DomainError: the local columns do not fit, too many rows are left out, several rows are about one
            person where limits count persons, a sum could leave 63 bits, or a value lies outside its bounds.
        DisclosureRefused: a limit stands against the run or its result, at both sides; nothing was opened.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    matching, figures = parameters.matching, parameters.figures
    local = count_rows(matching, data)
    texts = read_texts(matching, data)
    # Checked once more, on the rows that are there now and before anything is sent.
    preview_rows(matching, texts, local).require()
    if counts_persons(figures, release):
        check_one_row_each(data[PERSONS].array if PERSONS in data else None)
    (peer,) = exchange_counts(session, [local])
    release.sets(local, peer)
    every = exchange_declared(session, figures, data)
    counts = {session.role: local, session.role.other: peer}
    most = min(counts.values())
    brought = FigureColumns.of(figures, every, weighs=release.weighs, counts=release.counts_groups)
    check_room(brought.bounds, (), most, release.weight_factor if brought.weighs else 1)
    # Without rows on one side there is nothing to compare in secret, and both know that.
    if not most:
        release.intersection(lambda: (0,))
        release.admit(Size() if figures.output == SIZE else Groups((0,)))
        shown = [0] * (1 + len(every)) if session.role in recipients else None
        return outcome(parameters, counts, every, shown)
    values = _values(session, brought, counts, data)
    session.report("encode", 0, 1)
    records = prepare(matching, texts, matching.buckets((local, peer)))
    session.report("encode", 1, 1)
    paired = one_to_one(matching)(session, matching, records, counts, frozenset(), release).pair()

    def total(column: LinearInts) -> LinearInts:
        shares = column.shares.sum(dtype=np.uint64, keepdims=True)
        return LinearInts.from_shares(session, shares, column.bounds.sum_of(most).fit("sum"))

    counted = {Role.ALICE: LinearInts.from_bits(paired[Role.ALICE])}
    if brought.weighs and any(value.side is Role.BOB for value in figures.values):
        counted[Role.BOB] = LinearInts.from_bits(paired[Role.BOB])
    size = total(counted[Role.ALICE])
    columns = brought.group({role: _gate(paired[role], values[role]) for role in Role})
    distinguished = []
    for role in Role:
        marks = [columns.marks[i] for i in sorted(columns.marks) if figures.values[i].side is role]
        distinguished += count_apart(paired[role], size, total, marks)
    release.intersection(lambda: (size,))
    if figures.output == SIZE:
        opened = release.open(size, recipients, Size())
    else:
        about = Groups((size,), brought.sums(columns, counted, total), distinguished)
        sums = [total(column) for column in columns.values]
        opened = release.open(concatenate([size, *sums]), recipients, about)
    return outcome(parameters, counts, every, None if opened is None else opened.tolist())


def _values(
    session: Session, brought: FigureColumns, counts: Mapping[Role, int], data: Data
) -> dict[Role, list[LinearInts]]:
    """The columns of both sides, each known to its side.

    Raises:
        DomainError: a local value lies outside its bounds; nothing was sent for it.
    """
    found: dict[Role, list[LinearInts]] = {}
    for role in Role:
        spans = brought.spans(role)
        local: list[NDArray[np.int64] | None] = [None] * len(spans)
        if session.role is role:
            local = [*brought.local(role, counts[role], lambda name: data[name].array).T]
        found[role] = [
            LinearInts.from_plain(session, values, role, span, counts[role])
            for values, span in zip(local, spans, strict=True)
        ]
    return found


def _gate(paired: SecretBits, columns: list[LinearInts]) -> list[LinearInts]:
    """The columns of a side where a row has a partner, else 0."""
    if not columns:
        return []
    session, owner = paired.session, columns[0].owner
    words = np.stack([column.shares for column in columns])
    bits = np.broadcast_to(paired.shares, words.shape).reshape(-1)
    gated = mux.select(session, bits, words.reshape(-1), owner).reshape(words.shape)
    return [
        LinearInts.from_shares(session, shares, column.bounds.hull(_NOTHING))
        for shares, column in zip(gated, columns, strict=True)
    ]


def outcome(
    parameters: LinkedParameters,
    counts: Mapping[Role, int],
    every: Sequence[Declared],
    figures: Sequence[int] | None,
) -> Outcome:
    """What a party gets.

    Args:
        parameters: as parsed.
        counts: rows of each side.
        every: the values' declarations.
        figures: the number of pairs, then the sum of every value in held units; None for a party that gets
            none.
    """
    found = results(parameters.figures, every, figures, ())
    notes = found.notes if figures is None else (*found.notes, _LIKELY)
    return replace(found, notes=notes, details={**details_of(parameters.matching, counts), **found.details})
