"""What outcomes tell of few persons in a model over matched rows, tested in secret before anything opens.

Coefficients solve equations in sums over matches: of the outcome, and of each covariate times the outcome.
Of labels these are sums over groups, so that a model tells what a table of the outcome by the label tells. It
is tested for the same, by the stricter of both policies:

    groups    all matches; of each covariate those above its mark, and those that are not; of each category of
              three labels or more those with any but the first, and those with the first
    counted   in each group who has the outcome, and who has not; of an outcome that is added up who is not at
              its lower bound, who is not at its upper, and who has another value than most of the group: m
              persons at least. Of a Cox model m, or nobody, may be without the event
    weighed   in each group nobody adds more than the part p of dominance to the sum of an outcome, as
              `smc.analyses.disclosure.amounts` has it; nor, of a linear model, to the sum of squared
              residuals

So over the persons with a label, and over those without it, the sum of an outcome is about m persons at
least, from whichever bound it is counted, and nobody has more than p of it. Of a covariate of numbers x, any
number c and a bound b of the outcome, m persons at least have a term that is not 0 in (x_1 - c) (y_1 - b) +
... + (x_n - c) (y_n - b), as nobody on one side of the mark has c. Bounds are those that the catalog of the
outcome's side declares; a `range` of the job cuts them off, as it does the values.

Not tested is what several covariates tell together: two labels have four groups, and standard errors tell how
many persons have both. Nor is it tested who dominates a sum of products with numbers; exposures; and when
events were. So a model of two covariates or more gives results about rows, as does one of a recipient that
brings columns, and so chooses their values and groups (`matched_study`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.analyses.disclosure.fits import Contribution, OutcomePart
from smc.analyses.models.design import Term
from smc.analyses.models.matched_newton import REACH
from smc.analyses.models.matched_rows import MatchedRows
from smc.analyses.models.matched_sides import (
    ADDED,
    ADDS_UP,
    AT_RISK,
    COEFFICIENT_BITS,
    DIGIT,
    OFF_BOUNDS,
    OUTCOME,
    Sided,
)
from smc.analyses.models.parameters import COX, LINEAR
from smc.secret.bits import SecretBits
from smc.secret.comparison import mux
from smc.secret.ints import SecretInts
from smc.secret.joins import majority
from smc.secret.linear_ints import LinearInts, concatenate
from smc.secret.reals.near import shift
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.bounds import WORD_BITS, Bounds

_ROOM: Final = 60
"""Bits of sums over all slots, times the factor of a test for dominance."""


@dataclass(frozen=True, slots=True)
class _Columns:
    """Figures by slot, 0 where there is no match, each of shape (slots,).

    Attributes:
        counted: 1 for who has to be one of a group.
        crowded: 1 for who has to be one of a group, or nobody.
        digits: of an outcome that is added up.
        added: what nobody may have too large a part of.
    """

    counted: Sequence[SecretInts]
    crowded: Sequence[SecretInts]
    digits: Sequence[SecretInts]
    added: Sequence[SecretInts]

    @classmethod
    def of(cls, sided: Sided, matched: MatchedRows) -> _Columns:
        figures, kind = matched.figures, sided.design.model.kind
        if kind in ADDS_UP:
            every = (
                [each for name, each in figures.items() if name.rpartition(" ")[0] == what]
                for what in (OFF_BOUNDS, DIGIT, ADDED)
            )
            off, digits, added = every
            return cls(off, [], digits, added)
        if not sided.counts:
            return cls([], [], [], [])
        outcome, one = figures[OUTCOME], Bounds(0, 1)
        if kind == COX:
            return cls([outcome], [(figures[AT_RISK] - outcome).with_bounds(one)], [], [])
        return cls([outcome, (matched.ones.ints - outcome).with_bounds(one)], [], [], [])

    @property
    def every(self) -> list[SecretInts]:
        """All but the digits."""
        return [*self.counted, *self.crowded, *self.added]


def outcome_part(sided: Sided, matched: MatchedRows, coefficients: SecretReals, factor: int) -> OutcomePart:
    """What the limits are tested on; nothing where they ask for nothing.

    Args:
        sided: the model, under limits.
        matched: its rows.
        coefficients: what is to be opened.
        factor: by what sums are multiplied where they are weighed.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    columns = _Columns.of(sided, matched)
    if not columns.every:
        return OutcomePart([], [], [])
    first, second = len(columns.counted), len(columns.counted) + len(columns.crowded)
    wholes = [_total(each, matched) for each in columns.every]
    counted: list[LinearInts] = [*wholes[:first]]
    crowded: list[LinearInts] = [*wholes[first:second]]
    counted += majority.differing(matched.member, matched.size, [columns.digits] if columns.digits else [])
    weighed = [
        Contribution(amount, whole) for amount, whole in zip(columns.added, wholes[second:], strict=True)
    ]
    if columns.added and sided.design.model.kind == LINEAR:
        weighed.append(_squares(matched, coefficients, factor))
    for group, size in _groups(sided, matched):
        inside = _gated(group, [*columns.every, *columns.digits])
        within = [_total(each, matched) for each in inside[: len(wholes)]]
        beside = [_rest(whole, part) for whole, part in zip(wholes, within, strict=True)]
        for totals in (within, beside):
            counted += totals[:first]
            crowded += totals[first:second]
        if columns.digits:
            held = inside[len(wholes) :]
            others = [_rest(one, two) for one, two in zip(columns.digits, held, strict=True)]
            counted += majority.differing(group, size, [held])
            counted += majority.differing(matched.member ^ group, _rest(matched.size, size), [others])
        for amount, *sums in zip(columns.added, within[second:], beside[second:], strict=True):
            weighed.append(Contribution(amount, concatenate(sums), group))
    return OutcomePart(counted, crowded, weighed)


def _gated(group: SecretBits, columns: Sequence[SecretInts]) -> list[SecretInts]:
    """The columns of those in a group, 0 elsewhere; all in one batch."""
    words = np.concatenate([each.shares for each in columns])
    gated = mux.select(group.session, np.tile(group.shares, len(columns)), words).reshape(len(columns), -1)
    return [
        SecretInts.from_shares(group.session, row, each.bounds)
        for row, each in zip(gated, columns, strict=True)
    ]


def _groups(sided: Sided, matched: MatchedRows) -> Iterator[tuple[SecretBits, SecretInts]]:
    """Who is in each group, matches only; and how many."""
    session, marks = matched.member.session, matched.marks
    for places in [*([place] for place in range(len(marks))), *_categories(sided.design.terms)]:
        # Labels of one category exclude each other, so that the sum of their marks is 0 or 1 as well.
        held = SecretInts.from_shares(session, np.add.reduce(marks[places]), Bounds(0, 1))
        yield SecretBits(session, (held.shares & np.uint64(1)).astype(np.uint8)), _total(held, matched)


def _squares(matched: MatchedRows, coefficients: SecretReals, factor: int) -> Contribution:
    """The squared residual of each match, with as many digits as sums have room for, and their sum."""
    session, outcome = matched.member.session, matched.outcome
    scale = outcome.scale + COEFFICIENT_BITS
    angles = matched.predictor(coefficients.rescale(COEFFICIENT_BITS), 1 << (WORD_BITS - scale))
    expected = mux.select(session, matched.member.shares, angles.words)
    reach = 2 + REACH * len(matched.places)
    bounds = Bounds(-reach << scale, reach << scale)
    room = _ROOM - factor.bit_length() - len(matched.member).bit_length()
    kept = max(0, min(scale, room // 2 - reach.bit_length()))
    (words,) = shift(
        session, ((outcome.ints.shares << np.uint64(COEFFICIENT_BITS)) - expected, bounds, scale - kept)
    )
    most = (reach << kept) + 1
    residuals = SecretInts.from_shares(session, words, Bounds(-most, most))
    squares = (residuals * residuals).with_bounds(Bounds(0, most * most))
    return Contribution(squares, squares.sum())


def _categories(terms: Sequence[Term]) -> Iterator[list[int]]:
    """The places of the labels of each category that has three or more."""
    found: dict[str, list[int]] = {}
    for place, term in enumerate(terms):
        if len(term.factors) == 1 and term.factors[0].label is not None:
            found.setdefault(term.factors[0].column, []).append(place)
    yield from (places for places in found.values() if len(places) > 1)


def _total(column: SecretInts, matched: MatchedRows) -> SecretInts:
    """The sum of a column that is 0 where there is no match, shape (1,); local."""
    total = column.shares.sum(dtype=np.uint64, keepdims=True)
    bounds = Bounds(0, column.bounds.upper * matched.most).fit("sum over matches")
    return SecretInts.from_shares(column.session, total, bounds)


def _rest(whole: SecretInts, part: SecretInts) -> SecretInts:
    return (whole - part).with_bounds(whole.bounds)
