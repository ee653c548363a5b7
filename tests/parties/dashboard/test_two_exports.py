"""Two exports that nobody built for become data sets on the page, row for row, without an editor."""

from __future__ import annotations

import csv
import html
import io

import numpy as np
import pytest

from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading.loading import load
from tests.parties.dashboard.browsing import Browser
from tests.parties.dashboard.test_adding import edited, filled_in, looked_at
from tests.support.exports import COUNT, dutch, french


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "exports"
    found.mkdir()
    return found


@pytest.fixture
def browser(party, folder):
    return Browser(party, folders=(folder,))


@pytest.fixture
def catalog(party):
    return party.config_path.parent / "catalog.toml"


def added(browser, fields, name):
    """Sends the form until it is taken; what has changed is shown in between and sent as it is shown."""
    for _ in range(2):
        answer = browser.post("/data/add", fields)
        if answer.status_code == 303:
            break
        assert "Your changes were applied" in answer.text
        fields = filled_in(answer.text) | {
            key: value for key, value in fields.items() if key.startswith("stands:")
        }
    assert (answer.status_code, answer.headers["location"]) == (303, f"/data?added={name}")
    return browser.get(f"/data?added={name}").text


def test_an_export_of_a_french_hospital(browser, folder, catalog):
    text = french(1)
    (folder / "extraction.csv").write_bytes(text)
    page = html.unescape(looked_at(browser, folder, "extraction.csv"))
    assert f"<strong>{COUNT}</strong> rows were looked at" in page
    assert "Rows 3, 4 name the columns" in page
    assert "NON, Non, non; Oui, oui differ in case only: make them one label?" in page
    assert "Cells such as '<LOQ' are below a limit that they do not name" in page
    fields = filled_in(looked_at(browser, folder, "extraction.csv"))
    assert fields["person"] == ["N° patient"]
    assert {"N° patient", "Nom"}.isdisjoint(fields["keep"])
    assert [fields[f"missing:{name}"] for name in ("Âge", "Fumeur")] == [["NSP"], ["NSP"]]
    assert (fields["unit:Coût"], fields["unit:CRP (mg/L)"]) == (["€"], ["mg/L"])
    fields |= {"name": ["patients"], "case:Fumeur": ["on"], "stands:category:Fumeur": ["on"]}
    fields |= {"lower:integer:Âge": ["0"], "upper:integer:Âge": ["120"]}
    assert "patients is as declared" in added(browser, fields, "patients")
    dataset = load_catalog(catalog).dataset("patients")
    smoker = dataset.columns["Fumeur"]
    assert (smoker.schema.categories, smoker.ignores_case) == (("ex-fumeur", "non", "oui"), True)
    assert smoker.is_confirmed
    rows = [*csv.reader(io.StringIO(text.decode("cp1252")), delimiter=";")][4 : 4 + COUNT]
    kept = [row for row in rows if "NSP" not in (row[5], row[9])]
    held = load(dataset, ["Âge", "Fumeur", "Date d'entrée"])
    assert held.columns["Âge"].values.tolist() == [int(row[5]) for row in kept]
    assert [smoker.schema.categories[at] for at in held.columns["Fumeur"].values] == [
        row[9].lower() for row in kept
    ]
    days = np.array(held.columns["Date d'entrée"].values).astype("datetime64[D]")
    assert [str(day) for day in days] == ["-".join(row[3][:10].split("/")[::-1]) for row in kept]


def test_a_sheet_of_a_dutch_hospital(browser, folder, catalog):
    pytest.importorskip("openpyxl")
    dutch(folder / "uitdraai.xlsx", 1)
    fields = filled_in(looked_at(browser, folder, "uitdraai.xlsx"))
    assert fields["person"] == ["Patiëntnr."]
    assert fields["unit:Creatinine (µmol/l)"] == ["µmol/l"]
    assert {"Opname Datum", "Ontslag Datum", "Opname Afdeling"} <= {*fields["keep"]}
    fields |= {"name": ["stays"], "case:Roker": ["on"], "code:Leeftijd (jaren)": ["999"]}
    fields |= {"stands:category:Roker": ["on"], "above:Creatinine (µmol/l)": ["limit"]}
    assert "stays is as declared" in added(browser, fields, "stays")
    dataset = load_catalog(catalog).dataset("stays")
    assert dataset.header == (3, 4, 5)
    assert dataset.columns["Roker"].schema.categories == ("gestopt", "ja", "nee", "onbekend")
    assert dataset.columns["Leeftijd (jaren)"].tokens == ("999",)
    assert dataset.columns["Creatinine (µmol/l)"].writing.above_limit == "limit"
    assert load(dataset, ["Roker", "Opname Datum"]).rows == COUNT


def test_joined_labels_stay_so_where_a_data_set_is_edited_and_can_be_parted(browser, folder, catalog):
    (folder / "a.csv").write_text(
        "n;Smoker\n" + "".join(f"{n};{('Yes', 'yes', 'no')[n % 3]}\n" for n in range(30))
    )
    fields = filled_in(looked_at(browser, folder, "a.csv")) | {"case:Smoker": ["on"]}
    added(browser, fields, "a")
    fields = filled_in(edited(browser, "a"))
    assert (fields["case:Smoker"], fields["values:category:Smoker"]) == (["on"], ["no,yes"])
    assert browser.post("/data/add", fields | {"unit:n": ["days"]}).status_code == 303
    assert load_catalog(catalog).dataset("a").columns["Smoker"].ignores_case
    wrong = fields | {"values:category:Smoker": ["no,yes,Yes"]}
    page = html.unescape(browser.post("/data/add", wrong).text)
    assert "yes, Yes differ in case only. Keep one of them." in page
    fields.pop("case:Smoker")
    page = browser.post("/data/add", fields | {"values:category:Smoker": ["no,yes,Yes"]})
    assert page.status_code == 303
    column = load_catalog(catalog).dataset("a").columns["Smoker"]
    assert (column.schema.categories, column.ignores_case) == (("no", "yes", "Yes"), False)
