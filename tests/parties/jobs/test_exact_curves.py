"""Curves without noise of several jobs together, as daemons run, remember and refuse them."""

from __future__ import annotations

import pytest

from parties.contracts.state import State
from parties.errors import PolicyError
from tests.parties.jobs.institutions import job

REFUSED = dict.fromkeys(("north", "south"), (State.FAILED, "disclosure"))
DECLARED = {
    "id": {"type": "text"},
    "days": {"type": "integer", "lower": 0, "upper": 1000, "unit": "days"},
    "ended": {"type": "category", "values": ["alive", "died"]},
    "arm": {"type": "category", "values": ["A", "B"]},
    "age": {"type": "integer", "lower": 0, "upper": 120},
}
COLUMNS = ["days", "ended", "arm"]


def survival(every=60, until=180, columns=COLUMNS, **more):
    query = {
        "name": "survival",
        "kind": "survival",
        "time": "days",
        "event": "ended",
        "events": ["died"],
        "by": "arm",
        "every": every,
        "until": until,
        **more,
    }
    return job("statistics", {"noise": "none", "maximum_rows": 1000, "queries": [query]}, columns)


@pytest.fixture
def followed(institutions):
    """Two hundred persons a side, of whom one dies each day and arms take turns; one is 97 years old."""
    for name in ("north", "south"):
        cells = {
            "id": [f"{name} {row}" for row in range(200)],
            "days": [row + 1 for row in range(200)],
            "ended": ["died"] * 200,
            "arm": ["AB"[row % 2] for row in range(200)],
            "age": [97 if row == 70 else 30 + row % 50 for row in range(200)],
        }
        institutions.hold(name, cells, DECLARED, person="id")
        institutions.allow(name, minimum_group=5)
    return institutions


def test_both_get_curves_and_a_test_at_the_points_that_are_shown(followed):
    run = followed.run(survival(test="log-rank"))
    for name in ("north", "south"):
        curve = run.tables(name)["survival"]
        assert curve["time"] == [0, 60, 120, 180] * 2
        assert curve["at_risk"][0] == 200
        assert curve["at_risk"][1] is None  # nobody leaves without an event, and that is withheld
        assert curve["survival"][1] == pytest.approx(0.7, abs=1 / 16)
        assert curve["survival"] == run.tables("north")["survival"]["survival"]
        assert run.details(name)["kinds"]["survival"] == {"time": "steps"}
        assert "survival: log-rank" in run.tables(name)


def test_shifted_points_another_horizon_and_one_person_left_out_are_refused(followed):
    followed.run(survival())
    assert followed.failed(survival(every=61, until=183)) == REFUSED
    assert followed.failed(survival(every=62, until=124)) == REFUSED
    but_one = [{"column": "age", "not_equals": 97}]
    assert followed.failed(survival(columns=[*COLUMNS, "age"], where=but_one)) == REFUSED
    followed.run(survival())
    followed.run(survival(every=90))


def test_points_that_are_too_near_are_refused(followed):
    assert followed.failed(survival(every=6)) == REFUSED


def test_a_rule_has_to_allow_results_about_single_rows(followed):
    """Rows that a peer fits to a border tell of few persons, so that curves count as such results."""
    for name in ("north", "south"):
        followed.allow(name, minimum_group=5, row_results=False, types=None)
    with pytest.raises(PolicyError, match="single rows") as caught:
        followed.submit(survival())
    assert "Add noise to the job (epsilon)" in caught.value.hint
    assert "row_results = true" in caught.value.hint
