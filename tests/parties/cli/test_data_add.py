"""From an ugly file to a declared data set without an editor: `duetto data add` and `duetto data confirm`."""

from __future__ import annotations

import json
import re
import sqlite3
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading.survey import Fault
from parties.cli import data
from parties.errors import DataError
from tests.parties.served import TOTAL, parsed

ROWS = "Karte;Alter;Gewicht;Geschlecht\n" + "".join(
    f"{1000 + row};{'?' if row == 7 else 20 + row};{60 + row},5;{'mw'[row % 2]}\n" for row in range(40)
)


@pytest.fixture
def export(served):
    path = served.folder / "Export 2024.csv"
    path.write_bytes(ROWS.replace("Karte", "Kärte-Nr").encode("cp1252"))
    return path


def test_an_export_is_added_checked_confirmed_and_used(served, command, export):
    home = served.folder / "north"
    catalog = home / "catalog.toml"
    before = catalog.read_text()
    shown = parsed(command("data", "add", export, "--dry-run", "--json"))
    assert (shown["written"], catalog.read_text()) == (False, before)
    added = parsed(command("data", "add", export, "--name", "cards", "--bounds", "Alter=0:120", "--json"))
    assert added["unconfirmed"] == ["Gewicht", "Geschlecht"]
    assert (added["key"], added["rows"], added["faults"]) == (["Kärte-Nr"], 40, [])
    assert catalog.read_text().startswith(before.rstrip())
    assert added["entry"] in catalog.read_text()
    checked = parsed(command("data", "check", "cards", "--json"))["datasets"]["cards"]
    assert (checked["rows"], checked["dropped"]) == (39, {"Alter": 1})
    assert checked["unconfirmed"] == ["Gewicht", "Geschlecht"]
    words = command("data", "check", "cards").stdout
    assert "cards is as declared: 40 rows; 39 rows of 39 persons lack no declared cell." in words
    assert re.search(r"cell is missing:\n +Alter +1\n", words)
    assert "left_out" not in words
    job = served.folder / "job.toml"
    job.write_text(TOTAL.replace('"numbers"', '"cards"', 1).replace('"value"', '"Gewicht"', 1))
    policy = home / "policy.toml"
    policy.write_text(
        policy.read_text().replace('"addition"', '"statistics"').replace('"numbers"', '"cards"')
    )
    refused = command("job", "check", job, code=65).stderr
    assert "nobody has confirmed" in refused
    assert "duetto data confirm cards Gewicht" in " ".join(refused.split())
    left = command("data", "confirm", "cards", code=78).stderr
    assert "--bounds Gewicht=0.0:100.0 --values Geschlecht=m,w" in " ".join(left.split())
    done = parsed(command("data", "confirm", "cards", "Geschlecht", "--bounds", "Gewicht=0:300", "--json"))
    assert (done["unconfirmed"], done["faults"]) == ([], [])
    assert load_catalog(catalog).schema("cards", "Gewicht").upper == 3000
    assert "confirmed" not in command("job", "check", job, code=None).output


def test_names_sources_and_populations_that_are_there_already(served, command, export):
    command("data", "add", export, "--yes")
    assert "export_2024" in load_catalog(served.folder / "north" / "catalog.toml").datasets
    assert "--name" in command("data", "add", export, code=78).stderr
    again = parsed(command("data", "add", export, "--name", "again", "--json"))
    assert 'population = "export_2024"' in again["entry"]


def test_options_decide_what_the_draft_would(served, command, export):
    added = parsed(
        command(
            *("data", "add", export, "--json", "--without", "Gewicht", "--type", "Alter=text"),
            *(
                "--person",
                "Kärte-Nr",
                "--key",
                "Kärte-Nr",
                "--population",
                "people",
                "--confirm",
                "Geschlecht",
            ),
        )
    )
    assert added["unconfirmed"] == []
    declared = load_catalog(served.folder / "north" / "catalog.toml").dataset("export_2024")
    assert (declared.person, declared.population) == (("Kärte-Nr",), "people")
    assert declared.columns["Alter"].type == "text"
    assert "Gewicht" not in declared.columns


def test_a_column_that_cannot_be_declared_is_told_with_its_reason(served, command):
    path = served.folder / "odd.csv"
    path.write_text("alter,wert\n" + "".join(f"{n} Jahre alt genau {n},{n}\n" for n in range(20, 60)))
    said = command("data", "add", str(path), "--type", "alter=integer", "--bounds", "alter=0:120", code=78)
    assert "'alter' is not declared: its cells do not read as integer" in " ".join(said.stderr.split())
    added = parsed(command("data", "add", str(path), "--json"))
    assert "neither numbers, dates nor a few labels" in added["left_out"]["alter"]
    assert "names persons" not in added["left_out"]["alter"]


def test_tables_of_databases(served, command):
    path = served.folder / "hospital.db"
    with sqlite3.connect(path) as made:
        made.execute("create table visits (age integer)")
        made.execute("create table wards (beds integer)")
        made.executemany("insert into wards values (?)", [(20,), (30,)])
    url = f"sqlite:///{path}"
    assert "--table: visits, wards" in " ".join(command("data", "add", url, code=65).stderr.split())
    assert parsed(command("data", "add", url, "--table", "wards", "--json"))["rows"] == 2
    assert parsed(command("data", "check", "wards", "--json"))["rows"] == {"wards": 2}


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (["nowhere.csv"], 65, "is not a file"),
        ([], 2, "Name a file"),
        (["EXPORT", "--bounds", "Alter"], 2, "Write --bounds COLUMN=LOWER:UPPER."),
        (["EXPORT", "--bounds", "Alter:0:120"], 2, "Write --bounds Alter=0:120."),
        (["EXPORT", "--bounds", "Gewicht (kg) 20:250"], 2, "Write --bounds 'Gewicht (kg)=20:250'."),
        (["EXPORT", "--values", "Geschlecht:m,w"], 2, "Write --values Geschlecht=m,w."),
        (["EXPORT", "--type", "Alter"], 2, "Write --type COLUMN=TYPE."),
        (["EXPORT", "--bounds", "Alter=1"], 78, "Alter=0:120"),
        (["EXPORT", "--bounds", "Alte=0:1"], 78, "'Alter'"),
        (["EXPORT", "--values", "Geschlecht="], 78, "values is empty"),
        (["EXPORT", "--key", "x"], 65, "no column 'x'"),
        (["EXPORT", "--name", "a b"], 78, "plain word"),
        (["postgresql://me:secret@db/x", "--table", "t"], 78, "holds a password"),
        (["postgresql://me:secret@db/x", "--table", "t"], 78, "--url-file"),
        (["https://example.org/x.csv"], 78, "begins with 'https'"),
        (["https://example.org/x.csv"], 78, "saved as a file first"),
    ],
)
def test_wrong_options_change_nothing(served, command, export, words, code, part):
    catalog = served.folder / "north" / "catalog.toml"
    before = catalog.read_text()
    given = [str(export) if word == "EXPORT" else word for word in words]
    assert part in " ".join(command("data", "add", *given, code=code).output.split())
    assert catalog.read_text() == before


def test_what_bounds_leave_out_is_said_at_once(served, command, export):
    added = parsed(command("data", "add", export, "--bounds", "Alter=0:50", "--json"))
    assert "9 cells: is outside the declared bounds. Widen lower or upper" in added["faults"][0]


def test_check_shows_all_faults_at_home_with_cells(served, command):
    (served.folder / "north" / "numbers.csv").write_text("value\n1\nx1\nx2\n99999\n")
    shown = command("data", "check", "numbers", code=65)
    assert "numbers, column 'value' (2 cells): is not an integer." in shown.stderr
    assert "row 2 (line 3): 'x1'; row 3 (line 4): 'x2'" in shown.stderr
    assert "2 kinds of faults in 3 cells" in shown.stderr
    document = json.loads(command("data", "check", "--json", code=65).stdout)
    assert document["success"] is False
    assert [fault["count"] for fault in document["faults"]["numbers"]] == [2, 1]


def test_one_cell_is_no_plural():
    faults = [Fault("v", "is wrong", "Correct it.", 1), Fault("w", "is missing", "Add it.")]
    said = data._summary({"numbers": DataError("x", "y")}, {"numbers": faults})
    assert "2 kinds of faults in 1 cell." in said.what


def test_an_empty_catalog_says_so(served, command):
    (served.folder / "north" / "catalog.toml").write_text("")
    assert "duetto data add FILE" in command("data", "check").stdout
    assert parsed(command("data", "check", "--json"))["datasets"] == {}


def test_a_person_at_a_terminal_is_asked_until_the_answer_fits(served, command, export, monkeypatch):
    command("data", "add", export, "--name", "cards", "--without", "Gewicht", "--yes")
    monkeypatch.setattr("parties.cli.drafts.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    words = ["confirm", "cards", "--config", str(served.folder / "north" / "duetto.toml")]
    shown = CliRunner().invoke(data.data, words, input="0:x\n120:0\n0:120\n-\n")
    assert shown.exit_code == 0, shown.output
    assert "does not give bounds of column 'Alter'" in shown.output
    assert "The bounds of column 'Alter' are reversed: 120 is above 0" in shown.output
    declared = load_catalog(served.folder / "north" / "catalog.toml").dataset("cards").columns
    assert (declared["Alter"].schema.upper, declared["Alter"].is_confirmed) == (120, True)
    assert not declared["Geschlecht"].is_confirmed


def test_names_and_free_text_are_not_declared_unasked(served, command):
    path = served.folder / "p.csv"
    path.write_text(
        "sep=;\nKlinik Nord\nNachname;Vorname;Alter;Bemerkung;Kosten\n"
        + "".join(
            f"Weiß;Änne;{20 + n};{'Frau Weiß ruft zurück' * (n % 2)};{n}.951,05 €\n" for n in range(1, 41)
        )
        + "Anzahl: 40\n"
    )
    added = parsed(command("data", "add", path, "--name", "p", "--yes", "--json"))
    dataset = load_catalog(served.folder / "north" / "catalog.toml").dataset("p")
    assert ([*dataset.columns], added["rows"], dataset.footer) == (["Alter", "Kosten"], 40, ("Anzahl",))
    assert {*added["left_out"]} == {"Nachname", "Vorname", "Bemerkung"}
    assert "ruft" not in added["entry"]
    asked = ("data", "add", path, "--name", "q", "--population", "p", "--yes", "--json")
    kept = ("--footer", "-", "--header", "3")
    said = " ".join(command(*asked[:-1], *kept, code=65).stderr.split())
    assert "(line 44): 1 cells, the header has 5" in said
    said = parsed(command(*asked, "--type", "Nachname=text"))
    assert {*said["left_out"]} == {"Vorname", "Bemerkung"}
    nobody = ("--name", "r", "--without", "Alter", "--without", "Kosten")
    assert "--type Nachname=" in command(*asked[:-1], *nobody, code=78).stderr
