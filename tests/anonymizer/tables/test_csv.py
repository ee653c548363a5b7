"""CSV as it comes and as it leaves: cells to the byte, dialects, and files that are not what they seem."""

from __future__ import annotations

import csv
import gzip
import io

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import FileError, SpecError, TableError
from anonymizer.hierarchies.days import day
from anonymizer.methods.reduction.suppression import SuppressRecords
from anonymizer.tables import files
from anonymizer.tables.dialect import kinds_in, kinds_of, numbers_of, read_dialect
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from commons.tabular.dialect import Dialect, Writing

GERMAN = {"delimiter": ";", "encoding": "cp1252", "decimal": ",", "thousands": "."}

SPEC = """
[roles]
quasi_identifiers = ["age"]
[hierarchies]
age = { widths = [50], lower = 0, upper = 100 }
[[steps]]
method = "generalization"
levels = { age = 1 }
"""


def cells(path, column, separator=","):
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter=separator))
    place = rows[0].index(column)
    return sorted(row[place] for row in rows[1:])


def written(rows, separator=","):
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=separator, quoting=csv.QUOTE_ALL).writerows(rows)
    return buffer.getvalue().encode()


AWKWARD = {
    "account": ["9007199254740993", "", "9007199254740995"],
    "code": ["250", "", "250.0"],
    "price": ["1.50", "+2", ".5"],
    "zip": ["01234", "1234", "99999999999999999999"],
    "note": [" leading", "trailing ", '=cmd|"x"!A1'],
    "flag": ["True", "", "FALSE"],
    "lines": ["a\rb", "x\r\ny", "q;t"],
}


@pytest.mark.parametrize("rows", ["", "--keep-order --chunk-rows 2"])
@pytest.mark.parametrize("column", AWKWARD)
def test_columns_without_a_role_keep_their_bytes(tmp_path, run, column, rows):
    table = {"age": ["20", "30.0", "60"], **AWKWARD}
    (tmp_path / "data.csv").write_bytes(written([list(table), *zip(*table.values(), strict=True)]))
    (tmp_path / "s.toml").write_text(SPEC)
    run(f"anonymize data.csv --spec s.toml -o out.csv {rows}")
    assert cells(tmp_path / "out.csv", column) == sorted(AWKWARD[column])
    assert set(cells(tmp_path / "out.csv", "age")) == {"[0, 50)", "[50, 100]"}


def test_whole_numbers_with_gaps_stay_whole_in_parquet(tmp_path, run):
    held = {"age": [20, 30, 60], "account": [9007199254740993, None, 9007199254740995]}
    pq.write_table(pa.table(held), "data.parquet")
    pd.DataFrame({"age": ["20", "30", "60"], "account": AWKWARD["account"]}).to_csv("data.csv", index=False)
    (tmp_path / "s.toml").write_text(SPEC)
    for name in ("data.parquet", "data.csv"):
        run(f"anonymize {name} --spec s.toml -o out.parquet")
        found = pq.read_table("out.parquet")
        assert found.schema.field("account").type == pa.int64()
        assert sorted(found.column("account").to_pylist(), key=str) == sorted(held["account"], key=str)


def test_quasi_identifiers_that_mean_the_same_are_written_the_same(tmp_path, run):
    (tmp_path / "data.csv").write_text("age,x\n39,a\n39.0,b\n 39,c\n+39,d\n")
    (tmp_path / "s.toml").write_text(
        '[roles]\nquasi_identifiers = ["age"]\n[[steps]]\n'
        'method = "suppress-records"\nk = 4\nmaximum_suppression = 0.0\n'
    )
    run("anonymize data.csv --spec s.toml -o out.csv")
    assert len(set(cells(tmp_path / "out.csv", "age"))) == 1


@pytest.mark.parametrize("ending", files.ENDINGS)
def test_nothing_of_rows_that_are_gone_is_in_the_file(tmp_path, ending):
    secret = "kuru-unheard-of"
    ill = [*["flu"] * 100, *["cold"] * 99, secret]
    frame = pd.DataFrame({"age": [*[30] * 199, 31], "ill": pd.Categorical(ill), "note": ill})
    polars = pl.DataFrame(
        {"age": frame["age"].tolist(), "ill": pl.Series(ill, dtype=pl.Categorical), "note": ill}
    )
    roles = Roles(quasi_identifiers=("age",))
    for given_frame in (frame, polars):
        release = SuppressRecords(k=5).fit_transform(given_frame, roles=roles)
        for written in (release, Table.of(release)):
            files.write(written, tmp_path / f"out{ending}")
            found = (tmp_path / f"out{ending}").read_bytes()
            plain = gzip.decompress(found) if ending.endswith(".gz") else found
            assert secret.encode() not in plain
            assert b"flu" in plain
    kept = SuppressRecords(k=5).fit_transform(frame, roles=roles)
    assert secret not in kept["ill"].cat.categories


def test_a_dialect_is_read_and_written(tmp_path, run):
    text = "name;age;weight;sum;town\nA;20;1,5;1.000,25;Köln\nB;30;2,5;2;Ulm\nC;70;3,25;;Ulm\n"
    (tmp_path / "data.csv").write_bytes(text.encode("cp1252"))
    declared = "[csv]\n" + "".join(f'{key} = "{value}"\n' for key, value in GERMAN.items())
    roles = '[roles]\nidentifiers = ["name"]\nquasi_identifiers = ["age", "weight"]\n'
    (tmp_path / "s.toml").write_text(declared + roles + SPEC[SPEC.index("[hierarchies]") :])
    run("anonymize data.csv --spec s.toml -o out.csv --report r.html")
    out = (tmp_path / "out.csv").read_bytes().decode("cp1252")
    assert out.splitlines()[0] == "age;weight;sum;town"
    assert sorted(out.splitlines()[1:])[0] == "[0, 50);1,5;1.000,25;Köln"
    run("risk data.csv out.csv --roles s.toml")
    table = files.table(tmp_path / "data.csv", read_dialect(GERMAN))
    assert table.numbers("sum").tolist()[:2] == [1000.25, 2.0]
    assert table.missing("sum").tolist() == [False, False, True]
    assert not table.is_numeric("town")


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "utf-32-be", "cp1252", "latin-1"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_encodings_come_back(tmp_path, encoding, ending):
    path = tmp_path / f"t.{ending}"
    form = Dialect(encoding=encoding)
    held = pl.DataFrame({"ä": ["ö"] * 70_000, "b": ["ß", *["x"] * 69_999]})
    files.write(held, path, form)
    assert files.table(path, form).native.equals(held)
    assert sum(len(one) for one in files.tables(path, 30_000, form)) == 70_000


def test_characters_that_an_encoding_lacks_are_named(tmp_path):
    with pytest.raises(FileError, match="lacks the character 'Ł'"):
        files.write(pl.DataFrame({"a": ["Ł"]}), tmp_path / "t.csv", Dialect(encoding="cp1252"))
    assert not list(tmp_path.iterdir())


NOT_WHAT_THEY_SEEM = [
    (b"age;zip\n1;2\n", FileError, 'delimiter = ";"'),
    (b"age\tzip\n1\t2\n", FileError, 'delimiter = "\\t"'),
    (b"age|zip\n1|2\n", FileError, 'delimiter = "|"'),
    (b"age;zip;w\n1;2;3,5\n", FileError, 'delimiter = ";"'),
    ("age,town\n1,Köln\n".encode("cp1252"), FileError, 'encoding = "cp1252"'),
    ("age,town\n1,Köln\n".encode("utf-16"), FileError, 'encoding = "utf-16"'),
    ("age,town\n1,Köln\n".encode("utf-16-le"), FileError, 'encoding = "utf-16-le"'),
    ("age,town\n1,Köln\n".encode("utf-16-be"), FileError, 'encoding = "utf-16-be"'),
    ("age,town\n1,Köln\n".encode("utf-32"), FileError, 'encoding = "utf-32"'),
    ("age,town\n1,京都\n".encode("utf-32-le"), FileError, 'encoding = "utf-32-le"'),
    ("age,town\n1,京都\n".encode("utf-32-be"), FileError, 'encoding = "utf-32-be"'),
    (b"a,,b,\n1,2,3,4\n", TableError, "columns 2 and 4 have no names"),
    (b",column-1\n0,1\n", TableError, "two columns 'column-1'"),
    (b"a,b\n1,2\n3\n", TableError, "row 2: 1 cells"),
    (b"a,b\n1,2\n\n3,4,5\n", TableError, "row 2: 3 cells"),
    (b'a,b\n1,"2\n3,4\n', FileError, "line 2 begins a row that is not valid"),
    (b'a,b\n0,0\n1,"2\n3,4\n', FileError, "does not end"),
    (b"\n\na,b\n1,2\n", TableError, "first line is blank"),
    (b"", FileError, "is empty"),
    (b"\n", FileError, "is empty"),
]


@pytest.mark.parametrize(("content", "error", "word"), NOT_WHAT_THEY_SEEM)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_files_that_are_not_what_they_seem(tmp_path, content, error, word, ending):
    path = tmp_path / f"t.{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    for read in (files.table, lambda place: list(files.tables(place, 1))):
        with pytest.raises(error) as found:
            read(path)
        assert word in str(found.value)


@pytest.mark.parametrize(("content", "error", "word"), [one for one in NOT_WHAT_THEY_SEEM if "= " in one[2]])
def test_the_mend_works_to_the_letter(tmp_path, content, error, word):
    import tomllib

    (tmp_path / "t.csv").write_bytes(content)
    form = read_dialect(tomllib.loads(word))
    found = files.table(tmp_path / "t.csv", form)
    assert found.names[0] == "age"
    assert len(found.names) > 1


@pytest.mark.parametrize("kept", [4, 12, 40, -10])
def test_compressed_files_that_are_cut_short(tmp_path, kept):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(9000)))[:kept])
    for read in (files.table, lambda place: list(files.tables(place, 7))):
        with pytest.raises(FileError, match="cut short"):
            read(path)


@pytest.mark.parametrize(
    ("cell", "is_formula"),
    [
        ("=1+1", True),
        ("@x", True),
        ("-2+3", True),
        ("＝1", True),
        ("-1.5", False),
        ("+49/3", False),
        ("a=b", False),
    ],
)
def test_formulas_are_warned_of_and_kept(tmp_path, run, cell, is_formula):
    (tmp_path / "data.csv").write_bytes(written([["age", "note"], ["20", "x"], ["60", cell]]))
    (tmp_path / "s.toml").write_text(SPEC)
    _, told = run("anonymize data.csv --spec s.toml -o out.csv")
    assert ("Cells of note are formulas" in told) == is_formula
    assert cell in cells(tmp_path / "out.csv", "note")
    _, told = run("anonymize data.csv --spec s.toml -o out.parquet")
    assert "formulas" not in told


def test_one_column_with_gaps_keeps_its_rows(tmp_path):
    held = pl.DataFrame({"a": ["1", None, None, "x", None]})
    files.write(held, tmp_path / "t.csv")
    assert files.table(tmp_path / "t.csv").native.equals(held)


def test_blank_lines_between_rows_are_no_rows(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n\n1,2\n\n\n3,4\n\n")
    assert files.table(tmp_path / "t.csv").native["a"].to_list() == ["1", "3"]


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(
    st.lists(st.lists(TEXT, min_size=2, max_size=2), min_size=1, max_size=6),
    st.sampled_from([",", ";", "\t"]),
)
def test_cells_round_trip(tmp_path_factory, rows, separator):
    folder = tmp_path_factory.mktemp("trip")
    (folder / "a.csv").write_bytes(written([["n", "é"], *rows], separator))
    form = Dialect(delimiter=separator)
    found = files.table(folder / "a.csv", form)
    expected = [tuple(cell or None for cell in row) for row in rows]
    assert found.native.rows() == expected
    files.write(found, folder / "b.csv", form)
    assert files.table(folder / "b.csv", form).native.rows() == expected


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "-2", "+3", ""], {"integer"}),
        (["1.5", "2", "1e3"], {"float"}),
        (["01", "2"], {None}),
        (["1", "x"], {None}),
        (["99999999999999999999"], {None}),
        (["1e999"], {None}),
        (["nan"], {None}),
        (["inf"], {None}),
        (["0x10"], {None}),
        (["1_000"], {None}),
        (["0", "0.5"], {"float"}),
        ([" ", ""], set()),
    ],
)
def test_what_reads_as_numbers(texts, kind):
    assert kinds_of(Writing(), pl.Series(texts)) == kind


def test_columns_read_together_read_as_each_alone():
    columns = {
        "a": ["1", "x", ""],
        "text": ["1", "2", "2"],
        "column": [" ", None, ""],
        "": ["1.5", "<2", None],
    }
    for form in (Writing(), Writing(below_limit="half")):
        frame = pl.DataFrame(columns)
        alone = {name: kinds_of(form, frame[name]) for name in columns}
        assert kinds_in(form, frame) == alone
        assert alone == {"a": {None}, "text": {"integer"}, "column": set(), "": alone[""]}
        assert alone[""] == ({"float"} if form.below_limit else {None})
    assert kinds_in(Writing(), pl.DataFrame()) == {}


def test_thousands_stand_where_they_should():
    form = Writing(",", ".")
    assert kinds_of(form, pl.Series(["1.000", "12"])) == {"integer"}
    assert kinds_of(form, pl.Series(["1.00", "12"])) == {None}
    assert numbers_of(form, pl.Series(["1.234.567,5"]), "float").to_list() == [1234567.5]


@pytest.mark.parametrize("text", ["€5", "€ 5", "-€5", "€ -5", "+€ 1.200,50", "5", "-€-5", "€€5", "$5", "€"])
def test_numbers_behind_a_prefix_are_those_of_the_catalog(text):
    form = Writing(",", ".", prefix="€")
    plain, cells = form.plain_number(text), pl.Series([text])
    (kind,) = kinds_of(form, cells)
    assert (kind is None) == (plain is None)
    assert numbers_of(form, cells, kind or "integer").to_list() == [None if plain is None else float(plain)]


DECLARED = """
[columns]
{}
[roles]
quasi_identifiers = ["age"]
[[steps]]
method = "suppress-records"
k = 2
"""


def test_a_declared_type_decides(tmp_path, run):
    (tmp_path / "data.csv").write_text("age,zip\n 2O,80331\nx,2\n")
    (tmp_path / "s.toml").write_text(DECLARED.format('age = { type = "integer" }'))
    _, told = run("anonymize data.csv --spec s.toml -o out.csv", 65)
    assert "and row 1 is ' 2O'" in told
    (tmp_path / "data.csv").write_text("age,zip\n20,80331\n030,1\nx,2\n")
    (tmp_path / "s.toml").write_text(DECLARED.format('age = { type = "integer" }\nzip = { type = "text" }'))
    from anonymizer.pipelines.spec import read

    spec = read(tmp_path / "s.toml")
    found = files.table(tmp_path / "data.csv").declare(spec.roles, spec.hierarchies, spec.schema)
    assert found.numbers("age").tolist()[:2] == [20, 30]
    assert found.missing("age").tolist() == [False, False, True]
    assert not found.is_numeric("zip")
    assert found.declare(spec.roles, None, spec.schema).numbers("age").tolist()[:2] == [20, 30]


def test_missing_tokens_are_missing(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n?,1\nx,NA\n")
    found = files.table(tmp_path / "t.csv", Dialect(writing=Writing(missing_tokens=("?", "NA"))))
    assert found.missing("a").tolist() == [True, False]
    assert found.numbers("b").tolist()[0] == 1


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ({"delimeter": ";"}, "'delimiter'"),
        ({"delimiter": ";;"}, "cannot be used"),
        ({"delimiter": '"'}, "cannot be used"),
        ({"delimiter": 4}, "not a text"),
        ({"encoding": "klingon"}, "is not a known encoding"),
        ({"encoding": "rot13"}, "is not a known encoding"),
        ({"decimal": "'"}, "decimal"),
        ({"decimal": ",", "thousands": ","}, "thousands"),
        ({"date_format": "%m/%Y"}, "identify a day"),
        ({"missing_tokens": "?"}, "not a list"),
    ],
)
def test_impossible_dialects_are_refused(entry, word):
    with pytest.raises(SpecError) as found:
        read_dialect(entry)
    assert word in str(found.value)


def test_days_in_several_forms():
    for text in ("1990-12-31", "19901231", "31.12.1990", "1990/12/31", "31-Dec-1990", "1990-12-31T10:00:00Z"):
        assert str(day(text)) == "1990-12-31"
    assert day("12/31/1990") is None
    assert str(day("12/31/1990", "%m/%d/%Y")) == "1990-12-31"
    assert day("1990-13-01") is None


@pytest.mark.parametrize(
    "column", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"a", b"b"], pd.to_timedelta([1, 2], unit="s").tolist()]
)
def test_what_csv_cannot_hold_is_refused(tmp_path, column):
    frame = pl.DataFrame({"a": [1, 2], "odd": column})
    with pytest.raises(TableError, match="'odd'"):
        files.write(frame, tmp_path / "t.csv")
    files.write(frame, tmp_path / "t.parquet")
    assert files.table(tmp_path / "t.parquet").native.equals(frame)
    assert [one.name for one in tmp_path.iterdir()] == ["t.parquet"]


def test_a_file_of_one_column_may_hold_semicolons(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\nx;y\n")
    with pytest.raises(FileError, match="semicolons"):
        files.table(tmp_path / "t.csv")
    assert files.table(tmp_path / "t.csv", Dialect(delimiter=",")).names == ("a;b",)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (b",a\n0,1\n", ["column-1", "a"]),
        (b"a,b,\n1,2,3\n", ["a", "b", "column-3"]),
        (b'a," ",b\n1,2,3\n', ["a", "column-2", "b"]),
    ],
)
def test_one_column_without_a_name_is_named_by_its_place(tmp_path, text, names):
    """Row numbers as pandas and R write them."""
    path = tmp_path / "data.csv"
    path.write_bytes(text)
    assert list(files.table(path).names) == names


def test_digits_of_full_width_are_numbers_in_both_houses():
    cells = pl.Series(["７８", "－６", "9"])
    assert kinds_of(Writing(), cells) == {"integer"}
    assert numbers_of(Writing(), cells, "integer").to_list() == [78, -6, 9]
    assert numbers_of(Writing(","), pl.Series(["６６，７", None]), "float").to_list() == [66.7, None]
    limits = Writing(below_limit="half")
    assert kinds_of(limits, pl.Series(["＜０．４", "０．９"])) == {"float"}
    assert numbers_of(limits, pl.Series(["＜０．４", "０．９"]), "float").to_list() == [0.2, 0.9]
