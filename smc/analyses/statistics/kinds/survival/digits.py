"""How many digits exact figures keep: fewer than tell persons apart, and than their error leaves a meaning.

Exact digits are fingerprints: a curve to nine digits confirms a guess of every single day on which somebody
had an event, and a side that brings a thousand events of one day reads from it how many of the other's are at
risk then. Under limits figures are rounded in secret before they open, to units by those who are followed
beyond the point, however many were in the group before.

Let n be followed beyond a point. If one of the others leaves on another day, in the same way, a chance moves
by 1 / n at most: she holds the part S / r of all chances where r are at risk and S is left, which only grows
with time, to 1 / n; that part is what goes from her to others or back. The variance of log S is the sum of
1 / (r - d) - 1 / r over the days with d events. Of an event its derivative is 1 / (r - d)**2, and of having
been at risk the sum of 1 / r**2 - 1 / (r - d)**2 over some days, which telescopes as the next r is r - d at
most; both are 1 / n**2 at most. That holds on the whole way from one set of days to another, so m persons
move a chance by m / n at most, and the variance by m / n**2, whatever the other side brings beside them.

Figures are rounded to such units, of the n of the smaller side, or to parts of their standard errors where
these are larger. So m persons move them by one unit at most. But a side whose rows weigh in them puts the
border between two units where it wants it, and one job then says whether at most k persons of the other side
have an event after a day: such jobs give results about single rows (`horizontal.curves_study`). The size is
secret, so the unit is: a figure is multiplied by a secret power of two and rounded. Its class opens beside
it.

    m 2**i <= n < m 2**(i + 1)         chances in units of 2**-min(6 + log n / 2, i)
    2**k <= m < 2**(k + 1)             variances in units of 2**-min(10 + log n, 2 i + k)
    n < m                              both in whole numbers
    D events, m 2**i as for n          expected events and covariances: 2**min(log m, log D / 2 - 2)

Numbers of expected events have no unit that covers m persons and leaves a test its meaning: where a side
brings many events on several days, each day adds what a person is at risk for. So under limits no event
weighs rows of the other side: a test is within each side (`joint_curves.JointTest.within_sides`).
"""

from __future__ import annotations

from collections.abc import Callable
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
        bits: of the unit 2**-bits for the class of a size, and m.
        exact: fractional bits that are kept where nothing is rounded by sizes.
    """

    bits: Callable[[int, int], int]
    exact: int


def _logarithm(place: int, persons: int) -> int:
    """Of the least size of a class, rounded down."""
    return max(0, place + persons.bit_length() - 2)


CHANCE: Final = Unit(lambda i, m: max(0, min(6 + _logarithm(i, m) // 2, i - 1)), 24)
VARIANCE: Final = Unit(lambda i, m: min(10 + _logarithm(i, m), 2 * i + m.bit_length() - 3) if i else 0, 40)
NUMBER: Final = Unit(lambda i, m: -min((m - 1).bit_length(), (_logarithm(i, m) + 1) // 2 - 2), 16)

_ROOM_BITS: Final = 61


class KeptDigits:
    """Rounds figures by secret sizes, or leaves all digits of use where no limit asks for that.

    Args:
        reached: for each size 1 for every class above the first that it reaches, else 0, of shape
            (n, classes - 1); None where there is one class, or nothing is rounded.
        classes: of sizes.
        indistinct: how many persons a digit must not tell apart; 0 where nothing is rounded.
    """

    def __init__(self, reached: SecretInts | None, classes: int, indistinct: int) -> None:
        self._reached, self._classes, self._indistinct = reached, classes, indistinct

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
        thresholds, reached = _thresholds(most, indistinct), None
        if indistinct and len(thresholds):
            large = (own[:, None] >= thresholds) | (own[:, None] == 0)
            bits = [
                SecretBits(session, (large if role is each else np.zeros_like(large)).astype(np.uint8))
                for each in protected
            ]
            reached = SecretInts.from_bits(reduce(and_, bits))

        return cls(reached, 1 + len(thresholds), indistinct)

    @classmethod
    def of_matches(cls, counts: SecretInts, most: int, indistinct: int) -> KeptDigits:
        """By numbers of matches, which neither side knows.

        Args:
            counts: shape (n,).
            most: the largest number that there can be; public.
            indistinct: as of the class.
        """
        thresholds, reached = _thresholds(most, indistinct), None
        if indistinct and len(thresholds):
            reached = SecretInts.from_bits(counts.reshape(-1, 1) >= thresholds)
        return cls(reached, 1 + len(thresholds), indistinct)

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

    def read(self, held: Ints, unit: Unit, classes: Ints) -> Floats:
        """The figures that opened integers stand for; at a recipient.

        Args:
            held: shape (n, m).
            unit: as of `round`.
            classes: that opened beside them (`classes`), shape (n,).
        """
        if not self._indistinct:
            return np.ldexp(held.astype(np.float64), -unit.exact)
        bits = self._bits(unit)
        units = np.array([ldexp(1.0, -each) for each in bits])
        found: Floats = held * units.take(classes, mode="clip")[:, None]
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
        return [unit.bits(place, self._indistinct) for place in range(self._classes)]


def _thresholds(most: int, persons: int) -> Ints:
    """The least sizes of all classes but the first."""
    return np.array([persons << i for i in range(61) if 0 < persons << i <= most], dtype=np.int64)
