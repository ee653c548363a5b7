"""Options that many commands share."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

import click
from typing_extensions import override

from parties.places import CONFIG_VARIABLE

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


def home_option(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command that makes a home `--home FOLDER`, passed on as `home: Path | None` for `new_home`."""
    return click.option(
        "--home",
        type=click.Path(path_type=Path),
        envvar=CONFIG_VARIABLE,
        help=f"Folder of the party; else what {CONFIG_VARIABLE} names, or ~/.config/duetto.",
    )(function)


def data_option(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command `--data FOLDER`, passed on as `folders: tuple[Path, ...]`."""
    return click.option(
        "--data",
        "folders",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        multiple=True,
        help="Folder whose files the page Data offers to declare, where people can act.",
    )(function)


def as_option(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command `--as NAME`, passed on as `name: str`, empty unless given."""
    return click.option(
        "--as",
        "name",
        metavar="NAME",
        default="",
        help="Who decides, for the record; else the name of this account.",
    )(function)


class Finite(click.FloatRange):
    """A number in a range that is one: `nan` and `inf` lie in none, though `click.FloatRange` lets them."""

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Take the number, or fail as for any other that is out of range."""
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f"{found} is not a finite number.", param, ctx)
        return found


class Listing(click.Group):
    """A group that lists its commands with the whole first sentence of each."""

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list; long sentences go on in further lines."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, one.get_short_help_str(_LONG)) for name, one in commands if one is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
