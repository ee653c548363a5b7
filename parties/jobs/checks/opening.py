"""Opens the local checks of a party from its configuration, for a daemon or for a command without one."""

from __future__ import annotations

from collections.abc import Mapping

from parties.catalog.reading import Reader
from parties.config import Config
from parties.disclosure.history import History
from parties.evidence.store import EvidenceStore
from parties.jobs.checks.admission import Admission
from parties.ledger.book import Ledger, open_ledger
from parties.persons.gate import Gate
from parties.plugins import load_plugins, with_plugins
from smc.analyses.studies.study import Analysis


def open_admission(
    config: Config, ledger: Ledger, analyses: Mapping[str, Analysis] | None = None
) -> Admission:
    """The local checks of a party.

    Args:
        config: the configuration.
        ledger: the local ledger.
        analyses: as of `JobManager`.

    Raises:
        ConfigError: a plug-in cannot be loaded.
    """
    return Admission(
        name=config.name,
        catalog=config.catalog,
        policy=config.policy,
        ledger=ledger,
        gate=Gate(config.name, config.home, ledger),
        history=History(config.home),
        evidence=EvidenceStore(config.home),
        reader=Reader(config.limits),
        analyses=with_plugins(load_plugins(config.plugins)) if analyses is None else analyses,
        maximum_seconds=config.limits.job_seconds,
        maximum_lanes=config.compute.lanes,
        maximum_memory=config.limits.job_memory,
    )


def local_admission(config: Config) -> Admission:
    """The checks of a party without its daemon: same catalog, policy, ledger; raises as `open_admission`."""
    return open_admission(config, open_ledger(config.home))
