"""What the system lets the process of a daemon do, set before anything else of it is there."""

from __future__ import annotations

import resource
from typing import Final

from parties.errors import ConfigError

LEAST_FILES: Final = 64
"""Open files without which a daemon cannot serve: it has about 20 without a job."""


def set_limits() -> None:
    """Have as many open files as may be, and write no core dumps.

    Raises:
        ConfigError: the system allows too few files for anything.
    """
    _raise_file_limit()
    # A core dump would hold keys and data.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _raise_file_limit() -> None:
    """Let this process have as many open files as the system allows it.

    Each connection of a stranger is one until its handshake times out; the usual limit of 1,024 would let
    a few of them close the port for peers and the control socket.

    Raises:
        ConfigError: it allows too few for anything.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < LEAST_FILES:
        raise ConfigError(
            f"This process may have {hard} open files, and a daemon needs {LEAST_FILES} at least.",
            "Raise the limit: `ulimit -n` in a shell, LimitNOFILE in a unit of systemd.",
        )
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
