"""The options by which a command is signed with a person's key."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from parties.cli.hints import with_config
from parties.cli.output import talk
from parties.client import Party
from parties.config import Config, load
from parties.ledger.book import open_ledger
from parties.persons.gate import NO_FILE, SIGN, Gate
from parties.persons.keys import is_encrypted
from parties.persons.pending import pending
from parties.persons.signer import Signer, open_signer, open_signer_by
from parties.pki.files import read_private

R = TypeVar("R")

_PASSPHRASE_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Signing:
    """What a person has given to sign with.

    Attributes:
        key_file: of the person; None for no signature.
        passphrase_file: holds the passphrase of the key file; None to be asked.
        behalf: the absent person for whom is signed; empty for nobody.
    """

    key_file: Path | None
    passphrase_file: Path | None
    behalf: str

    def open(self, config: Config) -> Signer | None:
        """The signer; None where no key was given.

        Raises:
            ConfigError: the key file cannot be read, or its key is nobody's.
        """
        if self.key_file is None:
            return None
        return open_signer(config, self.key_file, self.passphrase(), self.behalf)

    def of(self, config_path: Path | None) -> Signer | None:
        """The same for the configuration at a path, or a role's socket. Raises as `open` and `load` do."""
        if self.key_file is None:
            return None
        if config_path is not None and config_path.is_socket():
            with Party(config_path) as party:
                text = party.persons_in_force()
            return open_signer_by(text, self.key_file, self.passphrase(), self.behalf)
        return self.open(load(config_path))

    def passphrase(self) -> str:
        """The passphrase of the key file, which is asked for where no file has it; empty if it needs none."""
        if self.passphrase_file is not None:
            return read_passphrase(self.passphrase_file)
        if self.key_file is None or not is_encrypted(self.key_file):
            return ""
        return str(click.prompt(f"Passphrase of {self.key_file}", hide_input=True, err=True))


def read_passphrase(path: Path) -> str:
    """The first line of a private file.

    Raises:
        ConfigError: it cannot be read, or is open to others.
    """
    return read_private(path, _PASSPHRASE_BYTES).decode("utf-8", "replace").split("\n", 1)[0]


def say_who_signs(config_path: Path | None) -> None:
    """Say in one line that names under decisions are not signed here, where they are not."""
    if config_path is not None and config_path.is_socket():
        return  # what lies in the home is not for those who come over a role's socket
    config = load(config_path)
    if not Gate(config.name, config.home, open_ledger(config.home)).is_likely:
        talk(NO_FILE)


def say_what_to_sign(config: Config) -> None:
    """Say what a person has to sign before jobs run by it, where persons are in force."""
    gate = Gate(config.name, config.home, open_ledger(config.home))
    waiting = [one.text for one in pending(config, gate)] if gate.is_likely else []
    if waiting:
        talk(f"Not in force before a person signs it: {', '.join(waiting)}. {with_config(SIGN)}")


def signing_options(function: Callable[..., R]) -> Callable[..., R]:
    """Give a command `--key`, `--passphrase-file` and `--for`, passed on as `signing: Signing`."""

    @functools.wraps(function)
    def call(
        *arguments: Any, key_file: Path | None, passphrase_file: Path | None, behalf: str, **others: Any
    ) -> R:
        return function(*arguments, signing=Signing(key_file, passphrase_file, behalf), **others)

    options = (
        click.option(
            "--key",
            "key_file",
            type=click.Path(path_type=Path),
            envvar="DUETTO_PERSON_KEY",
            help="Your key file, to sign with; needed where persons.toml is in force.",
        ),
        click.option(
            "--passphrase-file",
            type=click.Path(path_type=Path),
            help="A private file with the passphrase of the key file; else you are asked.",
        ),
        click.option(
            "--for", "behalf", default="", metavar="PERSON", help="Sign for this absent person, as delegate."
        ),
    )
    for option in reversed(options):
        call = option(call)
    return call
