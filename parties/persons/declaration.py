"""The persons of a party: `persons.toml`, checked strictly."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final

from commons.settings.marks import Item, Key, Length, Matching, Parse, Read, UnfitError
from commons.settings.reader import read_declared
from commons.settings.table import StrictTable
from commons.settings.toml import parse
from parties.errors import ConfigError
from parties.person_roles import PersonRole
from parties.persons.keys import FORM, HOW_TO_WRITE, PersonKey
from parties.persons.roles import ALLOWED, Act
from parties.texts import is_plain

FILE: Final = "persons.toml"

NAME_LENGTH: Final = 80
_MARKS: Final = ".,;/&'’@()–-"
NAME: Final = re.compile(rf"\w[\w {_MARKS}]{{0,{NAME_LENGTH - 1}}}")
"""A name that can be written into the ledger."""
NAME_HINT: Final = f"up to {NAME_LENGTH} letters, digits, spaces and {_MARKS}, a letter first"

MAX_PERSONS: Final = 200
MAX_KEYS: Final = 4
MAX_BYTES: Final = 1 << 16
"""The longest file, in bytes: each version of it stands in the ledger."""

_ID: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")


def _parse_name(text: str) -> str:
    if not NAME.fullmatch(text) or not is_plain(text):
        raise ConfigError(
            f"{text[:80]!r} is not a name of a person.",
            f"Write {NAME_HINT}.",
        )
    return text


def _parse_keys(value: Any, place: str) -> tuple[PersonKey, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not 1 <= len(texts) <= MAX_KEYS:
        raise ConfigError(f"{place} is not a key, nor a list of up to {MAX_KEYS}.", HOW_TO_WRITE)
    return tuple(PersonKey.parse(text, place) for text in texts)


_TEXT: Final = {"type": "string", "pattern": FORM}
_KEYS: Final = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MAX_KEYS}]}


@dataclass(frozen=True, slots=True)
class Absence:
    """A time in which a person does not decide.

    Attributes:
        begin: the first day, in UTC.
        end: the last day, in UTC.
        delegate: who may sign for that person meanwhile, by its word in the file; "" for nobody.
    """

    begin: Annotated[date, Key("from")]
    end: Annotated[date, Key("until")]
    delegate: str = ""

    def __post_init__(self) -> None:
        if self.end < self.begin:
            raise UnfitError("until", "is before from", "Write the last day of the absence.")

    def covers(self, day: date) -> bool:
        """Whether a day is one of it."""
        return self.begin <= day <= self.end


@dataclass(frozen=True, slots=True)
class DeclaredPerson:
    """A person.

    Attributes:
        name: as people know that person.
        roles: what that person is trusted with.
        key: public keys, `ed25519:BASE64` or `webauthn:BASE64`, one or a list of up to four; by any of them
            it is the same person.
        until: the last day on which the keys are taken, in UTC; without it there is no end.
        absences: times in which that person does not decide.
    """

    name: Annotated[str, Parse(_parse_name)]
    roles: Annotated[frozenset[PersonRole], Length(1)]
    key: Annotated[tuple[PersonKey, ...], Read(_parse_keys, _KEYS)]
    until: date | None = None
    absences: Annotated[tuple[Absence, ...], Item("absence")] = ()

    def may(self, act: Act) -> bool:
        """Whether one of the roles allows an act."""
        return bool(self.roles & ALLOWED[act])

    def absence(self, day: date) -> Absence | None:
        """The absence that a day is in; None if there is none."""
        return next((one for one in self.absences if one.covers(day)), None)

    def is_valid(self, day: date) -> bool:
        """Whether the keys are taken on a day."""
        return self.until is None or day <= self.until


@dataclass(frozen=True, slots=True)
class Persons:
    """All persons of a party.

    Attributes:
        persons: by the word that stands for each in the file, in signatures and in the ledger.
    """

    persons: Annotated[
        Mapping[str, DeclaredPerson],
        Item("person"),
        Length(1),
        Matching(_ID, "is not a word for a person", "Write [persons.WORD]: up to 32 of a-z, 0-9 and hyphen."),
    ]

    def __post_init__(self) -> None:
        if len(self.persons) > MAX_PERSONS:
            raise UnfitError("persons", f"are more than {MAX_PERSONS}", "Remove those who left.")
        keys: dict[str, str] = {}
        for word, person in self.persons.items():
            for key in person.key:
                if keys.setdefault(key.text, word) != word:
                    raise UnfitError(
                        "key",
                        f"is that of {keys[key.text]!r} too, and a key is one person's",
                        "Let each make one with `duetto person key`.",
                        within=f"person {word!r}",
                    )
            for absence in person.absences:
                self._check_delegate(word, person, absence)
        if not any(person.may(Act.PERSONS) for person in self.persons.values()):
            raise UnfitError(
                "persons",
                "has neither a steward nor an operator, so nobody could change it any more",
                'Give somebody roles = ["steward"].',
            )

    def find(self, key: PersonKey) -> tuple[str, DeclaredPerson] | None:
        """The person with a key, and the word for that person; None if nobody has it."""
        return next((one for one in self.persons.items() if key in one[1].key), None)

    def of_role(self, role: PersonRole, day: date) -> list[str]:
        """The words of those with a role whose keys are taken on a day and who are not absent."""
        return [
            word
            for word, one in self.persons.items()
            if role in one.roles and one.is_valid(day) and one.absence(day) is None
        ]

    def _check_delegate(self, word: str, person: DeclaredPerson, absence: Absence) -> None:
        if not absence.delegate:
            return
        delegate = self.persons.get(absence.delegate)
        within = f"person {word!r}"
        if delegate is None or absence.delegate == word:
            raise UnfitError(
                "delegate",
                f"{absence.delegate!r} is no other person of the file",
                "Name a person by the word in brackets, or leave it out.",
                within=within,
            )
        deciding = {role for roles in ALLOWED.values() for role in roles}
        if not delegate.roles & person.roles & deciding:
            raise UnfitError(
                "delegate",
                f"{absence.delegate!r} has none of the roles in which something is decided for {word!r}",
                "Choose somebody of the same role, or give it to that person.",
                within=within,
            )


def parse_persons(data: bytes) -> Persons:
    """The persons in the bytes of a file.

    Raises:
        ConfigError: the bytes are not a valid file of persons; says where.
    """
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{FILE} is longer than {MAX_BYTES} bytes.", "Shorten it.")
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise ConfigError(f"{FILE} is not UTF-8.", "Save it as UTF-8.") from None
    return read_declared(Persons, StrictTable(parse(text, FILE, ConfigError), FILE, ConfigError))


def read_file(path: Path) -> bytes | None:
    """The bytes of a file that has to be signed; None if it is not there.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise ConfigError(
            f"{path} cannot be read ({type(problem).__name__}).", "Check the rights of the file."
        ) from None


def digest_of(data: bytes) -> bytes:
    """What is signed of a file: SHA-256 of its bytes."""
    return hashlib.sha256(data).digest()
