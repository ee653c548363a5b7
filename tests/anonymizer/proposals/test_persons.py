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


def proposed(name: str, persons: int, rows: int = 240):
    number = range(rows)
    frame = pl.DataFrame(
        {
            name: [f"{100000 + 17 * (n % persons)}" for n in number],
            "age": [str(20 + n % 7) for n in number],
            "town": [("Ulm", "Aalen", "Gera")[n // 5 % 3] for n in number],
        }
    )
    return propose(Table.of(frame), Dialect())


@pytest.mark.parametrize("name", ["patient_nbr", "PatientId", "member_id"])
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
