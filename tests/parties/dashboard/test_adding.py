"""A data set is added and confirmed in the dashboard: what was shown is written, and nothing else is read."""

from __future__ import annotations

import html
import os
import re

import pytest
import tomli_w

from parties.catalog.declarations.declaration import load_catalog
from parties.dashboard.pages.adding import MAX_COLUMNS, MAX_DEPTH
from tests.parties.dashboard.browsing import Browser

ROWS = 40
HEAD = "Karte;Alter;Gewicht;Geschlecht\n"
TABLE = HEAD + "".join(
    f"{1000 + row};{'?' if row == 7 else 20 + row};{60 + row},5;{'mw'[row % 2]}\n" for row in range(ROWS)
)


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "exports"
    found.mkdir()
    (found / "Export 2024.csv").write_bytes(TABLE.replace("Karte", "Kärte-Nr").encode("cp1252"))
    return found


@pytest.fixture
def browser(party, folder):
    return Browser(party, folders=(folder,))


@pytest.fixture
def catalog(party):
    return party.config_path.parent / "catalog.toml"


def filled_in(page):
    """The fields of the form that adds, as a browser would send them."""
    inside = re.search(r'<form method="post" action="/data/add"[^>]*>(.*?)</form>', page, re.S)[1]
    found = []
    for tag in re.findall(r"<input[^>]*>", inside):
        value = dict(re.findall(r'(?<=\s)(\w+)="([^"]*)"', tag))
        if value["name"] != "form_key" and ('type="checkbox"' not in tag or " checked" in tag):
            found.append((html.unescape(value["name"]), html.unescape(value.get("value", "on"))))
    for name, options in re.findall(r'<select[^>]*?\bname="([^"]*)"[^>]*>(.*?)</select>', inside, re.S):
        listed = re.findall(r"<option([^>]*)>([^<]*)<", options)
        attributes, text = next((one for one in listed if " selected" in one[0]), listed[0])
        said = re.search(r'value="([^"]*)"', attributes)
        value = said[1] if said else text
        found.append((html.unescape(name), html.unescape(value)))
    fields = {}
    for name, value in found:
        fields.setdefault(name, []).append(value)
    return fields


def looked_at(browser, folder, name="Export 2024.csv", **more):
    answer = browser.post("/data/draft", {"file": str(folder / name), **more})
    assert answer.status_code == 200
    return answer.text


def test_an_export_becomes_a_data_set_and_is_checked(browser, folder, catalog):
    before = catalog.read_text()
    assert "Export 2024.csv" in browser.get("/data/add").text
    page = looked_at(browser, folder)
    assert catalog.read_text() == before
    assert f"<strong>{ROWS}</strong> rows were looked at" in page
    fields = filled_in(page)
    assert (fields["name"], fields["key"]) == (["export_2024"], ["Kärte-Nr"])
    assert fields["missing:Alter"] == ["?"]
    assert "Kärte-Nr" not in fields["keep"]  # numbers of persons are for a person to choose
    fields["keep"].append("Kärte-Nr")
    fields |= {"name": ["cards"], "lower:integer:Alter": ["0"], "upper:integer:Alter": ["120"]}
    fields["stands:category:Geschlecht"] = ["on"]
    added = browser.post("/data/add", fields)
    assert (added.status_code, added.headers["location"]) == (303, "/data?added=cards")
    assert catalog.read_text().startswith(before.rstrip())
    declared = load_catalog(catalog).dataset("cards")
    assert (declared.columns["Alter"].schema.lower, declared.columns["Alter"].schema.upper) == (0, 120)
    stands = {name: column.is_confirmed for name, column in declared.columns.items()}
    assert stands == {"Kärte-Nr": True, "Alter": True, "Gewicht": False, "Geschlecht": True}
    page = browser.get("/data?added=cards").text
    assert "cards is as declared: 39 rows" in page
    assert "Not confirmed: Gewicht" in page


def edited(browser, name):
    return browser.get(f"/data/add?edit={name}").text


def test_proposals_are_confirmed_where_they_are_edited(browser, folder, catalog):
    browser.post("/data/add", filled_in(looked_at(browser, folder)))
    name = "export_2024"
    assert not load_catalog(catalog).dataset(name).columns["Gewicht"].is_confirmed
    assert "Not confirmed: Alter, Gewicht, Geschlecht" in browser.get("/data").text
    fields = filled_in(edited(browser, name))
    assert "stands:decimal:Gewicht" not in fields
    stale = {
        **fields,
        "was:Gewicht": ['["decimal", "0.0:99.0", "", "", ""]'],
        "stands:decimal:Gewicht": ["on"],
    }
    page = browser.post("/data/add", stale).text
    assert "Nothing was saved yet" in page
    assert not load_catalog(catalog).dataset(name).columns["Gewicht"].is_confirmed
    fields |= {"lower:decimal:Gewicht": ["0.0"], "upper:decimal:Gewicht": ["80.0"]}
    assert browser.post("/data/add", fields).status_code == 303
    page = browser.get(f"/data?added={name}").text
    assert "All faults of export_2024" in page  # 99,5 is above the bound that was typed
    assert "80.5" in page or "80,5" in page
    assert load_catalog(catalog).dataset(name).columns["Gewicht"].is_confirmed


def test_an_edit_changes_what_it_names_and_keeps_the_rest(browser, folder, catalog):
    fields = filled_in(looked_at(browser, folder))
    fields |= {"name": ["cards"], "lower:decimal:Gewicht": ["20"], "upper:decimal:Gewicht": ["250"]}
    assert browser.post("/data/add", fields).status_code == 303
    text = catalog.read_text().replace('population = "cards"\n', "")
    text = text.replace("[datasets.cards]\n", "[datasets.cards]  # mine\nmaximum_rows = 500\n")
    catalog.write_text(text)
    fields = filled_in(edited(browser, "cards"))
    assert fields["upper:decimal:Gewicht"] == ["250.0"]
    fields["keep"].remove("Geschlecht")
    fields |= {"unit:Gewicht": ["kg"], "person": ["Kärte-Nr"], "key": ["-"], "missing:Gewicht": ["999"]}
    page = browser.post("/data/add", fields)
    assert page.status_code == 303
    changed = catalog.read_text()
    assert "[datasets.cards]  # mine\nmaximum_rows = 500" in changed
    declared = load_catalog(catalog).dataset("cards")
    assert (declared.person, declared.key) == (("Kärte-Nr",), ())
    assert [*declared.columns] == ["Alter", "Gewicht"]
    weight = declared.columns["Gewicht"]
    assert (weight.schema.unit, weight.tokens, weight.is_confirmed) == ("kg", ("999",), True)
    assert (weight.schema.lower, weight.schema.upper) == (200, 2500)
    assert not declared.columns["Alter"].is_confirmed
    fields = filled_in(edited(browser, "cards"))
    fields["keep"].append("Geschlecht")
    assert browser.post("/data/add", fields).status_code == 303
    assert "Geschlecht" in load_catalog(catalog).dataset("cards").columns


def test_a_file_is_replaced_by_another_of_the_folder_only(browser, folder, catalog, tmp_path):
    browser.post("/data/add", filled_in(looked_at(browser, folder)) | {"name": ["cards"]})
    (folder / "Export 2025.csv").write_bytes(TABLE.replace("Karte", "Kärte-Nr").encode("cp1252"))
    (tmp_path / "other.csv").write_text(TABLE)
    fields = filled_in(edited(browser, "cards"))
    assert fields["file"] == [str(folder / "Export 2024.csv")]
    before = catalog.read_text()
    page = browser.post("/data/add", fields | {"file": [str(tmp_path / "other.csv")]}).text
    assert "not offered" in page
    assert catalog.read_text() == before
    assert browser.post("/data/add", fields | {"file": [str(folder / "Export 2025.csv")]}).status_code == 303
    assert load_catalog(catalog).dataset("cards").source == folder / "Export 2025.csv"


def test_a_data_set_is_removed_after_one_question(browser, folder, catalog):
    before = load_catalog(catalog).datasets
    browser.post("/data/add", filled_in(looked_at(browser, folder)) | {"name": ["cards"]})
    page = browser.get("/data/remove?dataset=cards").text
    assert "No rule of the policy names it" in page
    assert "cards" in load_catalog(catalog).datasets
    assert browser.post("/data/remove", {"dataset": "cards"}).status_code == 303
    assert load_catalog(catalog).datasets.keys() == before.keys()
    assert (folder / "Export 2024.csv").exists()
    assert "has no data set" in browser.post("/data/remove", {"dataset": "cards"}).text


def test_a_code_for_missing_is_offered_and_taken_by_a_tick(browser, folder, catalog):
    odd = HEAD + "".join(f"{row};{999 if row in (3, 9) else 20 + row};60,5;m\n" for row in range(ROWS))
    (folder / "codes.csv").write_text(odd)
    page = looked_at(browser, folder, "codes.csv")
    assert "999 occurs 2 times; the next largest is 59: a code for missing?" in page
    fields = filled_in(page)
    assert fields["upper:integer:Alter"] == ["1000"]
    page = browser.post("/data/add", fields | {"code:Alter": ["999"], "unit:Alter": ["years"]}).text
    assert "Your changes were applied" in page  # the bounds that nobody typed have followed
    fields = filled_in(page)
    assert (fields["missing:Alter"], fields["upper:integer:Alter"]) == (["999"], ["100"])
    assert fields["unit:Alter"] == ["years"]
    assert browser.post("/data/add", fields).status_code == 303
    assert load_catalog(catalog).dataset("codes").columns["Alter"].tokens == ("999",)
    assert "Alter: 2 missing" in browser.get("/data?added=codes").text


def test_cells_below_detection_are_read_as_half_the_limit(browser, folder, catalog):
    rows = "".join(f"{row};{'<0,2' if row < 4 else f'0,{3 + row % 5}'}\n" for row in range(ROWS))
    (folder / "labs.csv").write_text("Karte;Kreatinin (mg/dl)\n" + rows)
    page = looked_at(browser, folder, "labs.csv")
    assert "missing: means come out too high" in page
    fields = filled_in(page) | {"below:Kreatinin (mg/dl)": ["half"]}
    fields |= {"lower:decimal:Kreatinin (mg/dl)": ["0"], "upper:decimal:Kreatinin (mg/dl)": ["20"]}
    assert browser.post("/data/add", fields).status_code == 303
    column = load_catalog(catalog).dataset("labs").columns["Kreatinin (mg/dl)"]
    assert (column.writing.below_limit, column.tokens, column.schema.unit) == ("half", (), "mg/dl")
    assert f"labs is as declared: {ROWS} rows" in browser.get("/data?added=labs").text


def test_a_type_that_does_not_fit_is_said_in_its_row(browser, folder, catalog):
    fields = filled_in(looked_at(browser, folder))
    page = browser.post("/data/add", fields | {"type:Geschlecht": ["integer"]}).text
    assert "its cells do not read as integer" in page
    assert "Nothing was saved yet" in page
    assert filled_in(page)["type:Geschlecht"] == ["category"]


def test_bounds_that_do_not_fit_are_said_and_nothing_is_written(browser, folder, catalog):
    before = catalog.read_text()
    fields = filled_in(looked_at(browser, folder))
    for lower in ("abc", "", "130", "1:2"):
        fields |= {"lower:integer:Alter": [lower], "upper:integer:Alter": ["120"]}
        page = browser.post("/data/add", fields).text
        assert (
            "reversed: 130 is above 120" if lower == "130" else "is not a valid bound of type integer"
        ) in html.unescape(page)
        assert filled_in(page)["lower:integer:Alter"] == [lower]
        wrong = re.findall(r'name="((?:lower|upper):[^"]*)"[^>]*aria-invalid', page)
        assert wrong == [f"{part}:integer:Alter" for part in ("lower", "upper")[: 1 + (lower == "130")]]
        cell = page.split(f'name="{wrong[-1]}"')[1].split("</td>")[0]
        assert 'class="error"' in cell  # beside it
    assert catalog.read_text() == before


def test_a_file_that_changes_after_it_was_shown_is_shown_again(browser, folder, catalog):
    before = catalog.read_text()
    fields = filled_in(looked_at(browser, folder))
    with (folder / "Export 2024.csv").open("a") as file:
        file.write("9999;77;300,5;m\n")
    page = browser.post("/data/add", fields)
    assert (page.status_code, "Nothing was saved yet" in page.text) == (200, True)
    assert "41</strong> rows" in page.text
    assert catalog.read_text() == before
    for shown in ([""], ["decimal"], []):
        assert browser.post("/data/add", {**fields, "was:Gewicht": shown}).status_code == 200
    assert catalog.read_text() == before


def test_columns_can_be_left_out_and_read_as_another_type(browser, folder, catalog):
    fields = filled_in(looked_at(browser, folder))
    fields["keep"].remove("Gewicht")
    fields |= {"type:Alter": ["text"], "key": ["-"]}
    page = browser.post("/data/draft", fields).text
    fields = filled_in(page)
    fields["keep"] = sorted({*fields["keep"], "Alter"})
    assert (fields["type:Alter"], fields["key"]) == (["text"], ["-"])
    assert "Gewicht" not in fields["keep"]
    assert browser.post("/data/add", fields).status_code == 303
    declared = load_catalog(catalog).dataset("export_2024")
    assert declared.columns["Alter"].type == "text"
    assert "Gewicht" not in declared.columns
    assert declared.key == ()


def test_only_files_of_the_folders_can_be_named(browser, party, folder, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("password,n\nhunter2,1\n")
    (folder / "link.csv").symlink_to(secret)
    (folder / "linked").symlink_to(tmp_path)
    (folder / ".hidden.csv").write_text(TABLE)
    (folder / "key.pem").write_text(TABLE)
    deep = folder.joinpath(*"abcde"[: MAX_DEPTH + 1])
    deep.mkdir(parents=True)
    (deep / "deep.csv").write_text(TABLE)
    os.mkfifo(folder / "pipe.csv")
    page = browser.get("/data/add").text
    for name in ("link", "hidden", "key.pem", "deep", "pipe"):
        assert f">{name}" not in page.replace(".csv", "").replace("/", ">")
    wrong = [
        "",
        "/etc/passwd",
        str(secret),
        str(folder / ".." / "secret.csv"),
        str(folder / "link.csv"),
        str(folder / "linked" / "secret.csv"),
        str(folder / ".hidden.csv"),
        str(folder / "key.pem"),
        str(folder / "pipe.csv"),
        f"sqlite:///{tmp_path}/a.db",
        str(party.config_path.parent / "keys"),
    ]
    for path in wrong:
        for action in ("/data/draft", "/data/add"):
            answer = browser.post(action, {"file": path})
            assert "This file is not offered here" in answer.text, path
            assert "hunter2" not in answer.text
    assert "--data FOLDER" in Browser(party).get("/data/add").text


def test_cells_and_names_of_a_file_are_escaped(browser, folder):
    rows = "".join(f"<b>x</b>,{row}\n" for row in range(30))
    (folder / "evil <img src=x>.csv").write_text("<script>alert(1)</script>,\x1b[2Jn\n" + rows)
    page = browser.post("/data/draft", {"file": str(folder / "evil <img src=x>.csv")}).text
    for raw in ("<b>x", "<img", "<script>", "\x1b"):
        assert raw not in page
    assert "&lt;script&gt;alert(1)" in page


def test_sources_that_cannot_be_drafted_are_pages_with_a_problem(browser, folder, catalog):
    (folder / "empty.csv").write_text("")
    (folder / "wide.csv").write_text(
        ",".join(f"c{n}" for n in range(MAX_COLUMNS + 1)) + "\n" + ",".join(["1"] * (MAX_COLUMNS + 1)) + "\n"
    )
    (folder / "broken.xlsx").write_bytes(b"PK nothing")
    for name in ("empty.csv", "wide.csv", "broken.xlsx"):
        page = looked_at(browser, folder, name)
        assert 'role="alert"' in page, name
        assert "Add it to the catalog" not in page
    taken = looked_at(browser, folder, name="Export 2024.csv")
    assert browser.post("/data/add", filled_in(taken)).status_code == 303
    assert "has a data set" in looked_at(browser, folder)


def test_without_decide_no_file_is_looked_at(party, folder):
    looks = Browser(party, decides=False, folders=(folder,))
    assert "Export 2024" not in looks.get("/data/add").text
    for path in ("/data/draft", "/data/add", "/data/remove"):
        answer = looks.post(path, {"file": str(folder / "Export 2024.csv")})
        assert (answer.status_code, "--decide" in answer.text) == (403, True)


LABELS = ("rot, blau", 'mit "Q"', "a;b", "'k")


def test_labels_with_commas_and_quotation_marks_stay_whole_when_others_are_added(browser, folder, catalog):
    rows = "".join(f"{1000 + row}|{LABELS[row % len(LABELS)]}|{row}\n" for row in range(ROWS))
    (folder / "colours.csv").write_text(f"Karte|Farbe, (x)|Alter\n{rows}")
    fields = filled_in(looked_at(browser, folder, "colours.csv"))
    field = "category:Farbe, (x)"
    assert fields["type:Farbe, (x)"] == ["category"]
    fields["keep"] = ["Farbe, (x)", "Alter"]
    fields[f"values:{field}"] = [fields[f"values:{field}"][0] + ', "neu, alt"']
    added = browser.post("/data/add", fields)
    assert added.status_code == 303
    declared = load_catalog(catalog).dataset("colours").columns["Farbe, (x)"].schema.categories
    assert set(declared) == {*LABELS, "neu, alt"}


def test_quotation_marks_that_do_not_close_are_said_in_the_row(browser, folder, catalog):
    fields = filled_in(looked_at(browser, folder))
    before = catalog.read_text()
    answer = browser.post("/data/add", fields | {"values:category:Geschlecht": ['m,"w, x']})
    assert answer.status_code == 200
    assert "do not close" in html.unescape(answer.text)
    assert catalog.read_text() == before


def test_an_edit_without_a_change_leaves_types_and_what_no_form_shows(browser, folder, catalog):
    rows = "".join(f"{1000 + row},{row},{row % 3}\n" for row in range(ROWS))
    (folder / "mixed.csv").write_text(f"Karte,Geheim,Stufe\n{rows}")
    typed = {"type": "integer", "lower": 0, "upper": 100000}
    columns = {"Karte": typed, "Geheim": {"type": "ciphertext"}, "Stufe": typed}
    mixed = {"source": str(folder / "mixed.csv"), "person": "Karte", "columns": columns}
    catalog.write_text(f"{catalog.read_text()}\n{tomli_w.dumps({'datasets': {'mixed': mixed}})}")
    before = load_catalog(catalog).dataset("mixed")
    fields = filled_in(edited(browser, "mixed"))
    assert "Geheim" not in fields["column"]
    saved = browser.post("/data/add", fields)
    assert (saved.status_code, load_catalog(catalog).dataset("mixed")) == (303, before)


def test_a_wide_file_is_ticked_at_once(browser, folder, catalog):
    names = [f"Laborwert {number} (mmol/l)" for number in range(MAX_COLUMNS)]
    rows = [";".join(f"{number % 7},{row}" for number in range(MAX_COLUMNS)) for row in range(8)]
    (folder / "breit.csv").write_text("\n".join([";".join(names), *rows]))
    fields = filled_in(looked_at(browser, folder, "breit.csv"))
    assert len(fields["keep"]) == MAX_COLUMNS
    none = browser.post("/data/draft", {**fields, "tick": "none"}).text
    emptied = filled_in(none)
    assert "keep" not in emptied
    assert emptied["unit:Laborwert 299 (mmol/l)"] == ["mmol/l"]
    assert len(filled_in(browser.post("/data/draft", {**emptied, "tick": "all"}).text)["keep"]) == MAX_COLUMNS
    chosen = {
        **emptied,
        "keep": names[7],
        f"lower:decimal:{names[7]}": "0",
        f"upper:decimal:{names[7]}": "50",
    }
    assert browser.post("/data/add", chosen).status_code == 303
    assert list(load_catalog(catalog).dataset("breit").columns) == [names[7]]


def test_a_sheet_with_merged_headers_becomes_a_data_set(browser, folder, catalog):
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    sheet = made.active
    for row in (
        ["Klinik Nord", None, None, None],
        ["Patient", None, "Aufnahme", "Entlassung"],
        ["Nr", "Alter", "Datum", "Datum"],
        *([n, 40 + n, f"{n:02}.01.2026", f"{n + 3:02}.01.2026"] for n in range(1, 20)),
        ["Summe", None, None, None],
    ):
        sheet.append(row)
    sheet.merge_cells("A2:B2")
    made.save(folder / "merged.xlsx")
    page = looked_at(browser, folder, "merged.xlsx")
    assert "Rows at the end that begin with “Summe” are left out" in page
    assert "(2, 3)" in page
    fields = filled_in(page)
    assert fields["column"] == ["Nr", "Alter", "Aufnahme Datum", "Entlassung Datum"]
    wrong = browser.post("/data/draft", {**fields, "header": "x"}).text
    assert "is not a row from 1" in html.unescape(wrong)
    other = filled_in(browser.post("/data/draft", {"file": fields["file"], "header": "3"}).text)
    assert other["column"] == ["Nr", "Alter"]
    bounds = {"keep": "Alter", "lower:integer:Alter": "0", "upper:integer:Alter": "120"}
    assert browser.post("/data/add", {**fields, **bounds}).status_code == 303
    dataset = load_catalog(catalog).dataset("merged")
    assert (dataset.header, list(dataset.columns), dataset.footer) == ((2, 3), ["Alter"], ("Summe",))
    assert filled_in(edited(browser, "merged"))["header"] == ["2, 3"]  # an edit keeps it


def test_a_column_that_is_kept_never_goes_without_a_word(browser, folder, catalog):
    """Its cells below detection are to be halved, and are written in a way in which nothing is a number."""
    path = folder / "Export 2024.csv"
    path.write_text(
        "Alter;Dosis\n" + "".join(f"{20 + n};{n},5\n" for n in range(20)) + "60;<0,2\n61;<0.1.2\n"
    )
    fields = filled_in(looked_at(browser, folder))
    assert {"Alter", "Dosis"} <= {*fields["keep"]}
    chosen = {**fields, "below:Dosis": "half", "missing:Dosis": "", "keep": ["Dosis"]}
    page = html.unescape(browser.post("/data/add", chosen).text)
    assert "Dosis" in filled_in(browser.post("/data/draft", chosen).text)["column"]
    assert "Nothing was saved yet" in page
    assert "Dosis" not in catalog.read_text()


@pytest.mark.parametrize(
    ("typed", "bound", "said"),
    [
        ("20,5", 205, ""),
        ("+0,125", None, "confirmed"),
        ("1,000", None, "is not a valid bound of type decimal. Write a number, such as 20.25"),
        ("20,5 kg", None, "is not a valid bound of type decimal"),
    ],
)
def test_a_bound_may_have_a_decimal_comma_and_a_fault_is_told_in_words_of_the_page(
    browser, folder, catalog, typed, bound, said
):
    fields = filled_in(looked_at(browser, folder))
    fields |= {"lower:decimal:Gewicht": [typed], "upper:decimal:Gewicht": ["250"], "name": ["cards"]}
    page = browser.post("/data/add", fields)
    if bound is not None:
        assert load_catalog(catalog).dataset("cards").columns["Gewicht"].schema.lower == bound
    else:
        assert page.status_code == 200
        shown = html.unescape(page.text)
        assert said in shown or "digits after the point" in shown
        assert "Gewicht=" not in shown
