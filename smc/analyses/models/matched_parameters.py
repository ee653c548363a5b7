"""The `[parameters]` of a job of models over matched rows: each side has other columns of the same persons.

[parameters]
layout = "vertical"
alice_columns = ["age", "smoker"]     # beside the keys; a model names columns of both
bob_columns = ["readmitted"]
[parameters.match]
keys = ["insurance_number"]           # as of the matching method "exact"
[[parameters.models]]
kind = "logistic"                     # or "linear", "poisson", "cox"
outcome = "readmitted"
on = ["age", "smoker"]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from smc.analyses.models.parameters import Model, parse_models
from smc.analyses.records.keying import MULTISET
from smc.analyses.records.matched_columns import Vertical
from smc.analyses.studies.parameters import read_parameters, take
from smc.errors import UsageError

LAYOUT: Final = "layout"
HORIZONTAL, VERTICAL = LAYOUTS = ("horizontal", "vertical")
"""Values of `layout`: rows of both, which is so unless stated, or columns of both."""

KEYS: Final = ("match", "alice_columns", "bob_columns")
"""The keys of `[parameters]` that only models over matched rows have."""


@dataclass(frozen=True, slots=True)
class MatchedParameters:
    """Parsed parameters.

    Attributes:
        models: in the job's order.
        vertical: how rows are matched, and which columns each side brings.
    """

    models: tuple[Model, ...]
    vertical: Vertical


def is_vertical(parameters: Mapping[str, Any]) -> bool:
    """Whether a job is about matched rows.

    Raises:
        UsageError: the layout is none.
    """
    layout = take(parameters, LAYOUT, str, "parameters", HORIZONTAL)
    if layout not in LAYOUTS:
        raise UsageError("parameters.layout is not known.", f"Choose one of {', '.join(LAYOUTS)}.")
    return layout == VERTICAL


def parse_matched(parameters: Mapping[str, Any]) -> MatchedParameters:
    """Check the `[parameters]` of a job over matched rows.

    Raises:
        UsageError: a key is unknown or missing, or a value impossible; names the place.
    """
    models = parse_models({key: value for key, value in parameters.items() if key not in (LAYOUT, *KEYS)})
    vertical = read_parameters(Vertical, {key: parameters[key] for key in KEYS if key in parameters})
    if vertical.match.duplicates == MULTISET:
        raise UsageError(
            f"parameters.match.duplicates cannot be {MULTISET!r} here.", "Use 'error' or 'distinct'."
        )
    named = (*vertical.alice, *vertical.bob)
    if len(set(named)) < len(named):
        raise UsageError(
            "parameters: alice_columns and bob_columns name a column twice.",
            "Give each column its own name in the job.",
        )
    for model in models:
        if model.report or model.strata:
            what = "the area under the curve" if model.report else "strata"
            raise UsageError(
                f"Model {model.name!r} asks for {what}, which models over matched rows do not have.",
                "Leave it out, or ask for models over the rows of both sides.",
            )
    used = {name for model in models for name in model.columns}
    if missing := sorted(used.difference(named)):
        raise UsageError(
            f"parameters: a model names {missing[0]!r}, which is in neither alice_columns nor bob_columns.",
            "Add it to the columns of the side that holds it.",
        )
    if spare := sorted(set(named) - used):
        raise UsageError(
            f"parameters: no model uses the column {spare[0]!r}.",
            "Remove it from alice_columns or bob_columns.",
        )
    return MatchedParameters(models, vertical)
