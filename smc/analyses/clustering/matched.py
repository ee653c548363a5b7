"""The table of a job whose rows are matched by keys: nobody learns which rows match.

The rows of both sides are aligned in secret (`smc.secret.joins.circuit_psi`). The owner of the slots knows
its own columns in them; those of the other party, and the squared norms of its rows, are shared between
both. Slots without a match belong to no cluster, so that clusters are those of the joined rows.

Before anything else is computed, both parties learn whether the matches are as many as the policies ask of an
intersection and of a group, one bit; without such limits they do not. Under epsilon that bit would be outside
the guarantee, so a job whose policies ask for a least intersection is refused, and groups are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smc.analyses.clustering.census import MARKS, PersonCounts, mark_rows, signed_columns, weigh_rows
from smc.analyses.clustering.parameters import ClusteringParameters
from smc.analyses.clustering.table import SecretTable, Shape
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.persons import check_one_row_each
from smc.analyses.disclosure.release import Release
from smc.analyses.records.fixed_point import FixedPointColumns
from smc.analyses.records.key_parameters import KeyParameters
from smc.analyses.records.keying import keyed_rows
from smc.analyses.records.keys import KeyedRows, hash_keys
from smc.analyses.studies.columns import PERSONS, Data
from smc.errors import DisclosureRefused, DomainError
from smc.forms import Role
from smc.protocols.coins import toss
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.session import Session
from smc.secret.joins.circuit_psi import align
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.masks import word_type

Word = NDArray[np.uint64]


def check_limits(parameters: ClusteringParameters, release: Release | Limits) -> None:
    """Check that the limits of a run over matched rows are such as clusters can be tested for.

    Raises:
        DisclosureRefused: the policies ask for a least intersection, which is not tested under epsilon.
    """
    if parameters.epsilon is not None and release.counts_matches:
        raise DisclosureRefused(
            "The policies ask for a least intersection, which clusters with epsilon do not test.",
            "Leave epsilon out, or ask for statistics over matched rows.",
        )


def rows_of(
    parameters: ClusteringParameters, match: KeyParameters, data: Data, role: Role, *, one_row_each: bool
) -> KeyedRows:
    """The rows that a side brings, with their keys.

    Args:
        parameters: as parsed.
        match: of these, how rows are matched.
        data: the side's columns.
        role: which side it is.
        one_row_each: whether the policies count persons.

    Raises:
        DomainError: columns of different lengths, keys that are missing or repeated where that is an error,
            or several rows about one person where the policies count persons.
    """
    keyed = keyed_rows(data, match.recipes, match.duplicates, role.value)
    if len({len(data[name]) for name in parameters.columns(role)}) > 1:
        raise DomainError(
            "The columns of this side have different lengths.", "Give every column one value per row."
        )
    if parameters.epsilon is None and one_row_each and PERSONS in data:
        check_one_row_each(data[PERSONS].array[keyed.numbers])
    return keyed


def table(
    session: Session, shape: Shape, keyed: KeyedRows, block: Word, release: Release, *, exact: bool
) -> tuple[SecretTable, PersonCounts | None]:
    """Align the rows of both sides, one side of it.

    Args:
        session: this side of the run.
        shape: of the table; it has an owner.
        keyed: the local rows, n of them.
        block: whole numbers of the local columns in these rows, shape (n, m).
        release: tests whether there are as many matches as the policies ask for.
        exact: whether what is made of the table is opened without noise, and so is about a group.

    Returns:
        The table, and what the limits on clusters are tested on, where they are.

    Raises:
        DisclosureRefused: there are too few, at both sides; nothing else was opened.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    role, owner = session.role, shape.owner
    keys = hash_keys(keyed, toss(session))
    limited = exact and release.counts_clusters
    marks = np.zeros((len(block), 0), dtype=np.uint8, like=block)
    sizes = np.zeros((len(block), 0), dtype=np.int64, like=block)
    if limited:
        axes = [shape.scaled.columns[place] for place in shape.columns[role is Role.BOB]]
        whole = block.astype(np.int64)
        marks, sizes = mark_rows(whole, [axis.part for axis in axes]), weigh_rows(whole, axes)[:, len(axes) :]
    brought = np.zeros((len(block), 0), dtype=np.int64, like=block)
    if role is not owner:
        norms = (block * block).sum(axis=1, dtype=np.uint64)
        brought = np.column_stack([marks, sizes, block, norms]).astype(np.int64)
    bounds: dict[Role, list[Bounds]] = {
        side: [] if side is owner else _bounds(shape, limited=limited) for side in Role
    }
    peer_count = RowCount(shape.rows[role is Role.ALICE])
    aligned = align(session, keys, peer_count, brought, bounds[Role.ALICE], bounds[Role.BOB])
    if exact and (release.counts_matches or release.counts_groups):
        size = aligned.size()
        release.intersection(lambda: (size,))
        release.persons(size)
    else:
        release.intersection(tuple)
    release.test()
    shared = aligned.bob if owner is Role.ALICE else aligned.alice
    shared_marks, shared = shared[: -len(shape.shared) - 1], shared[-len(shape.shared) - 1 :]
    own = np.zeros((shape.count, len(shape.columns_of(role))), dtype=np.uint64, like=block)
    squares = shared[-1].shares.copy()
    places = shape.columns_of(role)
    for column, place in zip(shared[:-1], shape.shared, strict=True):
        own[:, places.index(place)] = column.shares
    if aligned.rows is not None:
        held = aligned.rows >= 0
        known = block[aligned.rows[held]]
        squares[held] += (known * known).sum(axis=1, dtype=np.uint64)
        for column, place in zip(known.T, shape.columns[role is Role.BOB], strict=True):
            own[held, places.index(place)] = column
    found = SecretTable(session, shape, own, aligned.member, squares)
    if not limited:
        return found, None
    kind, other = word_type(shape.sum_bits), aligned.owner.other
    words = np.stack([mark.shares for mark in shared_marks], axis=1)
    count = words.shape[1] - signed_columns(shape, other)
    held_marks: dict[Role, NDArray[Any]] = {other: words[:, :count].astype(kind)}
    held_sizes: dict[Role, Word] = {other: words[:, count:]}
    if aligned.rows is not None:
        held_marks[role], held_sizes[role] = (
            np.zeros((shape.count, part.shape[1]), dtype=dtype, like=part)
            for part, dtype in ((marks, np.uint8), (sizes, np.uint64))
        )
        held = aligned.rows >= 0
        held_marks[role][held] = marks[aligned.rows[held]]
        held_sizes[role][held] = sizes[aligned.rows[held]]
    return found, PersonCounts.matched(found, held_marks, held_sizes)


def join_in_clear(
    parameters: ClusteringParameters,
    match: KeyParameters,
    scaled: FixedPointColumns,
    sides: Mapping[Role, Data],
) -> tuple[NDArray[np.int64], list[int]]:
    """The reference of `table`.

    Args:
        parameters: as parsed.
        match: of these, how rows are matched.
        scaled: the columns.
        sides: the columns of both.

    Returns:
        The whole numbers of the matched rows, in the order of Alice's, shape (n, d), and how many rows Alice
        and Bob bring.

    Raises:
        DomainError: as `rows_of`.
    """
    keyed, blocks = {}, {}
    for role, data in sides.items():
        names = parameters.values(role)
        keyed[role] = rows_of(parameters, match, data, role, one_row_each=False)
        blocks[role] = scaled.whole(data, names).astype(np.int64)[keyed[role].numbers]
    places = {key: place for place, key in enumerate(keyed[Role.BOB].plain())}
    common = [(i, places[key]) for i, key in enumerate(keyed[Role.ALICE].plain()) if key in places]
    pairs = np.array(common, dtype=np.int64).reshape(-1, 2)
    found = np.hstack([blocks[role][pairs[:, side]] for side, role in enumerate(Role)])
    return found, [len(keyed[role]) for role in Role]


def _bounds(shape: Shape, *, limited: bool) -> list[Bounds]:
    """Of marks and sizes of the shared columns, where limits ask for them, of these, and of their norms."""
    axes = [shape.scaled.columns[place] for place in shape.shared]
    marks = [Bounds(0, 1)] * (limited * MARKS * len(axes))
    marks += [Bounds(0, axis.part) for axis in axes if limited and axis.nought]
    largest = [shape.scaled.columns[place].largest for place in shape.shared]
    return [*marks, *(Bounds(0, most) for most in largest), Bounds(0, sum(most**2 for most in largest))]
