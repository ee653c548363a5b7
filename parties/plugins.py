"""Analyses of other programs, by the entry points `duetto.analyses` of installed distributions.

No code of a distribution is loaded because it is installed: the configuration has to name it. What is loaded
runs with all rights of the daemon, sees the columns of its jobs, and is trusted as duetto itself is;
policies, limits and the release hold for it as for any analysis that keeps to the interface. Certificates say
which plug-ins a daemon had loaded, and their digest of the program covers the files of these.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution
from pathlib import Path
from sys import modules
from typing import Any, Final

from parties.errors import ConfigError, JobError
from smc.analyses.studies.declared_analysis import DeclaredAnalysis
from smc.analyses.studies.study import Analysis, Study
from smc.errors import DuettoError

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
    analyses: tuple[Analysis, ...] = field(compare=False)  # those of others need not be hashable

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
    from smc.analyses.registry import ANALYSES, register  # with all protocols: certificates need none

    owners = dict.fromkeys(ANALYSES, "duetto")
    for plugin in plugins:
        for analysis in plugin.analyses:
            if analysis.name in owners:
                raise ConfigError(
                    f"{plugin.name} offers an analysis {analysis.name!r}, which {owners[analysis.name]} has "
                    "already.",
                    f"Take {plugin.name} out of {_PLACE}, or ask its author for another name.",
                )
            owners[analysis.name] = plugin.name
    return register((*ANALYSES.values(), *(one for plugin in plugins for one in plugin.analyses)))


@dataclass(frozen=True, slots=True)
class PluggedAnalysis:
    """An analysis of a plug-in, whose defects are said to be its own.

    Attributes:
        name: in job files.
        always_matches: whether every job of it matches rows.
        plugin: the distribution that it is of.
        inner: the analysis itself.
    """

    name: str
    always_matches: bool
    plugin: str
    inner: Analysis

    def parse(self, parameters: Mapping[str, Any]) -> Study:
        """The study of the parameters.

        Raises:
            UsageError: the analysis does not take the parameters.
            JobError: the analysis has a defect.
        """
        try:
            study: Any = self.inner.parse(parameters)
            found = f"parse returns a {type(study).__name__}, which lacks a part of a study"
            complete = isinstance(study, Study)
        except DuettoError:
            raise
        except Exception as problem:
            raise self._defect(f"parse raises {type(problem).__name__}") from problem
        if not complete:
            raise self._defect(found)
        result: Study = study
        return result

    def _defect(self, what: str) -> JobError:
        return JobError(
            f"The analysis {self.name!r} of {self.plugin} has a defect: {what}.",
            "Report it to its author, whom smc.testing.check_analysis shows it.",
        )


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
    files = _files(installed)
    analyses = tuple(_analysis(name, point, files) for point in points)
    return Plugin(installed.metadata["Name"], installed.version, _digest(files), analyses)


def _analysis(name: str, point: EntryPoint, files: Mapping[str, Path]) -> Analysis:
    try:
        found: Any = point.load()
        complete = isinstance(found, Analysis) and not isinstance(found, type) and callable(found.parse)
        named, always = (found.name, found.always_matches) if complete else (None, None)
    except (Exception, SystemExit) as problem:
        raise ConfigError(
            f"The analysis {point.name!r} of {name} cannot be loaded: {type(problem).__name__}: {problem}",
            f"Install what it needs, or take {name} out of {_PLACE}.",
        ) from problem
    if not complete or not isinstance(always, bool):
        raise ConfigError(
            f"{point.value} of {name} is not an analysis: it lacks name, always_matches or parse.",
            "Its author has to name an object with them, and run smc.testing.check_analysis.",
        )
    if named != point.name:
        raise ConfigError(
            f"The analysis that {name} offers as {point.name!r} is named {named!r}.",
            "Its author has to give both the same name.",
        )
    places = {path.resolve() for path in files.values()}
    author = found.study if type(found) is DeclaredAnalysis else type(found)
    for module in (point.module, author.__module__):
        file = getattr(modules.get(module), "__file__", None)
        if file is None or Path(file).resolve() not in places:
            raise ConfigError(
                f"The code of the analysis {point.name!r}, {module}, is not among the files that {name} was "
                "installed with, such as in editable form.",
                f"Install {name} as a regular package; certificates have to say which code ran.",
            )
    return PluggedAnalysis(point.name, always, name, found)


def _files(installed: Distribution) -> Mapping[str, Path]:
    """The Python files of a distribution by their names, as they lie on the disk.

    Raises:
        ConfigError: its code is not among the files that it was installed with, or one is gone.
    """
    name = installed.metadata["Name"]
    # Newer Pythons, and older ones once a library has brought theirs, leave out of `files` what is gone.
    record = csv.reader((installed.read_text("RECORD") or "").splitlines())
    listed = sorted(row[0] for row in record if row and row[0].endswith(".py"))
    if not listed:
        raise ConfigError(
            f"{name} is installed without its code, such as in editable form.",
            "Install it as a regular package: certificates have to say which code ran.",
        )
    files = {one: Path(str(installed.locate_file(one))) for one in listed}
    if gone := [one for one, path in files.items() if not path.is_file()]:
        raise ConfigError(
            f"{name} is installed without its file {gone[0]}.",
            f"Install it again: pip install --force-reinstall {name}.",
        )
    return files


def _digest(files: Mapping[str, Path]) -> str:
    """SHA-256 over the Python files of a distribution."""
    whole = hashlib.sha256()
    for name, path in files.items():
        whole.update(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n".encode())
    return whole.hexdigest()
