"""Noise by OpenDP: the budget, the law, and an audit of the claim."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binomtest, chisquare, kstest, laplace, norm

from anonymizer.errors import TableError
from anonymizer.models.dp_noise import DpNoise
from anonymizer.risk.candidates import exactly
from anonymizer.tables.roles import Roles

ALARM = 1e-6
BOUNDS = {"age": (0, 100), "pay": (0.0, 5.0)}
PAY = {"pay": BOUNDS["pay"]}


def people(rows: int) -> pd.DataFrame:
    number = np.arange(rows)
    return pd.DataFrame({"age": number % 101, "pay": (number % 50) / 10.0})


def test_the_budget_of_a_record_is_shared_by_its_columns():
    method = DpNoise(epsilon=1.0, bounds=BOUNDS, columns=("age", "pay")).fit(people(3))
    assert method.scales_ == pytest.approx({"age": 200.0, "pay": 10.0})
    assert sum(epsilon for epsilon, _ in method.spent_.values()) <= 1 + 1e-9
    assert "one record in the columns age, pay: epsilon 1" in method.guarantee_
    assert "age epsilon 0.5" in method.guarantee_
    method = DpNoise(epsilon=1.0, delta=1e-6, law="gaussian", bounds=BOUNDS, columns=("age",)).fit(people(3))
    assert method.spent_["age"] == pytest.approx((1.0, 1e-6), rel=1e-3)
    assert "epsilon 1, delta 1e-06" in method.guarantee_
    # less than the classic bound sqrt(2 ln(1.25 / delta)), more than nothing
    assert 300 < method.scales_["age"] < 100 * np.sqrt(2 * np.log(1.25e6))
    assert "nothing is claimed" in DpNoise(bounds=BOUNDS).fit(people(3)).guarantee_


@pytest.mark.parametrize(("law", "shape"), [("laplace", laplace), ("gaussian", norm)])
def test_the_law_is_the_stated_one(law, shape):
    frame = people(10_000)
    method = DpNoise(epsilon=2.0, delta=1e-5 * (law == "gaussian"), law=law, bounds=BOUNDS, columns=("pay",))
    out = method.fit_transform(frame)
    noise = (out["pay"] - frame["pay"]) / method.scales_["pay"]
    assert kstest(noise, shape.cdf).pvalue > ALARM
    assert (out["age"] == frame["age"]).all()


def test_whole_numbers_stay_whole_and_get_geometric_noise():
    frame = pl.DataFrame({"age": [50] * 20_000})
    method = DpNoise(epsilon=1.0, bounds={"age": (48, 52)}, columns=("age",))
    out = method.fit_transform(frame)
    assert out["age"].dtype == frame["age"].dtype
    # Pr[z] is proportional to e^(-|z| / 4)
    alpha = np.exp(-1 / 4)
    inner = np.arange(-15, 16)
    law = (1 - alpha) / (1 + alpha) * alpha ** np.abs(inner)
    noise = out["age"].to_numpy() - 50
    counts = np.array([(noise == z).sum() for z in inner])
    expected = np.append(law, 1 - law.sum()) * 20_000
    assert chisquare(np.append(counts, 20_000 - counts.sum()), expected).pvalue > ALARM


@pytest.mark.parametrize(("law", "delta"), [("laplace", 0.0), ("gaussian", 1e-3)])
def test_an_audit_finds_no_more_than_the_claim(law, delta):
    rows = 10_000
    shares = []
    for value in (-1e9, 1e9):
        frame = pd.DataFrame({"pay": np.full(rows, value)})
        method = DpNoise(epsilon=1.0, delta=delta, law=law, bounds=PAY, columns=("pay",))
        found = (method.fit_transform(frame)["pay"] > 2.5).sum()
        interval = binomtest(int(found), rows).proportion_ci(confidence_level=1 - ALARM)
        shares.append(interval)
    least = np.log((shares[1].low - delta) / shares[0].high)
    assert least <= 1.0
    # and the noise is not far more than what is claimed
    assert np.log(shares[1].high / shares[0].low) > 0.3


@pytest.mark.parametrize("clamped", [False, True])
def test_an_attacker_is_confident_as_often_as_stated(clamped):
    frame = people(10_000)
    method = DpNoise(epsilon=4.0, bounds=BOUNDS, columns=("pay",), clamped=clamped, digits=2)
    out = method.fit_transform(frame)["pay"].to_numpy()
    assert not clamped or (out.min() >= 0 and out.max() <= 5)
    sets = method.spread("pay", exactly(frame["pay"].to_numpy(), numeric=True))
    high, low = (np.mean((ends[:, 0] <= out) & (out <= ends[:, 1])) for ends in (sets.high, sets.low))
    assert low == 1
    assert high == pytest.approx(0.9, abs=0.1 if clamped else 0.02)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"bounds": None}, "'age' has no bounds"),
        ({"bounds": {"age": (5, 5)}}, "'age' hold no range"),
        ({"bounds": {"age": (0.2, 0.8)}}, "'age' hold no range"),
        ({"epsilon": 0.0}, "epsilon is 0"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"law": "gaussian"}, "delta"),
        ({"delta": 0.1}, "delta"),
        ({"law": "cauchy"}, "'cauchy'"),
        ({"columns": ("name",), "bounds": {"name": (0, 1)}}, "'name' holds no numbers"),
    ],
)
def test_refusals_name_what_is_wrong(changes, word):
    frame = people(5).assign(name="x")
    with pytest.raises(TableError, match=word) as caught:
        DpNoise(**{"bounds": BOUNDS} | changes).fit(frame, roles=Roles(quasi_identifiers=("age",)))
    assert caught.value.mend


def test_gaps_are_refused_since_they_would_be_released():
    frame = people(5).astype(float)
    frame.loc[2, "pay"] = np.nan
    with pytest.raises(TableError, match="'pay' has 1 missing"):
        DpNoise(bounds=BOUNDS, columns=("pay",)).fit(frame)
