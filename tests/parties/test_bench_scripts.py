"""`scripts/bench`: both scripts run, their JSON holds what they print, switches are found where they are."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from smc.forms import ComparisonType, Role
from smc.network import Network
from smc.planning.registry import BASELINES, ENGINES
from tests.support.keys import toy

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "scripts" / "bench"


def script(name: str, *words: str, folder: Path, status: int = 0) -> tuple[str, str]:
    """Run a script in this environment; what it printed and what it said."""
    python = folder / "bin" / "python"
    python.parent.mkdir(exist_ok=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    done = subprocess.run(
        [FOLDER / name, *words, "--out", folder / "out"],
        check=False,
        env={**os.environ, "DUETTO_BIN": str(python.parent)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=170,
    )
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch):
    """Imports a module of the scripts, and forgets it afterwards."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    yield load
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(FOLDER) in str(sys.modules[name].__file__):
            del sys.modules[name]


@pytest.mark.slow
def test_moduli(tmp_path: Path) -> None:
    printed, said = script("moduli", "--batch", "200", "--turns", "1", folder=tmp_path)
    content = json.loads((tmp_path / "out" / "moduli.json").read_text())
    assert [one["wrong"] for runs in content["cases"].values() for one in runs] == [0] * 7
    assert "oblivious; delta: bit-to-shared" in printed
    assert "wrapping [oblivious]" in printed
    assert "written to" in said


@pytest.mark.slow
def test_scan_of_matching() -> None:
    """It ends with an error if a size is wrong."""
    # In a short path, since those of sockets are bounded.
    with tempfile.TemporaryDirectory(prefix="scan-") as folder:
        words = ("--work", "matching", "--rows", "1000", "--repeat", "1", "--folder", folder)
        done = subprocess.run(
            [sys.executable, FOLDER / "scan_figures.py", *words],
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=170,
        )
        assert done.returncode == 0, done.stderr
        assert not [*Path(folder).iterdir()]
    (found,) = json.loads(done.stdout)["results"]
    assert [one["size"] for one in found["jobs"]] == [600]
    assert found["jobs"][0]["until_kept"] < found["jobs"][0]["seconds"] == found["job_seconds"]


@pytest.mark.slow
def test_thesis_tables(tmp_path: Path) -> None:
    words = ("--bits", "5", "--keys", "1024", "--engines", "vbdhe15", "--repeat", "2")
    printed, said = script("thesis_tables", *words, folder=tmp_path)
    content: dict[str, Any] = json.loads((tmp_path / "out" / "thesis_tables.json").read_text())
    assert [(c["engine_asked"], c["bits"]) for c in content["cases"]] == [
        ("paillier", 5),
        ("vbdhe15", 5),
    ]
    assert all(c["wrong"] == 0 and c["key"] == 1024 for c in content["cases"])
    for title in ("Table 8.1", "Table 8.2", "Table 8.3", "Figure 8.4", "Figure 8.5", "5.29", "[VBdHE15]"):
        assert title in printed
    for case in content["cases"]:
        assert len(case["seconds_of_runs"]) == case["warm_up_runs"] + 2
        assert min(case["seconds_of_runs"]) <= case["ms"] / 1000 <= max(case["seconds_of_runs"])
    step = content["steps_ms"]["1024"]["5"]
    assert step["step 2"] == pytest.approx(step["step 2, inner"] + step["step 2, outer"])
    assert min(step[name] for name in ("step 1", "step 2", "step 3")) > 0
    drawn = sorted(path.name for path in (tmp_path / "out").glob("*.png"))
    if importlib.util.find_spec("matplotlib"):
        assert drawn == ["figure-8.4.png", "figure-8.5.png"]
    else:
        assert not drawn
        assert "matplotlib is not installed" in said


@pytest.mark.slow
def test_engines(tmp_path: Path) -> None:
    words = ("--engines", "oblivious,vbdhe15", "--bits", "4", "--batches", "3000", "--networks", "0,10/50")
    printed, _ = script(
        "engines", *words, "--key", "paper-1024", "--repeat", "1", "--limit", "2", folder=tmp_path
    )
    content: dict[str, Any] = json.loads((tmp_path / "out" / "engines.json").read_text())
    cases = {(c["engine_asked"], c["batch"], c["rtt_ms"]): c for c in content["cases"]}
    assert len(cases) == 4
    assert cases["vbdhe15", 3000, 0]["left_out"] == "limit"
    assert all(c["wrong"] == 0 for c in cases.values() if "left_out" not in c)
    assert cases["oblivious", 3000, 10]["seconds"] > cases["oblivious", 3000, 0]["rounds"] * 10 / 2000
    assert "3,000 at 10 ms, 50 Mbit/s" in printed
    assert {(row["rtt_ms"], row["mbit"]) for row in content["planner"]} >= {(0.8, 1000.0), (10.0, 50.0)}
    assert not BASELINES & {place["engine"] for row in content["planner"] for place in row["from"]}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("engines", ("--engines", "steam")),
        ("engines", ("--types", "XX")),
        ("engines", ("--networks", "-1")),
        ("engines", ("--batches", "0")),
        ("thesis_tables", ("--engines", "steam")),
        ("thesis_tables", ("--repeat", "0")),
    ],
)
def test_wrong_options(name: str, words: tuple[str, ...], tmp_path: Path) -> None:
    _, said = script(name, *words, folder=tmp_path, status=64)
    assert "Traceback" not in said


def test_every_engine_is_in_the_grid(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["engines"])
    grid = module("grid")
    given = grid.parse()
    assert {case.engine for case in grid.cases(given)} == set(ENGINES) - {"auto"}
    assert {case.rtt_ms for case in grid.cases(given)} == {0, 1, 20, 100}


def test_nothing_begins_when_the_budget_is_spent(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["engines", "--budget", "0", "--bits", "32", "--networks", "0,20"])
    grid = module("grid")
    monkeypatch.setattr(grid, "run", lambda case: pytest.fail("a case began"))
    assert {c["left_out"] for c in grid.measure_grid(grid.parse())} == {"budget", "limit"}


@pytest.mark.parametrize("border", [2, 3, 512, 700_001, 1 << 20])
def test_switches_are_found_exactly(border: int, module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = module("grid")
    monkeypatch.setattr(grid, "chosen", lambda kind, bits, batch, *_: "large" if batch >= border else "small")
    found = grid.switches(ComparisonType.parse("type 4"), 32, 2048, Network())
    assert found == [(1, "small"), (border, "large")]


def test_the_route_of_table_8_2_is_that_of_the_planner(module: Any) -> None:
    times = module("route_steps").time_steps((toy(Role.ALICE), toy(Role.BOB)), 7, 3, 1)
    assert set(times) == set(module("printed").STEPS_MS)


def test_figures_in_tables(module: Any) -> None:
    figure = module("measuring").figure
    assert [figure(v) for v in (None, 12, 12_000, 0.01234, 1.0, 123.4, 12_345.6)] == [
        *("-", "12", "12,000", "0.0123", "1.00", "123", "12,346"),
    ]
