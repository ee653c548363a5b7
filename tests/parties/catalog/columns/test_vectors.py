"""Many cells at once: never another value than one by one, never a cell accepted that is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.catalog.columns import persons
from parties.catalog.columns.cells import parser
from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.columns.missing import missing_cells
from parties.catalog.columns.vectors import is_narrow, reader
from parties.catalog.loading.loading import load
from parties.catalog.sources.batch import VisibleCells
from parties.errors import DataError
from smc.analyses.studies.columns import Schema
from tests.parties.catalog.declared import NUMBER, TEXT, dataset

WIDE = 10**20
COLUMNS = [
    ColumnDeclaration("x", "integer", Schema("integer", lower=-(10**12), upper=10**12)),
    ColumnDeclaration("x", "integer", Schema("integer", lower=-(2**63), upper=2**63 - 1)),
    ColumnDeclaration("x", "decimal", Schema("decimal", 0, -(10**12), 10**12)),
    ColumnDeclaration("x", "decimal", Schema("decimal", 3, -(10**12), 10**12)),
    ColumnDeclaration("x", "decimal", Schema("decimal", 18, -(2**62), 2**62)),
    ColumnDeclaration("x", "date", Schema("integer", lower=-(10**6), upper=10**6)),
    ColumnDeclaration("x", "category", Schema("category", lower=0, upper=1, categories=("a", "1"))),
    ColumnDeclaration("x", "share", Schema("share", modulus="97")),
    ColumnDeclaration("x", "text", Schema("text"), maximum_length=5),
]

CELLS = st.one_of(
    st.text(max_size=6),
    st.text("+-.0123456789 \0", max_size=8),
    st.from_regex(r"[+-]?[0-9]{1,22}(\.[0-9]{1,20})?", fullmatch=True),
    st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", fullmatch=True),
    st.dates().map(str),
    st.sampled_from(["a", "1", " a", "٣", "é", "e\u0301", "1\0", "-0", "+", ".", "1.", ".5", "0.0010"]),
    st.integers(-(10**20), 10**20),
    st.booleans(),
    st.none(),
    st.floats(),
)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: f"{column.type}-{column.schema.scale}")
@given(cells=st.lists(CELLS, min_size=1, max_size=3))
def test_what_is_read_at_once_is_what_is_read_one_by_one(column, cells):
    read = reader(column)(cells)
    if read is not None:
        assert list(read) == [parser(column)(cell) for cell in cells]
        assert "" not in list(read)


VISIBLE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=8)
SEEN = st.lists(
    st.one_of(VISIBLE, st.from_regex(r"[+-]?[0-9]{1,3}(\.[0-9])?", fullmatch=True)), min_size=1, max_size=3
)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: f"{column.type}-{column.schema.scale}")
@given(cells=SEEN)
def test_cells_that_need_no_look_are_read_as_all_others(column, cells):
    usual, seen = reader(column)(cells), reader(column)(VisibleCells(cells))
    assert (usual is None) == (seen is None)
    assert usual is None or list(usual) == list(seen)


@given(cells=SEEN, tokens=st.lists(VISIBLE, max_size=2), kind=st.sampled_from(["number", "date", "text"]))
def test_cells_that_need_no_look_are_named_and_missing_as_all_others(cells, tokens, kind):
    tokens = (*tokens, *cells[:1]) if tokens else ()
    seen = VisibleCells(cells)
    assert missing_cells(seen, tokens).tolist() == missing_cells(cells, tokens).tolist()
    assert list(persons.texts(seen, kind)) == list(persons.texts(cells, kind))


USUAL = {
    "integer": ["0", "-5", "+7", "0012", "999999999999"],
    "decimal": ["0", "-5", "+7.0", "0012", "12345.678"],
    "date": ["1970-01-01", "2024-02-29", "1600-12-31"],
    "category": ["a", "1"],
    "share": ["0", "96"],
    "text": ["Ann", " 007 ", "Zo\u00eb"],
}


@pytest.mark.parametrize("column", [COLUMNS[place] for place in (0, 3, 5, 6, 7, 8)], ids=lambda c: c.type)
def test_usual_cells_are_read_at_once(column):
    cells = USUAL[column.type]
    read = reader(column)(cells)
    assert read is not None
    assert list(read) == [parser(column)(cell) for cell in cells]


def test_numbers_are_arrays_where_the_declaration_keeps_them_narrow(tmp_path):
    columns = {
        "x": NUMBER,
        "wide": {"type": "integer", "lower": 0, "upper": 2**63},
        "edge": {"type": "integer", "lower": -(2**63), "upper": 2**63 - 1},
        "s": {"type": "share", "modulus": "2^63"},
        "big": {"type": "share", "modulus": "2^64"},
    }
    found = dataset(tmp_path, f"x,wide,edge,s,big\n5,{2**63},{-(2**63)},{2**63 - 1},{2**64 - 1}\n", columns)
    loaded = load(found, list(columns)).columns
    for name in ("x", "edge", "s"):
        assert is_narrow(found.columns[name])
        assert isinstance(loaded[name].values, np.ndarray)
        assert loaded[name].values.dtype == np.int64
    assert loaded["edge"].integers == [-(2**63)]
    assert loaded["wide"].values == [2**63]
    assert loaded["big"].values == [2**64 - 1]
    empty = load(dataset(tmp_path, "x,big\n", {"x": NUMBER, "big": columns["big"]}), ["x", "big"])
    assert empty.rows == 0
    assert empty.columns["x"].array.shape == (0,)


@pytest.mark.parametrize("place", [0, 1, 2047, 2048, 4999])
def test_the_first_bad_cell_is_named_wherever_it_is(tmp_path, place):
    rows = [[str(number), "7"] for number in range(5000)]
    rows[place][1] = "1O"
    for later in range(place + 1, 5000):
        rows[later] = ["0", "bad", "too many"]
    text = "id,x\n" + "".join(",".join(row) + "\r\n" for row in rows)
    found = dataset(tmp_path, text, {"x": NUMBER}, key="id")
    with pytest.raises(DataError, match=rf"row {place + 1} \(line {place + 2}\).*'x' is not an integer"):
        load(found, ["x"])


def test_texts(tmp_path):
    rows = 'n\n007\n" Zoe\u0308 "\n"O\'Neil, J"\n\U0001f600\n'
    found = dataset(tmp_path, rows, {"n": TEXT})
    column = load(found, ["n"]).columns["n"]
    assert column.texts == ["007", "Zo\u00eb", "O'Neil, J", "\U0001f600"]
    assert column.schema == Schema("text")


@pytest.mark.parametrize(
    ("cell", "part"),
    [
        ("a\tb", "control"),
        ('"a\nb"', "control"),
        ("a\u2028b", "control"),
        ("a\x85b", "control"),
        ("a\x00b", "control"),
        ("toolong", "more than 5"),
    ],
)
def test_texts_that_are_refused(tmp_path, cell, part):
    found = dataset(tmp_path, f"n,m\n{cell},1\n", {"n": TEXT | {"maximum_length": 5}})
    with pytest.raises(DataError, match=part) as caught:
        load(found, ["n"])
    assert "row 1" in str(caught.value)
