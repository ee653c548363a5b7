"""docs/troubleshooting.md: the messages that it quotes are those of the program, and its extras exist."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

from tests.architecture import source
from tests.architecture.listed import messages_of, script

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
EXTRAS = TEXT.split("<!-- extras -->")[1].split("<!-- end -->")[0]
QUOTED = re.findall(r"^\| `([^`]*)` \|", TEXT.replace(EXTRAS, ""), re.MULTILINE)
FIXED = 12
"""Letters that a message has at least, beside what changes: one with fewer would fit anything."""


@pytest.fixture(scope="module")
def patterns() -> list[re.Pattern[str]]:
    """What each message of the program can look like."""
    packages = ("parties", "smc", "commons")
    found = [message.what for package in packages for message in messages_of(package)]
    # A few raise a class that is only known when they run.
    calls = (
        node.exc
        for one in source.modules(*packages)
        for node in source.nodes(one.tree)
        if isinstance(node, ast.Raise)
    )
    found += [script().said(call.args[0]) for call in calls if isinstance(call, ast.Call) and call.args]
    holes = re.compile(r"\{[^{}]*\}")
    return [
        re.compile(".+?".join(map(re.escape, holes.split(what))))
        for what in found
        if len(holes.sub("", what)) >= FIXED
    ]


@pytest.mark.parametrize("quoted", QUOTED)
def test_the_message_is_one_of_the_program(quoted, patterns):
    # A quotation may stop before the end of a message, at a word that changes.
    assert any(one.fullmatch(quoted) or one.fullmatch(f"{quoted}.") for one in patterns), quoted


def test_there_are_many():
    assert len(QUOTED) > 25


def test_a_wrong_quotation_would_be_found(patterns):
    for wrong in ("The daemon of ... is not running.", "The budget is spent.", "..."):
        assert not any(one.fullmatch(wrong) for one in patterns)


def test_the_extras_are_all_there():
    named = set(
        re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in EXTRAS.splitlines() if "|" in line))
    )
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = set(tomllib.load(file)["project"]["optional-dependencies"])
    assert named == extras - {"dev", "docs"}
