"""What README.md shows is so: its program runs, and its result and recording are those of the demo's run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import click
import pytest

from anonymizer.cli.init import init
from parties.cli.main import duetto

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
TRANSCRIPT = (ROOT / "docs" / "demo.txt").read_text(encoding="utf-8").splitlines()
PICTURES = ROOT / "docs" / "pictures"
MAX_BYTES = 200_000


@pytest.fixture(scope="module")
def pictures() -> ModuleType:
    loader = SourceFileLoader("pictures", str(ROOT / "scripts" / "pictures"))
    spec = spec_from_loader("pictures", loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_program_prints_what_it_says() -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=False, capture_output=True, text=True, timeout=60
    )
    said = re.findall(r"^print\(.*  # (.*)$", program, re.MULTILINE)
    assert (done.stdout.splitlines(), done.stderr) == (said, "")
    assert said


def test_the_result_is_that_of_the_recording(pictures: ModuleType) -> None:
    (found,) = pictures.RESULT.finditer(README)
    assert found[0] == found[1] + pictures.result(TRANSCRIPT) + found[2]


def test_the_drawing_is_that_of_the_recording(pictures: ModuleType) -> None:
    assert (PICTURES / "demo.svg").read_text(encoding="utf-8") == pictures.terminal(TRANSCRIPT)


def test_the_recording_is_of_this_demo() -> None:
    """A demo whose steps changed is to be recorded again: scripts/pictures demo."""
    script = (ROOT / "scripts" / "demo").read_text(encoding="utf-8").replace("\\\n", "")
    words = re.findall(r'^    announce "(.*)"$', script, re.MULTILINE)
    said = [f"{number}. " + re.sub(r'"\s+"', " ", step) for number, step in enumerate(words, 1)]
    assert [line for line in TRANSCRIPT if re.match(r"\d+\. ", line)] == said
    assert len(said) >= 15


def test_the_recording_ends_with_a_summary() -> None:
    """In about ten lines: who learned what, what nobody learned, what was spent, and what to do next."""
    summary = TRANSCRIPT[TRANSCRIPT.index("In short") + 1 :]
    labels = [line[:22].strip() for line in summary if line[:1].strip()]
    assert labels[:7] == [
        *("both learned", "only north learned", "only south learned", "nobody learned"),
        *("spent at north", "spent at south", "it took"),
    ]
    assert summary[-3].startswith("Look around")
    assert len(summary) <= 20


@pytest.mark.parametrize("path", sorted(PICTURES.iterdir()), ids=lambda path: path.name)
def test_pictures_are_small_whole_and_shown(path: Path) -> None:
    """They load nothing from elsewhere, and say in words what they show."""
    assert path.stat().st_size < MAX_BYTES
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert any(f"pictures/{path.name}" in page.read_text(encoding="utf-8") for page in pages)
    if path.suffix == ".svg":
        text = path.read_text(encoding="utf-8")
        ET.fromstring(text)
        assert not re.search(r"(?:href|src)=|url\((?!#|var)|@import", text)


def test_pictures_have_a_text() -> None:
    for alternative in (*re.findall(r"!\[(.*?)\]\(", README), *re.findall(r'<img [^>]*alt="(.*?)"', README)):
        assert len(alternative) > 40


def test_links_to_sections_lead_somewhere() -> None:
    for page, section in re.findall(r"\]\((docs/\w+\.md)#([^)]*)\)", README):
        heads = re.findall(r"^#+ (.*)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
        assert section in {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def commands() -> list[str]:
    """The lines of README and tutorial that call `duetto`."""
    return re.findall(r"^(?:\w+\$ )?(duetto .*)$", README + TUTORIAL, re.MULTILINE)


@pytest.mark.parametrize("line", commands())
def test_the_commands_exist_with_their_options(line: str) -> None:
    words = [word for word in shlex.split(line, comments=True) if word != "&"][1:]
    command: click.Command | None = duetto
    while isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words.pop(0))
    assert command is not None
    if words[:2] == ["init", "data.csv"]:
        command = init
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_the_tutorial_has_its_commands() -> None:
    assert len(commands()) > 12


def test_the_two_commands_are_there() -> None:
    for command in ("scripts/demo", "scripts/test"):
        assert re.search(rf"^{command} ", README, re.MULTILINE)
        assert (ROOT / command).exists()
