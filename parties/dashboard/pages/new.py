"""New job: statistics by a form, any job by its text; checked with what it comes to, then submitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from parties.catalog.declarations.declaration import load_catalog
from parties.dashboard.drawing.desk import Context, fields, form, redirect, render
from parties.dashboard.pages.persons import acting, name_of, signable
from parties.dashboard.pages.statistics import (
    ROWS,
    FieldError,
    common_text,
    declared_by,
    groups_of,
    keys_in,
    likely,
    offers,
    propose,
    statistics_text,
    with_shares,
)
from parties.errors import DaemonUnavailable
from parties.persons.gate import text_digest
from parties.persons.roles import Act
from smc.errors import DuettoError

SHARE: Final = "share:"
"""How fields begin that say the share of a query."""

COMMON: Final = "common"
"""The choice of the form that asks how many persons both have."""


def page(desk: Context, request: Request) -> Response:
    """The forms."""
    return _render_page(desk, request, {"dataset": request.query_params.get("dataset", "")})


def check(desk: Context, request: Request) -> Response:
    """What would come of a job; nothing is proposed. What was typed stays in its form, wrong or right."""
    sent, chosen = _read_form(request), fields(request)
    figures, keys = chosen.get("figure", []), chosen.get("key", [])
    try:
        text = _text(desk, request)
        found: dict[str, Any] = {"report": desk.party.check(text), "estimate": desk.party.estimate(text)}
        digest = text_digest(f"{text}\n")  # a form ends a text with a line of its own
        split = found["report"]["terms"]["split"]
        found["can_split"] = bool(split) and with_shares(text, split) != text
        found["signable"] = signable(desk, request, Act.SUBMIT, digest)
        return _render_page(desk, request, sent, figures, keys, text=text, **found)
    except FieldError as error:
        said: dict[str, Any] = {"field": error.field, "problem": error}
    except DuettoError as error:
        said = {"field": "text" if "text" in sent else "", "problem": error}
    return _render_page(desk, request, sent, figures, keys, 409, text=sent.get("text", ""), **said)


def submit(desk: Context, request: Request) -> Response:
    """Propose the job whose check was shown; where that fails, its text stays on the page."""
    sent = _read_form(request)
    try:
        with acting(desk, request) as party:
            job = party.submit(_text(desk, request))
    except DuettoError as error:
        return _render_page(desk, request, sent, code=409, text=sent.get("text", ""), problem=error)
    return redirect(f"/jobs/{job.id}")


def _render_page(
    desk: Context,
    request: Request,
    sent: dict[str, str],
    figures: Sequence[str] = ("count",),
    keys: Sequence[str] = (),
    code: int = 200,
    **more: Any,
) -> Response:
    config = desk.config
    datasets = load_catalog(config.catalog).datasets
    chosen = sent.get("dataset") or next(iter(datasets), "")
    declared = [*datasets[chosen].columns.values()] if chosen in datasets else []
    columns = [c for c in declared if offers(c)]
    matched = keys_in(declared)
    offered = {column.name for column in columns} | {*matched}
    peers = [peer.name for peer in config.peers]
    try:
        known = declared_by(desk, sent.get("peer") or next(iter(peers), ""))
    except DaemonUnavailable:  # what was typed stays on the page all the same
        known = {}
    theirs = {name for names in known.values() for name in names}
    return render(
        desk,
        request,
        "new.html",
        code=code,
        datasets=list(datasets),
        chosen=chosen,
        groups=groups_of(columns),
        asks=name_of(desk, request),
        columns=[(c, offers(c)) for c in columns],
        matched=matched,
        waiting=[column.name for column in declared if not column.is_confirmed and column.name in offered],
        called={
            name: sent.get(f"theirs:{name}") or propose(name, theirs)
            for name in dict.fromkeys([*(c.name for c in columns), *matched])
        },
        peers=peers,
        known=known,
        usual=likely(chosen, [column.name for column in declared], known),
        sent=sent,
        figures=figures,
        rows_called=ROWS,
        keys=keys,
        **(
            {"text": "", "report": None, "estimate": None, "problem": None, "field": "", "signable": None}
            | {"can_split": False}
            | more
        ),
    )


def _read_form(request: Request) -> dict[str, str]:
    """The form; browsers end the lines of a text by CR and LF."""
    return {name: value.replace("\r\n", "\n") for name, value in form(request).items()}


def _text(desk: Context, request: Request) -> str:
    """The job file that a form stands for: as written, or made from what was chosen; split as was advised."""
    sent = _read_form(request)
    if "text" in sent:
        text = sent["text"] + "\n"
    elif sent.get("question") == COMMON:
        text = common_text(desk, sent, fields(request).get("key", []))
    else:
        text = statistics_text(desk, sent, fields(request).get("figure", []))
    shares = {
        name.removeprefix(SHARE): value for name, value in sent.items() if value and name.startswith(SHARE)
    }
    return with_shares(text, shares)
