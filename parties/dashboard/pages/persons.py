"""Persons: who may do what, keys that a browser holds, signatures by them, and what they put into force."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from parties.client import Party
from parties.clock import CLOCK
from parties.dashboard.drawing.desk import Context, form, redirect, render
from parties.errors import ConfigError, PolicyError
from parties.person_roles import PersonRole
from parties.persons.declaration import Persons
from parties.persons.gate import NO_FILE, Gate
from parties.persons.keys import PersonKey
from parties.persons.pending import Pending, changes, pending, put_into_force
from parties.persons.register import STANDING
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
from parties.persons.writing import read_text, with_key, write_text
from smc.errors import DuettoError, UsageError

_DECIDED: Final = (Act.SUBMIT, Act.APPROVE, Act.DENY, Act.CANCEL, Act.FORGET, Act.OPEN)
HERE: Final = {act.value: act for act in (*_DECIDED, *STANDING)}
"""What is signed on pages."""

_NEW_KEY: Final = b"duetto new key\0"
_NOBODY: Final[Mapping[str, str]] = MappingProxyType({})


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


@dataclass(frozen=True, slots=True)
class Version:
    """Something new that waits for signatures, for the page.

    Attributes:
        what: is to be signed, and how far its signatures have come.
        act: of which kind, as statements name it.
        lines: what it puts into force.
        signable: how somebody signs it here.
    """

    what: str
    act: str
    lines: list[str]
    signable: Signable


def page(desk: Context, request: Request) -> Response:
    """The page."""
    return _render_page(desk, request)


def sign(desk: Context, request: Request) -> Response:
    """Take a signature under a version of persons, policy, keys of a peer or pools, as it was shown."""
    sent, known = form(request), gate(desk)
    shown = tuple(sent.get(name, "") for name in ("act", "about", "shown"))
    try:
        found = [
            one for one in pending(desk.config, known) if (one.act.value, one.about, one.digest) == shown
        ]
        if not found:
            hint = "Look at what is there now, and sign that."
            raise UsageError("Nothing that waits for a signature is what the page has shown.", hint)
        put_into_force(known, found[0], _read_presented(desk, request, found[0].act))
    except DuettoError as error:
        return _render_page(desk, request, refused=f"Nothing was signed. {error.what} {error.hint}")
    return redirect("/persons")


def new_key(desk: Context, request: Request) -> Response:
    """Show the public key that a browser has made; nothing is written."""
    sent = form(request)
    made = take_new_key(
        _bytes(sent, "attestation"), _bytes(sent, "client"), _challenge(request), _host(request)
    )
    return _render_page(desk, request, made=PersonKey(WEBAUTHN, made.encode()))


def add_key(desk: Context, request: Request) -> Response:
    """Write a further key of somebody who is there into the file, which then has to be signed."""
    sent, home = form(request), desk.config.home
    try:
        write_text(home, with_key(read_text(home), sent.get("person", ""), sent.get("key", "").strip()))
    except DuettoError as error:
        said = f"No key was added. {error.what} {error.hint}"
        return _render_page(desk, request, refused=said, typed=sent)
    return redirect("/persons")


def take_back(desk: Context, request: Request) -> Response:
    """Write the file that is in force in the place of a changed one that nobody has signed."""
    known = gate(desk)
    try:
        if known.register().persons is None:
            raise UsageError("No persons.toml was ever in force here.", "Let somebody sign it.")
    except DuettoError as error:
        return _render_page(desk, request, refused=f"{error.what} {error.hint}")
    write_text(desk.config.home, known.text_in_force())
    return redirect("/persons")


def statement(desk: Context, request: Request) -> Response:
    """What an authenticator is to sign, as JSON for the page's script."""
    asked = request.query_params
    try:
        act = HERE.get(asked.get("act", ""))
        if act is None:
            raise UsageError("The page does not say what is signed.", "Reload it, and try again.")
        keys = _browser_keys(_require_persons(desk, act), asked.get("person", ""), _host(request))
        said = _statement(desk, act, asked, now())
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
    return None if persons is None else _signable(persons, request, act, digest, peer)


def _signable(
    persons: Persons, request: Request, act: Act, digest: str, peer: str, without: Mapping[str, str] = _NOBODY
) -> Signable:
    """How one of these persons signs an act; those in `without` have signed already."""
    today, came_in = CLOCK.now().date(), request.state.session.person
    held = {
        word: one.name
        for word, one in persons.persons.items()
        if one.may(act)
        and came_in in ("", word)
        and word not in without
        and _browser_keys(persons, word, _host(request))
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
    with Party(desk.config_path, SignedElsewhere(_read_presented(desk, request))) as party:
        yield party


def describe_unsigned(desk: Context) -> list[str]:
    """What here has to be signed by a person and is not, in words; nothing where that cannot be told."""
    try:
        known = gate(desk)
        return [one.text for one in pending(desk.config, known)] if known.is_likely else []
    except DuettoError:
        return []


def _read_presented(desk: Context, request: Request, act: Act | None = None) -> Presented:
    sent = form(request)
    known = _browser_keys(_require_persons(desk, act), sent.get("person", ""), _host(request))
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
    in_force = _find_persons(desk) if word else None
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


def _statement(desk: Context, act: Act, asked: Mapping[str, str], moment: str) -> PersonStatement:
    peer, digest, person, behalf = (asked.get(name, "") for name in ("peer", "digest", "person", "behalf"))
    after = gate(desk).register().before(act, peer) if act in STANDING else ""
    return PersonStatement(act, desk.party.name, peer, digest, person, behalf, moment, after)


def _in_force(desk: Context) -> Persons | None:
    """The persons in force; None also where that cannot be told, as the daemon decides what is admitted."""
    try:
        return gate(desk).persons()
    except DuettoError:
        return None


def _find_persons(desk: Context) -> Persons | None:
    """The persons in force, also while their file is another one that nobody has signed yet.

    Raises:
        ConfigError: there is a file, and no persons were ever in force.
        LedgerError: the ledger is broken.
    """
    try:
        return gate(desk).persons()
    except ConfigError:
        known = gate(desk).register().persons
        if known is None:
            raise
        return known


def _require_persons(desk: Context, act: Act | None = None) -> Persons:
    """The persons by whose keys an act is signed. Raises UsageError if there are none."""
    persons = _find_persons(desk) if act in STANDING else gate(desk).persons()
    if persons is None:
        raise UsageError(NO_FILE, "Decide without a signature.")
    return persons


def _browser_keys(persons: Persons, word: str, host: str) -> dict[str, Credential]:
    """A person's keys that browsers hold for this dashboard, by their texts."""
    person = persons.persons.get(word)
    found = {key.text: key.credential for key in person.key} if person is not None else {}
    return {text: key for text, key in found.items() if key is not None and key.host == host}


def _versions(desk: Context, request: Request, known: Persons) -> list[Version]:
    """What waits for signatures. Raises as `pending`."""

    def version(one: Pending) -> Version:
        how = _signable(known, request, one.act, one.digest, one.about, one.signed)
        if one.needed > 1:
            stewards = {w: n for w, n in how.signers.items() if PersonRole.STEWARD in known.persons[w].roles}
            how = replace(how, signers=stewards)
        return Version(one.text, one.act.value, changes(gate(desk), one), how)

    return [version(one) for one in pending(desk.config, gate(desk))]


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


def _render_page(
    desk: Context,
    request: Request,
    made: PersonKey | None = None,
    refused: str = "",
    typed: Mapping[str, str] = _NOBODY,
) -> Response:
    shown: dict[str, Any] = {"problem": "", "persons": {}, "versions": []}
    try:
        known = _find_persons(desk)
        shown["persons"] = dict(known.persons) if known is not None else {}
        shown["versions"] = _versions(desk, request, known) if known is not None else []
        gate(desk).persons()
    except DuettoError as error:
        shown["problem"] = f"{error.what} {error.hint}"
    return render(
        desk,
        request,
        "persons.html",
        code=409 if refused else 200,
        made=made,
        refused=refused,
        typed={"key": made.text} if made is not None else typed,
        changed=Act.PERSONS.value,
        host=_host(request),
        today=CLOCK.now().date(),
        challenge=_web_text(_challenge(request)),
        algorithms=list(ALGORITHMS),
        no_file=NO_FILE,
        **shown,
    )
