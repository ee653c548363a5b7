"""The rows of a model over matched rows: each side's columns, aligned in secret.

    each side           whole numbers of its covariates and its outcome, and a mark of each covariate
    aligned             slots with a secret bit; the owner of the slots knows its own columns there, those of
                        the other side are shared, 0 where there is no match
    in secret           the matches, those with the outcome, and those that each mark tells apart

A covariate's mark is 1 above the value that splits the side's own rows most evenly. If enough matched persons
are on either side of it, as many differ from any one value. Which value it is, nobody else learns.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.models.design import Design, Floats, Ints, Term
from smc.analyses.models.parameters import LINEAR, LOGISTIC
from smc.analyses.records.joint_keys import HashedRows
from smc.analyses.records.matched_columns import Vertical
from smc.errors import TooManyRowsError, UsageError
from smc.forms import Role
from smc.numeric.shapes import of_shape, shape_array
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.comparison import mux
from smc.secret.ints import SecretInts
from smc.secret.joins.circuit_psi import align, table_owner
from smc.secret.linear_ints import LinearInts
from smc.secret.reals.fixed_rows import FixedRows, RowsLayout
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.bounds import Bounds

Word = NDArray[np.uint64]

MAX_SLOTS: Final = 1 << 22
"""Sums over more slots could wrap."""

SCALES: Final = {LINEAR: 20, LOGISTIC: 10}
"""Fractional bits of covariates from -1 to 1: those of a predictor have to fit a period."""

_SPREAD_SCALE: Final = 6


@dataclass(frozen=True, slots=True)
class Sided:
    """Whose the parts of a model are.

    Attributes:
        design: the model.
        sides: whose each term is.
        outcome: whose the outcome is.
    """

    design: Design
    sides: tuple[Role, ...]
    outcome: Role

    @classmethod
    def of(cls, design: Design, vertical: Vertical) -> Sided:
        """By the columns that each side brings.

        Raises:
            UsageError: a covariate is made of columns of both sides.
        """
        sides: list[Role] = []
        for term in design.terms:
            found = {_side(vertical, factor.column) for factor in term.factors}
            if len(found) != 1:
                raise UsageError(
                    f"Model {design.model.name!r}: {term.name} is a product of columns of both sides.",
                    "Take products of columns of one side.",
                )
            sides += found
        return cls(design, tuple(sides), _side(vertical, design.model.outcome))

    @property
    def scale(self) -> int:
        """Fractional bits of covariates."""
        return SCALES[self.design.model.kind]

    @property
    def outcome_scale(self) -> int:
        """Fractional bits of outcomes."""
        return self.scale if self.design.model.kind == LINEAR else 0

    def terms(self, role: Role) -> list[Term]:
        """Those of a side."""
        return [term for term, side in zip(self.design.terms, self.sides, strict=True) if side is role]

    def places(self, owner: Role) -> list[int]:
        """Where each coefficient is among the columns of `FixedRows`, the intercept first.

        The other side than the owner of the slots has the column of ones; its covariates are shared, and come
        last.
        """
        own = iter(
            range(len(self.terms(owner))) if owner is Role.ALICE else range(1, 1 + len(self.terms(owner)))
        )
        shared = iter(range(1 + len(self.terms(owner)), 1 + len(self.sides)))
        one = len(self.terms(owner)) if owner is Role.ALICE else 0
        return [one, *(next(own if side is owner else shared) for side in self.sides)]


def _side(vertical: Vertical, name: str) -> Role:
    return Role.ALICE if name in vertical.alice else Role.BOB


@dataclass(frozen=True, slots=True)
class OwnRows:
    """The local columns of a model as whole numbers.

    Attributes:
        covariates: shape (n, terms of this side).
        outcome: shape (n,), at its owner.
        marks: of each covariate, 0 or 1, shape (n, terms).
        spreads: the square of how far values of each covariate lie apart, rounded up, shape (terms,).
    """

    covariates: Ints = field(repr=False)
    outcome: Ints | None = field(repr=False)
    marks: Ints = field(repr=False)
    spreads: Ints = field(repr=False)

    @classmethod
    def of(cls, sided: Sided, rows: HashedRows, role: Role) -> OwnRows:
        """The local rows that have keys."""
        count = len(rows.keys)
        columns = [
            _covariate(term, [rows.column(f.column) for f in term.factors], sided.scale)
            for term in sided.terms(role)
        ]
        covariates = (
            np.stack(columns, axis=1) if columns else np.zeros((count, 0), dtype=np.int64, like=rows.keys)
        )
        outcome = _outcome(rows.column(sided.design.model.outcome), sided) if role is sided.outcome else None
        return cls(covariates, outcome, _marks(covariates), _spreads(covariates, sided.scale))


@of_shape(lambda values, sided: shape_array(len(values), np.int64))
def _outcome(values: Ints, sided: Sided) -> Ints:
    design = sided.design
    if design.model.kind == LOGISTIC:
        return np.isin(values, design.codes).astype(np.int64)
    scaled = values.astype(np.float64) if design.outcome is None else design.outcome.values(values)
    return _whole(scaled, sided.outcome_scale)


def _covariate(term: Term, held: list[Ints], scale: int) -> Ints:
    return _product(held, term, scale)


@of_shape(lambda held, term, scale: shape_array(len(held[0]), np.int64))
def _product(held: list[Ints], term: Term, scale: int) -> Ints:
    scaled = [factor.values(values) for factor, values in zip(term.factors, held, strict=True)]
    return _whole(np.prod(scaled, axis=0), scale)


def _whole(values: Floats, scale: int) -> Ints:
    return np.rint(np.ldexp(values, scale)).astype(np.int64)


@of_shape(lambda values: shape_array(values.shape, np.int64))
def _marks(values: Ints) -> Ints:
    """1 above the value that splits a column most evenly."""
    found = np.zeros_like(values)
    for column, mark in zip(values.T, found.T, strict=True):
        different, counts = np.unique(column, return_counts=True)
        if len(different) > 1:
            above = len(column) - np.cumsum(counts)[:-1]
            mark[:] = column > different[np.minimum(above, len(column) - above).argmax()]
    return found


@of_shape(lambda values, scale: shape_array(values.shape[1], np.int64))
def _spreads(values: Ints, scale: int) -> Ints:
    if not values.size:
        return np.zeros(values.shape[1], dtype=np.int64)
    apart = np.ldexp((values.max(axis=0) - values.min(axis=0)).astype(np.float64), -scale)
    found: Ints = np.ceil(np.ldexp(apart**2, _SPREAD_SCALE)).astype(np.int64)
    return found


@dataclass(frozen=True, slots=True)
class MatchedRows:
    """The slots of a model.

    Attributes:
        rows: an intercept and the covariates, in the order of `FixedRows`.
        places: of each coefficient there.
        member: whether a slot is a match.
        ones: that as numbers, shape (slots,).
        outcome: of each match, 0 elsewhere, shape (slots,).
        size: the matches, shape (1,).
        apart: the matches above each covariate's mark, shape (terms,).
        spreads: see `OwnRows`, shape (terms,), with 6 fractional bits.
        most: no more rows can match.
    """

    rows: FixedRows
    places: list[int]
    member: SecretBits
    ones: SecretReals
    outcome: SecretReals
    size: SecretInts
    apart: SecretInts
    spreads: SecretInts
    most: int

    def first(self, count: int) -> MatchedRows:
        """The first slots, as rows of their own; figures about all stay what they are."""
        member = SecretBits(self.member.session, self.member.shares[:count])
        rows, ones, outcome = self.rows.first(count), self.ones[:count], self.outcome[:count]
        return replace(self, rows=rows, member=member, ones=ones, outcome=outcome)


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
        TooManyRowsError: sums over so many rows could wrap; nothing was sent.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    role = session.role
    counts = {role: len(keys), role.other: int(peer_count)}
    if max(counts.values()) > MAX_SLOTS:
        raise TooManyRowsError(
            f"A model over matched rows takes at most {MAX_SLOTS} rows.", "Use fewer rows."
        )
    owner = table_owner(counts[Role.ALICE], counts[Role.BOB])
    scale, terms = sided.scale, {each: len(sided.terms(each)) for each in Role}
    one = 1 << scale
    bounds = [*[Bounds(-one, one)] * terms[owner.other], *[Bounds(0, 1)] * terms[owner.other]]
    if sided.outcome is not owner:
        bounds.append(_outcome_bounds(sided))
    brought = np.zeros((len(keys), 0), dtype=np.int64, like=keys)
    if role is not owner:
        parts = [own.covariates, own.marks] + ([own.outcome[:, None]] if own.outcome is not None else [])
        brought = np.concatenate(parts, axis=1)
    declared = {owner: [], owner.other: bounds}
    aligned = align(session, keys, peer_count, brought, declared[Role.ALICE], declared[Role.BOB])
    columns = aligned.bob if owner is Role.ALICE else aligned.alice
    slots = len(aligned.member)
    shared = _stacked([each.shares for each in columns[: terms[owner.other]]], slots, keys)
    marks = _stacked(
        [each.shares for each in columns[terms[owner.other] : 2 * terms[owner.other]]], slots, keys
    )
    ones = LinearInts.from_bits(aligned.member)
    if sided.outcome is not owner:
        outcome = columns[-1].shares
    else:
        held = np.zeros(slots, dtype=np.uint64, like=keys)
        if aligned.rows is not None and own.outcome is not None:
            held = _by_slot(aligned.rows, own.outcome[:, None])[:, 0].view(np.uint64)
        outcome = mux.select(session, aligned.member.shares, held, owner)
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
    numbers = SecretReals(SecretInts.from_shares(session, ones.shares, Bounds(0, 1)))
    counted = marked.transposed(numbers).ints
    places = sided.places(owner)
    totals = SecretInts.from_shares(session, counted.shares[places], Bounds(0, aligned.most))
    spreads = np.zeros(len(sided.sides), dtype=np.uint64, like=keys)
    mine = [place for place, side in enumerate(sided.sides) if side is role]
    if mine:
        spreads[mine] = own.spreads.view(np.uint64)
    scaled = SecretInts.from_shares(session, outcome, _outcome_bounds(sided), sided.outcome_scale)
    return MatchedRows(
        rows,
        places,
        aligned.member,
        numbers,
        SecretReals(scaled),
        totals[:1],
        totals[1:],
        SecretInts.from_shares(session, spreads, Bounds(0, 4 << _SPREAD_SCALE), _SPREAD_SCALE),
        aligned.most,
    )


def _outcome_bounds(sided: Sided) -> Bounds:
    one = 1 << sided.outcome_scale
    return Bounds(-one if sided.design.model.kind == LINEAR else 0, one)


def _stacked(columns: list[Word], slots: int, like: Word) -> Word:
    return np.stack(columns, axis=1) if columns else np.zeros((slots, 0), dtype=np.uint64, like=like)


@of_shape(lambda slots, values: shape_array((len(slots), values.shape[1]), values.dtype))
def _by_slot(slots: Ints, values: Ints) -> Ints:
    """The values of the row in each slot, 0 where there is none."""
    found = np.zeros((len(slots), values.shape[1]), dtype=values.dtype)
    found[slots >= 0] = values[slots[slots >= 0]]
    return found
