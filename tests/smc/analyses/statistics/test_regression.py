"""Linear regression from noisy sums. Statistical tests alarm falsely once in a million."""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.studies.columns import Column, Schema
from smc.errors import UsageError
from tests.smc.analyses.statistics_runs import BOTH, RANDOM, columns, joint, parsed, results, silence

X = Schema("decimal", scale=2, lower=-500, upper=1500, unit="m")
Z = Schema("integer", lower=0, upper=40)
Y = Schema("decimal", scale=1, lower=0, upper=4000, unit="kg")
SCHEMAS = {"x": X, "z": Z, "y": Y}
NAME = "regression of y on x, z"


def job(epsilon, extra=""):
    return parsed(
        f'epsilon = "{epsilon}"\nmaximum_rows = 100000\n[[queries]]\nkind = "regression"\n'
        f'target = "y"\non = ["x", "z"]\n{extra}'
    )


def rows(count):
    x = np.array([value - 500 for value in RANDOM.below(2001, count)], dtype=np.int64)
    z = np.array(RANDOM.below(41, count), dtype=np.int64)
    error = np.array([value - 100 for value in RANDOM.below(201, count)], dtype=np.int64)
    y = 1000 + x + 20 * z + error  # held: y / 10 = 100 + 10 x + 2 z + error
    return {"x": Column(x, X), "z": Column(z, Z), "y": Column(y, Y)}


def joined(*sides):
    return [
        np.concatenate([side[name].array for side in sides]) / 10 ** SCHEMAS[name].scale for name in "xzy"
    ]


def ordinary(x, z, y):
    """Coefficients, standard errors and the coefficient of determination, by numpy."""
    design = np.column_stack([np.ones_like(x), x, z])
    found = np.linalg.lstsq(design, y, rcond=None)[0]
    rest = y - design @ found
    variance = rest @ rest / (len(y) - 3)
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * variance)
    return found, errors, 1 - rest @ rest / ((y - y.mean()) ** 2).sum()


@pytest.mark.parametrize("counts", [(40, 30), (70, 0)])
def test_twin_and_silent_run_against_numpy(counts, monkeypatch):
    silence(monkeypatch)
    alice, bob = rows(counts[0]), rows(counts[1])
    expected, errors, determination = ordinary(*joined(alice, bob))
    for outcome in (
        job(1).reference(alice, bob, BOTH)[1],
        joint(job("10"), alice, bob)[1],
    ):
        table = outcome.tables[1]
        assert table.name == NAME
        assert table.columns["term"] == ["(intercept)", "x", "z"]
        assert table.columns["coefficient"] == pytest.approx(expected.tolist(), rel=1e-6)
        assert table.columns["standard_error"] == pytest.approx(errors.tolist(), rel=1e-6)
        assert results(outcome)[NAME]["r_squared"] == pytest.approx(determination, rel=1e-6)


def test_intervals_cover_the_exact_coefficients():
    """First order: many fits of one table with modest noise; about 94 % of the intervals hold.

    Of 80 that miss with 7 % each more than 20 do so by chance less than once in 3,000,000 times; of 80
    that are half as wide as they should be 26 are due, and more than 20 miss nine times in ten.
    """
    runs = 40
    alice, bob = rows(3000), rows(2000)
    text = 'epsilon = "100"\nmaximum_rows = 10000\n' + "".join(
        f'[[queries]]\nname = "{run}"\nkind = "regression"\ntarget = "y"\non = ["x", "z"]\n'
        for run in range(runs)
    )
    tables = [table for _ in range(2) for table in joint(parsed(text), alice, bob)[0].tables[1:]]
    exact = ordinary(*joined(alice, bob))[0]
    hits = np.array(
        [
            [low <= truth <= high for low, truth, high in
             zip(table.columns["lower_95"], exact, table.columns["upper_95"], strict=True)]
            for table in tables
        ]
    )  # fmt: skip
    assert ((~hits).sum(axis=0) <= 20).all()
    assert len({tuple(table.columns["coefficient"]) for table in tables}) == 2 * runs


def test_much_noise_is_met_with_a_ridge_that_is_told():
    outcome, _ = joint(job("1/1000"), rows(50), rows(50))
    table = outcome.tables[1].columns
    if table["coefficient"][0] is not None:
        assert np.isfinite([value for name in ("coefficient", "lower_95") for value in table[name]]).all()
        assert any("positive definite" in note for note in outcome.notes)
    else:
        assert any("too few rows" in note for note in outcome.notes)


def test_an_indefinite_matrix_gets_a_ridge(monkeypatch):
    """Noise that is there but zero: predictors that follow from each other need it."""
    silence(monkeypatch)
    alice = rows(60)
    alice["z"] = Column(np.full(60, 7), Z)
    outcome, _ = joint(job("1"), alice, rows(0))
    assert any("positive definite" in note for note in outcome.notes)
    assert None not in outcome.tables[1].columns["coefficient"]
    plain = job("1").reference(alice, rows(0), BOTH)[0]
    assert plain.tables[1].columns["coefficient"] == [None] * 3
    assert any("follow from each other" in note for note in plain.notes)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_too_few_rows_have_no_fit(count, monkeypatch):
    silence(monkeypatch)
    data = rows(count), rows(0)
    for outcome in (joint(job("1"), *data)[0], job("1").reference(*data, BOTH)[0]):
        assert outcome.tables[1].columns["coefficient"] == [None] * 3
        assert results(outcome)[NAME]["r_squared"] is None


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('kind = "regression"\ntarget = "age"', "explained by"),
        ('kind = "regression"\non = ["age"]', "explained by"),
        ('kind = "regression"\ntarget = "age"\non = ["age"]', "twice"),
        ('kind = "regression"\ntarget = "age"\non = ["group"]', "needs a number"),
        ('kind = "regression"\ntarget = "age"\non = ["weight"]\nlower = 3', "which column"),
        ('kind = "regression"\ntarget = "age"\non = ["weight"]\nlower = { x = 3 }', "unknown key 'x'"),
        ('kind = "covariance"\ncolumns = ["age"]', "two columns"),
        ('kind = "covariance"\ncolumns = "age"', "not a list"),
        (
            'kind = "covariance"\ncolumns = ["age", "weight"]\nlower = { age = 9 }\nupper = { age = 8 }',
            "above upper",
        ),
    ],
)
def test_wrong_queries_are_named(query, words):
    schemas = {name: column.schema for name, column in columns(age=[], weight=[], group=[]).items()}
    with pytest.raises(UsageError, match=words):
        parsed(f'epsilon = "1"\n[[queries]]\n{query}').check(schemas, schemas)
