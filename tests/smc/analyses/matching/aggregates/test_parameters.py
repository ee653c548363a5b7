"""What is checked and told of a job about an intersection before it runs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from smc.analyses.matching.aggregates.parameters import (
    AggregateParameters,
    distributions,
)
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError
from smc.forms import Role
from tests.smc.analyses.matching.aggregates_runs import (
    AGE,
    ALICE,
    AMOUNT,
    BOB,
    BOTH,
    ID,
    NOISY,
    SHARES,
    SIZE,
    STATISTICS,
    parsed,
)


@pytest.mark.parametrize(
    "text",
    [
        SIZE.replace("size", "sizes"),
        SIZE + '[[values]]\nside = "alice"\ncolumn = "age"',
        'method = "exact"\nkeys = ["id"]\noutput = "statistics"',
        STATISTICS.replace('side = "bob"', 'side = "carol"'),
        STATISTICS.replace('side = "bob"', 'side = "alice"'),
        STATISTICS.replace('side = "bob"', "lower = 1"),
        STATISTICS.replace('side = "bob"', 'side = "bob"\nlower = 3\nupper = 2'),
        STATISTICS.replace('side = "bob"', 'side = "bob"\nlower = 0.5'),
        STATISTICS.replace('side = "bob"', 'side = "bob"\nmost = 1'),
        'epsilon = "0"\n' + SIZE,
        "epsilon = 0.5\n" + SIZE,
        'epsilon = "1/1000000001"\n' + SIZE,
        'epsilon = "1"\n' + SHARES,
        "limit = 1\n" + SIZE,
        "values = [1]\n" + SIZE.replace("size", "shares"),
    ],
)
def test_impossible_parameters_are_refused(text):
    with pytest.raises(UsageError):
        parsed(text)


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (Schema("text"), STATISTICS),
        (Schema("integer"), STATISTICS),
        (Schema("integer", lower=0, upper=1 << 63), STATISTICS),
        (AGE, STATISTICS.replace('side = "bob"', 'side = "bob"\nlower = "0.5"')),
        (Schema("integer", lower=0, upper=1 << 62), 'epsilon = "0.001"\n' + STATISTICS),
    ],
)
def test_columns_that_do_not_fit_are_refused(column, text):
    schemas = {"id": ID, "amount": AMOUNT, "age": AGE}
    parsed(STATISTICS).check(schemas, schemas)
    with pytest.raises(UsageError):
        parsed(text).check(schemas, {**schemas, "age": column})


def test_a_missing_column_is_refused():
    schemas = {"id": ID, "amount": AMOUNT, "age": AGE}
    with pytest.raises(UsageError, match="bob"):
        parsed(STATISTICS).check(schemas, {"id": ID})


def test_recipients():
    parsed(SIZE).check_recipients(frozenset({BOB}))
    with pytest.raises(UsageError):
        parsed(SIZE).check_recipients(frozenset())
    with pytest.raises(UsageError):
        parsed(SHARES).check_recipients(frozenset({BOB}))


def test_noise_that_cannot_be_drawn_is_refused():
    keys = parsed(SIZE).parameters.keys
    with pytest.raises(UsageError):
        distributions(AggregateParameters(keys=keys, output="size", epsilon=Fraction(200)), ())


def test_leakage_names_what_recipients_get():
    leakage = parsed(NOISY).leakage(frozenset({ALICE}))
    assert "bob's age" in leakage.alice[0]
    assert "epsilon 2" in leakage.alice[0]
    assert not any("sum" in line for line in leakage.bob)
    assert all("one bit" in parsed(SHARES).leakage(BOTH).alice[-1] for _ in Role)
