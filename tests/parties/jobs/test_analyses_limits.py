"""What the policies refuse, for real analyses: each limit, from either side; the stricter one wins."""

from __future__ import annotations

import json

import pytest

from parties.client import job_text
from parties.contracts.state import State
from parties.errors import BudgetError, PeerRefused, PolicyError
from parties.jobs.reports import check_report
from tests.parties.jobs.institutions import ALLOWED, job
from tests.support.grids import crossed

SIDES = ("north", "south")
REFUSED = dict.fromkeys(SIDES, (State.FAILED, "disclosure"))
INTEGER = {"type": "integer", "lower": 0, "upper": 100}
GROUP = {"type": "category", "values": ["a", "b", "c"]}
DECLARED = {"id": {"type": "text"}, "v": INTEGER, "group": GROUP}

SIZE = {"method": "exact", "keys": ["id"], "output": "size"}
SUM = SIZE | {"output": "statistics", "values": [{"side": "alice", "column": "v"}]}
KEYS = SIZE | {"output": "keys"}
TOLERANT = {
    "method": "tolerant",
    "fields": [{"column": "id", "bits": 512}],  # of 64 bits two grams of different numbers share one
    "threshold": "1",
    "blocking": [["id:value"]],
}
VECTORS = {"method": "vectors", "columns": ["v"], "threshold": "0"}
MATCHINGS = {
    "keys": (KEYS, ["id"]),
    "size": (SIZE, ["id"]),
    "noisy size": (SIZE | {"epsilon": "8"}, ["id"]),
    "sum": (SUM, {"alice": ["id", "v"], "bob": ["id"]}),
    "tolerant": (TOLERANT, ["id"]),
    "vectors": (VECTORS, ["v"]),
}


def people(institutions, north, south, **changes):
    """Data sets of persons with these numbers; group and value follow from the number."""
    for name, numbers in zip(SIDES, (north, south), strict=True):
        cells = {
            "id": [f"person {number}" for number in numbers],
            "v": [number % 100 for number in numbers],
            "group": ["abc"[number % 3] for number in numbers],
        }
        institutions.hold(name, cells, DECLARED, **{"person": "id", "maximum_rows_per_person": 1, **changes})


def matching(name):
    return job("matching", *MATCHINGS[name])


def statistics(*queries, noise="none", **parameters):
    columns = [*dict.fromkeys(query[key] for query in queries for key in ("column", "by") if key in query)]
    return job("statistics", {"noise": noise, "queries": [*queries], **parameters}, columns)


COUNT = {"kind": "count", "by": "group"}
CLUSTERING = {"clusters": 2, "columns": ["v"], "centres": [["0"], ["100"]], "iterations": 2}


@pytest.fixture
def peopled(institutions):
    """Ten persons a side, of whom four are on both."""
    people(institutions, range(10), range(6, 16))
    return institutions


@pytest.mark.parametrize(("name", "side"), crossed(MATCHINGS, SIDES))
def test_minimum_intersection(peopled, name, side):
    """Noise of epsilon 8 is 4 or more with a probability below e**-31."""
    away = 3 if name == "noisy size" else 0
    peopled.allow(side, minimum_intersection=5 + away)
    assert peopled.failed(matching(name)) == REFUSED
    peopled.allow(side, minimum_intersection=4 - away)
    peopled.run(matching(name))


@pytest.mark.parametrize("name", ["keys", "size", "tolerant", "vectors"])
def test_minimum_set_and_maximum_ratio(institutions, name):
    people(institutions, range(12), range(5))
    institutions.allow("north", minimum_set=6)
    institutions.allow("south", minimum_set=2)
    assert institutions.failed(matching(name)) == REFUSED
    institutions.allow("north", maximum_ratio="3")
    institutions.allow("south", maximum_ratio="2")
    assert institutions.failed(matching(name)) == REFUSED
    institutions.allow("south", maximum_ratio="2.4")
    institutions.run(matching(name))


SPLIT = {"layout": "vertical", "alice_columns": ["v"], "bob_columns": ["w"], "match": {"keys": ["id"]}}
MATCHED = {
    "statistics": {**SPLIT, "noise": "laplace", "epsilon": "1", "queries": [{"kind": "mean", "column": "v"}]},
    "clustering": {**SPLIT, "clusters": 2, "labels": False},
}
"""Jobs of other analyses that match rows."""


def matched(name):
    parameters = MATCHED[name] | ({"bob_columns": []} if name == "statistics" else {})
    document = job(name, parameters, ["id", "v"])
    document["bob"]["columns"] = {"id": "id"} if name == "statistics" else {"id": "id", "w": "v"}
    return document


@pytest.mark.parametrize("name", [*MATCHINGS, *MATCHED])
def test_an_own_set_below_the_own_minimum_is_never_proposed(peopled, name):
    """Whatever matches rows is refused before anything is said, as the run would refuse it."""
    document = matched(name) if name in MATCHED else matching(name)
    peopled.allow("north", minimum_set=11)
    with pytest.raises(PolicyError, match="fewer than 11 rows"):
        peopled.submit(document)
    assert peopled.network.said == []
    report = check_report(peopled.north._admission, job_text(document))
    assert "the data set has fewer than 11 rows" in [
        reason["what"] for reason in report["verdict"]["reasons"]
    ]
    peopled.allow("north", minimum_set=10)
    peopled.run(document)


def test_a_minimum_set_is_no_matter_of_jobs_that_match_no_rows(peopled):
    peopled.allow("north", minimum_set=11)
    peopled.run(EXACT["count"])


def test_the_stricter_minimum_group_of_sums_over_an_intersection_wins(peopled):
    peopled.allow("north", minimum_group=2)
    peopled.allow("south", minimum_group=5)
    assert peopled.failed(matching("sum")) == REFUSED
    peopled.allow("south", minimum_group=4)
    assert peopled.run(matching("sum")).tables("south")["intersection"]["sum"] == [6 + 7 + 8 + 9]


@pytest.mark.parametrize("side", SIDES)
def test_dominance_over_an_intersection(institutions, side):
    people(institutions, [1, 2, 3, 98], [1, 2, 3, 98, 99])
    institutions.allow(side, dominance="0.9")
    assert institutions.failed(matching("sum")) == REFUSED
    institutions.allow(side, dominance="0.95")
    institutions.run(matching("sum"))


@pytest.mark.parametrize("side", SIDES)
def test_minimum_group_of_exact_counts(institutions, side):
    people(institutions, [0, 3, 6, 9, 1, 4, 7, 2], [0, 3, 6, 1, 4, 7, 10])
    institutions.allow(side, minimum_group=3)
    done = institutions.run(statistics(COUNT))
    groups = dict(zip(*(done.tables("north")["results"][key] for key in ("group", "value")), strict=True))
    assert groups["c"] is None
    assert sum(value is None for value in groups.values()) >= 2 or "(all)" not in groups
    plain = dict(
        zip(*(done.plain_tables("north")["results"][key] for key in ("group", "value")), strict=True)
    )
    assert plain["c"] == 1
    assert all(value in (None, plain[group]) for group, value in groups.items())
    assert done.tables("north") == done.tables("south")


@pytest.mark.parametrize("side", SIDES)
def test_minimum_group_of_noisy_counts(institutions, side):
    """Noise of epsilon 8 is above 2 with a probability below e**-23."""
    people(institutions, range(0, 90, 3), [*range(0, 90, 3), 1])
    noisy = statistics(COUNT, noise="laplace", epsilon="8")
    institutions.allow(side, minimum_group=10)
    values = institutions.run(noisy).tables("south")["results"]["value"]
    assert abs(values[0] - 60) <= 2
    assert values[1:] == [None, None]


@pytest.mark.parametrize("side", SIDES)
def test_dominance_of_exact_sums(institutions, side):
    """Each side withholds what one person dominates of its own part, by its own policy."""
    numbers = [0, 3, 6, 9, 1, 4, 7], [0, 3, 6, 9, 1, 4, 97]
    people(institutions, *(numbers if side == "south" else reversed(numbers)))
    total = {"kind": "sum", "column": "v", "by": "group"}
    institutions.allow(side, dominance="0.9")
    table = institutions.run(statistics(total)).tables("north")["results"]
    assert dict(zip(table["group"], table["value"], strict=True))["b"] is None
    institutions.allow(side, dominance="0.99")
    table = institutions.run(statistics(total)).tables("north")["results"]
    assert dict(zip(table["group"], table["value"], strict=True))["b"] == 102 + 12


@pytest.mark.parametrize("side", SIDES)
def test_minimum_group_of_clusters(institutions, side):
    people(institutions, [1, 2, 3, 4, 95], [1, 2, 3, 4, 5, 96])
    institutions.allow(side, minimum_group=3)
    parameters = {**CLUSTERING, "start": "kmeans++", "iterations": 4}
    del parameters["centres"]
    job_id = institutions.submit(job("clustering", parameters, ["v"]))
    assert {record.state for record in institutions.ended(job_id).values()} == {State.FINISHED}
    (table,) = (
        table
        for table in json.loads(institutions.north.result(job_id))["outcome"]["tables"]
        if table["name"] == "centres"
    )
    # two of eleven are far from the rest, and too few; with them the rest are withheld
    assert None in table["columns"]["size"]


EXACT = {
    "size": matching("size"),
    "sum": matching("sum"),
    "count": statistics(COUNT),
    "clusters": job("clustering", CLUSTERING, ["v"]),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact_figures_need_a_word_of_both_policies(peopled, name):
    peopled.allow("north", exact_aggregates=None)
    with pytest.raises(PolicyError, match="exact figures"):
        peopled.submit(EXACT[name])
    assert peopled.network.said == []
    peopled.allow("north")
    peopled.allow("south", exact_aggregates=False)
    with pytest.raises(PeerRefused) as caught:
        peopled.submit(EXACT[name])
    assert caught.value.stable_code == "policy"
    assert peopled.north.store.all()[0].state is State.DENIED


@pytest.mark.parametrize("name", EXACT)
def test_overlap(peopled, name):
    peopled.allow("south", overlap=3)
    peopled.run(EXACT[name])
    people(peopled, range(10), range(6, 15))
    assert peopled.failed(EXACT[name])["south"] == (State.FAILED, "overlap")
    peopled.allow("south")
    peopled.run(EXACT[name])


def test_an_overlap_over_analyses_is_noticed_at_home(peopled):
    peopled.allow("north", overlap=3)
    peopled.run(EXACT["count"])
    people(peopled, range(9), range(6, 16))
    said = len(peopled.network.said)
    with pytest.raises(PolicyError, match="differ from those of job") as caught:
        peopled.submit(EXACT["size"])
    assert caught.value.stable_code == "overlap"
    assert len(peopled.network.said) == said
    peopled.run(statistics(COUNT, noise="laplace", epsilon="1"))


@pytest.mark.parametrize("side", SIDES)
def test_runs_total(peopled, side):
    peopled.allow(side, runs_total=2)
    peopled.run(matching("keys"))
    peopled.run(matching("tolerant"))
    with pytest.raises((PolicyError, PeerRefused)) as caught:
        peopled.submit(matching("keys"))
    assert caught.value.stable_code == "policy"


NOISY = {
    "laplace": statistics(COUNT, noise="laplace", epsilon="1/2"),
    "gaussian": statistics(COUNT, noise="gaussian", epsilon="1/2", delta="1/1000000"),
    "size": job("matching", SIZE | {"epsilon": "1/2"}, ["id"]),
    "clusters": job("clustering", CLUSTERING | {"epsilon": "1/2", "labels": False}, ["v"]),
}


@pytest.mark.parametrize(("name", "key"), crossed(NOISY, ["epsilon_per_job", "epsilon_total"]))
def test_epsilon(peopled, name, key):
    delta = {"delta_per_job": "0.00001", "delta_total": "0.00001"}
    peopled.allow("north", **{key: "0.4"}, **delta)
    peopled.allow("south", **delta)
    with pytest.raises(BudgetError, match=key.replace("epsilon_total", "in total")):
        peopled.submit(NOISY[name])
    assert peopled.network.said == []
    peopled.allow("north", **delta)
    peopled.allow("south", **{key: "0.4"}, **delta)
    with pytest.raises(PeerRefused) as caught:
        peopled.submit(NOISY[name])
    assert caught.value.stable_code == "budget"
    assert peopled.spent("north") == peopled.spent("south") == 0
    peopled.allow("south", **{key: "0.5"}, **delta)
    peopled.run(NOISY[name])
    if key == "epsilon_total":
        with pytest.raises(PeerRefused):
            peopled.submit(NOISY[name])


@pytest.mark.parametrize(("key", "side"), crossed(["delta_per_job", "delta_total"], SIDES))
def test_delta(peopled, key, side):
    """What drawing the noise needs, 2**-40 at most, is more than this policy gives."""
    peopled.allow(side, **{key: "2^-41"})
    with pytest.raises((BudgetError, PeerRefused)) as caught:
        peopled.submit(NOISY["laplace"])
    assert caught.value.stable_code == "budget"
    peopled.allow(side, **{key: "2^-40"})
    peopled.run(NOISY["laplace"])


@pytest.mark.parametrize(
    ("entry", "side"),
    crossed(
        [
            ("analyses", ["comparison"]),
            ("peers", ["east"]),
            ("datasets", ["animals"]),
            ("columns", ["group"]),
            ("recipients", ["self"]),
            ("minimum_rows", 11),
            ("maximum_seconds", 1),
        ],
        SIDES,
    ),
)
def test_other_entries_of_a_rule(peopled, entry, side):
    key, value = entry
    assert key in ALLOWED or key in ("minimum_rows", "maximum_seconds")
    peopled.allow(side, **{key: value})
    if (key, side) == ("minimum_rows", "south"):  # how many rows there are is not said for a proposal
        assert peopled.failed(matching("keys"))["south"] == (State.FAILED, "policy")
        return
    with pytest.raises((PolicyError, PeerRefused)) as caught:
        peopled.submit(matching("keys"))
    assert caught.value.stable_code == "policy"
    if side == "north":
        assert key in caught.value.what or key in ("minimum_rows", "recipients")
        assert peopled.network.said == []
