"""The first page of all, where there is no party yet: it asks for name and address, and makes way for others.

It is served at the host, port and session of the dashboard that follows, so that the browser just goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from parties.dashboard.drawing.desk import fill, form, redirect, say
from parties.dashboard.entrance.guard import ENTRY, NEW_LINK, STATIC, Guard, Rules, sign_in
from parties.dashboard.serving import Entrance, settings_of
from smc.errors import DuettoError

BEGIN: Final = "/begin"

Make = Callable[[str, str], object]
"""Makes a party of a name and an address, as a person typed them; raises DuettoError."""


class Beginning:
    """The page, until somebody has made a party by it.

    Args:
        entrance: of the dashboard.
        make: makes the party.
        place: the folder that it will have, for people.
        name: what is proposed as its name.
        address: what is proposed as its address.
    """

    def __init__(self, entrance: Entrance, make: Make, place: str, name: str, address: str) -> None:
        self._entrance = entrance
        self._make = make
        self._place = place
        self._proposed = (name, address)
        self.is_made = False
        self._server = uvicorn.Server(settings_of(self._app()))

    def serve(self) -> bool:
        """Answer until a party is made, or the process gets SIGINT or SIGTERM; whether one is made."""
        self._server.run(sockets=[one.dup() for one in self._entrance.listeners])
        return self.is_made

    def _app(self) -> Starlette:
        access, rules = self._entrance.access, Rules(self._entrance.host, True, frozenset())
        return Starlette(
            routes=[
                Mount(STATIC.rstrip("/"), StaticFiles(packages=[("parties.dashboard.drawing", "static")])),
                Route(ENTRY, self._enter, methods=["GET"]),
                Route("/", self._page, methods=["GET"]),
                Route(BEGIN, self._begin, methods=["POST"]),
            ],
            middleware=[Middleware(Guard, access=access, rules=rules, page=say)],
        )

    def _enter(self, request: Request) -> Response:
        session = self._entrance.access.enter(request.query_params.get("token", ""))
        if session is None:
            return say(request, 401, f"This link was used before or is too old. {NEW_LINK}")
        response = redirect("/")
        sign_in(response, session)
        return response

    def _page(self, request: Request) -> Response:
        if self.is_made:  # a browser that came before the dashboard has taken over
            return PlainTextResponse("The party is made. One moment.\n", headers={"refresh": "1; url=/"})
        return self._render(request, *self._proposed)

    def _begin(self, request: Request) -> Response:
        sent = form(request)
        name, address = sent.get("name", "").strip(), sent.get("address", "").strip()
        try:
            self._make(name, address)
        except DuettoError as error:
            return self._render(request, name, address, f"{error.what} {error.hint}")
        self.is_made = self._server.should_exit = True
        return redirect("/")

    def _render(self, request: Request, name: str, address: str, problem: str = "") -> Response:
        return fill(request, "begin.html", name=name, address=address, place=self._place, problem=problem)
