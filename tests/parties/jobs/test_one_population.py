"""Attacks on the overlap of exact jobs: the same people under another name, with one of them left out."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parties.contracts.state import State
from tests.parties.jobs.institutions import Institutions, job, write_table

NUMBER = {"type": "integer", "lower": 0, "upper": 100}
DECLARED = {"id": {"type": "text"}, "row": {"type": "text"}, "v": NUMBER}
SUM = {"noise": "none", "queries": [{"kind": "sum", "column": "v"}]}
GROUPS = {"minimum_group": 4, "dominance": "1", "overlap": 4}
VICTIM = 77


def patients(count: int) -> dict[str, list[object]]:
    """The last one of twenty is the victim."""
    return {
        "id": [f"patient {n}" for n in range(count)],
        "row": [f"line {n}" for n in range(count)],
        "v": [n * 4 for n in range(19)][:count] + [VICTIM] * (count == 20),
    }


def asked(dataset: str) -> dict[str, Any]:
    document = job("statistics", SUM, ["v"], recipients=["alice"])
    return {**document, "bob": {**document["bob"], "dataset": dataset}}


@pytest.fixture
def seen(institutions: Institutions) -> Institutions:
    """North has the exact sum of south's twenty patients and its own."""
    cells = patients(19)
    institutions.hold("north", cells | {"id": [f"other {n}" for n in range(19)]}, DECLARED, person="id")
    institutions.hold("south", patients(20), DECLARED, person="id", population="patients")
    for name in ("north", "south"):
        institutions.allow(name, **GROUPS)
    ended = institutions.ended(institutions.submit(asked("people")))
    assert {record.state for record in ended.values()} == {State.FINISHED}
    return institutions


def file_of(seen: Institutions, dataset: str) -> Path:
    return seen.folder / "south" / f"{dataset}.csv"


def refused(seen: Institutions, dataset: str) -> None:
    """South reads its rows when the job runs, and opens nothing."""
    ended = seen.failed(asked(dataset))
    assert ended["south"] == (State.FAILED, "overlap")
    assert ended["north"][0] is State.FAILED
    assert len(seen.south._admission.history.records()) == 1


@pytest.mark.parametrize("way", [shutil.copy, os.link, os.symlink])
def test_another_file(seen: Institutions, way: Callable[[Path, Path], object]) -> None:
    """A copy, a hard link, a symbolic link; then the victim leaves the data."""
    seen.hold("south", patients(20), DECLARED, dataset="again", person="id", population="patients")
    again = file_of(seen, "again")
    again.unlink()
    way(file_of(seen, "people"), again)
    write_table(again, patients(19))
    refused(seen, "again")


def test_a_copy_with_another_name_for_the_column(seen: Institutions) -> None:
    cells = patients(19)
    cells["patient"] = cells.pop("id")
    declared = {"patient": {"type": "text"}, "v": NUMBER}
    seen.hold("south", cells, declared, dataset="again", person="patient", population="patients")
    refused(seen, "again")


@pytest.mark.parametrize(
    "settings",
    [
        {"person": "row"},
        {"person": ["id", "row"]},
        {"key": "row"},
        {"source": "./people.csv", "person": "row"},
    ],
)
def test_another_column_of_the_same_file_that_calls_them(
    seen: Institutions, settings: dict[str, Any]
) -> None:
    """Nobody of it would be found among those of the first job."""
    seen.hold("south", patients(19), DECLARED, person="id", population="patients")
    seen._catalogs["south"]["again"] = {
        "source": "people.csv",
        "population": "patients",
        "columns": DECLARED,
        **settings,
    }
    seen.declare("south")
    refused(seen, "again")


def test_whom_no_catalog_calls_one_population_nobody_can_compare(seen: Institutions) -> None:
    """What remains, and the documents say so: a copy that is declared as other people."""
    seen.hold("south", patients(19), DECLARED, dataset="strangers", person="id")
    ended = seen.ended(seen.submit(asked("strangers")))
    assert {record.state for record in ended.values()} == {State.FINISHED}
