"""Comparison, selection, the least of rows, truncation and division, and what they cost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.oblivious.cost import conjunction
from smc.pair import run_pair
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import cost_of
from smc.secret.bits import SecretBits
from smc.secret.comparison.records import cost_least, cost_nonnegative, cost_select, cost_to_words, cost_zero
from smc.secret.division import division, truncation
from smc.secret.ints import SecretInts, select
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import Fixed
from smc.secret.sharing.records import cost_opening_bits
from tests.smc.secret.secret_runs import (
    RANDOM,
    TOP,
    Secret,
    check_cost,
    opened,
    results,
    secret_bits,
    tight,
    uniform,
)
from tests.support.grids import crossed

OWNERS = [None, Role.ALICE, Role.BOB]
COMPARISONS = {
    ">=": lambda a, b: a >= b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    "<": lambda a, b: a < b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
PAIRS = np.array([-5, -4, -1, 0, 1, 3, 4])


@pytest.mark.parametrize(
    ("name", "owners"),
    crossed(COMPARISONS, [(None, None), (None, Role.BOB), (Role.ALICE, Role.BOB), (Role.BOB, Role.BOB)]),
)
def test_comparisons(name, owners):
    compare = COMPARISONS[name]
    x, y = tight(np.repeat(PAIRS, 7), owners[0]), tight(np.tile(PAIRS, 7), owners[1])
    assert (opened(compare, x, y) == compare(x.held, y.held)).all()


@pytest.mark.parametrize("compare", COMPARISONS.values(), ids=COMPARISONS)
def test_comparisons_at_the_edges_of_a_word(compare):
    edges = np.array([0, 1, -1, TOP // 2, -(TOP // 2), TOP // 2 - 1, 1 << 61])
    x, y = tight(np.repeat(edges, 7)), tight(np.tile(edges, 7))
    assert (opened(compare, x, y) == compare(x.held, y.held)).all()


@pytest.mark.parametrize("compare", COMPARISONS.values(), ids=COMPARISONS)
def test_comparisons_with_public_numbers(compare):
    x = tight(uniform((6, 5), -9, 9))
    public = uniform((6, 5), -9, 9)
    assert (opened(lambda a: compare(a, public), x) == compare(x.held, public)).all()
    assert (opened(lambda a: compare(a, 3), x) == compare(x.held, 3)).all()
    assert (opened(lambda a: compare(public, a), x) == compare(public, x.held)).all()
    y = tight([8, 24, 23, 25], scale=4)
    assert (opened(lambda a: compare(a, Fixed.of(1.5, 1)), y) == compare(y.held, 24)).all()


def test_comparisons_cost_what_their_bounds_leave():
    x, y = (Secret(np.zeros(70), Bounds(0, 1000)) for _ in range(2))
    check_cost(cost_nonnegative(70, Bounds(-1000, 1000)), lambda a, b: a >= b, x, y)
    check_cost(cost_zero(70, Bounds(-1000, 1000)), lambda a, b: a == b, x, y)
    wide = cost_nonnegative(70, Bounds(-TOP, TOP))
    assert cost_nonnegative(70, Bounds(-1000, 1000)).alice_bytes < wide.alice_bytes / 4


def test_what_bounds_settle_is_not_sent():
    x = Secret([3, 9], Bounds(3, 9))
    for settled in (lambda a: a >= 3, lambda a: a < 3, lambda a: a == 2, lambda a: a == 10, lambda a: a <= 9):
        check_cost(Cost(), settled, x)
    assert (opened(lambda a: a >= 3, x)).all()
    assert not (opened(lambda a: a < 3, x)).any()
    assert not (opened(lambda a: a == 10, x)).any()
    assert (opened(lambda a: a == 7, Secret([7], Bounds(7, 7)))).all()
    check_cost(Cost(), lambda a: (a >= 5, a == 4, a * 2 < 9), tight([3, 9], Role.BOB))


def test_bits_follow_the_rules_of_logic():
    left, right = np.array([0, 0, 1, 1] * 20, dtype=np.uint8), np.array([0, 1] * 40, dtype=np.uint8)
    masks = RANDOM.bits(160).reshape(2, 80)
    public = right.astype(bool)

    def side(session):
        a, b = secret_bits(session, left, masks[0]), secret_bits(session, right, masks[1])
        made = [a & b, a | b, a ^ b, ~a, a & public, a | public, public ^ a, a ^ True, a & False, a[3:9]]
        made.append((a.reshape(20, 4) & b[:4]).reshape(80))
        return [m.reveal() for m in made]

    one, other = left == 1, right == 1
    wanted = [one & other, one | other, one ^ other, ~one]
    wanted += [one & other, one | other, one ^ other, ~one, one & False, one[3:9]]
    wanted.append((one.reshape(20, 4) & other[:4]).reshape(80))
    for run in run_pair(side, side):
        for value, expected in zip(run, wanted, strict=True):
            assert (value == expected).all()


def test_bits_are_checked_and_cost_as_declared():
    def side(session):
        bits = secret_bits(session, np.ones(70, dtype=np.uint8), np.zeros(70, dtype=np.uint8))
        for wrong in (1, np.arange(70)):
            with pytest.raises(UsageError):
                bits & wrong
        for shares in (
            np.full(3, 2, dtype=np.uint8),
            np.zeros(3, dtype=np.int64),
            np.zeros((), dtype=np.uint8),
        ):
            with pytest.raises(UsageError):
                SecretBits(session, shares)
        session.oblivious.setup()
        before = session.channel.traffic
        both = bits & bits
        middle = session.channel.traffic
        assert (both.reveal({Role.BOB}) is None) == (session.role is Role.ALICE)
        return middle.since(before), session.channel.traffic.since(middle)

    alice, bob = run_pair(side, side)
    assert (alice[0].sent, bob[0].sent, alice[0].rounds) == (
        cost_of(conjunction(70)).alice_bytes,
        cost_of(conjunction(70)).bob_bytes,
        cost_of(conjunction(70)).rounds,
    )
    assert cost_opening_bits(70, {Role.BOB}).alice_bytes == 9
    assert (alice[1].sent, bob[1].sent) == (9, 0)


@pytest.mark.parametrize(
    "owners", [(None, None), (Role.ALICE, Role.ALICE), (Role.BOB, Role.BOB), (None, Role.BOB)]
)
def test_selection(owners):
    x, y = tight(uniform(64, -TOP, TOP), owners[0]), tight(uniform(64, -TOP, TOP), owners[1])
    which = tight(uniform(64, 0, 1))
    wanted = np.where(which.held == 1, x.held, y.held)
    assert (opened(lambda c, a, b: select(c == 1, a, b), which, x, y) == wanted).all()
    owner = owners[0] if owners[0] is owners[1] else None
    cost = cost_nonnegative(64, Bounds(-1, 0)) + cost_select(64, owner)
    check_cost(cost, lambda c, a, b: select(c >= 1, a, b), which, x, y)


def test_selection_broadcasts_and_keeps_scales():
    x = tight(uniform((4, 3), -9, 9), scale=3)
    wanted = np.where(x.held >= 0, x.held, 0)
    assert (opened(lambda a: select(a >= 0, a, a[0] * 0), x) == wanted).all()
    assert results(lambda a: select(a >= 0, a, a * 0).scale, x) == (3, 3)
    with pytest.raises(UsageError, match="select"):
        results(lambda a: select(a >= 0, a, a.rescale(4)), x)


def test_bits_become_integers():
    x = tight(uniform((8, 9), -5, 5))
    assert (opened(lambda a: SecretInts.from_bits(a >= 0), x) == (x.held >= 0)).all()
    cost = cost_nonnegative(72, x.bounds) + cost_to_words(72)
    check_cost(cost, lambda a: SecretInts.from_bits(a >= 0), x)


@pytest.mark.parametrize(
    ("shape", "owner"), crossed([(1,), (2,), (7,), (8,), (3, 5), (6, 1), (2, 9)], OWNERS)
)
def test_the_least_and_the_largest(shape, owner):
    x = tight(uniform(shape, -3, 3), owner)
    for axis in range(len(shape)):
        for place, value, plain_place, plain in (
            (SecretInts.argmin, SecretInts.minimum, np.argmin, np.min),
            (SecretInts.argmax, SecretInts.maximum, np.argmax, np.max),
        ):
            at = axis
            assert (opened(lambda a, p=place, at=at: p(a, at), x) == plain_place(x.held, axis=at)).all()
            assert (opened(lambda a, v=value, at=at: v(a, at)[1], x) == plain(x.held, axis=at)).all()


def test_the_least_of_extreme_values():
    half = TOP // 2
    x = Secret([[half, -half, 0, -half], [half, half - 1, half, half]], Bounds(-half, half))
    assert (opened(lambda a: a.argmin(), x) == [1, 1]).all()
    assert (opened(lambda a: a.argmax(), x) == [0, 0]).all()


@pytest.mark.parametrize(("shape", "levels"), [((1, 2), 1), ((3, 8), 3), ((2, 9), 4), ((5, 1), 0)])
def test_the_rounds_of_a_tournament(shape, levels):
    x = Secret(np.zeros(shape), Bounds(0, 255))
    cost = cost_least(*shape, x.bounds)
    check_cost(cost, lambda a: a.argmin(), x)
    single = cost_nonnegative(1, Bounds(-255, 255)) + cost_select(1)
    assert cost.rounds <= levels * single.rounds
    assert (cost.rounds > 0) == (levels > 0)


def test_nothing_has_no_least():
    with pytest.raises(UsageError, match="argmin"):
        results(lambda a: a[:0].argmin(), tight([1]))


@pytest.mark.parametrize(("bits", "owner"), crossed([1, 2, 13, 31, 61], OWNERS))
def test_truncation_is_exact(bits, owner):
    edges = [0, 1, -1, (1 << bits) - 1, 1 << bits, -(1 << bits), -(1 << bits) - 1, 1 << 61, -(1 << 61)]
    reach = (1 << 61) + 1
    x = Secret([*edges, *uniform(200, -reach, reach)], Bounds(-reach, reach), owner)
    assert (opened(lambda a: a.truncate(bits), x) == x.held >> bits).all()
    assert results(lambda a: a.truncate(bits).bounds, x)[0] == Bounds(-reach >> bits, reach >> bits)
    cost = Cost() if owner else truncation.cost_shift(len(x.held), bits)
    check_cost(cost, lambda a: a.truncate(bits), x)


def test_truncation_of_the_largest_words():
    for bounds in (Bounds(0, TOP), Bounds(-TOP, -1), Bounds(TOP - 5, TOP)):
        x = Secret([bounds.lower, bounds.upper, bounds.upper - 1], bounds)
        assert (opened(lambda a: a.truncate(62), x) == x.held >> 62).all()
        assert (opened(lambda a: a.truncate(1), x) == x.held >> 1).all()
    assert (opened(lambda a: a.truncate(0), tight([5])) == [5]).all()
    with pytest.raises(UsageError):
        results(lambda a: a.truncate(63), tight([5]))


@pytest.mark.parametrize(
    ("divisor", "owner"), crossed([1, 2, 3, 7, 64, 1000, (1 << 31) + 11, (1 << 61) - 1], OWNERS)
)
def test_division_by_a_public_integer_is_exact(divisor, owner):
    edges = [0, 1, -1, divisor, -divisor, divisor - 1, 1 - divisor, 1 << 61, -(1 << 61)]
    x = Secret([*edges, *uniform(100, -(1 << 61), 1 << 61)], Bounds(-(1 << 61), 1 << 61), owner)
    assert (opened(lambda a: a // divisor, x) == x.held // divisor).all()


def test_division_by_a_public_integer_costs_as_declared():
    x = Secret(np.arange(10), Bounds(-100, 100))
    check_cost(truncation.cost_divide(10, 7), lambda a: a // 7, x)
    check_cost(truncation.cost_shift(10, 3), lambda a: a // 8, x)
    top = Secret([TOP, TOP - 1, 0], Bounds(0, TOP))
    assert (opened(lambda a: a // 10, top) == top.held // 10).all()
    for wrong in (0, -3):
        with pytest.raises(UsageError, match="divisor"):
            results(lambda a, wrong=wrong: a // wrong, x)
    with pytest.raises(DomainError, match="divide"):
        results(lambda a: a // ((1 << 62) + 1), x)


@pytest.mark.parametrize("owner", OWNERS)
def test_division_by_a_secret_is_exact(owner):
    x = tight([0, 1, 5, 999, 1000, 12345, 70000, *uniform(60, 0, 70000)])
    y = tight([1, 1, 6, 1000, 1000, 3, 1, *uniform(60, 1, 1000)], owner)
    assert (opened(lambda a, b: a.divide(b, 0), x, y) == x.held // y.held).all()
    check_cost(
        division.cost_within(len(x.held), x.bounds, y.bounds, owner=owner),
        lambda a, b: a.divide(b, 0),
        x,
        y,
    )


@pytest.mark.parametrize(
    ("divisors", "largest"),
    crossed([(1, 1), (1, 2), (7, 8), (8, 9), (5, 16), (1, 17), (15, 33)], [0, 1, 15, 16, 64, 133]),
)
def test_division_of_all_small_integers(divisors, largest):
    lower, upper = divisors
    x, y = np.meshgrid(np.arange(largest + 1), np.arange(lower, upper + 1))
    numerators, divisors = tight(x.reshape(-1)), Secret(y.reshape(-1), Bounds(lower, upper))
    assert (opened(lambda a, b: a.divide(b, 0), numerators, divisors) == (x // y).reshape(-1)).all()


def test_division_in_fixed_point_is_off_by_less_than_a_unit():
    x = tight(uniform((5, 6), -(1 << 22), 1 << 22), scale=12)
    y = tight(uniform(6, 1 << 8, 1 << 14), scale=8)
    values = opened(lambda a, b: a.divide(b, 16), x, y)
    assert results(lambda a, b: a.divide(b, 16).scale, x, y) == (16, 16)
    for row, numerators in zip(values, x.held, strict=True):
        for value, n, d in zip(row, numerators, y.held, strict=True):
            exact = Fraction(int(n), 1 << 12) / Fraction(int(d), 1 << 8)
            error = abs(exact) - abs(Fraction(int(value), 1 << 16))
            assert 0 <= error < Fraction(1, 1 << 16)
            assert value == 0 or (value > 0) == (n > 0)


def test_divisors_that_could_be_zero_are_refused():
    x = tight([5, 6])
    for bounds in (Bounds(0, 9), Bounds(-3, 9)):
        with pytest.raises(DomainError, match="zero or negative"):
            results(lambda a, b: a.divide(b, 0), x, Secret([1, 2], bounds))
    with pytest.raises(UsageError, match="fractional"):
        results(lambda a, b: a.divide(b, 0), tight([5], scale=3), tight([1, 2]))


def test_nothing_is_secret_in_a_repr():
    x = tight([31337, 31330])
    texts = results(lambda a: repr(a) + repr(a >= 31333), x)
    assert texts[0] == texts[1]


def test_a_statistic_end_to_end():
    """Mean and spread of both parties' rows, in fixed point, shown to Bob only."""
    ages, others = uniform(40, 18, 99), uniform(30, 18, 99)
    first, second = Secret(ages, Bounds(0, 127), Role.ALICE), Secret(others, Bounds(0, 127), Role.BOB)

    def program(a, b):
        total = a.sum() + b.sum()
        mean = total.rescale(8) // 70
        return mean.reveal({Role.BOB})

    alice, bob = results(program, first, second)
    assert alice is None
    assert bob == [(int(ages.sum() + others.sum()) << 8) // 70]


def test_bits_times_integers_are_chosen_ones_in_either_order():
    def side(session):
        x, y = SecretInts.from_both(
            session, [[3, 90, 5], [4, 8, -5]][session.role is Role.BOB], Bounds(-9, 99)
        )
        chosen = [(x >= y) * y, y * (x >= y), (x >= 4) * x, (x >= 4).reshape(3, 1) * y]
        assert all(one.bounds.lower >= -9 and one.bounds.upper <= 99 for one in chosen)
        return [one.reveal().tolist() for one in chosen]

    for found in run_pair(side):
        assert found == [[0, 8, -5], [0, 8, -5], [0, 90, 5], [[0, 0, 0], [4, 8, -5], [4, 8, -5]]]


def test_bits_times_reals_in_fixed_point_keep_their_scale():
    def side(session):
        x, _ = SecretInts.from_both(session, Fixed.of([1.5, -2.25], 8), Bounds(-1000, 1000), scale=8)
        return ((x >= 0) * x).scale

    assert run_pair(side) == (8, 8)
