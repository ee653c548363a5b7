"""Persons: who may do what, keys that a browser holds, and signatures by them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from parties.client import Party
from parties.clock import CLOCK
from parties.dashboard.drawing.desk import Context, form, render
from parties.errors import PolicyError
from parties.person_roles import PersonRole
from parties.persons.declaration import Persons
from parties.persons.gate import NO_FILE, Gate
from parties.persons.keys import PersonKey
from parties.persons.roles import Act
from parties.persons.signer import SignedElsewhere
from parties.persons.statement import PersonStatement, Presented, now
from parties.persons.webauthn import (
    ALGORITHMS,
    WEBAUTHN,
    Credential,
    make_challenge,
    pack_answer,
    take_new_key,
)
from smc.errors import DuettoError, UsageError

HERE: Final = {
    act.value: act for act in (Act.SUBMIT, Act.APPROVE, Act.DENY, Act.CANCEL, Act.FORGET, Act.OPEN)
}
"""What is signed on pages."""

_NEW_KEY: Final = b"duetto new key\0"


@dataclass(frozen=True, slots=True)
class Signable:
    """What a form asks a person to sign.

    Attributes:
        digest: of what is done, hexadecimal.
        peer: with which peer; empty for none.
        signers: the words and names of those who may sign it with a key in a browser.
        behalf: the words and names of those who are absent and have one of them as delegate.
    """

    digest: str
    peer: str
    signers: Mapping[str, str]
    behalf: Mapping[str, str]


def page(desk: Context, request: Request) -> Response:
    """The page."""
    return _shown(desk, request)


def new_key(desk: Context, request: Request) -> Response:
    """Show the public key that a browser has made; nothing is written."""
    sent = form(request)
    made = take_new_key(
        _bytes(sent, "attestation"), _bytes(sent, "client"), _challenge(request), _host(request)
    )
    return _shown(desk, request, made=PersonKey(WEBAUTHN, made.encode()))


def statement(desk: Context, request: Request) -> Response:
    """What an authenticator is to sign, as JSON for the page's script."""
    asked = request.query_params
    try:
        keys = _browser_keys(_required(desk), asked.get("person", ""), _host(request))
        said = _statement(desk, asked, now())
    except DuettoError as error:
        return JSONResponse({"what": error.what, "hint": error.hint}, 409)
    return JSONResponse(
        {
            "moment": said.moment,
            "challenge": _web_text(make_challenge(said.text)),
            "keys": [_web_text(key.id) for key in keys.values()],
        }
    )


def signable(desk: Context, request: Request, act: Act, digest: str, peer: str = "") -> Signable | None:
    """How somebody signs an act on a page; None where nobody is known who could."""
    persons = _in_force(desk)
    if persons is None:
        return None
    today, came_in = CLOCK.now().date(), request.state.session.person
    held = {
        word: one.name
        for word, one in persons.persons.items()
        if one.may(act) and came_in in ("", word) and _browser_keys(persons, word, _host(request))
    }
    away = {
        word: one.name
        for word, one in persons.persons.items()
        if (absence := one.absence(today)) is not None and absence.delegate in held
    }
    return Signable(digest, peer, held, away)


@contextmanager
def acting(desk: Context, request: Request) -> Iterator[Party]:
    """The party as the sender of a form acts at it: with the signature in the form, where one is needed.

    Raises:
        UsageError: persons are in force, and the form has no signature.
    """
    if _in_force(desk) is None:
        yield desk.party
        return
    with Party(desk.config_path, SignedElsewhere(_presented(desk, request))) as party:
        yield party


def _presented(desk: Context, request: Request) -> Presented:
    sent = form(request)
    known = _browser_keys(_required(desk), sent.get("person", ""), _host(request))
    used = _bytes(sent, "credential")
    found = next((text for text, key in known.items() if key.id == used), None)
    if found is None or request.state.session.person not in ("", sent.get("person")):
        raise UsageError(
            "Nobody has signed this in the browser.",
            "Say who you are and sign with your key, or use the command with --key FILE.",
        )
    answer = pack_answer(*(_bytes(sent, name) for name in ("authenticator", "client", "signature")))
    return Presented(sent["person"], sent.get("behalf", ""), sent.get("moment", ""), found, answer)


def check_role(desk: Context, request: Request, roles: frozenset[PersonRole]) -> None:
    """Check that somebody who came in by an account may do something, where persons are in force.

    Raises:
        PolicyError: that person has none of the roles (code `person`).
    """
    word = request.state.session.person
    in_force = gate(desk).persons() if word else None
    if in_force is not None and not _may(in_force, word, roles):
        one = in_force.persons.get(word)
        named = " or ".join(role.value for role in PersonRole if role in roles)
        raise PolicyError(
            f"{one.name if one else word} may not do this now: it takes a {named} who is not absent.",
            "Ask one of them; the page Persons lists who they are.",
            code="person",
        )


def may(desk: Context, request: Request, roles: frozenset[PersonRole]) -> bool:
    """Whether `check_role` lets somebody pass; no account where the ledger cannot say whose it is."""
    try:
        check_role(desk, request, roles)
    except DuettoError:
        return False
    return True


def name_of(desk: Context, request: Request) -> str:
    """How people call somebody who came in by an account; empty for somebody who came in by a link."""
    word: str = request.state.session.person
    in_force = _in_force(desk) if word else None
    one = in_force.persons.get(word) if in_force is not None else None
    return one.name if one is not None else word


def _may(in_force: Persons, word: str, roles: frozenset[PersonRole]) -> bool:
    one, today = in_force.persons.get(word), CLOCK.now().date()
    return one is not None and bool(one.roles & roles) and one.is_valid(today) and not one.absence(today)


def gate(desk: Context) -> Gate:
    """The gate of the party, as it stands."""
    return desk.gate


def _statement(desk: Context, asked: Mapping[str, str], moment: str) -> PersonStatement:
    act = HERE.get(asked.get("act", ""))
    if act is None:
        raise UsageError("The page does not say what is signed.", "Reload it, and try again.")
    peer, digest, person, behalf = (asked.get(name, "") for name in ("peer", "digest", "person", "behalf"))
    return PersonStatement(act, desk.party.name, peer, digest, person, behalf, moment)


def _in_force(desk: Context) -> Persons | None:
    """The persons in force; None also where that cannot be told, as the daemon decides what is admitted."""
    try:
        return gate(desk).persons()
    except DuettoError:
        return None


def _required(desk: Context) -> Persons:
    persons = gate(desk).persons()
    if persons is None:
        raise UsageError(NO_FILE, "Decide without a signature.")
    return persons


def _browser_keys(persons: Persons, word: str, host: str) -> dict[str, Credential]:
    """A person's keys that browsers hold for this dashboard, by their texts."""
    person = persons.persons.get(word)
    found = {key.text: key.credential for key in person.key} if person is not None else {}
    return {text: key for text, key in found.items() if key is not None and key.host == host}


def _bytes(sent: Mapping[str, str], name: str) -> bytes:
    try:
        return base64.b64decode(sent.get(name, ""), validate=True)
    except (ValueError, binascii.Error):
        raise UsageError("The browser's answer cannot be read.", "Reload the page, and try again.") from None


def _web_text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _challenge(request: Request) -> bytes:
    """What a new key has to be made for: this session, and no other."""
    return make_challenge(_NEW_KEY + request.state.session.form_key.encode())


def _host(request: Request) -> str:
    return request.url.hostname or ""


def _shown(desk: Context, request: Request, made: PersonKey | None = None) -> Response:
    shown: dict[str, Any] = {"problem": "", "persons": {}}
    try:
        persons = gate(desk).persons()
        shown["persons"] = dict(persons.persons) if persons is not None else {}
    except DuettoError as error:
        shown["problem"] = f"{error.what} {error.hint}"
    return render(
        desk,
        request,
        "persons.html",
        made=made,
        host=_host(request),
        today=CLOCK.now().date(),
        challenge=_web_text(_challenge(request)),
        algorithms=list(ALGORITHMS),
        no_file=NO_FILE,
        **shown,
    )
