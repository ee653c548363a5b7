"""The files for containers: what they name is there, and their commands are commands of duetto.

They are not built here: that needs a builder and a registry.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import click
import pytest

from parties.cli.main import duetto

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "containers"
COMMANDS = re.compile(r'\[("duetto"[^\]]*)\]')


def commands():
    for file in (FOLDER / "Containerfile", FOLDER / "compose.yaml"):
        for found in COMMANDS.findall(file.read_text()):
            yield json.loads(f"[{found}]")


def test_each_file_has_a_command():
    assert [words[-1] for words in commands()] == ["health", "start", "start"]


@pytest.mark.parametrize("words", [*commands()], ids=" ".join)
def test_commands_parse(words):
    command: click.Command = duetto
    context = click.Context(duetto, info_name="duetto")
    for word in words[1:]:
        assert isinstance(command, click.Group)
        command = command.get_command(context, word)
        assert command is not None, word
    command.make_context(words[-1], [])


def test_what_is_installed_and_copied_exists():
    text = (FOLDER / "Containerfile").read_text()
    (extras,) = re.findall(r"'\.\[([a-z,]+)\]'", text)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*extras.split(",")} <= known.keys()
    assert (ROOT / "constraints.txt").is_file()
    assert re.search(r"^USER duetto$", text, re.MULTILINE)
    assert (FOLDER / "../..").resolve() == ROOT
    compose = (FOLDER / "compose.yaml").read_text()
    assert "context: ../.." in compose
    assert "dockerfile: docs/containers/Containerfile" in compose
    assert "DUETTO_CONFIG=/home/party" in text
    assert compose.count(":/home/party") == 2
