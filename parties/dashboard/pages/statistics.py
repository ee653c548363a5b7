"""The job that the form for a new job describes: statistics with noise, or how many both have."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import tomli_w

from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.declarations.declaration import DatasetDeclaration, load_catalog
from parties.dashboard.drawing.desk import Context
from parties.texts import NAME
from smc.analyses.records.numbers import loss_term
from smc.errors import DuettoError, UsageError

ROWS: Final = "number of rows"
"""What a figure is called that counts rows."""

_BINS: Final = 8
_LONGEST: Final = 60

_LOOKED_AT: Final = 20
"""Earlier jobs with a peer in which its columns are looked up."""


class FieldError(UsageError):
    """A field of the form that has to be corrected.

    Attributes:
        field: its name.
    """

    def __init__(self, field: str, what: str, hint: str) -> None:
        super().__init__(what, hint)
        self.field = field


def offers(column: ColumnDeclaration) -> tuple[str, ...]:
    """What the form offers of a column."""
    if column.type == "category":
        return ("histogram",)
    if column.type == "integer":
        return ("mean", "median", "histogram")
    return ("mean", "histogram") if column.type == "decimal" else ()


def groups_of(columns: Iterable[ColumnDeclaration]) -> list[str]:
    """The columns by whose labels the figures of the others can be told apart."""
    return [column.name for column in columns if column.type == "category"]


def declared_by(desk: Context, peer: str) -> dict[str, list[str]]:
    """Columns that a peer declared in earlier jobs with this party, by its data set; none before any."""
    found: dict[str, dict[str, None]] = {}
    alike = [job for job in desk.party.jobs(limit=_LOOKED_AT * 5) if job.peer == peer and not job.is_older]
    for job in alike[:_LOOKED_AT]:
        role = "bob" if job.describe()["role"] == "alice" else "alice"
        side = job.contract["spec"].get(role, {})
        if side.get("dataset") and (job.contract.get("schemas") or {}).get(role):
            found.setdefault(side["dataset"], {}).update(dict.fromkeys(side["columns"].values()))
    return {dataset: list(names) for dataset, names in found.items()}


def likely(dataset: str, columns: Collection[str], known: Mapping[str, Collection[str]]) -> str:
    """What a peer probably calls the data set that is like one of this party.

    Args:
        dataset: what that is called here.
        columns: of it.
        known: as `declared_by` finds them.
    """
    if dataset in known or not known:
        return dataset
    own = {_plain(name) or name for name in columns}
    shared = {name: len(own & {_plain(one) or one for one in theirs}) for name, theirs in known.items()}
    best = max(shared, key=lambda name: shared[name])
    return best if shared[best] else dataset


def propose(name: str, theirs: Collection[str]) -> str:
    """What a peer probably calls the column that is called `name` here."""
    alike = [one for one in theirs if _plain(one) == _plain(name)]
    return name if name in theirs or len(alike) != 1 else alike[0]


def common_text(desk: Context, sent: dict[str, str], keys: list[str]) -> str:
    """The job file of the question how many persons both have, with noise.

    Args:
        desk: the dashboard.
        sent: the other fields of the form.
        keys: the columns in which rows of the same person are equal.

    Raises: as `statistics_text`.
    """
    dataset = load_catalog(desk.config.catalog).dataset(sent.get("dataset", ""))
    if wrong := [name for name in keys if name not in keys_in(dataset.columns.values())]:
        raise FieldError("key", f"{wrong[0]!r} is not offered for {dataset.name!r}.", "Choose again.")
    if not keys:
        raise FieldError("key", "No column was chosen.", "Tick those in which rows of one person are equal.")
    _check_confirmed(dataset, dict.fromkeys(keys, "key"))
    names = job_names(keys)
    parameters = {"method": "exact", "keys": [*names.values()], "output": "size", "epsilon": _epsilon(sent)}
    return _text(desk, sent, "matching", f"How many are in both: {dataset.name}", names, parameters)


def _check_confirmed(dataset: DatasetDeclaration, used: Mapping[str, str]) -> None:
    """Refuse columns whose bounds or labels nobody stands for.

    Args:
        dataset: the data set.
        used: by column, the field in which it was chosen.

    Raises:
        FieldError: there is one.
    """
    for name, field in used.items():
        if not dataset.columns[name].is_confirmed:
            raise FieldError(
                field,
                f"Nobody has confirmed bounds or labels of {name!r}, so no job can use it.",
                f"Confirm them on Data, under Edit {dataset.name}.",
            )


def keys_in(columns: Iterable[ColumnDeclaration]) -> list[str]:
    """The columns by which rows of the same person can be found."""
    return [column.name for column in columns if column.type in ("text", "integer", "date", "category")]


def statistics_text(desk: Context, sent: dict[str, str], figures: list[str]) -> str:
    """The job file of what was chosen.

    Args:
        desk: the dashboard.
        sent: the other fields of the form.
        figures: each `kind` or `kind:column`.

    Raises:
        FieldError: something has to be chosen or corrected yet.
        ConfigError: there is no such data set or peer.
    """
    dataset = load_catalog(desk.config.catalog).dataset(sent.get("dataset", ""))
    chosen = []
    for figure in figures:
        kind, _, name = figure.partition(":")
        column = dataset.columns.get(name)
        if not (kind == "count" and not name) and (column is None or kind not in offers(column)):
            raise FieldError("figure", f"{figure!r} is not offered for {dataset.name!r}.", "Choose again.")
        chosen.append((kind, column))
    if not chosen:
        raise FieldError("figure", "No figure was chosen.", "Tick at least one.")
    by = sent.get("by", "")
    if by and by not in groups_of(dataset.columns.values()):
        raise FieldError("by", f"{by!r} has no labels.", "Choose a column of labels, or none.")
    used = [column.name for _, column in chosen if column is not None] + [by] * bool(by)
    if not used:
        hint = "Tick a figure of a column, too; rows are counted where it has cells."
        raise FieldError("figure", "No column was chosen, so there are no rows to count.", hint)
    fields = {column.name: "figure" for _, column in chosen if column is not None}
    _check_confirmed(dataset, ({by: "by"} if by else {}) | fields)
    names = job_names(used)
    queries = [_query(kind, column, names, by) for kind, column in chosen]
    parameters = {"epsilon": _epsilon(sent), "queries": queries}
    return _text(desk, sent, "statistics", f"Statistics of {dataset.name}", names, parameters)


def _text(
    desk: Context,
    sent: dict[str, str],
    analysis: str,
    usual: str,
    names: dict[str, str],
    parameters: dict[str, Any],
) -> str:
    """The job file of an analysis of what both have; `usual` is its title unless one was typed."""
    config, dataset = desk.config, sent.get("dataset", "")
    theirs = {short: sent.get(f"theirs:{name}", "").strip() or name for name, short in names.items()}
    document = {
        "job": {
            "title": sent.get("title", "").strip() or usual,
            "analysis": analysis,
            "alice": config.name,
            "bob": config.peer(sent.get("peer", "")).name,
            "recipients": ["alice", "bob"],
            **{key: words for key in ("asked_by", "purpose") if (words := sent.get(key, "").strip())},
        },
        "alice": {"dataset": dataset, "columns": {short: name for name, short in names.items()}},
        "bob": {"dataset": _peer_dataset(sent, dataset), "columns": theirs},
        "parameters": parameters,
    }
    return tomli_w.dumps(document)


def with_shares(text: str, shares: Mapping[str, str]) -> str:
    """A job file whose queries have these shares of epsilon; as it is where it has others.

    Args:
        text: of the job file.
        shares: by the names of its queries.
    """
    try:
        document = tomllib.loads(text)
        queries = {str(query["name"]): query for query in document["parameters"]["queries"]}
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        return text
    if not shares or queries.keys() != shares.keys():
        return text
    for name, query in queries.items():
        query["share"] = shares[name]
    return tomli_w.dumps(document)


def job_names(columns: Iterable[str]) -> dict[str, str]:
    """Names by which a job can call columns, by the columns': plain words, each another one."""
    found: dict[str, str] = {}
    for column in dict.fromkeys(columns):
        name = column if NAME.fullmatch(column) else f"c_{_plain(column)}"[:_LONGEST]
        number, free = 2, name
        while free in found.values():
            number, free = number + 1, f"{name}_{number}"
        found[column] = free
    return found


def _plain(name: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "_", ascii_only).strip("_")


def _peer_dataset(sent: dict[str, str], usual: str) -> str:
    name = sent.get("peer_dataset", "").strip() or usual
    if not NAME.fullmatch(name):
        hint = "Use letters, digits, point, hyphen and underscore, as the peer's catalog does."
        raise FieldError("peer_dataset", f"{name!r} cannot be the name of a data set.", hint)
    return name


def _epsilon(sent: dict[str, str]) -> str:
    """Epsilon as the job writes it; a decimal comma is taken for a point."""
    text = sent.get("epsilon", "").strip().replace(",", ".")
    try:
        loss_term(text, "epsilon")
    except DuettoError:
        raise FieldError("epsilon", "Epsilon is not a number above 0.", "Write one such as 0.5.") from None
    return text


def _query(kind: str, column: ColumnDeclaration | None, names: dict[str, str], by: str) -> dict[str, Any]:
    """A query of the job; what is told of the column of groups itself is told of all rows."""
    grouped = {"by": names[by]} if by and (column is None or column.name != by) else {}
    if column is None:
        return {"name": ROWS, "kind": "count", **grouped}
    named = {"name": f"{kind} of {column.name}", "kind": kind, "column": names[column.name], **grouped}
    return named | _edges(kind, column)


def _edges(kind: str, column: ColumnDeclaration) -> dict[str, Any]:
    """The edges of a histogram of numbers: bins of one width between the declared bounds."""
    if kind != "histogram" or column.type == "category":
        return {}
    schema = column.schema
    if schema.lower is None or schema.upper is None:
        raise FieldError("figure", f"{column.name!r} has no bounds.", "Declare lower and upper on Data.")
    lower, upper = schema.lower, schema.upper + 1
    width = -((lower - upper) // _BINS) or 1
    scale = 10**schema.scale
    edges = [*range(lower, upper, width), upper]
    return {"edges": edges if scale == 1 else [f"{edge / scale:.{schema.scale}f}" for edge in edges]}
