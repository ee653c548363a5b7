"""The month, quarter and year of a date."""

from __future__ import annotations

import tomllib
from datetime import date, timedelta

import numpy as np
import pytest

from smc.analyses.derived.columns import parse_derived
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.studies.columns import DAYS, Column, Schema
from smc.errors import UsageError
from smc.forms import Role
from tests.smc.analyses.statistics_runs import BOTH, joint, silence

EPOCH = date(1970, 1, 1)
CAME = Schema("integer", lower=17532, upper=19722, unit=DAYS)  # 2018-01-01 to 2023-12-31
SCHEMAS = {"came": CAME, "age": Schema("integer", lower=0, upper=120)}


def part_of(text):
    return parse_derived({"x": {"date": "came", **tomllib.loads(text)}}, "derived")[0]


def labels(derived, held):
    places = derived.values({"came": np.array(held)}, SCHEMAS)
    categories = derived.schema(SCHEMAS, exact=True).categories
    return [categories[place] for place in places]


def test_they_are_those_of_the_calendar():
    held = np.random.default_rng(2).integers(CAME.lower, CAME.upper + 1, 3000)
    held = np.append(held, [CAME.lower, CAME.upper, (date(2020, 2, 29) - EPOCH).days])
    days = [EPOCH + timedelta(days=int(each)) for each in held]
    assert labels(part_of('part = "month"'), held) == [f"{day.month:02}" for day in days]
    assert labels(part_of('part = "quarter"'), held) == [f"Q{(day.month + 2) // 3}" for day in days]
    assert labels(part_of('part = "year"'), held) == [str(day.year) for day in days]


def test_years_before_the_epoch():
    derived = part_of('part = "year"')
    schemas = {"came": Schema("integer", lower=-25567, upper=0, unit=DAYS)}
    assert derived.schema(schemas, exact=False).categories[0] == "1900"
    assert derived.values({"came": np.array([-25567, -1, 0])}, schemas).tolist() == [0, 69, 70]


def test_stated_years_take_in_what_lies_beyond_and_say_so():
    derived = part_of('part = "year"\nfirst = 2019\nlast = 2021')
    held = [(date(year, 6, 1) - EPOCH).days for year in (2018, 2019, 2020, 2021, 2023)]
    assert labels(derived, held) == ["2019 or before"] * 2 + ["2020"] + ["2021 or after"] * 2
    assert str(derived) == "x = year of came, 2019..2021"
    one = part_of('part = "year"\nfirst = 2020\nlast = 2020')
    assert len(set(labels(one, held))) == 1


def test_stated_years_need_no_bounds_and_make_both_sides_alike():
    job = (
        'epsilon = "4"\n[[queries]]\nkind = "count"\nby = ["year", "season"]\n'
        '[derived.year]\ndate = "came"\npart = "year"\nfirst = 2019\nlast = 2021\n'
        '[derived.season]\ndate = "came"\npart = "quarter"\n'
    )
    study = STATISTICS.parse(tomllib.loads(job))
    study.check({"came": CAME}, {"came": Schema("integer", unit=DAYS)})
    bare = STATISTICS.parse(tomllib.loads(job.replace("first = 2019\nlast = 2021\n", "")))
    with pytest.raises(UsageError, match="no bounds that say which years"):
        bare.check({"came": CAME}, {"came": Schema("integer", unit=DAYS)})
    later = Schema("integer", lower=CAME.lower, upper=CAME.upper + 400, unit=DAYS)
    with pytest.raises(UsageError, match="declare categories of 'year' differently"):
        bare.check({"came": CAME}, {"came": later})


def test_counts_by_year_and_quarter(monkeypatch):
    silence(monkeypatch)
    job = (
        'epsilon = "4"\n[[queries]]\nkind = "count"\nby = ["year", "season"]\n'
        '[derived.year]\ndate = "came"\npart = "year"\n[derived.season]\ndate = "came"\npart = "quarter"\n'
    )
    study = STATISTICS.parse(tomllib.loads(job))
    assert study.columns == dict.fromkeys(Role, ("came",))
    drawn = np.random.default_rng(4)
    alice, bob = ({"came": Column(drawn.integers(CAME.lower, CAME.upper, 90), CAME)} for _ in Role)
    found = joint(study, alice, bob)[0].tables[0].columns
    days = [EPOCH + timedelta(days=int(each)) for side in (alice, bob) for each in side["came"].array]
    expected = [f"{day.year} / Q{(day.month + 2) // 3}" for day in days]
    assert dict(zip(found["group"], found["value"], strict=True)) == {
        f"{year} / Q{quarter}": expected.count(f"{year} / Q{quarter}")
        for year in range(2018, 2024)
        for quarter in range(1, 5)
    }
    assert study.reference(alice, bob, BOTH)[0].tables[0].columns["value"] == found["value"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('part = "week"', "part cannot be 'week'"),
        ('part = "month"\nfirst = 2019', "not for a month"),
        ('part = "year"\nfirst = 2022\nlast = 2019', "after last"),
        ('part = "year"\nfirst = 2030', "there is not one year"),
        ('part = "year"\nfirst = 1000', "more than 400"),
        ('date = "age"\npart = "year"', "does not hold dates"),
    ],
)
def test_what_is_wrong_is_named(text, words):
    with pytest.raises(UsageError, match=words) as caught:
        part_of(text).schema(SCHEMAS, exact=False)
    assert caught.value.hint
