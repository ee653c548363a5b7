"""Differences, ratios and body mass indices of two numbers of a row."""

from __future__ import annotations

import tomllib
from decimal import ROUND_FLOOR, Decimal

import numpy as np
import pytest

from smc.analyses.derived.columns import parse_derived
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.studies.columns import DAYS, MARK, Column, Schema, missing_mark
from smc.errors import DisclosureRefused, UsageError
from tests.smc.analyses.statistics_runs import BOTH, joint, silence

SCHEMAS = {
    "weight": Schema("decimal", scale=1, lower=300, upper=2500, unit="kg"),
    "before": Schema("integer", lower=30, upper=250, unit="kg"),
    "height": Schema("integer", lower=120, upper=220, unit="cm"),
    "metres": Schema("decimal", scale=2, lower=120, upper=220, unit="m"),
    "balance": Schema("decimal", scale=2, lower=-100000, upper=100000, unit="EUR"),
    "days": Schema("integer", lower=1, upper=400, unit="days"),
    "stay": Schema("integer", lower=0, upper=400, unit="days"),
    "born": Schema("integer", lower=0, upper=9000, unit=DAYS),
    "open": Schema("integer", unit="kg"),
    "huge": Schema("integer", lower=0, upper=1 << 58),
}


def derived(text):
    return parse_derived({"x": tomllib.loads(text)}, "derived")[0]


def held(rows, seed=3):
    drawn = np.random.default_rng(seed)
    return {
        name: np.append(drawn.integers(one.lower, one.upper + 1, rows), [one.lower, one.upper])
        for name, one in SCHEMAS.items()
        if one.lower is not None
    }


def real(name, values):
    return [Decimal(int(value)).scaleb(-SCHEMAS[name].scale) for value in values]


def rounded(value, decimals):
    """To the nearest, halves upwards, by the standard library's decimals."""
    shifted = value.scaleb(decimals) + Decimal("0.5")
    return int(shifted.to_integral_value(ROUND_FLOOR))


def test_a_difference_has_the_finer_decimals():
    each = derived('numbers = ["weight", "before"]\ncompute = "difference"')
    columns = held(500)
    expected = [
        rounded(a - b, 1)
        for a, b in zip(real("weight", columns["weight"]), real("before", columns["before"]), strict=True)
    ]
    assert each.values(columns, SCHEMAS).tolist() == expected
    schema = each.schema(SCHEMAS, exact=True)
    assert (schema.kind, schema.scale, schema.lower, schema.upper, schema.unit) == (
        "decimal",
        1,
        -2200,
        2200,
        "kg",
    )


@pytest.mark.parametrize("decimals", [0, 2, 5])
def test_a_ratio_is_rounded_to_the_nearest(decimals):
    each = derived(f'numbers = ["balance", "days"]\ncompute = "ratio"\ndecimals = {decimals}')
    columns = held(2000)
    columns["balance"][:4], columns["days"][:4] = [250, -250, 50, -50], [5, 5, 100, 100]
    pairs = zip(real("balance", columns["balance"]), real("days", columns["days"]), strict=True)
    assert each.values(columns, SCHEMAS).tolist() == [rounded(a / b, decimals) for a, b in pairs]
    assert each.schema(SCHEMAS, exact=True).unit == "EUR/days"


@pytest.mark.parametrize(("height", "per"), [("height", 100), ("metres", 1)])
def test_a_body_mass_index_takes_its_units_from_the_declarations(height, per):
    each = derived(f'numbers = ["weight", "{height}"]\ncompute = "body-mass-index"\ndecimals = 1')
    columns = held(1000)
    pairs = zip(real("weight", columns["weight"]), real(height, columns[height]), strict=True)
    assert each.values(columns, SCHEMAS).tolist() == [rounded(a / (b / per) ** 2, 1) for a, b in pairs]
    assert each.schema(SCHEMAS, exact=True).unit == "kg/m^2"


@pytest.mark.parametrize("compute", ["difference", "ratio", "body-mass-index"])
def test_no_value_is_beyond_the_bounds_that_follow(compute):
    each = (
        derived(f'numbers = ["weight", "height"]\ncompute = "{compute}"')
        if compute != "difference"
        else derived('numbers = ["balance", "balance2"]\ncompute = "difference"')
    )
    schemas = SCHEMAS | {"balance2": SCHEMAS["balance"]}
    columns = held(3000)
    columns["balance2"] = columns["balance"][::-1]
    corners = [(a, b) for a in (0, 1) for b in (0, 1)]
    for first, second in (("weight", "height"), ("balance", "balance2")):
        ends = {name: (schemas[name].lower, schemas[name].upper) for name in (first, second)}
        columns[first][:4] = [ends[first][a] for a, _ in corners]
        columns[second][:4] = [ends[second][b] for _, b in corners]
    found, schema = each.values(columns, schemas), each.schema(schemas, exact=True)
    assert (found.min(), found.max()) == (schema.lower, schema.upper)


def test_stated_bounds_hold_with_noise_and_are_refused_without():
    each = derived('numbers = ["weight", "height"]\ncompute = "body-mass-index"\nlower = "12.5"\nupper = 60')
    schema = each.schema(SCHEMAS, exact=False)
    assert (schema.scale, schema.lower, schema.upper) == (2, 1250, 6000)
    found = each.values(held(500), SCHEMAS)
    assert (found.min(), found.max()) == (1250, 6000)
    assert str(each).endswith("to 2 decimals, clamped to 12.5..60.0")
    with pytest.raises(UsageError, match="need noise"):
        each.schema(SCHEMAS, exact=True)


JOB = """
[[queries]]
kind = "{kind}"
column = "bmi"
[derived.bmi]
numbers = ["weight", "height"]
compute = "body-mass-index"
"""
TABLE_ONE = """
epsilon = "4"
[[queries]]
name = "one"
kind = "table-one"
numbers = ["bmi"]
[derived.bmi]
numbers = ["weight", "height"]
compute = "body-mass-index"
"""


def side(rows, seed):
    drawn = np.random.default_rng(seed)
    return {
        "weight": Column(drawn.integers(450, 1400, rows), SCHEMAS["weight"]),
        "height": Column(drawn.integers(150, 200, rows), SCHEMAS["height"]),
    }


def indices(*sides):
    weight, height = (np.concatenate([data[name].array for data in sides]) for name in ("weight", "height"))
    index = 10 * weight * 100 * 100 * 2 // height**2 + 1  # twice the hundredths, then halves upwards
    return index // 2 / 100


@pytest.mark.parametrize("head", ['epsilon = "4"', 'noise = "none"'])
def test_the_mean_of_a_body_mass_index(monkeypatch, head):
    silence(monkeypatch)
    study = STATISTICS.parse(tomllib.loads(head + JOB.format(kind="mean")))
    alice, bob = side(70, 1), side(60, 2)
    study.check({n: c.schema for n, c in alice.items()}, {n: c.schema for n, c in bob.items()})
    outcome, _ = joint(study, alice, bob)
    assert outcome.tables[0].columns["value"][0] == pytest.approx(indices(alice, bob).mean())
    assert outcome.tables[0].columns["unit"] == ["kg/m^2"]
    assert (
        study.reference(alice, bob, BOTH)[0].tables[0].columns["value"] == outcome.tables[0].columns["value"]
    )


def test_a_missing_height_may_hold_0():
    """A table one keeps such rows, whose cells hold anything: they divide by no 0 and are not counted."""
    study = STATISTICS.parse(tomllib.loads(TABLE_ONE))
    data = side(50, 3)
    gone = np.zeros(50, dtype=np.int64)
    gone[:9] = 1
    data["height"] = Column(np.where(gone == 1, 0, data["height"].array), SCHEMAS["height"])
    data[missing_mark("height")] = Column(gone, MARK)
    data[missing_mark("weight")] = Column(np.zeros(50, dtype=np.int64), MARK)
    with np.errstate(all="raise"):
        table = study.reference(data, side(0, 1), BOTH)[0].tables[0].columns
    rows = dict(zip(table["quantity"], table["total"], strict=True))
    kept = {name: Column(data[name].array[9:], data[name].schema) for name in ("weight", "height")}
    assert rows["missing"] == 9
    assert rows["mean"] == pytest.approx(indices(kept).mean())


def test_a_ratio_that_tells_a_person_apart_is_withheld():
    """Rounded to whole numbers a ratio can be alike for all but a few: their sum is theirs."""
    study = STATISTICS.parse(tomllib.loads('noise = "none"' + JOB.format(kind="sum") + "decimals = 0\n"))
    alice, bob = side(60, 1), side(60, 2)
    for data, few in ((alice, 2), (bob, 40)):
        weight = np.full(60, 700)
        weight[:few] = 1300
        data["weight"] = Column(weight, SCHEMAS["weight"])
        data["height"] = Column(np.full(60, 175), SCHEMAS["height"])
    limits = Limits(minimum_group=5)
    outcome, _ = joint(study, bob, bob, limits=limits)
    assert outcome.tables[0].columns["value"][0] is not None
    try:
        shown = joint(study, alice, bob, limits=limits)[0].tables[0].columns["value"][0]
    except DisclosureRefused:
        shown = None
    assert shown is None
    assert joint(study, alice, bob, limits=NO_LIMITS)[0].tables[0].columns["value"][0] is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('numbers = ["weight"]\ncompute = "ratio"', "two different columns"),
        ('numbers = ["weight", "weight"]\ncompute = "ratio"', "two different columns"),
        ('numbers = ["weight", "days"]\ncompute = "product"', "compute cannot be 'product'"),
        ('numbers = ["weight", "days"]\ncompute = "difference"', "different units"),
        ('numbers = ["weight", "before"]\ncompute = "difference"\ndecimals = 2', "not for a difference"),
        ('numbers = ["weight", "stay"]\ncompute = "ratio"', "may be 0"),
        ('numbers = ["weight", "open"]\ncompute = "ratio"', "no bounds"),
        ('numbers = ["weight", "born"]\ncompute = "ratio"', "does not hold numbers"),
        ('numbers = ["weight", "days"]\ncompute = "body-mass-index"', "height in m or cm"),
        ('numbers = ["huge", "days"]\ncompute = "ratio"\ndecimals = 4', "exceed 61 bits"),
        ('numbers = ["weight", "days"]\ncompute = "ratio"\nlower = "0.001"', "more than 2 decimals"),
        ('numbers = ["weight", "days"]\ncompute = "ratio"\nlower = 9\nupper = 1', "above the upper"),
        ('numbers = ["weight", "days"]\ncompute = "ratio"\ndecimals = 12', "decimals"),
        ('numbers = ["weight", "days"]\ndate = "born"', "by one of column, from, date, numbers"),
    ],
)
def test_what_is_wrong_is_named(text, words):
    with pytest.raises(UsageError, match=words) as caught:
        derived(text).schema(SCHEMAS, exact=False)
    assert caught.value.hint
