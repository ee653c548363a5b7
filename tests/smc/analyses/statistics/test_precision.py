"""The precision that a preview expects is that of the run, but for what the noise moves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.forms import Role
from tests.smc.analyses import vertical_runs
from tests.smc.analyses.statistics_runs import columns, joint, parsed, silence

QUERIES = {
    "count": 'kind = "count"\ncolumn = "age"',
    "sum": 'kind = "sum"\ncolumn = "weight"\nby = "group"',
    "mean": 'kind = "mean"\ncolumn = "weight"\nwhere = [{ column = "age", at_least = 50 }]',
    "deviation": 'kind = "deviation"\ncolumn = "age"',
    "correlation": 'kind = "correlation"\ncolumns = ["age", "weight"]',
    "regression": 'kind = "regression"\ntarget = "weight"\non = ["age"]',
    "histogram": 'kind = "histogram"\ncolumn = "age"\nedges = [0, 50, 150]\nby = "group"',
    "crosstab": 'kind = "crosstab"\ncolumns = ["group", "age"]\nedges = { age = [0, 50, 150] }\ntest = true',
    "median": 'kind = "median"\ncolumn = "age"\nby = "group"',
    "quantile": 'kind = "quantile"\ncolumn = "weight"\nlevel = "0.9"\npoints = 40',
}
BUDGETS = {"laplace": 'epsilon = "20"', "gaussian": 'noise = "gaussian"\nrho = "1/10"'}


def side(rows=400, seed=4):
    drawn = np.random.default_rng(seed)
    age = drawn.integers(20, 90, rows)
    return columns(
        age=age, weight=400 + 6 * age + drawn.integers(0, 200, rows), group=drawn.integers(0, 4, rows)
    )


def precision(study, data, limits=NO_LIMITS, role=Role.ALICE):
    preview = study.preview(data, role, limits)
    assert preview.refusal is None
    return preview.details["precision"]


def half(lower, upper):
    return None if lower is None else float(Fraction(upper) - Fraction(lower)) / 2


def seen(outcome):
    """The half widths of a result, in the order of the queries and groups."""
    main, *extra = outcome.tables
    rest = iter(extra)
    found = []
    for lower, upper, kind in zip(*(main.columns[n] for n in ("lower_95", "upper_95", "kind")), strict=True):
        if kind in ("histogram", "crosstab", "regression"):
            table = next(rest).columns
            widths = [half(*pair) for pair in zip(table["lower_95"], table["upper_95"], strict=True)]
            found += widths if kind == "regression" else widths[:1]
        else:
            found.append(half(lower, upper))
    return found


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_group=2)])
@pytest.mark.parametrize("budget", BUDGETS)
def test_it_is_that_of_a_run_whose_noise_comes_out_as_nothing(monkeypatch, budget, limits):
    silence(monkeypatch)
    text = "".join(f'[[queries]]\nname = "{name}"\n{query}\n' for name, query in QUERIES.items())
    study = parsed(f"{BUDGETS[budget]}\nmaximum_rows = 1000\n{text}")
    data = side()
    rows = precision(study, data, limits)
    outcome, _ = joint(study, data, data, limits=limits)
    assert [row["half_width"] for row in rows] == pytest.approx(seen(outcome))
    assert {row["query"] for row in rows} == {*QUERIES}
    assert all(row["half_width"] > 0 for row in rows)
    assert [row["term"] for row in rows if row["query"] == "regression"] == ["(intercept)", "age"]
    assert {*rows[0]} >= {"epsilon" if budget == "laplace" else "rho"}


def test_it_is_about_right_for_a_run_with_noise():
    """Widths of a mean move with the noise of its count; that noise is small here."""
    study = parsed('epsilon = "8"\nmaximum_rows = 1000\n[[queries]]\nkind = "mean"\ncolumn = "age"')
    data = side()
    (row,) = precision(study, data)
    outcome, _ = joint(study, data, data)
    assert row["half_width"] == pytest.approx(seen(outcome)[0], rel=0.1)


def test_a_test_counts_sampling_too(monkeypatch):
    silence(monkeypatch)
    text = 'kind = "t-test"\ncolumn = "age"\nby = "group"\nlabels = ["A", "B"]'
    study = parsed(f'epsilon = "8"\nmaximum_rows = 1000\n[[queries]]\n{text}')
    data = side()
    (row,) = precision(study, data)
    outcome, _ = joint(study, data, data)
    assert row["half_width"] == pytest.approx(seen(outcome)[0], rel=0.1)


def test_more_epsilon_fewer_columns_and_more_rows_make_it_narrower():
    def width(epsilon, rows, most=1):
        text = f'epsilon = "{epsilon}"\nrows_per_person = {most}\nmaximum_rows = 100000\n'
        study = parsed(text + '[[queries]]\nkind = "mean"\ncolumn = "age"')
        data = side(rows)
        data[PERSONS] = Column(np.arange(rows), Schema("integer"))
        return precision(study, data)[0]["half_width"]

    assert width(2, 1000) < width(1, 1000) < width(1, 1000, most=3)
    assert width(1, 4000) < width(1, 1000) / 3


def test_no_rows_give_the_bounds_and_no_error():
    data = columns(age=[], weight=[], group=[])
    text = "".join(f'[[queries]]\nname = "{name}"\n{query}\n' for name, query in QUERIES.items())
    rows = precision(parsed(f'epsilon = "1"\n{text}'), data)
    (mean,) = [row["half_width"] for row in rows if row["query"] == "mean"]
    assert mean == 125  # half of 0 to 250 kg
    assert [row["half_width"] for row in rows if row["query"] == "regression"] == [None, None]


def test_exact_tables_have_no_half_widths():
    study = parsed('noise = "none"\n[[queries]]\nkind = "count"\ncolumn = "age"')
    assert "precision" not in study.preview(side(), Role.ALICE, NO_LIMITS).details


def test_rows_that_a_run_would_refuse_have_none():
    study = parsed('epsilon = "1"\nmaximum_rows = 10\n[[queries]]\nkind = "count"\ncolumn = "age"')
    preview = study.preview(side(), Role.ALICE, NO_LIMITS)
    assert preview.refusal is not None
    assert preview.details == {}


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_group=2, minimum_intersection=3)])
def test_over_matches_each_side_knows_that_of_its_own_columns(monkeypatch, limits):
    names = ("mean", "histogram", "variance")  # of Alice, of Bob, of both
    study = vertical_runs.job(*(vertical_runs.KINDS[name] for name in names), epsilon="12")
    alice, bob = vertical_runs.tables(60, 60, 60)
    silence(monkeypatch)
    outcome, _ = vertical_runs.joint(study, alice, bob, limits=limits)
    after = seen(outcome)
    first, second = (
        [row["half_width"] for row in precision(study, data, limits, role)]
        for data, role in ((alice, Role.ALICE), (bob, Role.BOB))
    )
    assert first == [pytest.approx(after[0]), None, None]
    assert second == [None, pytest.approx(after[1]), None]
