"""The cohort of `cohort.py` with its columns at two sides, and what statsmodels finds in the matched rows.

The figures of `EXPECTED` are from statsmodels 0.15.0 (OLS, Logit), for covariates in their real units counted
from the middle of their ranges:

    python -m venv reference && reference/bin/pip install statsmodels
    PYTHONPATH=. reference/bin/python -m tests.smc.analyses.models.matched_cohort
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from smc.analyses.studies.columns import Column, Schema
from smc.forms import Role
from tests.smc.analyses.models.cohort import SCHEMAS, columns

ROWS = 1600
"""Persons of whom one side or the other has rows; Alice lacks every fifth, Bob every seventh."""

SIDES = {Role.ALICE: ("age", "smoker", "died"), Role.BOB: ("stage", "weight", "cost")}
MATCH = {"keys": ["number"]}
MODELS = {
    "linear": {"kind": "linear", "outcome": "cost", "on": ["age", "smoker", "weight"]},
    "logistic": {
        "kind": "logistic",
        "outcome": "died",
        "on": ["age", "smoker", "stage", {"product": ["age", "smoker"]}],
        "range": {"age": ["20", "95"]},
    },
}


def persons(role: Role, rows: int = ROWS) -> np.ndarray:
    """Which persons a side has."""
    every = np.arange(rows)
    return every[every % (5 if role is Role.ALICE else 7) != 1]


def job(name: str, **changed: object) -> dict[str, object]:
    """The parameters of a job with one model."""
    model = {"name": name, **MODELS[name], **changed}
    used = {*names_of(model["on"]), str(model["outcome"])}
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
    """Covariates with the intercept, in real units, and the outcome, of the matched rows."""
    both = np.intersect1d(persons(Role.ALICE, rows), persons(Role.BOB, rows))
    held = {key: column[both].astype(np.float64) for key, column in columns(Role.ALICE, rows).items()}
    if name == "linear":
        x = [held["age"] - 60, held["smoker"], held["weight"] / 10 - 135]
        return np.stack([np.ones(len(both)), *x], axis=1), held["cost"]
    age = held["age"] - 57.5
    x = [age, held["smoker"], held["stage"] == 1, held["stage"] == 2, age * held["smoker"]]
    return np.stack([np.ones(len(both)), *x], axis=1), held["died"]


EXPECTED: Mapping[str, tuple[list[float], list[float]]] = {
    "linear": ([3783.6243, 39.831347, 891.65198, 0.14080334], [94.8076, 0.821886, 39.2269, 1.53987]),
    "logistic": (
        [-1.1062894, 0.031069287, 0.82093958, 0.35527633, 0.95211206, -0.002627557],
        [0.115508, 0.00408599, 0.138822, 0.157812, 0.167013, 0.00662862],
    ),
}


def main() -> None:
    """Print what statsmodels finds."""
    import statsmodels.api as sm

    for name, fit in (("linear", sm.OLS), ("logistic", sm.Logit)):
        x, y = design(name)
        found = fit(y, x).fit(**({"disp": 0, "tol": 1e-12} if name == "logistic" else {}))
        print(name, [float(f"{v:.8g}") for v in found.params], [float(f"{v:.6g}") for v in found.bse])


if __name__ == "__main__":
    main()
