"""Commands that hints name can be copied as they are."""

from __future__ import annotations

import json
import re
import shlex

import click
import pytest
from click.testing import CliRunner

from parties.cli.hints import config_words, with_config
from parties.cli.main import duetto
from tests.parties.served import SETTINGS


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "a home"
    folder.mkdir()
    (folder / "duetto.toml").write_text(SETTINGS.format(name="north"))
    return folder


def test_an_error_names_the_configuration_that_the_command_was_given(home, monkeypatch):
    asked = ["job", "list", "--json", "--config", str(home)]
    (named,) = re.findall(
        "`duetto ([^`]*)`", json.loads(CliRunner().invoke(duetto, asked).output)["error"]["hint"]
    )
    assert shlex.split(named) == ["party", "start", "--config", str(home)]
    monkeypatch.setenv("DUETTO_CONFIG", str(home))
    for words in (asked, asked[:3]):
        assert "`duetto party start`" in CliRunner().invoke(duetto, words).output


@pytest.mark.parametrize(
    ("hint", "completed"),
    [
        ("See `duetto job show`.", "See `duetto job show --config x`."),
        ("`duetto job cancel j-1`", "`duetto job cancel j-1 --config x`"),
        ("First `duetto doctor --peer p`.", "First `duetto doctor --peer p --config x`."),
        ("Run `duetto party start --config y`.", None),
        ("Let the peer run `duetto keys renew`, then run `duetto pair FILE`.", None),
        ("Try `duetto anonymize --help`, `duetto`, `duettos job show`, or `duetto no such`.", None),
    ],
)  # fmt: skip
def test_commands_that_take_a_configuration_are_completed(hint, completed):
    command = click.Command("show", params=[click.Option(["--config", "config_path"])])
    with click.Context(duetto), click.Context(command, parent=click.get_current_context()) as context:
        context.params["config_path"] = "x"
        assert with_config(hint) == (completed or hint)
        context.params["config_path"] = None
        assert with_config(hint) == hint
    assert with_config(hint) == hint


def test_a_command_that_was_given_no_config_names_none(monkeypatch, tmp_path):
    assert config_words(None) == ""
    assert config_words(tmp_path) == f" --config {tmp_path}"
    assert config_words(tmp_path / "a b") == f" --config '{tmp_path}/a b'"
    monkeypatch.setenv("DUETTO_CONFIG", str(tmp_path))
    assert config_words(tmp_path) == ""
