"""Commands that a hint names, made ready to be copied: with the configuration that this command was given."""

from __future__ import annotations

import os
import re
from pathlib import Path
from shlex import quote
from typing import Final

import click

from parties.places import CONFIG_VARIABLE

_NAMED: Final = re.compile(r"`duetto ([a-z][a-z-]*(?: [a-z][a-z-]*)*)([^`]*)`")
_OF_EITHER_SIDE: Final = frozenset({"keys", "pair"})
"""What hints ask of the peer as well, where the configuration of this party would be wrong."""


def config_words(config_path: Path | None) -> str:
    """The words ` --config PATH` for a command that is named, if this one was given them."""
    if config_path is None or os.environ.get(CONFIG_VARIABLE) == str(config_path):
        return ""
    return f" --config {quote(str(config_path))}"


def with_config(hint: str) -> str:
    """A hint whose commands have the words `--config PATH` that the running command was given.

    Commands that take no configuration stay as they are, and so do those of `keys` and `pair`, of which hints
    also say that the peer runs them.
    """
    context = click.get_current_context(silent=True)
    words = config_words(context.params.get("config_path")) if context else ""
    if not context or not words:
        return hint
    root = context.find_root()

    def complete(found: re.Match[str]) -> str:
        if "--config" in found[2] or not _takes_config(root, found[1].split()):
            return found[0]
        return f"{found[0][:-1]}{words}`"

    return _NAMED.sub(complete, hint)


def _takes_config(root: click.Context, words: list[str]) -> bool:
    if words[0] in _OF_EITHER_SIDE:
        return False
    command: click.Command | None = root.command
    for word in words:
        if not isinstance(command, click.Group):
            break
        command = command.get_command(root, word)
    return command is not None and any(option.name == "config_path" for option in command.params)
