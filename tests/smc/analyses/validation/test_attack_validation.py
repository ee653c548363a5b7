"""Small cells of a validation under limits, and rows that a side makes up to read the model."""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.validation.study import VALIDATION
from smc.forms import Role
from smc.testing import Case
from smc.testing.case import run_case
from tests.smc.analyses.validation.test_validation import PARAMETERS, exact, model

CUTS = {"cuts": ["0.25", "0.5", "0.75"], "threshold": "0.5"}


def of_scores(chances, outcomes):
    """Rows of one age, whose body mass index alone gives them these chances."""
    age = 50
    score = np.log(np.array(chances) / (1 - np.array(chances)))
    bmi = np.rint(10 * (score + 5 - 0.05 * age) / 0.08).astype(np.int64)
    return {
        "age": Column(np.full(len(bmi), age), Schema("integer", 0, 0, 120)),
        "bmi": Column(bmi, Schema("decimal", 1, 100, 600)),
        "died": Column(np.array(outcomes), Schema("integer", 0, 0, 1)),
    }


def figures(limits, rows, monkeypatch):
    exact(monkeypatch)
    (alice, _), _ = run_case(VALIDATION.parse({**PARAMETERS, **CUTS}), Case({}, model(), rows), limits)
    return {table.name: table.columns for table in alice.tables}, alice.notes


def test_a_cell_that_limits_withhold_is_not_a_part_of_nobody(monkeypatch):
    """Of 1,000 rows of low chances 9 have the outcome, which is not nobody."""
    chances = [0.1] * 1000 + [0.9] * 200
    outcomes = [1] * 9 + [0] * 991 + [1] * 191 + [0] * 9
    rows = of_scores(chances, outcomes)
    truth, _ = figures(NO_LIMITS, rows, monkeypatch)
    assert truth["by score"]["part"][0] == pytest.approx(0.009)
    found, notes = figures(Limits(minimum_group=10), rows, monkeypatch)
    assert found["by score"]["part"][0] in (None, pytest.approx(0.009))
    assert found["by score"]["with_outcome"][0] != 0
    exact_values = dict(zip(truth["validation"]["figure"], truth["validation"]["value"], strict=True))
    for name, value in zip(found["validation"]["figure"], found["validation"]["value"], strict=True):
        assert value is None or value == pytest.approx(exact_values[name]), name
    assert any("withheld" in note for note in notes)


def test_the_statement_says_what_rows_of_its_choice_find_of_the_model(monkeypatch):
    """Rows that are repeated 1, 2, 4, ... times a hundred: one run gives the band of each of ten."""
    wanted = [0.1, 0.3, 0.6, 0.9, 0.2, 0.4, 0.8, 0.1, 0.7, 0.5001]
    times = [100 << place for place in range(len(wanted))]
    chances = np.repeat(wanted, times)
    study = VALIDATION.parse({**PARAMETERS, **CUTS, "epsilon": "1"})
    rows = of_scores(chances, np.zeros(len(chances), dtype=np.int64))
    (_, bob), _ = run_case(study, Case({}, model(), rows), NO_LIMITS)
    told = [round(each / 100) for each in {t.name: t.columns for t in bob.tables}["by score"]["rows"]]
    bands = [
        next(band for band, sum_ in enumerate(told) if sum_ >> place & 1) for place in range(len(wanted))
    ]
    assert bands == np.searchsorted([0.25, 0.5, 0.75], wanted, side="right").tolist()
    leakage = study.leakage(frozenset(Role))
    assert any("rows of its choice" in line for line in leakage.bob)


@pytest.mark.parametrize(
    ("recipients", "most"),
    [(frozenset({Role.ALICE}), []), (frozenset({Role.BOB}), [7]), (frozenset(Role), [7])],
)
def test_rows_that_are_told_are_answers_of_the_model(recipients, most):
    """As many rows are told as their number has bits, where the side with rows receives."""
    study = VALIDATION.parse({**PARAMETERS, **CUTS, "maximum_rows": 100})
    assert [(each.by, each.most) for each in study.facts(recipients).asked.answers] == [
        (Role.ALICE, count) for count in most
    ]
