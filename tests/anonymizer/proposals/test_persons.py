"""Whether `init` sees that persons have several rows."""

from __future__ import annotations

import tomllib
from pathlib import Path

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


def test_rows_that_say_nothing_of_whose_they_are_are_left_out(tmp_path, run):
    """Six rows of one patient left as k = 5, since one cell of 240 was empty and `person` was not written."""
    found = proposed("PatNr", 40, gaps=3)
    assert found.person is not None
    text = write_specification(found, "A release")
    assert tomllib.loads(text)["columns"]["PatNr"] == {"missing": "drop"}
    assert "3 rows without one are left out" in text
    pl.DataFrame(
        {
            "PatNr": [None if n < 3 else f"{7000 + 13 * (n // 6)}" for n in range(240)],
            "age": [20 + n // 6 % 5 for n in range(240)],
            "town": [("Ulm", "Aalen", "Gera")[n // 6 % 3] for n in range(240)],
        }
    ).write_csv("data.csv")
    run("anonymize init data.csv -o s.toml")
    _, told = run("anonymize data.csv --spec s.toml -o out.csv")
    assert "3 of 240 rows say nothing of whose they are, and are left out" in " ".join(told.split())
    assert pl.read_csv("out.csv").height == 237
    classes = pl.read_csv("out.csv").group_by(["age", "town"]).len()["len"]
    assert classes.min() >= 5 * 3, "five persons, of whom one has three rows and the others six"
    _, told = run("anonymize data.csv --spec s.toml -o more.csv --chunk-rows 100", 78)
    assert "cannot be by chunks" in told
    Path("s.toml").write_text(Path("s.toml").read_text().replace("PatNr = { missing", "#"))
    _, told = run("anonymize data.csv --spec s.toml -o more.csv", 65)
    assert 'missing = "drop" below [columns]' in " ".join(told.split())


def test_many_gaps_among_the_persons_are_said():
    found = proposed("PatNr", 40, gaps=60)
    assert found.person is None
    [told] = found.warnings
    assert "has up to 5 rows of one value" in told
    assert 'once its 60 empty cells are filled or left out, write person = "PatNr" below [roles]' in told
    assert f"# WARNING: {told}" in write_specification(found, "A release")


def test_numbers_that_differ_by_their_spelling_alone_are_said():
    number = range(240)
    forms = ("P{:04d}", "p{:04d}", "P-{:04d} ")
    frame = pl.DataFrame(
        {"PatNr": [forms[n % 3].format(n // 6) for n in number], "age": [n % 7 for n in number]}
    )
    found = propose(Table.of(frame), Dialect())
    assert found.person is not None
    [told] = found.warnings
    assert "The 120 values of PatNr" in told
    assert "are 40 without regard to capitals, blanks, points and hyphens" in told
