"""The rows of a model over matched rows: each side's columns, aligned in secret.

    each side           whole numbers of its covariates and figures, and a mark of each covariate
    aligned             slots with a secret bit; the owner of the slots knows its own columns there, those of
                        the other side are shared, 0 where there is no match
    in secret           the matches, those with the outcome, and those that each mark tells apart

The side with fewer rows owns the slots, or the one that has times, since it has to know when which slot is
followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.models.design import Ints
from smc.analyses.models.matched_own import SPREAD_SCALE, OwnRows, OwnTimes
from smc.analyses.models.matched_sides import AT_RISK, HAPPENED, OFFSET, OUTCOME, Sided
from smc.analyses.models.matched_times import SecretTimes
from smc.analyses.models.parameters import LINEAR, POISSON
from smc.errors import TooManyRowsError
from smc.forms import Role
from smc.numeric.shapes import of_shape, shape_array
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.comparison import mux
from smc.secret.ints import SecretInts
from smc.secret.joins.circuit_psi import Aligned, align, table_owner
from smc.secret.linear_ints import LinearInts
from smc.secret.reals.fixed_rows import FixedRows, RowsLayout
from smc.secret.reals.functions import Angles
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.bounds import Bounds

Word = NDArray[np.uint64]

MAX_SLOTS: Final = 1 << 22
"""Sums over more slots could wrap."""

_TOTAL_BITS: Final = 28
"""Of a sum of counts, which variances are divided by, and have to have digits left."""


@dataclass(frozen=True, slots=True)
class MatchedRows:
    """The slots of a model.

    Attributes:
        rows: an intercept and the covariates, in the order of `FixedRows`.
        places: of each coefficient there, the intercept first.
        member: whether a slot is a match.
        ones: that as numbers, shape (slots,).
        outcome: of each match, 0 elsewhere, shape (slots,).
        offset: what is added to predictors, in the unit of predictors; None if nothing is. Shape (slots,).
        times: when slots are followed; None where there are no times.
        size: the matches, shape (1,).
        persons: of these those that a model is about: who is followed when events happen. Shape (1,).
        happened: those with the outcome, or a count above 0, shape (1,); all of a linear model.
        apart: the persons above each covariate's mark, shape (terms,).
        spreads: see `OwnRows`, shape (terms,), with 6 fractional bits.
        most: no more rows can match.
        marks: of each covariate, by slot, 0 where there is no match, shape (terms, slots); where limits ask
            for anything.
        figures: all that goes along with the covariates, by its name.
    """

    rows: FixedRows
    places: list[int]
    member: SecretBits
    ones: SecretReals
    outcome: SecretReals
    offset: Word | None = field(repr=False)
    times: SecretTimes | None
    size: SecretInts
    persons: SecretInts
    happened: SecretInts
    apart: SecretInts
    spreads: SecretInts
    most: int
    marks: Word = field(repr=False)
    figures: Mapping[str, SecretInts] = field(repr=False)

    def first(self, count: int) -> MatchedRows:
        """The first slots, as rows of their own; figures about all stay what they are."""
        return replace(
            self,
            rows=self.rows.first(count),
            member=SecretBits(self.member.session, self.member.shares[:count]),
            ones=self.ones[:count],
            outcome=self.outcome[:count],
            offset=None if self.offset is None else self.offset[:count],
            times=None if self.times is None else self.times.first(count),
        )

    def predictor(self, coefficients: SecretReals, period: int) -> Angles:
        """Predictors modulo a period.

        Args:
            coefficients: with `COEFFICIENT_BITS` fractional bits, the intercept first, shape (p,).
            period: a power of two.
        """
        inverse = [self.places.index(column) for column in range(len(self.places))]
        found = self.rows.predictor(coefficients[inverse], period)
        return found if self.offset is None else replace(found, words=found.words + self.offset)


def align_rows(
    session: Session, sided: Sided, keys: Word, peer_count: RowCount, own: OwnRows, times: int
) -> MatchedRows:
    """Align the rows of both sides; both call it.

    Args:
        session: this side of the run.
        sided: the model, public.
        keys: of the local rows, shape (n, 2).
        peer_count: rows of the peer.
        own: the local rows.
        times: how often rows will be multiplied, at most.

    Raises:
        TooManyRowsError: sums over so many rows, or of such counts, could wrap; nothing was sent.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    role = session.role
    counts = {role: len(keys), role.other: int(peer_count)}
    if max(counts.values()) > MAX_SLOTS:
        raise TooManyRowsError(
            f"A model over matched rows takes at most {MAX_SLOTS} rows.", "Use fewer rows."
        )
    if sided.design.model.kind == POISSON and (sided.design.most * min(counts.values())) >> _TOTAL_BITS:
        raise TooManyRowsError(
            f"The counts of {min(counts.values())} rows could add up to 2**{_TOTAL_BITS} or more.",
            "Declare a smaller upper bound of the outcome, count in a larger unit, or use fewer rows.",
        )
    owner = sided.slots_of or table_owner(counts[Role.ALICE], counts[Role.BOB])
    scale, terms = sided.scale, {each: len(sided.terms(each)) for each in Role}
    one = 1 << scale
    bounds = [*[Bounds(-one, one)] * terms[owner.other], *[Bounds(0, 1)] * terms[owner.other]]
    bounds += [figure.bounds for figure in sided.figures_of(owner.other)]
    brought = np.zeros((len(keys), 0), dtype=np.int64, like=keys)
    if role is not owner:
        brought = np.concatenate([own.covariates, own.marks, own.figures], axis=1)
    declared = {owner: [], owner.other: bounds}
    aligned = align(session, keys, peer_count, brought, declared[Role.ALICE], declared[Role.BOB], owner=owner)
    columns = aligned.bob if owner is Role.ALICE else aligned.alice
    slots = len(aligned.member)
    shared = _stacked([each.shares for each in columns[: terms[owner.other]]], slots, keys)
    marks = _stacked(
        [each.shares for each in columns[terms[owner.other] : 2 * terms[owner.other]]], slots, keys
    )
    figures = _figures(sided, aligned, own, columns[2 * terms[owner.other] :])
    if aligned.rows is None:
        known, known_marks = (np.full((slots, 1), value, dtype=np.int64, like=keys) for value in (one, 1))
    else:
        known, known_marks = (_by_slot(aligned.rows, values) for values in (own.covariates, own.marks))
    sizes = {owner: terms[owner], owner.other: 1}
    rows, marked = (
        FixedRows(
            session,
            RowsLayout(slots, sizes[Role.ALICE], sizes[Role.BOB], terms[owner.other], each, count),
            values,
            others,
        )
        for values, others, each, count in ((known, shared, scale, times), (known_marks, marks, 0, 1))
    )
    ones = SecretInts.from_shares(session, LinearInts.from_bits(aligned.member).shares, Bounds(0, 1))
    counted = marked.transposed(SecretReals(figures.get(AT_RISK, ones))).ints
    places, matches = sided.places(owner), Bounds(0, aligned.most)
    linear = sided.design.model.kind == LINEAR
    totals = SecretInts.from_shares(session, counted.shares[places], matches)
    spreads = np.zeros(len(sided.sides), dtype=np.uint64, like=keys)
    mine = [place for place, side in enumerate(sided.sides) if side is role]
    if mine:
        spreads[mine] = own.spreads.view(np.uint64)
    return MatchedRows(
        rows,
        places,
        aligned.member,
        SecretReals(ones),
        SecretReals(figures[OUTCOME]),
        figures[OFFSET].shares if OFFSET in figures else None,
        _times(aligned, own, times) if sided.slots_of else None,
        _total(ones, matches),
        totals[:1],
        _total(ones if linear else figures.get(HAPPENED, figures[OUTCOME]), matches),
        totals[1:],
        SecretInts.from_shares(session, spreads, Bounds(0, 4 << SPREAD_SCALE), SPREAD_SCALE),
        aligned.most,
        _marks(sided, aligned, known_marks, marks),
        figures,
    )


def _marks(sided: Sided, aligned: Aligned, known: Ints, shared: Word) -> Word:
    """The marks of all covariates in their order; those that the owner knows times the member bit."""
    member, slots = aligned.member, len(aligned.member)
    if not (sided.counts or sided.weighs):
        return np.zeros((0, slots), dtype=np.uint64, like=member.shares)
    own, others = iter(()), iter(shared.T)
    if count := len(sided.terms(aligned.owner)):
        held = np.zeros(count * slots, dtype=np.uint64, like=member.shares)
        if aligned.rows is not None:
            held = known.T.reshape(-1).view(np.uint64)
        gated = mux.select(member.session, np.tile(member.shares, count), held, aligned.owner)
        own = iter(gated.reshape(count, slots))
    return np.stack([next(own if side is aligned.owner else others) for side in sided.sides])


def _figures(
    sided: Sided, aligned: Aligned, own: OwnRows, columns: tuple[LinearInts, ...]
) -> Mapping[str, SecretInts]:
    """All figures by slot, 0 where there is no match: what the owner knows times the bit."""
    owner, member = aligned.owner, aligned.member
    shares = [column.shares for column in columns]
    known = sided.figures_of(owner)
    if known:
        slots = len(member)
        held = np.zeros(len(known) * slots, dtype=np.uint64, like=member.shares)
        if aligned.rows is not None:
            held = _by_slot(aligned.rows, own.figures).T.reshape(-1).view(np.uint64)
        gated = mux.select(member.session, np.tile(member.shares, len(known)), held, owner)
        shares += list(gated.reshape(len(known), slots))
    figures = [*sided.figures_of(owner.other), *known]
    return {
        figure.name: SecretInts.from_shares(
            member.session, words, figure.bounds.hull(Bounds(0, 0)), figure.scale
        )
        for figure, words in zip(figures, shares, strict=True)
    }


def _times(aligned: Aligned, own: OwnRows, times: int) -> SecretTimes:
    """When slots are followed, as the owner knows."""
    held = None
    if aligned.rows is not None and own.times is not None:
        parts = (own.times.followed, own.times.happened, own.times.periods)
        held = OwnTimes(*(_by_slot(aligned.rows, part) for part in parts))
    return SecretTimes.of(aligned.member.session, aligned.owner, aligned.member.shares, held, times)


def _total(figures: SecretInts, bounds: Bounds) -> SecretInts:
    total = figures.shares.sum(dtype=np.uint64, keepdims=True)
    return SecretInts.from_shares(figures.session, total, bounds)


def _stacked(columns: list[Word], slots: int, like: Word) -> Word:
    return np.stack(columns, axis=1) if columns else np.zeros((slots, 0), dtype=np.uint64, like=like)


@of_shape(lambda slots, values: shape_array((len(slots), values.shape[1]), values.dtype))
def _by_slot(slots: Ints, values: Ints) -> Ints:
    """The values of the row in each slot, 0 where there is none."""
    found = np.zeros((len(slots), values.shape[1]), dtype=values.dtype)
    found[slots >= 0] = values[slots[slots >= 0]]
    return found
