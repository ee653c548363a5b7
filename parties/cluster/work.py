"""What a worker of the cluster runs: a function of this program, for this release only."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar

from parties.errors import ClusterMismatch
from parties.release import release

T = TypeVar("T")

SAME: Final = ("duetto", "distributed")
"""The distributions of which scheduler, workers and this machine need the same release."""

_own_release: Final = cache(release)


def work(wanted: str, task: Callable[..., T], *given: Any) -> T:
    """Run a task on a worker; one that came after the cluster was looked at is found out here.

    Args:
        wanted: the release of who sends the task.
        task: a function of this program.
        given: its arguments.

    Raises:
        ClusterMismatch: the worker has another release.
    """
    if _own_release() != wanted:
        raise ClusterMismatch(
            f"A worker of the Dask cluster runs duetto {_own_release()}, and this party {wanted}."
        )
    return task(*given)
