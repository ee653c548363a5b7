"""The words for dialects mean the same in a catalog and in a specification of the anonymizer."""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from pathlib import Path

import pytest
import tomli_w

from anonymizer.errors import AnonymizerError
from anonymizer.hierarchies.days import day
from anonymizer.tables import files
from anonymizer.tables.dialect import Dialect
from parties.catalog.declaration import load_catalog
from parties.catalog.loading import load
from smc.errors import DuettoError

CASES = [
    ("mass,born\n1.5,1990-12-31\n2,1980-02-01\n", {}),
    (
        "mass;born\n1,5;31.12.1990\n2;01.02.1980\n",
        {"delimiter": ";", "decimal": ",", "date_format": "%d.%m.%Y"},
    ),
    (
        "mass\tborn\n1,001.5\t31/12/1990\n2\t01/02/1980\n",
        {"delimiter": "\t", "thousands": ",", "date_format": "%d/%m/%Y"},
    ),
    (
        "mass;born\n1.001,5;19901231\n\n2;19800201\n",
        {"delimiter": ";", "decimal": ",", "thousands": ".", "date_format": "%Y%m%d"},
    ),
    (
        "mass|born\n-1 001.5|31.12.1990 10:30\n+2|01.02.1980 00:00\n",
        {"delimiter": "|", "thousands": " ", "date_format": "%d.%m.%Y %H:%M"},
    ),
    ("mass,born\n1.5,1990-12-31\n?,1980-02-01\n", {"missing_tokens": ["?", "NA"]}),
]
ENCODINGS = ["utf-8", "utf-8-sig", "cp1252", "utf-16"]


def in_catalog(path: Path, given: dict) -> tuple[list, list]:
    """Numbers in tenths and days, by the catalog; None where a cell is missing."""
    number = {"type": "decimal", "scale": 1, "lower": -10_000, "upper": 10_000, "impute": "9999"}
    born = {"type": "date", "lower": "1900-01-01", "upper": "2030-01-01"}
    entry = {"source": path.name, "columns": {"mass": number, "born": born}, **given}
    catalog = path.parent / "catalog.toml"
    catalog.write_text(tomli_w.dumps({"datasets": {"d": entry}}))
    columns = load(load_catalog(catalog).dataset("d"), ["mass", "born"]).columns
    first = date(1970, 1, 1).toordinal()
    masses = [None if held == 99_990 else held for held in columns["mass"].integers]
    return masses, [date.fromordinal(first + held) for held in columns["born"].integers]


def in_anonymizer(path: Path, given: dict) -> tuple[list, list]:
    """The same by a specification."""
    dialect = Dialect.from_mapping(given)
    table = files.table(path, dialect)
    masses = table.converted(["mass"]).native["mass"].to_list()
    days = [day(cell, dialect.date_format) for cell in table.native["born"].cast(str).to_list()]
    return [None if mass is None else round(10 * mass) for mass in masses], days


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(("text", "given"), CASES)
def test_both_read_the_same(tmp_path, text, given, encoding):
    path = tmp_path / "d.csv"
    path.write_bytes(text.encode(encoding))
    said = given if encoding.startswith("utf-8") else {**given, "encoding": encoding}
    assert in_catalog(path, said) == in_anonymizer(path, said)


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (CASES[1][0].encode(), 'delimiter = ";"'),
        ("mass,born\n1,Müller\n".encode("cp1252"), 'encoding = "cp1252"'),
        ("mass,born\n1,Müller\n".encode("utf-16"), 'encoding = "utf-16"'),
    ],
)
def test_both_name_the_same_key(tmp_path, content, hint):
    path = tmp_path / "d.csv"
    path.write_bytes(content)
    for read, error in ((in_catalog, DuettoError), (in_anonymizer, AnonymizerError)):
        with pytest.raises(error) as caught:
            read(path, {})
        assert hint in caught.value.hint


def test_both_know_the_same_words():
    page = (Path(__file__).parents[2] / "docs" / "catalog.md").read_text(encoding="utf-8")
    assert all(f"`{one.name}`" in page for one in fields(Dialect))
