"""Drafts: an ugly file becomes an entry that reads all of it, and what comes from data waits for a person."""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commons.settings.toml import parse
from commons.tabular.dialect import Dialect, Writing
from parties.catalog.declarations.declaration import DatasetDeclaration, catalog_of, load_catalog
from parties.catalog.drafting.adding import Asked, draft_addition
from parties.catalog.drafting.confirming import confirm, proposal
from parties.catalog.drafting.drafting import MAX_COLUMNS, Choices, draft
from parties.catalog.drafting.rendering import text_of
from parties.catalog.drafting.sniffing import infer
from parties.catalog.loading.checking import beyond_limits, check_dataset
from parties.catalog.loading.loading import load
from parties.catalog.sources.batch import positions
from parties.catalog.sources.csvs import guess_dialect
from parties.errors import ConfigError, DataError
from tests.parties.catalog.columns.test_dialect import written

HOSPITAL = """\
Patienten-ID;Name;Alter;Gewicht;Geboren;Geschlecht;PLZ;Aufnahme;Kosten
P1;Müller;47;84,0;13.08.1944;m;09718;01.07.2024 17:58;10.406,18
P1;Weiß;?;;25.03.1938;w;29101;01.11.2024 08:51;36.088,11

P2;Özgür;41;68,2;24.06.1936;w;45224;22.07.2024 16:15;734,24
P3;Ångström;98;45,1;27.09.1963;m;39265;19.12.2024 09:54;462,38
"""


def drafted(path: Path, **options):
    """The draft of a CSV file, its text, and the data set as a catalog would hold it."""
    found = draft(
        DatasetDeclaration("d", "csv", {}, "d", source=path, dialect=guess_dialect(path)[0]),
        Choices(**options),
    )
    text = text_of(found, {"source": path.name})
    return (
        found,
        text,
        catalog_of(parse(text, "catalog.toml", ConfigError), path.parent / "catalog.toml").dataset("d"),
    )


def test_a_hospitals_export_is_read_by_its_draft(tmp_path):
    path = tmp_path / "patients.csv"
    path.write_bytes(HOSPITAL.replace("\n", "\r\n").encode("cp1252"))
    found, text, dataset = drafted(path)
    assert dataset.dialect == Dialect(";", "cp1252", Writing(",", ".", "%d.%m.%Y"))
    types = {name: column.type for name, column in dataset.columns.items()}
    assert types == {
        "Patienten-ID": "text",
        "Name": "text",
        "Alter": "integer",
        "Gewicht": "decimal",
        "Geboren": "date",
        "Geschlecht": "category",
        "PLZ": "text",
        "Aufnahme": "date",
        "Kosten": "decimal",
    }
    assert (dataset.person, dataset.key) == (("Patienten-ID",), ())
    read = load(dataset, dataset.columns)
    assert (read.rows, read.left_out, read.people) == (3, 1, 3)
    assert read.columns["Kosten"].integers == [1040618, 73424, 46238]
    open_ones = [name for name, column in dataset.columns.items() if not column.is_confirmed]
    assert open_ones == ["Alter", "Gewicht", "Geboren", "Geschlecht", "Aufnahme", "Kosten"]
    assert "confirmed = false  # the data hold 41 to 98; confirm" in text
    assert proposal(found.columns["Alter"].column) == "0:100"
    assert proposal(found.columns["Geboren"].column) == "1930-01-01:1969-12-31"


SEPARATORS = st.sampled_from(["", ";", "\t", "|"])
WAYS = st.sampled_from(
    [Writing(), Writing(","), Writing(",", "."), Writing(".", "'"), Writing(",", "\u00a0")]
)
FORMS = st.sampled_from(["", "%d.%m.%Y", "%Y/%m/%d", "%d.%m.%Y %H:%M"])
ROW = st.tuples(
    st.sampled_from(["Müller", "Żółć; 'x'", 'O"Neill', "a,b", "x|y"]),
    st.one_of(st.none(), st.integers(-(10**9), 10**9)),
    st.dates(date(1900, 1, 1), date(2030, 1, 1)),
    st.sampled_from(["ja", "nein"]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ROW, min_size=6, max_size=30), SEPARATORS, WAYS, FORMS, st.sampled_from(["utf-8", "utf-16"]))
def test_what_is_written_in_any_dialect_is_read_by_its_draft(tmp_path, rows, separator, way, form, encoding):
    def quoted(cell):
        return '"' + cell.replace('"', '""') + '"'

    lines = [["name", "costs", "born", "smoker"]]
    for name, costs, born, smoker in rows:
        number = "NA" if costs is None else written(costs, 2, way)
        lines.append([quoted(name), quoted(number), born.strftime(form or "%Y-%m-%d"), smoker])
    path = tmp_path / "d.csv"
    path.write_bytes("\n".join((separator or ",").join(line) for line in lines).encode(encoding))
    found, _, dataset = drafted(path, types={"name": "text", "smoker": "category"})
    read = load(dataset, dataset.columns)
    kept = [row for row in rows if row[1] is not None or all(row[1] is None for row in rows)]
    assert read.columns["name"].values == [row[0] for row in kept]
    days = [(row[2] - date(1970, 1, 1)).days for row in kept]
    assert read.columns["born"].integers == days
    if "costs" in dataset.columns:
        scale = dataset.columns["costs"].schema.scale
        held = [row[1] for row in kept]
        # a way that no cell tells apart from another may be taken for it, and the draft says so
        if not found.columns["costs"].others and all(value is not None for value in held):
            assert read.columns["costs"].integers == [value * 10**scale // 100 for value in held]
    assert all(not dataset.columns[name].is_confirmed for name in ("born", "smoker"))


def test_rows_far_below_change_what_the_first_ones_say(tmp_path):
    path = tmp_path / "d.csv"
    rows = [f"{row % 50};{row % 3}" for row in range(30_000)]
    rows[25_000], rows[26_000], rows[27_000] = "7,5;1", "NA;2", "8;x"
    path.write_text("mass;arm\n" + "\n".join(rows))
    _, _, dataset = drafted(path)
    mass, arm = dataset.columns["mass"], dataset.columns["arm"]
    assert (mass.type, mass.schema.scale, mass.tokens, mass.missing) == ("decimal", 1, ("NA",), "drop")
    assert arm.type in ("category", "integer")
    assert load(dataset, ["mass"]).rows == 29_999


def test_a_few_odd_words_among_numbers_are_tokens(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("age,city\n" + "".join(f"{age},Ulm\n" for age in range(20, 70)) + "unbekannt,Ulm\n")
    _, _, dataset = drafted(path)
    assert (dataset.columns["age"].type, dataset.columns["age"].tokens) == ("integer", ("unbekannt",))


def test_ways_that_cells_do_not_tell_apart_are_said(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("born,mass\n" + "".join(f'01/0{day}/1990,"1,00{day}"\n' for day in range(1, 8)))
    found, text, _ = drafted(path)
    assert '# Or is date_format = "%m/%d/%Y" meant?' in text
    assert found.columns["mass"].others
    (tmp_path / "e.csv").write_text(path.read_text())
    dataset = DatasetDeclaration(
        "d",
        "csv",
        {},
        "d",
        source=tmp_path / "e.csv",
        dialect=Dialect(writing=Writing(date_format="%m/%d/%Y")),
    )
    assert 'date_format = "%m/%d/%Y"' in text_of(draft(dataset), {"source": "e.csv"}).replace("# Or", "")


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "is empty"),
        ("\n,,\n", "is empty"),
        ("a,a\n1,2\n", "no column that could be declared .'a': its name"),
        ("a,b\n", "no column that could be declared .'a': no cell holds anything; 'b'"),
    ],
)
def test_what_cannot_be_drafted_is_refused(tmp_path, content, part):
    path = tmp_path / "d.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=part) as caught:
        drafted(path)
    assert caught.value.hint


def test_columns_that_cannot_be_declared_are_named_with_the_reason(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,a,,empty,good,long\n1,2,3,,4,0.12345678901234\n1,2,3,,5,0.5\n")
    found, text, dataset = drafted(path)
    assert {*found.left_out} == {"a", "(no name)", "empty", "long"}
    assert "# Not declared: empty: no cell holds anything." in text
    assert [*dataset.columns] == ["good"]


def test_more_columns_than_a_catalog_holds_are_refused_at_once(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{number}" for number in range(MAX_COLUMNS + 1)) + "\n")
    with pytest.raises(DataError, match=f"{MAX_COLUMNS + 1} columns; at most {MAX_COLUMNS}"):
        drafted(path)


def test_the_work_for_a_column_does_not_grow_with_their_number():
    compared = 0

    class Name(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    names = [Name(f"c{number}") for number in range(1000)]
    assert positions("wide.csv", names, [str(name) for name in names][::-1]) == [*range(1000)][::-1]
    assert compared < 10 * len(names)


def test_drafts_of_other_sources(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["card", "mass", "seen", "well"])
    for row in range(30):
        book.active.append([1000 + row, 70.5 + row, date(2020, 1, 1) + timedelta(row), row % 2 == 0])
    book.active.append([])
    book.active.append([2000, None, date(2020, 1, 1), True])
    book.save(tmp_path / "d.xlsx")
    source = DatasetDeclaration("d", "excel", {}, "d", source=tmp_path / "d.xlsx")
    found = draft(source)
    text = text_of(found, {"source": "d.xlsx"})
    dataset = catalog_of(parse(text, "c", ConfigError), tmp_path / "catalog.toml").dataset("d")
    assert [column.type for column in dataset.columns.values()] == ["text", "decimal", "date", "category"]
    assert dataset.key == ("card",)
    read = load(dataset, dataset.columns)
    assert (read.rows, read.left_out) == (30, 1)
    assert read.columns["card"].values[0] == "1000"
    assert read.columns["mass"].integers[:2] == [705, 715]
    assert read.columns["well"].integers[:2] == [1, 0]
    with sqlite3.connect(tmp_path / "d.db") as made:
        made.execute("create table visits (age integer, mass real, name text)")
        made.executemany("insert into visits values (?, ?, ?)", [(40, 70.5, "A"), (None, 80.25, "B")])
    asked = 'select * from "visits"'
    source = DatasetDeclaration("d", "sql", {}, "d", url=str(tmp_path / "d.db"), query=asked)
    found = draft(source)
    assert {name: one.column.type for name, one in found.columns.items()} == {
        "age": "integer",
        "mass": "decimal",
        "name": "text",
    }
    assert found.columns["age"].column.missing == "drop"


def test_sheets_have_to_be_chosen(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.create_sheet("visits").append(["age"])
    book["visits"].append([40])
    book.save(tmp_path / "d.xlsx")
    column = '[datasets.d.columns.age]\ntype = "integer"\nlower = 0\nupper = 120\n'
    path = tmp_path / "catalog.toml"
    path.write_text(f'[datasets.d]\nsource = "d.xlsx"\n{column}')
    with pytest.raises(DataError, match=r"2 sheets. Write sheet = ... below \[datasets.d\].*visits"):
        load(load_catalog(path).dataset("d"), ["age"])
    path.write_text(f'[datasets.d]\nsource = "d.xlsx"\nsheet = "visits"\n{column}')
    assert load(load_catalog(path).dataset("d"), ["age"]).columns["age"].integers == [40]
    (tmp_path / "d.xlsx").write_bytes(b"not a workbook")
    with pytest.raises(DataError, match="cannot be read as a spreadsheet"):
        load(load_catalog(path).dataset("d"), ["age"])


CATALOG = """\
# mine
[datasets.d]  # here
source = "d.csv"
[datasets.d.columns.age]
type = "integer"
lower = 17   # least
upper = 98
confirmed = false  # the data hold 17 to 98
[datasets.d.columns.sex]
type = "category"
values = ["m"]
confirmed = false
"""


def test_confirming_changes_nothing_else(tmp_path):
    text = confirm(CATALOG, "d", {"age": "0:120", "sex": "m, w"}, [])
    assert text == CATALOG.replace("17   #", "0   #").replace("98\n", "120\n", 1).replace(
        '"m"', '"m", "w"'
    ).replace("confirmed = false  # the data hold 17 to 98\n", "").replace("confirmed = false\n", "")
    assert "confirmed" not in confirm(CATALOG, "d", {}, ["age", "sex"])


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"age": "0"}, "age=0:120"),
        ({"age": "a:b"}, "age=0:120"),
        ({"age": "5:4"}, "lowest value first: 4 to 5"),
        ({"agee": "0:1"}, "'age'"),
    ],
)
def test_wrong_confirmations_are_refused(given, part):
    with pytest.raises(ConfigError) as caught:
        confirm(CATALOG, "d", given, [])
    assert part in caught.value.hint


def test_no_job_has_the_schema_of_an_unconfirmed_column(tmp_path):
    path = tmp_path / "catalog.toml"
    path.write_text(CATALOG)
    for column, what in (("age", "bounds"), ("sex", "labels")):
        with pytest.raises(DataError, match=f"The {what} of column '{column}'.*come from the data"):
            load_catalog(path).schema("d", column)
    path.write_text(confirm(CATALOG, "d", {"age": "0:120"}, []))
    assert load_catalog(path).schema("d", "age").upper == 120


def test_persons_names_are_never_labels_and_short_years_never_dates(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("Patient,born,bell\n" + "A,31.12.90,x\nB,01.02.85,y\n" * 20 + "B,01.02.85,\x07\n")
    found, text, dataset = drafted(path)
    assert {name: column.type for name, column in dataset.columns.items()} == {
        "Patient": "text",
        "born": "text",
    }
    assert "# Years of two digits are no dates: write four in the source." in text
    assert found.left_out == {"bell": "one of its cells has a control character"}


def creatinine(path: Path) -> None:
    """Laboratory values of which a fifth lie below two limits of detection."""
    rows = [
        f"{row};{'<0,2' if row % 10 == 0 else '<0,15' if row % 10 == 5 else f'{row % 7},{row % 9}'}"
        for row in range(60)
    ]
    path.write_text("nr;Kreatinin\n" + "\n".join(rows) + "\n", encoding="utf-8")


def test_values_below_a_limit_are_named_as_such_and_the_bias_is_said(tmp_path):
    creatinine(tmp_path / "d.csv")
    found, text, dataset = drafted(tmp_path / "d.csv")
    column = dataset.columns["Kreatinin"]
    assert (column.type, column.missing, set(column.tokens)) == ("decimal", "drop", {"<0,2", "<0,15"})
    assert load(dataset, ["Kreatinin"]).rows == 48
    assert "below a limit of detection and count as missing" in text
    assert "means come out too high" in found.columns["Kreatinin"].note
    said = beyond_limits(dataset)["Kreatinin"]
    assert 'below_limit = "half"' in said


@pytest.mark.parametrize(("choice", "held"), [("half", (100, 75)), ("limit", (200, 150))])
def test_values_below_a_limit_are_read_as_the_catalog_chooses(tmp_path, choice, held):
    creatinine(tmp_path / "d.csv")
    text = drafted(tmp_path / "d.csv")[1]
    lines = [line for line in text.splitlines() if not line.startswith(("missing", "confirmed"))]
    lines = [line.replace("scale = 1", f'scale = 3\nbelow_limit = "{choice}"') for line in lines]
    catalog = parse("\n".join(lines), "catalog.toml", ConfigError)
    dataset = catalog_of(catalog, tmp_path / "catalog.toml").dataset("d")
    assert not beyond_limits(dataset)
    read = load(dataset, ["Kreatinin"])
    assert read.rows == 60
    assert (read.columns["Kreatinin"].integers[0], read.columns["Kreatinin"].integers[5]) == held


def test_a_value_below_a_limit_that_is_not_declared_is_named(tmp_path):
    creatinine(tmp_path / "d.csv")
    text = drafted(tmp_path / "d.csv")[1]
    lines = [line for line in text.splitlines() if not line.startswith(("missing", "confirmed"))]
    dataset = catalog_of(
        parse("\n".join(lines), "catalog.toml", ConfigError), tmp_path / "catalog.toml"
    ).dataset("d")
    faults = check_dataset(dataset).faults
    assert 'below_limit = "half" (half the limit of detection) or "limit"' in faults[0].hint


@pytest.mark.parametrize(
    ("cells", "kind", "decimal"),
    [
        (["6,9 %", "7,1 %", "10,2 %"], "decimal", ","),
        (["6.9%", "7.1%", "8%"], "decimal", "."),
        (["12\u00a0%", "13 %", "14%", "15"], "integer", "."),
        (["6,9 %", "k.A.", "1.234,5 %"], "decimal", ","),
    ],
)
def test_numbers_with_a_percent_sign_are_numbers(tmp_path, cells, kind, decimal):
    path = tmp_path / "d.csv"
    path.write_text("share;n\n" + "".join(f"{cell};{n}\n" for n, cell in enumerate(cells)))
    added = draft_addition(tmp_path / "catalog.toml", Asked(source=str(path)))
    column = added.draft.columns["share"].column
    assert (column.type, column.writing.suffix, column.schema.unit) == (kind, "%", "%")
    assert column.writing.decimal == decimal
    added.completed({"share": "0:2000", "n": "0:10"}, []).write()
    held = load(load_catalog(tmp_path / "catalog.toml").dataset("d"), ["share"]).columns["share"]
    first = cells[0].replace(",", ".").rstrip("%").strip()
    assert Decimal(held.integers[0]).scaleb(-column.schema.scale) == Decimal(first)


def test_a_percentage_below_a_limit_of_detection(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("share\n" + "<0.2 %\n5 %\n7 %\n9 %\n" * 3)
    choices = Choices(below_limit={"share": "half"}, tokens={"share": []})
    added = draft_addition(tmp_path / "catalog.toml", Asked(source=str(path), choices=choices))
    added.completed({"share": "0:100"}, []).write()
    dataset = load_catalog(tmp_path / "catalog.toml").dataset("d")
    held = load(dataset, ["share"]).columns["share"]
    assert held.integers[:2] == [1, 50]


@pytest.mark.parametrize(
    ("cells", "decimal"), [([0.51, 2.2, "<0,3"], ","), ([0.51, 2.2, "<0.3"], "."), ([1.5, 2, "3,25"], ",")]
)
def test_texts_beside_numbers_of_a_spreadsheet_are_read_in_their_own_way(cells, decimal):
    found = infer("Krea", dict.fromkeys(cells, 3), tokens=[], below_limit="half").column
    assert (found.type, found.writing.decimal, found.schema.scale) == ("decimal", decimal, 2)


def test_parquet_columns_that_no_type_takes_end_no_draft(tmp_path):
    """Lists cannot be counted, and years beyond 9999 are none of Python: both ended the reader."""
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "p.parquet"
    columns = {
        "age": pa.array([30, 41, 52]),
        "codes": pa.array([["a", "b"], [], None]),
        "place": pa.array([{"x": 1}] * 3),
        "words": pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int64())),
        "far": pa.array([1 << 53] * 3, pa.timestamp("s")),
    }
    parquet.write_table(pa.table(columns), path)
    found = draft(DatasetDeclaration("d", "parquet", {}, "d", source=path))
    assert found.columns["age"].column.type == "integer"
    assert found.left_out == dict.fromkeys(
        ("codes", "place", "words"), "it holds neither numbers, texts nor dates"
    )
    assert found.columns["far"].column.type != "date"
