"""What a person signs, and what is known to be signed."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from typing import Final

from commons.logs.lines import canonical
from parties.clock import wall
from parties.persons.keys import PersonKey, PrivateKey
from parties.persons.roles import Act

_DOMAIN: Final = b"duetto act of a person v1\0"
_MOMENT: Final = "%Y-%m-%dT%H:%M:%S.%fZ"
_MOMENT_FORM: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_MADE: Final = object()


def now() -> str:
    """The time as statements have it: RFC 3339 in UTC, to the microsecond."""
    return wall().strftime(_MOMENT)


def read_moment(text: str) -> dt.datetime:
    """The time that a statement has.

    Raises:
        ValueError: it is not written as `now` does.
    """
    if not _MOMENT_FORM.fullmatch(text):
        raise ValueError("not a time")
    return dt.datetime.strptime(text, _MOMENT).replace(tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class PersonStatement:
    """What a person says with a signature.

    Attributes:
        act: what is done; a decision is one of its kinds.
        party: at which party.
        peer: with or about which peer; empty if about none.
        digest: of what that person was shown, hexadecimal.
        person: the word for the person in `persons.toml`.
        behalf: the word for the absent person for whom that one signs; empty if for nobody.
        moment: when, as `now` writes it.
        after: the hash of the entry of the ledger that put the version before into force; empty if there
            was none, or if nothing is put into force.
    """

    act: Act
    party: str
    peer: str
    digest: str
    person: str
    behalf: str
    moment: str
    after: str = ""

    @property
    def text(self) -> bytes:
        """The bytes that are signed: a domain, and all fields in canonical JSON."""
        return _DOMAIN + canonical(
            {
                "act": self.act.value,
                "party": self.party,
                "peer": self.peer,
                "digest": self.digest,
                "person": self.person,
                "behalf": self.behalf,
                "moment": self.moment,
                "after": self.after,
            }
        )


@dataclass(frozen=True, slots=True)
class Presented:
    """A signature as it is handed in; nothing of it is checked.

    Attributes:
        person: who says to have signed, as of `PersonStatement`.
        behalf: for whom, as of `PersonStatement`.
        moment: when, as of `PersonStatement`.
        key: the public key, as a text.
        signature: the signature.
    """

    person: str
    behalf: str
    moment: str
    key: str
    signature: bytes


@dataclass(frozen=True, slots=True)
class SignedAct:
    """An act that a person has signed. Only `check_signed` makes one.

    Attributes:
        statement: what was signed.
        name: of the person.
        key: by which it was signed.
        signature: the signature.
    """

    statement: PersonStatement
    name: str
    key: PersonKey
    signature: bytes
    made: object = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.made is not _MADE:
            raise TypeError("a signed act is made by checking a signature")


def check_signed(statement: PersonStatement, name: str, key: PersonKey, signature: bytes) -> SignedAct | None:
    """The signed act; None if the signature is not that of the key under the statement."""
    if not key.has_signed(statement.text, signature):
        return None
    return SignedAct(statement, name, key, signature, _MADE)


def present(statement: PersonStatement, key: PrivateKey) -> Presented:
    """Sign a statement."""
    return Presented(
        statement.person, statement.behalf, statement.moment, key.public.text, key.sign(statement.text)
    )
