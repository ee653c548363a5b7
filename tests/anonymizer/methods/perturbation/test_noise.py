"""Noise: its distribution, what it keeps, what an attacker expects. Tests alarm once in a million."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, laplace, norm

from anonymizer.errors import TableError
from anonymizer.methods.perturbation.noise import CorrelatedNoise, MultiplicativeNoise, Noise, smallest_step
from anonymizer.risk.candidates import exactly
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles

ALARM = 1e-6
DEVIATIONS = norm.isf(ALARM / 2)
ROWS = 20_000


def numbers() -> pd.DataFrame:
    random = Randomness(11)
    first = random.normal(ROWS)
    second = 0.8 * first + 0.6 * random.normal(ROWS)
    return pd.DataFrame(
        {"age": np.round(40 + 12 * first), "pay": 1000 * second, "rest": random.uniform(ROWS)}
    )


@pytest.mark.parametrize(("distribution", "shape"), [("laplace", laplace), ("gaussian", norm)])
def test_the_law_is_the_stated_one(distribution, shape):
    frame = numbers()
    method = Noise(
        digits=12,
        distribution=distribution,
        scales={"age": 2.0, "pay": 30.0},
        columns=("age", "pay"),
        random_state=1,
    )
    out = method.fit_transform(frame)
    noise = (out - frame)[["age", "pay"]] / [2.0, 30.0]
    for column in noise:
        assert kstest(noise[column], shape.cdf).pvalue > ALARM
    assert abs(noise.corr().iloc[0, 1]) < DEVIATIONS / np.sqrt(ROWS)
    assert (out["rest"] == frame["rest"]).all()


def test_the_scale_of_the_thesis_is_a_unit_by_epsilon():
    method = Noise(epsilon=0.5, columns=("age", "pay"), units={"pay": 100.0}).fit(numbers())
    assert method.scales_ == {"age": 2.0, "pay": 200.0}
    assert smallest_step(np.array([3.0, 1.5, np.nan, 7.0, 3.0])) == 1.5
    assert smallest_step(np.array([3.0, 3.0])) == 1.0


def test_gaps_stay_and_numbers_are_clamped_and_rounded():
    frame = numbers()
    frame.loc[::7, "age"] = np.nan
    method = Noise(epsilon=0.1, columns=("age",), bounds={"age": (0.0, 90.0)}, digits=0, random_state=2)
    out = method.fit_transform(frame)["age"]
    assert (out.isna() == frame["age"].isna()).all()
    assert out.min() == 0
    assert out.max() == 90
    assert (out.dropna() == out.dropna().round()).all()


def reached(method, frame, column):
    """The shares of rows that an attacker finds with high and with any confidence."""
    out = method.fit_transform(frame)[column].to_numpy()
    candidates = method.simulate(column, exactly(frame[column].to_numpy(), numeric=True))
    return tuple(
        np.mean((ends[:, 0] <= out) & (out <= ends[:, 1])) for ends in (candidates.high, candidates.low)
    )


@pytest.mark.parametrize("confidence", [0.5, 0.9])
@pytest.mark.parametrize(
    "method",
    [
        Noise(epsilon=0.5, columns=("age",), digits=12, random_state=3),
        Noise(distribution="gaussian", scales={"age": 3.0}, columns=("age",), digits=12, random_state=3),
        CorrelatedNoise(factor=0.3, columns=("age", "pay"), digits=12, random_state=3),
        MultiplicativeNoise(deviation=0.1, columns=("age",), digits=12, random_state=3),
    ],
    ids=lambda method: method.name,
)
def test_an_attacker_is_confident_as_often_as_stated(method, confidence):
    high, low = reached(method.set_params(confidence=confidence), numbers(), "age")
    assert abs(high - confidence) < DEVIATIONS * np.sqrt(confidence * (1 - confidence) / ROWS)
    assert low == 1


@pytest.mark.parametrize(
    "method",
    [
        Noise(epsilon=0.5, columns=("age",), digits=0, bounds={"age": (20, 60)}, random_state=4),
        CorrelatedNoise(columns=("age", "pay"), rescaled=True, digits=-1, random_state=4),
        MultiplicativeNoise(columns=("age",), digits=1, bounds={"age": (20, 60)}, random_state=4),
    ],
    ids=lambda method: method.name,
)
def test_clamped_and_rounded_cells_are_reached_too(method):
    high, low = reached(method, numbers(), "age")
    assert low == 1
    assert 0.89 < high < 1


def test_correlated_noise_has_the_covariance_of_the_data():
    frame = numbers()
    method = CorrelatedNoise(digits=12, factor=0.5, columns=("age", "pay"), random_state=5)
    out = method.fit_transform(frame)
    noise = (out - frame)[["age", "pay"]].to_numpy()
    covariance = 0.5 * np.cov(frame["age"], frame["pay"], bias=True)
    white = noise @ np.linalg.inv(np.linalg.cholesky(covariance)).T
    for column in white.T:
        assert kstest(column, norm.cdf).pvalue > ALARM
    assert abs(np.corrcoef(white.T)[0, 1]) < DEVIATIONS / np.sqrt(ROWS)


@pytest.mark.parametrize("rescaled", [False, True])
def test_correlated_noise_keeps_means_and_correlations(rescaled):
    frame = numbers()
    method = CorrelatedNoise(factor=0.5, columns=("age", "pay"), rescaled=rescaled, random_state=6)
    out = method.fit_transform(frame)
    before, after = (one[["age", "pay"]] for one in (frame, out))
    assert np.arctanh(after.corr().iloc[0, 1]) == pytest.approx(
        np.arctanh(before.corr().iloc[0, 1]), abs=2 * DEVIATIONS / np.sqrt(ROWS)
    )
    for column in ("age", "pay"):
        deviation = before[column].std()
        assert after[column].mean() == pytest.approx(
            before[column].mean(), abs=DEVIATIONS * deviation / np.sqrt(ROWS)
        )
        growth = (after[column].std() / deviation) ** 2
        assert growth == pytest.approx(1.0 if rescaled else 1.5, rel=3 * DEVIATIONS / np.sqrt(ROWS))


def test_correlated_noise_keeps_to_the_plane_of_the_data():
    frame = numbers()
    frame["twice"] = 2 * frame["age"]
    frame["same"] = 5.0
    out = CorrelatedNoise(digits=12, columns=("age", "twice", "same"), random_state=7).fit_transform(frame)
    assert out["twice"].to_numpy() == pytest.approx(2 * out["age"].to_numpy(), abs=1e-5)
    assert out["same"].to_numpy() == pytest.approx(np.full(ROWS, 5.0))


def test_multiplicative_noise_is_a_cut_normal_factor():
    frame = numbers() + 0.5
    method = MultiplicativeNoise(digits=12, deviation=0.1, columns=("age", "pay"), random_state=8)
    out = method.fit_transform(frame)
    for column in ("age", "pay"):
        factor = (out[column] / frame[column] - 1) / 0.1
        assert factor.abs().max() <= 3 + 1e-9
        # the cut moves 0.27 % of the probability to the ends
        assert (
            kstest(factor[factor.abs() < 2.999], lambda x: (norm.cdf(x) - norm.cdf(-3)) / (1 - 0.0027)).pvalue
            > ALARM
        )


@given(st.floats(-1e6, 1e6), st.floats(0.001, 0.33), st.floats(-3, 3))
def test_any_factor_is_reached_on_either_side_of_zero(number, deviation, drawn):
    method = MultiplicativeNoise(digits=12, deviation=deviation, columns=("x",)).fit(
        pd.DataFrame({"x": [number]})
    )
    candidates = method.simulate("x", exactly(np.array([number]), numeric=True))
    found = number * (1 + deviation * drawn)
    slack = 1e-9 * abs(number) + 1e-12
    assert candidates.low[0, 0] - slack <= found <= candidates.low[0, 1] + slack
    assert candidates.low[0, 0] <= candidates.high[0, 0] <= number + slack
    assert number - slack <= candidates.high[0, 1] <= candidates.low[0, 1]


@pytest.mark.parametrize(
    ("method", "word"),
    [
        (Noise(distribution="gauss", epsilon=1.0), "'gauss'"),
        (Noise(), "epsilon"),
        (Noise(epsilon=-1.0), "epsilon"),
        (Noise(epsilon=1.0, distribution="gaussian", columns=("age",)), ""),
        (Noise(scales={}, columns=("age",)), "'age'"),
        (Noise(scales={"age": 0.0}, columns=("age",)), "'age'"),
        (CorrelatedNoise(factor=0.0), "factor"),
        (MultiplicativeNoise(deviation=0.4), "deviation"),
    ],
)
def test_refusals_name_what_is_wrong(method, word):
    if not word:
        assert method.fit(numbers()).scales_
        return
    with pytest.raises(TableError, match=word) as caught:
        method.fit(numbers())
    assert caught.value.hint


def test_whole_numbers_stay_whole():
    frame = pd.DataFrame({"age": [30, 40, 50], "gap": [1.0, np.nan, 3.0]})
    out = Noise(epsilon=1.0, digits=0, columns=("age", "gap")).fit_transform(frame)
    assert out["age"].dtype == np.int64
    assert out["gap"].dtype == np.float64
    assert Noise(epsilon=1.0, digits=1, columns=("age",)).fit_transform(frame)["age"].dtype == np.float64


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"bounds": {"agee": (0, 1)}}, "'agee'"),
        ({"bounds": {"age": (9, 1)}}, "wrong way round"),
        ({"confidence": 2.0}, "confidence 2"),
        ({"columns": None}, "No quasi-identifier"),
        ({"columns": ("endless",)}, "'endless' has an infinite number in row 2"),
    ],
)
def test_what_would_change_nothing_or_wrongly_is_refused(changes, word):
    frame = pd.DataFrame({"age": [30, 40], "endless": [1.0, np.inf], "city": ["Ulm", "Rom"]})
    method = Noise(**{"epsilon": 1.0, "columns": ("age",)} | changes)
    with pytest.raises(TableError, match=word):
        method.fit(frame, roles=Roles(quasi_identifiers=("city",)))


@pytest.mark.parametrize(
    ("cells", "schema", "step"),
    [
        ([34, 35, 71], None, 1.0),
        ([34.0, 35.0, 71.0], None, 1.0),
        ([3.25, 4.5, 7.0], None, 0.01),
        ([3.25, 4.5, 7.0], Schema({"x": Column("float", step=0.25)}), 0.25),
    ],
)
def test_digits_beyond_the_step_of_a_column_are_not_released(cells, schema, step):
    """The grid of double precision about a number tells which one it was: by it few ages remain."""
    frame = pd.DataFrame({"x": cells * 200})
    for method in (Noise(epsilon=1.0, columns=("x",)), MultiplicativeNoise(columns=("x",))):
        found = method.fit_transform(frame, schema=schema)["x"].to_numpy() / step
        assert np.allclose(found, np.round(found), atol=1e-6)
    fine = Noise(epsilon=1.0, columns=("x",), digits=12).fit_transform(frame)["x"].to_numpy()
    possible = [np.count_nonzero((fine - cell) + cell == fine) for cell in cells]
    assert min(possible) < len(fine)
