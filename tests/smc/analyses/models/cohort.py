"""Two cohorts by formulas, and what statsmodels and lifelines find in them together.

The figures of `EXPECTED` are from statsmodels 0.15.0 (OLS, Logit, GLM) and lifelines 0.30.3 (CoxPHFitter,
Efron, strata by side), for covariates in their real units counted from the middle of their ranges:

    python -m venv reference && reference/bin/pip install statsmodels lifelines
    PYTHONPATH=. reference/bin/python -m tests.smc.analyses.models.cohort
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from smc.analyses.studies.columns import Column, Schema
from smc.forms import Role

ROWS = {Role.ALICE: 700, Role.BOB: 500}


def uniform(number: np.ndarray, factor: int) -> np.ndarray:
    """Numbers from 0 to 1 that no formula of these pages uses twice."""
    return ((number * factor + 13) % 10_007) / 10_007


def columns(role: Role, rows: int | None = None) -> dict[str, np.ndarray]:
    """A cohort, in held units."""
    count = ROWS[role] if rows is None else rows
    i = np.arange(count, dtype=np.int64) + (0 if role is Role.ALICE else 100_000)
    later = float(role is Role.BOB)
    age = 20 + np.floor(75 * uniform(i, 3571)).astype(np.int64)
    smoker = (uniform(i, 7919) < 0.35).astype(np.int64)
    stage = np.floor(3 * uniform(i, 4937) ** 1.5).astype(np.int64)
    weight = np.rint(10 * (55 + 40 * uniform(i, 6211) + 8 * smoker)).astype(np.int64)
    risk = 0.03 * (age - 60) + 0.8 * smoker + 0.4 * stage + 0.2 * later
    died = (uniform(i, 8117) < 1 / (1 + np.exp(-(risk - 1.0)))).astype(np.int64)
    years = 1 + np.floor(9 * uniform(i, 5569)).astype(np.int64)
    rate = years * np.exp(-1.2 + 0.4 * risk)
    visits = np.minimum(60, np.floor(rate * -np.log(1 - 0.999 * uniform(i, 9601)) + 0.3)).astype(np.int64)
    left = np.ceil(-900 * np.log(1 - 0.9999 * uniform(i, 2861)) * np.exp(-0.7 * risk)).astype(np.int64)
    censored = np.ceil(1500 * uniform(i, 4421)).astype(np.int64) + 50
    days = np.minimum(np.minimum(left, censored), 1500) // 7 * 7  # weeks, so that there are ties
    event = (left <= np.minimum(censored, 1500)).astype(np.int64)
    cost = np.rint(1000 + 40 * age + 900 * smoker + 500 * stage + 1500 * (uniform(i, 1867) - 0.5)).astype(
        np.int64
    )
    found = {"age": age, "smoker": smoker, "stage": stage, "weight": weight, "died": died, "years": years}
    return found | {"visits": visits, "days": days, "event": event, "cost": cost}


SCHEMAS: Mapping[str, Schema] = {
    "age": Schema("integer", lower=0, upper=120, unit="years"),
    "smoker": Schema("category", lower=0, upper=1, categories=("no", "yes")),
    "stage": Schema("category", lower=0, upper=2, categories=("I", "II", "III")),
    "weight": Schema("decimal", scale=1, lower=200, upper=2500, unit="kg"),
    "died": Schema("integer", lower=0, upper=1),
    "years": Schema("integer", lower=0, upper=20),
    "visits": Schema("integer", lower=0, upper=60),
    "days": Schema("integer", lower=0, upper=2000, unit="days"),
    "event": Schema("category", lower=0, upper=1, categories=("alive", "dead")),
    "cost": Schema("integer", lower=0, upper=20_000),
}

MODELS = {
    "linear": {"kind": "linear", "outcome": "cost", "on": ["age", "smoker", "weight"]},
    "logistic": {
        "kind": "logistic",
        "outcome": "died",
        "on": ["age", "smoker", "stage", {"product": ["age", "smoker"]}],
        "range": {"age": ["20", "95"]},
    },
    "poisson": {"kind": "poisson", "outcome": "visits", "exposure": "years", "on": ["age", "smoker"]},
    "cox": {
        "kind": "cox",
        "time": "days",
        "event": "event",
        "events": ["dead"],
        "on": ["age", "smoker", "weight"],
    },
    "cox by stage": {
        "kind": "cox",
        "time": "days",
        "event": "event",
        "events": ["dead"],
        "on": ["age", "smoker"],
        "strata": ["stage"],
    },
}

EXPECTED: dict[str, tuple[list[float], list[float]]] = {
    "linear": (
        [3827.8725, 40.311084, 893.19547, 0.80363395],
        [92.111703, 0.79991833, 38.194142, 1.5008572],
    ),
    "logistic": (
        [-0.90990721, 0.028498695, 0.84874908, 0.21820752, 0.76109829, 0.0062240375],
        [0.10616776, 0.0038036242, 0.13248622, 0.1509502, 0.15636312, 0.0063898891],
    ),
    "poisson": (
        [-1.1884101, 0.014493334, 0.39300805],
        [0.029096866, 0.0010263263, 0.043465045],
    ),
    "cox": (
        [0.030805566, 0.51812174, -0.0018974764],
        [0.0017746537, 0.077629566, 0.0031643904],
    ),
    "cox by stage": (
        [0.031101487, 0.58397152],
        [0.001780344, 0.077241439],
    ),
}
"""Estimates and standard errors."""


def data(role: Role, model: str, rows: int | None = None) -> dict[str, Column]:
    """The columns of a model at a side."""
    given = MODELS[model]
    names = {
        name for key in ("outcome", "time", "event", "exposure") if isinstance(name := given.get(key), str)
    }
    names |= {*given.get("strata", ())}
    for term in given["on"]:
        names |= {term} if isinstance(term, str) else {*term["product"]}
    held = columns(role, rows)
    return {name: Column(held[name], SCHEMAS[name]) for name in sorted(names)}


if __name__ == "__main__":
    import pandas as pd
    import statsmodels.api as sm
    from lifelines import CoxPHFitter

    frame = pd.concat(
        [pd.DataFrame(columns(role)).assign(side=role.value) for role in Role], ignore_index=True
    )
    frame["weight"] = frame["weight"] / 10
    old, one = frame["age"] - 60, np.ones(len(frame))
    middle = frame["age"] - 57.5
    results = {}
    x = np.column_stack([one, old, frame.smoker, frame.weight - 135])
    fit = sm.OLS(frame.cost, x).fit()
    results["linear"] = fit.params, fit.bse
    x = np.column_stack(
        [one, middle, frame.smoker, frame.stage == 1, frame.stage == 2, middle * frame.smoker]
    ).astype(float)
    fit = sm.Logit(frame.died, x).fit(disp=0, tol=1e-12)
    results["logistic"] = fit.params, fit.bse
    x = np.column_stack([one, old, frame.smoker])
    fit = sm.GLM(frame.visits, x, sm.families.Poisson(), offset=np.log(frame.years)).fit(tol=1e-12)
    results["poisson"] = fit.params, fit.bse
    for name, on, strata in (
        ("cox", ["age", "smoker", "weight"], ["side"]),
        ("cox by stage", ["age", "smoker"], ["side", "stage"]),
    ):
        fit = CoxPHFitter().fit(
            frame[["days", "event", *on, *strata]],
            "days",
            "event",
            strata=strata,
            fit_options={"precision": 1e-12},
        )
        results[name] = fit.params_, fit.standard_errors_
    for name, (values, errors) in results.items():
        print(f'    "{name}": (')
        print(f"        {[float(f'{value:.8g}') for value in values]},")
        print(f"        {[float(f'{error:.8g}') for error in errors]},")
        print("    ),")
