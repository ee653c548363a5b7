"""Where the passphrase of the keys and a token's PIN come from: systemd, a descriptor, or the terminal."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from parties.errors import ConfigError, KeysLocked

CREDENTIAL: Final = "duetto-passphrase"
"""The name of the credential; for two parts, a line each."""

DESCRIPTOR_VARIABLE: Final = "DUETTO_PASSPHRASE_FD"
"""Names an open descriptor from which the passphrase is read once; for two parts, a line each."""

NEW_VARIABLE: Final = "DUETTO_NEW_PASSPHRASE_FD"
"""The same for the passphrase by which `duetto keys protect` is to replace it."""

PIN_CREDENTIAL: Final = "duetto-pin"
PIN_VARIABLE: Final = "DUETTO_PIN_FD"
"""The same for the PIN of the token that holds the signing key."""

MAX_BYTES: Final = 4096


def ask(parts: int, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The passphrase, or both parts of it.

    Args:
        parts: 1 or 2.
        environment: of the process.

    Raises:
        ConfigError: there is none, or it has another number of parts.
    """
    given = _find_given(CREDENTIAL, DESCRIPTOR_VARIABLE, parts, environment)
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise KeysLocked(
            "The keys of this party are protected, and there is no passphrase.",
            "Run the command at a terminal, which asks for it. For a service, make a credential of systemd "
            f"named {CREDENTIAL}, as docs/operations.md shows under *Keys under a passphrase*.",
        )
    if parts == 1:
        return (getpass.getpass("Passphrase of the keys: "),)
    return tuple(getpass.getpass(f"Part {number} of the passphrase: ") for number in range(1, parts + 1))


def ask_pin(token: str, environment: Mapping[str, str] = os.environ) -> str:
    """The PIN of a token.

    Args:
        token: its label.
        environment: of the process.

    Raises:
        ConfigError: there is none.
    """
    given = _find_given(PIN_CREDENTIAL, PIN_VARIABLE, 1, environment)
    if given is not None:
        return given[0]
    if not sys.stdin.isatty():
        raise KeysLocked(
            f"The signing key is in the token {token!r}, and there is no PIN.",
            "Run the command at a terminal, which asks for it. For a service, make a credential of systemd "
            f"named {PIN_CREDENTIAL}, as docs/operations.md shows under *The signing key in a token*.",
        )
    return getpass.getpass(f"PIN of the token {token!r}: ")


@contextmanager
def handing_on(secrets: Mapping[str, tuple[str, ...]]) -> Iterator[Mapping[str, int]]:
    """Descriptors from which a process that is started here reads what this one was told.

    Args:
        secrets: lines by the variable that names their descriptor to that process.
    """
    reading: dict[str, int] = {}
    try:
        for variable, lines in secrets.items():
            reading[variable], writing = os.pipe()
            with os.fdopen(writing, "wb") as pipe:
                pipe.write("\n".join(lines).encode()[:MAX_BYTES])  # less than any pipe holds
        yield reading
    finally:
        for descriptor in reading.values():
            os.close(descriptor)


def is_new_given(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a descriptor with a new passphrase is named."""
    return bool(environment.get(NEW_VARIABLE))


def ask_new(parts: int, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The new passphrase from the descriptor, in that many parts. Raises as `ask`."""
    return _from_descriptor(NEW_VARIABLE, parts, environment)


def _find_given(
    credential: str, variable: str, parts: int, environment: Mapping[str, str]
) -> tuple[str, ...] | None:
    """The lines of a credential or else of a descriptor; None if there is neither."""
    if folder := environment.get("CREDENTIALS_DIRECTORY"):
        path = Path(folder) / credential
        if path.exists():
            with path.open("rb") as file:
                return _split(file.read(MAX_BYTES), parts, f"The credential {credential}")
    if environment.get(variable):
        return _from_descriptor(variable, parts, environment)
    return None


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
