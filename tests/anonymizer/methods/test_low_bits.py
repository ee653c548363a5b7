"""The low bits of released numbers: the lattice on which noise was drawn tells no cell.

A number with noise from a lattice tells the distance of its points, and whoever knows how that was chosen
learns what it was chosen by (Mironov, On significance of the least significant bits, CCS 2012).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anonymizer.dp.centroids import FINENESS, PARTS
from anonymizer.errors import AnonymizerError
from anonymizer.methods.perturbation.idp import DpUm, IdpCbls, IdpLs
from anonymizer.methods.registry import METHODS
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

LOW, HIGH = 0.0, 20_000.0
SCHEMA = Schema({"income": Column("float", LOW, HIGH)})
ROLES = Roles(quasi_identifiers=("income",))
SECRET = 100.37
OTHERS = [500.25, 700.5, 900.75, 9000.1, 9200.2, 9400.3, 9600.4, 14000.5, 14500.6, 15000.7, 17000.0]
"""In clusters of four the secret is the least of the first three and itself."""
AMOUNTS = np.round(np.arange(1, 40_001) / 100, 2)
"""What the secret may be."""
CHANGES = {
    "to the upper bound": HIGH - AMOUNTS,
    "to the lower bound": AMOUNTS - LOW,
    "within the trimmed cluster": 2 * (OTHERS[0] - AMOUNTS) + 2 * (OTHERS[1] - OTHERS[0]),
}
"""What a scale of noise may have been made by: the most that the secret changes the sum of its cluster."""
K = 4
RUNS = 12

PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "idp-cbls": {"k": K, "minimum_change": 0.0, "epsilon": 50.0},
    "idp-ls": {"k": K, "epsilon": 50.0},
    "dp-um": {"k": K, "epsilon": 50.0},
    "noise": {"scales": 100.0},
}
NUMBERS = [
    *("correlated-noise", "dp-noise", "dp-um", "idp-cbls", "idp-ls", "mdav", "multiplicative-noise", "noise"),
    *("synth-copula", "synth-histogram", "synth-independent", "synth-privbayes"),
]
"""The methods that release other numbers than those of the table."""
LONG = {"synth-aim", "synth-mst"}


def table(incomes) -> Table:
    return Table.of(pd.DataFrame({"income": incomes}), ROLES, None, SCHEMA)


def released(word: str) -> np.ndarray:
    """What stands in the row of the secret over many runs; in that of anybody where rows are of nobody."""
    original = table([SECRET, *OTHERS])
    cells = []
    for _ in range(RUNS):
        method = METHODS[word](**PARAMETERS.get(word, {}))
        cells.append(float(method.fit_transform_table(original).numbers("income")[0]))
    return np.array([cell for cell in cells if LOW < cell < HIGH])


def is_told(cells: np.ndarray, high: float = HIGH, tolerance: float = 1e-5) -> bool:
    """Whether few amounts are left by which all cells lie on points of the lattice, the secret among them."""
    for changes in (*CHANGES.values(), high - AMOUNTS):
        places = cells[:, None] / (changes / (K * FINENESS))
        whole = np.abs(places - np.round(places)) < tolerance
        left = AMOUNTS[whole.all(axis=0)]
        if SECRET in left and len(left) < len(AMOUNTS) / 2:
            return True
    return False


@pytest.mark.parametrize("word", NUMBERS)
def test_released_numbers_do_not_tell_what_their_noise_was_made_by(word):
    assert not is_told(released(word))


def test_every_method_that_releases_other_numbers_is_looked_at():
    found = []
    for word in sorted(set(METHODS) - LONG):
        method = METHODS[word](**PARAMETERS.get(word, {}))
        try:
            cells = method.fit_transform_table(table([SECRET, *OTHERS])).numbers("income")
        except AnonymizerError:
            continue
        found += [word] * bool(set(cells.tolist()) - {SECRET, *OTHERS})
    assert found == NUMBERS


@pytest.mark.parametrize("word", ["idp-ls", "idp-cbls"])
def test_without_the_public_grid_they_would(word, monkeypatch):
    """The attack works: one amount is left of 40,000."""
    place = "anonymizer.methods.perturbation.microaggregation.on_public_grid"
    monkeypatch.setattr(place, lambda numbers, low, high, finest: numbers)
    cells = released(word)
    assert len(cells) >= RUNS / 3
    assert is_told(cells)


WIDE = 1e9
MANY_RUNS = 48
"""Every other cell is clamped to the lower bound: fewer than four are left once in 10**10 times."""
STEPPED = {
    "cents": (Column("float", 0, WIDE, step=0.01), 1),
    "integers": (Column("integer", 0, int(100 * WIDE)), 100),
}
"""Declared steps of a cent, finer than the lattice of the noise, which stays visible behind them;
and what an amount is multiplied by."""


def released_in_steps(word, kind):
    column, factor = STEPPED[kind]
    parameters = {"minimum_change": 0.0} if word == "idp-cbls" else {}
    incomes = np.round(np.array([SECRET, *OTHERS]) * factor, 2)
    if factor > 1:
        incomes = incomes.astype(np.int64)
    original = Table.of(pd.DataFrame({"income": incomes}), ROLES, None, Schema({"income": column}))
    cells = []
    for _ in range(MANY_RUNS):
        method = METHODS[word](k=K, epsilon=50.0, **parameters)
        cells.append(float(method.fit_transform_table(original).numbers("income")[0]) / factor)
    return np.array([cell for cell in cells if 0 < cell < WIDE])


@pytest.mark.parametrize("kind", STEPPED)
@pytest.mark.parametrize("word", ["idp-ls", "idp-cbls", "dp-um"])
def test_a_fine_declared_step_tells_no_more(word, kind):
    assert not is_told(released_in_steps(word, kind), WIDE, 1e-3)


@pytest.mark.parametrize("kind", STEPPED)
def test_with_the_declared_step_alone_it_would(kind, monkeypatch):
    place = "anonymizer.methods.perturbation.microaggregation.on_public_grid"
    monkeypatch.setattr(place, lambda numbers, low, high, finest: numbers)
    cells = released_in_steps("idp-ls", kind)
    assert len(cells) >= 4
    assert is_told(cells, WIDE, 1e-3)


@pytest.mark.parametrize("method", [DpUm, IdpLs, IdpCbls])
def test_centroids_lie_on_a_grid_that_the_bounds_decide(method):
    given = {"minimum_change": 0.0} if method is IdpCbls else {}
    step = 2.0 ** np.floor(np.log2((HIGH - LOW) / PARTS))
    assert step == 0.25
    incomes = np.round(20_000 * Randomness(2).uniform(200), 2)
    found = method(k=10, **given).fit_transform_table(table(incomes)).numbers("income") / step
    assert (found == np.round(found)).all()
    assert len(np.unique(found)) > 1
