"""Where the passphrase of the keys comes from: a credential of systemd, a descriptor, or the terminal."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from parties.errors import ConfigError, KeysLocked

CREDENTIAL: Final = "duetto-passphrase"
"""The name of the credential; for two parts, a line each."""

DESCRIPTOR_VARIABLE: Final = "DUETTO_PASSPHRASE_FD"
"""Names an open descriptor from which the passphrase is read once; for two parts, a line each."""

NEW_VARIABLE: Final = "DUETTO_NEW_PASSPHRASE_FD"
"""The same for the passphrase by which `duetto keys protect` is to replace it."""

MAX_BYTES: Final = 4096


def ask(parts: int, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The passphrase, or both parts of it.

    Args:
        parts: 1 or 2.
        environment: of the process.

    Raises:
        ConfigError: there is none, or it has another number of parts.
    """
    if folder := environment.get("CREDENTIALS_DIRECTORY"):
        path = Path(folder) / CREDENTIAL
        if path.exists():
            with path.open("rb") as file:
                return _split(file.read(MAX_BYTES), parts, f"The credential {CREDENTIAL}")
    if environment.get(DESCRIPTOR_VARIABLE):
        return _from_descriptor(DESCRIPTOR_VARIABLE, parts, environment)
    if not sys.stdin.isatty():
        raise KeysLocked(
            "The keys of this party are protected, and there is no passphrase.",
            "Run the command at a terminal, which asks for it. For a service, make a credential of systemd "
            f"named {CREDENTIAL}, as docs/operations.md shows under *Keys under a passphrase*.",
        )
    if parts == 1:
        return (getpass.getpass("Passphrase of the keys: "),)
    return tuple(getpass.getpass(f"Part {number} of the passphrase: ") for number in range(1, parts + 1))


def is_new_given(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a descriptor with a new passphrase is named."""
    return bool(environment.get(NEW_VARIABLE))


def ask_new(parts: int, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The new passphrase from the descriptor, in that many parts. Raises as `ask`."""
    return _from_descriptor(NEW_VARIABLE, parts, environment)


def _from_descriptor(variable: str, parts: int, environment: Mapping[str, str]) -> tuple[str, ...]:
    number = environment[variable]
    try:
        with os.fdopen(int(number), "rb") as file:
            data = file.read(MAX_BYTES)
    except (ValueError, OSError, OverflowError):
        raise ConfigError(
            f"{variable} names {number[:20]!r}, which cannot be read.",
            f"Give an open descriptor: `{variable}=3 duetto ... 3<FILE`.",
        ) from None
    return _split(data, parts, f"Descriptor {number}")


def _split(data: bytes, parts: int, source: str) -> tuple[str, ...]:
    try:
        found = tuple(data.decode().rstrip("\n").split("\n"))
    except UnicodeDecodeError:
        found = ()
    if len(found) != parts:
        raise ConfigError(
            f"{source} does not hold {parts} line{'s' if parts > 1 else ''} of text.",
            "Write each part of the passphrase on a line of its own.",
        )
    return found
