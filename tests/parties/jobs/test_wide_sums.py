"""Sums of the other side's columns that no run can hold: the proposer refuses them before it signs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from parties.contracts.state import State
from parties.ledger.entries import RUN
from smc.analyses.disclosure.limits import Limits
from smc.errors import DisclosureRefused, DomainError
from tests.parties.jobs.institutions import Institutions, job
from tests.support.grids import crossed

SIDES = {"alice": "north", "bob": "south"}
OTHER = {"alice": "bob", "bob": "alice"}
IDS = [f"person {number}" for number in range(12)]
WIDE = {"type": "integer", "lower": 0, "upper": (1 << 60) - 1}
"""There is room for the sum of three."""


def hold(institutions: Institutions, name: str, rows: int) -> None:
    cells = {"id": IDS[:rows], "v": [7] * rows}
    institutions.hold(name, cells, {"id": {"type": "text"}, "v": WIDE})


def matched(side: str) -> dict[str, Any]:
    """The sum of one side's column, for the other side."""
    parameters = {
        "method": "exact",
        "keys": ["id"],
        "output": "statistics",
        "values": [{"side": side, "column": "v"}],
    }
    columns = {side: ["id", "v"], OTHER[side]: ["id"]}
    return job("matching", parameters, columns, recipients=[OTHER[side]])


@pytest.mark.parametrize(
    ("limits", "side", "approval"),
    crossed(
        [{"maximum_ratio": "2"}, {"minimum_set": 5}, {"minimum_intersection": 5}], SIDES, ["auto", "person"]
    ),
)
def test_they_are_refused_where_the_limits_leave_no_way(
    institutions: Institutions, side: str, limits: Mapping[str, Any], approval: str
) -> None:
    """The limits are those of the party that has the column: they come with the contract."""
    owner, proposer = SIDES[side], SIDES[OTHER[side]]
    for name in SIDES.values():
        hold(institutions, name, 12)
    institutions.allow(owner, approval=approval, **limits)
    with pytest.raises(DomainError, match="shared words hold 63"):
        institutions.submit(matched(side), proposer)
    managers = institutions.network.managers
    (record,) = managers[proposer].store.all()
    for ended in institutions.ended(record.job_id).values():
        assert ended.state is State.FAILED
    for manager in managers.values():
        assert not [entry for entry in manager.ledger.entries() if entry.event == RUN]


def test_a_column_of_few_rows_is_taken(institutions: Institutions) -> None:
    """Three matches fit, and without limits nobody knows beforehand that there are more."""
    hold(institutions, "north", 12)
    hold(institutions, "south", 3)
    found = institutions.run(matched("bob")).tables("north")
    assert found["intersection"]["sum"] == [21]


def test_columns_of_rows_in_common(institutions: Institutions) -> None:
    """Clusters of such rows are of as many as the proposer has."""
    parameters = {
        "clusters": 2,
        "layout": "vertical",
        "alice_columns": ["v"],
        "bob_columns": ["w"],
        "scaling": "none",
        "iterations": 1,
    }
    document = job("clustering", parameters, {"alice": ["v"], "bob": ["w"]})
    for name in SIDES.values():
        institutions.allow(name)
    institutions.hold("north", {"v": [*range(12)]}, {"v": WIDE | {"upper": 100}})
    institutions.hold("south", {"w": [7] * 12}, {"w": WIDE | {"upper": 100}})
    institutions.run(document)
    institutions.hold("south", {"w": [7] * 12}, {"w": WIDE | {"upper": (1 << 45) - 1}})
    with pytest.raises(DomainError):
        institutions.submit(document)
    begun = [entry for entry in institutions.south.ledger.entries() if entry.event == RUN]
    assert len(begun) == 1


@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(minimum_set=7),
        Limits(minimum_intersection=9),
        Limits(maximum_ratio=3),
        Limits(maximum_ratio=3, minimum_set=5, minimum_intersection=6),
    ],
)
def test_the_fewest_rows_are_those_that_the_limits_let_pass(limits: Limits) -> None:
    for own in range(1, 60):
        passing = []
        for peer in range(1, 60):
            try:
                limits.check_sets(own, peer)
            except DisclosureRefused:
                continue
            passing.append(min(own, peer))
        assert not passing or limits.fewest_matchable(own) == min(passing)
