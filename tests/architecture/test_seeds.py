"""Tests draw from the seed of their run, so that what fails can be repeated."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import seeds
from tests.architecture.source import ROOT, called, modules_saying, nodes
from tests.support.seeds import DEFAULT, VARIABLE, seeded

DRAWS = """
import pytest
from hypothesis import given, strategies
from tests.support.seeds import seeded

FIRST, SECOND = seeded(), seeded()

@pytest.fixture(scope="module")
def shared():
    return FIRST.below(1 << 64, 1)

def test_one(shared):
    seen = [source.below(1 << 64, 1) for source in (FIRST, SECOND, seeded(), seeded())]
    print("one", shared, seen)
    assert len(set(map(str, [shared, *seen]))) == 5
    assert FIRST.bytes(8) != FIRST.bytes(8)

def test_other(shared):
    print("other", shared, FIRST.below(1 << 64, 1), len(FIRST.bytes(10_000)))

def test_reads_what_is_shared(shared):
    assert len(shared) == 1

@given(strategies.integers())
def test_searched(number):
    assert number == number

def test_settled():
    assert seeded() is not seeded()
"""
SEEDED = ["one", "other", "reads_what_is_shared", "searched"]


def pytest_run(folder, *words):
    """Run the tests of a folder."""
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-s", "-v", "-p", "no:cacheprovider", "-p", "tests.conftest"),
            *("-c", "/dev/null", "--rootdir", str(folder), str(folder / "test_draws.py"), *words),
        ],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=170,
    )


def run(folder, *words):
    """What the two tests draw, by their names, and the seed that pytest printed."""
    done = pytest_run(folder, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    drawn = {
        name: line[line.index(f"{name} [") :]
        for name in ("one", "other")
        for line in lines
        if f"{name} [" in line
    }
    return drawn, next(line.split()[1] for line in lines if line.startswith("seed: "))


def test_draws_follow_from_the_seed_of_the_run_and_from_nothing_else(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE)
    (tmp_path / "test_draws.py").write_text(DRAWS)
    usual, seed = run(tmp_path, "--order", "reversed")
    assert (set(usual), seed) == ({"one", "other"}, DEFAULT)
    alone, _ = run(tmp_path, "-k", "other")
    assert alone == {"other": usual["other"]}
    others, new = run(tmp_path, "--seed", "random")
    assert new != seed
    assert all(others[name] != usual[name] for name in usual)
    assert run(tmp_path, "--seed", new, "--order", "shuffled") == (others, new)


def test_a_run_notes_what_a_seed_could_change_and_another_keeps_to_it(tmp_path):
    (tmp_path / "test_draws.py").write_text(DRAWS)
    note = tmp_path / "note.json"
    run(tmp_path, "--note", str(note))
    found = json.loads(note.read_text())
    assert found["seeded"] == [f"test_draws.py::test_{name}" for name in SEEDED]
    kept = pytest_run(tmp_path, "--only-seeded-of", str(note), "--seed", "2")
    assert "4 passed, 1 deselected" in kept.stdout
    (tmp_path / "test_draws.py").write_text(DRAWS.replace("def test_one", "def test_two"))
    fewer = pytest_run(tmp_path, "--only-seeded-of", str(note), "--seed", "2")
    assert fewer.returncode == 4
    assert "Not collected under seed 2: ['test_draws.py::test_one']" in fewer.stderr


def test_runs_under_many_seeds_name_no_folder_but_those_given(monkeypatch):
    asked = []

    def run(words, check):
        asked.append(words[words.index("pytest") + 1 :])
        (note,) = (word.partition("=")[2] for word in words if word.startswith("--note="))
        Path(note).write_text('{"seeded": ["a", "b"], "failed": ["a"]}')
        return subprocess.CompletedProcess(words, 1)

    monkeypatch.setattr(seeds.subprocess, "run", run)
    assert seeds.run(["1", "1.1"], ["-n", "2"]) == (2, {"a": ["1", "1.1"]})
    assert [words[:2] for words in asked] == [["--seed", "1"], ["--seed", "1.1"]]
    for words in asked:  # else pytest would look for its settings beside a note
        assert not [word for word in words if Path(word).is_absolute()]


def test_no_seed_chooses_which_cases_exist(monkeypatch):
    """Nothing can be drawn while tests are collected, be it for a value or for a case."""
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    source = seeded()
    with pytest.raises(RuntimeError, match="while tests are collected: draw in a test or a fixture"):
        source.permutation(4)


def test_no_test_draws_from_the_operating_system() -> None:
    """But for those of the source itself, and methods of the anonymizer that nobody can repeat."""
    allowed = {
        *(
            "tests.smc.numeric.test_randomness",
            "tests.smc.evidence.test_replay",
            "tests.support.seeds",
            "tests.anonymizer.tables.test_tables",
        ),
        *("tests.anonymizer.releases.test_releases", "tests.anonymizer.testing.test_conformance"),
        "tests.smc.evidence.test_replay",
    }
    always = {"urandom", "token_bytes", "SystemRandom", "uuid4"}
    without_seed = {"Randomness", "default_rng", "Random"}
    wrong = [
        f"{m.path}:{node.lineno}"
        for m in modules_saying(always | without_seed, "tests")
        if m.name not in allowed
        for node in nodes(m.tree)
        if isinstance(node, ast.Call)
        and (called(node) in always or (called(node) in without_seed and not node.args and not node.keywords))
    ]
    assert not wrong, f"draw with tests.support.seeds.seeded: {wrong}"


def test_draws_of_one_place_go_on() -> None:
    source = seeded()
    assert source.bytes(16) != source.bytes(16)
