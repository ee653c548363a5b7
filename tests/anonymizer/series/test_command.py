"""`duetto series`: specifications, the command, its report and its errors."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonymizer.errors import AnonymizerError, SpecError
from anonymizer.gate.gate import Gate
from anonymizer.releases.manifest import Manifest
from anonymizer.series import attacks
from anonymizer.series.recombined import Recombined
from anonymizer.series.specification import parse_series, read_series
from anonymizer.tables import files
from parties.cli.main import duetto, main
from tests.support.grids import grid

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
SPEC = """
[log]
user = "household"
time = "day"
item = "category"
[[windows]]
start = 2025-01-01
end = 2025-04-01
[[windows]]
start = 2025-04-01
end = 2025-07-01
"""


def run(words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(words))
    return ended.value.code


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "log.csv").write_bytes((EXAMPLES / "purchases.csv").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spec(folder: Path, rest: str) -> None:
    (folder / "spec.toml").write_text(SPEC + rest)


def test_a_release_of_two_windows(folder, capsys):
    spec(folder, "[factorization]\nrank = 5\n[[steps]]\nmethod = 'mdav'\nk = 4\n")
    assert run("series log.csv --spec spec.toml -o out.csv --report report.html --json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["success"]
    for window in told["windows"]:
        lines = Path(window["output"]).read_text().splitlines()[1:]
        assert pd.Series(lines).value_counts().min() >= 4
        assert window["re-identification"]["risk"] <= 1 / 4
        assert 0.5 < window["usefulness"]["ratio"] < 1.5
        manifest = Manifest.from_json(Path(window["manifest"]).read_text())
        assert manifest.guarantees[0].parameters == {"k": 4}
        assert (manifest.order, manifest.specification) == ("shuffled", told["digest"])
        assert "h001" not in Path(window["output"]).read_text()
    (linkage,) = told["linkage"]
    assert linkage["pseudonyms"]["attacked"] == linkage["release"]["attacked"] > 100
    page = (folder / "report.html").read_text()
    assert "linkage of windows 1 and 2, pseudonyms only" in page
    assert "h001" not in page


STEPS = [
    "[[steps]]\nmethod = 'mdav'\nk = 5\n",
    "[[steps]]\nmethod = 'k-member'\nk = 5\n",
    "[[steps]]\nmethod = 'noise'\nscales = 0.5\ndigits = 2\n",
    "[factorization]\nkind = 'nmf'\nrank = 4\nrefit = true\n",
    "[factorization]\nrank = 4\n[[steps]]\nmethod = 'noise'\nscales = 0.1\ndigits = 6\n",
    "[factorization]\nrank = 4\nbounds = [-2, 2]\n[[steps]]\nmethod = 'idp-ls'\nepsilon = 4.0\nk = 5\n",
    "[factorization]\nrank = 4\n[[steps]]\nmethod = 'swapping'\nrate = 0.3\n",
    "[factorization]\nrank = 4\n[[steps]]\nmethod = 'mondrian'\nk = 6\n",
]


@pytest.mark.parametrize("rest", grid(STEPS, [STEPS[place] for place in (0, 2, 3, 5)]))
def test_methods_of_the_package_work_on_factors_and_on_cells(folder, capsys, rest):
    spec(folder, rest)
    assert run("series log.csv --spec spec.toml -o out.csv --json") == 0, capsys.readouterr()
    told = json.loads(capsys.readouterr().out)
    assert all(window["items"] == 16 for window in told["windows"])
    for window in told["windows"]:
        k = [each["parameters"]["k"] for each in window["guarantees"] if each["kind"] == "k-anonymity"]
        lines = Path(window["output"]).read_text().splitlines()[1:]
        assert pd.Series(lines).value_counts().min() >= (k or [1])[0]
        assert all(each["kind"] == "k-anonymity" for each in window["guarantees"])


def test_a_seed_repeats_the_release_and_orders_windows_differently(folder, capsys):
    spec(folder, "[factorization]\nrank = 5\n")
    for name in ("one", "two"):
        assert run(f"series log.csv --spec spec.toml -o {name}.csv --seed 7 --json") == 0
    assert (folder / "one-1.csv").read_bytes() == (folder / "two-1.csv").read_bytes()
    told = capsys.readouterr().out.splitlines()
    assert any("guesses it" in one for one in json.loads(told[-1])["warnings"])
    # with one order of rows, row i of both windows would be one household: its rows would be alike
    first, second = (pd.read_csv(folder / f"one-{number}.csv").to_numpy() for number in (1, 2))
    rows = min(len(first), len(second))
    near = np.linalg.norm(first[:rows] - second[:rows], axis=1).mean()
    far = np.linalg.norm(first[:rows] - np.roll(second[:rows], 1, axis=0), axis=1).mean()
    assert abs(near - far) < 0.15 * far


def test_nothing_is_written_unless_all_windows_pass(folder, capsys):
    """In the second window one user has a name among the items, which the gate finds."""
    log = pd.read_csv(folder / "log.csv")
    log.loc[len(log)] = ["2025-05-01", "h001", "h002"]
    log = pd.concat([log, *[log.iloc[[-1]].assign(household=f"h{n:03d}") for n in range(2, 9)]])
    log = pd.concat([log, log[log.category == "h002"].assign(day="2025-02-01").head(8)])
    log.to_csv(folder / "log.csv", index=False)
    spec(folder, "[factorization]\nrank = 5\n")
    assert run("series log.csv --spec spec.toml -o out.csv --json") == 65
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "gate"
    assert not list(folder.glob("out*"))


@pytest.mark.parametrize("stage", ["made", "measured", "passed", "written"])
def test_an_interrupted_run_leaves_whole_files_or_none(folder, capsys, monkeypatch, stage):
    """Whenever it comes: before the last file is written what stands there has passed the gate."""
    spec(folder, "[factorization]\nrank = 3\n[[steps]]\nmethod = 'mdav'\nk = 4\n")
    calls = []

    def interrupted(function, at):
        def called(*args, **kwargs):
            calls.append(1)
            if len(calls) == at:
                raise KeyboardInterrupt
            return function(*args, **kwargs)

        return called

    if stage == "made":
        monkeypatch.setattr(Recombined, "_transform", interrupted(Recombined._transform, 2))
    elif stage == "measured":
        monkeypatch.setattr("anonymizer.series.released.link_users", interrupted(attacks.link_users, 2))
    else:
        monkeypatch.setattr(Gate, "write", interrupted(Gate.write, {"passed": 2, "written": 4}[stage]))
    assert run("series log.csv --spec spec.toml -o out.csv --report r.html --json") == 130
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["what"]) == ("interrupted", "Interrupted.")
    assert "Run it again" in error["hint"]
    left = sorted(path.name for path in folder.iterdir() if path.name not in ("log.csv", "spec.toml"))
    assert left == (["out-1.csv", "out-1.csv.manifest.json"] if stage == "written" else [])
    for name in left[:1]:
        lines = (folder / name).read_text().splitlines()[1:]
        assert pd.Series(lines).value_counts().min() >= 4


@pytest.mark.parametrize(
    ("rest", "says"),
    [
        ("", "neither steps nor a factorization"),
        ("[factorization]\nrank = 50\n", "at most the rank 16"),
        ("[factorization]\nrnk = 5\n", "unknown key 'rnk'"),
        ("[factorization]\nrank = 'five'\n", "wrong type"),
        ("[factorization]\nkind = 'pca'\n", "'pca' is not a valid factorization"),
        ("[factorization]\n[[steps]]\nmethod = 'mdaw'\n", "no method 'mdaw'"),
        ("[factorization]\n[matrix]\ncells = 'ternary'\n", "cells = 'ternary'"),
        ("[factorization]\n[matrix]\nminimum_users = 500\n", "No item has 500 users"),
        ("[factorization]\n[[windows]]\nstart = 2026-01-01\nend = 2026-02-01\n", "holds no user"),
        ("[factorization]\n[[windows]]\nstart = 2025-02-01\nend = 2025-03-01\n", "overlap"),
        ("[factorization]\n[[windows]]\nstart = 2025-08-01\n", "lacks its start or end"),
        ("[factorization]\n[[windows]]\nstart = 5\nend = 6\n", "times of the log are dates"),
        ("[factorization]\n[[windows]]\nstart = 12:00:00\nend = 13:00:00\n", "12:00:00, which is not a date"),
        ("[factorization]\n[[windows]]\nstart = [1]\nend = [2]\n", "which is not a date"),
        ("[factorization]\n[[windows]]\nstart = 2025-08-01\nend = 2025-08-01\n", "or as it does"),
        ("[factorization]\nrank = 0\n", "at most the rank 16"),
        ("[factorization]\nrank = 2.5\n", "wrong type"),
        ("[factorization]\nrank = 3\n[[steps]]\nmethod = 'mdav'\nk = 500\n", "k is 500"),
    ],
)
def test_bad_specifications_are_told_in_words(folder, capsys, rest, says):
    spec(folder, rest)
    assert run("series log.csv --spec spec.toml -o out.csv --json") in (65, 78)
    error = json.loads(capsys.readouterr().out)["error"]
    assert says in error["what"]
    assert error["hint"]
    assert not list(folder.glob("out*"))


def test_an_output_without_an_ending_is_refused_before_anything_is_made(folder, capsys, monkeypatch):
    """Before, the whole work was done, and the error named a file of a temporary folder."""
    spec(folder, "")
    monkeypatch.setattr(files, "table", lambda *_: pytest.fail("the log was read"))
    assert run("series log.csv --spec spec.toml -o matrix --json") == 65
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["what"] == "matrix is of an unknown kind."
    assert ".parquet" in error["hint"]


def test_bad_amounts_are_told_in_words(folder, capsys):
    log = pd.read_csv(folder / "log.csv")
    given = SPEC.replace('item = "category"', 'item = "category"\namount = "n"') + "[matrix]\ncells = 'sum'\n"
    for amount, rest, says in (
        ([-1] * 40 + [1] * (len(log) - 40), "[factorization]\nkind = 'nmf'\nrank = 2\n", "negative, and NMF"),
        (1e308, "[factorization]\nrank = 2\n", "more than 2**53"),
        (["much"] * len(log), "[factorization]\nrank = 2\n", "holds no numbers"),
        (0, "[factorization]\nrank = 2\n", "No item has 5 users"),
    ):
        log.assign(n=amount).to_csv(folder / "log.csv", index=False)
        (folder / "spec.toml").write_text(given + rest)
        assert run("series log.csv --spec spec.toml -o out.csv --json") == 65
        error = json.loads(capsys.readouterr().out)["error"]
        assert says in error["what"]
        assert error["hint"]
        assert not list(folder.glob("out*"))


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ("day,household,category\n", "rows|empty"),
        ("day,household,category\nsoon,h1,bread\n", "cannot be read"),
        ("day,household,category\n2025-01-01,,bread\n2025-02-01,h2,bread\n", "missing"),
        ("day,home,category\n2025-01-01,h1,bread\n", "household"),
        ("day,household,category\n2025-01-01,h1,bread\n2025-05-01,h1,bread\n", "No item has 5 users"),
    ],
)
def test_bad_logs_are_told_in_words(folder, capsys, log, says):
    (folder / "log.csv").write_text(log)
    spec(folder, "[factorization]\nrank = 1\n")
    assert run("series log.csv --spec spec.toml -o out.csv --json") == 65
    error = json.loads(capsys.readouterr().out)["error"]
    assert any(word in error["what"] for word in says.split("|")), error
    assert error["hint"]


@pytest.mark.parametrize(
    "change",
    [
        {"log": {"user": "u", "time": "t"}},
        {"log": {"user": "u", "time": "t", "item": "i", "cell": 1}},
        {"log": {"user": "u", "time": "t", "place": ["x"], "cell": 1}},
        {"log": {"user": "u", "time": "t", "place": ["x", "y"], "cell": "big"}},
        {"log": {"user": 3, "time": "t", "item": "i"}},
        {"windows": []},
        {"windows": {"start": 1, "end": 2}},
        {"title": 3},
        {"rows": 3},
        {"matrix": {"minimum_users": 0}},
        {"factorization": {"digits": 99}},
    ],
)
def test_impossible_entries_are_refused(change):
    good = {
        "log": {"user": "u", "time": "t", "item": "i"},
        "windows": [{"start": 1, "end": 2}],
        "factorization": {"rank": 2},
    }
    assert parse_series(good).windows[0].end == 2
    with pytest.raises(SpecError) as problem:
        parse_series(good | change)
    assert problem.value.hint


def test_trajectories_by_the_same_command(folder, capsys):
    draw = np.random.default_rng(4)
    home = draw.random((40, 2))
    rows = [
        (n, f"u{user}", *(home[user] + 0.02 * draw.random(2)).round(4))
        for user in range(40)
        for n in range(6)
    ]
    pd.DataFrame(rows, columns=["hour", "who", "x", "y"]).to_csv(folder / "log.csv", index=False)
    (folder / "spec.toml").write_text(
        "[log]\nuser = 'who'\ntime = 'hour'\nplace = ['x', 'y']\ncell = 0.5\n"
        "[[windows]]\nstart = 0\nend = 6\n"
        "[matrix]\ncells = 'sum'\nminimum_users = 3\n[[steps]]\nmethod = 'mdav'\nk = 3\n"
    )
    assert run("series log.csv --spec spec.toml -o out.csv --attacks --json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["windows"][0]["output"] == "out.csv"
    assert "0:0" in (folder / "out.csv").read_text().splitlines()[0]
    assert "usefulness" in told["skipped"][0]


def test_the_page_is_so(tmp_path, monkeypatch):
    """The commands of docs/series.md run, and it names all options and parameters."""
    text = (EXAMPLES.parent / "series.md").read_text(encoding="utf-8")
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    commands = re.findall(r"^duetto (.+)$", text, re.MULTILINE)
    assert commands
    for words in commands:
        assert run(words) == 0, words
    for option in duetto.get_command(None, "series").params:
        assert option.param_type_name == "argument" or option.opts[0] in text, option.opts
    for name in Recombined().get_params(deep=False):
        assert name in ("factorization", "columns", "random_state") or f"`{name}`" in text, name
    shown = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert parse_series(tomllib.loads(shown[1])).digest == read_series(EXAMPLES / "purchases.toml").digest


@pytest.mark.parametrize("library", ["narwhals", "sklearn"])
def test_the_extra_is_named_where_a_library_is_missing(folder, library):
    """In a process of its own, as it has to be without the library from the beginning."""
    spec(folder, "[factorization]\nrank = 3\n")
    script = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from parties.cli.main import main\nmain('series log.csv --spec spec.toml -o out.csv'.split())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 69
    assert library in done.stderr
    assert "pip install 'duetto[series]'" in done.stderr


def test_the_extra_brings_all_that_the_command_needs():
    project = tomllib.loads((EXAMPLES.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"]["series"] == ["duetto[anonymizer]"]
    assert "series" in project["optional-dependencies"]["dev"][0]


def test_the_example_is_read():
    found = read_series(EXAMPLES / "purchases.toml")
    assert len(found.windows) == 2
    with pytest.raises(AnonymizerError, match="cannot be read"):
        read_series(EXAMPLES / "absent.toml")
