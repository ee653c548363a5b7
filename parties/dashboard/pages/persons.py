"""Persons: who may do what, keys that a browser holds, and signatures by them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from parties.clock import CLOCK
from parties.dashboard.drawing.desk import Context, form, render
from parties.ledger.book import open_ledger
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

DECISIONS: Final = {"approve": Act.APPROVE, "deny": Act.DENY, "cancel": Act.CANCEL}
"""What is signed here about a job."""

_NEW_KEY: Final = b"duetto new key\0"


@dataclass(frozen=True, slots=True)
class Signing:
    """How a decision is signed on a page.

    Attributes:
        signers: the words and names of those who may sign it with a key in a browser.
        behalf: the words and names of those who are absent and have a delegate.
    """

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
    """What an authenticator is to sign about a job, as JSON for the page's script."""
    asked = request.query_params
    try:
        job = desk.party.job(request.path_params["job_id"])
        word = asked.get("person", "")
        keys = _browser_keys(_required(desk), word, _host(request))
        said = _statement(desk, asked, job.peer, now())
    except DuettoError as error:
        return JSONResponse({"what": error.what, "hint": error.hint}, 409)
    return JSONResponse(
        {
            "moment": said.moment,
            "challenge": base64.urlsafe_b64encode(make_challenge(said.text)).decode().rstrip("="),
            "keys": [base64.urlsafe_b64encode(key.id).decode().rstrip("=") for key in keys.values()],
        }
    )


def signing(desk: Context, request: Request, act: Act) -> Signing | None:
    """How somebody signs an act on a page; None where names are as people write them.

    Raises:
        ConfigError: persons.toml is not the file that was signed.
        LedgerError: the ledger is broken.
    """
    persons = gate(desk).persons()
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
    return Signing(held, away)


def presented(desk: Context, request: Request, peer: str) -> SignedElsewhere | None:
    """The signature that came with a form; None where none is needed.

    Args:
        desk: the dashboard.
        request: the form.
        peer: of the job.

    Raises:
        UsageError: persons are in force, and the form has no signature.
    """
    if gate(desk).persons() is None:
        return None
    sent = form(request)
    word = sent.get("person", "")
    known = _browser_keys(_required(desk), word, _host(request))
    found = next(
        (
            text
            for text, key in known.items()
            if sent.get("credential") and key.id == _bytes(sent, "credential")
        ),
        None,
    )
    if found is None:
        raise UsageError(
            "Nobody has signed this in the browser.",
            "Say who you are and sign with your key, or decide with `duetto job approve --key FILE`.",
        )
    said = _statement(desk, sent, peer, sent.get("moment", ""))
    answer = pack_answer(*(_bytes(sent, name) for name in ("authenticator", "client", "signature")))
    return SignedElsewhere(Presented(said.person, said.behalf, said.moment, found, answer))


def gate(desk: Context) -> Gate:
    """The gate of the party, as it stands."""
    config = desk.config
    return Gate(config.name, config.home, open_ledger(config.home))


def _statement(desk: Context, sent: Mapping[str, str], peer: str, moment: str) -> PersonStatement:
    act = DECISIONS.get(sent.get("act", sent.get("decision", "")))
    if act is None:
        raise UsageError("The form does not say what is decided.", "Use one of its buttons.")
    return PersonStatement(
        act,
        desk.party.name,
        peer,
        sent.get("shown", ""),
        sent.get("person", ""),
        sent.get("behalf", ""),
        moment,
    )


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
        challenge=base64.urlsafe_b64encode(_challenge(request)).decode().rstrip("="),
        algorithms=list(ALGORITHMS),
        no_file=NO_FILE,
        **shown,
    )
