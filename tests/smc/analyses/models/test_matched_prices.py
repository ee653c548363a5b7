"""What models over matched rows cost before the peer has declared its columns."""

from __future__ import annotations

import pytest

from smc.analyses.models.study import MODELS
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.forms import Role

LABELLED = {
    "logistic": {"outcome": "died", "label": "yes"},
    "cox": {"time": "days", "event": "died", "events": ["yes", "maybe"]},
}


@pytest.mark.parametrize("kind", LABELLED)
def test_labels_that_a_model_names_are_taken_for_declared(kind):
    model = {"kind": kind, "on": ["age"], **LABELLED[kind]}
    brought = [name for name in ("days", "died") if name in model.values()]
    study = MODELS.parse(
        {
            "layout": "vertical",
            "match": {"keys": ["number"]},
            "alice_columns": ["age"],
            "bob_columns": brought,
            "models": [model],
        }
    )
    found = estimate_cost(study, {}, frozenset(Role), RunSetting((50, 40)))
    assert found.rounds > 100
