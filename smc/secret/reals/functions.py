"""Smooth functions of secret numbers, row by row, by angles.

    Alice (share a of x)                                  Bob (share b of x)
      x modulo a period of P is an angle, and so is each share: a + b = x
      f(x) = c_0 + sum_k C_k cos k x + S_k sin k x          within the reach of the function
      cos k (a + b) = cos ka cos kb - sin ka sin kb, sin k (a + b) = sin ka cos kb + cos ka sin kb
      2 K products of a number of Alice and one of Bob, added up

Additive shares modulo a power of two are shares of an angle whose full turn is that power: what is cut off
above, which shares of other functions have to be compared for, is whole turns. So a function that is smooth
over a range is a short Fourier sum over a longer period, and no bit of a number is looked at. Of several
functions of the same numbers Bob's cosines and sines are sent once.

Products are formed by lattice encryption (`smc.secret.products.narrow_sums`), of few rows by transfers.

Beyond its reach a function is something else that is bounded: whoever uses it states the range of x and has
it tested.

Reference: fits of least largest error by least squares with weights: Lawson, Contributions to the theory of
linear least maximum approximations, 1961; shares as angles, and one query for several functions: duetto.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import floor, log2
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.ciphers.lattice_slots import MOST_NARROW_TERMS
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.numeric.shapes import of_shape, shape_array
from smc.protocols.session import Session
from smc.secret.ints import SecretInts
from smc.secret.products import narrow_sums
from smc.secret.products import words as products
from smc.secret.reals import wave_coefficients
from smc.secret.reals.reals import SecretReals
from smc.secret.reals.statements import Statements
from smc.secret.sharing.bounds import Bounds, Operand

Word = NDArray[np.uint64]
Floats = NDArray[np.float64]

MOST_WAVES: Final = MOST_NARROW_TERMS // 2
"""Of more waves sums row by row are not exact."""

_BOB_SCALE: Final = 13
"""Fractional bits of Bob's cosines and sines."""

_POINTS: Final = 400
_STEPS: Final = 60
_WORK_BYTES: Final = 2_000_000
"""What a block of encrypted sums is worth in bytes of transfers."""


@dataclass(frozen=True)
class SmoothFunction:
    """A function over a range.

    Attributes:
        name: for people.
        of: the function, of arrays.
        lower: where its range begins.
        upper: where it ends.
        period: of the angles; a power of two, larger than the range.
        tolerance: by how much, in proportion, it may be off where; of arrays.
        most: its waves without the constant are never larger.
        ridge: part of the mean square that keeps coefficients small, and with them what rounding adds.
        coefficients: of `MOST_WAVES` waves, the same on every machine (`wave_coefficients`); () if a fit has
            to find them.
    """

    name: str
    of: Callable[[Floats], Floats]
    lower: float
    upper: float
    period: int
    tolerance: Callable[[Floats], Floats]
    most: int
    ridge: float = 1e-8
    coefficients: tuple[int, ...] = ()

    def at(self, numbers: SecretReals, count: int = MOST_WAVES) -> SecretReals:
        """The function of secret numbers; 4 rounds.

        Args:
            numbers: shape (n,), within the function's range.
            count: of waves; the fewer, the cheaper and the farther off.

        Raises:
            DomainError: by its range a number could lie outside that of the function.
            UsageError: the number of waves is not possible.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        if numbers.lower < self.lower or numbers.upper > self.upper:
            raise DomainError(
                f"By its range a number could lie outside {self.lower:g} to {self.upper:g}, where the "
                f"{self.name} is fitted.",
                "State its range with `within`.",
            )
        (found,) = at_angles(Angles.of(numbers, self.period), [waves(self, count)])
        return found


def _logistic(x: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(x / 2)))


def _slope(x: Floats) -> Floats:
    return np.asarray(0.25 / np.cosh(x / 2) ** 2)


SIGMOID: Final = SmoothFunction(
    "sigmoid",
    _logistic,
    -12,
    12,
    32,
    lambda x: np.asarray(np.sqrt(_slope(x)) + 0.15),
    4,
    coefficients=wave_coefficients.SIGMOID,
)
"""1 / (1 + exp(-x)), nearer where outcomes vary less."""

SLOPE: Final = SmoothFunction(
    "slope of the sigmoid",
    _slope,
    -12,
    12,
    32,
    lambda x: np.asarray(_slope(x) ** 0.75 + 0.04),
    4,
    coefficients=wave_coefficients.SLOPE,
)
"""Its derivative."""

EXP: Final = SmoothFunction(
    "exponential",
    lambda x: np.asarray(np.exp(x)),
    -8,
    2,
    16,
    lambda x: np.exp(x / 2),
    32,
    ridge=1e-12,
    coefficients=wave_coefficients.EXPONENTIAL,
)
"""exp(x) for x from -8 to 2, nearest where it is small."""


@dataclass(frozen=True, slots=True, eq=False)
class Waves:
    """A Fourier sum that is near a function over its range.

    Attributes:
        function: which.
        constant: c_0.
        cosines: C_k, shape (K,).
        sines: S_k, shape (K,).
        error: how far it is off at most within the range.
    """

    function: SmoothFunction
    constant: float
    cosines: Floats = field(repr=False)
    sines: Floats = field(repr=False)
    error: float

    @property
    def alice_scale(self) -> int:
        """Fractional bits of Alice's numbers: sums have to stay below `narrow_sums.MOST`."""
        return min(13, floor(log2(narrow_sums.MOST)) - _BOB_SCALE - floor(log2(self.function.most)))

    @property
    def scale(self) -> int:
        """Fractional bits of what comes out."""
        return self.alice_scale + _BOB_SCALE

    def at(self, x: Floats) -> Floats:
        """The sum, in the clear."""
        found = np.concatenate([[self.constant], self.cosines, self.sines])
        return np.asarray(_base(self.function, x, len(self.sines)) @ found)


@cache
def waves(function: SmoothFunction, count: int) -> Waves:
    """The waves of a function: those that it states, else a fit on this machine.

    Args:
        function: which.
        count: K, from 1 to `MOST_WAVES`.

    Raises:
        UsageError: the number of waves is not possible.
        DomainError: the function is not one that so few waves can follow.
    """
    if not 1 <= count <= MOST_WAVES:
        raise UsageError(f"{count} waves are not possible.", f"Take 1 to {MOST_WAVES}.")
    if not function.coefficients or count < MOST_WAVES:
        return fit(function, count)
    return _waves(function, np.array(function.coefficients) * wave_coefficients.UNIT)


def fit(function: SmoothFunction, count: int) -> Waves:
    """The least largest error in proportion to the tolerance, by least squares with weights.

    Its last digits depend on the machine.

    Args:
        function: which.
        count: K, from 1 to `MOST_WAVES`.

    Raises:
        DomainError: the function is not one that so few waves can follow.
    """
    x = _points(function)
    base = _base(function, x, count)
    wanted, tolerance = function.of(x), function.tolerance(x)
    weights = np.asarray(np.ones(_POINTS), dtype=np.float64)
    least = np.inf
    best: Floats = np.zeros(base.shape[1])
    for _ in range(_STEPS):
        scaled = np.sqrt(weights) / tolerance
        left = base * scaled[:, None]
        square = left.T @ left
        square += function.ridge * np.trace(square) / len(square) * np.eye(len(square))
        found = np.linalg.solve(square, left.T @ (wanted * scaled))
        off = np.abs(base @ found - wanted) / tolerance
        if off.max() < least:
            least, best = float(off.max()), np.asarray(found, dtype=np.float64)
        grown = weights * (off / off.max() + 1e-3)
        weights = np.asarray(grown / grown.mean(), dtype=np.float64)
    result = _waves(function, best)
    everywhere = np.linspace(0, function.period, 64 * count)
    if np.abs(result.at(everywhere) - result.constant).max() > 0.99 * function.most:
        raise DomainError(
            f"{count} waves of the function {function.name!r} exceed what it states.",
            "Take a longer period, or state more.",
        )
    return result


def _points(function: SmoothFunction) -> Floats:
    middle, half = (function.lower + function.upper) / 2, (function.upper - function.lower) / 2
    return middle + half * np.cos(np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)


def _base(function: SmoothFunction, x: Floats, count: int) -> Floats:
    turned = np.multiply.outer(x, np.arange(1, count + 1)) * (2 * np.pi / function.period)
    return np.concatenate([np.ones((len(x), 1)), np.cos(turned), np.sin(turned)], axis=1)


def _waves(function: SmoothFunction, found: Floats) -> Waves:
    count = len(found) // 2
    x = _points(function)
    result = Waves(function, float(found[0]), found[1 : count + 1], found[count + 1 :], 0.0)
    return replace(result, error=float(np.abs(result.at(x) - function.of(x)).max()))


@dataclass(frozen=True, slots=True)
class Angles:
    """Secret numbers modulo a period: additive shares of an angle.

    Attributes:
        session: this side of the run.
        words: local shares modulo 2**width, which stands for the period; bits above are arbitrary; shape
            (n,).
        width: bits of a full turn.
        period: of the numbers.
        statements: that have to hold for the numbers to mean something.
    """

    session: Session
    words: Word = field(repr=False)
    width: int
    period: int
    statements: Statements = ()

    @classmethod
    def of(cls, numbers: SecretReals, period: int) -> Angles:
        """Of numbers; local.

        Args:
            numbers: shape (n,).
            period: a power of two.
        """
        width = numbers.scale + period.bit_length() - 1
        return cls(numbers.session, numbers.ints.shares, width, period, numbers.statements)


def at_angles(angles: Angles, wanted: Sequence[Waves]) -> list[SecretReals]:
    """Functions of secret numbers; 4 rounds.

    Args:
        angles: the numbers, which lie within the ranges of the functions; the caller has that tested.
        wanted: functions, of as many waves and of the period of the angles.

    Returns:
        For each function shape (n,), within `most` of its constant.

    Raises:
        UsageError: the functions have other periods, or different numbers of waves.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    counts = {len(each.sines) for each in wanted}
    if len(counts) != 1 or any(each.function.period != angles.period for each in wanted):
        raise UsageError(
            "The functions have different numbers of waves, or another period than the angles.",
            "Take as many waves of each, and angles of their period.",
        )
    (count,) = counts
    session, rows = angles.session, len(angles.words)
    encrypted = narrow_sums.cost(rows, 2 * count, len(wanted))
    transfers = _transfers(rows, count, wanted)
    blocks = -(-rows // (1 << 14))
    if encrypted.alice_bytes + encrypted.bob_bytes + _WORK_BYTES * blocks < transfers:
        found = list(
            narrow_sums.sums(
                session, rows, 2 * count, len(wanted), lambda part: _factors(angles, part, wanted)
            )
        )
    else:
        found = [_by_transfers(angles, each) for each in wanted]
    results = []
    for each, words in zip(wanted, found, strict=True):
        constant = round(each.constant * 2**each.scale)
        most = each.function.most << each.scale
        raised = words + np.uint64(constant % (1 << 64)) if session.role is Role.ALICE else words
        near = round(each.constant)
        bounds = Bounds((near << each.scale) - 2 * most, (near << each.scale) + 2 * most)
        ints = SecretInts.from_shares(session, raised, bounds, each.scale)
        results.append(SecretReals(ints, angles.statements))
    return results


def _factors(angles: Angles, part: slice, wanted: Sequence[Waves]) -> list[NDArray[np.int64]]:
    """The local numbers of some rows: Bob's cosines and sines, or Alice's for each function."""
    alice = angles.session.role is Role.ALICE
    return [
        _rotate(angles.words[part], angles.width, each, alice=alice)
        for each in (wanted if alice else wanted[:1])
    ]


@of_shape(lambda words, width, each, *, alice: shape_array((2 * len(each.sines), len(words)), np.int64))
def _rotate(words: Word, width: int, each: Waves, *, alice: bool) -> NDArray[np.int64]:
    """The numbers of one party, shape (2 K, rows)."""
    turn = (words & np.uint64((1 << width) - 1)).astype(np.float64) * (2 * np.pi / 2.0**width)
    first = np.exp(1j * turn)
    powers = np.empty((len(each.sines), len(words)), dtype=np.complex128)
    powers[0] = first
    for place in range(1, len(powers)):
        powers[place] = powers[place - 1] * first
    cosines, sines = powers.real, powers.imag
    scale = _BOB_SCALE
    if alice:
        scale, c, s = each.alice_scale, each.cosines[:, None], each.sines[:, None]
        cosines, sines = c * cosines + s * sines, s * cosines - c * sines
    return np.rint(np.concatenate([cosines, sines]) * 2.0**scale).astype(np.int64)


def _operands(each: Waves) -> tuple[Operand, Operand]:
    # No wave alone is larger than twice the sum of all.
    most = 2 * each.function.most << each.alice_scale
    one = 1 << _BOB_SCALE
    return Operand(Bounds(-most, most), Role.ALICE), Operand(Bounds(-one, one), Role.BOB)


def _transfers(rows: int, count: int, wanted: Sequence[Waves]) -> int:
    costs = [products.cost_multiply(2 * count * rows, *_operands(each)) for each in wanted]
    return sum(cost.alice_bytes + cost.bob_bytes for cost in costs)


def _by_transfers(angles: Angles, each: Waves) -> Word:
    session, rows, terms = angles.session, len(angles.words), 2 * len(each.sines)
    (own,) = _factors(angles, slice(0, rows), [each])
    words = own.view(np.uint64).reshape(-1)
    nothing = np.zeros_like(words)
    left, right = (words, nothing) if session.role is Role.ALICE else (nothing, words)
    found = products.multiply(session, left, right, *_operands(each))
    total: Word = found.reshape(terms, rows).sum(axis=0, dtype=np.uint64)
    return total
