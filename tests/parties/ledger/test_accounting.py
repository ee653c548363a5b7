"""Composition: sums, the root of many small losses, and the bounds against exactly known mechanisms."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from itertools import product
from math import comb, erfc, exp, log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.errors import BudgetError
from parties.ledger.accounting import DELTA_TOTAL, Account, Budget, Spent, describe_loss, show_number
from smc.analyses.studies.loss import Loss

epsilons = st.fractions(min_value=0, max_value=3, max_denominator=1000)
losses = st.builds(
    Loss,
    epsilons,
    st.just(Fraction(0)) | st.just(Fraction(1, 2**45)),
    st.fractions(0, 1, max_denominator=1000),
)


def together(given):
    total = Spent()
    for loss in given:
        total += loss
    return total


@given(st.lists(losses, max_size=6), losses)
def test_a_further_loss_never_makes_the_total_smaller(given_losses, further):
    total = together(given_losses)
    assert (total + further).epsilon_at(DELTA_TOTAL) >= total.epsilon_at(DELTA_TOTAL)
    assert together(reversed(given_losses)) == total
    assert total.epsilon_at(DELTA_TOTAL) <= sum((loss.epsilon for loss in given_losses), Fraction(0)) + Loss(
        delta=total.loss.delta, rho=total.loss.rho
    ).epsilon_at(DELTA_TOTAL)


def test_few_losses_are_summed_exactly_and_many_come_to_their_root():
    tenth = Loss(Fraction(1, 10))
    assert together([tenth] * 3).epsilon_at(DELTA_TOTAL) == Fraction(3, 10)
    many = together([tenth] * 1000).epsilon_at(DELTA_TOTAL)
    # rho = 1000 / 200 = 5, so 5 + 2 * sqrt(5 * 30 * log 2) = 25.39
    assert many == pytest.approx(5 + 2 * sqrt(5 * 30 * log(2)), abs=1e-9)
    assert many >= Fraction(5 + 2 * sqrt(5 * 30 * log(2))) - Fraction(1, 10**12)


def normal_tail(x):
    return erfc(x / sqrt(2)) / 2


def gaussian_delta(epsilon, mu):
    """The exact delta of Gaussian noise with sensitivity over deviation mu, for any real epsilon.

    Balle and Wang, Improving the Gaussian mechanism for differential privacy, ICML 2018, theorem 8.
    """
    if not mu:
        return max(0.0, 1 - exp(epsilon))
    return normal_tail(epsilon / mu - mu / 2) - exp(epsilon) * normal_tail(epsilon / mu + mu / 2)


def true_delta(epsilon, mu, each, runs):
    """The exact delta of Gaussian noise together with runs of randomised response at `each`."""
    p = exp(each) / (1 + exp(each))
    terms = (
        comb(runs, j) * p**j * (1 - p) ** (runs - j) * gaussian_delta(epsilon - (2 * j - runs) * each, mu)
        for j in range(runs + 1)
    )
    return sum(terms)


@pytest.mark.parametrize(
    ("rho", "each", "runs"), list(product(["0", "1/200", "1/2"], ["1/20", "1/2", "2"], [1, 5, 60]))
)
def test_the_bound_holds_for_mechanisms_whose_loss_is_known_exactly(rho, each, runs):
    delta = Fraction(1, 10**6)
    total = together([Loss(rho=Fraction(rho)), *[Loss(Fraction(each))] * runs])
    bound = float(total.epsilon_at(delta))
    mu = sqrt(2 * Fraction(rho))
    assert true_delta(bound, mu, float(Fraction(each)), runs) <= 1e-6 * (1 + 1e-6)
    # It is no idle bound: a third of it does not hold.
    assert true_delta(bound / 3, mu, float(Fraction(each)), runs) > 1e-6


def test_deltas_are_taken_off_and_cannot_be_passed():
    loss = Loss(Fraction(1), Fraction(1, 2**31))
    assert (Spent() + loss).epsilon_at(DELTA_TOTAL) == 1
    assert (Spent() + loss + loss).epsilon_at(DELTA_TOTAL) == 2
    with pytest.raises(BudgetError, match="delta"):
        (Spent() + loss + loss + loss).epsilon_at(DELTA_TOTAL)
    with pytest.raises(BudgetError):
        (Spent() + loss + loss + Loss(rho=Fraction(1, 100))).epsilon_at(DELTA_TOTAL)
    alone, beside = (Spent() + Loss(Fraction(0), d, Fraction(1, 8)) for d in (Fraction(0), DELTA_TOTAL / 2))
    assert beside.epsilon_at(DELTA_TOTAL) > alone.epsilon_at(DELTA_TOTAL)


def test_a_budget_is_met_exactly_and_never_passed():
    spent = Spent() + Loss(Fraction(3, 4))
    spent.check(Budget(Fraction(1)), Loss(Fraction(1, 4)), "d")
    with pytest.raises(BudgetError, match=r"0\.75 spent makes epsilon 1\.00001 of 1") as caught:
        spent.check(Budget(Fraction(1)), Loss(Fraction(1, 4) + Fraction(1, 10**9)), "d")
    assert caught.value.hint
    gaussian = Loss(rho=Fraction(1, 100))
    needed = (Spent() + gaussian).epsilon_at(DELTA_TOTAL)
    Spent().check(Budget(needed), gaussian, "d")
    with pytest.raises(BudgetError):
        Spent().check(Budget(needed - Fraction(1, 10**11)), gaussian, "d")
    with pytest.raises(BudgetError):
        Spent().check(Budget(needed, DELTA_TOTAL / 2), gaussian, "d")


def test_an_account_covers_its_data_sets_and_what_was_written_for_it():
    people = Account("people", frozenset({"visits", "patients"}))
    assert people.covers("people", "gone")
    assert people.covers("visits", "visits")
    assert not people.covers("staff", "staff")
    assert Account.of("visits").covers("people", "visits")


@given(st.fractions(min_value=0, max_value=10**9))
def test_numbers_for_people_are_exact_or_rounded(value):
    up, down = Fraction(show_number(value)), Fraction(show_number(value, ROUND_FLOOR))
    if value < 10**4 and (value * 10**4).denominator == 1:
        assert up == down == value
    else:
        assert down <= value <= up <= value * Fraction(100001, 100000)
        assert down >= value * Fraction(99999, 100000)


@pytest.mark.parametrize(
    "value", [Fraction(10**9000 + 1, 10**9000), Fraction(1, 3**20000), Fraction(7**9000)]
)
def test_numbers_of_thousands_of_digits_are_shown(value):
    assert len(show_number(value)) < 20
    assert (
        Fraction(Decimal(show_number(value, ROUND_FLOOR))) <= value <= Fraction(Decimal(show_number(value)))
    )


def test_sums_of_odd_denominators_stay_short_and_never_fall_below_the_truth():
    given_losses = [Loss(Fraction(1, 10**29 + 9 + 2 * i), rho=Fraction(1, 7 + 2 * i)) for i in range(400)]
    total = together(given_losses)
    exact = sum((loss.epsilon for loss in given_losses), Fraction(0))
    assert exact.denominator.bit_length() > 20_000
    assert exact < total.loss.epsilon < exact + Fraction(1, 2**4000)
    for number in (total.loss.epsilon, total.loss.rho, total.squares):
        assert number.denominator.bit_length() <= 4097
    halves = together(given_losses[:200]) + together(given_losses[200:])
    assert exact < halves.loss.epsilon < exact + Fraction(1, 2**4000)


@given(st.fractions(0, 1, max_denominator=64), st.integers(1, 40), st.booleans())
def test_the_jobs_that_delta_leaves_room_for(spent_part, parts, gaussian):
    each = Loss(Fraction(1, 10), DELTA_TOTAL / parts, Fraction(gaussian, 100))
    spent = Spent() + Loss(delta=DELTA_TOTAL * spent_part)
    left = spent.jobs_left(DELTA_TOTAL, each)
    for _ in range(left):
        spent += each
        spent.epsilon_at(DELTA_TOTAL)
    assert spent.jobs_left(DELTA_TOTAL, each) == 0
    with pytest.raises(BudgetError):
        (spent + each).epsilon_at(DELTA_TOTAL)
    assert Spent().jobs_left(DELTA_TOTAL, Loss(Fraction(1))) is None


def test_the_default_delta_has_room_for_a_thousand_noisy_jobs():
    assert Spent().jobs_left(DELTA_TOTAL, Loss(Fraction(1, 100), Fraction(1, 2**40))) == 1024


def test_a_loss_in_words():
    assert describe_loss(Loss()) == "nothing"
    assert describe_loss(Loss(Fraction(1, 2), Fraction(1, 2**40), Fraction(1, 8))) == (
        "epsilon 0.5, rho 0.125, delta 2^-40"
    )
