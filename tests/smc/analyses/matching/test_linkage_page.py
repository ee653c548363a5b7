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
FIGURES = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
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


@pytest.fixture
def files(tmp_path):
    """Alice's, Bob's and the pairs, with the columns of FEBRL."""
    towns, streets = (
        ("Ayr", "Bude", "Cork", "Deal"),
        ("Elm Road", "Oak Lane", "Ash Way", "Fir Hill", "Lime Row"),
    )
    header = "rec_id,given_name,surname,street_number,address_1,suburb,postcode,date_of_birth\n"
    rows = [
        f"{NAMES[n % 7]},{NAMES[n // 7 % 7]}son,{n % 90},{streets[n % 5]},{towns[n % 4]},{2000 + n % 61},"
        f"19{10 + n % 83}{1 + n % 12:02}{1 + n % 28:02}\n"
        for n in range(200)
    ]
    made = {
        "A": header + "".join(f"a{n},{row}" for n, row in enumerate(rows)),
        "B": header + "".join(f"b{n},{row}" for n, row in enumerate(rows)),
        "TRUTH": "".join(f"a{n},b{n}\n" for n in range(200)),
    }
    for name, text in made.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in made}


NAMES = ("Ann", "Bert", "Carl", "Dora", "Emil", "Fay", "Gus")


def test_a_score_is_chosen_by_the_command_that_chooses_those_of_febrl(quality, files):
    (command,) = re.findall(r"^`(scripts/bench/linkage A B TRUTH --suggest .*)`$", FIGURES, re.MULTILINE)
    words = [files.get(word, word) for word in shlex.split(command)]
    assert "| F | 1.0000 | in | the | mean" in quality([*words, "--passes", "2", "--draws", "1"])


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
