"""`duetto anonymize` and the ledger of its table, from files to files."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.ledger import NAME

ROLES = """
[roles]
identifiers = ["name"]
quasi_identifiers = ["age", "city"]
sensitive = ["illness"]
[columns]
age = { type = "integer", bounds = [0, 120] }
[hierarchies]
city = { rows = [["Ulm", "south", "*"], ["Rom", "south", "*"], ["Oslo", "north", "*"]] }
age = { widths = [10, 40], lower = 0, upper = 120 }
[[steps]]
"""
NOISY = ROLES + 'method = "dp-noise"\ncolumns = ["age"]\nepsilon = 0.5\n'
BESIDE = NOISY + '[[accept]]\nfinding = "uncovered"\nwhy = "decided by the ethics board"\n'
K = ROLES + 'method = "local-recoding"\nk = 3\n'
BY_ROWS = ROLES + 'method = "generalization"\nlevels = { age = 2, city = 1 }\n'
TOGETHER = '[[accept]]\nfinding = "together"\nwhy = "it is coarser than those before"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path):
    number = np.arange(60)
    frame = pd.DataFrame(
        {
            "name": [f"person {i}" for i in number],
            "age": 20 + (number * 7) % 50,
            "city": [("Ulm", "Rom", "Oslo")[i % 3] for i in number],
            "illness": [("flu", "cold")[i % 2] for i in number],
            "ward": [f"ward {i * 5 % 11}" for i in number],
        }
    )
    frame.to_csv(tmp_path / "data.csv", index=False)
    for name, text in (
        ("noisy", BESIDE),
        ("bare", NOISY),
        ("k", K),
        ("rows", BY_ROWS),
        ("coarser", BY_ROWS + TOGETHER),
    ):
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path


def listed(run, words: str = "data.csv") -> dict:
    return json.loads(run(f"anonymize releases {words} --json")[0])


def test_every_release_is_recorded_and_adds_up(run):
    for number in range(3):
        run(f"anonymize data.csv --spec noisy.toml -o out{number}.csv")
    run("anonymize data.csv --spec k.toml -o k.csv")
    told = listed(run)
    assert [one["output"] for one in told["releases"]] == ["out0.csv", "out1.csv", "out2.csv", "k.csv"]
    assert told["epsilon"] == pytest.approx(1.5)
    assert told["without_epsilon"] == 1
    assert "in no sum" in told["warnings"][0]
    out, _ = run("anonymize releases data.csv")
    assert "4 releases" in out
    assert "together epsilon 1.5" in out
    assert "no limit" in out


def test_a_limit_refuses_before_anything_is_drawn(run, monkeypatch):
    run("anonymize releases data.csv --limit-epsilon 1.0")
    for number in range(2):
        run(f"anonymize data.csv --spec noisy.toml -o out{number}.csv")

    def drawn(self: Pipeline, table: object) -> None:
        raise AssertionError("it was drawn")

    with monkeypatch.context() as patched:
        patched.setattr(Pipeline, "fit_transform_table", drawn)
        _, err = run("anonymize data.csv --spec noisy.toml -o out2.csv", 65)
    assert "[budget]" in err
    assert not Path("out2.csv").exists()
    _, err = run("anonymize data.csv --spec k.toml -o k.csv", 65)
    assert "promises no differential privacy" in err
    _, err = run("anonymize data.csv --spec rows.toml -o rows.csv --chunk-rows 100", 65)
    assert "[budget]" in err
    assert not list(Path().glob("*k.csv*")) + list(Path().glob("rows.csv*"))
    run("anonymize releases data.csv --limit-epsilon 1.5")
    run("anonymize data.csv --spec noisy.toml -o out2.csv")
    assert listed(run)["limit"] == {"epsilon": 1.5, "delta": 0.0}


SYNTHETIC = (
    ROLES.partition("[columns]")[0]
    + """[columns]
age = { type = "integer", bounds = [0, 120] }
city = { type = "category", categories = ["Ulm", "Rom", "Oslo"] }
illness = { type = "category", categories = ["flu", "cold"] }
[[steps]]
method = "synth-independent"
columns = ["age", "city", "illness"]
epsilon = 0.5
"""
)


def test_the_limit_that_is_exceeded_is_named_and_the_hint_raises_it(run):
    """With `--limit-epsilon 100` that of delta is 0, and no epsilon helps."""
    Path("synthetic.toml").write_text(SYNTHETIC)
    out, _ = run("anonymize releases data.csv --limit-epsilon 100")
    assert "epsilon 100 and delta 0 are allowed" in out
    _, err = run("anonymize data.csv --spec synthetic.toml -o out.csv", 65)
    said = " ".join(err.split())
    assert "more delta than is allowed" in said
    [command] = re.findall("`duetto (.*?)`", said)
    assert "--limit-delta" in command
    run(command.replace("DATA", "data.csv"))
    run("anonymize data.csv --spec synthetic.toml -o out.csv")
    delta = listed(run)["limit"]["delta"]
    run("anonymize releases data.csv --limit-epsilon 200")
    assert listed(run)["limit"] == {"epsilon": 200, "delta": delta}
    assert delta > 0


def test_a_copy_with_its_rows_in_another_order_has_the_same_limit(run):
    run("anonymize releases data.csv --limit-epsilon 0.1")
    pd.read_csv("data.csv").iloc[::-1].to_csv("copy.csv", index=False)
    _, err = run("anonymize copy.csv --spec noisy.toml -o out.csv", 65)
    assert "[budget]" in err
    Path("link.csv").symlink_to("data.csv")
    run("anonymize link.csv --spec noisy.toml -o out.csv", 65)
    Path("elsewhere").mkdir()
    shutil.copy("data.csv", "elsewhere")  # not recognized, as the page says
    run("anonymize elsewhere/data.csv --spec noisy.toml -o out.csv")
    run(f"anonymize elsewhere/data.csv --spec noisy.toml -o out.csv --ledger {NAME}", 65)


def test_by_chunks_what_was_promised_of_classes_is_not_undone_unseen(run):
    """Ages by sevens and ages by fives leave one candidate together, and by chunks nobody can look."""
    run("anonymize data.csv --spec k.toml -o one.csv")
    _, err = run("anonymize data.csv --spec rows.toml -o two.csv --chunk-rows 100", 65)
    assert "one.csv of this table promised classes" in err
    assert not Path("two.csv").exists()
    run("anonymize data.csv --spec coarser.toml -o two.csv --chunk-rows 100")


def test_by_chunks_the_same_content_is_recorded(run):
    run("anonymize data.csv --spec k.toml -o k.csv")
    run("anonymize data.csv --spec coarser.toml -o rows.parquet --chunk-rows 100")
    one, two = listed(run)["releases"]
    assert one["content"] == two["content"]
    assert two["output"] == "rows.parquet"


def test_what_the_gate_refuses_is_not_recorded(run):
    Path("kept.toml").write_text(ROLES + 'method = "generalization"\nlevels = { age = 0 }\n')
    run("anonymize data.csv --spec kept.toml -o out.csv", 65)
    assert not Path(NAME).exists()
    assert listed(run)["releases"] == []


def test_verify_finds_what_was_changed(run):
    run("anonymize data.csv --spec k.toml -o k.csv")
    run("anonymize data.csv --spec noisy.toml -o out.csv")
    told = listed(run, "data.csv --verify")
    assert (told["records"], told["files"], len(told["head"])) == (2, {}, 64)
    Path("k.csv").unlink()
    Path("out.csv").write_text("age\n")
    told = listed(run, "data.csv --verify")
    assert "cannot be read" in told["files"]["k.csv"]
    assert "another file" in told["files"]["out.csv"]
    ledger = Path(NAME).read_text()
    Path(NAME).write_text(ledger.replace('"rows":60', '"rows":61'))
    _, err = run("anonymize releases data.csv --verify", 65)
    assert "broken: record 0" in err
    _, err = run("anonymize data.csv --spec k.toml -o k.csv", 65)
    assert "broken: record 0" in err
    assert not Path("k.csv").exists()


def test_a_trial_is_withdrawn_with_a_reason(run):
    run("anonymize data.csv --spec noisy.toml -o out.csv")
    run("anonymize releases data.csv --withdraw 0", 78)
    run("anonymize releases data.csv --withdraw 3 --why trial", 78)
    out, _ = run("anonymize releases data.csv --withdraw 0 --why 'never given out'")
    assert "withdrawn: never given out" in out
    assert listed(run)["epsilon"] == 0


def test_the_release_does_not_take_the_place_of_the_ledger(run):
    run(f"anonymize data.csv --spec k.toml -o out.csv --ledger {Path('out.csv').resolve()}", 2)


OTHER = K.replace("widths = [10, 40]", "widths = [7, 35]")


def test_what_falls_between_two_safe_releases_is_found(run):
    Path("other.toml").write_text(OTHER)
    run("anonymize data.csv --spec k.toml -o one.csv")
    run("anonymize data.csv --spec k.toml -o same.csv")  # the same classes once more
    _, err = run("anonymize data.csv --spec other.toml -o two.csv", 65)
    assert "[together]" in err
    assert "promised of this release" in err
    assert not Path("two.csv").exists()
    accepted = '[[accept]]\nfinding = "together"\nwhy = "the second goes to people who have the first"\n'
    Path("other.toml").write_text(OTHER + accepted)
    told = json.loads(run("anonymize data.csv --spec other.toml -o two.csv --report r.html --json")[0])
    assert told["together"]["releases"] == 3
    assert told["together"]["measured"] == 3
    assert told["together"]["k"] < 3
    assert told["risk"]["intersection"]["k"] == told["together"]["k"]
    assert "Several releases together" in Path("r.html").read_text()
    manifest = json.loads(Path("two.csv.manifest.json").read_text())
    assert manifest["together"] == told["together"]
    plain = K.replace('[columns]\nage = { type = "integer", bounds = [0, 120] }\n', "")
    Path("roles.toml").write_text(plain)
    risk = json.loads(run("risk data.csv two.csv one.csv same.csv --roles roles.toml --json")[0])
    assert risk["risk"]["intersection"]["k"] == told["together"]["k"]
    assert [one["name"] for one in risk["risk"]["intersection"]["releases"]][1:] == ["one.csv", "same.csv"]


@pytest.mark.parametrize("forms", [(";", ","), (",", ";")])
def test_a_release_in_another_form_of_csv_is_measured_too(run, forms):
    """One specification writes semicolons, the other one commas; the table is Parquet and has neither."""
    pd.read_csv("data.csv").to_parquet("data.parquet")
    for name, text, sign in zip(("k", "other"), (K, OTHER), forms, strict=True):
        Path(f"{name}.toml").write_text(f'[csv]\ndelimiter = "{sign}"\n{text}')
    run("anonymize data.parquet --spec k.toml -o one.csv")
    _, err = run("anonymize data.parquet --spec other.toml -o two.csv", 65)
    assert "[together]" in err
    assert not Path("two.csv").exists()


def test_a_table_that_was_in_classes_before_leaves_with_a_warning(run):
    """What is asked for holds; whether the roles are right is what is left to ask."""
    frame = pd.read_csv("data.csv")
    frame["age"] = 40
    frame.to_csv("data.csv", index=False)
    out, err = run("anonymize data.csv --spec k.toml -o out.csv --report r.html")
    assert "k = 20" in out
    assert "the table was in these classes before" in err
    assert "the table was in these classes before" in Path("r.html").read_text()
    frame.loc[0, "city"] = "Rom"
    frame.loc[1:18:3, "city"] = "Rom"
    frame["age"] = 20 + frame.index
    frame.to_csv("data2.csv", index=False)
    assert "in these classes before" not in run("anonymize data2.csv --spec k.toml -o out2.csv")[1]


def test_withdrawn_gone_and_noisy_releases_are_not_measured(run):
    Path("other.toml").write_text(OTHER)
    run("anonymize data.csv --spec k.toml -o one.csv")
    run("anonymize releases data.csv --withdraw 0 --why trial")
    run("anonymize data.csv --spec other.toml -o two.csv")
    Path("two.csv").unlink()
    _, err = run("anonymize data.csv --spec k.toml -o one.csv")
    assert "two.csv was made of this table before and is not measured" in err
    run("anonymize data.csv --spec noisy.toml -o noisy.csv")
    noise = 'method = "noise"\ncolumns = ["age"]\nepsilon = 0.5\ndigits = 0\n'
    Path("blurred.toml").write_text(ROLES + noise)
    run("anonymize data.csv --spec blurred.toml -o blurred.csv")
    _, err = run("anonymize data.csv --spec k.toml -o one.csv")
    assert "drawn at random" in err


def test_a_promise_over_some_columns_is_not_held_against_a_release_once_more(run):
    """What does not hold over all quasi-identifiers alone is another finding, `narrow`."""
    accepted = '[[accept]]\nfinding = "narrow"\nwhy = "so decided"\n'
    wider = K.replace('["age", "city"]', '["age", "city", "ward"]')
    Path("narrow.toml").write_text(wider + 'columns = ["age", "city"]\n' + accepted)
    run("anonymize data.csv --spec narrow.toml -o one.csv")
    told = json.loads(run("anonymize data.csv --spec narrow.toml -o two.csv --json")[0])
    assert told["together"]["k"] == told["k"] == 1
    assert told["together"]["looked"] == 60


def test_a_ledger_that_is_a_link_to_nowhere_is_refused(run):
    Path(NAME).symlink_to("gone.jsonl")
    for words in ("releases data.csv --limit-epsilon 3", "data.csv --spec k.toml -o out.csv"):
        _, err = run(f"anonymize {words}", 65)
        assert "not an ordinary file" in err
    assert not Path("out.csv").exists()


def test_a_device_or_a_pipe_is_no_ledger_and_stays(run):
    os.mkfifo("pipe")
    for words in ("releases data.csv --limit-epsilon 3", "data.csv --spec k.toml -o out.csv"):
        _, err = run(f"anonymize {words} --ledger pipe", 65)
        assert "not an ordinary file" in err
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)
    assert not Path("out.csv").exists()


def test_an_empty_file_of_somebody_else_stays_where_nothing_is_recorded(run):
    Path("empty.jsonl").touch()
    Path("other.toml").write_text(K.replace("k = 3", "k = 61"))
    run("anonymize data.csv --spec other.toml -o out.csv --ledger empty.jsonl", 65)
    assert Path("empty.jsonl").exists()
    assert not Path(NAME).exists()


@pytest.mark.parametrize("noisy_first", [False, True])
def test_noise_on_another_column_leaves_classes_to_be_compared(run, noisy_first):
    frame = pd.read_csv("data.csv")
    frame["days"] = np.arange(60) // 30
    frame.to_csv("data.csv", index=False)
    bounds = '[columns]\ndays = { type = "integer", bounds = [0, 60] }\n'
    noise = '[[steps]]\nmethod = "dp-noise"\ncolumns = ["days"]\nepsilon = 1.0\n'
    with_noise = OTHER.replace("[columns]\n", bounds) + noise
    Path("other.toml").write_text(with_noise)
    order = ["other", "k"] if noisy_first else ["k", "other"]
    run(f"anonymize data.csv --spec {order[0]}.toml -o one.csv")
    _, err = run(f"anonymize data.csv --spec {order[1]}.toml -o two.csv", 65)
    assert "[together]" in err


def test_what_epsilon_does_not_cover_is_said(run):
    _, err = run("anonymize data.csv --spec noisy.toml -o out.csv")
    assert "no sum or limit of epsilon holds them" in err
    assert "illness" in err


def test_a_limit_lets_no_columns_without_noise_leave_unless_somebody_says_why(run):
    run("anonymize data.csv --spec bare.toml -o before.csv")  # without a limit a warning is enough
    run("anonymize releases data.csv --limit-epsilon 9")
    _, err = run("anonymize data.csv --spec bare.toml -o out.csv", 65)
    assert "[uncovered]" in err
    assert "illness" in err
    assert not Path("out.csv").exists()
    run("anonymize data.csv --spec noisy.toml -o out.csv")
    accepted = json.loads(Path("out.csv.manifest.json").read_text())["accepted"]
    assert accepted == [{"finding": "uncovered", "column": "", "why": "decided by the ethics board"}]


def test_a_release_names_its_record(run):
    for number in range(2):
        run(f"anonymize data.csv --spec noisy.toml -o out{number}.csv")
    named = [json.loads(Path(f"out{number}.csv.manifest.json").read_text())["record"] for number in range(2)]
    told = listed(run)
    assert [one["number"] for one in named] == [one["sequence"] for one in told["releases"]] == [0, 1]
    assert [one["id"] for one in named] == [one["id"] for one in told["releases"]]
    assert {one["ledger"] for one in named} == {named[0]["id"]}
    assert not [one for one in told["warnings"] if "ledger" in one]
    hashes = [json.loads(line)["hash"] for line in Path(NAME).read_text().splitlines()]
    assert not any(one in Path("out1.csv.manifest.json").read_text() for one in hashes)


@pytest.mark.parametrize("how", ["deleted", "emptied", "begun anew", "cut"])
def test_a_ledger_that_has_forgotten_a_release_is_announced(run, how):
    for number in range(2):
        run(f"anonymize data.csv --spec noisy.toml -o out{number}.csv")
    lines = Path(NAME).read_bytes().splitlines(keepends=True)
    Path(NAME).unlink()
    if how != "deleted":
        Path(NAME).write_bytes(lines[0] if how == "cut" else b"")
    forgotten = ["out1.csv"] if how == "cut" else ["out0.csv", "out1.csv"]
    if how == "begun anew":
        run("anonymize data.csv --spec rows.toml -o rows.csv --chunk-rows 100")
    warned = [one for one in listed(run)["warnings"] if "in no sum: " in one or "no such record" in one]
    assert [one.split(".manifest")[0].rpartition("/")[2] for one in warned] == forgotten
    _, err = run("anonymize data.csv --spec noisy.toml -o out2.csv")
    assert all(f"{name}.manifest.json" in err for name in forgotten)
    _, err = run("anonymize data.csv --spec rows.toml -o rows.csv --chunk-rows 100")
    assert all(f"{name}.manifest.json" in err for name in forgotten)


def test_releases_that_others_have_put_beside_ours_are_no_alarm(run):
    Path("other").mkdir()
    Path("given").mkdir()
    pd.read_csv("data.csv").assign(ward="x").to_csv("other/other.csv", index=False)
    run("anonymize other/other.csv --spec noisy.toml -o given/other.csv")
    Path("given/strange.manifest.json").write_text('{"record": {"id": 3}}')
    Path("strange.manifest.json").write_bytes(b"\xff")
    for number in range(2):
        _, err = run(f"anonymize data.csv --spec noisy.toml -o given/out{number}.csv")
        assert "other.csv" not in err
        assert "strange" not in err
    lines = Path(NAME).read_bytes().splitlines(keepends=True)
    Path(NAME).write_bytes(lines[0])
    _, err = run("anonymize data.csv --spec noisy.toml -o given/out2.csv")
    assert "given/out1.csv.manifest.json names record 1 of" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '[purpose]\npurpose = "Recheck of person 17 and Mr Oyelaran"\n',
            "[purpose] purpose holds what looks like",
        ),
        (
            '[purpose]\npurpose = "Nachfrage zu Wigglesworth"\n',
            "[purpose] purpose holds a value of the identifier name",
        ),
        (
            '[purpose]\nrecipient = "the heirs of B. WIGGLESWORTH"\n',
            "recipient holds a value of the identifier",
        ),
        (
            '[[accept]]\nfinding = "kept"\nwhy = "Anna Weber agrees"\n',
            "the reason why kept is accepted holds what",
        ),
        ("", "the unit of age holds a value"),
        ('[purpose]\npurpose = "田中様の依頼"\n', "[purpose] purpose holds what looks like"),
        ('title = "Nachfrage zu Wigglesworth"\n', "the title holds a value of the identifier name"),
        ('[purpose]\npurpose = "Study of Flu in Ulm, 2025"\nresponsible = "Dr Anna Weber"\n', ""),
    ],
)
def test_names_in_what_people_write_are_a_warning(run, text, said):
    frame = pd.read_csv("data.csv")
    unit = "" if text else 'unit = "years, Wigglesworth in months", '
    frame.loc[3, "name"] = "Barnaby Wigglesworth"
    frame.to_csv("data.csv", index=False)
    first, text = (text, "") if text.startswith("title") else ("", text)
    Path("own.toml").write_text(
        first + K.replace("[columns]\nage = { ", f"[columns]\nage = {{ {unit}") + text
    )
    _, err = run("anonymize data.csv --spec own.toml -o out.csv")
    assert said in err
    assert said or "goes out with the release as written" not in err
    assert "Wigglesworth" not in err
    by_rows = first + BY_ROWS.replace("[columns]\nage = { ", f"[columns]\nage = {{ {unit}") + TOGETHER
    Path("own.toml").write_text(by_rows + text)
    _, err = run("anonymize data.csv --spec own.toml -o rows.csv --chunk-rows 100")
    assert said in err


@pytest.mark.parametrize(
    ("text", "output", "said"),
    [
        ("", "barnaby_wigglesworth.csv", "the name of the file holds a value of the identifier name"),
        (
            'town = { type = "category", categories = ["Ulm", "Wigglesworth, Barnaby", "Bonn"] }\n',
            "out.csv",
            "the categories of town holds a value of the identifier name",
        ),
        (
            '[hierarchies]\ntown = { rows = [["Ulm", "of Barnaby Wigglesworth"], ["Bonn", "*"]] }\n',
            "out.csv",
            "the labels of town holds a value of the identifier name",
        ),
        ('town = { type = "category", categories = ["Ulm", "Barnaby", "Bonn"] }\n', "wiggly.csv", ""),
    ],
)
def test_names_in_lists_and_in_the_name_of_the_file_are_a_warning(run, text, output, said):
    frame = pd.read_csv("data.csv")
    frame.loc[3, "name"] = "Barnaby Wigglesworth"
    frame["town"] = ["Ulm", "Bonn"] * (len(frame) // 2)
    frame.to_csv("data.csv", index=False)
    table = "[hierarchies]\n" if text.startswith("[") else "[columns]\n"
    Path("own.toml").write_text(K.replace(table, table + text.removeprefix(table)))
    _, err = run(f"anonymize data.csv --spec own.toml -o {output}")
    assert said in err
    assert said or "goes out with the release as written" not in err
    assert "Wigglesworth" not in err


@pytest.mark.parametrize(
    ("name", "is_told"),
    [
        ("F1: trust in Mrs Oyelaran", True),
        ("asked by Anna Weber", True),
        ("May income", False),
        ("Grace Period", False),
    ],
)
def test_a_name_in_the_name_of_a_column_is_a_warning(run, name, is_told):
    frame = pd.read_csv("data.csv")
    frame[name] = ["a", "b"] * (len(frame) // 2)
    frame.to_csv("data.csv", index=False)
    _, err = run("anonymize data.csv --spec k.toml -o out.csv")
    assert ("holds what looks like the name of a person" in " ".join(err.split())) == is_told


def test_another_ledger_does_not_forget_what_is_on_record(run):
    run("anonymize releases data.csv --limit-epsilon 0.5")
    run("anonymize data.csv --spec noisy.toml -o one.csv")
    _, err = run("anonymize data.csv --spec noisy.toml -o two.csv --ledger new.jsonl", 65)
    assert "on record" in err
    _, err = run("anonymize data.csv --spec rows.toml -o two.csv --ledger new.jsonl --chunk-rows 100", 65)
    assert "on record" in err
    run("anonymize releases data.csv --limit-epsilon 9 --ledger new.jsonl", 65)
    assert not Path("new.jsonl").exists()
    assert f"mv -n {Path(NAME).resolve()} {Path('new.jsonl').resolve()}" in " ".join(err.split())
    shutil.copy(NAME, "new.jsonl")
    Path("other").mkdir()
    for place in ("new.jsonl", "other/new.jsonl"):
        _, err = run(f"anonymize data.csv --spec noisy.toml -o two.csv --ledger {place}", 65)
        assert "mv " not in err, "a move would write over a ledger, or break the paths in it"
        assert "Leave --ledger out" in err
    Path("new.jsonl").unlink()
    Path(NAME).rename("new.jsonl")
    run("anonymize data.csv --spec noisy.toml -o two.csv --ledger new.jsonl", 65)  # beyond the limit


def test_epsilon_of_persons_and_epsilon_of_rows_do_not_add_up(run):
    frame = pd.read_csv("data.csv")
    frame["patient"] = [f"patient {number // 2}" for number in range(60)]
    frame.to_csv("data.csv", index=False)
    plain = NOISY.replace('["name"]', '["name", "patient"]')
    persons = plain.replace("[roles]\n", '[roles]\nperson = "patient"\nrows_per_person = 2\n')
    Path("plain.toml").write_text(plain)
    Path("persons.toml").write_text(persons)
    run("anonymize data.csv --spec persons.toml -o one.csv")
    assert listed(run)["epsilon"] == 1.0
    _, err = run("anonymize data.csv --spec plain.toml -o two.csv", 65)
    assert "the sum would be too small" in err


def test_nor_do_epsilon_of_rows_and_then_of_persons(run):
    """A person with two rows has spent twice what each release by rows says."""
    frame = pd.read_csv("data.csv")
    frame["patient"] = [f"patient {number // 2}" for number in range(60)]
    frame.to_csv("data.csv", index=False)
    plain = BESIDE.replace('["name"]', '["name", "patient"]')
    Path("plain.toml").write_text(plain)
    Path("persons.toml").write_text(
        plain.replace("[roles]\n", '[roles]\nperson = "patient"\nrows_per_person = 2\n')
    )
    run("anonymize data.csv --spec plain.toml -o one.csv")
    run("anonymize data.csv --spec persons.toml -o two.csv")  # without a limit it is said
    found = listed(run)
    assert (found["epsilon"], found["without_epsilon"]) == (1.0, 1)
    assert "one row of a person (1)" in found["warnings"][0]
    together = json.loads(Path("two.csv.manifest.json").read_text())["together"]
    assert (together["epsilon"], together["without_epsilon"]) == (1.0, 1)
    run("anonymize releases data.csv --limit-epsilon 6")
    _, err = run("anonymize data.csv --spec persons.toml -o three.csv", 65)
    assert "have counted epsilon for a single row" in err
    run("anonymize releases data.csv --withdraw 0 --why unused")
    run("anonymize data.csv --spec persons.toml -o three.csv")


def test_a_record_that_was_cut_is_announced_for_as_long_as_it_lies_there(run):
    run("anonymize releases data.csv --limit-epsilon 0.5")
    ledger = Path(NAME)
    ledger.write_bytes(ledger.read_bytes()[:-40])
    assert "is not a whole record" in run("anonymize releases data.csv")[1]
    _, err = run("anonymize data.csv --spec noisy.toml -o out.csv")
    assert f"{NAME}.torn-0 holds a record that was not whole" in err
    assert "torn-0" in run("anonymize releases data.csv --verify")[1]
