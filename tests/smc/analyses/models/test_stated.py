"""What a model counts as beside other figures: sums of what it reads, and of covariates times the outcome."""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.models.design import Design
from smc.analyses.models.parameters import parse
from smc.analyses.models.stated import stated_tables
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.errors import DomainError

AGE = Schema("integer", lower=20, upper=90)
WIDE = Schema("integer", lower=0, upper=1 << 40)
LABELS = Schema("category", categories=("no", "yes"))
ROWS = 30
PLACE = np.arange(ROWS)
DATA = {
    "age": Column(PLACE * 7 % 100, AGE),
    "smoker": Column(PLACE % 2, LABELS),
    "died": Column(PLACE // 3 % 2, LABELS),
    "visits": Column(PLACE % 9, Schema("integer", lower=0, upper=5)),
    "days": Column(1 + PLACE, Schema("integer", lower=0, upper=400)),
    "one": Column(WIDE.upper - PLACE, WIDE),
    "two": Column(PLACE * (1 << 35), WIDE),
    PERSONS: Column(PLACE // 2, Schema("integer")),
}
IN_AGE = np.clip(PLACE * 7 % 100, 20, 90) - 20
PARTS = np.clip(4 * np.clip(PLACE % 9, 0, 9), 2, 13) - 2
SMOKER, DIED, VISITS = PLACE % 2, PLACE // 3 % 2, np.clip(PLACE % 9, 0, 5)


def amounts(data=DATA, **model):
    (asked,) = parse({"models": [model]}).models
    schemas = {name: column.schema for name, column in data.items()}
    (table,) = stated_tables(Design.of(asked, schemas), data).tables
    assert table.equations.tolist() == [[True]]
    assert (table.members.persons == data[PERSONS].array).all()
    assert not table.members.cells.any()
    assert (table.members.amounts >= 0).all()
    return table.members.amounts.tolist()


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        (
            {"kind": "linear", "outcome": "age", "on": ["smoker"]},
            [IN_AGE, SMOKER, SMOKER * IN_AGE],
        ),
        (
            {
                "kind": "logistic",
                "outcome": "died",
                "label": "yes",
                "on": ["age", {"product": ["age", "smoker"]}],
            },
            [DIED, IN_AGE, IN_AGE * DIED, IN_AGE * SMOKER, IN_AGE * SMOKER * DIED],
        ),
        (
            {
                "kind": "logistic",
                "outcome": "died",
                "label": "no",
                "on": ["age"],
                "range": {"age": ["30", "40"]},
            },
            [1 - DIED, np.clip(IN_AGE, 10, 20) - 10, (np.clip(IN_AGE, 10, 20) - 10) * (1 - DIED)],
        ),
        (
            {"kind": "poisson", "outcome": "visits", "exposure": "days", "on": ["smoker"]},
            [VISITS, PLACE, SMOKER, SMOKER * VISITS, SMOKER * PLACE],
        ),
        (
            {"kind": "cox", "time": "days", "event": "died", "events": ["yes"], "on": ["smoker"]},
            [DIED, PLACE, SMOKER, SMOKER * DIED],
        ),
        (
            {
                "kind": "cox",
                "time": "days",
                "event": "died",
                "events": ["yes"],
                "on": ["age"],
                "strata": ["smoker"],
            },
            [DIED, PLACE, SMOKER, IN_AGE, IN_AGE * DIED],
        ),
        (
            {
                "kind": "linear",
                "outcome": "age",
                "on": ["smoker", "died", "visits"],
                "range": {"visits": ["3", "3.5"]},
            },
            [
                IN_AGE,
                *(each for one in (SMOKER, DIED, VISITS > 3) for each in (one, one * IN_AGE)),
                SMOKER * DIED,
                SMOKER * (VISITS > 3),
                DIED * (VISITS > 3),
            ],
        ),
        (
            {"kind": "linear", "outcome": "age", "on": ["visits"], "range": {"visits": ["0.5", "3.25"]}},
            [IN_AGE, PARTS, PARTS * IN_AGE],
        ),
    ],
    ids=["linear", "logistic", "range", "poisson", "cox", "strata", "two groups", "a range of parts"],
)
def test_sums_are_those_of_covariates_and_outcomes(model, wanted):
    data = DATA
    if "range" in model:  # values beyond it count as its ends
        data = DATA | {"age": Column(np.clip(PLACE * 7 % 100, 20, 90), AGE)}
    assert amounts(data, **model) == [(1 * each).tolist() for each in wanted]


def test_products_beyond_a_word_are_kept_modulo_the_prime_of_auditors():
    outcome, covariate, product = amounts(kind="linear", outcome="two", on=["one"])
    prime = (1 << 31) - 1
    assert product == [one * two % prime for one, two in zip(covariate, outcome, strict=True)]


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(DomainError, match="different lengths"):
        amounts(DATA | {"smoker": Column(PLACE[1:] % 2, LABELS)}, kind="linear", outcome="age", on=["smoker"])
