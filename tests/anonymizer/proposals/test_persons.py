"""Whether `init` sees that persons have several rows."""

from __future__ import annotations

import tomllib

import polars as pl
import pytest

from anonymizer.pipelines.spec import parse
from anonymizer.proposals.proposal import propose
from anonymizer.proposals.writing import write_specification
from anonymizer.tables.table import Table
from commons.tabular.dialect import Dialect


def proposed(name: str, persons: int, rows: int = 240, gaps: int = 0):
    number = range(rows)
    frame = pl.DataFrame(
        {
            name: [None if n < gaps else f"{100000 + 17 * (n % persons)}" for n in number],
            "age": [str(20 + n % 7) for n in number],
            "town": [("Ulm", "Aalen", "Gera")[n // 5 % 3] for n in number],
        }
    )
    return propose(Table.of(frame), Dialect())


@pytest.mark.parametrize(
    "name",
    ["patient_nbr", "PatientId", "member_id", "PatNr", "SUBJID", "n_pac_id", "KVNR", "NHC", "カルテ番号"],
)
def test_an_identifier_of_persons_that_repeats_is_proposed(name, tmp_path):
    found = proposed(name, 80)
    text = write_specification(found, "A release")
    assert tomllib.loads(text)["roles"]["person"] == name
    assert "80 values in 240 rows, 3 rows of one" in text
    assert parse(tomllib.loads(text), tmp_path).roles.person == name


@pytest.mark.parametrize(("name", "persons"), [("patient_nbr", 240), ("device_id", 80), ("patient_name", 80)])
def test_other_identifiers_are_not(name, persons):
    found = proposed(name, persons)
    assert found.person is None
    assert ("k counts rows" in "".join(found.warnings)) == (name == "device_id")


@pytest.mark.parametrize("persons", [12, 40, 60])
def test_few_persons_are_no_category(persons):
    """Of 60 patients with six rows each the number was a quasi-identifier, and left with five rows alike."""
    found = proposed("patient_id", persons, 6 * persons)
    assert found.person is not None
    assert found.person.name == "patient_id"
    assert "patient_id" in found.names("identifiers")


def test_a_gap_among_the_persons_is_said():
    found = proposed("PatNr", 40, gaps=3)
    assert found.person is None, "an empty cell is refused there"
    [told] = found.warnings
    assert "has up to 6 rows of one value" in told
    assert 'once its 3 empty cells are filled or left out, write person = "PatNr" below [roles]' in told
    assert f"# WARNING: {told}" in write_specification(found, "A release")
