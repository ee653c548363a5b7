"""Exact tables of several jobs together: what would reveal figures about a few persons is refused."""

from __future__ import annotations

import pytest

from parties.contracts.state import State
from tests.parties.jobs.institutions import job

pytestmark = pytest.mark.attack

AGE = {"type": "integer", "lower": 0, "upper": 100}
SEX = {"type": "category", "values": ["f", "m"]}
DECLARED = {"id": {"type": "text"}, "age": AGE, "sex": SEX}
REFUSED = dict.fromkeys(("north", "south"), (State.FAILED, "disclosure"))


def histogram(*edges, recipients=("alice", "bob")):
    query = {"kind": "histogram", "column": "age", "edges": [0, *edges, 100]}
    return job("statistics", {"noise": "none", "queries": [query]}, ["age"], recipients=recipients)


@pytest.fixture
def aged(institutions):
    """A hundred persons a side, one of each age; every tenth is a man."""
    for name in ("north", "south"):
        cells = {
            "id": [f"{name} {age}" for age in range(100)],
            "age": list(range(100)),
            "sex": ["fm"[age % 10 == 0] for age in range(100)],
        }
        institutions.hold(name, cells, DECLARED, person="id")
        institutions.allow(name, minimum_group=5)
    return institutions


def test_shifted_edges_are_refused_and_nothing_is_opened(aged):
    aged.run(histogram(40, 60))
    assert aged.failed(histogram(43, 60)) == REFUSED
    aged.run(histogram(40, 60))
    aged.run(histogram(45, 60))
    assert aged.failed(histogram(42, 60)) == REFUSED


def test_complementary_groups_are_refused(aged):
    """Men and women, the young and the old, both crossed; then with an edge that two persons lie behind."""
    men = {"kind": "count", "column": "age", "by": "sex"}
    aged.run(job("statistics", {"noise": "none", "queries": [men]}, ["age", "sex"]))
    aged.run(histogram(50))
    cross = {"kind": "crosstab", "columns": ["age", "sex"], "edges": {"age": [0, 50, 100]}}
    document = job("statistics", {"noise": "none", "queries": [cross]}, ["age", "sex"])
    aged.run(document)
    cross["edges"] = {"age": [0, 52, 100]}
    assert aged.failed(document) == REFUSED


def counted(**where):
    queries = [{"kind": "count", "column": "age", "where": [where]}]
    return job(
        "statistics", {"noise": "none", "queries": queries}, ["age", "sex"][: 1 + ("sex" in str(where))]
    )


def test_conditions_are_equations_like_cells(aged):
    """A condition is a cell by another name: what two of them differ in, and with a table before, counts."""
    aged.run(counted(column="age", at_least=40))
    assert aged.failed(counted(column="age", at_least=43)) == REFUSED
    aged.run(counted(column="age", at_least=45))
    aged.run(histogram(60))
    assert aged.failed(counted(column="age", at_least=62)) == REFUSED
    either = [{"column": "age", "below": 50}, {"column": "sex", "equals": "m"}]
    aged.run(counted(any=either))
    assert aged.failed(counted(any=[either[0] | {"below": 53}, either[1]])) == REFUSED


def test_a_table_is_weighed_against_what_its_recipients_have_seen(aged):
    aged.run(histogram(40, recipients=["bob"]))
    aged.run(histogram(45, recipients=["alice"]))
    assert aged.failed(histogram(43, recipients=["alice"])) == REFUSED
    aged.run(histogram(40, recipients=["alice"]))
    assert aged.failed(histogram(42, recipients=["bob"])) == REFUSED


def test_restarted_daemons_remember(aged):
    aged.run(histogram(40))
    for name in ("north", "south"):
        assert (aged.folder / name / "exact-jobs.log").stat().st_size > 100 * 16
    assert aged.failed(histogram(41)) == REFUSED


def test_a_corrected_value_is_not_given_away_by_two_sums(aged):
    """Same persons, same job; one cell of one person has changed in between."""
    document = job("statistics", {"noise": "none", "queries": [{"kind": "sum", "column": "age"}]}, ["age"])
    aged.run(document)
    cells = {
        "id": [f"south {age}" for age in range(100)],
        "age": [age if age != 31 else 77 for age in range(100)],
        "sex": ["fm"[age % 10 == 0] for age in range(100)],
    }
    aged.hold("south", cells, DECLARED, person="id")
    assert aged.failed(document) == REFUSED
