"""Options that many commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

import click

from parties.config import CONFIG_VARIABLE

_LONG: Final = 1000
"""Characters of a sentence in a list of commands."""

P = ParamSpec("P")
R = TypeVar("R")


def config_option(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command `--config PATH`, passed on as `config_path: Path | None` for `parties.config.load`."""
    return click.option(
        "--config",
        "config_path",
        type=click.Path(path_type=Path),
        envvar=CONFIG_VARIABLE,
        help="The party's duetto.toml; without it ./duetto.toml, then ~/.config/duetto/duetto.toml.",
    )(function)


class Listing(click.Group):
    """A group that lists its commands with the whole first sentence of each."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list; long sentences go on in further lines."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, one.get_short_help_str(_LONG)) for name, one in commands if one is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
