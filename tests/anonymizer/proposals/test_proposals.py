"""Proposals: from an unknown table to a specification that makes a release, on tame and on ugly tables."""

from __future__ import annotations

import hashlib
import json
import tomllib

import numpy as np
import pandas as pd
import polars as pl
import pytest

from anonymizer.errors import AnonymizerError
from anonymizer.pipelines.spec import parse
from anonymizer.proposals.dialects import guess_table_dialect
from anonymizer.proposals.profiles import profile, separation, together
from anonymizer.proposals.proposal import propose
from anonymizer.proposals.roles import propose_roles
from anonymizer.proposals.writing import write_specification
from anonymizer.tables import files
from anonymizer.tables.dialect import read_dialect
from anonymizer.tables.table import Table
from commons.tabular.dialect import Dialect
from tests.anonymizer.data import shared

_LETTERS = str.maketrans("0123456789", "ghijklmnop")


def people(rows: int = 300) -> pd.DataFrame:
    number = np.arange(rows)
    names = [hashlib.sha256(b"%d" % i).hexdigest().translate(_LETTERS)[:9] for i in number]
    return pd.DataFrame(
        {
            "name": names,
            "patient_id": number + 10_000,
            "sex": np.where(number % 2, "f", "m"),
            "age": 18 + (number * 37) % 60,
            "zip": [f"{80000 + (i * 173) % 90:05d}" for i in number],
            "born": pd.to_datetime("1950-01-01") + pd.to_timedelta((number * 97) % 15_000, unit="D"),
            "weight": np.where(number % 9 == 4, np.nan, 50.5 + (number * 13) % 40),
            "diagnosis": [("flu", "cold", "asthma", "gout")[(i * 5 + i // 7) % 4] for i in number],
            "ward": ["A"] * rows,
        }
    )


def roles_of(frame) -> dict[str, str]:
    table = Table.of(frame)
    return {
        one.profile.name: one.role for one in propose_roles([profile(table, name) for name in table.names])
    }


def test_roles_by_names_and_by_values():
    found = roles_of(people())
    assert found == {
        "name": "identifiers",
        "patient_id": "identifiers",
        "sex": "quasi_identifiers",
        "age": "quasi_identifiers",
        "zip": "quasi_identifiers",
        "born": "quasi_identifiers",
        "weight": "quasi_identifiers",
        "diagnosis": "sensitive",
        "ward": "",
    }
    anonymous = people().rename(columns=dict(zip(people().columns, "abcdefghi", strict=True)))
    found = roles_of(anonymous)
    assert found["a"] == found["b"] == "identifiers", "by their values, not by their names"
    assert "quasi_identifiers" in found.values()


def test_distinction_and_separation_are_those_of_the_rows():
    frame = pl.DataFrame({"a": ["x", "x", "y", "z"], "b": [1, 1, 1, None]})
    table = Table.of(frame)
    assert profile(table, "a").distinction == 0.75
    assert profile(table, "a").separation == pytest.approx(5 / 6)
    rows = frame.rows()
    pairs = [(i, j) for i in range(4) for j in range(i)]
    apart = np.mean([rows[i] != rows[j] for i, j in pairs])
    assert together(table, ("a", "b")) == (0.75, pytest.approx(apart))
    assert separation(np.array([1])) == 0


def test_two_commands_lead_to_a_release_and_a_report(tmp_path, run):
    people().to_csv("data.csv", index=False)
    out, _ = run("anonymize init data.csv -o s.toml")
    assert "duetto anonymize data.csv --spec s.toml" in out
    text = (tmp_path / "s.toml").read_text()
    assert "taken from the data" in text
    assert "no differential privacy would hold" in text
    assert tomllib.loads(text)["columns"]["weight"] == {"missing": "value"}
    run("anonymize data.csv --spec s.toml -o out.csv --report report.html")
    released = pd.read_csv("out.csv", dtype=str)
    assert not {"name", "patient_id"} & set(released.columns)
    quasi = tomllib.loads(text)["roles"]["quasi_identifiers"]
    assert released.groupby(quasi, dropna=False).size().min() >= 5
    _, told = run("anonymize init data.csv -o s.toml", 65)
    assert "is there already" in told


def test_the_comments_and_the_document_say_the_same(tmp_path, run):
    people().to_csv("data.csv", index=False)
    dialect, table, _ = guess_table_dialect(tmp_path / "data.csv")
    found = propose(table, dialect)
    text = write_specification(found, "x")
    again = parse({k: v for k, v in tomllib.loads(text).items() if k != "title"}, tmp_path)
    assert again.digest == found.specification.digest
    told = json.loads(run("anonymize init data.csv --json")[0])
    assert told["roles"] == found.document["roles"]
    assert tomllib.loads(told["specification"])["roles"] == told["roles"]
    assert {one["name"] for one in told["columns"]} == set(table.names)


DIALECTS = {
    "semicolons": (";", "utf-8", ",", ""),
    "tabs in UTF-16": ("\t", "utf-16", ".", ""),
    "Latin-1": (";", "cp1252", ",", "."),
    "bars": ("|", "utf-8-sig", ".", ","),
    "commas": (",", "utf-8", ".", ""),
}


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_are_found(tmp_path, run, name):
    delimiter, encoding, decimal, thousands = DIALECTS[name]
    rows = [["Größe", "sum", "town", "n"]]
    for i in range(60):
        sum_ = f"{1000 + i * 173:,}.{i % 9}5".translate(str.maketrans({",": thousands, ".": decimal}))
        rows.append(
            [
                f"{150 + i % 40}{decimal}5",
                sum_,
                ("Köln", "Ulm", "München")[i % 3],
                "?" if i % 7 == 0 else str(i),
            ]
        )
    text = "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows) + "\n"
    (tmp_path / "data.csv").write_bytes(text.encode(encoding))
    dialect, table, _ = guess_table_dialect(tmp_path / "data.csv")
    assert [table.is_numeric(column) for column in table.names] == [True, True, False, True]
    assert table.numbers("sum")[1] == pytest.approx(1173.15)
    assert dialect.writing.missing_tokens == ("?",)
    run("anonymize init data.csv -o s.toml")
    run("anonymize data.csv --spec s.toml -o out.csv")
    assert delimiter in (tmp_path / "out.csv").read_bytes().decode(encoding).splitlines()[0]


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["31/12/1990", "01/02/1991", "05/06/2001"], "%d/%m/%Y"),
        (["12/31/1990", "01/02/1991", "05/06/2001"], "%m/%d/%Y"),
        (["1990-12-31", "1991-01-02", "2001-05-06"], None),
        (["19901231", "19910102", "20010506"], None),
        (["31.12.1990", "02.01.1991", "06.05.2001"], None),
    ],
)
def test_dates_of_several_forms(tmp_path, run, texts, form):
    pd.DataFrame({"birth_date": texts * 20, "sex": ["f", "m"] * 30}).to_csv("data.csv", index=False)
    run("anonymize init data.csv -o s.toml")
    found = tomllib.loads((tmp_path / "s.toml").read_text())["hierarchies"]["birth_date"]
    assert found.get("format") == form
    assert "dates" in found
    run("anonymize data.csv --spec s.toml -o out.csv")


def test_dates_that_can_be_read_in_two_ways_are_marked(tmp_path, run):
    pd.DataFrame({"dob": ["01/02/1991", "05/06/2001", "07/08/1995"] * 20}).to_csv("data.csv", index=False)
    out, _ = run("anonymize init data.csv")
    assert "CHECK: the dates could also be read as %m/%d/%Y" in out


UGLY = {
    "one column": {"a": list("abcab") * 4},
    "one unique column": {"a": [f"person {i}" for i in range(40)]},
    "one value": {"a": ["x"] * 12},
    "two rows": {"a": [1, 2], "b": ["x", "y"]},
    "nothing but gaps": {"a": [None] * 12, "b": [1, 2, 3] * 4},
    "quotes and lines": {'a "b"\n': ["x\ny", '"', "'", "\\", "\t", "ü"] * 4, "b]=": list(range(24))},
    "formulas": {"a": ["=1+1", "@x", "-"] * 8, "age": list(range(24))},
    "stars": {"code": [f"1{i}*" for i in range(20)] * 2, "age": list(range(40))},
    "parentheses": {"a": ["(missing)", "b", None] * 8},
    "huge numbers": {"a": [10**18 + i * 7919 for i in range(30)], "b": [1e300, -1e300, 0.0] * 10},
    "tiny numbers": {"a": [i * 1e-12 for i in range(40)], "b": [1e-300 * (i % 5) for i in range(40)]},
    "truths": {"a": [True, False] * 20, "b": [True] * 40},
    "skewed": {
        "gain": [0] * 190 + [5, 7, 9, 11, 13, 9999, 5, 5, 5, 5],
        "age": [20 + i % 50 for i in range(200)],
    },
    "codes of several lengths": {"icd": ["250", "250.83", "V27", "8", "E11.9"] * 20, "age": list(range(100))},
    "long texts": {"note": ["x" * 100 + str(i) for i in range(50)], "age": list(range(50))},
    "pairs": {
        "a": [i // 2 for i in range(60)],
        "b": [f"v{i // 2}" for i in range(60)],
        "sex": ["f", "m", "m"] * 20,
    },
}


@pytest.mark.parametrize("name", UGLY)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_ugly_tables_lead_to_a_release_too(tmp_path, run, name, ending):
    frame = pl.DataFrame(UGLY[name], strict=False)
    frame.write_csv("data.csv") if ending == "csv" else frame.write_parquet("data.parquet")
    run(f"anonymize init data.{ending} -o s.toml")
    run(f"anonymize data.{ending} --spec s.toml -o out.{ending}")
    table = Table.of(frame)
    quasi = tomllib.loads((tmp_path / "s.toml").read_text())["roles"]["quasi_identifiers"]
    assert {column.strip() for column in quasi} <= {column.strip() for column in table.names}


def test_records_within_cells_are_taken_out():
    frame = people().assign(
        note=[json.dumps({"who": {"x": f"Zzz {i % 4}"}, "n": [i % 3]}) for i in range(300)]
    )
    [note] = [one for one in propose(Table.of(frame), Dialect()).columns if one.profile.name == "note"]
    assert (note.role, note.profile.look) == ("identifiers", "nested")


def test_a_table_of_one_row_is_refused(tmp_path, run):
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    _, told = run("anonymize init data.csv", 65)
    assert "nobody hides alone" in told


def test_files_that_are_none_are_refused(tmp_path, run):
    (tmp_path / "data.csv").write_bytes(bytes(range(256)) * 9)
    run("anonymize init data.csv", 65)
    run("anonymize init nowhere.csv", 65)
    (tmp_path / "short.csv").write_text("a,b\n1,2\n3\n")
    _, told = run("anonymize init short.csv", 65)
    assert "row 2: 1 cells" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["adult_train.csv", "casc_eia.csv", "linkage/febrl1.csv", "shop_households.csv"]
)
def test_public_tables_lead_to_a_release(tmp_path, run, name):
    run(f"anonymize init {shared(name)} -o s.toml")
    run(f"anonymize {shared(name)} --spec s.toml -o out.csv")


def test_a_proposal_of_what_tells_an_identifier_is_corrected():
    frame = people()
    frame["standing"] = frame["name"].rank().astype(int) * 3
    frame["copy"] = frame["sex"].map({"f": "x", "m": "y"})
    found = propose(Table.of(frame), Dialect())
    roles = {one.profile.name: one.role for one in found.columns}
    assert roles["standing"] == "identifiers"
    assert roles["copy"] == "quasi_identifiers"
    with pytest.raises(AnonymizerError):
        propose(Table.of(frame.head(1)), Dialect())


@pytest.mark.parametrize(
    ("encoding", "given"), [("utf-32", "utf-8"), ("utf-32-le", "cp1252"), ("utf-16", "latin-1")]
)
def test_a_wrong_encoding_is_answered_by_the_option(tmp_path, run, encoding, given):
    text = "age,town\n" + "".join(f"{20 + i % 9},Köln\n" for i in range(40))
    (tmp_path / "data.csv").write_bytes(text.encode(encoding))
    _, err = run(f"anonymize init data.csv --encoding {given}", 65)
    assert f"not in {given}" in err
    assert f"--encoding {encoding}" in err
    assert "[csv]" not in err
    out, _ = run("anonymize init data.csv")
    assert f'encoding = "{encoding}"' in out


def laboratory(path) -> None:
    """An export with limits of detection and three ways to say that a cell is missing."""
    lines = ["Alter;Geschlecht;Kreatinin;Gewicht;Geburtsdatum"]
    for i in range(120):
        kreatinin = "<0,2" if i % 6 == 0 else f"{i % 7},{i % 9}"
        weight = "k.A." if i % 11 == 0 else f"{60 + i % 30},5"
        born = "00.00.0000" if i % 13 == 0 else f"0{1 + i % 9}.03.19{50 + i % 40}"
        lines.append(f"{20 + i % 50};{'wm'[i % 2]};{kreatinin};{weight};{born}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_what_stands_for_a_missing_cell_or_a_limit_takes_no_column_out(tmp_path, run):
    laboratory(tmp_path / "data.csv")
    told = json.loads(run("anonymize init data.csv --json")[0])
    assert "identifiers" not in told["roles"]
    looks = {one["name"]: one["look"] for one in told["columns"]}
    assert (looks["Kreatinin"], looks["Gewicht"], looks["Geburtsdatum"]) == ("number", "number", "date")
    assert "below a limit of detection and count as missing" in told["warnings"][0]
    run("anonymize init data.csv -o s.toml")
    assert "# WARNING: Cells such as '<0,2'" in (tmp_path / "s.toml").read_text()
    run("anonymize data.csv --spec s.toml -o out.csv")


@pytest.mark.parametrize(("choice", "held"), [("half", 0.1), ("limit", 0.2)])
def test_values_below_a_limit_are_read_as_the_specification_chooses(tmp_path, run, choice, held):
    laboratory(tmp_path / "data.csv")
    dialect = read_dialect({"delimiter": ";", "decimal": ",", "below_limit": choice})
    table = files.table(tmp_path / "data.csv", dialect)
    assert table.is_numeric("Kreatinin")
    assert table.numbers("Kreatinin")[0] == pytest.approx(held)
    assert table.numbers("Kreatinin")[1] == pytest.approx(1.1)
    with pytest.raises(AnonymizerError, match="below_limit"):
        read_dialect({"below_limit": "third"})


def test_many_columns_without_a_role_are_a_warning(tmp_path, run):
    frame = people()[["age", "sex", "zip", "diagnosis"]]
    for column in range(7):
        digests = [hashlib.sha256(b"%d %d" % (i, column)).digest() for i in range(len(frame))]
        frame[f"v{column}"] = [digest[0] % 4 for digest in digests]
    frame.to_csv("data.csv", index=False)
    _, told = run("anonymize init data.csv -o s.toml")
    assert "7 columns say nothing of their role" in told
    assert "single out" in told
    text = (tmp_path / "s.toml").read_text()
    assert "PLEASE CHECK" in text
    assert tomllib.loads(text)["roles"]["sensitive"] == ["diagnosis", *(f"v{column}" for column in range(7))]


def test_what_nothing_speaks_for_is_a_guess_and_what_made_the_table_is_none():
    frame = people()[["age", "sex", "zip", "diagnosis"]]
    number = np.arange(len(frame))
    frame["q17b"] = np.random.default_rng(1).integers(3, size=len(frame))
    frame["wave"] = number % 4
    frame["always"] = "x"
    found = {one.profile.name: one for one in propose(Table.of(frame), Dialect()).columns}
    assert (found["q17b"].role, found["q17b"].is_guess) == ("sensitive", True)
    assert (found["diagnosis"].role, found["diagnosis"].is_guess) == ("sensitive", False)
    assert found["wave"].role == found["always"].role == ""


def test_a_guess_does_not_lower_what_the_gate_asks():
    frame = people()[["age", "sex", "diagnosis"]]
    frame["zip"] = [80000 + (i * 173) % 90 for i in range(len(frame))]
    frame["q17b"] = frame.zip * 7919 % 11  # whoever knows the postcode knows it
    found = {one.profile.name: one for one in propose(Table.of(frame), Dialect()).columns}
    assert (found["q17b"].role, found["q17b"].is_guess) == ("quasi_identifiers", False)


@pytest.mark.parametrize(
    ("codes", "is_medical"),
    [
        (["A10BA02", "C09AA05", "N02BE01", "B01AC06", "C07AB02", "A02BC01", "R03AC02", "C10AA05"], True),
        (["2345-7", "718-7", "2160-0", "4548-4", "6690-2", "777-3", "2951-2", "2823-3"], True),
        (["2345-1", "718-2", "2160-3", "4548-5", "6690-6", "777-7", "2951-8", "2823-9"], False),
        (["A10BA02", "X99ZZ99", "K12AB34", "Z00", "A1", "B2", "C3", "D4"], False),
    ],
)
def test_codes_of_drugs_and_of_laboratory_tests_are_medical(codes, is_medical):
    table = Table.of(pl.DataFrame({"c": codes * 3}))
    assert profile(table, "c").is_medical_code == is_medical


def test_signs_that_turn_or_hide_text_are_escaped_in_a_draft():
    """Before, a heading with such a sign changed how the lines of the specification looked."""
    frame = people().rename(columns={"sex": "s\u202eex", "ward": "wa\u200brd"})
    frame["diagnosis"] = frame["diagnosis"].replace("flu", "fl\u2066u")
    text = write_specification(propose(Table.of(frame), Dialect()), "people.csv")
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    assert "s\\U0000202eex" in text
    read = tomllib.loads(text)
    assert "s\u202eex" in read["roles"]["quasi_identifiers"] + read["roles"].get("identifiers", [])


CHINESE = "姓名,年龄,病房\n" + "".join(
    f"{'王李张刘陈'[i % 5]}{'伟娜敏'[i % 3]},{20 + i},{i % 4}\n" for i in range(40)
)


def test_an_encoding_in_doubt_is_a_warning_until_it_is_named(tmp_path, run):
    (tmp_path / "data.csv").write_bytes(CHINESE.encode("gb18030"))
    out, told = run("anonymize init data.csv")
    assert "--encoding" in told
    assert "# WARNING: The file is read as euc-jp, which is a guess" in out
    out, told = run("anonymize init data.csv --encoding gb18030")
    assert "guess, and its texts" not in out + told
    assert tomllib.loads(out)["roles"]["identifiers"] == ["姓名"]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("€ {},50", {"decimal": ",", "prefix": "€"}),
        ("{},50 €", {"decimal": ",", "suffix": "€"}),
        ("CHF {}.50", {"prefix": "CHF"}),
        ("{} kg", {"suffix": "kg"}),
        ("A{}", {}),
    ],
)
def test_currencies_and_units_beside_numbers_are_found(tmp_path, run, form, said):
    rows = [f"{'fm'[i % 2]};{20 + i % 30};{form.format(1000 + i * 7)}" for i in range(60)]
    (tmp_path / "data.csv").write_text("\n".join(["sex;age;x1", *rows]), encoding="utf-8")
    told = json.loads(run("anonymize init data.csv --json")[0])
    looks = {one["name"]: one["look"] for one in told["columns"]}
    assert tomllib.loads(told["specification"])["csv"] == {"delimiter": ";"} | said
    assert looks["x1"] == ("number" if said else "code")
    (tmp_path / "s.toml").write_text(told["specification"], encoding="utf-8")
    run("anonymize data.csv --spec s.toml -o out.csv")


def test_sums_below_a_table_are_a_warning_of_both_commands(tmp_path, run):
    text = people().to_csv(index=False)
    (tmp_path / "data.csv").write_text(f"{text}Total{',' * 8}5000\n", encoding="utf-8")
    _, told = run("anonymize init data.csv -o s.toml")
    assert "begin with 'Total', as sums below a table do" in told
    _, told = run("anonymize data.csv --spec s.toml -o out.csv")
    assert "begin with 'Total', as sums below a table do" in told
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    assert "sums below a table" not in run("anonymize init data.csv")[1]


WORDS_OF_SUMS = (
    "Saldo",
    "Zwischensumme",
    "Gesamtbetrag",
    "Solde",
    "Subtotal",
    "Sous-total",
    "Balance",
    "残高",
    "Übertrag",
)


@pytest.mark.parametrize(
    "end", [*(f"{word},,,5.1" for word in WORDS_OF_SUMS), "Summe,5000,,1", "Kassenstand,,,7"]
)
def test_sums_are_told_by_many_words_and_by_what_is_empty(end, tmp_path, run):
    """A word, and cells that are empty, or figures; or the only empty cells of half of the columns."""
    rows = "".join(f"{'ABC'[n % 3]},{20 + n % 9},{'mw'[n % 2]},{n % 5}\n" for n in range(60))
    (tmp_path / "data.csv").write_text(f"ward,age,sex,dose\n{rows}{end}\n", encoding="utf-8")
    _, told = run("anonymize init data.csv -o s.toml")
    assert "below the table, and counts" in told if "Kasse" in end else f"'{end.partition(',')[0]}'" in told
    assert ("Kassenstand" in told) is False
    assert "counts as a person" in told or "count as persons" in told
    (tmp_path / "data.csv").write_text(
        f"ward,age,sex,dose\n{rows}A,20,,3\nBalanced,21,m,\n", encoding="utf-8"
    )
    assert "sum" not in run("anonymize init data.csv")[1]


def test_the_release_that_init_names_is_another_file(tmp_path, run):
    people().to_csv("release.csv", index=False)
    out, _ = run("anonymize init release.csv -o s.toml")
    command = out.rpartition("then: duetto ")[2].strip()
    run(command)
    assert "-o release.csv" not in command


def test_years_of_two_digits_are_a_warning(tmp_path, run):
    frame = people()
    frame["born"] = [f"{1 + i % 12:02}/{1 + i % 28:02}/{40 + i % 50}" for i in range(len(frame))]
    frame.to_csv("data.csv", index=False)
    assert "years of born have two digits" in run("anonymize init data.csv")[1].casefold()


def test_a_release_by_a_proposal_does_not_list_the_texts_of_a_column(tmp_path, run):
    """Groups that `init` learned were called by all their values: "k = 5", and every value in clear."""
    beds = [f"Zimmer {i} am Fenster" for i in range(30)]
    rows = [(beds[i // 4], 20 + i % 50, "flu" if (i // 8) % 2 else "gout") for i in range(120)]
    pl.DataFrame(rows, schema=["wohnort", "age", "diagnosis"], orient="row").write_csv("data.csv")
    run("anonymize init data.csv -o s.toml")
    said = (tmp_path / "s.toml").read_text()
    assert "give their groups names" in said
    assert tomllib.loads(said)["hierarchies"]["wohnort"]["learned_from"] == ["wohnort", "diagnosis"]
    run("anonymize data.csv --spec s.toml -o out.csv")
    left = pl.read_csv("out.csv")["wohnort"]
    assert not any(bed in cell for cell in left for bed in beds)
    assert set(left) & {"group 1 of 2", "group 2 of 2"}


def test_a_table_of_identifiers_alone_gets_a_draft_that_releases_nothing(tmp_path, run):
    """What was found is not lost because no column is left to become coarser."""
    sur, given = ("Weber", "Schmidt", "Hoffmann", "Klein"), ("Anna", "Peter", "Sabine", "Paul", "Jan")
    lines = [f"{sur[n % 4]}^{given[n % 5]},{10**7 + n * n * 15_485_863 % 89_999_999}" for n in range(60)]
    (tmp_path / "data.csv").write_text("\n".join(["x00100010,x00100020", *lines]))
    out, told = run("anonymize init data.csv -o s.toml")
    assert "then:" not in out
    assert "so no step: this draft says what to take out, and releases nothing" in " ".join(told.split())
    roles = tomllib.loads((tmp_path / "s.toml").read_text())["roles"]
    assert roles == {"identifiers": ["x00100010", "x00100020"]}
    _, told = run("anonymize data.csv --spec s.toml -o out.csv", 78)
    assert "has no steps" in told
