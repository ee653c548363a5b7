"""What is stated of the range of secret numbers, tested in secret where something opens that follows from it.

    Alice, Bob (shares of figures, and of the numbers that were stated to lie within ranges)
      == comparisons of all stated numbers with both ends, one batch ==
      == are all within? == selection of the figures, or of public numbers ==   one vector and one bit

Where data break a statement, what was computed under it means nothing. So the figures that follow from it
open as public numbers, together with the bit that says so, and to their recipients alone: nobody else learns
of it, and the peer, who did nothing wrong, is not blamed. Each statement is tested on the number as it was
before it was taken for granted, within bounds that hold if the statements before it do; so the bit is 1 only
if all of them hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from smc.errors import OutsideRange, ProtocolViolation
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.comparison import msb
from smc.secret.ints import SecretInts, select
from smc.secret.shares import Word
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import Fixed

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """Numbers are said to lie within bounds that do not follow from what they were computed of.

    Attributes:
        ints: the numbers with the bounds that do follow.
        within: of the held integers.
    """

    ints: SecretInts = field(repr=False)
    within: Bounds

    @property
    def slacks(self) -> list[tuple[Word, Bounds]]:
        """Differences from the ends that are not negative if it holds, where the bounds leave that open."""
        sides = []
        if self.ints.bounds.lower < self.within.lower:
            sides.append(self.ints - _units(self.within.lower, self.ints.scale))
        if self.ints.bounds.upper > self.within.upper:
            sides.append(-self.ints + _units(self.within.upper, self.ints.scale))
        return [(side.shares.reshape(-1), side.bounds) for side in sides]


Statements = tuple[Statement, ...]


def join_statements(*several: Statements) -> Statements:
    """All of them, each once."""
    return tuple(dict.fromkeys(statement for statements in several for statement in statements))


def all_hold(session: Session, statements: Statements) -> SecretBits | None:
    """One bit: whether all statements hold; None where there is nothing that could not."""
    slacks = [slack for statement in statements for slack in statement.slacks]
    if not slacks:
        return None
    bounds = slacks[0][1]
    for _, each in slacks[1:]:
        bounds = bounds.hull(each)
    found = msb.nonnegative(session, np.concatenate([words for words, _ in slacks]), bounds)
    return all_set(SecretBits(session, found))


def all_set(bits: SecretBits) -> SecretBits:
    """One bit: whether all bits of a vector are 1; of many by counting the others."""
    if len(bits) == 1:
        return bits
    return SecretInts.from_bits(~bits).sum() == 0


@dataclass(frozen=True, slots=True)
class Sealed:
    """Figures in one vector that opens as a whole, and the bit that says whether they mean something.

    Attributes:
        ints: what is to be opened, by a release or by `reveal`; the bit is the last one, where `tested`.
        parts: shape, bounds of the held integers, and scale of each figure.
        tested: whether there is a bit.
    """

    ints: SecretInts
    parts: tuple[tuple[tuple[int, ...], Bounds, int], ...]
    tested: bool

    def read(self, opened: NDArray[np.int64] | None) -> tuple[Floats, ...] | None:
        """The figures, by what came out of the opening; None for a party that is not a recipient.

        Raises:
            OutsideRange: the data do not lie within a stated range; there is no figure.
            ProtocolViolation: the peer sent what does not follow from any data.
        """
        if opened is None:
            return None
        session = self.ints.session
        if self.tested and session.has_data and not opened[-1]:
            raise OutsideRange("The data do not lie within a range that was stated for them.")
        found, start = [], 0
        for shape, bounds, scale in self.parts:
            held = opened[start : start + prod(shape)]
            if not bounds.holds(held):
                raise ProtocolViolation("An opened number lies outside the bounds that follow for it.")
            found.append(np.ldexp(held.astype(np.float64), -scale).reshape(shape))
            start += prod(shape)
        return tuple(found)


def seal(session: Session, figures: Sequence[SecretInts], statements: Statements) -> Sealed:
    """Figures that open only if statements hold; otherwise each opens as the number of its bounds next to 0.

    Args:
        session: this side of the run.
        figures: at least one, of any shapes and scales.
        statements: from which they follow.
    """
    parts = tuple((each.shape, each.bounds, each.scale) for each in figures)
    words = np.concatenate([each.shares.reshape(-1) for each in figures])
    bounds = parts[0][1]
    for _, each, _ in parts[1:]:
        bounds = bounds.hull(each)
    holds = all_hold(session, statements)
    if holds is None:
        return Sealed(SecretInts.from_shares(session, words, bounds), parts, tested=False)
    instead = [max(each.lower, min(0, each.upper)) for _, each, _ in parts]
    sizes = [prod(shape) for shape, _, _ in parts]
    public: NDArray[np.int64] = np.repeat(np.array([*instead, 0], dtype=np.int64), [*sizes, 1])
    values = SecretInts.from_shares(session, np.concatenate([words, np.zeros_like(words[:1])]), bounds)
    one = np.zeros_like(public)
    one[-1] = 1
    gated = select(
        holds,
        values + one,
        SecretInts.from_shares(session, np.zeros_like(values.shares), Bounds(0, 0)) + public,
    )
    return Sealed(gated, parts, tested=True)


def _units(held: int, scale: int) -> Fixed:
    return Fixed(np.array(held, dtype=np.int64), scale)
