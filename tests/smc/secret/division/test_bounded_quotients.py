"""Quotients of which more is known than the bounds of both operands say: the same digits for far fewer bytes.

The figures are those of a log-rank test by the day: 3,600 days, 100,000 rows of either party, two groups.
"""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.division.division import cost_within
from smc.secret.ints import SecretInts, select
from smc.secret.sharing.bounds import Bounds
from smc.tracing.session import trace
from tests.smc.secret.secret_runs import Secret, check_cost, measured, opened, results, uniform

SCALE = 24
ONE = 1 << SCALE
ROWS, DAYS = 100_000, 3_600
PERSONS = Bounds(0, 2 * ROWS)


def parts_of_one(count, lower):
    """Numerators no larger than their divisors, and what is divided exactly, by one and at both ends."""
    most = 1 << 17
    y = uniform(count, 1, most)
    n = np.array([int(uniform(1, max(lower, -int(top)), int(top))[0]) for top in y])
    n[:4], y[:4] = (1, most, 0, most - 1), (1, most, 1, most)
    if lower:
        n[4:6], y[4:6] = (-most, -1), (most, most)
    return Secret(n, Bounds(lower, most)), Secret(y, Bounds(1, most))


@pytest.mark.parametrize("lower", [0, -(1 << 17)])
def test_no_digit_changes(lower):
    n, y = parts_of_one(300, lower)
    known, _ = results(lambda a, b: a.divide(b, SCALE, ONE), n, y)
    assert known.bounds == Bounds(-ONE if lower else 0, ONE)
    found = opened(lambda a, b: a.divide(b, SCALE, ONE), n, y)
    assert (found == np.sign(n.held) * ((np.abs(n.held) << SCALE) // y.held)).all()
    assert (found == opened(lambda a, b: a.divide(b, SCALE), n, y)).all()


def test_a_bound_that_says_nothing_costs_what_none_does():
    n, y = Secret(uniform(20, 0, 900), Bounds(0, 900)), Secret(uniform(20, 30, 90), Bounds(30, 90))
    assert measured(lambda a, b: a.divide(b, 4, 1 << 40), n, y) == measured(lambda a, b: a.divide(b, 4), n, y)
    assert results(lambda a, b: a.divide(b, 4, 1 << 40), n, y)[0].bounds == Bounds(0, 480)


def test_a_bound_below_zero_is_refused():
    n, y = Secret(uniform(2, 0, 9), Bounds(0, 9)), Secret(uniform(2, 1, 9), Bounds(1, 9))
    with pytest.raises(UsageError):
        opened(lambda a, b: a.divide(b, 4, -1), n, y)


@pytest.mark.parametrize(
    ("largest", "bytes_each", "rounds"), [(None, 22_682, 161), (2 * ONE, 7_331, 35)], ids=["unknown", "known"]
)
def test_a_part_of_those_at_risk_takes_a_third_of_the_bytes_and_a_fifth_of_the_rounds(
    largest, bytes_each, rounds
):
    divisor = Bounds(1, PERSONS.upper)
    cost = cost_within(DAYS, PERSONS.shift(SCALE), divisor, largest)
    assert ((cost.alice_bytes + cost.bob_bytes) // DAYS, cost.rounds) == (bytes_each, rounds)
    count = 5
    n, y = Secret(uniform(count, 0, 9), PERSONS), Secret(uniform(count, 9, 90), divisor)
    few = cost_within(count, PERSONS.shift(SCALE), divisor, largest)
    check_cost(few, lambda a, b: a.divide(b, SCALE, largest), n, y)


def log_rank(session, tables, largest):
    """O, E and V of the second group of two, by the day, held with `SCALE` fractional bits but O.

    Args:
        session: this side.
        tables: events and leavers, of both groups by the day, of this side.
        largest: of parts of one and of two.
    """
    days = tables[0].shape[1]
    events, leavers = (sum_of_sides(session, own, Bounds(0, PERSONS.upper // 2), (2, days)) for own in tables)
    at_risk = np.cumsum(leavers.shares[:, ::-1], axis=1)[:, ::-1]
    risk = SecretInts.from_shares(session, at_risk, PERSONS)
    deaths, persons = (table.sum(axis=0).with_bounds(PERSONS) for table in (events, risk))
    positive = Bounds(1, PERSONS.upper)
    whole = (SecretInts.from_bits(persons == 0) + persons).with_bounds(positive)
    part = risk[1].divide(whole, SCALE, largest).with_bounds(Bounds(0, ONE))
    expected = (deaths * part).with_bounds(PERSONS.shift(SCALE)).sum().with_bounds(PERSONS.shift(SCALE))
    less = persons - 1
    SecretInts.from_bits(less <= 0)
    rest = select(less >= 1, less, less * 0 + 1).with_bounds(positive)
    left = (
        (persons - deaths).with_bounds(PERSONS).divide(rest, SCALE, largest).with_bounds(Bounds(0, 2 * ONE))
    )
    spread = (part * (-part + 1)).with_bounds(Bounds(0, ONE * ONE // 4)).rescale(SCALE)
    spread = (spread * left).with_bounds(Bounds(0, ONE * ONE // 2)).rescale(SCALE)
    variance = (spread * deaths).with_bounds(PERSONS.shift(SCALE)).sum().with_bounds(PERSONS.shift(SCALE))
    return events[1].sum().with_bounds(PERSONS).reveal(), expected.reveal(), variance.reveal()


def sum_of_sides(session, own, bounds, shape):
    first, second = (
        SecretInts.from_plain(session, own if session.role is role else None, role, bounds, shape)
        for role in Role
    )
    return first + second


@pytest.mark.parametrize(
    ("largest", "megabytes", "rounds"), [(None, 190, 366), (2 * ONE, 79, 114)], ids=["unknown", "known"]
)
def test_a_log_rank_test_by_the_day_takes_79_megabytes_and_114_rounds(largest, megabytes, rounds):
    tables = [np.zeros((2, DAYS), dtype=np.int64)] * 2
    found = trace(lambda session: log_rank(session, tables, largest))
    assert (found.alice_bytes + found.bob_bytes) // 1_000_000 == megabytes
    assert found.rounds == rounds


def test_a_log_rank_test_gives_the_same_digits():
    sides = {role: uniform((2, 2, 20), 0, 9) for role in Role}
    for tables in sides.values():
        tables[1] += tables[0]  # whoever has an event leaves
        tables[1, :, -1] += 1
    observed, expected, variance = opened_log_rank(sides, 2 * ONE)
    assert (observed, expected, variance) == opened_log_rank(sides, None)
    events, leavers = sum(sides.values())
    risk = np.cumsum(leavers[:, ::-1], axis=1)[:, ::-1]
    deaths, persons = events.sum(axis=0), risk.sum(axis=0)
    part = risk[1] / persons
    assert observed == events[1].sum()
    assert expected / ONE == pytest.approx((deaths * part).sum(), abs=1e-3)
    exact = deaths * part * (1 - part) * (persons - deaths) / np.maximum(persons - 1, 1)
    assert variance / ONE == pytest.approx(exact.sum(), abs=1e-3)


def opened_log_rank(sides, largest):
    alice, bob = run_pair(lambda session: log_rank(session, sides[session.role], largest))
    assert alice == bob
    return tuple(int(value[0]) for value in alice)


def test_steps_serve_where_the_digits_of_an_exact_division_would_not_fit():
    """28 bits over 200,000 rows, of which multiples reach beyond a word."""
    divisor = Bounds(1, PERSONS.upper)
    with pytest.raises(DomainError):
        cost_within(DAYS, PERSONS.shift(28), divisor)
    y = uniform(50, 1, PERSONS.upper)
    n = y - uniform(50, 0, 1) * (y // 2)
    found = opened(lambda a, b: a.divide(b, 28, 1 << 28), Secret(n, PERSONS), Secret(y, divisor))
    assert (found == (n << 28) // y).all()
