"""No name leaves by default: not behind a k, not for its few values, and not under a foreign word."""

from __future__ import annotations

import json
import tomllib
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest

from anonymizer.gate.looks import MAX_ROWS, inspect
from anonymizer.gate.names import RULE
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

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


def with_role(text: str, role: str, name: str) -> str:
    """A specification that gives a column a role, the first of those that have it."""
    if f"\n{role} = [" in text:
        return text.replace(f"\n{role} = [", f'\n{role} = ["{name}", ')
    return text.replace("[roles]\n", f'[roles]\n{role} = ["{name}"]\n')


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
    "col3": lambda i: ("ヤマダ タロウ", "ｻﾄｳ ﾖｼｺ", "クロイワ ケンジ")[i % 3],
    "col4": lambda i: ("やまだ　たろう", "さとう　よしこ", "すずき　もね")[i % 3],
    "Nom du malade": lambda i: f"Zzz {'abc'[i % 3]}",
    "col7": lambda i: ("山田様", "黒岩 健 様", "榊原さん")[i % 3],
    "col8": lambda i: ("YAMADA Tarō", "Kuroiwa Hiroshi", "Sato Yoshiko")[i % 3],
    "Hausarzt": lambda i: ("Wójcik, K.", "Kowalczyk, A.", "Zzz, B.")[i % 3],
    "Patient": lambda i: ("Anna Weber", "Paul Klein")[i % 2],
    "médecin traitant": lambda _: "Dr. Wójcik",
    "who2": lambda i: ("佐藤 健一", "鈴木 花子", "高橋 誠")[i % 3],
    "a1": lambda i: f"DE{10 + i % 5} 3704 0044 0532 0013 0{i % 5}",
    "a2": lambda _: "zbigniew1940@posteo.example",
    "a3": lambda i: f"+49 731 {100000 + i % 3}",
    "a4": lambda i: f"10.3.{i % 4}.25",
    "a5": lambda i: f"https://people.example/zb.{i % 5}",
    "a6": lambda i: ("0731/123456", "(0711) 12 34 56", "0176-12345678")[i % 3],
    "a7": lambda i: f"2001:db8::{i % 4:x}f",
    "payload": lambda i: json.dumps({"patient": {"name": ("Zzz", "Yyy")[i % 2], "visits": [1, i % 4]}}),
    "list": lambda i: json.dumps(["x", {"by": ("Rosalind Weber", "Anna Quast", "Peter Wrona")[i % 3]}]),
    "a8": lambda i: f"555-123-456{i % 2}",
    "b1": lambda i: f"{('Zbigniew', 'Ada')[i % 2]} Zzz <zz{i % 2}@posteo.example>",
    "b2": lambda i: ("ok", "none", "moved", "schreibt an zz@posteo.example")[i % 4],
    "b3": lambda i: f"Zzz 0171/123456{i % 3}",
    "b4": lambda i: f"0171/123456{i % 3}; Tel. 0731 654321",
    "b5": lambda _: "IBAN DE89 3704 0044 0532 0130 00",
    "b6": lambda i: f"RSSMRA38A2{i % 5}H501B",
    "b7": lambda i: f"pages.example.org/people.{i % 4}",
    "b8": lambda i: f"@zb_{i % 3}",
    "b9": lambda i: f"Zzz, *05.02.195{i % 4}",
    "c1": lambda i: "" if i % 8 else f"call 0171/123456{i % 3}",
    "usager": lambda i: ("Petit", "Blanc", "Boulanger")[i % 3],
    "Bewohner": lambda i: ("ROTH", "SOMMER")[i % 2],
    "Mitarbeiter": lambda i: ("Qwert Zzz", "Yxcv Ppp")[i % 2],
    "Huisarts": lambda i: ("Dhr. van der Zzz", "Mw. Qqq")[i % 2],
    "x1": lambda i: ("Anna Weber", "Paul Klein")[i % 2],
    "入居者": lambda i: ("堀北一", "南恵", "柊誠")[i % 3],
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
        ("col5", lambda i: ("ロキソニン テープ", "モーラス パップ", "リリカ カプセル", "カロナール")[i % 4]),
        ("col6", lambda i: ("ヨコハマシ ミドリク", "チバ イチカワ", "イシカワ コマツ")[i % 3]),
        ("ndc", lambda i: ("0071-0155-23", "00071-0156-2", "50090-0481-0")[i % 3]),
        ("date", lambda i: f"0{i % 5 + 1}/15/1988"),
        ("period", lambda i: ("01.02.2003 - 05.06.2004", "01.02.2004 - 06.07.2005")[i % 2]),
        ("unit", lambda i: ("km/h", "mg/dl", "5 @ 3.5 mg")[i % 3]),
        ("lot", lambda i: ("DE45 2009 1234 5678 9012", "none", "A12 0123-45")[i % 3]),
        ("version", lambda i: ("1.2.3.4", "1.2.3.5")[i % 2]),
        ("licence", lambda i: ("https://rights.example/by/4.0/", "https://rights.example/zero/")[i % 2]),
        ("day", lambda i: ("01-02-2003 10:00", "02-02-2003 11:00", "03-02-2003 12:00")[i % 3]),
        ("doses", lambda i: json.dumps({"drug": ("aspirin", "ibuprofen")[i % 2], "mg": [i % 3, 5]})),
        ("patient", lambda i: ("Inpatient", "Outpatient", "Day Case")[i % 3]),
        ("room", lambda i: f"H-A {i % 4}"),
        ("value", lambda i: f"0.1234567{i % 3}"),
        ("range", lambda i: ("2001-2005", "2006-2010", "100-200")[i % 3]),
        ("doctor", lambda i: ("Internal Medicine", "General Practitioner", "Family Medicine")[i % 3]),
        ("employee", lambda i: ("Full-time", "Part-time", "Contractor, seasonal")[i % 3]),
        ("client", lambda i: ("A", "B", "unknown")[i % 3]),
        ("Schüler", lambda i: ("Hauptschule", "Realschule", "Gymnasium")[i % 3]),
        ("full", lambda i: ("Tank", "Bottle")[i % 2]),
        ("wavelength_nm", lambda i: ("450 nm", "620 nm")[i % 2]),
        ("col9", lambda i: ("Yokohama Minami", "Nagoya Midori", "Saitama Minami", "Osaka Kita")[i % 4]),
        ("month", lambda i: ("April", "June", "October", "May", "July", "March", "January")[i % 7]),
        ("state", lambda i: ("Georgia", "Virginia", "Ohio", "Texas", "Utah", "Maine", "Iowa")[i % 7]),
        ("number_of_visits", lambda i: i % 9),
        ("admission_type_id", lambda i: i % 8),
        ("kreatinin", lambda i: round(0.5 + (i * i % 19) / 50, 3)),
        ("note", lambda i: ("none", "see file", "moved", "deceased")[i % 4]),
    ],
)
def test_what_names_nobody_is_no_finding(tmp_path, run, name, make):
    patients(60, **{name: make})
    released(run, tmp_path, 0)
    assert name in (tmp_path / "out.csv").read_text().splitlines()[0]


def scattered(i: int, by: int) -> int:
    """Numbers that all differ, in an order of their own for each factor."""
    return i * i * by % 20_011


ALONE = {
    "birth_day": lambda i: str(date(1940, 1, 1) + timedelta(days=scattered(i, 37))),
    "income": lambda i: 1000 + scattered(i, 41) / 100,
    "kreatinin": lambda i: round(0.5 + scattered(i, 43) / 9000, 5),
    "bmi": lambda i: f"{18 + scattered(i, 47) / 2000:.4f}".replace(".", ","),
    "fnlwgt": lambda i: 12_285 + scattered(i, 53) * 61,
    "x17": lambda i: scattered(i, 59) / 1000 - 10,
}
"""Columns of numbers and dates that differ in most rows, whatever they are called."""


@pytest.mark.parametrize("name", ALONE)
def test_what_singles_out_most_rows_needs_a_role(tmp_path, run, name):
    patients(200, **{name: ALONE[name]})
    told = " ".join(released(run, tmp_path, 65).split())
    assert f"Column {name} holds values that occur once" in told
    assert f"Give {name} the role that it has ([roles]): sensitive if nobody knows it beforehand" in told
    assert not (tmp_path / "out.csv").exists()
    spec = tmp_path / "s.toml"
    text = spec.read_text()
    for role in ("sensitive", "identifiers"):
        spec.write_text(with_role(text, role, name), encoding="utf-8")
        run(f"anonymize data.csv --spec s.toml -o {role}.csv --ledger {role}.ledger")
        header = (tmp_path / f"{role}.csv").read_text().splitlines()[0].split(",")
        assert (name in header) == (role == "sensitive")


@pytest.mark.parametrize("name", ["kreatinin", "fnlwgt"])
def test_what_singles_out_most_rows_joins_the_others_with_a_hierarchy(tmp_path, run, name):
    patients(200, **{name: ALONE[name]})
    spec = with_role(SPEC, "quasi_identifiers", name).replace(
        "[hierarchies]\n", f"[hierarchies]\n{name} = {{ widths = [1000000], lower = 0, upper = 10000000 }}\n"
    )
    (tmp_path / "s.toml").write_text(spec, encoding="utf-8")
    run("anonymize data.csv --spec s.toml -o out.csv")


@pytest.mark.parametrize("name", ["kreatinin", "fnlwgt"])
def test_what_singles_out_most_rows_leaves_with_a_reason(tmp_path, run, name):
    patients(200, **{name: ALONE[name]})
    told = " ".join(released(run, tmp_path, 65).split())
    assert f'[[accept]] with finding = "named-like-identifier", column = "{name}" and why = ' in told
    accept = f'\n[[accept]]\nfinding = "named-like-identifier"\ncolumn = "{name}"\nwhy = "Drawn anew."\n'
    told = released(run, tmp_path, 0, accept)
    assert "Drawn anew." in (tmp_path / "out.csv.manifest.json").read_text()
    released(run, tmp_path, 78, accept.replace("Drawn anew.", " "))


def test_half_of_the_rows_is_not_most(tmp_path, run):
    patients(200, crp=lambda i: i / 10 if i < 100 else 3.5)  # 99 values of one row and one of 101
    released(run, tmp_path, 0)
    patients(200, crp=lambda i: i / 10 if i < 102 else 3.5)  # 101
    assert "occur once, in 101 of 200 rows" in " ".join(released(run, tmp_path, 65).split())


def test_of_a_large_table_values_count_that_are_alone_in_all_rows():
    rows = 3 * MAX_ROWS
    frame = pd.DataFrame({"age": np.arange(rows) % 50, "dose": np.arange(rows) % (rows // 3) / 8})
    table = Table.of(frame, Roles(quasi_identifiers=("age",)))
    origin = np.arange(rows, dtype=np.int64)
    assert RULE not in {one.rule for one in inspect(table, table, origin=origin, ordered=True)}
    frame["dose"] = np.arange(rows) / 8
    table = Table.of(frame, Roles(quasi_identifiers=("age",)))
    assert RULE in {one.rule for one in inspect(table, table, origin=origin, ordered=True)}


def test_init_gives_a_role_to_what_singles_out_most_rows(tmp_path, run):
    patients(200, **{name: make for name, make in ALONE.items() if name != "birth_day"})
    run("anonymize init data.csv -o first.toml")
    roles = tomllib.loads((tmp_path / "first.toml").read_text())["roles"]
    assert {"kreatinin", "fnlwgt", "x17", "income"} <= set(roles["sensitive"])
    text = (tmp_path / "first.toml").read_text()
    guessed = text[text.index("PLEASE CHECK") :].split("]")[0]
    assert '"fnlwgt"' in guessed
    assert '"x17"' in guessed
    assert "singles out most rows" in guessed
    assert "accept" not in text
    run("anonymize data.csv --spec first.toml -o first.csv")


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


@pytest.mark.parametrize("roles", [Roles(quasi_identifiers=("age",)), Roles(quasi_identifiers=("age", "hb"))])
@pytest.mark.parametrize(("changed", "is_found"), [(0, True), (1, True), (190, True), (210, False)])
def test_cells_that_stay_count_whatever_was_done_to_the_others(roles, changed, is_found):
    """One cell that a step clips, or a role that no step serves, does not let all others out."""
    rows = np.arange(400)
    frame = pd.DataFrame({"age": rows % 50, "hb": 90 + rows * 7 % 401 / 8, "ward": rows % 3})
    after = frame.assign(hb=frame["hb"].where(rows >= changed, 12.5))
    found = inspect(Table.of(frame, roles), Table.of(after, roles), origin=rows, ordered=True)
    told = [one for one in found if one.rule == RULE]
    assert [one.column for one in told] == ["hb"] * is_found
    for one in told:
        assert f"in {400 - changed} of 400 rows" in one.what
        assert ("No step" in one.hint or "released as they are" in one.hint) is (
            "hb" in roles.quasi_identifiers
        )


def test_quasi_identifiers_alone_may_find_a_person_of_whom_they_tell_nothing():
    """The first table of anatomy: what is sensitive stands in another one, by groups."""
    rows = np.arange(400)
    frame = pd.DataFrame({"age": rows % 50, "hb": 90 + rows * 7 % 401 / 8, "illness": rows % 3})
    table = Table.of(frame, Roles(quasi_identifiers=("age", "hb"), sensitive=("illness",)))
    alone = Roles(quasi_identifiers=("age", "hb"))
    first = Table.of(frame.drop(columns="illness").assign(group=rows // 2), alone)
    assert RULE not in {one.rule for one in inspect(table, first, origin=rows, ordered=True)}
    assert RULE in {one.rule for one in inspect(table, table, origin=rows, ordered=True)}


def told_of(frame: pd.DataFrame, roles: Roles, rows: np.ndarray | None = None) -> dict[str, str]:
    """What the rule says of each column, of a release of these rows as they are."""
    rows = np.arange(len(frame)) if rows is None else rows
    released = Table.of(frame.iloc[rows].reset_index(drop=True), roles)
    found = inspect(Table.of(frame, roles), released, origin=rows, ordered=True)
    return {str(one.column): one.what for one in found if one.rule == RULE}


AGE = Roles(quasi_identifiers=("age",))


@pytest.mark.parametrize("roles", [AGE, Roles(quasi_identifiers=("age",), sensitive=("x",))])
def test_a_value_of_two_rows_finds_a_person_with_two_visits(roles):
    visits = np.arange(400) // 2 * 37 % 201 / 8
    frame = pd.DataFrame({"age": np.arange(400) % 50, "x": visits})
    told = told_of(frame, roles)
    if roles.sensitive:
        assert not told
    else:
        assert told["x"] == "Column x holds values that occur once or twice, in 400 of 400 rows."
    assert not told_of(frame.assign(x=np.arange(400) // 3), AGE)
    assert not told_of(frame.assign(x=np.arange(400) % 20), AGE)


def test_quasi_identifiers_of_which_two_rows_are_alike_are_as_safe_as_k_says():
    frame = pd.DataFrame({"age": np.arange(400) // 2, "ill": np.arange(400) % 3})
    assert not told_of(frame, Roles(quasi_identifiers=("age",), sensitive=("ill",)))


def paired(rows: int = 400) -> pd.DataFrame:
    """Two columns of twenty values that are unique together alone, and one of three."""
    order = np.random.default_rng(3).permutation(rows)
    return pd.DataFrame({"age": order % 5, "a": order // 20, "b": order % 20, "c": np.arange(rows) % 3})


def test_two_columns_of_no_role_that_are_unique_together_are_a_finding():
    told = told_of(paired(), AGE)
    assert told == {"a": "Columns a and b have no role, and single out 400 of 400 rows together."}
    assert not told_of(paired(), Roles(quasi_identifiers=("age",), sensitive=("a",)))
    assert not told_of(paired(), Roles(quasi_identifiers=("age", "b")))
    assert not told_of(paired().assign(a=lambda frame: frame["a"] // 4), AGE)


def test_half_of_the_rows_is_not_most_of_a_pair():
    frame = paired()
    half = frame.assign(a=np.where(frame["a"] < 10, frame["a"], 30))
    assert not told_of(half, AGE)
    more = frame.assign(a=np.where(frame["a"] < 11, frame["a"], 30))
    assert told_of(more, AGE) == {
        "b": "Columns b and a have no role, and single out 220 of 400 rows together."
    }


def test_one_finding_says_all_pairs_of_a_column():
    frame = paired().assign(d=lambda frame: frame["b"] * 3 % 20, e=lambda frame: (frame["b"] + 7) % 20)
    assert list(told_of(frame, AGE)) == ["a"]


def test_a_pair_is_counted_in_all_rows_of_the_original():
    frame = pd.concat([paired()] * 3, ignore_index=True)
    assert not told_of(frame, AGE, np.arange(400))


def test_the_hint_for_a_pair_is_followed_to_the_letter(tmp_path, run):
    frame = paired().assign(Alter=lambda frame: 20 + frame["age"] * 7, Geschlecht="m", Diagnose="J45")
    frame[["Alter", "Geschlecht", "Diagnose", "a", "b"]].to_csv("data.csv", index=False)
    told = " ".join(released(run, tmp_path, 65).split())
    assert "Columns a and b have no role" in told
    assert "Give a or b the role that it has ([roles]): sensitive if nobody knows it beforehand" in told
    accept = '\n[[accept]]\nfinding = "named-like-identifier"\ncolumn = "a"\nwhy = "Drawn anew."\n'
    for word, text in (("accepted", SPEC + accept), ("sensitive", with_role(SPEC, "sensitive", "b"))):
        (tmp_path / "s.toml").write_text(text, encoding="utf-8")
        run(f"anonymize data.csv --spec s.toml -o {word}.csv --ledger {word}.ledger")
        assert (tmp_path / f"{word}.csv").exists()


@pytest.mark.parametrize(("name", "rc"), [("patient_id", 65), ("PatNr", 65), ("ward_no", 0)])
def test_a_number_of_persons_finds_them_however_few_they_are(tmp_path, run, name, rc):
    patients(180, **{name: lambda i: 7000 + 13 * (i // 6)})
    told = released(run, tmp_path, rc)
    assert ("is called like a number or a key of persons" in told) == (rc == 65)
