"""Sheets in which the first row does not name the columns: titles above, and merged cells."""

from __future__ import annotations

import pytest

from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.drafting.adding import Asked, draft_addition, header_rows
from parties.catalog.loading.loading import load
from parties.errors import ConfigError, DataError
from smc.errors import UsageError

openpyxl = pytest.importorskip("openpyxl")

DATA = [[1000 + n, 40 + n, "m" if n % 2 else "w", 0.8 + n / 10, 138 + n % 5] for n in range(1, 13)]
NAMES = ["PatNr", "Alter", "Geschlecht", "Kreatinin", "Natrium"]
TITLE = [["Klinik Nord"], [], ["Export vom 3.4.2026", None, "Station 7"]]


def book(path, rows, merged=()):
    made = openpyxl.Workbook()
    sheet = made.active
    for line, row in enumerate(rows, 1):
        for place, cell in enumerate(row, 1):
            if cell is not None:
                sheet.cell(line, place, cell)
    for cells in merged:
        sheet.merge_cells(cells)
    made.save(path)
    return path


CASES = {
    "plain": ([NAMES, *DATA], (), (), NAMES),
    "titles": ([*TITLE, NAMES, *DATA], (), (4,), NAMES),
    "groups above names": (
        [["Klinik"], ["Patient", None, None, "Labor", None], NAMES, *DATA],
        ("A2:C2", "D2:E2"),
        (3,),
        NAMES,
    ),
    "groups that names need": (
        [
            ["Klinik"],
            ["Aufnahme", None, None, "Entlassung", None],
            ["Nr", "Wert", "Sex", "Wert", "Hb"],
            *DATA,
        ],
        ("A2:C2", "D2:E2"),
        (2, 3),
        ["Nr", "Aufnahme Wert", "Sex", "Entlassung Wert", "Hb"],
    ),
    "merged down": (
        [["PatNr", "Alter", "Geschlecht", "Labor", None], [None, None, None, "Krea", "Na"], *DATA],
        ("A1:A2", "B1:B2", "C1:C2", "D1:E1"),
        (1, 2),
        ["PatNr", "Alter", "Geschlecht", "Krea", "Na"],
    ),
    "texts only": ([["Ort", "Name"], ["Kiel", "Ahn"], ["Bonn", "Bär"]], (), (), ["Ort", "Name"]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_row_of_names_is_found(tmp_path, case):
    rows, merged, wanted, names = CASES[case]
    path = book(tmp_path / "d.xlsx", rows, merged)
    added = draft_addition(tmp_path / "catalog.toml", Asked(source=str(path)))
    assert added.draft.dataset.header == wanted
    assert [*added.draft.sample] == names
    assert ("header = " in added.entry) == bool(wanted)
    if case != "texts only":
        assert added.draft.rows == len(DATA)


def test_what_is_declared_is_read(tmp_path):
    rows, _, wanted, names = CASES["merged down"]
    path = book(tmp_path / "d.xlsx", [*TITLE, *rows], ("D4:E4",))
    added = draft_addition(tmp_path / "catalog.toml", Asked(source=str(path)))
    assert added.draft.dataset.header == (4, 5)
    added.complete({"Alter": "0:120"}, []).write()
    dataset = load_catalog(tmp_path / "catalog.toml").dataset("d")
    assert dataset.header == (4, 5)
    assert load(dataset, ["Alter"]).columns["Alter"].integers == [row[1] for row in DATA]
    assert names[3] in added.draft.columns
    assert wanted == (1, 2)


@pytest.mark.parametrize(
    ("last", "footer", "told"),
    [
        (["Summe", None, None, None, 380], "Summe", ""),
        ([None, "Gesamt (n = 12)", None, None, None], "Gesamt", ""),
        (["Summe", 1, 2, 3, 4], "", ""),
        (["Somme-Nord", None, None, None, None], "", "Somme-Nord"),
        (["Sumatra", None, None, None, 1], "", ""),
    ],
)
def test_a_sum_below_the_table_is_left_out_or_told(tmp_path, last, footer, told):
    path = book(tmp_path / "d.xlsx", [NAMES, *DATA, [], last])
    added = draft_addition(tmp_path / "catalog.toml", Asked(source=str(path)))
    assert added.draft.total == told
    assert ("The last row begins with" in added.entry) == bool(told)
    assert added.draft.dataset.footer == ((footer,) if footer else ())
    assert added.draft.rows == len(DATA) + (not footer)
    assert added.dataset.footer == added.draft.dataset.footer  # and the entry says it
    asked = Asked(source=str(path), footer=())
    assert draft_addition(tmp_path / "catalog.toml", asked).draft.rows == len(DATA) + 1


def test_what_a_person_says_holds(tmp_path):
    path = book(tmp_path / "d.xlsx", [NAMES, ["Nr", "J", "x", "mg", "mmol"], *DATA])
    for typed, names in (("2", ["Nr", "J", "x", "mg", "mmol"]), ("1, 2", ["Nr", "J", "x", "mg", "mmol"])):
        asked = Asked(source=str(path), header=header_rows(typed))
        sample = [*draft_addition(tmp_path / "catalog.toml", asked).draft.sample]
        assert sample[: len(names)] == names
    with pytest.raises(DataError, match="no names of columns in row 900"):
        draft_addition(tmp_path / "catalog.toml", Asked(source=str(path), header=(900,)))


@pytest.mark.parametrize(
    "value", ["0", "-1", "[]", "[2, 2]", "[3, 2]", "[1, 2, 3, 4]", '"3"', "2.5", "true", "1001"]
)
def test_other_rows_are_refused(tmp_path, value):
    column = '[datasets.d.columns.age]\ntype = "integer"\nlower = 0\nupper = 120\n'
    (tmp_path / "catalog.toml").write_text(f'[datasets.d]\nsource = "d.xlsx"\nheader = {value}\n{column}')
    with pytest.raises(ConfigError, match="header"):
        load_catalog(tmp_path / "catalog.toml")


def test_what_is_typed_is_rows_in_order():
    assert header_rows(" ") is None
    assert header_rows("3") == (3,)
    assert header_rows("3,4") == header_rows("3 4") == header_rows("3-4") == (3, 4)
    for wrong in ("x", "4, 3", "0", "1,2,3,4", "²", "99999999999"):
        with pytest.raises(UsageError, match="row"):
            header_rows(wrong)
