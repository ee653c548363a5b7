"""Division by shared integers: both ways, on all small and on the worst integers, and what they cost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.errors import DomainError
from smc.secret.division import long_division
from smc.secret.division import newton as goldschmidt
from smc.secret.division.division import Division, cost_within
from smc.secret.division.newton_steps import Steps
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds
from tests.smc.secret.secret_runs import Secret, check_cost, opened, uniform

WIDTH = 31
FULL = Bounds(0, (1 << WIDTH) - 1)
DIVISORS = Bounds(1, (1 << WIDTH) - 1)


def by_steps(steps):
    def program(n, y):
        shares = goldschmidt.divide(n.session, n.shares.reshape(-1), y.shares.reshape(-1), steps)
        return SecretInts(n.session, shares, Bounds(0, steps.largest))

    return program


def edges(numerator, divisor, largest):
    """Pairs around everything that is rounded or compared: powers of two, multiples, and both ends."""
    divisors = {divisor.lower, divisor.upper}
    for bit in range(divisor.upper.bit_length() + 1):
        divisors |= {(1 << bit) + more for more in (-1, 0, 1)}
        divisors |= {(11 << bit >> 3) + more for more in (-1, 0)}
    pairs = []
    for y in sorted(y for y in divisors if divisor.lower <= y <= divisor.upper):
        most = min(numerator.upper, (largest + 1) * y - 1)
        top = most // y
        quotients = {1, top, top // 3}
        values = {q * y + more for q in quotients for more in (-1, 0, 1)} | {most, numerator.lower}
        pairs += [(n, y) for n in sorted(values) if numerator.lower <= n <= most]
    n, y = np.array(pairs, dtype=np.int64).T
    return n, y


def check(n, y, numerator, divisor, steps):
    found = opened(by_steps(steps), Secret(n, numerator), Secret(y, divisor))
    assert (found == n // y).all()


@pytest.mark.parametrize("steps", Steps.of(FULL, DIVISORS, FULL.upper), ids=lambda steps: str(steps.pieces))
def test_31_bits_are_exact_in_45_rounds(steps):
    n, y = edges(FULL, DIVISORS, FULL.upper)
    random = uniform((2, 1500), 1, FULL.upper)
    # Short divisors as well: half of the random ones above have 31 bits.
    short = uniform(1500, 1, FULL.upper) >> uniform(1500, 0, WIDTH - 1)
    n = np.concatenate([n, random[0], uniform(1500, 0, FULL.upper)])
    y = np.concatenate([y, random[1], np.maximum(short, 1)])
    check(n, y, FULL, DIVISORS, steps)
    assert goldschmidt.cost(1, steps).rounds <= 45


def test_a_division_of_31_bits_takes_fewer_bytes_than_digits():
    way = Division.of(1000, FULL, DIVISORS)
    digits = long_division.cost(1000, long_division.digits(FULL, DIVISORS))
    cost = way.cost()
    assert isinstance(way.method, Steps)
    assert cost.rounds <= 45 < 120 < digits.rounds
    assert cost.alice_bytes + cost.bob_bytes < digits.alice_bytes + digits.bob_bytes


@pytest.mark.parametrize(
    ("numerator", "divisor", "largest"),
    [
        (Bounds(0, 63), Bounds(1, 63), 63),
        (Bounds(0, 200), Bounds(1, 1), 200),
        (Bounds(0, 100), Bounds(3, 5), 33),
        (Bounds(0, 99), Bounds(60, 70), 1),
        (Bounds(5, 40), Bounds(2, 17), 20),
    ],
)
def test_all_small_integers(numerator, divisor, largest):
    n, y = (
        part.reshape(-1)
        for part in np.meshgrid(
            np.arange(numerator.lower, numerator.upper + 1), np.arange(divisor.lower, divisor.upper + 1)
        )
    )
    ways = Steps.of(numerator, divisor, largest)
    assert ways
    for steps in ways:
        check(n, y, numerator, divisor, steps)


@pytest.mark.parametrize(
    ("numerator", "divisor", "largest"),
    [
        (Bounds(0, (1 << 40) - 1), Bounds(1, (1 << 20) - 1), (1 << 20) - 1),
        (Bounds(0, (1 << 55) - 1), Bounds(2, 200_002), (1 << 18) - 1),
        (Bounds(0, (1 << 30) - 1), Bounds(1 << 29, (1 << 31) - 1), 1),
        (Bounds(0, (1 << 60) - 1), Bounds((1 << 33) + 5, 1 << 34), (1 << 24) - 1),
        (Bounds(0, 1 << 24), Bounds(1, 100), 1 << 24),
        (Bounds(7, 1 << 45), Bounds(1 << 29, 1 << 38), 1 << 16),
    ],
)
def test_other_widths_with_a_bound_of_the_quotient(numerator, divisor, largest):
    n, y = edges(numerator, divisor, largest)
    more = uniform(800, divisor.lower, divisor.upper)
    room = np.minimum(more.astype(object) * (largest + 1) - 1, numerator.upper)
    picked = [int(top) * int(part) >> 20 for top, part in zip(room, uniform(800, 0, 1 << 20), strict=True)]
    picked = np.maximum(np.array(picked, dtype=np.int64), numerator.lower)
    kept = picked // more <= largest
    n, y = np.concatenate([n, picked[kept]]), np.concatenate([y, more[kept]])
    ways = Steps.of(numerator, divisor, largest)
    assert ways
    for steps in ways:
        check(n, y, numerator, divisor, steps)


@pytest.mark.parametrize("largest", [(1 << 31) - 1, (1 << 16) - 1])
def test_no_start_is_further_off_than_its_steps_say(largest):
    """Every head, with every way it can be rounded and every line that may be taken for it."""
    divisor = Bounds(1, (1 << 31) - 1)
    for steps in Steps.of(Bounds(0, largest), divisor, largest):
        lines, shift, coarse = steps.lines, steps.head_shift, 1 << steps.coarse
        unit = 1 << (steps.point - shift)
        worst = 0.0
        for place, line in enumerate(lines):
            end = lines[place + 1].start + coarse if place + 1 < len(lines) else 1 << (steps.width - shift)
            heads = np.arange(line.start - (place == 0), end)
            x = line.constant - line.slope * heads
            for value in (np.maximum(heads, lines[0].start), heads + 2):
                worst = max(worst, float(np.abs(1 - value * (x / unit)).max()))
        assert worst <= steps.error * Fraction(1001, 1000)
        assert steps.error <= worst * 1.2


def test_the_spread_of_what_is_corrected_is_within_what_is_tested(monkeypatch):
    """What comes before the correction lies as far below the quotient as is tested, and never above."""
    seen = []

    def spied(self, rounded):
        seen.append(rounded)
        return rounded

    monkeypatch.setattr(goldschmidt._Division, "_correct", spied)
    n, y = edges(FULL, DIVISORS, FULL.upper)
    for steps in Steps.of(FULL, DIVISORS, FULL.upper):
        found = opened(
            lambda a, b, steps=steps: SecretInts(
                a.session, by_steps(steps)(a, b).shares, Bounds(-10, FULL.upper)
            ),
            Secret(n, FULL),
            Secret(y, DIVISORS),
        )
        missing = n // y - found
        assert missing.min() >= 0
        assert missing.max() <= steps.tested
        # One less would not do for all: the bound is not idle.
        assert missing.max() >= 1


@pytest.mark.parametrize("count", [1, 3, 70])
def test_both_ways_cost_as_declared(count):
    numerator, divisor = Bounds(0, 1 << 20), Bounds(1, 5000)
    n, y = Secret(uniform(count, 0, 1 << 20), numerator), Secret(uniform(count, 1, 5000), divisor)
    for steps in Steps.of(numerator, divisor, 1 << 20):
        check_cost(goldschmidt.cost(count, steps), by_steps(steps), n, y)
    check_cost(cost_within(count, numerator, divisor), lambda a, b: a.divide(b, 0), n, y)


@pytest.mark.parametrize(
    ("numerator", "divisor"),
    [
        (Bounds(0, 1 << 20), Bounds(1, 5000)),
        (Bounds(0, 60_000), Bounds(6, 40_000)),
        (Bounds(0, 9), Bounds(2, 3)),
        # Bounds within two octaves, the lower one no power of two: what is compared with it reaches further
        # down than what is compared with powers of two.
        (Bounds(0, 1 << 24), Bounds(100, 105)),
        (Bounds(0, 200), Bounds(3, 3)),
        (Bounds(0, 60_000), Bounds(5, 7)),
        (Bounds(0, 1 << 24), Bounds(96, 127)),
        (Bounds(0, 60_000), Bounds(5, 100)),
    ],
)
def test_a_divisor_of_zero_gives_what_was_said(numerator, divisor):
    count = 300
    y = uniform(count, divisor.lower, divisor.upper) * uniform(count, 0, 1)
    y[:4] = (0, divisor.lower, divisor.upper, 0)
    n = np.where(y == 0, 0, uniform(count, numerator.lower, numerator.upper))
    kept = uniform(count, -(1 << 40), 1 << 40)
    largest = numerator.upper // divisor.lower
    ways = [Division(count, steps, divisor) for steps in Steps.of(numerator, divisor, largest)]
    digits = tuple(long_division.digits(numerator, divisor, largest))
    for way in [*ways, Division(count, digits, divisor)]:

        def program(a, b, otherwise, way=way):
            shares = way.run(a.session, a.shares, b.shares, otherwise.shares)
            return SecretInts(a.session, shares, Bounds(-(1 << 40), 1 << 40))

        wide = Bounds(0, divisor.upper)
        secrets = (Secret(n, numerator), Secret(y, wide), Secret(kept, Bounds(-(1 << 40), 1 << 40)))
        assert (opened(program, *secrets) == np.where(y == 0, kept, n // np.maximum(y, 1))).all()
        check_cost(way.cost(zeros=True), program, *secrets)
        if isinstance(way.method, Steps) and way.method.raised:
            assert way.cost(zeros=True).rounds == way.cost().rounds


def test_the_way_is_that_of_fewest_bytes_and_rounds():
    """Digits for short quotients and for thousands of middling ones, whose products are not encrypted yet."""
    assert isinstance(Division.of(10, Bounds(0, 15), Bounds(1, 15)).method, tuple)
    assert isinstance(Division.of(10, Bounds(0, 60_000), Bounds(1, 60_000)).method, Steps)
    assert isinstance(Division.of(5_000, Bounds(0, 60_000), Bounds(1, 60_000)).method, tuple)
    assert isinstance(Division.of(100_000, Bounds(0, 60_000), Bounds(1, 60_000)).method, Steps)


def test_a_loose_bound_of_the_quotient_is_as_good_as_none():
    for numerator, divisor in ((Bounds(0, 1), Bounds(3, 100)), (Bounds(0, 1000), Bounds(3, 10))):
        for largest in (numerator.upper // divisor.lower + 1, 1 << 20):
            assert long_division.digits(numerator, divisor, largest) == long_division.digits(
                numerator, divisor
            )
            assert Division.of(3, numerator, divisor, largest) == Division.of(3, numerator, divisor)


def test_what_does_not_fit_is_left_to_digits_or_refused():
    wide = Bounds(0, (1 << 61) - 1)
    assert Steps.of(wide, Bounds(1, 1), wide.upper) == []
    assert isinstance(Division.of(10, wide, Bounds(1, 1)).method, tuple)
    with pytest.raises(DomainError, match="divide"):
        Division.of(10, Bounds(0, 1 << 62), Bounds(1, 1 << 30))
    with pytest.raises(DomainError, match="zero or negative"):
        Division.of(10, FULL, Bounds(0, 3))
