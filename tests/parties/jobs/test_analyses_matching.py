"""Matching from a job file to both results: each method and output, against the plain twin."""

from __future__ import annotations

from fractions import Fraction

import pytest

from parties.client import job_text
from parties.contracts.state import State
from parties.errors import PeerRefused
from smc.analyses.matching.tolerant.histogram import EDGES, HIGHEST, LOWEST
from smc.errors import DomainError, UsageError
from tests.parties.jobs.institutions import Institutions, job

PERSONS = {
    "id": ["0017", "23", "042", "5", "77", "81", "90"],
    "name": ["Ada Löwe", "Bo Ek", "Cy Orr", "Di Fox", "Ed Ray", "Fy Dahl", "Gus Holm"],
    "born": [
        "1970-01-05",
        "1981-12-31",
        "1964-02-29",
        "1990-07-14",
        "1955-03-03",
        "2001-01-01",
        "1977-06-06",
    ],
    "amount": ["10.50", "20.25", "0.75", "100.00", "1.00", "2.00", "4.00"],
}
OTHERS = {
    "id": ["17", "42", "5", "1001", "1002", "81"],
    "name": ["ada lowe", "CY ORR", "Di Foxx", "Hal Berg", "Ina Roth", "Fi Dahl"],
    "born": ["1970-01-05", "1964-02-29", "1990-07-14", "1999-09-09", "1988-08-08", "2001-01-01"],
    "visits": [3, 5, 7, 11, 13, 17],
}
TEXT = {"type": "text"}
DATE = {"type": "date", "lower": "1900-01-01", "upper": "2020-12-31"}
AMOUNT = {"type": "decimal", "scale": 2, "lower": "0", "upper": "100", "unit": "EUR"}
VISITS = {"type": "integer", "lower": 0, "upper": 20}
ID = {"id": ["trim", "digits-only", "strip-leading-zeros"]}
VALUES = [{"side": "alice", "column": "amount"}, {"side": "bob", "column": "visits"}]
BROUGHT = {"alice": ["id", "amount"], "bob": ["id", "visits"]}


@pytest.fixture
def matched(institutions):
    declared = {"id": TEXT, "name": TEXT, "born": DATE}
    institutions.hold("north", PERSONS, {**declared, "amount": AMOUNT})
    institutions.hold("south", OTHERS, {**declared, "visits": VISITS})
    return institutions


def exact(output, columns, **parameters):
    given = {"method": "exact", "keys": ["id"], "normalization": ID, "output": output, **parameters}
    return job("matching", given, columns)


def test_keys_to_both(matched):
    done = matched.run(exact("keys", ["id"]))
    assert done.tables("north") == done.plain_tables("north")
    assert done.tables("south") == done.plain_tables("south")
    assert done.tables("north")["matches"]["id"] == ["0017", "042", "5", "81"]
    assert done.tables("south")["matches"]["id"] == ["17", "42", "5", "81"]


def test_keys_of_several_columns_with_recipes_to_one_party(matched):
    document = exact(
        "keys",
        ["name", "born"],
        keys=["name", "born"],
        normalization={"name": ["strip-accents", "lower"], "born": ["date"]},
    )
    document["job"]["recipients"] = ["bob"]
    done = matched.run(document)
    assert done.tables("north") == {}
    assert "other party only" in done.notes("north")
    assert done.tables("south") == done.plain_tables("south")
    assert done.tables("south")["matches"]["name"] == ["ada lowe", "CY ORR"]


def test_the_size_alone(matched):
    done = matched.run(exact("size", ["id"]))
    assert done.tables("north") == done.tables("south") == done.plain_tables("north")
    assert done.tables("north")["intersection"]["size"] == [4]


def test_sums_and_means_over_the_intersection(matched):
    done = matched.run(exact("statistics", BROUGHT, values=VALUES))
    assert done.tables("north") == done.tables("south") == done.plain_tables("south")
    assert done.tables("north")["intersection"]["sum"] == ["113.25", 32]


def test_noisy_sums(matched):
    """With epsilon 8 for each figure one is off by so much with probability below 5e-7 in all."""
    done = matched.run(exact("statistics", BROUGHT, values=VALUES, epsilon="24"))
    table = done.tables("north")["intersection"]
    assert done.tables("south")["intersection"] == table
    assert done.plain_tables("north")["intersection"]["count"] == [4, 4]
    assert all(abs(count - 4) <= 1 for count in table["count"])
    for total, exactly, sensitivity in zip(table["sum"], [113.25, 32], [100, 20], strict=True):
        assert abs(float(total) - exactly) < 2 * sensitivity
    assert matched.spent("north") == matched.spent("south") == 24


def test_shares_of_the_intersection_add_up(matched):
    done = matched.run(exact("shares", BROUGHT, values=VALUES))
    first, second = (done.tables(name)["shares"] for name in ("north", "south"))
    joined = {
        name: [(int(one) + int(other)) % 2**64 for one, other in zip(first[name], second[name], strict=True)]
        for name in ("member", "alice_amount", "bob_visits")
    }
    assert sorted(zip(*joined.values(), strict=True))[-4:] == [
        (1, 75, 5), (1, 200, 17), (1, 1050, 3), (1, 10000, 7)
    ]  # fmt: skip
    assert {*joined["member"]} == {0, 1}
    assert sum(joined["alice_amount"]) == 11325
    assert "statistics" not in str(done.details("north")["guarantee"])


@pytest.mark.parametrize(("duplicates", "size"), [("multiset", 3), ("distinct", 2)])
def test_duplicate_keys(institutions, duplicates, size):
    institutions.hold("north", {"id": ["1", "1", "1", "2"]}, {"id": TEXT})
    institutions.hold("south", {"id": ["1", "2", "1", "3"]}, {"id": TEXT})
    done = institutions.run(exact("keys", ["id"], duplicates=duplicates))
    assert done.tables("north") == done.plain_tables("north")
    assert done.tables("north")["intersection"]["size"] == [size]
    assert {done.tables(name)["intersection"]["size"][0] for name in ("north", "south")} == {size}


def test_duplicate_keys_are_an_error_unless_the_job_says_otherwise(institutions):
    institutions.hold("north", {"id": ["1", "2"]}, {"id": TEXT})
    institutions.hold("south", {"id": ["1", "1"]}, {"id": TEXT})
    ended = institutions.failed(exact("keys", ["id"]))
    assert ended["south"] == (State.FAILED, "domain")
    assert ended["north"][0] is State.FAILED


FIELDS = [{"column": "name", "weight": 2}, {"column": "born", "normalization": ["date"]}]
TOLERANT = {
    "method": "tolerant",
    "fields": FIELDS,
    "threshold": "0.75",
    "blocking": [["born:value"], ["name:soundex"]],
    "salt": "spring",
}


def pairs(done):
    """Matched rows of north and south, by the numbers of pairs that both tables share."""
    rows = [done.tables(name)["pairs"] for name in ("north", "south")]
    assert rows[0]["pair"] == rows[1]["pair"]
    return {*zip(rows[0]["row"], rows[1]["row"], strict=True)}


def plain_pairs(done):
    table = done.plain_tables("north")["pairs"]
    return {*zip(table["row"], table["partner"], strict=True)}


@pytest.mark.parametrize("mode", ["greedy", "none", "largest"])
def test_tolerant(matched, mode):
    done = matched.run(job("matching", {**TOLERANT, "one_to_one": mode}, ["name", "born"]))
    assert pairs(done) == plain_pairs(done) == {(1, 1), (3, 2), (4, 3), (6, 6)}


def test_tolerant_to_one_party(matched):
    document = job("matching", {**TOLERANT, "show": ["name"]}, ["name", "born"], recipients=["alice"])
    done = matched.run(document)
    assert done.tables("south") == {}
    assert {*done.tables("north")["pairs"]["name"]} == {"Ada Löwe", "Cy Orr", "Di Fox", "Fy Dahl"}


CHOSEN = {**TOLERANT, "ranks": 1, "overflow": "accept", "histogram": {"epsilon": "3/2"}}


def test_a_least_score_chosen_in_the_run_is_charged_at_both_and_known_to_both(matched):
    document = job("matching", CHOSEN, ["name", "born"])
    shown = matched.network.managers["north"].check(job_text(matched.file(document)))
    assert shown["verdict"]["allowed"]
    assert "epsilon 1.5" in str(shown["verdict"]["conditions"]), shown["verdict"]["conditions"]
    done = matched.run(document)
    assert matched.spent("north") == matched.spent("south") == Fraction(3, 2)
    assert done.details("north") == done.details("south")
    assert LOWEST <= done.details("north")["least_score"] <= HIGHEST
    assert len(done.details("south")["histogram"]["rows"]) == len(EDGES)
    assert done.details("south")["histogram"]["epsilon"] == "1.5"
    assert pairs(done) >= {(1, 1), (3, 2)}


def test_without_a_budget_or_a_recipient_no_least_score_is_chosen(matched):
    with pytest.raises(UsageError, match="known to both"):
        matched.submit(job("matching", CHOSEN, ["name", "born"], recipients=["alice"]))
    matched.allow("south", epsilon_per_job="1")
    with pytest.raises(PeerRefused, match="privacy budget"):
        matched.submit(job("matching", CHOSEN, ["name", "born"]))
    assert matched.spent("north") == matched.spent("south") == 0


@pytest.mark.parametrize("recipients", [["alice", "bob"], ["bob"]])
def test_statistics_over_tolerant_matches(matched, recipients):
    values = [{"side": "alice", "column": "amount"}]
    document = job(
        "matching",
        {**TOLERANT, "output": "statistics", "values": values},
        {"alice": ["name", "born", "amount"], "bob": ["name", "born"]},
        recipients=recipients,
    )
    done = matched.run(document)
    table = done.tables("south")["intersection"]
    assert table == done.plain_tables("south")["intersection"]
    assert (table["side"], table["column"], table["count"]) == (["alice"], ["amount"], [4])
    assert bool(done.tables("north")) is ("alice" in recipients)


def test_a_tolerant_matching_that_leaves_out_rows_is_refused_at_check_and_before_it_is_proposed(matched):
    names = [f"Ann {'ab'[number % 2]}{number}" for number in range(60)]
    born = [f"19{number:02}-01-01" for number in range(20, 80)]
    matched.hold("north", {"name": names, "born": born}, {"name": TEXT, "born": DATE})
    document = job("matching", {**TOLERANT, "blocking": [["born:value"], ["name:prefix3"]]}, ["name", "born"])
    manager = matched.network.managers["north"]
    shown = manager.check(job_text(matched.file(document)))["preview"]
    assert shown["refusal"]["code"] == "overflow"
    assert "pass 2 (name:prefix3)" in shown["refusal"]["what"]
    assert [each["keyless"] for each in shown["details"]["passes"]] == [0, 0]
    with pytest.raises(DomainError, match="bucket full"):
        matched.submit(document)
    assert matched.network.said == []
    document["parameters"]["overflow"] = "accept"
    assert "Pass 2 (name:prefix3): 73 % of this side's rows" in matched.run(document).notes("north")


FEATURE = {"type": "decimal", "scale": 1, "lower": "0", "upper": "10"}
VECTORS = {
    "north": {"x": ["0.5", "9.0", "5.0", "2.0"], "y": ["0.5", "1.0", "5.0", "8.5"]},
    "south": {"x": ["9.5", "0.0", "4.0", "2.5", "9.9"], "y": ["1.5", "1.0", "6.5", "8.0", "9.9"]},
}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"threshold": "1.2"}, {(1, 2), (2, 1), (4, 4)}),
        ({"nearest": 1}, {(1, 2), (2, 1), (3, 3), (4, 4)}),
        ({"nearest": 2, "scaling": "range"}, None),
        ({"similarity": "cosine", "threshold": "0.99"}, None),
    ],
)
def test_vectors(institutions: Institutions, parameters, expected):
    for name, cells in VECTORS.items():
        institutions.hold(name, cells, {"x": FEATURE, "y": FEATURE})
    done = institutions.run(
        job("matching", {"method": "vectors", "columns": ["x", "y"], **parameters}, ["x", "y"])
    )
    assert pairs(done) == plain_pairs(done)
    assert pairs(done)
    assert expected is None or pairs(done) == expected
