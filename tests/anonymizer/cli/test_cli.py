"""The three commands, from files to files."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from anonymizer.cli import output
from anonymizer.errors import FileError, TableError
from anonymizer.pipelines.spec import read as read_spec
from anonymizer.releases.manifest import Manifest
from anonymizer.tables import files
from parties.cli.main import main

ROLES = """
[roles]
identifiers = ["name"]
quasi_identifiers = ["age", "city"]
sensitive = ["illness"]
"""
HIERARCHIES = """
[hierarchies]
age = { widths = [10, 40], lower = 0, upper = 120 }
city = { rows = [["Ulm", "south", "*"], ["Rom", "south", "*"], ["Oslo", "north", "*"]] }
"""
BY_ROWS = """
[[steps]]
method = "top-bottom-coding"
bounds = { age = [25, 60] }
[[steps]]
method = "generalization"
levels = { age = 1, city = 1 }
"""
NOISY = """
[[steps]]
method = "noise"
columns = ["age"]
epsilon = 0.5
digits = 0
[[steps]]
method = "sampling"
rate = 0.75
"""
K_ANONYMOUS = """
[[steps]]
method = "local-recoding"
k = 3
"""
RANGES = """
[[steps]]
method = "generalization"
levels = { age = { choices = [0, 1, 2] }, city = { from = 0, to = 2, points = 3 } }
"""


def people(rows: int = 60) -> pd.DataFrame:
    number = np.arange(rows)
    return pd.DataFrame(
        {
            "name": [f"person {i}, <b>é" for i in number],
            "age": 20 + (number * 7) % 50,
            "city": [("Ulm", "Rom", "Oslo")[i % 3] for i in number],
            "illness": [("flu", "cold")[i % 2] for i in number],
            "weight": np.where(number % 9 == 4, np.nan, 50.5 + (number * 23) % 20),
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people().to_csv("data.csv", index=False)
    people().to_parquet("data.parquet")
    for name, steps in (("rows", BY_ROWS), ("noisy", NOISY), ("k", K_ANONYMOUS), ("ranges", RANGES)):
        Path(f"{name}.toml").write_text(ROLES + HIERARCHIES + steps)
    Path("roles.toml").write_text(ROLES)
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    def called(*words: str, status: int = 0) -> tuple[str, str]:
        with pytest.raises(SystemExit) as ended:
            main(" ".join(words).split())
        told = capsys.readouterr()
        assert ended.value.code == status, told
        return told.out, told.err

    return called


def test_a_release_and_its_report(run, folder):
    out, err = run("anonymize data.csv --spec k.toml -o out.csv --report report.html")
    assert "k = 3" in out or "k = 4" in out or "k = 5" in out
    assert "warning: Released with no role" in err
    released = files.read("out.csv")
    assert list(released.columns) == ["age", "city", "illness", "weight"]
    assert released.groupby(["age", "city"]).size().min() >= 3
    page = Path("report.html").read_text()
    assert read_spec("k.toml").digest in page
    assert read_spec("k.toml").digest in out
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_json_tells_risk_and_utility(run):
    words = "anonymize data.parquet --spec noisy.toml -o out.parquet --report r.html --seed 3 --json"
    told = json.loads(run(words)[0])
    assert told["success"] is True
    assert (told["rows"], told["released"], told["seed"]) == (60, 45, 3)
    simulator = told["risk"]["simulator"]
    assert simulator["records"] == 60
    assert 0 < simulator["risk"] <= 1
    assert set(simulator["revealing"]) == {"illness"}
    assert told["utility"]["information-loss"]["rows"] == 0.75
    assert sum(told["risk"]["distribution"].values()) == pytest.approx(1)
    warned = " ".join(told["warnings"])
    for part in ("seed (3)", "No differential privacy", "sampled", "weight"):
        assert part in warned
    assert files.read("out.parquet")["age"].dtype.kind in "if"


def test_a_seed_repeats_a_release(run):
    for name in ("a.csv", "b.csv"):
        run("anonymize", "data.csv", "--spec", "noisy.toml", "-o", name, "--seed", "5")
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()


def test_attacks_and_learning_in_the_report(run):
    people(40).to_csv("control.csv", index=False)
    words = "anonymize data.csv --spec noisy.toml -o out.csv --report r.html --seed 3 --json"
    extra = "--attacks --control control.csv --target illness"
    told = json.loads(run(words, extra)[0])
    found = [told["risk"][word] for word in ("singling-out", "linkability")]
    found.append(told["risk"]["inference"]["illness"])
    assert all(one["control"] for one in found)
    assert told["utility"]["learning"]["ratio"] > 0


def test_anatomy_writes_its_second_table(run):
    # Weights of no role would leave beside ages that anatomy releases as they are.
    people().drop(columns="weight").to_csv("data.csv", index=False)
    Path("anatomy.toml").write_text(ROLES + '[[steps]]\nmethod = "anatomy"\nl = 2\n')
    told = json.loads(run("anonymize data.csv --spec anatomy.toml -o out.csv --report r.html --json")[0])
    assert told["second"] == ["out-sensitive.csv"]
    assert set(files.read("out-sensitive.csv").columns) == {"group", "illness", "count"}
    assert "illness" not in files.read("out.csv").columns


@pytest.mark.parametrize("rows", ["7", "60"])
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_chunks_give_the_same_release(run, ending, rows):
    words = ("--spec", "rows.toml", "--keep-order", "-o")
    run("anonymize", "data.csv", *words, f"whole.{ending}")
    run("anonymize", "data.csv", *words, f"parts.{ending}", "--chunk-rows", rows)
    run("anonymize", "data.parquet", *words, "third.csv", "--chunk-rows", rows)
    whole = files.read(f"whole.{ending}")
    pd.testing.assert_frame_equal(whole, files.read(f"parts.{ending}"))
    pd.testing.assert_frame_equal(files.read("third.csv"), whole, check_dtype=False)
    if ending == "csv":
        assert Path("whole.csv").read_bytes() == Path("parts.csv").read_bytes()


def many() -> pd.DataFrame:
    """So many that columns made by counting would tell each other."""
    return people(300).assign(weight=np.random.default_rng(3).normal(70, 9, 300).round())


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_rows_are_shuffled_within_chunks(run, ending):
    whole = many()
    whole.to_csv("data.csv", index=False)
    told = json.loads(run(f"anonymize data.csv --spec rows.toml -o o.{ending} --chunk-rows 100 --json")[0])
    assert told["order"] == "shuffled within chunks"
    assert any("within chunks" in one for one in told["warnings"])
    manifest = Manifest.from_json(Path(told["manifest"]).read_text())
    assert (manifest.order, manifest.rows) == ("shuffled within chunks", 300)
    parts = files.read(f"o.{ending}")
    for start in range(0, 300, 100):
        weights = [one["weight"].iloc[start : start + 100].dropna().tolist() for one in (whole, parts)]
        assert sorted(weights[0]) == sorted(weights[1])
        assert weights[0] != weights[1]


def test_chunks_warn_of_columns_as_the_whole_table_does(run):
    many().to_csv("data.csv", index=False)
    words = "anonymize data.csv --spec rows.toml --json -o"
    whole = json.loads(run(words, "whole.csv")[0])["warnings"]
    parts = json.loads(run(words, "parts.csv", "--chunk-rows", "100")[0])["warnings"]
    about = [one for one in whole if "no role" in one]
    assert about
    assert "weight" in about[0]
    assert set(about) <= set(parts)


def test_a_text_with_the_name_of_its_row_is_a_warning(run):
    table = people()
    table["name"] = [f"Xyra{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(len(table))]
    table.loc[7, "illness"] = f"{table.loc[7, 'name']} has flu"
    table.to_csv("data.csv", index=False)
    warnings = json.loads(run("anonymize data.csv --spec k.toml --json -o out.csv")[0])["warnings"]
    (said,) = [one for one in warnings if "holds a word of" in one]
    assert said.startswith(
        "Column illness holds a word of the name of the row in its texts, in 1 of 60 rows."
    )


def test_chunks_pass_the_gate(run):
    frame = many()
    frame["pid"] = frame["name"].str.upper()
    frame.to_csv("data.csv", index=False)
    words = "anonymize data.csv --spec rows.toml -o o.csv --chunk-rows 100"
    told = json.loads(run(words, "--json", status=65)[0])
    assert {("disguise", "pid"), ("identifying", "pid")} <= {
        (one["rule"], one["column"]) for one in told["error"]["findings"]
    }
    assert not Path("o.csv").exists()


def test_chunks_agree_on_dtypes(folder):
    mixed = "a,b,c,d,e\n1,1,x,True,\n2,,7,False,\n,2.5,9,True,\n4,3,,False,\n"
    Path("mixed.csv").write_text(mixed)
    whole = files.read("mixed.csv")
    parts = [one.converted(one.names).native for one in files.tables("mixed.csv", 1)]
    assert len({tuple(part.dtypes) for part in parts}) == 1
    pd.testing.assert_frame_equal(pl.concat(parts).to_pandas(), whole)


def test_chunks_refuse_what_needs_the_table(run, folder):
    told = json.loads(
        run("anonymize data.csv --spec k.toml -o o.csv --keep-order --chunk-rows 9 --json", status=78)[0]
    )
    assert "local-recoding" in told["error"]["what"]
    run("anonymize data.csv --spec rows.toml -o o.csv --keep-order --chunk-rows 9 --seed 1", status=2)
    Path("late.csv").write_text("name,age,city,illness\nx,30,Ulm,flu\ny,31,Ulm,flu\nz,32,Atlantis,flu\n")
    _, err = run("anonymize late.csv --spec rows.toml -o o.csv --keep-order --chunk-rows 1", status=78)
    assert "Atlantis" in err
    assert not Path("o.csv").exists()


def test_rows_that_miss_a_cell_go_by_chunks(run):
    Path("missing.toml").write_text(ROLES + '[[steps]]\nmethod = "suppress-missing"\n')
    Path("gaps.csv").write_text("name,age,city,illness\nx,,Ulm,flu\ny,31,Ulm,flu\n")
    run("anonymize gaps.csv --spec missing.toml -o o.csv --keep-order --chunk-rows 1")
    assert len(files.read("o.csv")) == 1
    Path("gaps.csv").write_text("name,age,city,illness\nx,,Ulm,flu\ny,,Ulm,flu\n")
    run("anonymize gaps.csv --spec missing.toml -o none.csv --keep-order --chunk-rows 1", status=65)
    Path("empty.csv").write_text("name,age,city,illness\n")
    run("anonymize empty.csv --spec missing.toml -o none.csv --keep-order --chunk-rows 1", status=65)
    assert not Path("none.csv").exists()


def test_risk_of_any_release(run):
    run("anonymize", "data.csv", "--spec", "rows.toml", "-o", "out.csv")
    out, _ = run("risk data.csv out.csv --roles roles.toml --report r.html")
    sizes = files.read("out.csv").groupby(["age", "city"]).size()
    assert f"k = {sizes.min()}" in out
    people().drop(columns="name").to_csv("population.csv", index=False)
    words = "risk data.csv data.csv --roles rows.toml --fraction 0.5 --population population.csv --json"
    told = json.loads(run(words)[0])
    assert told["risk"]["uniqueness"]["fraction"] == 0.5
    assert told["risk"]["journalist"]["highest"] <= told["risk"]["prosecutor"]["highest"]
    assert told["not_measured"]["simulator"] == "it is not known how the release was made"
    assert any("identifier" in one for one in told["warnings"])
    assert told["utility"]["information-loss"]["mean_ncp"] == 0


def test_roles_may_stand_at_the_top_of_their_file(run):
    Path("flat.toml").write_text(ROLES.replace("[roles]", ""))
    told = json.loads(run("risk data.csv data.csv --roles flat.toml --attacks --seed 1 --json")[0])
    assert {"singling-out", "linkability", "inference"} <= set(told["risk"])
    assert any("control group" in one for one in told["warnings"])


def test_search_finds_the_best_within_the_limit(run):
    words = "search data.csv --spec ranges.toml --limit 1/4 -o best.toml --report map.html --json"
    told = json.loads(run(words)[0])
    assert len(told["trials"]) == 9
    allowed = [one for one in told["trials"] if one["allowed"]]
    assert told["best"]["utility"] == max(one["utility"] for one in allowed)
    assert told["best"]["risk"] <= 0.25
    run("anonymize data.csv --spec best.toml -o out.csv")
    assert "Map of risk and utility" in Path("map.html").read_text()
    out, err = run("search data.csv --spec ranges.toml --limit 0.25 --average --target illness")
    assert "* risk" in out
    assert "9/9" in err


def test_a_search_without_a_release_says_so_and_maps_it(run):
    told = run("search data.csv --spec ranges.toml --limit 0 --report map.html", status=65)[1]
    assert "the lowest is" in told
    assert "No trial has a risk of 0" in Path("map.html").read_text()
    assert not Path("best.toml").exists()


@pytest.mark.parametrize(
    ("words", "status", "part"),
    [
        ("anonymize none.csv --spec k.toml -o o.csv", 65, "none.csv"),
        ("anonymize data.csv --spec none.toml -o o.csv", 65, "none.toml"),
        ("anonymize data.csv --spec k.toml -o o.txt", 65, "o.txt"),
        ("anonymize data.csv --spec k.toml -o none/o.csv", 65, "none"),
        ("anonymize data.csv --spec k.toml -o data.csv", 2, "twice"),
        ("anonymize data.csv --spec k.toml -o o.csv --attacks", 2, "--report"),
        ("anonymize data.csv --spec k.toml -o o.csv --control c.csv", 2, "--report"),
        ("anonymize data.csv --spec k.toml -o o.csv --report r.html --control c.csv", 65, "c.csv"),
        ("anonymize data.csv --spec k.toml -o o.csv --report r.html --target ilness", 65, "illness"),
        ("anonymize data.csv --spec wrong.toml -o o.csv", 78, "quasi_identifiers"),
        ("anonymize data.csv --spec unknown.toml -o o.csv", 78, "'age'"),
        ("anonymize data.csv --spec large.toml -o o.csv", 65, "61"),
        ("risk data.csv data.csv --roles wrong.toml", 78, "quasi"),
        ("risk data.csv data.csv --roles data.csv", 78, "TOML"),
        ("risk data.csv data.csv --roles roles.toml --holdout c.csv", 65, "c.csv"),
        ("search data.csv --spec k.toml --limit 0.1", 78, "nothing to search"),
        ("search data.csv --spec ranges.toml --limit 2", 2, "outside"),
        ("search data.csv --spec ranges.toml --limit 1/0", 2, "1/10"),
    ],
)
def test_bad_input(run, words, status, part):
    Path("wrong.toml").write_text(ROLES.replace("quasi_identifiers", "quasi") + K_ANONYMOUS)
    Path("unknown.toml").write_text(ROLES.replace('"age"', '"aged"') + K_ANONYMOUS)
    Path("large.toml").write_text(ROLES + HIERARCHIES + K_ANONYMOUS.replace("3", "61"))
    before = Path("data.csv").read_bytes()
    out, err = run(words, status=status)
    assert part in err
    assert out == ""
    assert "Traceback" not in err
    assert Path("data.csv").read_bytes() == before
    assert not any(Path(name).exists() for name in ("o.csv", "o.txt", "r.html"))
    told = json.loads(run(words, "--json", status=status)[0])
    assert told["success"] is False
    assert set(told["error"]) == {"code", "what", "hint"}


def test_a_defect_and_an_interrupt(folder, capsys, monkeypatch):
    for error, status, code in (
        (ValueError("secret-canary"), 70, "internal"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ModuleNotFoundError("x", name="jinja2"), 69, "not-installed"),
        (ModuleNotFoundError("x", name="mbi.estimation"), 69, "not-installed"),
        (TableError("What.", "Mend."), 65, "table"),
        (FileError("What."), 65, "file"),
    ):

        @output.json_option
        def failing(as_json, error=error):
            raise error

        with pytest.raises(SystemExit) as ended:
            failing(as_json=True)
        told = capsys.readouterr().out
        assert ended.value.code == status
        assert json.loads(told)["error"]["code"] == code
        assert "canary" not in told


def test_commands_import_no_heavy_library_before_they_run():
    heavy = ("pandas", "numpy", "sklearn", "matplotlib", "jinja2")
    names = ", ".join(f"anonymizer.cli.{name}" for name in ("anonymize", "risk", "search", "query"))
    code = f"import sys, {names}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


def test_folders_of_outputs_are_checked_before_the_work(run):
    for words in ("-o nowhere/o.csv", "-o o.csv --report nowhere/r.html"):
        _, err = run("anonymize data.csv --spec k.toml", words, status=65)
        assert "there is no folder nowhere" in err
    assert not Path("o.csv").exists()


def test_a_search_of_random_steps_warns_of_other_releases(run):
    steps = NOISY.replace("rate = 0.75", "rate = { choices = [0.5, 0.75] }")
    Path("random.toml").write_text(ROLES + HIERARCHIES + steps)
    told = json.loads(run("search data.csv --spec random.toml --limit 1 --json")[0])
    assert "draw at random" in told["warnings"][0]
    assert not json.loads(run("search data.csv --spec ranges.toml --limit 1 --json")[0])["warnings"]


def test_risk_looks_at_what_leaves_by_side_doors(run):
    made = people().drop(columns="name")
    made["pid"] = [sha256(name.encode()).hexdigest()[:16] for name in people()["name"]]
    made.to_csv("other.csv", index=False)
    told = json.loads(run("risk data.csv other.csv --roles roles.toml --json")[0])
    rules = {(one["rule"], one["column"]) for one in told["findings"]}
    assert {("new-column", "pid"), ("disguise", "pid"), ("identifying", "pid"), ("order", None)} <= rules
    assert any("SHA-256" in one for one in told["warnings"])


def test_what_to_measure_is_asked_by_words(run):
    words = "risk data.csv data.csv --roles roles.toml --json"
    told = json.loads(run(words, "--measures suda,classes --seed 1")[0])
    assert set(told["risk"]) - {"distribution"} == {"suda", "classes"}
    assert told["utility"] == told["not_measured"] == {}
    told = json.loads(run(words, "--without propensity,correlations")[0])
    assert {"information-loss", "marginals", "moments", "pair-marginals"} == set(told["utility"])
    told = json.loads(run(words, "--measures journalist")[0])
    assert told["not_measured"] == {"journalist": "no population is given"}
    assert any("Journalist risk and k-map was not measured" in one for one in told["warnings"])
    told = json.loads(
        run(words, "--measures individual-risk --weights weight --households city", status=0)[0]
    )
    assert "missing or below 1" in told["not_measured"]["individual-risk"]
    people().assign(weight=2).to_csv("weighted.csv", index=False)
    words = "risk weighted.csv weighted.csv --roles roles.toml --weights weight --households city"
    told = json.loads(run(words, "--measures individual-risk --json")[0])
    assert told["risk"]["individual-risk"]["household_highest"] > told["risk"]["individual-risk"]["highest"]
    _, err = run("risk data.csv data.csv --roles roles.toml --measures sudo", status=2)
    assert "'sudo' is not a valid measure. Did you mean 'suda'?" in err
    _, err = run("anonymize data.csv --spec k.toml -o o.csv --without suda", status=2)
    assert "add --report" in err
    _, err = run("risk data.csv data.csv --roles roles.toml --measures ,", status=2)
    assert "name at least one of simulator" in err


def test_a_population_as_it_was_collected(run):
    run("anonymize data.csv --spec k.toml -o out.csv")
    people(120).drop(columns="name").to_csv("population.csv", index=False)
    told = json.loads(run("risk data.csv out.csv --roles k.toml --population population.csv --json")[0])
    assert told["risk"]["journalist"]["k_map"] >= 2 * told["risk"]["classes"]["k"]


@pytest.mark.parametrize(
    ("spec", "status", "words"),
    [
        ('[[steps]]\nmethod = "local-recoding"\nk = 5\n', 78, "quasi-identifiers"),
        ('[roles]\nidentifiers = ["name"]\n[[steps]]\nmethod = "mondrian"\nk = 5\n', 78, "quasi-identifiers"),
        ('[[steps]]\nmethod = "sampling"\nrate = 0.5\n', 78, "release_as_is"),
        (ROLES + '[[steps]]\nmethod = "local-recoding"\nk = 5\ncolumns = []\n', 65, "change nothing"),
        (ROLES + '[[steps]]\nmethod = "sampling"\nrate = 1.0\n', 65, "1-sampling"),
    ],
)
def test_a_specification_that_protects_nothing_is_refused(run, spec, status, words):
    Path("bare.toml").write_text(spec)
    _, err = run("anonymize data.csv --spec bare.toml -o o.csv", status=status)
    assert words in err
    assert not list(Path().glob("o.csv*"))


def test_findings_are_accepted_in_the_specification(run):
    frame = people().assign(sample=np.random.default_rng(1).permutation(60) + 1)
    frame.to_csv("data.csv", index=False)
    told = json.loads(run("anonymize data.csv --spec k.toml -o o.csv --json", status=65)[0])
    assert [one["rule"] for one in told["error"]["findings"]] == ["identifying"]
    accept = '[[accept]]\nfinding = "identifying"\ncolumn = "sample"\nwhy = "drawn for this release"\n'
    Path("accepted.toml").write_text(Path("k.toml").read_text() + accept)
    told = json.loads(run("anonymize data.csv --spec accepted.toml -o o.csv --json")[0])
    manifest = Manifest.from_json(Path(told["manifest"]).read_text())
    assert manifest.accepted[0].why == "drawn for this release"
    assert manifest.specification == read_spec("accepted.toml").digest != read_spec("k.toml").digest
    for wrong in (accept.replace("identifying", "altered"), accept.replace("why", "because")):
        Path("wrong.toml").write_text(Path("k.toml").read_text() + wrong)
        run("anonymize data.csv --spec wrong.toml -o o.csv", status=78)
