"""What every page of a dashboard works with: the party, what may be done, and how a page is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from parties.client import Party
from parties.client.pace import Pace
from parties.client.words import age, byte_count, short_duration, state_words
from parties.config import Config, load
from parties.dashboard.drawing import words
from parties.ledger.book import open_ledger
from parties.persons.gate import Gate
from parties.results.tables import figures_by_group
from parties.texts import escape_unprintable, with_unit


@dataclass(frozen=True, slots=True)
class Context:
    """A dashboard's own party.

    Attributes:
        party: the running daemon, over its control socket.
        config_path: the configuration; read anew for every page, since peers may be paired meanwhile.
        decides: whether people may act here, or only look.
        releases: the folder in which the reports of the anonymizer lie; None if none was named.
        folders: where files lie that may be added as data sets.
        paces: how fast running jobs have been since they were first looked at.
        gates: what persons have signed, by the party's name and home; each follows its ledger, of which every
            signature is checked once and not for every page.
    """

    party: Party
    config_path: Path
    decides: bool
    releases: Path | None = None
    folders: tuple[Path, ...] = ()
    paces: dict[str, Pace] = field(default_factory=dict)
    gates: dict[tuple[str, Path], Gate] = field(default_factory=dict)

    @property
    def config(self) -> Config:
        """The configuration as it stands.

        Raises:
            ConfigError: it is wrong.
        """
        return load(self.config_path)

    @property
    def gate(self) -> Gate:
        """What persons have signed at the party. Raises as `config`."""
        config = self.config
        place = (config.name, config.home)
        return self.gates.get(place) or self.gates.setdefault(place, Gate(*place, open_ledger(config.home)))


Page = Callable[[Context, Request], Response]
"""What answers a request; called in a thread of its own, since it may wait for the daemon."""

PAGES: Final = (
    ("/", "Today"),
    ("/decide", "Decide"),
    ("/jobs", "Jobs"),
    ("/new", "New job"),
    ("/budget", "Budget"),
    ("/learned", "Learned"),
    ("/audits", "Audits"),
    ("/data", "Data"),
    ("/policy", "Policy"),
    ("/peers", "Peers"),
    ("/persons", "Persons"),
    ("/releases", "Releases"),
)
"""Paths and names in the order in which every page lists them."""


def _escape(value: object) -> object:
    """Every text of a page but markup of its own: what is not printable or hidden is escaped."""
    return escape_unprintable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _lines(text: str) -> Markup:
    """A text of several lines, such as a job file."""
    return Markup("\n").join(escape_unprintable(line.expandtabs()) for line in text.split("\n"))


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("parties.dashboard.drawing"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_escape,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "lines": _lines,
        "age": age,
        "when": words.when,
        "bytes": byte_count,
        "seconds": short_duration,
        "state": state_words,
        "limits": words.limits,
        "width": words.width,
        "figures_by_group": figures_by_group,
        "against": words.against,
        "hint": words.hint,
        "with_unit": with_unit,
    }
    made.globals["parts"] = made.get_template("parts.html").module
    return made


_ENVIRONMENT: Final = _environment()
_FORM_KEY: Final = Markup('<input type="hidden" name="form_key" value="{}">')


def render(
    desk: Context, request: Request, template: str, *, code: int = 200, **context: Any
) -> HTMLResponse:
    """A page.

    Args:
        desk: the dashboard.
        request: what it answers; its session's key goes into every form.
        template: the file in `templates`.
        code: the status of HTTP.
        context: what the template shows.
    """
    path = request.url.path
    here = max((one for one, _ in PAGES if path == one or path.startswith(one.rstrip("/") + "/")), key=len)
    about = {"party": desk.party.name, "decides": desk.decides, "pages": PAGES, "here": here}
    about["lacks"] = getattr(request.state, "lacks", lambda _: "")  # why a form is not for somebody
    return fill(request, template, code=code, **about, **context)


def fill(request: Request, template: str, *, code: int = 200, **context: Any) -> HTMLResponse:
    """A page, also where there is no party yet. Arguments as of `render`."""
    about = {"party": "", "decides": True, "pages": (), "here": ""} | context
    session = getattr(
        request.state, "session", None
    )  # whose key every form has; without one there is no form
    key = _FORM_KEY.format(session.form_key) if session is not None else ""
    return HTMLResponse(_ENVIRONMENT.get_template(template).render(key=key, **about), code)


def say(request: Request, code: int, text: str) -> HTMLResponse:
    """A page with a sentence and without a menu, for somebody who is not signed in, or no more.

    Args:
        request: what it answers.
        code: the status of HTTP.
        text: what is said.
    """
    return fill(request, "said.html", code=code, text=text, failed=code >= 400)


def redirect(path: str) -> Response:
    """After an action: look at `path`."""
    return RedirectResponse(path, 303)


def form(request: Request) -> dict[str, str]:
    """The fields of a form, the last value of each."""
    return {name: values[-1] for name, values in fields(request).items()}


def fields(request: Request) -> dict[str, list[str]]:
    """The fields of a form with all values, which the guard has read."""
    found: dict[str, list[str]] = request.state.form
    return found
