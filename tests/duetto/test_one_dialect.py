"""Files are read, and guessed at, alike in a catalog and in a specification of the anonymizer."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields, replace
from datetime import date, datetime
from pathlib import Path

import pytest
import tomli_w

from anonymizer.errors import AnonymizerError
from anonymizer.hierarchies.days import day
from anonymizer.proposals.dialects import guess_table_dialect
from anonymizer.tables import files
from anonymizer.tables.dialect import read_dialect
from commons.tabular.cells import MISSING_TOKENS
from commons.tabular.dialect import SEPARATORS, Dialect, Writing
from parties.catalog.declarations.declaration import DatasetDeclaration, load_catalog
from parties.catalog.drafting.drafting import draft
from parties.catalog.loading.loading import load
from parties.catalog.sources.csvs import guess_dialect
from parties.catalog.sources.excel import header_of
from parties.catalog.sources.excel import read as read_sheet
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
    (
        "sep=;\nmass;born\n1,5;31.12.1990\n2;01.02.1980\n",
        {"delimiter": ";", "decimal": ",", "date_format": "%d.%m.%Y"},
    ),
    (
        "mass;born\n9.951,5 €;31.12.1990\n>200;01.02.1980\n",
        {
            "delimiter": ";",
            "decimal": ",",
            "thousands": ".",
            "suffix": "€",
            "above_limit": "limit",
            "date_format": "%d.%m.%Y",
        },
    ),
    (
        "mass;born\n<5;31.12.1990\n>200;01.02.1980\n",
        {
            "delimiter": ";",
            "decimal": ",",
            "below_limit": "half",
            "above_limit": "limit",
            "date_format": "%d.%m.%Y",
        },
    ),
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
    dialect = read_dialect(given)
    table = files.table(path, dialect)
    masses = table.converted(["mass"]).native["mass"].to_list()
    days = [day(cell, dialect.writing.date_format) for cell in table.native["born"].cast(str).to_list()]
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


def guesses(path: Path) -> tuple[Dialect, Dialect]:
    """The dialect of a file by the catalog and by the anonymizer, without what columns say."""
    seen = guess_table_dialect(path)[0]
    return guess_dialect(path)[0], replace(seen, writing=Writing())


@pytest.mark.parametrize("cells", [(token,) for token in MISSING_TOKENS] + [("--", "k.A."), ("none", "NA")])
def test_both_take_the_same_cells_for_missing_ones(tmp_path, cells):
    path = tmp_path / "d.csv"
    path.write_text("\n".join(["weight,town", *(f"{cell},a" for cell in ("70", *cells, "82"))]) + "\n")
    source = DatasetDeclaration("d", "csv", {}, "d", source=path, dialect=guess_dialect(path)[0])
    column = draft(source).columns["weight"].column
    assert (column.type, set(column.tokens), column.missing) == ("integer", {*cells}, "drop")
    dialect, table, _ = guess_table_dialect(path)
    assert set(dialect.writing.missing_tokens) == {*cells}
    assert table.is_numeric("weight")
    assert table.missing("weight").tolist() == [False, *(True for _ in cells), False]


WIDE = ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "latin-1", *WIDE])
@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
def test_both_guess_the_same_encoding(tmp_path, encoding, far):
    odd = "a\x81" if encoding == "latin-1" else "Köln"
    towns = [*["Ulm"] * (40_000 if far else 0), odd, "Ulm"]
    path = tmp_path / "d.csv"
    path.write_bytes("\n".join(["age;town", *(f"7;{town}" for town in towns)]).encode(encoding))
    assert guesses(path) == (Dialect(";", encoding), Dialect(";", encoding))


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize(
    "lines",
    [
        ["a_b_c", "1_2_3", "4_5_6"],
        ['a_"b,;|\tc"', '1_"2,;x"', "3_4"],
        ["a_b", "1,5_2", "1_2;5", "3_4|5\t6"],
        ["a_b_c", "1_2_3", "4_5"],
    ],
    ids=["plain", "quoted", "others too", "a short row"],
)
def test_both_guess_the_same_separator(tmp_path, separator, lines):
    path = tmp_path / "d.csv"
    path.write_text("\n".join(lines).replace("_", separator) + "\n")
    stated = "" if separator == "," else separator
    assert guess_dialect(path)[0].delimiter == stated
    with suppress(AnonymizerError):  # a row that is too short
        assert guesses(path)[1].delimiter == stated


@pytest.mark.parametrize(
    ("content", "given", "hint"),
    [
        (b"sep=;\nmass;born\n1;1990-12-31\n", {}, 'Write delimiter = ";"'),
        ("mass,born\n1,Köln\n".encode(), {"encoding": "cp1252"}, "Remove encoding"),
        (b"mass,born\n1,a\x81\n", {}, 'encoding = "latin-1"'),
        ("mass,born\n1,Köln\n".encode("utf-32-be"), {}, 'encoding = "utf-32-be"'),
        (b"", {}, "names of the columns"),
        (b'mass,born\n"1"2,1990-12-31\n', {}, "Correct the quotation marks"),
    ],
)
def test_both_refuse_the_same_files(tmp_path, content, given, hint):
    path = tmp_path / "d.csv"
    path.write_bytes(content)
    for read, error in ((in_catalog, DuettoError), (in_anonymizer, AnonymizerError)):
        with pytest.raises(error) as caught:
            read(path, given)
        assert hint in caught.value.hint


def test_both_read_the_same_cells_of_a_sheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in ([], ["mass", "born"], [1.5, date(1990, 12, 31)], [], [None, datetime(1980, 2, 1)]):
        book.active.append(row)
    book.save(tmp_path / "d.xlsx")
    frame = files.table(tmp_path / "d.xlsx").native
    assert frame.columns == header_of(tmp_path / "d.xlsx", "", "d") == ["mass", "born"]
    (batch,) = read_sheet(tmp_path / "d.xlsx", "", ["mass", "born"], "d")
    held = [[1.5, None], [date(1990, 12, 31), date(1980, 2, 1)]]
    assert (
        [list(column) for column in batch.columns]
        == held
        == [frame[name].to_list() for name in frame.columns]
    )


def test_both_know_the_same_words():
    page = (Path(__file__).parents[2] / "docs" / "catalog.md").read_text(encoding="utf-8")
    names = {one.name for kind in (Dialect, Writing) for one in fields(kind)} - {"writing"}
    assert all(f"`{name}`" in page for name in names)


def test_a_cell_with_the_character_nul_is_refused_by_both(tmp_path):
    """The programs that read what is released may end the cell there."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"name,mass\nadam,1\ne\0va,2\n")
    with pytest.raises(AnonymizerError, match="column 'name' has the character NUL"):
        files.table(path)
    with pytest.raises(AnonymizerError, match="column 'name' has the character NUL"):
        list(files.tables(path, 1))
    declared = {"source": path.name, "columns": {"name": {"type": "text"}}}
    (tmp_path / "catalog.toml").write_text(tomli_w.dumps({"datasets": {"a": declared}}))
    with pytest.raises(DuettoError, match="row 2"):
        load(load_catalog(tmp_path / "catalog.toml").dataset("a"), ["name"])
