"""Statistics from a job file to both results: every kind, exact and with noise, against the plain twin.

Noisy results are compared with the exact ones within bounds that the noise leaves with a probability far
below 1e-6; that its distribution is right is tested in `tests/smc/analyses`.
"""

from __future__ import annotations

import math

import pytest

from parties.contracts.state import State
from parties.ledger.entries import SPENT
from smc.errors import DisclosureRefused
from tests.parties.jobs.institutions import job

LABELS = {"type": "category", "values": ["control", "treated", "other"]}
YESNO = {"type": "category", "values": ["no", "yes"]}
AGE = {"type": "integer", "lower": 0, "upper": 100, "unit": "years"}
PRESSURE = {"type": "decimal", "scale": 1, "lower": "80", "upper": "200", "unit": "mmHg"}
DECLARED = {"arm": LABELS, "smoker": YESNO, "age": AGE, "pressure": PRESSURE, "person": {"type": "text"}}

EXACT = [
    {"kind": "count", "by": "arm"},
    {"kind": "sum", "column": "age"},
    {"kind": "mean", "column": "pressure", "by": "arm"},
    {"kind": "histogram", "column": "age", "edges": ["0", "20", "40", "60", "80", "100"]},
    {"kind": "histogram", "column": "age", "edges": ["0", "50", "100"], "by": "smoker", "name": "ages"},
    {"kind": "crosstab", "columns": ["arm", "smoker"], "test": True},
]
"""Queries that are answered without noise, too."""

OTHERS = [
    {"kind": "variance", "column": "age"},
    {"kind": "deviation", "column": "pressure", "by": "smoker"},
    {"kind": "covariance", "columns": ["age", "pressure"]},
    {"kind": "correlation", "columns": ["age", "pressure"]},
    {"kind": "regression", "target": "pressure", "on": ["age"]},
    {"kind": "quantile", "column": "age", "level": "0.9", "step": "5"},
    {"kind": "median", "column": "age", "step": "5"},
    {"kind": "t-test", "column": "pressure", "by": "arm", "labels": ["treated", "control"]},
]


def patients(start, count):
    """Persons whose figures follow from their number; the treated have a higher pressure."""
    numbers = range(start, start + count)
    ages = [(number * 37) % 101 for number in numbers]
    return {
        "person": [f"person {number}" for number in numbers],
        "arm": [("control", "treated", "treated", "other")[number % 4] for number in numbers],
        "smoker": [("no", "yes", "no")[number % 3] for number in numbers],
        "age": ages,
        "pressure": [
            f"{100 + age / 2 + (number * 13) % 11 + 20 * (number % 4 in (1, 2)):.1f}"
            for number, age in zip(numbers, ages, strict=True)
        ],
    }


@pytest.fixture
def measured(institutions):
    institutions.hold("north", patients(0, 400), DECLARED)
    institutions.hold("south", patients(400, 600), DECLARED)
    return institutions


def statistics(queries, recipients=("alice", "bob"), **parameters):
    names = ("column", "columns", "by", "target", "on")
    columns = {}
    for query in queries:
        for key in names:
            given = query.get(key, [])
            columns |= dict.fromkeys([given] if isinstance(given, str) else given)
    return job("statistics", {"queries": queries, **parameters}, [*columns], recipients=recipients)


def test_exact(measured):
    done = measured.run(statistics(EXACT, noise="none"))
    assert done.tables("north") == done.tables("south") == done.plain_tables("north")
    results = done.tables("north")["results"]
    assert results["value"][results["query"].index("sum of age")] == sum(patients(0, 1000)["age"])
    assert set(results["noise_scale"]) == {0.0}


def test_exact_to_one_party(measured):
    done = measured.run(statistics(EXACT[:1], recipients=["bob"], noise="none"))
    assert done.tables("south") == done.plain_tables("south")
    assert "other party only" in done.notes("north")


@pytest.mark.parametrize(
    "loss",
    [
        {"noise": "laplace", "epsilon": "16"},
        {"noise": "gaussian", "epsilon": "4", "delta": "1/1000000"},
        {"noise": "gaussian", "rho": "1/2"},
    ],
    ids=["laplace", "gaussian", "rho"],
)
def test_noisy(measured, loss):
    """Every kind at once; each value is near the exact one, and the same for both parties."""
    queries = [*EXACT, *OTHERS]
    done = measured.run(statistics(queries, maximum_rows=2000, **loss))
    noisy, plain = done.tables("north")["results"], done.plain_tables("north")["results"]
    for key in ("query", "kind", "column", "group", "unit"):
        assert noisy[key] == plain[key]
    assert {*noisy["kind"]} == {query["kind"] for query in queries}
    assert done.tables("north") == done.tables("south")
    for place, kind in enumerate(noisy["kind"]):
        value, exactly = noisy["value"][place], plain["value"][place]
        if kind in ("count", "sum", "mean"):
            assert abs(float(value) - float(exactly)) < 40 * noisy["noise_scale"][place] + 1e-9
        elif exactly is None:
            assert value is None
        else:
            assert math.isfinite(float(value))
    assert {*done.tables("north")} == {*done.plain_tables("north")}
    (spent,) = (entry for entry in measured.north.ledger.entries() if entry.event == SPENT)
    assert (spent.loss.rho > 0) is (loss["noise"] == "gaussian")
    assert "neither party knows" in done.details("north")["mechanism"]


def test_quantiles_tests_and_regressions_see_what_there_is(measured):
    """With a large epsilon for each, the results are those of the plain twin up to little noise."""
    for query, tolerance in (
        (OTHERS[6], 5.0),
        (OTHERS[7], 3.0),
        ({**OTHERS[3]}, 0.1),
    ):
        done = measured.run(statistics([query], epsilon="8", maximum_rows=2000))
        noisy, plain = (
            tables["results"]["value"][0] for tables in (done.tables("north"), done.plain_tables("north"))
        )
        assert abs(float(noisy) - float(plain)) <= tolerance
    test = measured.run(statistics(OTHERS[7:], epsilon="8", maximum_rows=2000)).tables("south")
    table = next(table for name, table in test.items() if name != "results")
    figures = dict(zip(table["quantity"], table["value"], strict=True))
    assert figures["p_value"] < 0.01


def test_rows_of_one_person_count_once(institutions):
    """Noise of epsilon 8 is above 3 with a probability below e**-31."""
    cells = patients(0, 50)
    doubled = {name: [*column, *column] for name, column in cells.items()}
    institutions.hold("north", doubled, DECLARED, person="person")
    institutions.hold("south", patients(50, 50), DECLARED, person="person")
    count = [{"kind": "count", "column": "age"}]
    one = institutions.run(statistics(count, epsilon="8")).tables("north")["results"]["value"][0]
    assert abs(one - 100) <= 3
    two = institutions.run(statistics(count, epsilon="8", rows_per_person=2)).tables("north")
    assert abs(two["results"]["value"][0] - 150) <= 6


MATCHED = job(
    "statistics",
    {
        "layout": "vertical",
        "alice_columns": ["age"],
        "bob_columns": ["arm", "pressure"],
        "match": {"keys": ["person"]},
        "epsilon": "16",
        "maximum_rows": 2000,
        "queries": [
            {"kind": "count", "by": "arm"},
            {"kind": "mean", "column": "age", "by": "arm"},
            {"kind": "correlation", "columns": ["age", "pressure"]},
        ],
    },
    {"alice": ["person", "age"], "bob": ["person", "arm", "pressure"]},
)


@pytest.fixture
def split(institutions):
    """Of 200 of their persons both parties have columns."""
    institutions.hold("north", patients(0, 300), {name: DECLARED[name] for name in ("person", "age")})
    institutions.hold("south", patients(100, 400), DECLARED)
    return institutions


def test_over_matched_rows(split):
    """A count is away by 5 with a probability of e**-26; a mean's interval follows from that."""
    done = split.run(MATCHED)
    assert done.tables("north") == done.tables("south")
    noisy, plain = done.tables("north")["results"], done.plain_tables("north")["results"]
    assert sum(plain["value"][:3]) == 200
    assert all(
        abs(one - other) <= 5 for one, other in zip(noisy["value"][:3], plain["value"][:3], strict=True)
    )
    assert all(
        abs(one - other) < 10 for one, other in zip(noisy["value"][3:6], plain["value"][3:6], strict=True)
    )
    assert abs(noisy["value"][6] - plain["value"][6]) < 0.5


def test_a_limit_that_the_proposer_knows_it_breaks_ends_the_job_before_it_is_signed(split):
    split.allow("south", minimum_set=301)
    with pytest.raises(DisclosureRefused, match="301 rows on each side"):
        split.submit(MATCHED)


@pytest.mark.parametrize("limit", [{"maximum_ratio": "1.3"}, {"minimum_intersection": 250}])
def test_limits_of_matchings_hold_for_statistics_over_matched_rows(split, limit):
    split.allow("south", **limit)
    assert split.failed(MATCHED) == dict.fromkeys(("north", "south"), (State.FAILED, "disclosure"))
