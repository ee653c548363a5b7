"""What stands before every page: the right host, a session, and for each action a form of that session.

Browsers let any page on the web send requests to this machine. So a request is refused unless it names the
host of this dashboard, carries the cookie of a session, and, where it does something, comes from a page of
this dashboard (`Origin`) with the key of its session. A page that is added later is behind all of this
without doing anything for it.

The host is a name of 128 random bits below `localhost`, which browsers take for this machine without asking
anybody. Cookies know hosts and no ports: that of 127.0.0.1 would go to whatever listens at another port of
this machine, of whichever account; that of a name which nobody else knows goes nowhere else. Where persons
sign with keys in their browsers the name stays the same, as such a key signs for one name alone; it stands in
the key, so others get to know it, and the account of a connection has to keep them out.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from email.parser import BytesParser
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parties.dashboard.entrance.access import Access, Session, same_form
from parties.dashboard.entrance.oidc import AWAY_SECONDS, BACK
from parties.errors import ConfigError
from parties.pki.files import PRIVATE, read_private

ENTRY: Final = "/enter"
"""Where links lead; needs no session."""

SIGN_IN: Final = "/sign-in"
"""Leads to the provider of accounts, where there is one; needs no session."""

LEAVE: Final = "/leave"
STATIC: Final = "/static/"
LIVE: Final = "/live/"
"""Parts of pages that refresh themselves; asking for them does not keep a session alive."""

MAX_FORM_BYTES: Final = 1 << 20
_MAX_FIELDS: Final = 5_000
_FORM: Final = "application/x-www-form-urlencoded"
_UPLOAD: Final = "multipart/form-data"
MAX_UPLOAD_BYTES: Final = 1 << 16
_COOKIE: Final = "duetto"
AWAY_COOKIE: Final = "duetto-away"
_TEXTS: Final = frozenset({405, 421})
"""Refusals without a page: of a request under another name, which any page of the web can make, or by another
method, which browsers do not use."""
_HOST_BYTES: Final = 16
_HOST: Final = re.compile(r"[0-9a-f]{32}\.localhost")

HOST_FILE: Final = "dashboard.host"
"""In a home: the name of its dashboard, where it lasts."""

HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not `no-referrer`: with that, browsers send `Origin: null` with the dashboard's own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""On every answer, unless a page has set the same header itself."""

NEW_LINK: Final = "Press Enter in the terminal of `duetto dashboard`, and open the link that it prints."
"""How to get in."""

Page = Callable[[Request, int, str], Response]
"""Makes the page that says why a request is refused: of the request, the status of HTTP, and the reason."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a dashboard allows.

    Attributes:
        host: the only name under which it answers, at whatever port: ssh may lead there from another.
        decides: whether actions are allowed at all.
        asks: paths of forms that only ask something and change nothing.
        uploads: paths of forms that bring a small file.
    """

    host: str
    decides: bool
    asks: frozenset[str]
    uploads: frozenset[str] = frozenset()


def new_host() -> str:
    """A host name that no other program of this machine knows or answers to."""
    return f"{secrets.token_hex(_HOST_BYTES)}.localhost"


def lasting_host(home: Path) -> str:
    """The host name of a home, which is made once and kept in a file that only its owner may read.

    Raises:
        ConfigError: the file cannot be read or written, or holds something else.
    """
    path = home / HOST_FILE
    try:
        with suppress(FileExistsError), open(path, "x", opener=_private) as file:
            file.write(new_host())
        found = read_private(path).decode()
    except (OSError, UnicodeDecodeError):
        found = ""
    if not _HOST.fullmatch(found):
        raise ConfigError(
            f"{path} does not hold the name of the dashboard.",
            "Delete it; keys that browsers have made for the dashboard have to be made again then.",
        )
    return found


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, PRIVATE)


class _Refused(Exception):  # noqa: N818 - never leaves this module
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class Guard:
    """The middleware; puts `session` and the fields of a `form` into the state of a request.

    Args:
        app: what is behind it.
        access: links and sessions.
        rules: what is allowed.
        page: what people see of a refusal. A request under another name, or not of a browser, is answered by
            a line of text.
    """

    def __init__(self, app: ASGIApp, access: Access, rules: Rules, page: Page) -> None:
        self._app = app
        self._access = access
        self._rules = rules
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer, request = self._app, Request(scope, receive)
        try:
            await self._admit(request)
        except ClientDisconnect:  # in the middle of its form
            return
        except _Refused as refused:
            if refused.status in _TEXTS:
                answer = PlainTextResponse(f"{refused.text}\n", refused.status)
            else:
                answer = self._page(request, refused.status, refused.text)
        await answer(scope, receive, send_with_headers)

    async def _admit(self, request: Request) -> None:
        """Let a request pass.

        Raises:
            _Refused: it does not.
        """
        headers = request.headers
        if len(headers.getlist("host")) != 1 or not self._is_meant(headers["host"]):
            raise _Refused(421, f"This dashboard answers under the name in its link only. {NEW_LINK}")
        if request.method not in ("GET", "HEAD", "POST"):
            raise _Refused(405, "This dashboard knows GET and POST only.")
        path = request.url.path
        if path.startswith(STATIC) or (path in (ENTRY, SIGN_IN, BACK) and request.method == "GET"):
            return
        session = self._session(headers, uses=not path.startswith(LIVE))
        request.state.session = session
        if request.method == "POST":
            await self._admit_form(request, session)

    def _is_meant(self, host: str) -> bool:
        name, colon, port = host.partition(":")
        known = hmac.compare_digest(name.lower().encode(), self._rules.host.encode())
        return known and (not colon or (port.isascii() and port.isdigit()))

    def _session(self, headers: Headers, *, uses: bool) -> Session:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(_COOKIE)
        except CookieError:
            cookie = None
        session = self._access.find(cookie.value, uses=uses) if cookie else None
        if session is None:
            raise _Refused(401, f"Nobody is signed in here, or the session has ended. {NEW_LINK}")
        return session

    async def _admit_form(self, request: Request, session: Session) -> None:
        headers = request.headers
        if headers.get("origin") != f"http://{headers['host']}":
            raise _Refused(403, "This form does not come from a page of this dashboard; nothing was done.")
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise _Refused(403, "This form was sent by another site; nothing was done.")
        kind = headers.get("content-type", "").split(";")[0].strip().lower()
        if kind == _UPLOAD and request.url.path in self._rules.uploads:
            form = _parts(headers["content-type"], await _body(request, MAX_UPLOAD_BYTES))
        elif kind == _FORM:
            form = _fields(await _body(request, MAX_FORM_BYTES))
        else:
            raise _Refused(415, "Forms of this dashboard are sent as plain fields.")
        if not same_form(session, form.pop("form_key", [""])[0]):
            raise _Refused(
                403,
                "This form is of another session; nothing was done. Go back, reload the page, and try again.",
            )
        if not self._rules.decides and request.url.path not in self._rules.asks:
            raise _Refused(
                403, "This dashboard only shows. Start it with `duetto dashboard --decide` to act."
            )
        request.state.form = form


async def _body(request: Request, most: int) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise _Refused(
                413, f"That is larger than {most:,} bytes; nothing was done. Go back, and send less."
            )
    return bytes(body)


def _parts(kind: str, body: bytes) -> dict[str, list[str]]:
    """The fields of a form with a file; the names of files do not matter.

    Bytes that are not text become replacement characters: the page behind says what is wrong with the file.
    """
    found: dict[str, list[str]] = {}
    message = BytesParser().parsebytes(b"Content-Type: " + kind.encode("latin-1") + b"\r\n\r\n" + body)
    if not message.is_multipart():
        raise _Refused(400, "The form cannot be read.")
    _, *parts = message.walk()
    for part in parts:
        name = part.get_param("name", header="content-disposition")
        data = part.get_payload(decode=True)
        if not isinstance(name, str) or not isinstance(data, bytes):
            raise _Refused(400, "The form cannot be read.")
        found.setdefault(name, []).append(data.decode("utf-8-sig", errors="replace"))
    return found


def _fields(body: bytes) -> dict[str, list[str]]:
    try:
        return parse_qs(
            body.decode(),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError:  # UnicodeDecodeError is one
        raise _Refused(400, "The form cannot be read.") from None


def remember_away(response: Response, secret: str) -> None:
    """Give a browser that leaves for a provider the cookie by which it is known when it comes back.

    It is not `strict`, as another site sends the browser back.
    """
    response.set_cookie(
        AWAY_COOKIE, secret, max_age=int(AWAY_SECONDS), path=BACK, httponly=True, samesite="lax"
    )


def sign_in(response: Response, session: Session) -> None:
    """Give a browser the cookie of a session, which is for this host alone."""
    response.set_cookie(_COOKIE, session.key, path="/", httponly=True, samesite="strict")
