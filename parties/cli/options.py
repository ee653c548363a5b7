"""Options that many commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import click

from parties.config import CONFIG_VARIABLE

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
