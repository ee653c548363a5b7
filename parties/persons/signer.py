"""Signs acts with a person's key file, on the person's side: in commands and in Python."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from parties.config import Config
from parties.errors import ConfigError
from parties.ledger.book import open_ledger
from parties.persons.declaration import FILE, Persons, parse_persons, read_file
from parties.persons.gate import Gate
from parties.persons.keys import PrivateKey, load_key
from parties.persons.roles import Act
from parties.persons.statement import PersonStatement, Presented, now, present


class Signs(Protocol):
    """Gives signatures under what is about to be done."""

    def sign(self, party: str, act: Act, digest: str, peer: str = "", after: str = "") -> Presented:
        """The signature under an act; arguments as of `parties.persons.statement.PersonStatement`."""
        ...


@dataclass(frozen=True, slots=True)
class SignedElsewhere:
    """One signature that was made elsewhere, such as in a browser, and is handed on.

    Attributes:
        presented: the signature.
    """

    presented: Presented

    def sign(self, party: str, act: Act, digest: str, peer: str = "", after: str = "") -> Presented:
        """The signature, whatever it is about: the daemon checks it against the act."""
        del party, act, digest, peer, after
        return self.presented


class Signer:
    """A person with a key, who signs what is shown.

    Args:
        persons: of the party.
        key: the person's key.
        behalf: the word for the absent person for whom that one signs; empty for nobody.

    Raises:
        ConfigError: the key is nobody's.
    """

    def __init__(self, persons: Persons, key: PrivateKey, behalf: str = "") -> None:
        found = persons.find(key.public)
        if found is None:
            raise ConfigError(
                f"The key {key.public.fingerprint} is that of nobody in {FILE}.",
                "Take another key file, or let a steward or an operator add the key: `duetto person add`.",
            )
        self.word, self.person = found
        self._key = key
        self._behalf = behalf

    def sign(self, party: str, act: Act, digest: str, peer: str = "", after: str = "") -> Presented:
        """Sign an act; arguments as of `parties.persons.statement.PersonStatement`."""
        statement = PersonStatement(act, party, peer, digest, self.word, self._behalf, now(), after)
        return present(statement, self._key)


def open_signer_by(persons_text: str, key_file: Path, passphrase: str = "", behalf: str = "") -> Signer:
    """The signer of a key file, by the text of the persons in force. Raises ConfigError as `open_signer`."""
    if not persons_text:
        raise ConfigError(
            "No persons are in force at this party, so there is nothing to sign with a key.",
            "Leave out --key.",
        )
    return Signer(parse_persons(persons_text.encode()), load_key(key_file, passphrase), behalf)


def open_signer(config: Config, key_file: Path, passphrase: str = "", behalf: str = "") -> Signer:
    """The signer of a key file, by the persons in force, or by the file of persons before a first is.

    Args:
        config: of the party.
        key_file: as `duetto person key` made it.
        passphrase: of the file, if it is encrypted.
        behalf: as of `Signer`.

    Raises:
        ConfigError: the home has no persons, the file cannot be read, or its key is nobody's.
        LedgerError: the ledger is broken.
    """
    persons = Gate(config.name, config.home, open_ledger(config.home)).register().persons
    if persons is None:
        data = read_file(config.home / FILE)
        if data is None:
            raise ConfigError(
                f"{config.home} has no {FILE}, so there is nothing to sign with a key.",
                "Leave out --key, or begin with `duetto person add`.",
            )
        persons = parse_persons(data)
    return Signer(persons, load_key(key_file, passphrase), behalf)
