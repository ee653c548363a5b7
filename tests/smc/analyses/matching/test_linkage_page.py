"""docs/linkage.md: its qualities are those of the program now, and its steps make equal what it says."""

from __future__ import annotations

import re
import shlex
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

from smc.analyses.records.normalization import normalize, parse_steps
from smc.analyses.studies.columns import Column, Schema

ROOT = Path(__file__).parents[4]
TEXT = (ROOT / "docs" / "linkage.md").read_text(encoding="utf-8")
(COMMAND,) = re.findall(r"^scripts/bench/linkage --made-up .*$", TEXT, re.MULTILINE)
FLAT = "--fields given_name,surname,born,postcode"
CHANGES = {
    "nothing": (),
    "`--threshold 0.5`": ("--threshold", "0.5"),
    "`--threshold 0.6`": ("--threshold", "0.6"),
    "`--threshold 0.8`": ("--threshold", "0.8"),
    "`--threshold 0.9`": ("--threshold", "0.9"),
    f"`{FLAT}`": tuple(FLAT.split()),
    "`--one-to-one largest`": ("--one-to-one", "largest"),
}
INSTEAD = {
    "`--block born:value` alone": ("--block", "born:value"),
    "`--suggest menu` instead of all of these": ("--suggest", "menu"),
    "`--suggest own` instead": ("--suggest", "own"),
}
"""Of what stands where the passes do, or the fields in the last two."""


def check(name: str, found: str) -> None:
    """What stands between the marks of that name is what the program says now."""
    assert re.search(rf"<!-- {name} -->(.*?)<!-- end -->", TEXT, re.DOTALL)[1].strip() == found


@pytest.fixture
def quality(monkeypatch, capsys):
    loader = SourceFileLoader("linkage_quality", str(ROOT / "scripts" / "bench" / "linkage_quality.py"))
    module = module_from_spec(spec_from_loader("linkage_quality", loader))
    loader.exec_module(module)

    def run(words: list[str]) -> str:
        monkeypatch.setattr(sys, "argv", words)
        module.main()
        line = capsys.readouterr().out.splitlines()[-1]
        return " | ".join(
            line.removeprefix("in the clear, greedy").removeprefix("in the clear, largest").split()
        )

    return run


def test_qualities(quality):
    words = shlex.split(COMMAND)
    rows = ["| changed | pairs | precision | recall | F |", "|---|--:|--:|--:|--:|"]
    for name, change in CHANGES.items():
        rows.append(f"| {name} | {quality([*words, *change])} |")
    for name, change in INSTEAD.items():
        begin = "--block" if "--block" in change else "--threshold"
        rows.append(f"| {name} | {quality([*words[: words.index(begin)], *change])} |")
    check("quality", "\n".join(rows))


WRITTEN = (
    ("0047 110-22", "00004711022", ("digits-only", "strip-leading-zeros")),
    ("MÜLLER-Lüdenscheidt", "mueller-luedenscheidt", ("transliterate", "lower")),
    ("García  Márquez", "garcia marquez", ("strip-accents", "lower", "collapse-spaces")),
    ("O’Neill", "o'neill", ("transliterate", "lower")),
)


def test_steps():
    rows = ["| At north | At south | Steps that make them equal | Become |", "|---|---|---|---|"]
    for north, south, steps in WRITTEN:
        found = normalize(Column([north, south], Schema("text")), parse_steps([*steps], "key"), "key")
        assert found[0] == found[1]
        rows.append(f"| `{north}` | `{south}` | {', '.join(f'`{step}`' for step in steps)} | `{found[0]}` |")
    check("steps", "\n".join(rows))
