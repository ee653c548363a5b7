"""Bad input to real analyses: a clear verdict for each, before any data move where that can be known."""

from __future__ import annotations

import threading
from fractions import Fraction

import pytest

from parties.contracts.state import State
from parties.errors import BudgetError, DataError, JobError, PolicyError
from smc.errors import DomainError, UsageError
from tests.parties.jobs.institutions import job
from tests.parties.jobs.joined import approve, wait_state

SIDES = ("north", "south")
AGE = {"type": "integer", "lower": 0, "upper": 100}
GROUP = {"type": "category", "values": ["a", "b"]}
TEXT = {"type": "text"}
DECLARED = {"id": TEXT, "age": AGE, "group": GROUP}
CELLS = {
    "id": [f"p{number}" for number in range(12)],
    "age": [*range(20, 80, 5)],
    "group": ["a", "b"] * 6,
}
WIDE = {"type": "integer", "lower": 0, "upper": (1 << 62) - 1}

KEYS = {"method": "exact", "keys": ["id"], "output": "keys"}
TOLERANT = {
    "method": "tolerant",
    "fields": [{"column": "id"}],
    "threshold": "0.9",
    "blocking": [["id:value"]],
}
VECTORS = {"method": "vectors", "columns": ["age"], "threshold": "1"}
CLUSTERING = {"clusters": 2, "columns": ["age"], "iterations": 2}
TEST = {"kind": "t-test", "column": "age", "by": "group"}


def statistics(query, columns, **parameters):
    return job("statistics", {"queries": [query], **({"epsilon": "1"} | parameters)}, columns)


@pytest.fixture
def peopled(institutions):
    for name in SIDES:
        institutions.hold(name, CELLS, DECLARED)
    return institutions


def nothing_moved(institutions):
    """No session began, and ledgers and histories know nothing of the job but that it was approved."""
    for manager in institutions.network.managers.values():
        assert {entry.event for entry in manager.ledger.entries()} <= {"approved"}
        assert manager._admission.history.records() == ()
        assert all(record.state in (State.FAILED, State.DENIED) for record in manager.store.all())
    assert institutions.network._transports == {}


WRONG_TYPES = {
    "mean of labels": statistics({"kind": "mean", "column": "group"}, ["group"]),
    "count by numbers": statistics({"kind": "count", "by": "age"}, ["age"]),
    "histogram of texts": statistics({"kind": "histogram", "column": "id", "edges": ["0", "1"]}, ["id"]),
    "t-test by texts": statistics(TEST | {"by": "id"}, ["age", "id"]),
    "clusters of labels": job("clustering", CLUSTERING | {"columns": ["group"]}, ["group"]),
    "vectors of texts": job("matching", VECTORS | {"columns": ["id"]}, ["id"]),
    "sum of texts": job(
        "matching",
        KEYS | {"keys": ["age"], "output": "statistics", "values": [{"side": "bob", "column": "id"}]},
        {"alice": ["age"], "bob": ["age", "id"]},
    ),
}


@pytest.mark.parametrize("name", WRONG_TYPES)
def test_columns_of_the_wrong_type(peopled, name):
    with pytest.raises(UsageError) as caught:
        peopled.submit(WRONG_TYPES[name])
    assert any(column in caught.value.what for column in DECLARED)
    assert caught.value.hint
    nothing_moved(peopled)


def test_keys_of_decimals(institutions):
    for name in SIDES:
        institutions.hold(
            name, {"id": ["1.5"]}, {"id": {"type": "decimal", "scale": 1, "lower": 0, "upper": 9}}
        )
    for parameters in (KEYS, TOLERANT):
        with pytest.raises(UsageError, match="decimal"):
            institutions.submit(job("matching", parameters, ["id"]))
    nothing_moved(institutions)


@pytest.mark.parametrize(
    ("analysis", "parameters"),
    [
        ("statistics", {"queries": [{"kind": "mean", "column": "age"}], "epsilon": "1"}),
        ("matching", VECTORS),
        ("clustering", CLUSTERING),
    ],
)
def test_columns_that_the_parties_declare_differently(peopled, analysis, parameters):
    peopled.hold("south", CELLS, DECLARED | {"age": AGE | {"unit": "months"}})
    with pytest.raises(UsageError, match=r"unit of .*'age' differently"):
        peopled.submit(job(analysis, parameters, ["age"]))
    nothing_moved(peopled)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (statistics({"kind": "sum", "column": "age"}, ["age"]), "narrower bounds"),
        (statistics({"kind": "variance", "column": "age"}, ["age"]), "narrower bounds"),
        (statistics({"kind": "sum", "column": "age"}, ["age"], noise="none", epsilon=None), "63 bits"),
        (
            statistics({"kind": "mean", "column": "age", "lower": "0", "upper": "0"}, ["age"]),
            "at most one value",
        ),
        (
            statistics({"kind": "mean", "column": "age", "lower": "0.5", "upper": "9"}, ["age"]),
            "more decimals",
        ),
    ],
)
def test_bounds_that_the_numbers_do_not_fit(institutions, document, said):
    document["parameters"] = {k: v for k, v in document["parameters"].items() if v is not None}
    for name in SIDES:
        institutions.hold(name, CELLS, DECLARED | {"age": WIDE})
    with pytest.raises(UsageError, match=said):
        institutions.submit(document)
    nothing_moved(institutions)


def test_cells_outside_declared_bounds(peopled):
    """Their own at once; those of a party that is asked when the job runs, as nobody reads for a proposal."""
    document = statistics({"kind": "mean", "column": "age"}, ["age"])
    peopled.hold("north", CELLS | {"age": [*range(200, 212)]}, DECLARED)
    with pytest.raises(DataError, match=r"people.csv, row 2|people.csv, line 2|people.csv") as mine:
        peopled.submit(document)
    assert "200" not in mine.value.what
    nothing_moved(peopled)
    peopled.hold("north", CELLS, DECLARED)
    peopled.hold("south", CELLS | {"age": [*range(200, 212)]}, DECLARED)
    ended = peopled.ended(peopled.submit(document))
    assert (ended["south"].state, ended["south"].error_code) == (State.FAILED, "data")
    assert ended["north"].state is State.FAILED
    assert "200" not in ended["north"].error_what + ended["south"].error_what


GAPS = CELLS | {"age": [20, "", "n/a", *range(35, 80, 5)]}


def missing(institutions, **entries):
    for name, cells in (("north", GAPS), ("south", CELLS)):
        institutions.hold(name, cells, DECLARED | {"age": AGE | {"missing_tokens": ["n/a"], **entries}})


MEAN = statistics({"kind": "sum", "column": "age"}, ["age"], noise="none")
del MEAN["parameters"]["epsilon"]


def test_missing_cells_are_an_error_unless_declared_otherwise(institutions):
    missing(institutions)
    with pytest.raises(DataError, match="'age' is empty"):
        institutions.submit(MEAN)
    nothing_moved(institutions)


def test_rows_with_missing_cells_are_left_out_and_the_own_people_told(institutions):
    missing(institutions, missing="drop")
    done = institutions.run(MEAN)
    assert done.tables("south")["results"]["value"] == [sum(CELLS["age"]) * 2 - 25 - 30]
    assert "left out since a cell is missing: 2; by column: age (2)" in done.notes("north")
    assert "left out" not in done.notes("south")


def test_rows_in_results_are_rows_of_the_source_where_some_were_left_out(institutions):
    cards = {"card": {"type": "text", "missing": "drop"}, "age": AGE}
    institutions.hold("north", {"card": ["", "a", "b", "", "c"], "age": [20, 30, 40, 50, 60]}, cards)
    institutions.hold("south", {"card": ["c", "d", "", "b"], "age": [21, 31, 41, 51]}, cards)
    done = institutions.run(job("matching", {"method": "exact", "keys": ["card"]}, ["card"]))
    assert done.tables("north")["matches"] == {"row": [3, 5], "card": ["b", "c"]}
    assert done.tables("south")["matches"] == {"row": [1, 4], "card": ["c", "b"]}
    parameters = {"clusters": 2, "columns": ["age"], "centres": [["20"], ["60"]], "iterations": 1}
    institutions.hold("north", {"id": [*"pqrs"], "age": ["", 20, "", 60]}, {"age": AGE | {"missing": "drop"}})
    institutions.hold("south", {"age": [20, 60]}, {"age": AGE})
    done = institutions.run(job("clustering", parameters, ["age"]))
    assert done.tables("north")["labels"] == {"row": [2, 4], "cluster": [1, 2]}
    assert done.tables("south")["labels"] == {"row": [1, 2], "cluster": [1, 2]}


def test_missing_cells_are_replaced_and_the_own_people_told(institutions):
    missing(institutions, impute="50")
    done = institutions.run(MEAN)
    assert done.tables("south")["results"]["value"] == [sum(CELLS["age"]) * 2 - 25 - 30 + 100]
    assert "replaced by the catalog's value, by column: age (2)" in done.notes("north")
    assert "replaced" not in done.notes("south")


@pytest.mark.parametrize(
    "parameters",
    [
        {"layout": "vertical", "alice_columns": ["age"], "bob_columns": ["height"]},
        {"layout": "arbitrary", "columns": ["age"]},
    ],
    ids=["vertical", "arbitrary"],
)
def test_no_row_is_left_out_where_rows_are_paired_by_position(institutions, parameters):
    missing(institutions, missing="drop")
    institutions.hold("south", {"age": [1] * 12, "height": [1] * 12}, {"age": AGE, "height": AGE})
    columns = {"alice": ["age"], "bob": parameters.get("bob_columns", ["age"])}
    with pytest.raises(DataError, match="by their position"):
        institutions.submit(job("clustering", {"clusters": 2, **parameters}, columns))
    nothing_moved(institutions)


def test_sums_over_an_intersection_that_could_leave_63_bits(institutions):
    """Refused by either side before a session, as if the other one had as many rows."""
    for name in SIDES:
        institutions.hold(name, CELLS, DECLARED | {"age": WIDE})
    parameters = KEYS | {"output": "statistics", "values": [{"side": "alice", "column": "age"}]}
    document = job("matching", parameters, {"alice": ["id", "age"], "bob": ["id"]})
    with pytest.raises(DomainError, match="shared words hold 63"):
        institutions.submit(document)
    nothing_moved(institutions)


def test_a_test_of_one_class_only(institutions):
    """In the data: no test and a note. In the declaration: an error, since that is known before."""
    for name in SIDES:
        institutions.hold(name, CELLS | {"group": ["a"] * 12}, DECLARED)
    done = institutions.run(statistics(TEST, ["age", "group"], epsilon="8", maximum_rows=100))
    assert done.tables("north")["results"]["value"] == [None]
    assert "cannot be computed" in done.notes("north")
    for name in SIDES:
        one = {"type": "category", "values": ["a"]}
        institutions.hold(name, CELLS | {"group": ["a"] * 12}, DECLARED | {"group": one})
    with pytest.raises(UsageError, match="two"):
        institutions.submit(statistics(TEST, ["age", "group"]))


@pytest.mark.parametrize("parameters", [KEYS, KEYS | {"output": "size"}, TOLERANT | {"threshold": "1"}])
def test_an_empty_intersection(peopled, parameters):
    peopled.hold("south", CELLS | {"id": [f"q{number}" for number in range(12)]}, DECLARED)
    done = peopled.run(job("matching", parameters, ["id"]))
    tables = done.tables("north")
    assert tables == done.plain_tables("north")
    if "pairs" in tables:
        assert tables["pairs"]["row"] == []
    else:
        assert tables["intersection"]["size"] == [0]


def test_a_mean_over_nothing(peopled):
    peopled.hold("south", CELLS | {"id": [f"q{number}" for number in range(12)]}, DECLARED)
    parameters = KEYS | {"output": "statistics", "values": [{"side": "alice", "column": "age"}]}
    document = job("matching", parameters, {"alice": ["id", "age"], "bob": ["id"]})
    table = peopled.run(document).tables("south")["intersection"]
    assert (table["count"], table["sum"], table["mean"]) == ([0], [0], [None])


EMPTY = {name: [] for name in CELLS}


def test_a_side_without_rows(peopled):
    peopled.hold("south", EMPTY, DECLARED)
    for parameters in (KEYS, TOLERANT):
        done = peopled.run(job("matching", parameters, ["id"]))
        assert done.tables("north") == done.plain_tables("north")
    done = peopled.run(MEAN)
    assert done.tables("north")["results"]["value"] == [sum(CELLS["age"])]
    ended = peopled.failed(job("matching", VECTORS, ["age"]))
    assert ended == dict.fromkeys(SIDES, (State.FAILED, "domain"))


def test_more_clusters_than_rows(peopled):
    ended = peopled.failed(job("clustering", CLUSTERING | {"clusters": 30}, ["age"]))
    assert ended == dict.fromkeys(SIDES, (State.FAILED, "domain"))


def test_tables_of_different_lengths_side_by_side(peopled):
    peopled.hold("south", {name: column[:7] for name, column in CELLS.items()}, DECLARED)
    ended = peopled.failed(job("clustering", CLUSTERING | {"layout": "arbitrary"}, ["age"]))
    assert ended == dict.fromkeys(SIDES, (State.FAILED, "domain"))


def test_fewer_rows_than_the_policy_asks_for(peopled):
    peopled.allow("north", minimum_rows=13)
    with pytest.raises(PolicyError, match="fewer than 13 rows"):
        peopled.submit(MEAN)
    assert peopled.network.said == []
    peopled.allow("north")
    peopled.allow("south", minimum_rows=13)
    ended = peopled.failed(MEAN)  # south counts its rows when the job runs
    assert ended["south"] == (State.FAILED, "policy")
    assert ended["north"][0] is State.FAILED


def test_more_rows_than_the_job_allows_are_declared(peopled):
    with pytest.raises(JobError, match="up to 100"):
        peopled.submit(statistics({"kind": "sum", "column": "age"}, ["age"], maximum_rows=10))
    nothing_moved(peopled)


@pytest.mark.parametrize(
    "document",
    [
        statistics({"kind": "count", "by": "group"}, ["group"], epsilon="0"),
        statistics({"kind": "count", "by": "group"}, ["group"], epsilon="-1"),
        statistics({"kind": "count", "by": "group"}, ["group"], noise="gaussian", delta="0"),
        job("matching", KEYS | {"output": "size", "epsilon": "0"}, ["id"]),
        job("clustering", CLUSTERING | {"epsilon": "0"}, ["age"]),
    ],
)
def test_an_epsilon_of_zero(peopled, document):
    with pytest.raises(UsageError, match=r"not positive|epsilon|delta"):
        peopled.submit(document)
    assert peopled.network.said == []
    assert peopled.north.store.all() == []


def test_epsilon_above_what_is_left(peopled):
    document = statistics({"kind": "count", "by": "group"}, ["group"])
    for name in SIDES:
        peopled.allow(name, epsilon_total="1.5")
    peopled.run(document)
    said = len(peopled.network.said)
    with pytest.raises(BudgetError, match=r"epsilon 1/2 left|0\.5 left") as caught:
        peopled.submit(document)
    assert caught.value.hint
    assert len(peopled.network.said) == said
    assert peopled.spent("north") == peopled.spent("south") == 1


def test_two_jobs_race_for_the_last_budget(peopled):
    """Never do both get through. Each may stop the other, since what is spent does not come back."""
    document = statistics({"kind": "count", "by": "group"}, ["group"])
    for name in SIDES:
        peopled.allow(name, epsilon_total="1", approval="person" if name == "south" else "auto")
    jobs = [peopled.submit(document) for _ in range(2)]
    for job_id in jobs:
        wait_state(peopled.south, job_id, State.WAITING_OWN)
    threads = [threading.Thread(target=_approve, args=[peopled.south, job_id]) for job_id in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    if any(peopled.south.store.get(job_id).state is State.WAITING_OWN for job_id in jobs):
        jobs = [j for j in jobs if peopled.south.store.get(j).state is not State.WAITING_OWN]
    ended = [peopled.ended(job_id) for job_id in jobs]
    finished = [records for records in ended if records["north"].state is State.FINISHED]
    assert len(finished) <= 1
    for records in ended:
        if records not in finished:
            codes = {record.error_code for record in records.values()}
            assert "budget" in codes
            assert codes <= {"budget", "peer-aborted", "peer-failed"}  # within a session, or before it
            assert not any(record.kept for record in records.values())
    for name in SIDES:
        assert Fraction(0) < peopled.spent(name) <= 1


def _approve(manager, job_id):
    try:
        approve(manager, job_id)
    except BudgetError:
        return


def test_a_job_file_with_mistakes_says_where(peopled):
    for change, error in (
        ({"analysis": "statistic"}, JobError),
        ({"recipients": ["carol"]}, JobError),
        ({"recipients": []}, UsageError),
    ):
        document = statistics({"kind": "count", "by": "group"}, ["group"])
        document["job"] |= change
        with pytest.raises(error) as caught:
            peopled.submit(document)
        assert caught.value.hint
    with pytest.raises(UsageError, match="queries"):
        peopled.submit(statistics({"kind": "average", "column": "age"}, ["age"]))
    assert peopled.network.said == []
