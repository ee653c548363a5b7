"""An export in an encoding that nothing tells surely: said in plain view, and mended on the page."""

from __future__ import annotations

import html
import re

import pytest

from parties.catalog.declarations.declaration import load_catalog
from tests.parties.dashboard.browsing import Browser
from tests.parties.dashboard.test_adding import edited, filled_in, looked_at
from tests.parties.dashboard.test_two_exports import added
from tests.support.exports import COUNT, polish

NAME = "pacjenci.csv"
CHOSEN = ["Wiek [lata]", "Płeć (K/M)", "Masa ciała [kg]", "Pali?", "Koszt pobytu"]


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "exports"
    found.mkdir()
    (found / NAME).write_bytes(polish(1))
    return found


@pytest.fixture
def browser(party, folder):
    return Browser(party, folders=(folder,))


@pytest.fixture
def catalog(party):
    return party.config_path.parent / "catalog.toml"


def wrongly(text):
    """A text of the file as it is read in the wrong encoding."""
    return text.encode("cp1250").decode("cp1252")


def test_an_encoding_in_doubt_is_said_in_plain_view_in_words_of_the_page(browser, folder):
    page = html.unescape(looked_at(browser, folder, NAME))
    assert 'class="verdict bad" role="alert">The file is read as cp1252, which is a guess' in page
    assert "under “Encoding” below" in page
    assert "xa0" not in page.split('class="sample"')[1].split("</table>")[0]  # the blank in costs
    assert "<details open><summary>How the file is written" in page


def test_what_names_persons_or_their_numbers_is_not_ticked_in_polish(browser, folder):
    kept = filled_in(looked_at(browser, folder, NAME))["keep"]
    assert kept == [wrongly(name) for name in CHOSEN]


def test_the_right_encoding_loses_no_tick_and_nothing_typed(browser, folder, catalog):
    fields = filled_in(looked_at(browser, folder, NAME))
    weight = wrongly("Masa ciała [kg]")
    assert fields["unit:Koszt pobytu"] == [wrongly("zł")]
    fields |= {f"lower:decimal:{weight}": ["20"], f"upper:decimal:{weight}": ["250"]}
    page = html.unescape(browser.post("/data/draft", fields | {"encoding": ["cp1250"]}).text)
    assert "which is a guess" not in page
    assert "The file is read as cp1250 now; what you ticked and typed stays." in page
    assert f"<strong>{COUNT}</strong> rows were looked at" in page  # the sum below is none
    fields = filled_in(page)
    assert fields["keep"] == CHOSEN
    assert (fields["unit:Koszt pobytu"], fields["unit:Masa ciała [kg]"]) == (["zł"], ["kg"])
    assert fields["upper:decimal:Masa ciała [kg]"] == ["250"]
    assert fields["values:category:Pali?"] == ["nie,rzuciła,tak"]
    added(browser, fields | {"name": ["pacjenci"]}, "pacjenci")
    dataset = load_catalog(catalog).dataset("pacjenci")
    assert (dataset.dialect.encoding, [*dataset.columns]) == ("cp1250", CHOSEN)
    assert dataset.columns["Koszt pobytu"].schema.unit == "zł"
    assert dataset.columns["Masa ciała [kg]"].is_confirmed


def test_what_is_read_in_another_encoding_is_shown_before_it_is_written(browser, folder, catalog):
    fields, before = filled_in(looked_at(browser, folder, NAME)), catalog.read_text()
    assert browser.post("/data/add", fields | {"encoding": ["cp1250"]}).status_code == 200
    assert catalog.read_text() == before


def test_a_unit_that_was_typed_stays_when_the_file_is_read_otherwise(browser, folder):
    fields = filled_in(looked_at(browser, folder, NAME)) | {"unit:Wiek [lata]": ["a"]}
    fields = filled_in(browser.post("/data/draft", fields).text) | {"encoding": ["cp1250"]}
    assert filled_in(browser.post("/data/draft", fields).text)["unit:Wiek [lata]"] == ["a"]


def test_columns_that_came_and_went_are_named(browser, folder):
    (folder / NAME).write_text("a;b\nc;d\n" + "".join(f"{n};{n % 7}\n" for n in range(40)))
    fields = filled_in(looked_at(browser, folder, NAME)) | {"header": ["1"]}
    fields = filled_in(browser.post("/data/draft", fields).text)
    before = [*fields["column"]]
    assert before == ["a", "b"]
    page = html.unescape(browser.post("/data/add", fields | {"header": ["2"]}).text)
    assert "Nothing was saved yet" in page
    assert "c: A column that was not there before" in page
    assert "a: No longer a column of the file" in page
    assert filled_in(page)["keep"] == ["c", "d"]


def saved(browser, fields, name):
    """Saves an edit; what has changed is shown first."""
    page = browser.post("/data/add", {"edit": [name], **fields})
    if page.status_code == 200:
        page = browser.post("/data/add", filled_in(page.text))
    assert page.status_code == 303, html.unescape(page.text)


def test_an_edit_names_the_right_encoding_of_what_was_saved_in_a_wrong_one(browser, folder, catalog):
    fields = filled_in(looked_at(browser, folder, NAME)) | {"name": ["a"]}
    weight = wrongly("Masa ciała [kg]")
    fields |= {f"lower:decimal:{weight}": ["20"], f"upper:decimal:{weight}": ["250"], "key": ["-"]}
    added(browser, fields, "a")
    before = load_catalog(catalog).dataset("a")
    assert weight in before.columns
    page = edited(browser, "a")
    assert "How the file is written" in page
    saved(browser, filled_in(page) | {"encoding": ["cp1250"], "population": ["patients"]}, "a")
    declared = load_catalog(catalog).dataset("a")
    assert {*declared.columns} == {*CHOSEN}
    assert (declared.dialect.encoding, declared.population) == ("cp1250", "patients")
    mended = declared.columns["Masa ciała [kg]"]
    assert (mended.is_confirmed, mended.schema.upper, mended.schema.unit) == (True, 2500, "kg")
    assert declared.columns["Koszt pobytu"].schema.unit == "zł"
    assert declared.columns["Koszt pobytu"].writing.suffix == "zł"
    assert declared.header == before.header
    assert "a is as declared" in browser.get("/data?added=a").text


def test_an_edit_leaves_out_a_line_below_and_says_what_goes(browser, folder, catalog):
    fields = filled_in(looked_at(browser, folder, NAME, encoding="cp1250")) | {"name": ["a"], "footer": ["-"]}
    added(browser, fields, "a")
    assert load_catalog(catalog).dataset("a").footer == ()
    assert "The last row begins with “Razem”" in edited(browser, "a")
    saved(browser, filled_in(edited(browser, "a")) | {"footer": ["Razem"]}, "a")
    assert load_catalog(catalog).dataset("a").footer == ("Razem",)
    (folder / NAME).write_bytes(polish(2).replace(b"Pali?", b"Pali"))
    page = html.unescape(edited(browser, "a"))
    assert "Pali?: No longer a column of the file" in page
    saved(browser, filled_in(page), "a")
    assert "Pali?" not in load_catalog(catalog).dataset("a").columns


def test_an_edit_without_a_change_writes_nothing_about_how_the_file_is_read(browser, folder, catalog):
    added(browser, filled_in(looked_at(browser, folder, NAME, encoding="cp1250")) | {"name": ["a"]}, "a")
    before = load_catalog(catalog).dataset("a")
    saved(browser, filled_in(edited(browser, "a")), "a")
    assert load_catalog(catalog).dataset("a") == before


def told(page):
    """What stands beside fields that are wrong, by their names."""
    return dict(re.findall(r'id="wrong-(\w+)">(.*?)</span>', html.unescape(page.text)))


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("encoding", "cp99999", "'cp99999' is not a known encoding. For example: \"cp1252\""),
        ("encoding", "utf-8", f"{NAME} is not in UTF-8. Write cp1252 under “Encoding”"),
        ("header", "first", "'first' is not a row"),
        ("name", "numbers", "The catalog has a data set 'numbers' already"),
    ],
)
def test_a_field_by_which_the_file_cannot_be_read_is_told_beside_it_and_nothing_is_lost(
    browser, folder, catalog, field, value, said
):
    fields, before = filled_in(looked_at(browser, folder, NAME)), catalog.read_text()
    weight = wrongly("Masa ciała [kg]")
    fields |= {f"lower:decimal:{weight}": ["20"], f"upper:decimal:{weight}": ["250"], field: [value]}
    page = browser.post("/data/add", fields)
    assert page.status_code == 200
    assert list(told(page)) == [field]
    assert said in told(page)[field]
    assert f'aria-describedby="wrong-{field}"' in page.text
    assert "<details open><summary>How the file is written" in page.text
    again = filled_in(page.text)
    found = again[field], again[f"upper:decimal:{weight}"], again["keep"]
    assert found == ([value], ["250"], fields["keep"])
    assert catalog.read_text() == before
    right = {"name": "a"}.get(field, "")
    page = browser.post("/data/draft", again | {field: [right]})
    assert (told(page), filled_in(page.text)["keep"]) == ({}, fields["keep"])


def test_of_several_changes_each_that_is_wrong_is_told_and_the_right_ones_hold(browser, folder):
    fields = filled_in(looked_at(browser, folder, NAME)) | {"name": ["a"]}
    changed = {"encoding": ["cp1250"], "header": ["x"], "date_format": ["%Q"]}
    page = browser.post("/data/draft", fields | changed)
    assert set(told(page)) == {"header", "date_format"}
    assert filled_in(page.text)["keep"] == CHOSEN  # in the right encoding


def test_an_emptied_encoding_is_the_one_that_the_file_shows_which_is_said_before_it_is_saved(
    browser, folder, catalog
):
    added(browser, filled_in(looked_at(browser, folder, NAME, encoding="cp1250")) | {"name": ["a"]}, "a")
    before, fields = catalog.read_text(), filled_in(edited(browser, "a"))
    page = browser.post("/data/add", {"edit": ["a"], **fields, "encoding": [""]})
    assert page.status_code == 200
    assert "The file is read as cp1252 now; what you ticked and typed stays." in page.text
    assert "which is a guess" in page.text
    assert filled_in(page.text)["keep"] == [*map(wrongly, CHOSEN)]
    assert catalog.read_text() == before
    assert browser.post("/data/add", filled_in(page.text)).status_code == 303
    found = load_catalog(catalog).dataset("a")
    assert (found.dialect.encoding, len(found.columns)) == ("cp1252", len(CHOSEN))
