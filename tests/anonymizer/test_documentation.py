"""What docs/anonymizer.md says is so: its commands run, and it names all methods and parameters."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.measures.registry import MEASURES
from anonymizer.methods.conditions.constraints import WORDS
from anonymizer.methods.registry import METHODS
from anonymizer.pipelines.spec import parse
from parties.cli.main import duetto, main

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "anonymizer.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^duetto (.+)$", TEXT, re.MULTILINE)


def test_the_commands_run(tmp_path, monkeypatch):
    shutil.copytree(DOCS / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    assert len(COMMANDS) >= 12
    for words in COMMANDS:
        quick = words.replace(
            "--runs 40", "--runs 8"
        )  # fewer show that the audit runs, which is all that is asked
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(quick))
        assert ended.value.code == 0, words
    assert Path("report.html").read_text().count("<svg") > 3


def test_all_methods_and_parameters_are_named():
    page = (DOCS / "methods.md").read_text(encoding="utf-8")
    rows = {cells[1].strip(" `"): cells[2] for cells in _rows(page)}
    assert set(METHODS) == {name for name in rows if name != "method"}
    told = {cells[1].strip(" `"): cells[2] for cells in _rows() if cells[1].strip(" `") in METHODS}
    assert len(told) > 30
    for name, parameters in [*rows.items(), *told.items()]:
        named = set(re.findall(r"`(\w+)`", parameters))
        assert named == set(METHODS[name]().get_params()), name
    for word in WORDS:
        assert f"`{word}`" in TEXT or f'"{word}"' in TEXT


def test_all_measures_are_named():
    named = set(re.findall(r"`([a-z-]+)`", " ".join(cells[1] for cells in _rows())))
    assert set(MEASURES) <= named


def test_all_options_are_named():
    for name in ("anonymize", "risk", "search", "query", "epsilon", "series", "audit"):
        command = duetto.get_command(None, name)
        row = next(line for line in TEXT.splitlines() if line.startswith(f"| `duetto {name}"))
        for option in command.params:
            if option.name not in ("as_json",) and option.param_type_name == "option":
                assert option.opts[0] in row, (name, option.opts)


def test_the_specification_is_one():
    import tomllib

    shown = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    spec = parse(tomllib.loads(shown[0]), DOCS)
    assert isinstance(spec.hierarchies["age"], IntervalHierarchy)


def _rows(text: str = TEXT) -> list[list[str]]:
    return [re.split(r"(?<!\\)\|", line) for line in text.splitlines() if line.startswith("| `")]
