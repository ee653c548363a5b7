"""Models with more coefficients than a run can solve for are refused by declarations, before any run."""

from __future__ import annotations

import pytest

from smc.analyses.models.study import MODELS as ANALYSIS
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError
from smc.forms import Role

OUTCOME = Schema("integer", 0, 0, 100)
VERTICAL = {
    "layout": "vertical",
    "match": {"keys": ["number"]},
    "alice_columns": ["a", "b"],
    "bob_columns": ["y"],
}


def labels(count):
    return Schema("category", 0, 0, count - 1, categories=tuple(map(str, range(count))))


def job(**more):
    model = {"kind": "linear", "outcome": "y", "on": ["a", "b", {"product": ["a", "b"]}]}
    return ANALYSIS.parse({"models": [model], **more})


@pytest.mark.parametrize("count", [9, 400])
def test_products_of_many_labels_are_refused(count):
    schemas = {"y": OUTCOME, "a": labels(count), "b": labels(count)}
    with pytest.raises(UsageError, match=f"{count**2} coefficients, and 64 can be had") as refused:
        job().check_side(schemas, Role.BOB)
    assert refused.value.hint


def test_so_they_are_over_matched_rows():
    alice, bob = (
        {"a": labels(9), "b": labels(9), "number": Schema("text")},
        {"y": OUTCOME, "number": Schema("text")},
    )
    with pytest.raises(UsageError, match="81 coefficients"):
        job(**VERTICAL).check(alice, bob)


def test_as_many_as_can_be_solved_for_are_allowed():
    schemas = {"y": OUTCOME, "a": labels(8), "b": labels(8)}
    job().check(schemas, schemas)
