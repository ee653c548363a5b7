"""The Dask cluster of a party, lent to commands of the anonymizer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anonymizer.errors import WorkersError
from parties.cluster.executor import ClusterExecutor
from parties.config import load
from parties.errors import ConfigError
from smc.errors import DuettoError


@contextmanager
def workers(path: Path) -> Iterator[ClusterExecutor]:
    """The cluster of a configuration, for the block.

    Args:
        path: the configuration of a party, or its folder.

    Raises:
        WorkersError: it names no cluster or is wrong, or the cluster cannot be reached or is lost.
    """
    try:
        dask = load(path).compute.dask
        if dask is None:
            raise ConfigError(
                f"{path} names no Dask cluster.", "Write it below [compute], see docs/operations.md."
            )
        executor = ClusterExecutor(dask)
        try:
            yield executor
        finally:
            executor.shutdown()
    except DuettoError as error:
        raise WorkersError(error.what, error.hint) from None
