"""Loads what understands and runs jobs: half of the program, for which no port has to wait."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from parties.certificates.program import code_digest, program
from parties.config import Config
from parties.errors import ConfigError
from parties.ledger.book import Ledger
from parties.ledger.entries import LedgerError
from parties.plugins import load_plugins, with_plugins

if TYPE_CHECKING:
    from parties.jobs.checks.admission import Admission
    from smc.analyses.studies.study import Analysis


class LazyAnalyses:
    """The local checks of a daemon, with all analyses, loaded when they are first asked for. Thread-safe.

    Plug-ins are loaded at once, since a wrong one is an error of the start.

    Args:
        config: the configuration.
        ledger: the local ledger.
        begun: gives the runs that the jobs know, for `Ledger.adopt`, before any job is looked at.
        analyses: as of `JobManager`.

    Raises:
        ConfigError: a plug-in cannot be loaded, or offers an analysis of a name that is taken.
    """

    def __init__(
        self,
        config: Config,
        ledger: Ledger,
        begun: Callable[[], Iterable[tuple[str, str, str]]],
        analyses: Mapping[str, Analysis] | None = None,
    ) -> None:
        self.plugins = load_plugins(config.plugins)
        self._code = program(self.plugins)["code"]
        self._loaded = frozenset(sys.modules)
        self._config = config
        self._ledger = ledger
        self._begun = begun
        self._analyses = with_plugins(self.plugins) if self.plugins and analyses is None else analyses
        self._lock = threading.Lock()
        self._admission: Admission | None = None

    def admission(self) -> Admission:
        """The local checks. What it raises it raises again until the daemon is started anew.

        Raises:
            ConfigError: the files of the program were changed since it started.
        """
        with self._lock:
            if self._admission is None:
                self._admission = self._load()
            return self._admission

    def _load(self) -> Admission:
        import parties.jobs.reports
        import parties.jobs.run  # noqa: F401 - these are used later
        import smc.protocols.session  # noqa: F401
        from parties.jobs.checks.opening import open_admission

        analyses = with_plugins(self.plugins) if self._analyses is None else self._analyses
        if sys.modules.keys() - self._loaded and code_digest(self.plugins) != self._code:
            # What was loaded since may not be what certificates would name.
            raise ConfigError(
                "The files of duetto were changed while its daemon was starting.",
                "Start it again with `duetto party start`.",
            )
        with suppress(LedgerError):  # a broken ledger stops the sessions, and says so there
            self._ledger.adopt(self._begun())
        return open_admission(self._config, self._ledger, analyses)
