"""Analyses of other programs, by the entry points `duetto.analyses` of installed distributions.

No code of a distribution is loaded because it is installed: the configuration has to name it. What is loaded
runs with all rights of the daemon, sees the columns of its jobs, and is trusted as duetto itself is;
policies, limits and the release hold for it as for any analysis that keeps to the interface. Certificates say
which plug-ins a daemon had loaded, and their digest of the program covers the files of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from commons.plugins import Declared, PluginKind, digest_of
from parties.errors import ConfigError, JobError
from smc.analyses.studies.declared_analysis import DeclaredAnalysis
from smc.analyses.studies.study import Analysis, Study
from smc.errors import DuettoError

_KIND: Final = PluginKind(
    group="duetto.analyses",
    one="an analysis",
    many="analyses",
    place="analyses below [plugins] in duetto.toml",
    unlike="not an analysis: it lacks name, always_matches or parse",
    needs="Its author has to name an object with them, and run smc.testing.check_analysis.",
    record="certificates have",
    error=ConfigError,
)


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
    return tuple(_load(name) for name in names)


def with_plugins(plugins: Sequence[Plugin]) -> Mapping[str, Analysis]:
    """All analyses by name: those of duetto and those of plug-ins.

    Raises:
        ConfigError: two have one name.
    """
    from smc.analyses.registry import ANALYSES, register  # with all protocols: certificates need none

    owners = dict.fromkeys(ANALYSES, "duetto")
    for plugin in plugins:
        _KIND.claim(owners, plugin.name, (analysis.name for analysis in plugin.analyses))
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


def _load(name: str) -> Plugin:
    offers = _KIND.offers(name)
    analyses = tuple(offers.load(offered, partial(_declaration, name)) for offered in offers.points)
    return Plugin(
        offers.installed.metadata["Name"], offers.installed.version, digest_of(offers.code), analyses
    )


def _declaration(plugin: str, found: Any) -> Declared[Analysis] | None:
    """The analysis of an entry point; None if it is not one."""
    if isinstance(found, type) or not isinstance(found, Analysis) or not callable(found.parse):
        return None
    name, always = found.name, found.always_matches
    if not isinstance(always, bool):
        return None
    author = found.study if type(found) is DeclaredAnalysis else type(found)
    return Declared(PluggedAnalysis(name, always, plugin, found), name, author)
