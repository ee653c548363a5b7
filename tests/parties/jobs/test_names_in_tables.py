"""Exact tables show which cells have nobody; sorted by what names persons they would show who is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from parties.client import job_text
from parties.errors import PeerRefused, PolicyError
from parties.jobs.run import Run
from smc.forms import Role
from tests.parties.jobs.institutions import Institutions, job

CARDS = 200
THERE = [3, 5, 6, 11, 17, 18, 19, 23, 30, 36]
NUMBER = {"type": "integer", "lower": 0, "upper": CARDS}
DECLARED: dict[str, dict[str, Any]] = {
    "card": NUMBER,
    "number": NUMBER,
    "visit": {"type": "category", "values": [str(card) for card in range(CARDS)]},
    "year": {"type": "category", "values": ["2024", "2025"]},
}
SIDES = ("north", "south")


def cells(cards: list[int]) -> dict[str, list[object]]:
    return {
        "card": [*cards],
        "number": [*cards],
        "visit": [str(card) for card in cards],
        "year": [str(2024 + card % 2) for card in cards],
    }


@pytest.fixture
def people(institutions: Institutions) -> Institutions:
    """South has ten card holders; north none of them. Groups of one to four persons are withheld."""
    institutions.hold("south", cells(THERE), DECLARED, person="card")
    institutions.hold("north", cells([0] * 5 + [39] * 5), DECLARED, person="card")
    for name in SIDES:
        institutions.allow(name, minimum_group=5, dominance="1", zeros="shown")
    return institutions


def one_a_cell(column: str) -> dict[str, Any]:
    query = {"kind": "histogram", "column": column, "edges": [*range(CARDS + 1)]}
    return job("statistics", {"noise": "none", "queries": [query]}, [column])


def sorted_by(*columns: str) -> dict[str, Any]:
    if len(columns) == 1:
        return tables({"kind": "count", "by": columns[0]}, columns)
    return tables({"kind": "crosstab", "columns": [*columns]}, columns)


def tables(query: Mapping[str, Any], columns: tuple[str, ...]) -> dict[str, Any]:
    return job("statistics", {"noise": "none", "queries": [dict(query)]}, columns)


def refused_by(people: Institutions, document: Mapping[str, Any]) -> str:
    """Who refuses the job; both say so in `job check` where it is their own column."""
    with pytest.raises((PolicyError, PeerRefused)) as caught:
        people.submit(document)
    assert caught.value.stable_code == "policy"
    return "south" if isinstance(caught.value, PeerRefused) else "north"


def says(people: Institutions, name: str, document: Mapping[str, Any]) -> str:
    """The first reason of a party's `job check` against a job; empty where a rule allows it."""
    verdict = people.network.managers[name].check(job_text(people.file(document)))["verdict"]
    if verdict["allowed"]:
        return ""
    return f"{verdict['reasons'][0]['what']}. {verdict['reasons'][0]['hint']}"


def test_what_such_a_table_shows(people: Institutions) -> None:
    """The attack, on a column of the same numbers of which nobody says that they name persons."""
    found = people.run(one_a_cell("number")).tables("north")["histogram of number"]
    withheld = [place for place, count in enumerate(found["count"][:CARDS]) if count is None]
    assert set(THERE) <= set(withheld)
    assert len(withheld) < CARDS


@pytest.mark.parametrize("column", ["card", "visit"])
@pytest.mark.parametrize("setting", ["person", "key"])
def test_it_is_refused_of_columns_that_name_persons(people: Institutions, column: str, setting: str) -> None:
    document = one_a_cell("card") if column == "card" else sorted_by("visit")
    people.hold("north", cells([*range(CARDS)]), DECLARED, **{setting: column})
    assert refused_by(people, document) == "north"
    assert "tells persons apart" in says(people, "north", document)
    assert "Add noise" in says(people, "north", document)
    # The other party declares it, and the proposer does not.
    people.hold("north", cells([0] * 5 + [39] * 5), DECLARED, person="number")
    people.hold("south", cells(THERE), DECLARED, **{setting: column})
    assert says(people, "north", document) == ""
    assert refused_by(people, document) == "south"
    assert people.network.managers["south"].store.all() == []


def test_noise_lets_it_pass(people: Institutions) -> None:
    document = one_a_cell("card")
    document["parameters"] = {**document["parameters"], "noise": "laplace", "epsilon": "1"}
    assert says(people, "south", document) == ""


def test_a_column_of_a_key_of_several(people: Institutions) -> None:
    """A year that is part of a key names nobody; with the rest of the key it does."""
    people.hold("south", cells(THERE), DECLARED, person="card", key=["visit", "year"])
    assert says(people, "south", sorted_by("year")) == ""
    assert says(people, "south", sorted_by("visit")) == ""
    assert "'visit' and 'year', which" in says(people, "south", sorted_by("visit", "year"))
    # Without a person, the columns of the key are whom rows are about.
    people.hold("south", cells(THERE), DECLARED, key=["visit", "year"])
    assert "'year', which" in says(people, "south", sorted_by("year"))


def test_another_data_set_of_the_population_names_them(people: Institutions) -> None:
    people.hold("south", cells(THERE), DECLARED, person="number", population="people")
    assert says(people, "south", one_a_cell("card")) == ""
    people.hold("south", cells(THERE), DECLARED, dataset="bills", person="card", population="people")
    assert "tells persons apart" in says(people, "south", one_a_cell("card"))


def test_a_catalog_that_changes_before_the_run(people: Institutions, monkeypatch: Any) -> None:
    """The run asks again: what both have signed is refused when the column has come to name persons."""
    begin = Run._run
    people.hold("south", cells(THERE), DECLARED, person="number")
    people.hold("north", cells([0] * 5 + [39] * 5), DECLARED, person="number")

    def changed(self: Run, session: Any) -> None:
        if session.role is Role.BOB:  # south; once, as nobody else may read the file meanwhile
            people.hold("south", cells(THERE), DECLARED, person="card")
        begin(self, session)

    monkeypatch.setattr(Run, "_run", changed)
    ended = people.failed(one_a_cell("card"))
    assert "policy" in {code for _, code in ended.values()}
