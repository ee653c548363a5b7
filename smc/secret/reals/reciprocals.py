"""One divided by shared counts, to a stated precision, without a last correction.

    Alice, Bob (shares of counts y, 1 to 2**L - 1)
      == comparisons of y with powers of 2**g, selection ==    z = y F1,  its upper g octaves are used
      == comparisons of z with powers of 4, selection ==       z = y F,  2**(W-2) <= z < 2**W
      == comparisons of z's leading bits, selection ==   x = A - B z, about 2**p / z
      == products, shifts ==   q = F x,  e = 1 - z x / 2**p
      == products, shifts ==   q (1 + e), e**2
      == products, shifts ==   q (1 + e) (1 + e**2), a little off F / z = 1 / y: by e**4

The steps are those of `smc.secret.division.newton`, with the powers of two found in two stages, which takes
fewer comparisons, and without the correction that makes quotients exact: what is left of the error is stated
by `ReciprocalSteps.error`. Which of the last units comes out depends on the shares, as shifts leave out the
carry; round what follows before it is opened.

Inputs: shares modulo 2**64 of counts within public bounds.
Outputs: shares modulo 2**64 of their reciprocals, in units of 2**-bits.
Learns: neither party anything.
Assumes: `smc.secret.comparison.msb`, `smc.secret.comparison.mux`, `smc.secret.products.words`,
`smc.secret.division.truncation`.
Cost: `cost`.
Reference: see `smc.secret.division.newton`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import DomainError, UsageError
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS
from smc.secret.comparison import msb, mux
from smc.secret.comparison.records import cost_nonnegative, cost_select
from smc.secret.division import truncation
from smc.secret.ints import SecretInts
from smc.secret.products import words as products
from smc.secret.products.words import word
from smc.secret.reals.near import multiply, public, publics, shift
from smc.secret.reals.reciprocal_steps import GUARD_BITS, ReciprocalSteps
from smc.secret.sharing.bounds import Bounds

Word = NDArray[np.uint64]

_ROUND_BYTES: Final = 1 << 16


def reciprocal_of(counts: SecretInts, bits: int) -> SecretInts:
    """One divided by counts, off by no more than `ReciprocalSteps.error`.

    Args:
        counts: whole numbers.
        bits: fractional bits of the reciprocals.

    Raises:
        UsageError: the counts have fractional bits.
        DomainError: a count could be zero or negative, or the sizes do not fit a word.
    """
    if counts.scale:
        raise UsageError(
            f"reciprocal: the numbers have {counts.scale} fractional bits.",
            "Take reciprocals of counts, and divide by other numbers with `over`.",
        )
    if counts.bounds.lower < 1:
        raise DomainError(
            "reciprocal: by its range a count could be zero or negative.", "Use `or_one`, or state a range."
        )
    steps = cheapest(counts.shares.size, counts.bounds.upper, bits)
    shares = reciprocals(counts.session, counts.shares.reshape(-1), steps)
    return SecretInts.from_shares(counts.session, shares.reshape(counts.shape), steps.result_bounds, bits)


@cache
def cheapest(count: int, upper: int, bits: int) -> ReciprocalSteps:
    """The way that costs least, a round counted as 64 kB; the same at both parties.

    Raises:
        DomainError: the sizes do not fit a word.
    """

    def weight(steps: ReciprocalSteps) -> int:
        found = cost(count, steps)
        return found.alice_bytes + found.bob_bytes + _ROUND_BYTES * found.rounds

    return min(ReciprocalSteps.of(upper, bits), key=weight)


def reciprocals(session: Session, counts: Word, steps: ReciprocalSteps) -> Word:
    """One divided by counts.

    Args:
        session: this side of the run.
        counts: local shares of integers from 1 to `steps.upper`, shape (n,).
        steps: public.

    Returns:
        Local shares, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    raised, factor = _raise(session, counts, steps)
    start = _start(session, raised, steps)
    covered, value = multiply(session, (raised, start), (factor, start))
    rest = public(session, 1 << steps.point) - covered
    value, rest = shift(
        session,
        (value, steps.raw_bounds, steps.point - steps.quotient_bits),
        (rest, steps.rest_bounds, steps.point - steps.fraction),
    )
    # What a shift leaves out is one on average.
    rest += public(session, steps.point > steps.fraction)
    more, square = multiply(session, (value, rest), (rest, rest))
    grown = steps.quotient_bounds * steps.small_bounds
    more, square = shift(
        session, (more, grown, steps.fraction), (square, steps.small_bounds.square, steps.fraction)
    )
    value = value + more + public(session, 1)
    (more,) = multiply(session, (value, square + public(session, 1)))
    (more,) = shift(session, (more, grown, steps.fraction))
    value = value + more + public(session, 1 + (1 << GUARD_BITS))
    (result,) = shift(session, (value, _lifted_bounds(steps), GUARD_BITS))
    return result


def _lifted_bounds(steps: ReciprocalSteps) -> Bounds:
    """Of the reciprocal before its guard bits go."""
    most = steps.quotient_bounds.upper + (2 << GUARD_BITS)
    return Bounds(steps.quotient_bounds.lower, most)


def _raise(session: Session, counts: Word, steps: ReciprocalSteps) -> tuple[Word, Word]:
    """The counts times powers of four that bring them into the upper pair of octaves, and these powers."""
    both = np.stack([counts, np.full_like(counts, public(session, 1))])
    if steps.first:
        least = counts - publics(session, [1 << exponent for exponent in steps.first])[:, None]
        reached = msb.nonnegative(session, least.reshape(-1), steps.first_bounds)
        both = _times_powers(session, both, reached.reshape(least.shape), 2 * steps.group)
    if steps.second:
        least = both[0] - publics(session, [1 << exponent for exponent in steps.second])[:, None]
        short = (least >> np.uint64(steps.second_shift)).reshape(-1)
        reached = msb.nonnegative(session, short, steps.second_bounds)
        both = _times_powers(session, both, reached.reshape(least.shape), 2)
    both = both << np.uint64(steps.padding)
    return both[0], both[1]


def _times_powers(session: Session, both: Word, reached: NDArray[np.uint8], bits: int) -> Word:
    """Both rows times 2**bits to the number of thresholds that are not reached."""
    count = len(reached)
    # From one threshold to the next the factor falls from 2**(bits (i + 1)) to 2**(bits i).
    falls = np.array(
        [((1 << bits) - 1) << (bits * place) for place in reversed(range(count))], dtype=np.uint64
    )
    words = both[:, None] * falls[:, None]
    chosen = np.tile(reached.reshape(-1), 2)
    taken = mux.select(session, chosen, words.reshape(-1)).reshape(words.shape)
    found: Word = (both << np.uint64(bits * count)) - taken.sum(axis=1, dtype=np.uint64)
    return found


def _start(session: Session, raised: Word, steps: ReciprocalSteps) -> Word:
    """The line of the leading bits, at the raised counts."""
    lines = steps.lines
    least = raised - publics(session, [line.start for line in lines[1:]])[:, None]
    short = (least >> np.uint64(steps.table_shift)).reshape(-1)
    chosen = msb.nonnegative(session, short, steps.table_bounds)
    values = np.stack([public(session, line.constant) - word(line.slope) * raised for line in lines])
    differences = values[1:] - values[:-1]
    taken = mux.select(session, chosen, differences.reshape(-1)).reshape(differences.shape)
    found: Word = values[0] + taken.sum(axis=0, dtype=np.uint64)
    return found


def cost(count: int, steps: ReciprocalSteps) -> Cost:
    """The exact cost of `reciprocals`: flights and bytes, without the set-up of oblivious transfer."""
    total = Cost()
    if steps.first:
        total += cost_nonnegative(count * len(steps.first), steps.first_bounds)
        total += cost_select(2 * count * len(steps.first))
    if steps.second:
        total += cost_nonnegative(count * len(steps.second), steps.second_bounds)
        total += cost_select(2 * count * len(steps.second))
    lines = len(steps.lines) - 1
    total += cost_nonnegative(count * lines, steps.table_bounds) + cost_select(count * lines)
    shifts = [steps.point - steps.quotient_bits, steps.point - steps.fraction]
    total += products.cost_multiply(2 * count)
    total += truncation.cost_shift_near(count * sum(bits > 0 for bits in shifts))
    total += products.cost_multiply(2 * count) + truncation.cost_shift_near(2 * count)
    total += products.cost_multiply(count) + truncation.cost_shift_near(count)
    return total + truncation.cost_shift_near(count)


SPEC: Final = Procedure(
    name="reciprocals",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"count": 100, "steps": ReciprocalSteps((1 << 20) - 1, 44, 3)},
)
