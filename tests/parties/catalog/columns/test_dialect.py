"""Declared dialects: what one writes is read back exactly, what is not declared is refused with its key."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commons.tabular.dialect import WRITINGS, Dialect, Writing
from commons.tabular.eastern import ERA_YEAR
from parties.catalog.columns.cells import parser
from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.columns.hints import DATE_FORMATS, date_formats, hint, writings
from parties.catalog.columns.vectors import reader
from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading.loading import load
from parties.catalog.loading.survey import survey
from parties.catalog.sources.csvs import guess_dialect, header_of
from parties.errors import ConfigError, DataError
from smc.analyses.studies.columns import DAYS, Schema
from tests.parties.catalog.declared import TEXT, dataset

MASS = {"type": "decimal", "scale": 1, "lower": 0, "upper": 300}
AGE = {"type": "integer", "lower": 0, "upper": 120}
BORN = {"type": "date", "lower": "1900-01-01", "upper": "2030-12-31"}
CITY = {"type": "text"}
COLUMNS = {"name": CITY, "mass": MASS, "born": BORN}
GERMAN = "name;mass;born\nMüller;72,5;31.12.1990\nWeiß;1.80,0;01.02.1980\n".replace("1.80", "180")
DIALECT = {"delimiter": ";", "encoding": "cp1252", "decimal": ",", "date_format": "%d.%m.%Y"}


def written(value: int, scale: int, way: Writing) -> str:
    """A number times 10**scale in a way to write numbers."""
    text = f"{abs(value) // 10**scale:,}".replace(",", way.thousands)
    part = f"{way.decimal}{abs(value) % 10**scale:0{scale}}" if scale else ""
    return f"{'-' if value < 0 else ''}{text}{part}"


@given(
    st.lists(st.integers(-(10**15), 10**15), min_size=1, max_size=20),
    st.sampled_from(WRITINGS),
    st.integers(0, 3),
)
def test_numbers_are_read_back_in_each_way_to_write_them(values, way, scale):
    kind = "decimal" if scale else "integer"
    column = ColumnDeclaration("x", kind, Schema(kind, scale, -(10**16), 10**16), writing=way)
    texts = [written(value, scale, way) for value in values]
    assert [parser(column)(text) for text in texts] == values
    assert reader(column)(texts).tolist() == values
    assert any(found.plain_numbers(texts) == way.plain_numbers(texts) for found in writings(texts))


@given(st.lists(st.dates(), min_size=1, max_size=20), st.sampled_from(["", *DATE_FORMATS]))
def test_dates_are_read_back_in_each_form(days, form):
    column = ColumnDeclaration(
        "x",
        "date",
        Schema("integer", lower=-(10**6), upper=10**7, unit=DAYS),
        writing=Writing(date_format=form),
    )
    texts = [f"{day.year:04}{day.strftime((form or '%Y-%m-%d').replace('%Y', ''))}" for day in days]
    if form and not form.startswith("%Y"):
        texts = [day.strftime(form.replace("%Y", f"{day.year:04}")) for day in days]
    if ERA_YEAR in form:
        days = [day for day in days if 1926 <= day.year < 2025] or [date(1967, 11, 3)]
        texts = [day.strftime(form.replace(ERA_YEAR, f"昭和{day.year - 1925}")) for day in days]
    numbers = [(day - date(1970, 1, 1)).days for day in days]
    assert [parser(column)(text) for text in texts] == numbers
    quick = reader(column)(texts)
    assert quick is None or quick.tolist() == numbers
    assert (form or "%Y-%m-%d") in date_formats(texts)


LOOKS = st.text("0123456789.,' -+:/\n\u00a0", max_size=12)


@given(st.lists(LOOKS, min_size=1, max_size=4), st.sampled_from(WRITINGS), st.integers(0, 3))
@example(["1.000", "10.00"], Writing(",", "."), 0)
@example(["1", "2\n3"], Writing(","), 0)
def test_the_quick_reader_of_numbers_never_differs_from_the_exact_one(texts, way, scale):
    kind = "decimal" if scale else "integer"
    column = ColumnDeclaration("x", kind, Schema(kind, scale, -(10**16), 10**16), writing=way)
    check_quick(column, texts)


@given(st.lists(LOOKS, min_size=1, max_size=4), st.sampled_from(DATE_FORMATS))
@example(["31.02.1990"], "%d.%m.%Y")
@example(["01.02.1990 24:00"], "%d.%m.%Y %H:%M")
@example(["01.02.1990 23:59:60"], "%d.%m.%Y %H:%M:%S")
def test_the_quick_reader_of_dates_never_differs_from_the_exact_one(texts, form):
    schema = Schema("integer", lower=-(10**6), upper=10**7, unit=DAYS)
    check_quick(ColumnDeclaration("x", "date", schema, writing=Writing(date_format=form)), texts)


def check_quick(column: ColumnDeclaration, texts: list[str]) -> None:
    """Where the quick reader vouches for all cells, the exact one gives the same values."""
    quick = reader(column)(texts)
    if quick is not None:
        assert quick.tolist() == [parser(column)(text) for text in texts]


def test_a_german_file_is_read_as_declared(tmp_path):
    (tmp_path / "d.csv").write_bytes(GERMAN.encode("cp1252"))
    found = written_dataset(tmp_path, GERMAN.encode("cp1252"), COLUMNS, **DIALECT)
    columns = load(found, COLUMNS).columns
    assert columns["name"].values == ["Müller", "Weiß"]
    assert columns["mass"].integers == [725, 1800]
    assert columns["born"].integers == [(date(1990, 12, 31) - date(1970, 1, 1)).days, 3683]


def written_dataset(folder, content, columns, **fields):
    """The data set of a file of these bytes."""
    found = dataset(folder, "", columns, **fields)
    (folder / "d.csv").write_bytes(content)
    return found


@pytest.mark.parametrize("key", [*DIALECT])
def test_what_is_not_declared_is_refused_with_a_hint_that_works(tmp_path, key):
    given = {name: value for name, value in DIALECT.items() if name != key}
    found = written_dataset(tmp_path, GERMAN.encode("cp1252"), COLUMNS, **given)
    with pytest.raises(DataError) as caught:
        load(found, COLUMNS)
    value = DIALECT[key]
    assert f'{key} = "{value}"' in caught.value.hint
    assert "[datasets.d" in caught.value.hint
    for cell in ("72,5", "31.12", "Müller"):
        assert cell not in str(caught.value)


@pytest.mark.parametrize(
    ("column", "cell", "hint"),
    [
        (AGE, "?", 'missing_tokens = ["?"], and missing = "drop" or impute = "VALUE"'),
        (AGE | {"missing_tokens": ["NA"], "missing": "drop"}, "-", 'missing_tokens = ["NA", "-"] below'),
        (AGE, "7,0", 'decimal = ","'),
        (AGE, "72.5", 'type = "decimal" and scale = 1'),
        (AGE, "121", "Widen lower or upper"),
        (MASS, "1,234", 'decimal = "," or thousands = ",", whichever is meant,'),
        (MASS, "1.234,5", 'decimal = "," and thousands = "."'),
        (MASS, "1 234.5", 'thousands = " "'),
        (MASS, "72.55", "scale = 2"),
        (MASS | {"decimal": ","}, "72.5", 'decimal = "."'),
        (BORN, "31.12.1990", 'date_format = "%d.%m.%Y"'),
        (BORN, "1.2.1990", 'date_format = "%d.%m.%Y"'),
        (BORN, "01/02/1990", 'date_format = "%d/%m/%Y" or date_format = "%m/%d/%Y", whichever'),
        (BORN, "1990-12-31 14:05:00", 'date_format = "%Y-%m-%d %H:%M:%S"'),
        (BORN, "1899-12-31", "Widen"),
        (BORN, "31.12.90", "Write years with four digits in the source"),
        ({"type": "category", "values": ["no", "yes"]}, "No", "upper and lower case"),
        ({"type": "category", "values": ["no", "yes"]}, "maybe", "Add the label"),
        (TEXT | {"maximum_length": 3}, "abcd", "maximum_length"),
    ],
)
def test_hints_name_the_key_and_never_the_cell(tmp_path, column, cell, hint):
    found = dataset(tmp_path, f'c\n"{cell}"\n', {"c": column})
    with pytest.raises(DataError) as caught:
        load(found, ["c"])
    assert hint in caught.value.hint
    assert "[datasets.d.columns.c]" in caught.value.hint
    if len(cell) > 1:
        assert cell not in str(caught.value)


@pytest.mark.parametrize("cell", [True, float("inf"), Decimal("Infinity")])
def test_wider_bounds_are_no_advice_for_what_is_no_number(tmp_path, cell):
    age = dataset(tmp_path, "c\n1\n", {"c": AGE}).columns["c"]
    assert hint("datasets.d.columns.c", age, cell).startswith("Correct the cell, or its type")


def test_a_column_may_differ_from_its_data_set(tmp_path):
    rows = "a;b\n1,5;01.02.1980\n2,5;1980-02-01\n"
    mixed = {
        "a": MASS | {"decimal": ","},
        "b": BORN | {"date_format": "%d.%m.%Y", "missing_tokens": ["1980-02-01"], "missing": "drop"},
    }
    found = load(dataset(tmp_path, rows, mixed, delimiter=";", date_format="%Y-%m-%d"), ["a", "b"])
    assert found.columns["a"].integers == [15]


@pytest.mark.parametrize(
    "content",
    [
        "a,b\r\n1,2\r\n3,4\r\n",
        "\ufeffa,b\n1,2\n\n3,4\n\n",
        "\n\na,b\n1,2\n  \n3,4",
        '"a","b"\n"1","2"\n"3","4"\n',
    ],
)
def test_marks_line_ends_and_blank_lines_are_no_matter(tmp_path, content):
    number = {"type": "integer", "lower": 0, "upper": 9}
    found = load(written_dataset(tmp_path, content.encode(), {"a": number, "b": number}), ["a", "b"])
    assert [found.columns[name].integers for name in "ab"] == [[1, 3], [2, 4]]


@pytest.mark.parametrize("odd", ["x" * 200_000, '"Rome"x'])
def test_a_row_that_is_not_csv_is_named(tmp_path, odd):
    rows = f"name,city\nAnn,Bath\nBob,{odd}\nCarl,Cork\n"
    with pytest.raises(DataError, match="line 3 begins a row that is not valid CSV") as refused:
        load(dataset(tmp_path, rows, {"name": CITY, "city": CITY}), ["name", "city"])
    assert "at most 131072 characters" in refused.value.hint


def test_a_blank_line_of_one_column_may_be_a_missing_cell(tmp_path):
    with pytest.raises(DataError, match="line 3 is blank, which may be a missing cell"):
        load(dataset(tmp_path, "c\n1\n\n2\n", {"c": AGE}), ["c"])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_other_encodings_are_named_and_read(tmp_path, encoding):
    content = f"name,mass\nMüller,1\nJosé{chr(0x81) if encoding == 'latin-1' else ''},2\n"
    columns = {"mass": MASS}
    with pytest.raises(DataError) as caught:
        load(written_dataset(tmp_path, content.encode(encoding), columns), columns)
    assert f'encoding = "{encoding}"' in caught.value.hint
    found = written_dataset(tmp_path, content.encode(encoding), columns, encoding=encoding)
    assert load(found, columns).columns["mass"].integers == [10, 20]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_a_nul_in_the_header_is_not_taken_for_another_encoding(tmp_path, encoding):
    found = written_dataset(tmp_path, b"id,a\0ge\n1,2\n", {"id": CITY}, encoding=encoding)
    with pytest.raises(DataError, match="has the character NUL in its first line") as caught:
        load(found, ["id"])
    assert "encoding" not in caught.value.hint


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_what_is_declared_already_is_not_advised(tmp_path, encoding):
    """A surrogate alone, which is no UTF-16; or a NUL between letters of UTF-16."""
    for spoil, part in (
        (b"\x00\xd8" if encoding != "utf-16-be" else b"\xd8\x00", "only in part"),
        (b"\0\0", "NUL"),
    ):
        content = "id,age\n1,2\n".encode(encoding).replace("g".encode(encoding)[-2:], spoil)
        found = written_dataset(tmp_path, content, {"id": CITY}, encoding=encoding)
        with pytest.raises(DataError, match=part) as caught:
            load(found, ["id"])
        assert f'encoding = "{encoding}"' not in caught.value.hint


@pytest.mark.parametrize("name", ["d.db", "d.csv"])
def test_a_database_is_named_by_its_address(tmp_path, name):
    with closing(sqlite3.connect(tmp_path / name)) as made:
        made.execute("create table t (id integer)")
        made.commit()
    for fails in (
        lambda: guess_dialect(tmp_path / name),
        lambda: header_of(tmp_path / name, Dialect(), "datasets.d"),
    ):
        with pytest.raises(DataError, match="is a database") as caught:
            fails()
        assert f"sqlite:///{tmp_path / name}" in caught.value.hint


def test_utf_8_that_is_declared_as_latin_1_is_refused(tmp_path):
    found = written_dataset(tmp_path, "name\nMüller\n".encode(), {"name": CITY}, encoding="latin-1")
    with pytest.raises(DataError, match=r"is in UTF-8.*Remove encoding below \[datasets.d\]"):
        load(found, ["name"])


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;;"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("cell", ["1", '"1"'], ids=["plain", "quoted"])
def test_the_line_for_excel_says_the_separator(tmp_path, line, encoding, cell):
    text = f"{line}\r\nname;größe\r\nA;{cell}\r\nB;2\r\n"
    declared = {} if encoding == "utf-8-sig" else {"encoding": encoding}
    found = written_dataset(tmp_path, text.encode(encoding), {"größe": MASS}, delimiter=";", **declared)
    assert guess_dialect(tmp_path / "d.csv")[0].delimiter == ";"
    assert load(found, ["größe"]).columns["größe"].values.tolist() == [10, 20]
    (tmp_path / "d.csv").write_bytes(text.replace("B;2", "B;x").encode(encoding))
    assert survey(found).faults[0].examples == [("row 2 (line 4)", "x")]


def test_the_line_for_excel_has_to_be_declared_as_others(tmp_path):
    with pytest.raises(DataError, match='Write delimiter = ";"'):
        load(dataset(tmp_path, "sep=;\nname;mass\nA;1\n", {"mass": MASS}), ["mass"])


def test_packed_files_are_read_and_damaged_ones_named(tmp_path):
    packed = gzip.compress(b"mass\n" + b"1.5\n" * 9000)
    found = written_dataset(tmp_path, packed, {"mass": MASS}, kind="csv")
    path = (tmp_path / "d.csv").rename(tmp_path / "d.csv.gz")
    text = (tmp_path / "catalog.toml").read_text().replace("d.csv", "d.csv.gz")
    (tmp_path / "catalog.toml").write_text(text)
    found = load_catalog(tmp_path / "catalog.toml").dataset("d")
    assert load(found, ["mass"]).rows == 9000
    path.write_bytes(packed[:-20])
    with pytest.raises(DataError, match="cut short or damaged"):
        load(found, ["mass"])


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"delimiter": ";;"}, "delimiter"),
        ({"delimiter": '"'}, "delimiter"),
        ({"encoding": "base64"}, "encoding"),
        ({"encoding": "latin-x"}, "encoding"),
        ({"decimal": ";"}, "decimal"),
        ({"decimal": ",", "thousands": ","}, "thousands"),
        ({"thousands": "1"}, "thousands"),
        ({"date_format": "%d.%m."}, "date_format"),
        ({"date_format": "%d.%m.%y"}, "date_format"),
        ({"date_format": "%d %b %Y"}, "date_format"),
        ({"missing_tokens": [" "]}, "missing_tokens"),
    ],
)
def test_impossible_dialects_are_refused(tmp_path, fields, part):
    with pytest.raises(ConfigError, match=part) as caught:
        dataset(tmp_path, "", {"a": AGE}, **fields)
    assert caught.value.hint


def test_keys_and_persons_are_compared_by_value_in_the_dialect(tmp_path):
    rows = "id;born\n1.000,0;31.12.1990\n1000;1.1.1991\n"
    number = {"type": "decimal", "scale": 1, "lower": 0, "upper": 10_000}
    found = dataset(
        tmp_path,
        rows,
        {"id": number, "born": BORN},
        person="id",
        thousands=".",
        delimiter=";",
        decimal=",",
        date_format="%d.%m.%Y",
    )
    assert load(found, ["born"]).people == 1


def test_decimals_of_sql_and_excel_need_no_dialect():
    column = ColumnDeclaration("x", "decimal", Schema("decimal", 1, 0, 1000), writing=Writing(","))
    assert [parser(column)(cell) for cell in (1.5, Decimal("1.5"), 2, "1,5")] == [15, 15, 20, 15]


def test_times_at_midnight_are_dates_and_no_others():
    column = ColumnDeclaration("x", "date", Schema("integer", lower=0, upper=10**6, unit=DAYS))
    assert parser(column)(datetime(1970, 1, 3)) == 2
    with pytest.raises(ValueError, match="is a time, not a date"):
        parser(column)(datetime(1970, 1, 3) + timedelta(seconds=1))


def test_truth_values_are_labels_in_whatever_case():
    for labels in (("false", "true"), ("False", "True")):
        column = ColumnDeclaration("x", "category", Schema("category", 0, 0, 1, labels))
        assert [parser(column)(cell) for cell in (False, True)] == [0, 1]
    twice = ColumnDeclaration("x", "category", Schema("category", 0, 0, 1, ("TRUE", "true")))
    with pytest.raises(ValueError, match="declared labels"):
        parser(twice)(True)
