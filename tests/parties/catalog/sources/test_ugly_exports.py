"""Exports as hospital systems and Excel write them become data sets without an editor, row for row."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest

from commons.tabular.dialect import Writing
from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.drafting.adding import Asked, draft_addition
from parties.catalog.drafting.drafting import LAST, NO_NAME, Choices
from parties.catalog.drafting.sniffing import infer
from parties.catalog.loading.loading import load
from parties.errors import ConfigError

NAMES = ["Fall-Nr.", "Alter [J.]", "Kosten (EUR)", "CRP (mg/l)", "Aufnahme", "Notiz"]
COUNT = 40


def rows(note="ruft zurück"):
    """Cells of patients, as texts."""
    return [
        [f"F{n:04}", str(20 + n), f"{1 + n}.951,05 €", f"{n},5", f"{1 + n % 28:02}.03.2025 14:{n:02}", note]
        for n in range(COUNT)
    ]


def written(path, above=(), below=(), end="", cells=None, encoding="cp1252", separator=";"):
    """An export; `above` and `below` are whole lines, `end` stands behind each row."""
    lines = [separator.join(row) + end for row in (NAMES, *(rows() if cells is None else cells))]
    path.write_bytes("".join(f"{line}\r\n" for line in (*above, *lines, *below)).encode(encoding))
    return path


def added(path, **asked):
    """What is drafted, and the ages that are read by the entry that it writes."""
    found = draft_addition(path.parent / "catalog.toml", Asked(source=str(path), name="d", **asked))
    found.complete({"Alter [J.]": "0:120"}, []).write()
    dataset = load_catalog(path.parent / "catalog.toml").dataset("d")
    return found, load(dataset, ["Alter [J.]"]).columns["Alter [J.]"].values.tolist()


@pytest.mark.parametrize(
    "above", [(), ("sep=;",), ("Klinik Süd, Auswertung", "", "Stand: 01.04.2025"), ("sep=;", "Liste;;;;;")]
)
@pytest.mark.parametrize(
    "below", [(), ("Anzahl Datensätze: 40",), ("", "Summe;;99.000,00 €;;;", "Anzahl: 40")]
)
@pytest.mark.parametrize(
    ("note", "encoding"), [("kurz", "utf-8-sig"), ('"zwei\r\nZeilen"', "cp1252"), ("x", "utf-16")]
)
def test_titles_and_sums_are_left_out_and_no_row_is_lost(tmp_path, above, below, note, encoding):
    path = written(tmp_path / "a.csv", above, below, cells=rows(note), encoding=encoding)
    found, ages = added(path)
    assert ages == [20 + n for n in range(COUNT)]
    assert found.draft.rows == COUNT
    assert found.draft.dataset.header == ((above.index(above[-1]) + 2,) if len(above) > 1 else ())
    words = tuple(line.partition(";")[0].partition(":")[0] for line in below if line)
    assert found.draft.dataset.footer == words
    assert found.draft.sample["Alter [J.]"] == ["20", "21", "22", "23", "24"]


def test_the_next_export_may_have_no_sum_and_loses_no_row(tmp_path):
    path = written(tmp_path / "a.csv", below=("Anzahl: 40",))
    added(path)
    dataset = load_catalog(tmp_path / "catalog.toml").dataset("d")
    written(path, below=("Anzahl: 41",), cells=[*rows(), ["F9999", *rows()[0][1:]]])
    assert load(dataset, ["Alter [J.]"]).rows == COUNT + 1
    written(path)
    assert load(dataset, ["Alter [J.]"]).rows == COUNT


def test_what_looks_like_a_sum_among_the_rows_is_a_row(tmp_path):
    cells = rows()
    cells[5][0] = cells[-2][0] = "Anzahl"
    path = written(tmp_path / "a.csv", below=("Anzahl: 40",), cells=cells)
    assert len(added(path)[1]) == COUNT


def test_a_person_may_keep_the_last_row_and_say_where_the_names_are(tmp_path):
    cells = [*rows(), ["Summe", "60", "", "", "", ""]]
    path = written(tmp_path / "a.csv", ("Liste",), cells=cells)
    found, ages = added(path, footer=(), header=(2,))
    assert (len(ages), found.draft.total) == (COUNT + 1, "Summe")


@pytest.mark.parametrize("value", ["0", "1001", "[2, 2]", "[1, 2, 3, 4]", "[]", '"2"', "true"])
def test_other_lines_are_refused(tmp_path, value):
    column = '[datasets.d.columns.age]\ntype = "integer"\nlower = 0\nupper = 120\n'
    (tmp_path / "catalog.toml").write_text(f'[datasets.d]\nsource = "d.csv"\nheader = {value}\n{column}')
    with pytest.raises(ConfigError, match="header"):
        load_catalog(tmp_path / "catalog.toml")


GROUPED = {
    "groups": (
        "Séjour;;;Biologie;;",
        "N°;Date d'entrée;Âge (ans);CRP (mg/l);Dosage;Unité de soins",
        ["N°", "Date d'entrée", "Âge (ans)", "CRP (mg/l)", "Dosage", "Unité de soins"],
        (2,),
    ),
    "groups of names that come twice": (
        "Entrée;;;Sortie;;",
        "N°;Date;Service;CRP;Date;Service",
        ["N°", "Entrée Date", "Entrée Service", "CRP", "Sortie Date", "Sortie Service"],
        (1, 2),
    ),
    "units": (
        "N°;Entrée;Âge;CRP;Poids;Service",
        ";;(ans);(mg/l);[kg];",
        ["N°", "Entrée", "Âge (ans)", "CRP (mg/l)", "Poids [kg]", "Service"],
        (1, 2),
    ),
    "both side by side": (
        "N°;Âge;Service;CRP;Entrée;",
        ";;;;Date;Mode",
        ["N°", "Âge", "Service", "CRP", "Date", "Mode"],
        (1, 2),
    ),
}


def in_the_middle(n):
    return [f"F{n:04}", f"{1 + n % 28:02}/03/2025", str(20 + n), f"{n},5", f"{60 + n}", "abc"[n % 3]]


@pytest.mark.parametrize("title", [(), ("CHU de Lyon, export du 31/12/2024", "")])
@pytest.mark.parametrize("case", GROUPED)
def test_two_lines_name_the_columns_and_no_row_is_lost(tmp_path, case, title):
    first, second, names, lines = GROUPED[case]
    body = [";".join(in_the_middle(n)) for n in range(COUNT)]
    path = tmp_path / "a.csv"
    path.write_bytes("".join(f"{line}\r\n" for line in (*title, first, second, *body)).encode("cp1252"))
    found = draft_addition(tmp_path / "catalog.toml", Asked(source=str(path), name="d"))
    assert found.draft.dataset.header == tuple(line + len(title) for line in lines)
    assert [*found.draft.sample] == names
    assert found.draft.rows == COUNT
    found.complete({names[2]: "0:120"} if "Âge" in names[2] else {}, [*found.draft.columns]).write()
    dataset = load_catalog(tmp_path / "catalog.toml").dataset("d")
    number = next(name for name in names if found.draft.sample[name][0] == "60")
    assert load(dataset, [number]).columns[number].values.tolist() == [60 + n for n in range(COUNT)]


def test_a_line_of_texts_below_the_names_is_a_row(tmp_path):
    """Nothing tells it from names, so only brackets all over, or names that come twice, make it one."""
    path = tmp_path / "a.csv"
    path.write_text("ward;state\n" + "north;(open)\nsouth;closed\n" * COUNT)
    found = draft_addition(tmp_path / "catalog.toml", Asked(source=str(path)))
    assert (found.draft.dataset.header, found.draft.rows) == ((), 2 * COUNT)


def test_units_below_the_names_of_a_sheet_belong_to_them(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    for row in (["UMC", None, None], ["Nr", "Gewicht", "Lengte"], [None, "(kg)", "(cm)"]):
        made.active.append(row)
    for n in range(COUNT):
        made.active.append([n, 60.5 + n, 150 + n])
    made.save(tmp_path / "d.xlsx")
    found = draft_addition(tmp_path / "catalog.toml", Asked(source=str(tmp_path / "d.xlsx")))
    assert found.draft.dataset.header == (2, 3)
    units = {name: one.column.schema.unit for name, one in found.draft.columns.items()}
    assert units == {"Nr": "", "Gewicht (kg)": "kg", "Lengte (cm)": "cm"}


def test_separators_at_the_ends_of_lines_make_no_column(tmp_path):
    assert added(written(tmp_path / "a.csv", end=";"))[0].draft.left_out == {}
    (tmp_path / "catalog.toml").unlink()
    assert added(written(tmp_path / "b.csv", end=";;"))[0].draft.left_out == {LAST: "no name"}
    (tmp_path / "catalog.toml").unlink()
    cells = [["7", *row] for row in rows()]
    path = tmp_path / "c.csv"
    path.write_text("\n".join(";".join(row) for row in (["", *NAMES], *cells)))
    assert NO_NAME in added(path)[0].draft.left_out


def test_numbers_with_a_unit_behind_all_of_them_are_numbers(tmp_path):
    found, _ = added(written(tmp_path / "a.csv"))
    column = found.draft.columns["Kosten (EUR)"].column
    assert (column.type, column.schema.scale, column.writing.suffix, column.schema.unit) == (
        "decimal",
        2,
        "€",
        "EUR",
    )
    cells = rows()
    cells[3][2] = "3.951,05 $"
    (tmp_path / "catalog.toml").unlink()
    found, _ = added(written(tmp_path / "b.csv", cells=cells))
    assert found.draft.columns["Kosten (EUR)"].column.type == "text"


def test_cells_above_a_limit_are_said_and_may_be_kept(tmp_path):
    cells = rows()
    cells[3][3] = cells[9][3] = ">200"
    path = written(tmp_path / "a.csv", cells=cells)
    found, _ = added(path)
    seen = found.draft.columns["CRP (mg/l)"]
    assert (seen.has_limits, seen.has_upper_limits, seen.column.tokens) == (False, True, (">200",))
    assert "means come out too low" in seen.note
    assert "too high" not in seen.note
    (tmp_path / "catalog.toml").unlink()
    kept = Choices(above_limit={"CRP (mg/l)": "limit"}, tokens={"CRP (mg/l)": []})
    found = draft_addition(tmp_path / "catalog.toml", Asked(source=str(path), name="d", choices=kept))
    assert found.draft.columns["CRP (mg/l)"].column.tokens == ()
    found.complete({"CRP (mg/l)": "0:200"}, []).write()
    held = load(load_catalog(tmp_path / "catalog.toml").dataset("d"), ["CRP (mg/l)"]).columns["CRP (mg/l)"]
    assert held.values.tolist()[3] == 2000


def test_times_of_a_spreadsheet_are_days(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    made.active.append(["Nr", "Entlassung", "geboren"])
    first = datetime(2025, 1, 1, 7, 30)
    for n in range(30):
        made.active.append([n, first + timedelta(hours=20 * n), date(1980, 1, 1 + n % 28)])
    made.active.append(["Summe", None, None])
    made.save(tmp_path / "d.xlsx")
    found = draft_addition(tmp_path / "catalog.toml", Asked(source=str(tmp_path / "d.xlsx")))
    assert [one.column.type for one in found.draft.columns.values()] == ["text", "date", "date"]
    found.complete({}, [*found.draft.columns]).write()
    held = load(load_catalog(tmp_path / "catalog.toml").dataset("d"), ["Entlassung", "geboren"]).columns
    days = [
        (first + timedelta(hours=20 * n)).date().toordinal() - date(1970, 1, 1).toordinal() for n in range(30)
    ]
    assert held["Entlassung"].values.tolist() == days
    assert held["geboren"].values.tolist()[0] == 10 * 365 + 2


def test_cells_beyond_a_limit_have_the_unit_of_the_others(tmp_path):
    cells = rows()
    cells[3][2], cells[9][2] = ">1.000,50 €", "> 99.000€"
    path = written(tmp_path / "a.csv", cells=cells)
    found, _ = added(path)
    seen = found.draft.columns["Kosten (EUR)"]
    assert (seen.has_limits, seen.has_upper_limits) == (False, True)
    assert (seen.column.type, seen.column.writing.suffix) == ("decimal", "€")
    assert sorted(seen.column.tokens) == ["> 99.000€", ">1.000,50 €"]
    (tmp_path / "catalog.toml").unlink()
    kept = Choices(above_limit={"Kosten (EUR)": "limit"}, tokens={"Kosten (EUR)": []})
    found = draft_addition(tmp_path / "catalog.toml", Asked(source=str(path), name="d", choices=kept))
    found.complete({"Kosten (EUR)": "0:100000"}, []).write()
    held = load(load_catalog(tmp_path / "catalog.toml").dataset("d"), ["Kosten (EUR)"])
    assert held.columns["Kosten (EUR)"].values.tolist()[3:10:6] == [100050, 9900000]


def test_a_unit_that_only_the_cells_beyond_a_limit_have_is_known_as_one(tmp_path):
    cells = rows()
    cells[3][3] = "< 0,5 mg/l"
    path = written(tmp_path / "a.csv", cells=cells)
    kept = Choices(below_limit={"CRP (mg/l)": "half"}, tokens={"CRP (mg/l)": []})
    found = draft_addition(tmp_path / "catalog.toml", Asked(source=str(path), name="d", choices=kept))
    column = found.draft.columns["CRP (mg/l)"].column
    assert (column.type, column.writing.suffix, column.writing.below_limit) == ("decimal", "mg/l", "half")
    assert column.writing.plain_number("< 0,5 mg/l") == "0.25"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (">200 €", "200"),
        ("≥1.200,5€", "1200.5"),
        ("> 200", "200"),
        ("<3 €", "1.5"),
        (">200 $", None),
        (">200 € 5", None),
        (">20 0 €", None),
        ("€ >5", None),
    ],
)
def test_the_unit_of_a_limit_has_to_be_the_declared_one(text, plain):
    """Two hundred dollars are not two hundred euros."""
    writing = Writing(",", ".", suffix="€", below_limit="half", above_limit="limit")
    assert writing.plain_number(text) == plain
    assert Writing(",", ".", above_limit="limit").plain_number(">200 €") is None


@pytest.mark.parametrize("sign", ["€", "€ ", "CHF ", "Fr. ", "US$", "R$\u00a0"])
def test_a_currency_before_the_numbers_is_their_prefix(tmp_path, sign):
    cells = rows()
    for n, row in enumerate(cells):
        row[2] = f"{sign}{1 + n}.951,05"
    cells[4][2], cells[5][2] = f"-{sign}4,50", f"{sign}-5"
    path = written(tmp_path / "a.csv", cells=cells)
    found, _ = added(path)
    column = found.draft.columns["Kosten (EUR)"].column
    assert (column.type, column.writing.prefix) == ("decimal", sign.strip())
    held = load(load_catalog(tmp_path / "catalog.toml").dataset("d"), ["Kosten (EUR)"])
    assert held.columns["Kosten (EUR)"].values.tolist()[3:7] == [495105, -450, -500, 795105]


def test_a_unit_is_taken_from_the_sign_before_the_numbers(tmp_path):
    (tmp_path / "d.csv").write_text("amount;n\n" + "".join(f"$ {n},5;{n}\n" for n in range(30)))
    found = draft_addition(tmp_path / "catalog.toml", Asked(source=str(tmp_path / "d.csv")))
    assert found.draft.columns["amount"].column.schema.unit == "$"


@pytest.mark.parametrize(
    "cells", [["I10", "I25", "I63"], ["€5", "$5", "£5"], ["EUR", "€5", "€6"], ["A5", "€5", "€6"]]
)
def test_codes_and_other_currencies_stay_texts(cells):
    """Diagnoses of one letter are no numbers, and a column of several currencies has no unit."""
    assert infer("what", {f"{cell}{n}": 1 for cell in cells for n in range(20)}).column.type == "text"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        *(("€5", "5"), ("€ 5", "5"), ("-€5", "-5"), ("€ -5", "-5"), ("+€ 1.200,50", "+1200.50"), ("5", "5")),
        *(("-€-5", None), ("€€5", None), ("$5", None), ("5 €", None), ("€", None), ("€  5", None)),
    ],
)
def test_a_number_behind_a_prefix(text, plain):
    writing = Writing(",", ".", prefix="€")
    assert writing.plain_number(text) == plain
    assert writing.plain_numbers(["7", text]) == (None if plain is None else ["7", plain])


@pytest.mark.parametrize("prefix", ["5", "€-", " ", "<", "-"])
def test_what_may_be_part_of_a_number_is_no_prefix(prefix):
    assert [key for key, *_ in Writing(prefix=prefix).faults()] == ["prefix"]


@pytest.mark.parametrize(
    ("form", "other"),
    [
        ("%d/%m/%Y à %Hh%M", "%d/%m/%Y %Hh%M"),
        ("%d-%m-%Y %H:%M", "%d-%m-%Y"),
        ("%Y/%m/%d %H:%M", "%Y/%m/%d"),
        ("%Y年%m月%d日", "%Y/%m/%d"),
        ("%Y年%m月%d日%H時%M分", "%Y年%m月%d日"),
        ("%d.%m.%Y um %H:%M Uhr", "%d.%m.%Y"),
    ],
)
def test_days_with_times_as_people_write_them_are_days(tmp_path, form, other):
    days = [datetime(2024, 12, 31, 14, 30) - timedelta(hours=31 * n) for n in range(COUNT)]
    path = tmp_path / "a.csv"
    path.write_text("n;seen\n" + "".join(f"{n};{day.strftime(form)}\n" for n, day in enumerate(days)))
    found = draft_addition(tmp_path / "catalog.toml", Asked(source=str(path), name="d"))
    assert found.draft.columns["seen"].column.writing.date_format == form
    found.complete({}, ["n", "seen"]).write()
    held = load(load_catalog(tmp_path / "catalog.toml").dataset("d"), ["seen"]).columns["seen"]
    assert held.values.tolist() == [day.toordinal() - date(1970, 1, 1).toordinal() for day in days]
    assert Writing(date_format=other).day(days[0].strftime(form)) is None


@pytest.mark.parametrize(("count", "kind"), [(20, "decimal"), (60, "text")])
def test_a_word_in_place_of_many_numbers_means_missing(count, kind):
    """One in six did not know: that is no reason to lose the column; of one in three it is."""
    cells = {f"{n},5": 1 for n in range(100)} | {"weiß nicht": count}
    found = infer("dose", cells).column
    assert (found.type, "weiß nicht" in found.tokens) == (kind, kind == "decimal")


LABELS = {"Oui": 3, "oui": 9, "OUI": 1, "non": 7, "Non": 2, "NSP": 2}


def test_labels_that_differ_in_case_only_are_told_and_made_one_if_a_person_says_so(tmp_path):
    cells = [label for label, count in LABELS.items() for _ in range(count)]
    path = tmp_path / "a.csv"
    path.write_text("n;Fumeur\n" + "".join(f"{n};{cell}\n" for n, cell in enumerate(cells)))
    asked = Asked(source=str(path), name="d")
    found = draft_addition(tmp_path / "catalog.toml", asked)
    seen = found.draft.columns["Fumeur"]
    assert sorted(map(sorted, seen.alike)) == [["Non", "non"], ["OUI", "Oui", "oui"]]
    assert "differ in case only: ignore_case = true" in found.entry
    assert "ignore_case = true" not in found.entry.replace("only: ignore_case = true", "")
    joined = draft_addition(
        tmp_path / "catalog.toml", Asked(source=str(path), name="d", choices=Choices(joined=["Fumeur"]))
    )
    column = joined.draft.columns["Fumeur"].column
    assert column.schema.categories == ("non", "oui")
    capitals = {"Ja": 2, "JA": 3, "nein": 4, "Nein": 9}
    found = infer("x", capitals, ignores_case=True).column.schema.categories
    assert found == ("JA", "nein")  # small letters, or else the commonest
    assert joined.draft.columns["Fumeur"].alike == []
    joined.complete({}, ["Fumeur"]).write()
    dataset = load_catalog(tmp_path / "catalog.toml").dataset("d")
    held = load(dataset, ["Fumeur"]).columns["Fumeur"].values.tolist()
    assert held == [int(cell.casefold() == "oui") for cell in cells if cell != "NSP"]
    path.write_text("n;Fumeur\n1; OuI \n2;NON\n")  # of the next export, too
    assert load(dataset, ["Fumeur"]).columns["Fumeur"].values.tolist() == [1, 0]


def test_labels_of_a_column_that_ignores_case_differ_in_more(tmp_path):
    column = 'type = "category"\nvalues = ["ja", "Ja"]\nignore_case = true\n'
    (tmp_path / "catalog.toml").write_text(
        f'[datasets.d]\nsource = "d.csv"\n[datasets.d.columns.x]\n{column}'
    )
    with pytest.raises(ConfigError, match="differ in case only") as caught:
        load_catalog(tmp_path / "catalog.toml")
    assert "ignore_case" in caught.value.hint


def test_sums_and_counts_below_a_japanese_table_are_no_persons(tmp_path):
    """A count whose word is not known would keep the sum above it, as a patient of twelve tonnes."""
    body = [f"{n},{150 + n % 30}.5,{50 + n % 40}.5,あり,男" for n in range(COUNT)]
    lines = ["検査一覧", "患者番号,身長（cm）,体重（kg）,喫煙,性別", *body, "合計,,12000.0,,", "件数：40"]
    path = tmp_path / "a.csv"
    path.write_bytes("\r\n".join(lines).encode("cp932"))
    found = draft_addition(tmp_path / "catalog.toml", Asked(source=str(path), name="d")).draft
    assert (found.rows, found.dataset.footer) == (COUNT, ("合計", "件数"))
    assert found.columns["体重（kg）"].column.schema.upper == 1000
    assert found.columns["体重（kg）"].column.schema.unit == "kg"
