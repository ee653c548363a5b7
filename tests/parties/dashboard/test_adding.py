"""A data set is added and confirmed in the dashboard: what was shown is written, and nothing else is read."""

from __future__ import annotations

import html
import os
import re

import pytest

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
    inside = re.search(r'<form method="post" action="/data/add">(.*?)</form>', page, re.S)[1]
    found = []
    for tag in re.findall(r"<input[^>]*>", inside):
        value = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if value["name"] != "form_key" and ('type="checkbox"' not in tag or " checked" in tag):
            found.append((html.unescape(value["name"]), html.unescape(value.get("value", "on"))))
    for name, options in re.findall(r'<select[^>]* name="([^"]*)">(.*?)</select>', inside, re.S):
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
    assert "Missing: ?; such a cell leaves its row out" in page
    fields |= {"name": ["cards"], "lower:integer:Alter": ["0"], "upper:integer:Alter": ["120"]}
    again = browser.post("/data/add", fields)  # another name is another entry: it is shown first
    assert "nothing was added yet" in again.text
    assert catalog.read_text() == before
    fields = filled_in(again.text)
    assert fields["upper:integer:Alter"] == ["120"]  # what was typed has stayed
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
    assert "Confirm what is ticked or changed" in page


def test_proposals_are_confirmed_as_they_were_shown(browser, folder, catalog):
    browser.post("/data/add", filled_in(looked_at(browser, folder)))
    name = "export_2024"
    waiting = {
        one: column.is_confirmed for one, column in load_catalog(catalog).dataset(name).columns.items()
    }
    assert not waiting["Gewicht"]
    sent = {"dataset": name, "was:decimal:Gewicht": "0.0:99.0", "stands:decimal:Gewicht": "on"}
    stale = browser.post("/data/confirm", sent)
    assert (stale.status_code, "has changed since it was shown" in stale.text) == (409, True)
    assert "Nothing was ticked" in browser.post("/data/confirm", {"dataset": name}).text
    sent |= {"was:decimal:Gewicht": "0.0:100.0"}
    sent |= {"lower:decimal:Gewicht": "0.0", "upper:decimal:Gewicht": "80.0"}
    assert browser.post("/data/confirm", sent).status_code == 303
    page = browser.get(f"/data?added={name}").text
    assert "All faults of export_2024" in page  # 99,5 is above the bound that was typed
    assert "80.5" in page or "80,5" in page
    assert load_catalog(catalog).dataset(name).columns["Gewicht"].is_confirmed


def test_bounds_that_do_not_fit_are_said_and_nothing_is_written(browser, folder, catalog):
    before = catalog.read_text()
    fields = filled_in(looked_at(browser, folder))
    for lower in ("abc", "", "130", "1:2"):
        fields |= {"lower:integer:Alter": [lower], "upper:integer:Alter": ["120"]}
        page = browser.post("/data/add", fields).text
        assert "does not give bounds of column" in page
        assert filled_in(page)["lower:integer:Alter"] == [lower]
    assert catalog.read_text() == before


def test_a_file_that_changes_after_it_was_shown_is_shown_again(browser, folder, catalog):
    before = catalog.read_text()
    fields = filled_in(looked_at(browser, folder))
    with (folder / "Export 2024.csv").open("a") as file:
        file.write("9999;77;300,5;m\n")
    page = browser.post("/data/add", fields)
    assert (page.status_code, "nothing was added yet" in page.text) == (200, True)
    assert "41</strong> rows" in page.text
    assert catalog.read_text() == before
    for shown in ([""], ["0" * 64], []):
        assert browser.post("/data/add", {**fields, "shown": shown}).status_code == 200
    assert catalog.read_text() == before


def test_columns_can_be_left_out_and_read_as_another_type(browser, folder, catalog):
    fields = filled_in(looked_at(browser, folder))
    fields["keep"].remove("Gewicht")
    fields |= {"type:Alter": ["text"], "key": ["-"]}
    page = browser.post("/data/draft", fields).text
    fields = filled_in(page)
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
    for path in ("/data/draft", "/data/add", "/data/confirm"):
        answer = looks.post(path, {"file": str(folder / "Export 2024.csv")})
        assert (answer.status_code, "--decide" in answer.text) == (403, True)
