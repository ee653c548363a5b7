"""What figures say almost nothing, and what leaving out quantiles would give."""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.precision import PRECISION, is_vague
from smc.forms import Role

AGE = Schema("integer", lower=0, upper=120, unit="years")


def preview(*kinds, rows=2000, epsilon="0.05"):
    queries = [{"kind": kind, "column": "age"} for kind in kinds]
    study = ANALYSES["statistics"].parse({"queries": queries, "epsilon": epsilon})
    data = {"age": Column(np.arange(rows, dtype=np.int64) % 90, AGE)}
    return study.preview(data, Role.ALICE, NO_LIMITS)


def widths(found):
    return {row["kind"]: row["half_width"] for row in found.details[PRECISION]}


def test_leaving_out_quantiles_gives_the_rest_as_much_as_asking_for_the_rest_alone():
    both = preview("mean", "median", rows=300)
    assert is_vague(next(row for row in both.details[PRECISION] if row["kind"] == "median"))
    alone = widths(preview("mean", rows=300))["mean"]
    assert both.advice == (
        f"Without medians and quartiles, mean of age would be about ± {alone:.2g} years "
        f"instead of ± {widths(both)['mean']:.2g}.",
    )
    assert alone < widths(both)["mean"]


@pytest.mark.parametrize("kinds", [("mean",), ("median",), ("count", "median")])
def test_nothing_is_advised_where_no_mean_would_gain(kinds):
    assert preview(*kinds, rows=60).advice == ()


@pytest.mark.parametrize(("rows", "vague"), [(40, True), (20_000, False)])
def test_a_figure_is_vague_where_it_can_lie_nearly_anywhere(rows, vague):
    found = preview("mean", "count", rows=rows, epsilon="0.1").details[PRECISION]
    assert [is_vague(row) for row in found] == [vague] * 2
    assert not is_vague({"half_width": 5.0})


def test_a_standard_deviation_reaches_over_half_of_the_range():
    """It is at most 60 for ages between 0 and 120, so that an interval of 26 on either side tells nothing."""
    (row,) = preview("deviation", rows=600, epsilon="0.1").details[PRECISION]
    assert row["reach"] == 60


def test_unknown_widths_are_not_vague():
    assert not is_vague({"half_width": None, "reach": 1.0})
