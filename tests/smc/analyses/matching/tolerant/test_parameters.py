"""The parameters of a tolerant matching."""

from __future__ import annotations

from fractions import Fraction

import pytest

from smc.analyses.matching.analysis import MATCHING
from smc.analyses.matching.tolerant.encoding import DEFAULT_STEPS, Field
from smc.analyses.matching.tolerant.study import TOLERANT
from smc.analyses.studies.columns import DAYS, Schema
from smc.errors import UsageError
from smc.forms import Role

GIVEN = {
    "fields": [{"column": "name"}, {"column": "born", "weight": 2, "q": 3, "normalization": ["date"]}],
    "threshold": "0.75",
    "blocking": [["name:soundex", "town:value"], ["born:year"]],
}


def test_defaults():
    parsed = TOLERANT.parse(GIVEN)
    assert parsed.parameters.fields == (
        Field("name", 1, 2, 64, DEFAULT_STEPS),
        Field("born", 2, 3, 64, ("date",)),
    )
    assert (
        len(parsed.parameters.score.weights),
        parsed.parameters.bucket,
        parsed.parameters.load,
        parsed.parameters.rounds,
    ) == (128, 16, 6, 1)
    assert (
        parsed.parameters.threshold,
        parsed.parameters.one_to_one,
        parsed.parameters.salt,
        parsed.parameters.show,
    ) == (
        Fraction(3, 4),
        "greedy",
        "",
        (),
    )
    assert parsed.parameters.columns == ("name", "born", "town")
    assert parsed.parameters.steps("born") == ("date",)
    assert parsed.parameters.steps("town") == DEFAULT_STEPS
    assert [parsed.parameters.buckets(rows) for rows in ((0, 0), (6, 1), (1, 7), (5000, 5000))] == [
        1,
        1,
        2,
        834,
    ]


def test_columns_are_the_same_on_both_sides():
    parsed = TOLERANT.parse({**GIVEN, "show": ["number", "name"]})
    for role in Role:
        assert parsed.columns[role] == ("name", "born", "town", "number")


@pytest.mark.parametrize("threshold", ["0.05", "0.5", "0.0500", "1", "1.0", "0.9999"])
def test_thresholds(threshold):
    assert TOLERANT.parse({**GIVEN, "threshold": threshold}).parameters.threshold == Fraction(threshold)


WRONG = [
    ({"treshold": "0.5"}, "unknown key 'treshold'.*threshold"),
    ({"threshold": 0.5}, "expected a text"),
    *(
        ({"threshold": text}, "threshold")
        for text in ("0.04", "1.1", "0", ".5", "1/2", "0.55555", "-0.5", " 0.5", "")
    ),
    ({"fields": []}, "1 to 64 fields"),
    ({"fields": ["name"]}, r"fields\[0\] is not a table"),
    ({"fields": [{}]}, r"fields\[0\] lacks the key 'column'"),
    ({"fields": [{"column": "a"}, {"column": "a"}]}, "a column twice"),
    ({"fields": [{"column": "a", "weight": 0}]}, r"fields\[0\].weight"),
    ({"fields": [{"column": "a", "weight": 101}]}, r"fields\[0\].weight"),
    ({"fields": [{"column": "a", "bits": 7}]}, r"fields\[0\].bits"),
    ({"fields": [{"column": "a", "bits": 513}]}, r"fields\[0\].bits"),
    ({"fields": [{"column": "a", "bits": "64"}]}, "expected a whole number"),
    ({"fields": [{"column": "a", "bits": True}]}, "expected a whole number"),
    ({"fields": [{"column": f"a{n}", "bits": 512} for n in range(9)]}, "more than 4096 bits"),
    *(
        (
            {"threshold": None, "least_score": 0, "fields": [{"column": "a", "gram": term}]},
            r"fields\[0\].gram",
        )
        for term in ("0.125", "1001", "x", 0.5, "1/3")
    ),
    ({"fields": [{"column": "a", "gram": "1"}]}, "threshold does not go with local terms"),
    ({"fields": [{"column": "a", "rarity": "0.5"}]}, "threshold does not go with local terms"),
    ({"least_score": 0}, "threshold does not go with least_score"),
    ({"threshold": None}, "threshold is missing"),
    ({"threshold": None, "least_score": 1001}, "least_score"),
    ({"threshold": None, "least_score": "0"}, "expected a whole number"),
    ({"fields": [{"column": "a", "q": 5}]}, r"fields\[0\].q"),
    ({"fields": [{"column": "a", "normalization": ["shout"]}]}, r"fields\[0\].normalization"),
    ({"fields": [{"column": "a", "hashes": 2}]}, "unknown key 'hashes'"),
    ({"bits": 512}, "unknown key 'bits'"),
    ({"blocking": []}, "1 to 16 passes"),
    ({"blocking": [[]]}, "an empty pass"),
    ({"blocking": ["name:value"]}, r"blocking\[0\] is not a list"),
    ({"blocking": [["name:value"], ["name:value"]]}, "twice"),
    ({"blocking": [["name:loud"]]}, r"blocking\[0\] has 'name:loud'"),
    ({"bucket": 1}, "bucket"),
    ({"bucket": 17}, "bucket"),
    ({"bucket": 4, "load": 5}, "load"),
    ({"load": 0}, "load"),
    ({"one_to_one": "best"}, "one_to_one"),
    ({"rounds": 0}, "rounds"),
    ({"rounds": 2, "one_to_one": "none"}, "rounds is only for the greedy mode"),
    ({"salt": "s" * 101}, "salt"),
    ({"show": "name"}, "expected a list"),
    ({"show": ["a", "a"]}, "show has a name twice"),
]


@pytest.mark.parametrize(("change", "match"), WRONG)
def test_wrong_parameters_are_named(change, match):
    given = {key: value for key, value in {**GIVEN, **change}.items() if value is not None}
    with pytest.raises(UsageError, match=match):
        TOLERANT.parse(given)


@pytest.mark.parametrize("key", ["fields", "blocking"])
def test_missing_parameters_are_named(key):
    with pytest.raises(UsageError, match=f"lacks the key '{key}'"):
        TOLERANT.parse({name: value for name, value in GIVEN.items() if name != key})


def test_matching_knows_the_method():
    parsed = MATCHING.parse({"method": "tolerant", **GIVEN})
    assert parsed == TOLERANT.parse(GIVEN)
    assert not parsed.facts(frozenset(Role)).loss
    assert not parsed.facts(frozenset(Role)).exact


def test_schemas_are_checked():
    parsed = TOLERANT.parse(GIVEN)
    good = {
        "name": Schema("text"),
        "born": Schema("integer", unit=DAYS),
        "town": Schema("category", categories=("x",)),
    }
    parsed.check(good, good)
    for wrong in (
        {**good, "born": Schema("decimal", scale=1)},
        {**good, "name": Schema("share", modulus="8")},
    ):
        with pytest.raises(UsageError, match="Bob's column"):
            parsed.check(good, wrong)
    with pytest.raises(UsageError, match="Alice declares no column 'town'"):
        parsed.check({"name": good["name"], "born": good["born"]}, good)


@pytest.mark.parametrize("recipe", [{}, {"normalization": ["trim"]}, {"normalization": ["date"]}])
def test_years_are_taken_of_dates_only(recipe):
    """A number of days has no year, nor has a text that nobody reads as a date."""
    fields = [{"column": "name"}, {"column": "born", **recipe}]
    parsed = TOLERANT.parse({"fields": fields, "threshold": "0.75", "blocking": [["born:year"]]})
    good = {"name": Schema("text"), "born": Schema("integer", unit=DAYS)}
    parsed.check(good, good)
    wrong = [Schema("integer"), Schema("integer", unit="years")]
    wrong += [] if recipe == {"normalization": ["date"]} else [Schema("text")]
    for schema in wrong:
        with pytest.raises(UsageError, match="takes the year of 'born', which does not hold dates"):
            parsed.check(good, {**good, "born": schema})


def test_a_text_that_only_blocks_by_its_year_is_read_as_a_date():
    parsed = TOLERANT.parse(
        {"fields": [{"column": "name"}], "threshold": "0.75", "blocking": [["born:year"]]}
    )
    assert parsed.parameters.steps("born") == ("date",)
    parsed.check(*2 * [{"name": Schema("text"), "born": Schema("text")}])


def test_somebody_receives():
    with pytest.raises(UsageError, match="Nobody receives"):
        TOLERANT.parse(GIVEN).check_recipients(frozenset())
