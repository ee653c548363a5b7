"""gRPC's settings of a whole process, made by the command `duetto` and so by the daemon, never by an import.

gRPC gets no cipher suite of TLS 1.2 that fits the certificates of the parties: they are ECDSA, the only suite
allowed is for RSA. What remains is TLS 1.3, whose suites this setting does not concern. gRPC reads it once,
when it is imported. Every connection to a peer asks for it (`parties.rpc.tls`), and the daemon also tests at
its own port that no TLS 1.2 is spoken. A notebook that imports the client, which talks to a socket of this
machine only, keeps its own settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Final

from parties.errors import ConfigError

CIPHER_SUITES: Final[Mapping[str, str]] = {"GRPC_SSL_CIPHER_SUITES": "ECDHE-RSA-AES256-GCM-SHA384"}
"""What the environment has to say before gRPC is imported."""


def set_up(verbosity: str = "NONE") -> None:
    """Leave gRPC TLS 1.3 only in this process.

    Args:
        verbosity: the least that gRPC writes to standard error, unless the environment asks for another: NONE
            for commands, whose errors say what went wrong; ERROR for the daemon, which may end by one.

    Raises:
        ConfigError: gRPC was imported before, so that it would not see the setting.
    """
    if not _is_set_up():
        if "grpc" in sys.modules:
            raise ConfigError(
                "gRPC was imported before its cipher suites were set, so it could speak TLS 1.2.",
                "Run the command `duetto` in a process of its own.",
            )
        os.environ.update(CIPHER_SUITES)
    os.environ.setdefault("GRPC_VERBOSITY", verbosity)


def check() -> None:
    """Check that `set_up` was called, before a connection to a peer is made or taken.

    Raises:
        ConfigError: it was not.
    """
    if not _is_set_up():
        raise ConfigError(
            "This process was not set up for TLS 1.3 only, so it connects to no peer.",
            "Run the command `duetto`, or call `parties.rpc.process.set_up()` before gRPC is imported.",
        )


def _is_set_up() -> bool:
    return CIPHER_SUITES.items() <= os.environ.items()
