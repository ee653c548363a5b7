"""Shared integers divided by shared positive ones: a start from a table, two Newton steps, a correction.

    Alice, Bob (shares of n and y)
      == comparisons of y with powers of 2**g, selection ==   z = y F, N = n F, with 2**(W-g) <= z < 2**W
      == comparisons of z's leading bits, selection ==   x = A - B z, about 2**p / z
      == products, shifts ==   q = N x / 2**p,  e = 1 - z x / 2**p
      == products, shifts ==   q (1 + e), e**2
      == products, shifts ==   v = q (1 + e) (1 + e**2), a little below n / y: off by e**4
      == product, comparisons of n - v y with multiples of y ==   floor(n / y)

The table of starts has a line A - B z for each of k pieces of an octave, chosen by secret bits as a sum of
their differences, so that to look one up takes one selection and no product. The two Newton steps are in
Goldschmidt's form: 1 / (1 - e) = (1 + e) (1 + e**2) (1 + e**4) ..., in which the products of a step do not
wait for each other. For short quotients the first factor is enough.

All steps in between are rounded, each by a bounded amount whatever the shares are (shifts leave out the
carry, `smc.secret.division.truncation.shift_near`). `Steps.spread` adds these amounts up, and the last
correction tests as many multiples of y as they leave open. The result is exact.

Where y can be 0, and n is 0 then, it is compared with its lower bound among the powers of two, and what is
to come out instead is selected with them.

Inputs: shares modulo 2**64 of n >= 0 and y >= 1 within public bounds, with a bound of the quotient.
Outputs: shares modulo 2**64 of the quotients, rounded down.
Learns: neither party anything.
Assumes: `smc.secret.comparison.msb`, `smc.secret.comparison.mux`, `smc.secret.products.words`,
`smc.secret.division.truncation`.
Cost: `cost`.
Reference: Goldschmidt, Applications of division by convergence, MIT 1964; in secret with a normalised
divisor: Catrina and Saxena, Secure computation with fixed-point numbers, FC 2010; the table of lines and the
exact last correction: duetto.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.forms import Role
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS
from smc.secret.comparison import msb, mux
from smc.secret.comparison.records import cost_nonnegative, cost_select, cost_to_words
from smc.secret.division import truncation
from smc.secret.division.newton_steps import GUARD_BITS, OCTAVES, Steps
from smc.secret.products import words as products
from smc.secret.products.words import word
from smc.secret.sharing.bounds import SHARED, Bounds
from smc.tracing.repeats import traced_once

Word = NDArray[np.uint64]


@traced_once
def divide(
    session: Session, numerator: Word, divisor: Word, steps: Steps, otherwise: Word | None = None
) -> Word:
    """Divide, rounding down.

    Args:
        session: this side of the run.
        numerator: local shares of integers that are not negative, shape (n,).
        divisor: local shares of positive integers, shape (n,).
        steps: public, from `Steps.of`.
        otherwise: local shares of what comes out where the divisor is 0, and the numerator too, shape (n,);
            None if no divisor is. To find out takes no further round.

    Returns:
        Local shares, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    return _Division(session, steps, numerator, divisor, otherwise).run()


class _Division:
    def __init__(
        self, session: Session, steps: Steps, numerator: Word, divisor: Word, otherwise: Word | None
    ) -> None:
        self._session, self._steps = session, steps
        self._numerator, self._divisor, self._otherwise = numerator, divisor, otherwise
        self._alice = session.role is Role.ALICE

    def run(self) -> Word:
        steps = self._steps
        whole, raised, kept = self._normalise()
        head, short = self._shift(
            (whole, Bounds(0, (1 << steps.width) - 1), steps.head_shift),
            (raised, Bounds(0, steps.raised_numerator), steps.numerator_shift),
        )
        start = self._start(head)
        first, covered = self._products((short, start), (whole, start))
        rest = self._public(1 << steps.point) - covered
        value, error = self._shift(
            (first, steps.first_bounds, steps.quotient_shift), (rest, steps.rest_bounds, steps.rest_shift)
        )
        if steps.rest_shift:
            error += self._public(1)
        value = self._refine(value, error)
        value -= self._public(steps.lifted)
        (rounded,) = self._shift((value, steps.value_bounds, GUARD_BITS))
        return self._correct(rounded) + kept

    def _public(self, value: int) -> np.uint64:
        """A local share of a public number."""
        return word(value if self._alice else 0)

    def _normalise(self) -> tuple[Word, Word, Word]:
        """Divisor and numerator times the power of 2**g that makes the divisor long, and what is kept.

        Divisors that are 0 become the smallest ones: the quotient of 0 is 0, to which `otherwise` is added.
        """
        steps, zeros = self._steps, self._otherwise is not None
        both, kept = np.stack([self._divisor, self._numerator]), np.zeros_like(self._divisor)
        thresholds = [1 << steps.lowest + OCTAVES * place for place in range(1, steps.raised + 1)]
        thresholds += [steps.divisor.lower] * zeros
        if thresholds:
            least = self._divisor - np.array([[self._public(each)] for each in thresholds], dtype=np.uint64)
            reached = msb.nonnegative(self._session, least.reshape(-1), steps.reached_bounds(zeros=zeros))
            reached = reached.reshape(least.shape)
            # From one threshold to the next the factor falls from 2**(g (i + 1)) to 2**(g i).
            falls = [
                word((1 << OCTAVES) - 1) << np.uint64(OCTAVES * place + steps.padding)
                for place in reversed(range(steps.raised))
            ]
            words = (both[:, None] * np.array(falls, dtype=np.uint64)[:, None]).reshape(-1, both.shape[1])
            bits = np.tile(reached[: steps.raised], (2, 1))
            if self._otherwise is not None:
                zero = reached[-1] ^ np.uint8(self._alice)
                smallest = np.full_like(self._divisor, self._public(steps.divisor.lower))
                bits = np.vstack([bits, zero, zero])
                words = np.vstack([words, smallest, self._otherwise])
            taken = mux.select(self._session, bits.reshape(-1), words.reshape(-1)).reshape(words.shape)
            if self._otherwise is not None:
                both[0] += taken[-2]
                self._divisor, kept, taken = both[0].copy(), taken[-1], taken[:-2]
        result: Word = both << np.uint64(OCTAVES * steps.raised + steps.padding)
        if steps.raised:
            result -= taken.reshape(2, steps.raised, -1).sum(axis=1, dtype=np.uint64)
        return result[0], result[1], kept

    def _start(self, head: Word) -> Word:
        """The line of the leading bits, at them."""
        steps = self._steps
        lines = steps.lines
        least = head - np.array([[self._public(line.start)] for line in lines[1:]], dtype=np.uint64)
        short = (least >> np.uint64(steps.coarse)).reshape(-1)
        chosen = msb.nonnegative(self._session, short, steps.compared_bounds)
        values = np.stack([self._public(line.constant) - word(line.slope) * head for line in lines])
        differences = values[1:] - values[:-1]
        taken = mux.select(self._session, chosen, differences.reshape(-1)).reshape(differences.shape)
        result: Word = values[0] + taken.sum(axis=0, dtype=np.uint64)
        return result

    def _refine(self, value: Word, error: Word) -> Word:
        """The quotient times 1 + e, and times 1 + e**2."""
        steps = self._steps
        if not steps.squared:
            (more,) = self._products((value, error))
            (more,) = self._shift((more, steps.more_bounds, steps.fraction))
            return value + more
        more, square = self._products((value, error), (error, error))
        more, square = self._shift(
            (more, steps.more_bounds, steps.fraction), (square, steps.square_bounds, steps.fraction)
        )
        value = value + more
        (more,) = self._products((value, square))
        (more,) = self._shift((more, steps.more_bounds, steps.fraction))
        return value + more

    def _correct(self, rounded: Word) -> Word:
        """Add how many multiples of the divisor are left."""
        steps = self._steps
        (covered,) = self._products((rounded, self._divisor))
        left = self._numerator - covered
        multiples = [left - word(times) * self._divisor for times in range(1, steps.tested + 1)]
        reached = msb.nonnegative(self._session, np.concatenate(multiples), steps.left_bounds)
        counted = self._session.oblivious.bits_to_arithmetic(reached).reshape(steps.tested, -1)
        result: Word = rounded + counted.sum(axis=0, dtype=np.uint64)
        return result

    def _products(self, *pairs: tuple[Word, Word]) -> list[Word]:
        """Products, all in one batch."""
        left, right = (np.concatenate(factors) for factors in zip(*pairs, strict=True))
        found = products.multiply(self._session, left, right, SHARED, SHARED)
        return np.split(found, len(pairs))

    def _shift(self, *parts: tuple[Word, Bounds, int]) -> list[Word]:
        """Divided by powers of two, all in one batch."""
        found = iter(truncation.shift_near(self._session, [part for part in parts if part[2]]))
        return [next(found) if bits else words for words, _, bits in parts]


def cost(count: int, steps: Steps, *, zeros: bool = False) -> Cost:
    """The exact cost of `divide`: flights and bytes, without the set-up of oblivious transfer.

    Args:
        count: how many.
        steps: public.
        zeros: whether divisors can be 0.
    """
    lines = len(steps.lines) - 1
    total = Cost()
    thresholds = steps.raised + zeros
    if thresholds:
        total += cost_nonnegative(count * thresholds, steps.reached_bounds(zeros=zeros))
        total += cost_select(2 * count * thresholds)
    total += _cost_shifted(count, steps.head_shift, steps.numerator_shift)
    total += cost_nonnegative(count * lines, steps.compared_bounds) + cost_select(count * lines)
    total += products.cost_multiply(2 * count)
    total += _cost_shifted(count, steps.quotient_shift, steps.rest_shift)
    if steps.squared:
        total += products.cost_multiply(2 * count) + _cost_shifted(count, steps.fraction, steps.fraction)
    total += products.cost_multiply(count) + _cost_shifted(count, steps.fraction)
    total += _cost_shifted(count, GUARD_BITS)
    total += products.cost_multiply(count)
    total += cost_nonnegative(count * steps.tested, steps.left_bounds)
    return total + cost_to_words(count * steps.tested)


def _cost_shifted(count: int, *bits: int) -> Cost:
    return truncation.cost_shift_near(count * sum(1 for each in bits if each))


SPEC: Final = Procedure(
    name="goldschmidt-division",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"count": 100, "steps": Steps(Bounds(0, 2**31 - 1), Bounds(1, 2**31 - 1), 2**31 - 1, 8, True)},
)
