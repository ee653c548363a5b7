"""How many digits exact figures keep: fewer than tell persons apart, and than their error leaves a meaning.

Exact digits are fingerprints: a curve to nine digits confirms a guess of every single day on which somebody
had an event, and a side that brings a thousand events of one day reads from it how many of the other's are at
risk then. Under limits figures are rounded in secret before they open. With n persons at risk a curve S
changes by about m / 4 N at most if m of them leave a day earlier, the variance of its logarithm by m / N**2,
and an expected number of events by m, however many events the other side brings. Figures are rounded to such
units, or to parts of their standard errors where these are larger, and for sums where they are smaller. The
size is secret, so the unit is: a figure is multiplied by a secret power of two and rounded, and recipients,
who learn the size as well, divide.

    2**i <= N < 2**(i + 1) persons, m <= 2**b     chances in units of 2**-min(6 + i / 2, i + 2 - b)
                                                  variances in units of 2**-min(10 + i, 2 i - b)
    2**i <= D < 2**(i + 1) events                 expected events and covariances: 2**min(b, i / 2 - 2)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import ldexp
from operator import and_
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.statistics.queries.rows import Ints
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.ints import SecretInts
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.bounds import Bounds

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Unit:
    """In which unit a kind of figures is opened.

    Attributes:
        bits: of the unit 2**-bits for the class i of a size and b.
        exact: fractional bits that are kept where nothing is rounded by sizes.
    """

    bits: Callable[[int, int], int]
    exact: int


CHANCE: Final = Unit(lambda i, b: max(0, min(6 + i // 2, i + 2 - b)), 24)
VARIANCE: Final = Unit(lambda i, b: max(0, min(10 + i, 2 * i - b)), 40)
_ROOM_BITS: Final = 61

NUMBER: Final = Unit(lambda i, b: -min(b, (i + 1) // 2 - 2), 16)


class KeptDigits:
    """Rounds figures by secret sizes, or leaves all digits of use where no limit asks for that.

    Args:
        reached: for each size 1 for every class above the first that it reaches, else 0, of shape
            (n, classes - 1); None where there is one class, or nothing is rounded.
        classes: of sizes.
        indistinct: how many persons a digit must not tell apart; 0 where nothing is rounded.
        read_class: from what recipients know, the class by which they read each figure.
    """

    def __init__(
        self,
        reached: SecretInts | None,
        classes: int,
        indistinct: int,
        read_class: Callable[[Ints], Sequence[int]],
    ) -> None:
        self._reached, self._classes, self._indistinct = reached, classes, indistinct
        self._read_class = read_class

    @classmethod
    def of_sides(
        cls, session: Session, own: Ints, most: int, recipients: frozenset[Role], indistinct: int
    ) -> KeptDigits:
        """By the rows of each side.

        The size that counts is that of the smaller side of those whose rows the other side does not know: who
        brings many rows of its own gets no more digits for them. A side without any rows does not count.

        Args:
            session: this side of the run.
            own: persons or events of this side, shape (n,).
            most: the largest number that a side can have; public.
            recipients: who gets the figures.
            indistinct: as of the class.
        """
        role, protected = session.role, [role for role in Role if role.other in recipients]
        thresholds, reached = _thresholds(most), None
        if indistinct and len(thresholds):
            large = (own[:, None] >= thresholds) | (own[:, None] == 0)
            bits = [
                SecretBits(session, (large if role is each else np.zeros_like(large)).astype(np.uint8))
                for each in protected
            ]
            reached = SecretInts.from_bits(reduce(and_, bits))

        def read_class(both: Ints) -> list[int]:
            sizes = [own if each is role else both - own for each in protected]
            return [
                min((_class_of(size) for size in each if size > 0), default=len(thresholds))
                for each in zip(*(size.tolist() for size in sizes), strict=True)
            ]

        return cls(reached, 1 + len(thresholds), indistinct, read_class)

    @classmethod
    def of_matches(cls, counts: SecretInts, most: int, indistinct: int) -> KeptDigits:
        """By numbers of matches, which neither side knows: recipients read by their classes (`classes`).

        Args:
            counts: shape (n,).
            most: the largest number that there can be; public.
            indistinct: as of the class.
        """
        thresholds, reached = _thresholds(most), None
        if indistinct and len(thresholds):
            reached = SecretInts.from_bits(counts.reshape(-1, 1) >= thresholds)
        return cls(reached, 1 + len(thresholds), indistinct, lambda known: known.tolist())

    def round(self, values: SecretReals, unit: Unit) -> SecretInts:
        """Held integers to be opened, of which `read` makes figures.

        Args:
            values: a row for each size, shape (n, m).
            unit: of what kind they are.
        """
        if not self._indistinct:
            return values.rescale(unit.exact).ints
        bits = self._bits(unit)
        least = min(bits)
        if least < 0:  # the same held integers, of numbers divided by a power of two
            ints = values.ints
            shifted = SecretInts.from_shares(ints.session, ints.shares, ints.bounds, ints.scale - least)
            values, bits = SecretReals(shifted, values.statements), [each - least for each in bits]
        whole = int(max(values.upper, -values.lower)).bit_length()
        values = values.rescale(min(values.scale, _ROOM_BITS - whole - max(bits)))
        powers = [1 << each for each in bits]
        if self._reached is None:
            return (values * powers[0]).rescale(0).ints
        steps = np.diff(np.array(powers, dtype=np.int64)).reshape(-1, 1)
        factor = SecretReals(self._reached @ steps) + powers[0]
        return (values * factor.known(min(powers), max(powers))).rescale(0).ints

    def read(self, held: Ints, unit: Unit, known: Ints) -> Floats:
        """The figures that opened integers stand for; at a recipient.

        Args:
            held: shape (n, m).
            unit: as of `round`.
            known: persons or events of both sides together, shape (n,); of matches their classes.
        """
        if not self._indistinct:
            return np.ldexp(held.astype(np.float64), -unit.exact)
        bits = self._bits(unit)
        found: Floats = held * np.array([ldexp(1.0, -bits[i]) for i in self._read_class(known)])[:, None]
        return found

    def classes(self, count: int, like: SecretInts) -> SecretInts:
        """The class of each size, to be opened with the figures, shape (count,).

        Args:
            count: sizes.
            like: secret integers of this run.
        """
        bounds = Bounds(0, self._classes - 1)
        if self._reached is None:
            shares = np.zeros(count, dtype=np.uint64, like=like.shares)
        else:
            shares = self._reached.sum(axis=1).shares
        return SecretInts.from_shares(like.session, shares, bounds)

    def _bits(self, unit: Unit) -> list[int]:
        """Of the unit by the class of the size."""
        return [unit.bits(i, (self._indistinct - 1).bit_length()) for i in range(self._classes)]


def _thresholds(most: int) -> Ints:
    """The least sizes of all classes but the first."""
    return np.array([1 << i for i in range(1, 61) if 1 << i <= most], dtype=np.int64)


def _class_of(size: int) -> int:
    return size.bit_length() - 1
