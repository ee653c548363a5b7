"""Secret numbers with fractions beside numpy: scales, ranges and rounding look after themselves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.reals.reals import SecretReals, join
from smc.secret.sharing.fixed import Fixed
from tests.smc.secret.reals.sharing import cost_of_run, cost_of_trace, opened, reals
from tests.smc.secret.secret_runs import uniform

HALF = 2.0**-21
"""Of the last unit of 20 fractional bits."""


def drawn(shape, lower, upper, scale=20):
    """Random numbers of so many fractional bits."""
    return np.ldexp(uniform(shape, int(lower * 2**scale), int(upper * 2**scale)).astype(float), -scale)


@pytest.fixture
def x():
    return drawn((3, 8), -2, 2)


@pytest.fixture
def y():
    return drawn((3, 8), -2, 2)


PROGRAMS = {
    "sum": (lambda x, y: x + y, lambda x, y: x + y, 0),
    "difference": (lambda x, y: x - y, lambda x, y: x - y, 0),
    "from one": (lambda x, y: 1 - x, lambda x, y: 1 - x, 0),
    "negative": (lambda x, y: -x, lambda x, y: -x, 0),
    "product": (lambda x, y: x * y, lambda x, y: x * y, HALF),
    "square": (lambda x, y: x * x, lambda x, y: x * x, HALF),
    "whole factor": (lambda x, y: x * 3, lambda x, y: x * 3, 0),
    "fixed factor": (lambda x, y: x * Fixed.of(0.3, 25), lambda x, y: x * 0.3, 2.0**-24),
    "fixed term": (lambda x, y: x + Fixed.of(0.25, 25), lambda x, y: x + 0.25, 0),
    "matrix": (lambda x, y: x @ y.T, lambda x, y: x @ y.T, HALF),
    "public matrix": (lambda x, y: np.eye(3, dtype=np.int64) @ x, lambda x, y: x, 0),
    "rows": (lambda x, y: x.sum(axis=0), lambda x, y: x.sum(axis=0), 0),
    "known rows": (lambda x, y: x.sum(axis=0, known=(-9, 9)), lambda x, y: x.sum(axis=0), 0),
    "known total": (lambda x, y: x.sum(known=(-60, 60)), lambda x, y: x.sum().reshape(1), 0),
    "all": (lambda x, y: x.sum(), lambda x, y: [x.sum()], 0),
    "prefixes": (lambda x, y: x.cumsum(axis=1), lambda x, y: x.cumsum(axis=1), 0),
    "suffixes": (
        lambda x, y: x.cumsum(axis=1, reverse=True),
        lambda x, y: x[:, ::-1].cumsum(axis=1)[:, ::-1],
        0,
    ),
    "some prefixes": (
        lambda x, y: x.cumsum(axis=0, at=[0, 2]),
        lambda x, y: x.cumsum(axis=0)[[0, 2]],
        0,
    ),
    "fewer bits": (lambda x, y: x.rescale(6), lambda x, y: x, 2.0**-7),
    "more bits": (lambda x, y: x.rescale(30), lambda x, y: x, 0),
    "part": (lambda x, y: x[1:, [0, 3]].reshape(4, 1), lambda x, y: x[1:, [0, 3]].reshape(4, 1), 0),
    "joined": (lambda x, y: join([x, y.rescale(24)]), lambda x, y: np.concatenate([x, y]), 0),
    "either": (
        lambda x, y: x.select(x.ints >= y.ints, y.rescale(22)),
        np.maximum,
        0,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_as_numpy_says(name, x, y):
    program, reference, error = PROGRAMS[name]
    found = opened(lambda s: program(reals(s, x, -2, 2, 20), reals(s, y, -2, 2, 20)).reveal())
    wanted = np.asarray(reference(x, y))
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= error


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_over_shapes_takes_the_bytes_and_rounds_of_a_run(name, x, y):
    program, _, _ = PROGRAMS[name]
    secrets = [lambda s, v=v: reals(s, v, -2, 2, 20) for v in (x, y)]

    def run(x, y):
        program(x, y).within(-1, 1).reveal()

    real = cost_of_run(_swallowed(run), *secrets)
    assert real == cost_of_trace(run, *secrets)


def _swallowed(run):
    """A run whose data may lie outside what it states."""

    def program(*secrets):
        try:
            run(*secrets)
        except DomainError:
            return

    return program


@pytest.mark.parametrize("at", [None, [29], [4, 9, 14, 19, 24, 29], [0, 1, 17, 28]])
@pytest.mark.parametrize("axis", [0, 1])
def test_products_up_to_places(at, axis):
    part = drawn((2, 30), 0, 1)
    parts = part if axis else part.T
    found = opened(lambda s: reals(s, parts, 0, 1, 20).cumprod(axis=axis, at=at).reveal())
    wanted = np.cumprod(part, axis=1)[:, at or slice(None)]
    assert np.abs(found - (wanted if axis else wanted.T)).max() <= 10 * HALF


def test_products_up_to_places_take_8_rounds_for_each_level():
    def rounds(length, at):
        parts = lambda s: reals(s, np.ones((2, length)), 0, 1, 20)  # noqa: E731
        return cost_of_trace(lambda x: x.cumprod(at=at), parts)[2]

    level = rounds(4, [3]) - rounds(2, [1])
    setup = rounds(2, [1]) - level
    assert level == 8
    assert rounds(32, [31]) == setup + 5 * level
    assert rounds(32, list(range(3, 32, 4))) == setup + (2 + 3) * level


def test_a_hazard_is_a_part_of_those_at_risk():
    """The whole of a survival curve: suffix sums, quotients, products."""
    counts = uniform((2, 30), 0, 500).astype(float)
    events, leavers = np.minimum(counts, 4), counts + 4

    def program(s):
        d, x = (reals(s, values, 0, 600, 0) for values in (events, leavers))
        risk = x.cumsum(axis=1, reverse=True)
        hazard = d.over(risk.or_one(), bits=26)
        return (1 - hazard).cumprod(axis=1, at=[9, 19, 29]).reveal()

    at_risk = leavers[:, ::-1].cumsum(axis=1)[:, ::-1]
    wanted = np.cumprod(1 - events / at_risk, axis=1)[:, [9, 19, 29]]
    assert np.abs(opened(program) - wanted).max() < 1e-6


def test_one_stands_in_the_place_of_nothing():
    for scale in (0, 5):
        found = opened(lambda s, scale=scale: reals(s, [0, 1, 2, 0, 7], 0, 9, scale).or_one().reveal())
        assert found.tolist() == [1, 1, 2, 1, 7]
    with pytest.raises(DomainError, match="negative"):
        run_pair(lambda s: reals(s, [0, 1], -1, 9, 0).or_one())


def test_quotients_of_signed_numbers():
    n, y = drawn(40, -3, 3, 8), uniform(40, 3, 90).astype(float)
    found = opened(lambda s: reals(s, n, -3, 3, 8).over(reals(s, y, 3, 90, 0), 20, largest=1).reveal())
    assert np.abs(found - n / y).max() <= 2 * HALF


def test_what_both_have_is_added_up_for_nothing():
    sides = {Role.ALICE: [[0.5, -1], [2, 3]], Role.BOB: [[1.5, 0.25], [-2, 1]]}

    def program(session):
        before = session.channel.traffic
        total = SecretReals.sum_of_both(session, sides[session.role], -4, 4, 8)
        assert session.channel.traffic == before
        assert (total.lower, total.upper) == (-8, 8)
        return total.reveal()

    assert opened(program).tolist() == [[2, -0.75], [0, 4]]


def test_the_input_of_one_party_is_checked_by_it():
    def program(session, values):
        mine = values if session.role is Role.BOB else None
        return SecretReals.from_plain(session, mine, Role.BOB, -1, 1, 2, 10)

    found = opened(lambda session: program(session, [0.25, -1]).reveal())
    assert found.tolist() == [0.25, -1]
    with pytest.raises(DomainError, match="declared bounds"):
        run_pair(lambda session: program(session, [0.25, -1.5]))


def test_scales_and_ranges_follow(x):
    numbers = x

    def program(session):
        x, n = reals(session, numbers, -2, 2, 20), reals(session, np.full((2, 8), 500), 0, 500, 0)
        product = x[:2] * n
        assert product.scale == 20
        assert (product.lower, product.upper) == (-1000, 1000)
        assert (x * x).scale == 20
        assert (x * x).upper == 4
        assert (x + n[:1].rescale(3)).scale == 20
        known = product.known(-10, Fraction(1, 3))
        assert known.lower == -10
        assert Fraction(1, 3) <= known.upper < Fraction(1, 3) + Fraction(1, 1 << 19)
        assert product.known(-5000, 7).lower == -1000
        with pytest.raises(DomainError, match="none can lie"):
            product.within(1001, 1002)
        assert repr(product) == "SecretReals(shape=(2, 8), -1000 to 1000, scale=20)"

    run_pair(program)


def test_what_could_wrap_is_refused_before_anything_is_sent(x):
    def program(session):
        wide = reals(session, x, -(2**25), 2**25, 20)
        before = session.channel.traffic
        with pytest.raises(DomainError):
            _ = wide * wide
        with pytest.raises(DomainError, match="-1 to 1"):
            wide.cumprod()
        with pytest.raises(UsageError, match="fractional bits"):
            wide.reciprocal(20)
        with pytest.raises(UsageError, match="ascending"):
            wide.known(0, 1).cumprod(at=[3, 2])
        assert session.channel.traffic == before

    run_pair(program)


def test_a_secret_has_no_truth_and_is_no_array():
    def program(session):
        x = reals(session, [0.5, 1], -2, 2, 20)
        with pytest.raises(UsageError):
            bool(x)
        with pytest.raises(UsageError):
            np.asarray(x)

    run_pair(program)


def test_many_large_numbers_that_are_known_to_add_up_to_little_do_not_wrap():
    """By their ranges alone a sum of 4,096 of them could need more than a word."""

    def run(session):
        numbers = reals(session, np.ones((1, 4096)), 0, 2.0**30, 24)
        with pytest.raises(DomainError, match="sum"):
            numbers.sum()
        return numbers.sum(known=(0, 2.0**30)).reveal()

    assert run_pair(run)[0].tolist() == [4096.0]
