"""Logarithms of secret numbers: how near they are, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import DomainError
from smc.pair import run_pair
from smc.secret.reals.logarithms import logarithms
from tests.smc.secret.reals.sharing import cost_of_run, cost_of_trace, opened, reals

NUMBERS = [2.0**-8, 0.01, 0.49, 0.5, 1, 1.5, 2, 2.71828, 100.25, 4095]


@pytest.mark.parametrize("scale", [8, 24])
def test_logarithms_are_near(scale):
    found = opened(lambda session: logarithms(reals(session, NUMBERS, 2.0**-8, 4096, scale)).reveal())
    wanted = np.log(np.rint(np.ldexp(NUMBERS, scale)) * 2.0**-scale)
    assert np.abs(found - wanted).max() < 2**-20


def test_powers_of_two_and_the_numbers_next_to_them():
    counts = sorted({n for power in range(40) for n in ((1 << power) - 1, 1 << power, (1 << power) + 1) if n})
    found = opened(lambda session: logarithms(reals(session, counts, 1, 2**40 + 1, 0)).reveal())
    assert np.abs(found - np.log(counts)).max() < 2**-20


def test_an_estimate_is_the_run():
    secret = lambda session: reals(session, NUMBERS, 2.0**-8, 4096, 10)  # noqa: E731
    assert cost_of_run(logarithms, secret) == cost_of_trace(logarithms, secret)


@pytest.mark.parametrize(("lower", "upper"), [(0, 5), (-1, 5), (1, 2.0**61)])
def test_what_could_have_no_logarithm_is_refused(lower, upper):
    def side(session):
        with pytest.raises(DomainError, match="logarithm"):
            logarithms(reals(session, [1.0], lower, upper, 0))

    run_pair(side, side, timeout=60)
