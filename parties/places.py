"""Where the configuration of a party lies."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeVar

from parties.errors import ConfigError

CONFIG_NAME: Final = "duetto.toml"
CONFIG_VARIABLE: Final = "DUETTO_CONFIG"


def find(path: Path | None, environment: Mapping[str, str] = os.environ) -> Path:
    """The configuration file to use: `path`, or the variable `DUETTO_CONFIG`, or a default place.

    Raises:
        ConfigError: there is none.
    """
    named = path or (Path(environment[CONFIG_VARIABLE]) if environment.get(CONFIG_VARIABLE) else None)
    places = [named] if named else [Path(CONFIG_NAME), user_folder(environment) / CONFIG_NAME]
    for place in places:
        file = place / CONFIG_NAME if place.is_dir() else place
        if file.is_file():
            return require_text(file.resolve())
    raise ConfigError(
        f"No configuration at {' or '.join(str(place) for place in places)}.",
        f"Make a party with `duetto init`, or name its file with --config or {CONFIG_VARIABLE}.",
    )


def new_home(named: Path | None, environment: Mapping[str, str] = os.environ) -> Path:
    """The folder in which a party is made: the one that `find` takes for the same name; absolute.

    Raises:
        ConfigError: its name is not text.
    """
    if named is not None and named.name == CONFIG_NAME:
        named = named.parent
    return require_text((named or user_folder(environment)).absolute())


P = TypeVar("P", str, Path)


def require_text(path: P) -> P:
    """The path, if its name is text: databases, sockets and the other files of a party take no other.

    Raises:
        ConfigError: it is not UTF-8.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ConfigError(
            f"The name {str(path)!r} is not UTF-8.", "Rename the file, or the folder in which it lies."
        ) from None
    return path


def user_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of the user's own party: `~/.config/duetto`, or below `XDG_CONFIG_HOME`."""
    base = environment.get("XDG_CONFIG_HOME")
    return require_text((Path(base) if base else Path("~/.config").expanduser()) / "duetto")
