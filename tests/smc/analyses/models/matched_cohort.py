"""The cohort of `cohort.py` with its columns at two sides, and what statsmodels finds in the matched rows.

The figures of `EXPECTED` are from statsmodels 0.15.0 (OLS, Logit, GLM), for covariates in their real units
counted from the middle of their ranges; those of the Cox model from GLM, too, over a row for each person and
interval, with a dummy for each interval and the logarithm of the part of it as an offset. `EFRON` is what
lifelines 0.30.3 finds for the same model without intervals:

    python -m venv reference && reference/bin/pip install statsmodels lifelines
    PYTHONPATH=. reference/bin/python -m tests.smc.analyses.models.matched_cohort
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from smc.analyses.models.intervals import Intervals
from smc.analyses.studies.columns import Column, Schema
from smc.forms import Role
from tests.smc.analyses.models.cohort import SCHEMAS, columns

ROWS = 1600
"""Persons of whom one side or the other has rows; Alice lacks every fifth, Bob every seventh."""

SIDES = {
    Role.ALICE: ("age", "smoker", "died", "years", "days", "event"),
    Role.BOB: ("stage", "weight", "cost", "visits"),
}
MATCH = {"keys": ["number"]}
MODELS = {
    "linear": {"kind": "linear", "outcome": "cost", "on": ["age", "smoker", "weight"]},
    "logistic": {
        "kind": "logistic",
        "outcome": "died",
        "on": ["age", "smoker", "stage", {"product": ["age", "smoker"]}],
        "range": {"age": ["20", "95"]},
    },
    "poisson": {
        "kind": "poisson",
        "outcome": "visits",
        "exposure": "years",
        "on": ["age", "smoker", "stage"],
        "range": {"age": ["20", "95"]},
    },
    "cox": {
        "kind": "cox",
        "time": "days",
        "event": "event",
        "events": ["dead"],
        "on": ["age", "smoker", "weight"],
        "range": {"age": ["20", "95"], "weight": ["40", "120"]},
    },
}


def persons(role: Role, rows: int = ROWS) -> np.ndarray:
    """Which persons a side has."""
    every = np.arange(rows)
    return every[every % (5 if role is Role.ALICE else 7) != 1]


def job(name: str, **changed: object) -> dict[str, object]:
    """The parameters of a job with one model."""
    model = {"name": name, **MODELS[name], **changed}
    on = names_of(model["on"])
    model["range"] = {key: ends for key, ends in model.get("range", {}).items() if key in on}
    others = (str(model[key]) for key in ("outcome", "exposure", "time", "event") if key in model)
    used = {*on, *others}
    sides = {f"{role.value}_columns": [c for c in SIDES[role] if c in used] for role in Role}
    return {"layout": "vertical", "match": MATCH, "models": [model], **sides}


def names_of(terms: object) -> list[str]:
    """The columns of terms."""
    assert isinstance(terms, list)
    return [name for term in terms for name in (term["product"] if isinstance(term, dict) else [term])]


def data(role: Role, parameters: Mapping[str, object], rows: int = ROWS) -> dict[str, Column]:
    """What a side brings."""
    chosen = persons(role, rows)
    held = columns(Role.ALICE, rows)
    names = parameters[f"{role.value}_columns"]
    assert isinstance(names, list)
    found: dict[str, Column] = {name: Column(held[name][chosen].copy(), SCHEMAS[name]) for name in names}
    found["number"] = Column([f"P{number}" for number in chosen.tolist()], Schema("text"))
    return found


def design(name: str, rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Covariates with the intercept, in real units, and the outcome or times, of the matched rows."""
    both = np.intersect1d(persons(Role.ALICE, rows), persons(Role.BOB, rows))
    held = {key: column[both].astype(np.float64) for key, column in columns(Role.ALICE, rows).items()}
    one, age, weight = np.ones(len(both)), held["age"] - 57.5, held["weight"] / 10
    stages = [held["stage"] == 1, held["stage"] == 2]
    if name == "linear":
        return np.stack([one, held["age"] - 60, held["smoker"], weight - 135], axis=1), held["cost"]
    if name == "poisson":
        return np.stack([one, age, held["smoker"], *stages], axis=1), held["visits"]
    if name == "cox":
        return np.stack([age, held["smoker"], weight - 80], axis=1), held["days"]
    return np.stack([one, age, held["smoker"], *stages, age * held["smoker"]], axis=1), held["died"]


EXPECTED: Mapping[str, tuple[list[float], list[float]]] = {
    "linear": ([3783.6243, 39.831347, 891.65198, 0.14080334], [94.8076, 0.821886, 39.2269, 1.53987]),
    "logistic": (
        [-1.1062894, 0.031069287, 0.82093958, 0.35527633, 0.95211206, -0.002627557],
        [0.115508, 0.00408599, 0.138822, 0.157812, 0.167013, 0.00662862],
    ),
    "poisson": (
        [-1.4123973, 0.01329458, 0.31717688, 0.18831628, 0.3879551],
        [0.0422674, 0.0011185, 0.0478982, 0.0571761, 0.0567653],
    ),
    "cox": ([0.016972777, 0.47795908, -0.00076922351], [0.00179778, 0.0848237, 0.00336301]),
}

EFRON = [0.017004769, 0.48051525, -0.00077808364]
"""Coefficients of the Cox model without intervals."""


def main() -> None:
    """Print what statsmodels and lifelines find."""
    import pandas as pd
    import statsmodels.api as sm
    from lifelines import CoxPHFitter

    for name, fit in (("linear", sm.OLS), ("logistic", sm.Logit)):
        x, y = design(name)
        _show(name, fit(y, x).fit(**({"disp": 0, "tol": 1e-12} if name == "logistic" else {})))
    everybody = columns(Role.ALICE, ROWS)
    both = np.intersect1d(persons(Role.ALICE), persons(Role.BOB))
    x, y = design("poisson")
    _show(
        "poisson", sm.GLM(y, x, sm.families.Poisson(), offset=np.log(everybody["years"][both])).fit(tol=1e-12)
    )
    x, days = design("cox")
    own = persons(Role.ALICE)
    intervals = Intervals.of(everybody["days"][own], everybody["event"][own] == 1)
    event = everybody["event"][both] == 1
    followed = intervals.follow_up(days.astype(np.int64))
    happened = intervals.mark_events(days.astype(np.int64), event)
    person, interval = np.nonzero(followed)
    split = np.concatenate([np.eye(followed.shape[1])[interval], x[person]], axis=1)
    split = split[:, split.any(axis=0)]
    offset = np.log(followed[person, interval])
    poisson = sm.GLM(happened[person, interval], split, sm.families.Poisson(), offset=offset).fit(tol=1e-12)
    _show("cox", poisson, x.shape[1])
    frame = pd.DataFrame(x).assign(days=days, event=event)
    found = CoxPHFitter().fit(frame, "days", "event", fit_options={"precision": 1e-12})
    print(
        "efron",
        [float(f"{v:.8g}") for v in found.params_],
        [float(f"{v:.6g}") for v in found.standard_errors_],
    )


def _show(name: str, found: Any, last: int = 0) -> None:
    print(
        name,
        [float(f"{v:.8g}") for v in found.params[-last:]],
        [float(f"{v:.6g}") for v in found.bse[-last:]],
    )


if __name__ == "__main__":
    main()
