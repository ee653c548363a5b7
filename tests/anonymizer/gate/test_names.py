"""No name leaves by default: not behind a k, not for its few values, and not under a foreign word."""

from __future__ import annotations

import tomllib
from datetime import date, timedelta

import pandas as pd
import pytest

SPEC = """\
[roles]
quasi_identifiers = ["Alter", "Geschlecht"]
sensitive = ["Diagnose"]

[hierarchies]
Alter = { widths = [10, 20, 40], lower = 0, upper = 120 }
Geschlecht = { rows = [["m", "*"], ["w", "*"]] }

[[steps]]
method = "local-recoding"
k = 5
"""


def patients(rows: int, **columns) -> None:
    """A table of patients with German headers and a specification in the folder."""
    frame = pd.DataFrame(
        {
            "Alter": [20 + (i * 7) % 60 for i in range(rows)],
            "Geschlecht": ["mw"[i % 2] for i in range(rows)],
            "Diagnose": [("J45", "E11", "I10")[i % 3] for i in range(rows)],
            **{name: [make(i) for i in range(rows)] for name, make in columns.items()},
        }
    )
    frame.to_csv("data.csv", index=False)


def released(run, folder, rc: int, accept: str = "") -> str:
    (folder / "s.toml").write_text(SPEC + accept, encoding="utf-8")
    out, told = run("anonymize data.csv --spec s.toml -o out.csv", rc)
    return told if rc else out


NAMES = {
    "Nachname": lambda _: "Kowalczyk",
    "NACHNAME_PATIENT": lambda i: ("Kowalczyk", "Wójcik")[i % 2],
    "Vorname": lambda i: ("Ada", "Bo")[i % 2],
    "apellido_1": lambda _: "Ibarretxe",
    "Prénom": lambda i: ("Ada", "Bo")[i % 2],
    "cognome": lambda _: "Zzz",
    "Achternaam": lambda _: "Zzz",
    "氏名": lambda _: "山田 太郎",
    "ＮＡＭＥ": lambda _: "Zzz",
    "Straße": lambda i: f"Weg {i % 2}",
    "Telefonnr": lambda i: 4930123 + i % 2,
    "x": lambda i: ("Anna", "Peter", "Sabine")[i % 3],
    "who": lambda i: ("Weber, Anna", "Schmidt, P.", "Hoffmann, K.")[i % 3],
    "code": lambda i: ("A.W.", "H.-J. S.", "K. M. O.")[i % 3],
    "who2": lambda i: ("佐藤 健一", "鈴木 花子", "高橋 誠")[i % 3],
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [16, 60])
def test_a_name_does_not_leave_however_few_they_are(tmp_path, run, name, rows):
    patients(rows, **{name: NAMES[name]})
    told = released(run, tmp_path, 65)
    assert "among the identifiers" in told
    assert not (tmp_path / "out.csv").exists()
    run("anonymize init data.csv -o first.toml")
    assert name in tomllib.loads((tmp_path / "first.toml").read_text())["roles"]["identifiers"]
    run("anonymize data.csv --spec first.toml -o first.csv")
    assert name not in (tmp_path / "first.csv").read_text().splitlines()[0].split(",")


def test_the_hint_is_followed_to_the_letter(tmp_path, run):
    patients(60, Nachname=lambda _: "Kowalczyk")
    told = released(run, tmp_path, 65)
    entry = '[[accept]] with finding = "named-like-identifier", column = "Nachname" and why = '
    assert entry in " ".join(told.split())
    accept = (
        '\n[[accept]]\nfinding = "named-like-identifier"\ncolumn = "Nachname"\n'
        'why = "All are of one invented family."\n'
    )
    released(run, tmp_path, 0, accept)
    assert "Kowalczyk" in (tmp_path / "out.csv").read_text()
    assert "one invented family" in (tmp_path / "out.csv.manifest.json").read_text()
    told = released(run, tmp_path, 78, accept.replace("All are of one invented family.", " "))
    assert "without a reason" in told


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("Telefon", lambda i: "ja" if i % 3 else "nein"),
        ("phone", lambda i: i % 2),
        ("drug_name", lambda i: ("aspirin", "ibuprofen")[i % 2]),
        ("month", lambda i: ("April", "June", "October", "May", "July", "March", "January")[i % 7]),
        ("state", lambda i: ("Georgia", "Virginia", "Ohio", "Texas", "Utah", "Maine", "Iowa")[i % 7]),
        ("number_of_visits", lambda i: i % 9),
        ("admission_type_id", lambda i: i % 8),
        ("kreatinin", lambda i: round(0.5 + (i * i % 97) / 50, 3)),
        ("note", lambda i: ("none", "see file", "moved", "deceased")[i % 4]),
    ],
)
def test_what_names_nobody_is_no_finding(tmp_path, run, name, make):
    patients(60, **{name: make})
    released(run, tmp_path, 0)
    assert name in (tmp_path / "out.csv").read_text().splitlines()[0]


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("birth_day", lambda i: str(date(1940, 1, 1) + timedelta(days=i * i * 37 % 20_011))),
        ("income", lambda i: 1000 + i * i * 37 % 20_011 / 100),
    ],
)
def test_dates_and_incomes_of_their_own_need_a_role(tmp_path, run, name, make):
    patients(200, **{name: make})
    told = " ".join(released(run, tmp_path, 65).split())
    assert f"Column {name} holds values that occur once" in told
    assert "or give it the role that it has ([roles])" in told
    spec = tmp_path / "s.toml"
    text = spec.read_text()
    assert "sensitive = [" in text
    spec.write_text(text.replace("sensitive = [", f'sensitive = ["{name}", '))
    run("anonymize data.csv --spec s.toml -o out.csv")
    assert name in (tmp_path / "out.csv").read_text().splitlines()[0]


def test_numbers_of_persons_and_texts_of_their_own_are_findings(tmp_path, run):
    patients(200, PatNr=lambda i: 1000 + (i * i * 37) % 3571 // 2)
    assert "called like a number or a key" in released(run, tmp_path, 65)
    patients(200, remark=lambda i: "none" if i % 3 == 0 else f"seen by {i * i * 17 % 9973}")
    assert "occur once" in released(run, tmp_path, 65)


def test_a_name_that_is_only_grouped_is_one_still(tmp_path, run):
    patients(60, Nachname=lambda i: ("Kowalczyk", "Wójcik")[i % 2])
    spec = SPEC.replace('["Alter", "Geschlecht"]', '["Alter", "Geschlecht", "Nachname"]').replace(
        "Geschlecht = {", 'Nachname = { rows = [["Kowalczyk", "*"], ["Wójcik", "*"]] }\nGeschlecht = {'
    )
    (tmp_path / "s.toml").write_text(spec, encoding="utf-8")
    _, told = run("anonymize data.csv --spec s.toml -o out.csv", 65)
    assert "called like one of surnames" in told
