"""A job without noise holds one figure, and a clustering without noise stands alone towards a peer."""

from __future__ import annotations

import pytest

from parties.contracts.state import State
from parties.errors import DuettoError
from tests.parties.jobs.institutions import job

pytestmark = pytest.mark.attack

DATE = {"type": "date", "lower": "2000-01-01", "upper": "2010-12-31"}
DECLARED = {
    "id": {"type": "text"},
    "kind": {"type": "category", "values": ["a", "b", "c", "d"]},
    "born": DATE,
    "cost": {"type": "integer", "lower": 0, "upper": 100_000},
    "same": {"type": "integer", "lower": 0, "upper": 100_000},
}
KEYED = {"method": "exact", "keys": ["id"], "output": "statistics"}


@pytest.fixture
def matched(institutions):
    for name in ("north", "south"):
        rows = range(40)
        cells = {
            "id": [f"person {row}" for row in rows],
            "kind": ["abcd"[row % 4] for row in rows],
            "born": [f"2004-{1 + row % 12:02}-{1 + row % 28:02}" for row in rows],
            "cost": [500 + 100 * row for row in rows],
            "same": [500 + 100 * row + 73 * (row == 7) for row in rows],
        }
        institutions.hold(name, cells, DECLARED, person="id", maximum_rows_per_person=1)
        institutions.allow(name, minimum_group=5, dominance="0.8", keys=None, row_results=False, types=None)
    return institutions


@pytest.fixture
def summed(matched):
    """The same, where rules allow models, and sums over matches."""
    for name in ("north", "south"):
        matched.allow(name, minimum_group=5, dominance="0.8", keys=None, types=None)
    return matched


def sums(values, derived=None, columns=None):
    parameters = KEYED | {"values": [{"side": "bob", "column": name} for name in values]}
    if derived:
        parameters["derived"] = derived
    named = columns or {"alice": ["id"], "bob": ["id", *values]}
    return job("matching", parameters, named, recipients=["alice"])


def code(institutions, document):
    """How a job ends for south, whose data they are; the refusal where it does not begin."""
    try:
        record = institutions.ended(institutions.submit(document))["south"]
    except DuettoError as refusal:
        return refusal.stable_code
    return record.error_code or record.state.value


def test_sums_of_two_columns_over_one_intersection_are_not_one_job(summed):
    """The sums of `cost` and `same` differ by the one person whose cells do."""
    assert code(summed, sums(["cost"])) == "finished"
    assert code(summed, sums(["cost", "same"])) == "disclosure"


def test_sums_of_columns_derived_from_one_are_not_one_job(summed):
    """Ages on consecutive days differ by the number of birthdays between."""
    ages = {f"age{day}": {"from": "born", "to": f"2025-03-{day:02}", "unit": "years"} for day in range(1, 4)}
    columns = {"alice": ["id"], "bob": ["id", "born"]}
    assert code(summed, sums(list(ages), ages, columns)) == "disclosure"


def clusters(columns, names=None, **more):
    parameters = {"clusters": 2, "columns": columns, "labels": False, "iterations": 5, **more}
    return job("clustering", parameters, names or columns, recipients=["alice"])


def test_clusters_over_columns_derived_from_one_are_several_figures(matched):
    ages = {f"age{day}": {"from": "born", "to": f"2025-03-{day:02}", "unit": "years"} for day in range(1, 4)}
    assert code(matched, clusters(list(ages), ["born"], derived=ages)) == "disclosure"
    # nor under several names for one column
    twice = {
        name: {"from": source, "to": f"2025-03-0{day}", "unit": "years"}
        for day, (name, source) in enumerate((("one", "a"), ("two", "b")), 1)
    }
    names = {"a": "born", "b": "born"}
    document = clusters(list(twice), {"alice": names, "bob": names}, derived=twice)
    assert code(matched, document) == "job"


def test_two_clusterings_of_the_same_people_tell_of_those_between_their_lines(matched):
    assert code(matched, clusters(["cost"], start="random")) == "finished"
    # equal parameters do not help: the peer moves the lines by rows of its own
    assert code(matched, clusters(["cost"], start="random")) == "overlap"
    assert code(matched, clusters(["cost"], start="uniform", clusters=3)) == "overlap"
    histogram = {"kind": "histogram", "column": "cost", "edges": [0, 2600, 100_000]}
    table = job("statistics", {"noise": "none", "queries": [histogram]}, ["cost"], recipients=["alice"])
    assert code(matched, table) == "overlap"
    # with noise, and what only the owner receives, goes on
    assert code(matched, clusters(["cost"], epsilon="1", iterations=1)) == "finished"


def test_a_clustering_beside_a_table_tells_of_those_between_a_line_and_an_edge(matched):
    histogram = {"kind": "histogram", "column": "cost", "edges": [0, 2600, 100_000]}
    table = job("statistics", {"noise": "none", "queries": [histogram]}, ["cost"], recipients=["alice"])
    assert code(matched, table) == "finished"
    assert code(matched, clusters(["cost"], start="random")) == "overlap"


def model(name):
    """The peer has cut the cost where the lines between clusters are."""
    cut = {"dear": {"column": "cost", "cuts": [2600], "labels": ["cheap", "dear"]}}
    models = [{"name": name, "kind": "linear", "outcome": "same", "on": ["dear"]}]
    return job("models", {"models": models, "derived": cut}, ["cost", "same"])


def test_nor_beside_a_model(summed):
    """A model by a label tells how many have it, as a cell does."""
    assert code(summed, clusters(["cost"], start="random")) == "finished"
    assert code(summed, model("after")) == "overlap"


def test_nor_does_a_clustering_follow_a_model(summed):
    assert code(summed, model("before")) == "finished"
    assert code(summed, clusters(["cost"], start="random")) == "overlap"


def test_exact_clusters_do_not_begin_where_a_job_wants(matched):
    assert code(matched, clusters(["cost"], centres=[["1000"], ["3000"]])) == "policy"
    assert code(matched, clusters(["cost"], centres=[["1000"], ["3000"]], epsilon="1")) == "finished"


def test_exact_figures_need_a_bound_of_runs(matched):
    matched.allow("south", minimum_group=5, runs_total=None, row_results=False, types=None, epsilon_total="0")
    assert code(matched, clusters(["cost"], start="random")) == "policy"


def test_a_category_as_key_is_a_counting_query(matched):
    """Rows matched by a label count who has it, beside the equations of tables."""
    size = job(
        "matching",
        {"method": "exact", "keys": ["kind"], "output": "size", "duplicates": "multiset"},
        ["kind"],
    )
    assert code(matched, size) == "policy"
    matched.allow("south", minimum_group=5, keys=["kind"], row_results=False, types=None)
    matched.allow("north", minimum_group=5, keys=["kind"], row_results=False, types=None)
    assert code(matched, size) == "finished"


def test_copies_of_one_key_do_not_count_the_rows_of_one_person(institutions):
    """Forty copies of one card meet the visits of one person, whose number is no size of a group."""
    for name, cards, who in (
        ("north", ["miller"] * 40, range(40)),
        ("south", ["miller"] * 23 + [f"other {n}" for n in range(20)], [*[0] * 23, *range(1, 21)]),
    ):
        cells = {"card": cards, "who": [str(n) for n in who]}
        institutions.hold(name, cells, {"card": {"type": "text"}, "who": {"type": "text"}}, person="who")
        institutions.allow(name, minimum_group=10)
    size = job(
        "matching",
        {"method": "exact", "keys": ["card"], "output": "size", "duplicates": "multiset"},
        ["card"],
    )
    assert institutions.failed(size)["south"] == (State.FAILED, "domain")
