"""The dashboard as a web application: routes, errors, and the guard before all of them."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from parties.dashboard.drawing.desk import Context, Page, redirect, render, say
from parties.dashboard.entrance.access import Access
from parties.dashboard.entrance.guard import (
    AWAY_COOKIE,
    ENTRY,
    LEAVE,
    LIVE,
    NEW_LINK,
    SIGN_IN,
    STATIC,
    Guard,
    Rules,
    remember_away,
    sign_in,
)
from parties.dashboard.entrance.oidc import BACK, SignIn
from parties.dashboard.pages import (
    adding,
    audits,
    budget,
    certificate,
    data,
    decide,
    job,
    jobs,
    learned,
    new,
    peers,
    persons,
    policy,
    releases,
    today,
)
from parties.errors import DaemonUnavailable
from parties.person_roles import PersonRole
from parties.persons.roles import ALLOWED, CATALOG, SOCKETS, Act
from smc.errors import DuettoError

_LOG = logging.getLogger("duetto.dashboard")

SHOWS: Final[tuple[tuple[str, Page], ...]] = (
    ("/", today.page),
    (f"{LIVE}today", today.part),
    ("/decide", decide.page),
    ("/decide/{job_id}", decide.one),
    ("/jobs", jobs.page),
    ("/jobs/{job_id}", job.page),
    ("/jobs/{job_id}/certificate", certificate.page),
    ("/jobs/{job_id}/certificate.json", job.certificate),
    ("/jobs/{job_id}/{table}.csv", job.table),
    (f"{LIVE}jobs/{{job_id}}", job.part),
    ("/new", new.page),
    ("/budget", budget.page),
    ("/learned", learned.page),
    ("/learned.csv", learned.export),
    ("/audits", audits.page),
    ("/data", data.page),
    ("/data/add", adding.page),
    ("/data/remove", data.removal),
    ("/policy", policy.page),
    ("/peers", peers.page),
    ("/persons", persons.page),
    ("/persons/statement", persons.statement),
    ("/peers/own.pair", peers.own_file),
    ("/releases", releases.page),
    ("/releases/beside", releases.beside),
    ("/releases/{name}/report.html", releases.report),
)
"""What answers GET."""

ASKS: Final[tuple[tuple[str, Page], ...]] = (
    ("/new/check", new.check),
    ("/policy/try", policy.attempt),
    ("/data/check", data.check),
    ("/peers/check", peers.check),
    ("/persons/key", persons.new_key),
)
"""Forms that change nothing, and so are allowed where people only look."""

ACTS: Final[tuple[tuple[str, Page], ...]] = (
    ("/decide/{job_id}", decide.decision),
    ("/jobs/{job_id}/cancel", job.cancel),
    ("/jobs/{job_id}/forget", job.forget),
    ("/new/submit", new.submit),
    ("/policy/allow", policy.allow),
    ("/data/draft", adding.look),
    ("/data/add", adding.add),
    ("/data/remove", data.take_away),
    ("/peers/reload", peers.reload),
    ("/peers/look", peers.look),
    ("/peers/pair", peers.pair),
    ("/peers/open", peers.open_again),
    ("/persons/sign", persons.sign),
    ("/persons/add-key", persons.add_key),
    ("/persons/take-back", persons.take_back),
)
"""Forms that do something."""

EVERYBODY: Final = frozenset(PersonRole)

ROLES: Final[Mapping[str, frozenset[PersonRole]]] = {
    **dict.fromkeys((path for path, _ in (*SHOWS, *ASKS)), EVERYBODY),
    "/jobs/{job_id}/{table}.csv": SOCKETS["Result"],
    "/new/check": SOCKETS["Check"],
    "/policy/try": SOCKETS["Check"],
    "/data/check": SOCKETS["Check"] | CATALOG,
    "/decide/{job_id}": ALLOWED[Act.APPROVE] | ALLOWED[Act.DENY],
    "/jobs/{job_id}/cancel": ALLOWED[Act.CANCEL],
    "/jobs/{job_id}/forget": ALLOWED[Act.FORGET],
    "/new/submit": ALLOWED[Act.SUBMIT],
    "/policy/allow": ALLOWED[Act.POLICY],
    "/data/draft": CATALOG,
    "/data/add": CATALOG,
    "/data/remove": CATALOG,
    "/peers/reload": ALLOWED[Act.PIN],
    "/peers/look": ALLOWED[Act.PIN],
    "/peers/pair": ALLOWED[Act.PIN],
    "/peers/open": ALLOWED[Act.OPEN],
    "/persons/sign": ALLOWED[Act.PERSONS] | ALLOWED[Act.POLICY],
    "/persons/add-key": ALLOWED[Act.PERSONS],
    "/persons/take-back": ALLOWED[Act.PERSONS],
}
"""Of each page and form, the roles of which somebody has one who came in by an account, where persons are in
force: what the socket of a role refuses, pages refuse as well. Who came in by a link has the rights of the
account of the machine; what has to be signed is signed by either."""

UPLOADS: Final = frozenset({"/peers/look"})
"""Forms that bring a small file."""


def make_app(desk: Context, access: Access, host: str, accounts: SignIn | None = None) -> Starlette:
    """The application.

    Args:
        desk: the party, and what may be done.
        access: links and sessions.
        host: the name under which it answers, see `parties.dashboard.entrance.guard`.
        accounts: the sign-in by accounts; None for links alone.
    """
    rules = Rules(host, desk.decides, frozenset((LEAVE, *(path for path, _ in ASKS))), UPLOADS)

    def enter(request: Request) -> Response:
        session = access.enter(request.query_params.get("token", ""))
        if session is None:
            return say(request, 401, f"This link was used before or is too old. {NEW_LINK}")
        response = redirect("/")
        sign_in(response, session)
        return response

    def to_provider(request: Request) -> Response:
        if accounts is None:
            return say(request, 404, "No provider of accounts is configured below [dashboard.oidc].")
        try:
            url, secret = accounts.leave()
        except DuettoError as error:
            return _refusal(request, error)
        response = redirect(url)
        remember_away(response, secret)
        return response

    def from_provider(request: Request) -> Response:
        if accounts is None:
            return _lost_page(desk)(request, HTTPException(404))
        try:
            person = accounts.arrive(request.cookies.get(AWAY_COOKIE, ""), request.query_params)
        except DuettoError as error:
            return _refusal(request, error)
        # The browser comes from another site, so it would not send the cookie of the session along with a
        # redirect; it does from a page of this one.
        response = HTMLResponse(_SIGNED_IN)
        sign_in(response, access.admit(person))
        response.delete_cookie(AWAY_COOKIE, path=BACK)
        return response

    def leave(request: Request) -> Response:
        access.leave(request.state.session)
        return say(request, 200, f"You have left the dashboard. To come back: {NEW_LINK}")

    return Starlette(
        routes=[
            Mount(STATIC.rstrip("/"), StaticFiles(packages=[("parties.dashboard.drawing", "static")])),
            Route(ENTRY, enter, methods=["GET"]),
            Route(SIGN_IN, to_provider, methods=["GET"]),
            Route(BACK, from_provider, methods=["GET"]),
            Route(LEAVE, leave, methods=["POST"]),
            *(
                Route(path, _answering(desk, _for(ROLES[path], page)), methods=[method])
                for method, pages in (("GET", SHOWS), ("POST", ASKS), ("POST", ACTS))
                for path, page in pages
            ),
        ],
        middleware=[Middleware(Guard, access=access, rules=rules, page=_guard_page(desk))],
        exception_handlers={status: _lost_page(desk) for status in (404, 405)},
    )


def _for(roles: frozenset[PersonRole], page: Page) -> Page:
    """A page for those who have one of some roles; of pages for all of them nobody is asked."""
    if roles == EVERYBODY:
        return page

    @functools.wraps(page)
    def answer(desk: Context, request: Request) -> Response:
        persons.check_role(desk, request, roles)
        return page(desk, request)

    return answer


def _lacks(desk: Context, request: Request, path: str) -> str:
    """Why somebody may not send the form of a path; empty for those who may, and see it."""
    if persons.may(desk, request, ROLES[path]):
        return ""
    named = " or ".join(role.value for role in PersonRole if role in ROLES[path])
    return f"What can be done here takes a {named} who is not absent; you see the rest."


def _answering(desk: Context, page: Page) -> Callable[[Request], Response]:
    """A page as the web framework calls it; errors become pages, too."""

    @functools.wraps(page)
    def answer(request: Request) -> Response:
        request.state.lacks = functools.partial(_lacks, desk, request)
        try:
            return page(desk, request)
        except HTTPException:
            raise
        except DuettoError as error:
            return render(desk, request, "error.html", code=_status(error), what=error.what, hint=error.hint)
        except Exception as problem:
            _LOG.exception("A page of the dashboard failed by a defect of the program.")
            what = f"The dashboard has a defect ({type(problem).__name__})."
            return render(
                desk, request, "error.html", code=500, what=what, hint="Its terminal has the trace."
            )

    return answer


def _guard_page(desk: Context) -> Callable[[Request, int, str], Response]:
    """The page of a refusal by the guard: with the menu for those who are signed in."""

    def refuse(request: Request, status: int, text: str) -> Response:
        if not hasattr(request.state, "session"):
            return say(request, status, text)
        return render(desk, request, "error.html", code=status, what=text, hint="")

    return refuse


def _refusal(request: Request, error: DuettoError) -> Response:
    """Why somebody is not signed in; there is no session yet, and so no menu."""
    _LOG.warning("a sign-in was refused: %s", error.what)
    return say(request, 403, f"{error.what} {error.hint}")


_SIGNED_IN: Final = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Signed in · duetto</title>'
    '<meta http-equiv="refresh" content="0; url=/"></head>'
    '<body><p>You are signed in. <a href="/">Go on</a></p></body></html>'
)


def _status(error: DuettoError) -> int:
    """The status of HTTP for an error, for programs; people read its text."""
    if isinstance(error, DaemonUnavailable):
        return 503
    return 404 if error.stable_code == "unknown-job" else 409


def _lost_page(desk: Context) -> Callable[[Request, Exception], Response]:
    """The page in place of one that there is not."""

    def answer(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        what = "There is no such page in this dashboard."
        if not hasattr(request.state, "session"):  # what needs none: files of the style
            return PlainTextResponse(f"{what}\n", status)
        hint = "Choose one of the pages above."
        return render(desk, request, "error.html", code=status, what=what, hint=hint)

    return answer
