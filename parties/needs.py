"""What a job needs of a home besides keys and peers: looked at as the job would, before one fails for it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from parties.catalog.declarations.declaration import DatasetDeclaration, load_catalog
from parties.catalog.sources.databases import EXTRAS, FILE_SCHEMES
from parties.config import Config
from parties.disclosure.history import History
from parties.errors import ConfigError, DataError, StorageError
from parties.jobs.storage.reading import FILE, JobReader
from parties.jobs.storage.results import ResultFolder
from parties.ledger.book import Ledger
from parties.ledger.entries import LOG_HEAD, SIGNED, LedgerError
from parties.policy.rules import load_policy

_ANY: Final = "*"
_LIBRARIES: Final = {"excel": "python_calamine", "parquet": "pyarrow"}
"""The libraries that read kinds of files; those of databases are their drivers."""


def check_sources(config: Config) -> int:
    """Check that the files behind the data sets are there and may be read, and the libraries that read them.

    Nothing is read, and no server of a database is asked; `duetto data check` does both.

    Returns:
        How many data sets there are.

    Raises:
        ConfigError: the catalog is wrong, or a library is not installed.
        DataError: names the first data set without its file.
    """
    declared = load_catalog(config.catalog).datasets
    for dataset in declared.values():
        _check_library(dataset)
        file = _file(dataset)
        if file is not None and not (file.is_file() and os.access(file, os.R_OK)):
            problem = "may not be read by this user" if file.exists() else "does not exist"
            raise DataError(
                f"The file of data set {dataset.name!r}, {file}, {problem}.",
                f"Put it there with the right to read it, or correct {config.catalog.name}.",
            )
    return len(declared)


def _check_library(dataset: DatasetDeclaration) -> None:
    library = dataset.driver if dataset.kind == "sql" else _LIBRARIES.get(dataset.kind, "")
    if library and find_spec(library) is None:
        extra = dataset.kind if library in _LIBRARIES.values() else EXTRAS.get(library, "")
        raise ConfigError(
            f"Data set {dataset.name!r} needs {library.replace('_', '-')}, which is not installed.",
            "Run pip install " + (f"'duetto[{extra}]'." if extra else f"{library}."),
        )


def _file(dataset: DatasetDeclaration) -> Path | None:
    if dataset.source is not None:
        return dataset.source
    return Path(dataset.url) if dataset.kind == "sql" and dataset.driver in FILE_SCHEMES else None


def unknown_names(config: Config) -> list[str]:
    """Which rules of the policy name peers that are not paired, or data sets that are not declared.

    Raises:
        ConfigError: policy or catalog is wrong.
    """
    peers = {peer.name for peer in config.peers}
    datasets = load_catalog(config.catalog).datasets.keys()
    found = []
    for rule in load_policy(config.policy).rules:
        for what, named, known in (("peer", rule.peers, peers), ("data set", rule.datasets, datasets)):
            found += [f"{rule.name!r} names the {what} {name!r}" for name in sorted(named - {_ANY, *known})]
    return found


def has_rules(config: Config) -> bool:
    """Whether the policy has any rule; without one it allows nothing. Raises `ConfigError` if it is wrong."""
    return bool(load_policy(config.policy).rules)


def check_database(config: Config, ledger: Ledger) -> int:
    """Check that the database of the jobs can be read and written; how many jobs it has.

    Raises:
        StorageError: it cannot, or is gone while the ledger knows of jobs.
        LedgerError: the ledger lacks what the certificate of the last finished job says of it.
    """
    path = config.home / FILE
    if not path.exists():
        before_jobs = (SIGNED, LOG_HEAD)  # what persons and the daemon may write before any job
        if all(entry.event in before_jobs for entry in ledger.entries()):
            return 0
        raise StorageError(
            f"{path} is gone, and with it all jobs; the ledger has entries of some.",
            "Stop the daemon, and bring it back from a copy of the home.",
        )
    with closing(JobReader(config.home, only_looks=True)) as jobs:
        count = sum(jobs.counts().values())
        jobs.check_writing()
        _check_certified(jobs.last_certificate(), ledger)
    return count


def _check_certified(certificate: str, ledger: Ledger) -> None:
    if not certificate:
        return
    try:
        entries: Mapping[str, Any] = json.loads(certificate)["certificate"]["ledger"]
        last = max(((entry["sequence"], entry["hash"]) for entry in entries.values()), default=None)
    except (ValueError, TypeError, KeyError, AttributeError):  # of an earlier release
        return
    if last is None:
        return
    known = ledger.entries()
    if last[0] >= len(known) or known[last[0]].hash != last[1]:
        raise LedgerError(
            f"The ledger has {len(known)} entries and lacks entry {last[0]}, which the certificate of the "
            "last finished job holds: it was cut off, or is an old copy.",
            "Stop the daemon, and bring back the newest copy of the ledger.",
        )


def check_results(config: Config) -> None:
    """Check that a result could be kept.

    Raises:
        StorageError: it could not.
    """
    ResultFolder(config.home).check_place()


def check_history(config: Config) -> None:
    """Check that what is known of earlier exact jobs can be read, if there were any.

    Raises:
        HistoryError: it cannot; exact jobs are refused.
        ConfigError: it is open to other users.
    """
    history = History(config.home)
    if os.path.lexists(history.path):
        history.records()


def check_listening(config: Config, listens: str) -> None:
    """Check that the daemon listens where the configuration says.

    Args:
        config: as it stands.
        listens: where the running daemon listens; empty if it does not say.

    Raises:
        ConfigError: it listens elsewhere.
    """
    host, _, _ = listens.rpartition(":")
    same = host == config.listen.host if config.listen.port == 0 else listens == str(config.listen)
    if listens and not same:
        raise ConfigError(
            f"The daemon listens on {listens}, and the configuration says {config.listen}.",
            "Start it again with `duetto party stop` and `duetto party start`, or correct [listen].",
        )
