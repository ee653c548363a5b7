"""Analyses of other programs, by the entry points `duetto.analyses` of installed distributions.

No code of a distribution is loaded because it is installed: the configuration has to name it. What is loaded
runs with all rights of the daemon, sees the columns of its jobs, and is trusted as duetto itself is;
policies, limits and the release hold for it as for any analysis that keeps to the interface. Certificates say
which plug-ins a daemon had loaded, and their digest of the program covers the files of these.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final

from parties.errors import ConfigError
from smc.analyses.registry import ANALYSES, registered
from smc.analyses.studies.study import Analysis

GROUP: Final = "duetto.analyses"
"""Of entry points; each is named as its analysis is."""

_PLACE: Final = "analyses below [plugins] in duetto.toml"


@dataclass(frozen=True, slots=True)
class Plugin:
    """A distribution that offers analyses, as it was loaded.

    Attributes:
        name: of the distribution.
        version: of the distribution.
        code: SHA-256 over the paths and contents of its Python files, hexadecimal.
        analyses: what it offers.
    """

    name: str
    version: str
    code: str
    analyses: tuple[Analysis, ...]

    def document(self) -> dict[str, str]:
        """What a certificate says of it."""
        return {"name": self.name, "version": self.version, "code": self.code}


def load_plugins(names: Sequence[str]) -> tuple[Plugin, ...]:
    """Load the analyses of distributions.

    Args:
        names: the distributions, as they are called where they are installed.

    Raises:
        ConfigError: one is not installed, offers no analyses, or none that can be loaded.
    """
    return tuple(_loaded(name) for name in names)


def with_plugins(plugins: Sequence[Plugin]) -> Mapping[str, Analysis]:
    """All analyses by name: those of duetto and those of plug-ins.

    Raises:
        ConfigError: two have one name.
    """
    try:
        return registered((*ANALYSES.values(), *(one for plugin in plugins for one in plugin.analyses)))
    except ValueError as problem:
        raise ConfigError(
            f"The plug-ins cannot be used together: {problem}", f"Name fewer of them in {_PLACE}."
        ) from None


def _loaded(name: str) -> Plugin:
    try:
        installed = distribution(name)
    except (PackageNotFoundError, ValueError):
        raise ConfigError(
            f"The plug-in {name!r} is not installed.",
            f"Install it for this Python (pip install {name}), or take it out of {_PLACE}.",
        ) from None
    points = [point for point in installed.entry_points if point.group == GROUP]
    if not points:
        raise ConfigError(
            f"{name} offers no analyses.",
            f"Take it out of {_PLACE}; a plug-in has entry points in the group {GROUP!r}.",
        )
    analyses = tuple(_analysis(name, point) for point in points)
    return Plugin(installed.metadata["Name"], installed.version, _digest(installed), analyses)


def _analysis(name: str, point: EntryPoint) -> Analysis:
    try:
        found: Any = point.load()
    except Exception as problem:
        raise ConfigError(
            f"The analysis {point.name!r} of {name} cannot be loaded: {type(problem).__name__}: {problem}",
            f"Install what it needs, or take {name} out of {_PLACE}.",
        ) from problem
    if not isinstance(found, Analysis) or isinstance(found, type):
        raise ConfigError(
            f"{point.value} of {name} is not an analysis: it lacks name, always_matches or parse.",
            "Its author has to name an object with them, and run smc.testing.check_analysis.",
        )
    if found.name != point.name:
        raise ConfigError(
            f"The analysis that {name} offers as {point.name!r} is named {found.name!r}.",
            "Its author has to give both the same name.",
        )
    return found


def _digest(installed: Distribution) -> str:
    """SHA-256 over the Python files of a distribution, as they lie on the disk.

    Raises:
        ConfigError: its code is not among the files that it was installed with.
    """
    names = sorted(str(one) for one in installed.files or () if one.suffix == ".py")
    if not names:
        raise ConfigError(
            f"{installed.metadata['Name']} is installed without its code, such as in editable form.",
            "Install it as a regular package: certificates have to say which code ran.",
        )
    whole = hashlib.sha256()
    for name in names:
        content = Path(str(installed.locate_file(name))).read_bytes()
        whole.update(f"{hashlib.sha256(content).hexdigest()}  {name}\n".encode())
    return whole.hexdigest()
