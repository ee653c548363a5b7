"""Secret scores of linear models: whole numbers of one side times weights of the other.

A number is brought as steps from the middle of its range, its square as that of these steps; what the middles
add is in the constant. Values above 2**12 are cut into digits of 12 bits, each a column of its own, which
the lattice asks for; so rows are exact, and weights alone are rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from smc.analyses.predictors.form import Linear, Predictor
from smc.analyses.predictors.layout import ERROR_BITS, SLACK, ScoreShape, Whole, Word, combine, too_large
from smc.errors import DomainError
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.lattice.matrices import HeldMatrix, MatrixLayout, PeerMatrix, layout_of
from smc.secret.products import words
from smc.secret.sharing.bounds import Bounds, Operand

DIGIT_BITS: Final = 12
_DIGIT: Final = (1 << DIGIT_BITS) - 1


@dataclass(frozen=True, slots=True)
class Piece:
    """A column of rows: a digit of a power of steps, or whether a label is there.

    Attributes:
        feature: its place.
        power: 1 or 2; 0 for a label.
        label: its place.
        digit: from 0; the last one has the sign and all that is above.
        is_last: whether it is that.
    """

    feature: int
    power: int
    label: int = 0
    digit: int = 0
    is_last: bool = True

    @property
    def weight(self) -> int:
        """What one of the column is worth."""
        return 1 << DIGIT_BITS * self.digit


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearShape(ScoreShape):
    """What is public of a linear model.

    Attributes:
        squares: whether the model has weights of squares.
    """

    squares: bool = False

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The columns of rows."""
        return tuple(self._pieces())

    def _pieces(self) -> Iterator[Piece]:
        for place, feature in enumerate(self.features):
            if feature.labels:
                yield from (Piece(place, 0, label) for label in range(len(feature.labels)))
                continue
            for power in (1, 2) if self.squares else (1,):
                digits = max(1, -(-(((feature.span + 1) // 2) ** power).bit_length() // DIGIT_BITS))
                yield from (Piece(place, power, 0, digit, digit == digits - 1) for digit in range(digits))

    @property
    def scale(self) -> int:
        """Fractional bits of scores: so many that rounded weights err by 2**-20 at most together."""
        total = sum(
            1
            if feature.labels
            else sum(((feature.span + 1) // 2) ** power for power in ((1, 2) if self.squares else (1,)))
            for feature in self.features
        )
        return ERROR_BITS + (total + 1).bit_length()

    def rows(self, held: Whole) -> Whole:
        """The columns of held rows, shape (n, pieces)."""
        columns = []
        for piece in self.pieces:
            own = held[:, piece.feature]
            if not piece.power:
                columns.append((own == piece.label).astype(np.int64))
                continue
            steps = (own - (self.features[piece.feature].span + 1) // 2) ** piece.power
            moved = steps >> DIGIT_BITS * piece.digit
            columns.append(moved if piece.is_last else moved & _DIGIT)
        return np.stack(columns, axis=1)

    def weights(self, model: Predictor) -> tuple[Whole, Whole]:
        """Weights of the columns, shape (pieces, columns), and constants, shape (columns,).

        Raises:
            DomainError: the model does not fit, or a score could be too large.
        """
        body, places = model.body, self.places(model)
        if not isinstance(body, Linear):
            raise DomainError("The model is made of trees.", 'Write kind = "trees" in the job.')
        factors, added = self.combination(len(model.base))
        constants = [each + added for each in combine(factors, model.base)]
        found = {
            (piece.feature, piece.power, piece.label): [Fraction(0)] * self.columns for piece in self.pieces
        }
        for place, term in enumerate(body.terms):
            feature = self.features[places[term.feature]]
            both = combine(factors, [row[place] for row in body.weights])
            if bool(term.label) is not bool(feature.labels) or (
                term.label and term.label not in feature.labels
            ):
                raise DomainError(
                    f"The model takes {feature.name!r} for a category or has a label that the job lacks.",
                    "Declare the feature in the job as the model has it.",
                )
            if term.square and not self.squares:
                raise DomainError("The model has squares.", "Write squares = true in the job.")
            if term.label:
                _add(found, (places[term.feature], 0, feature.labels.index(term.label)), both)
                continue
            middle = Fraction(feature.least + (feature.span + 1) // 2, feature.unit)
            unit = Fraction(1, feature.unit)
            # x = middle + unit * steps, and so for its square.
            if term.square:
                _add(found, (places[term.feature], 2, 0), [each * unit**2 for each in both])
                _add(found, (places[term.feature], 1, 0), [2 * each * unit * middle for each in both])
                constants = [old + each * middle**2 for old, each in zip(constants, both, strict=True)]
            else:
                _add(found, (places[term.feature], 1, 0), [each * unit for each in both])
                constants = [old + each * middle for old, each in zip(constants, both, strict=True)]
        self._check(found, constants)
        rows = [
            [
                _round(each, self.scale) * piece.weight
                for each in found[piece.feature, piece.power, piece.label]
            ]
            for piece in self.pieces
        ]
        return np.array(rows, dtype=np.int64), np.array([_round(each, self.scale) for each in constants])

    def _check(self, found: dict[tuple[int, int, int], list[Fraction]], constants: list[Fraction]) -> None:
        for column, constant in enumerate(constants):
            total = abs(constant)
            for place, feature in enumerate(self.features):
                mine = {key: abs(each[column]) for key, each in found.items() if key[0] == place}
                if feature.labels:
                    total += max(mine.values())
                else:
                    total += sum(each * ((feature.span + 1) // 2) ** key[1] for key, each in mine.items())
            if total > self.largest + SLACK:
                raise too_large(self.largest)


def _add(
    found: dict[tuple[int, int, int], list[Fraction]], key: tuple[int, int, int], more: list[Fraction]
) -> None:
    found[key] = [old + each for old, each in zip(found[key], more, strict=True)]


def _round(value: Fraction, scale: int) -> int:
    return round(value * (1 << scale))


def linear_scores(
    session: Session, shape: LinearShape, owner: Role, mine: Whole | tuple[Whole, Whole], count: int
) -> Word:
    """Shares modulo 2**width of the scores of all rows (bits above are arbitrary), shape (count, columns).

    Args:
        session: this side of the run.
        shape: public.
        owner: of the model.
        mine: at the owner weights and constants, at the other side the columns of its rows.
        count: rows.
    """
    width, inner = shape.width(shape.scale), len(shape.pieces)
    mask = np.uint64((1 << width) - 1)
    layout = _layout(shape, owner, count, inner, width)
    if isinstance(mine, tuple):
        weights, constants = (each.astype(np.uint64) for each in mine)
        if layout is not None:
            return HeldMatrix(session, layout, weights & mask).times(count) + constants
        return _by_transfers(session, owner, np.zeros((count, inner), dtype=np.uint64), weights) + constants
    if layout is not None:
        return PeerMatrix(session, layout).times(mine)
    nothing = np.zeros((inner, shape.columns), dtype=np.uint64, like=mine)
    return _by_transfers(session, owner, mine.astype(np.uint64), nothing)


def _kinds(owner: Role) -> tuple[Operand, Operand]:
    """What is public of rows and of weights, of which words are all that matters."""
    rows = Operand(Bounds(-1 << DIGIT_BITS, 1 << DIGIT_BITS), owner.other)
    return rows, Operand(Bounds(-1 << 61, 1 << 61), owner)


def _by_transfers(session: Session, owner: Role, rows: Word, weights: Word) -> Word:
    return words.matmul(session, rows, weights, *_kinds(owner))


def _layout(shape: LinearShape, owner: Role, count: int, inner: int, width: int) -> MatrixLayout | None:
    """How the product is encrypted; None where transfers send less."""
    layout = layout_of(count, inner, shape.columns, 1 << DIGIT_BITS, width)
    if layout is None:
        return None
    other = words.cost_matmul(count, inner, shape.columns, *_kinds(owner))
    sent = layout.query_bytes + layout.response_bytes(count)
    return layout if sent < other.alice_bytes + other.bob_bytes else None
