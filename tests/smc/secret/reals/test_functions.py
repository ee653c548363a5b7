"""Functions by angles: how near they are, by encrypted sums and by transfers, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smc.errors import UsageError
from smc.pair import run_pair
from smc.secret.products import narrow_sums
from smc.secret.reals import functions, wave_coefficients
from smc.secret.reals.functions import EXP, MOST_WAVES, SIGMOID, SLOPE, Angles, at_angles, fit, waves
from tests.smc.secret.reals.sharing import reals


@pytest.mark.parametrize(
    ("function", "count", "error"),
    [(SIGMOID, 12, 3e-4), (SIGMOID, 6, 2e-2), (SLOPE, 12, 1.5e-3), (SLOPE, 6, 4e-2), (EXP, 12, 3e-4)],
)
def test_waves_are_near_and_stay_below_what_is_stated(function, count, error):
    found = waves(function, count)
    x = np.linspace(function.lower, function.upper, 5000)
    assert np.abs(found.at(x) - function.of(x)).max() <= 1.05 * found.error
    assert found.error < error
    everywhere = np.linspace(0, function.period, 20_000)
    assert np.abs(found.at(everywhere) - found.constant).max() < function.most


@pytest.mark.parametrize("function", [SIGMOID, SLOPE, EXP], ids=lambda function: function.name)
def test_what_stands_in_the_program_is_as_near_as_a_fit(function):
    found = waves(function, MOST_WAVES)
    assert [found.constant, *found.cosines, *found.sines] == [
        number * wave_coefficients.UNIT for number in function.coefficients
    ]
    assert found.error <= 1.01 * fit(function, MOST_WAVES).error


def test_a_function_without_coefficients_is_fitted():
    own = replace(EXP, coefficients=())
    assert waves(own, MOST_WAVES).error == pytest.approx(waves(EXP, MOST_WAVES).error, rel=0.01)


@pytest.mark.parametrize("count", [50, 3000])
def test_several_functions_of_secret_numbers(count, monkeypatch):
    """The reach that their waves have, by both ways of forming products, each where it costs less."""
    used = []
    honest = narrow_sums.sums
    monkeypatch.setattr(narrow_sums, "sums", lambda *args: (used.append(args[2]), honest(*args))[1])
    x = np.linspace(-10, 10, count)
    wanted = [waves(SIGMOID, 12), waves(SLOPE, 12)]

    def side(session):
        angles = Angles.of(reals(session, x, -10, 10, 20), 32)
        return [each.reveal() for each in at_angles(angles, wanted)]

    found, _ = run_pair(side, side, timeout=60)
    assert used == ([24, 24] if count > 2000 else [])
    for each, values in zip(wanted, found, strict=True):
        assert np.abs(values - each.at(x)).max() < 0.003
        assert np.abs(values - each.function.of(x)).max() < each.error + 0.003
        assert abs((values - each.at(x)).mean()) < 2e-4


def test_what_does_not_go_together_is_refused():
    def side(session):
        angles = Angles.of(reals(session, np.zeros(3), -1, 1, 20), 32)
        with pytest.raises(UsageError, match="different numbers of waves"):
            at_angles(angles, [waves(SIGMOID, 4), waves(SLOPE, 5)])
        with pytest.raises(UsageError, match="another period"):
            at_angles(angles, [waves(EXP, 8)])

    run_pair(side, side, timeout=60)
    for count in (0, MOST_WAVES + 1):
        with pytest.raises(UsageError, match="not possible"):
            waves(SIGMOID, count)


def test_function_names_are_for_people():
    assert {functions.SIGMOID.name, functions.EXP.name} == {"sigmoid", "exponential"}
