"""New job: statistics by a form, any job by its text; checked, then submitted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import tomli_w
from starlette.requests import Request
from starlette.responses import Response

from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.declarations.declaration import load_catalog
from parties.dashboard.drawing.desk import Context, fields, form, redirect, render
from parties.ledger.accounting import show_number
from smc.errors import UsageError

_BINS: Final = 8


def page(desk: Context, request: Request) -> Response:
    """The forms."""
    return _shown(desk, request)


def check(desk: Context, request: Request) -> Response:
    """What would come of a job; nothing is proposed."""
    text = _text(desk, request)
    report = desk.party.check(text)
    loss = [show_number(Fraction(report[part])) for part in ("epsilon", "delta")]
    return _shown(desk, request, text=text, report=report, loss=loss, estimate=desk.party.estimate(text))


def submit(desk: Context, request: Request) -> Response:
    """Propose the job whose check was shown."""
    job = desk.party.submit(_text(desk, request))
    return redirect(f"/jobs/{job.id}")


def _shown(desk: Context, request: Request, **more: Any) -> Response:
    config = desk.config
    datasets = load_catalog(config.catalog).datasets
    chosen = request.query_params.get("dataset") or next(iter(datasets), "")
    columns = list(datasets[chosen].columns.values()) if chosen in datasets else []
    return render(
        desk,
        request,
        "new.html",
        datasets=list(datasets),
        chosen=chosen,
        columns=[(column, _offers(column)) for column in columns if _offers(column)],
        peers=[peer.name for peer in config.peers],
        **({"text": "", "report": None, "loss": (), "estimate": None} | more),
    )


def _offers(column: ColumnDeclaration) -> tuple[str, ...]:
    """What the form offers of a column."""
    if column.type == "category":
        return ("histogram",)
    if column.type == "integer":
        return ("mean", "median", "histogram")
    return ("mean", "histogram") if column.type == "decimal" else ()


def _text(desk: Context, request: Request) -> str:
    """The job file that a form stands for: as written, or made from what was chosen."""
    sent = form(request)
    if "text" in sent:
        return sent["text"].replace("\r\n", "\n") + "\n"
    return tomli_w.dumps(_statistics(desk, sent, fields(request).get("figure", [])))


def _statistics(desk: Context, sent: dict[str, str], figures: list[str]) -> dict[str, Any]:
    """The statistics that were chosen.

    Args:
        desk: the dashboard.
        sent: the other fields of the form.
        figures: each `kind` or `kind:column`.

    Raises:
        UsageError: something has to be chosen yet.
        ConfigError: there is no such data set or peer.
    """
    config = desk.config
    dataset = load_catalog(config.catalog).dataset(sent.get("dataset", ""))
    peer = config.peer(sent.get("peer", "")).name
    queries = []
    for figure in figures:
        kind, _, name = figure.partition(":")
        column = dataset.columns.get(name)
        if kind == "count" and not name:
            queries.append({"name": "count", "kind": "count"})
        elif column is not None and kind in _offers(column):
            queries.append({"name": f"{kind} of {name}", "kind": kind, "column": name} | _edges(kind, column))
        else:
            raise UsageError(f"{figure!r} is not offered for {dataset.name!r}.", "Choose again.")
    if not queries:
        raise UsageError("No figure was chosen.", "Tick at least one.")
    used = {query["column"]: query["column"] for query in queries if "column" in query}
    theirs = sent.get("peer_dataset", "").strip() or dataset.name
    epsilon = sent.get("epsilon", "").strip()
    return {
        "job": {
            "title": sent.get("title", "").strip() or f"Statistics of {dataset.name}",
            "analysis": "statistics",
            "alice": config.name,
            "bob": peer,
            "recipients": ["alice", "bob"],
        },
        "alice": {"dataset": dataset.name, "columns": used},
        "bob": {"dataset": theirs, "columns": used},
        "parameters": {"epsilon": epsilon, "queries": queries},
    }


def _edges(kind: str, column: ColumnDeclaration) -> dict[str, Any]:
    """The edges of a histogram of numbers: bins of one width between the declared bounds."""
    if kind != "histogram" or column.type == "category":
        return {}
    schema = column.schema
    if schema.lower is None or schema.upper is None:
        raise UsageError(f"{column.name!r} has no bounds.", "Declare lower and upper in the catalog.")
    lower, upper = schema.lower, schema.upper + 1
    width = -((lower - upper) // _BINS) or 1
    scale = 10**schema.scale
    edges = [*range(lower, upper, width), upper]
    return {"edges": edges if scale == 1 else [f"{edge / scale:.{schema.scale}f}" for edge in edges]}
