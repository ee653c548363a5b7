"""Tests draw from the seed of their run, so that what fails can be repeated."""

from __future__ import annotations

import ast
import subprocess
import sys

from tests.architecture.source import ROOT, modules, nodes
from tests.support.seeds import VARIABLE, seeded

DRAWS = """
from tests.support.seeds import seeded

FIRST, SECOND = seeded(), seeded()

def test_one():
    seen = [source.below(1 << 64, 1) for source in (FIRST, SECOND, seeded(), seeded())]
    print("one", seen)
    assert len(set(map(str, seen))) == 4
    assert FIRST.bytes(8) != FIRST.bytes(8)

def test_other():
    print("other", FIRST.below(1 << 64, 1), len(FIRST.bytes(10_000)))
"""


def run(folder, *words):
    """What the two tests draw, by their names, and the seed that pytest printed."""
    done = subprocess.run(
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
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    drawn = {
        name: line[line.index(f"{name} ") :]
        for name in ("one", "other")
        for line in lines
        if f"{name} [" in line
    }
    return drawn, next(line.split()[1] for line in lines if line.startswith("seed: "))


def test_a_printed_seed_repeats_all_draws_of_a_test_alone_too(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE)
    (tmp_path / "test_draws.py").write_text(DRAWS)
    first, seed = run(tmp_path)
    assert set(first) == {"one", "other"}
    again, same = run(tmp_path, "--seed", seed)
    assert (again, same) == (first, seed)
    alone, _ = run(tmp_path, "--seed", seed, "-k", "other")
    assert alone == {"other": first["other"]}
    others, new = run(tmp_path)
    assert new != seed
    assert all(others[name] != first[name] for name in first)


def test_no_test_draws_from_the_operating_system() -> None:
    """But for those of the source itself."""
    allowed = {"tests.smc.numeric.test_randomness", "tests.support.seeds"}
    wrong = [
        f"{m.path}:{node.lineno}"
        for m in modules("tests")
        if m.name not in allowed and not m.name.startswith("tests.anonymizer")
        for node in nodes(m.tree)
        if isinstance(node, ast.Call)
        and not node.args
        and not node.keywords
        and ast.unparse(node.func).rpartition(".")[2] in {"Randomness", "default_rng"}
    ]
    assert not wrong, f"draw with tests.support.seeds.seeded: {wrong}"


def test_draws_of_one_place_go_on() -> None:
    source = seeded()
    assert source.bytes(16) != source.bytes(16)
