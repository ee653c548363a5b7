"""What figures say almost nothing, and what leaving them out, or another split of epsilon, would give."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.precision import PRECISION, SPLIT, is_vague
from smc.forms import Role

AGE = Schema("integer", lower=0, upper=120, unit="years")


def preview(*kinds, rows=2000, epsilon="0.05", shares=(), **loss):
    queries = [{"kind": kind, "column": "age"} for kind in kinds]
    for query, share in zip(queries, shares, strict=False):
        query["share"] = share
    study = ANALYSES["statistics"].parse({"queries": queries, "epsilon": epsilon, **loss})
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


@pytest.mark.parametrize("kinds", [("mean",), ("median",), ("count",)])
def test_nothing_is_advised_of_a_single_figure(kinds):
    found = preview(*kinds, rows=60)
    assert found.advice == ()
    assert SPLIT not in found.details


@pytest.mark.parametrize(
    ("kinds", "rows", "called", "gains"),
    [
        (("count", "median"), 60, "medians and quartiles", "count"),
        (("mean", "deviation"), 450, "deviation of age", "mean"),
        (("count", "deviation", "mean"), 450, "deviation of age", "mean"),
    ],
)
def test_leaving_out_whatever_says_nothing_is_advised(kinds, rows, called, gains):
    both = preview(*kinds, rows=rows, epsilon="0.15")
    vague = {row["kind"] for row in both.details[PRECISION] if is_vague(row)}
    kept = [kind for kind in kinds if kind not in ("median", "deviation")]
    assert vague & {"median", "deviation"}
    alone = widths(preview(*kept, rows=rows, epsilon="0.15"))[gains]
    (said,) = both.advice
    assert said.startswith(f"Without {called}, {gains}")
    assert f"± {alone:.2g} " in said
    assert alone < widths(both)[gains]


@pytest.mark.parametrize(
    "loss", [{"epsilon": "1"}, {"epsilon": "1", "noise": "gaussian", "delta": "1/1000000"}]
)
def test_another_split_is_advised_where_one_figure_is_much_wider_and_holds_what_it_says(loss):
    now = preview("count", "mean", "median", rows=1500, **loss)
    assert not any(map(is_vague, now.details[PRECISION]))
    shares = now.details[SPLIT]
    assert sum(Fraction(share) for share in shares.values()) == 1
    names = ["count of age", "mean of age", "median of age"]
    then = preview("count", "mean", "median", rows=1500, shares=[shares[name] for name in names], **loss)
    for kind in ("count", "mean", "median"):
        assert f"± {widths(then)[kind]:.2g}" in now.advice[0]
        assert f"instead of ± {widths(now)[kind]:.2g}" in now.advice[0]
    worst = [max(row["half_width"] / row["reach"] for row in one.details[PRECISION]) for one in (now, then)]
    assert worst[1] <= 0.7 * worst[0]
    assert SPLIT not in then.details  # what was advised is not advised again


def test_figures_that_are_alike_are_not_split_anew():
    assert preview("count", "mean", rows=1500, epsilon="1").advice == ()


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


@pytest.mark.parametrize(
    ("theirs", "is_advised"), [([], True), ([{"kind": "mean", "column": "cost"}], False)]
)
def test_figures_of_matched_rows_are_advised_on_where_all_of_them_are_known_here(theirs, is_advised):
    """What a share would give a column of the other side, nobody can say here."""
    queries = [{"kind": "mean", "column": "age"}, {"kind": "median", "column": "age"}, *theirs]
    matched = {"layout": "vertical", "match": {"keys": ["card"]}, "alice_columns": ["age"]}
    matched |= {"bob_columns": ["cost"]} if theirs else {}
    study = ANALYSES["statistics"].parse({"queries": queries, "epsilon": "0.3", **matched})
    rows = 120
    data = {
        "card": Column(np.arange(rows, dtype=np.int64), Schema("integer", lower=0, upper=10**6)),
        "age": Column(np.arange(rows, dtype=np.int64) % 90, AGE),
    }
    assert bool(study.preview(data, Role.ALICE, NO_LIMITS).advice) == is_advised
