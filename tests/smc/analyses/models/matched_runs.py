"""Runs of models over matched rows, and how what both sides bring is changed."""

from __future__ import annotations

import numpy as np

from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.models.outcome import NOT_COMPUTED
from smc.analyses.models.study import MODELS as ANALYSIS
from smc.analyses.studies.columns import Column
from smc.forms import Role
from smc.testing.case import BOTH, Case, run_case
from tests.smc.analyses.models.matched_cohort import data

FEW = 260


def ran(parameters, limits=NO_LIMITS, rows=FEW, recipients=BOTH, change=None, seen=lambda _: None):
    """What both sides get, and the traffic."""
    sides = [data(role, parameters, rows) for role in Role]
    if change is not None:
        change(*sides)
    study = ANALYSIS.parse(parameters)
    return run_case(study, Case({}, *sides, recipients=recipients), limits, seen=seen)


def near(table, values, errors, spread=0.005):
    """A table is that of a reference: coefficients, and to a part their standard errors."""
    assert np.abs((np.array(table["coefficient"]) - values) / errors).max() < 1 / 32
    assert np.abs(np.array(table["standard_error"]) / errors - 1).max() < spread


def changed(name, values):
    """A change of Bob's column, in the rows of whom both have."""

    def change(alice, bob):
        side = alice if name in alice else bob
        held = side[name]
        side[name] = Column(values(alice, bob, held.array.copy()), held.schema)

    return change


def matched_rows(alice, bob):
    """Places of matched persons at Alice and at Bob."""
    _, first, second = np.intersect1d(alice["number"].texts, bob["number"].texts, return_indices=True)
    return first, second


def none_of(outcome):
    """No model, and no number."""
    assert outcome.tables[0].columns["coefficient"] == [None] * len(outcome.tables[0].columns["term"])
    assert NOT_COMPUTED in outcome.notes[0]
    assert outcome.tables[1].columns["rows"] == [None]
