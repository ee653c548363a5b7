"""Own data of a job: persons and remarks on missing cells come with them, and the remarks stay at home."""

from __future__ import annotations

import json

import pytest

from parties.contracts.spec import parse_spec
from parties.errors import DataError, PolicyError
from smc.analyses.studies.columns import PERSONS
from tests.parties.jobs.joined import CATALOG, Pair, job_file, wait_final


def declare(pair: Pair, rows: str) -> None:
    """North's data: persons, and rows that are left out where the value is missing."""
    home = pair.folder / "north"
    catalog = CATALOG.format(unit="years").replace(
        'source = "numbers.csv"', 'source = "numbers.csv"\nperson = "who"'
    )
    (home / "catalog.toml").write_text(catalog + 'missing = "drop"\n')
    (home / "numbers.csv").write_text(rows)


def test_the_result_tells_the_own_party_what_was_left_out(pair):
    declare(pair, "who,value\na,10\nb,\na,20\n")
    job_id = pair.north.submit(job_file()).job_id
    wait_final(pair.north, job_id)
    wait_final(pair.south, job_id)
    north, south = (json.loads(manager.result(job_id)) for manager in (pair.north, pair.south))
    assert north["outcome"]["tables"][0]["columns"]["total"] == [10 + 20 + 11 + 21]
    assert north["facts"]["rows"] == 2
    assert any("value (1)" in note for note in north["outcome"]["notes"])
    assert not any("left out" in note for note in south["outcome"]["notes"])


def test_persons_come_with_the_columns_and_hashes_for_an_exact_job(pair):
    declare(pair, "who,value\na,10\nb,\na,20\nc,30\n")
    admission = pair.north._admission
    task = admission.understand(parse_spec(job_file()))
    own = admission.read(task)
    assert own.columns["v"].integers == [10, 20, 30]
    assert own.columns[PERSONS].integers == [0, 0, 1]
    assert own.identities is None
    pair.analysis["north"].is_exact = True
    assert admission.read(task).identities.shape == (2,)
    assert (
        PERSONS
        not in pair.south._admission.read(pair.south._admission.understand(parse_spec(job_file()))).columns
    )


def test_rows_that_are_compared_by_position_are_not_left_out(pair):
    declare(pair, "who,value\na,10\nb,\n")
    pair.analysis["north"].is_paired = True
    task = pair.north._admission.understand(parse_spec(job_file()))
    with pytest.raises(DataError, match="by their position"):
        pair.north._admission.read(task)


def test_the_least_rows_are_persons(pair):
    """Two rows of one person are one person for `minimum_rows`."""
    declare(pair, "who,value\na,10\na,20\n")
    path = pair.folder / "north" / "policy.toml"
    path.write_text(path.read_text() + "minimum_rows = 2\n")
    with pytest.raises(PolicyError, match="fewer than 2 persons"):
        pair.north.submit(job_file())
    declare(pair, "who,value\na,10\nb,20\n")
    wait_final(pair.north, pair.north.submit(job_file()).job_id)
