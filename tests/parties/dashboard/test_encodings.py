"""An export in an encoding that nothing tells surely: said in plain view, and mended on the page."""

from __future__ import annotations

import html

import pytest

from parties.catalog.declarations.declaration import load_catalog
from tests.parties.dashboard.browsing import Browser
from tests.parties.dashboard.test_adding import filled_in, looked_at
from tests.parties.dashboard.test_two_exports import added
from tests.support.exports import polish

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
