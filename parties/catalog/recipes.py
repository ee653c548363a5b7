"""A recipe for matching persons, found in a data set or a file of this party, as a document and a job file.

What is found, and what it rests on, `smc.analyses.matching.suggestion.suggest` says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from commons.errors import near
from parties.catalog.declarations.declaration import DatasetDeclaration, load_catalog, toml_key
from parties.catalog.drafting.adding import Asked
from parties.catalog.reading import Reader
from parties.config import Config, Limits
from parties.errors import DataError, StorageError
from smc.analyses.matching.suggestion.roles import guess_roles
from smc.analyses.matching.suggestion.splink import MAX_BYTES, SplinkModel, read_model
from smc.analyses.matching.suggestion.suggest import Assumed, Quality, Say, Suggestion, suggest
from smc.analyses.records.normalization import KINDS
from smc.errors import UsageError

_TABLES: Final = ("blocking", "fields", "histogram")


def recipe(
    source: str,
    config: Config | None,
    roles: Mapping[str, str],
    assumed: Assumed,
    *,
    output: Path | None = None,
    peer: str | None = None,
    say: Say = lambda _: None,
) -> dict[str, Any]:
    """Find a recipe, and write its job file if asked for.

    Args:
        source: a data set of the catalog, or the path of a file.
        config: of this party; None where there is only the file.
        roles: the column of each role that is not guessed right, "" for a role to leave out.
        assumed: of the peer.
        output: the job file to write; there is none of that name yet.
        peer: in the job file; None for the only one that is paired.
        say: takes notes on the progress.

    Returns:
        The recipe, what is expected of it and what that rests on: plain JSON values.

    Raises:
        UsageError: the roles or the job file cannot be as asked for.
        DomainError: the rows cannot be simulated with.
        StorageError: the job file cannot be written.
        DataError: the data cannot be read.
    """
    reader = Reader(config.limits if config else Limits())
    dataset, left_out = _dataset(source, config, reader)
    parties: tuple[str, str] | None = None
    if output is not None:
        parties = _parties(config, peer, dataset, source, say)
        if output.exists():
            raise UsageError(f"{output} exists.", "Choose another name for the output, or remove the file.")
        if not output.absolute().parent.is_dir():
            raise UsageError(
                f"There is no folder {output.absolute().parent} for the output.",
                "Make it, or choose another name for the output.",
            )
    names = [name for name, column in dataset.columns.items() if column.schema.kind in KINDS]
    try:
        columns = guess_roles(names, roles)
    except UsageError as error:
        if not left_out:
            raise
        unread = "".join(f" Column {name!r} is left out: {why}." for name, why in left_out.items())
        raise UsageError(
            f"{error.what}{unread}",
            f"Correct what is left out in the file, or choose among the other columns. {error.hint}",
        ) from None
    say(f"Reading {', '.join(columns.values())} of {source}.")
    loaded = reader.load(dataset, columns.values())
    found = suggest({role: loaded.columns[name] for role, name in columns.items()}, assumed, say)
    if output is not None and parties is not None:
        try:
            with output.open("x", encoding="utf-8") as file:
                file.write(job_file(found.parameters, columns, dataset.name, parties))
        except OSError as error:
            raise StorageError(
                f"{output} cannot be written ({error.strerror or type(error).__name__}).",
                "Make room or rights, or choose another name for the output.",
            ) from None
    return {**_document(found, columns, assumed), "written": str(output) if output else None}


def splink_model(path: Path | None) -> SplinkModel | None:
    """A trained model of Splink; None without a path.

    Raises:
        DataError: the file cannot be read.
        UsageError: it is no trained model.
    """
    if path is None:
        return None
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_BYTES + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path} cannot be read as a model of Splink ({type(error).__name__}).",
            "Name the JSON file that Splink's linker.misc.save_model_to_json wrote.",
        ) from None
    return read_model(text)


def job_file(
    parameters: Mapping[str, Any], columns: Mapping[str, str], dataset: str, parties: tuple[str, str]
) -> str:
    """The job file of a recipe.

    Args:
        parameters: of the suggestion; columns are called by their roles.
        columns: of this party's data set, by role.
        dataset: its name; the peer's is written as if it were called the same, with the same columns.
        parties: this party and its peer.
    """
    used = {one["column"] for one in parameters["fields"]}
    used |= {part.rpartition(":")[0] for key in parameters["blocking"] for part in key}
    listed = ", ".join(f"{role} = {_text(name)}" for role, name in columns.items() if role in used)
    side = f"dataset = {_text(dataset)}\ncolumns = {{ {listed} }}"
    plain = [
        f"{toml_key(name)} = {_text(value)}" for name, value in parameters.items() if name not in _TABLES
    ]
    keys = [f"    {_text(key)}," for key in parameters["blocking"]]
    tables = [
        "\n".join(["[[parameters.fields]]", *(f"{name} = {_text(value)}" for name, value in one.items())])
        for one in parameters["fields"]
    ]
    chosen = parameters.get("histogram")
    lines = [
        "# Suggested by duetto matching suggest. Put the peer's data set and columns below [bob].",
        "[job]",
        'analysis = "matching"',
        'title = "Persons whom both have"',
        f"alice = {_text(parties[0])}",
        f"bob = {_text(parties[1])}",
        'recipients = ["alice", "bob"]',
        f"[alice]\n{side}",
        f"[bob]\n{side}",
        "[parameters]",
        *plain,
        "blocking = [",
        *keys,
        "]",
        *([f"[parameters.histogram]\nepsilon = {_text(chosen['epsilon'])}"] if chosen else []),
        *tables,
    ]
    return "\n".join(lines) + "\n"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _dataset(source: str, config: Config | None, reader: Reader) -> tuple[DatasetDeclaration, dict[str, str]]:
    """The data set of the catalog that is called so, or else the file with columns as they look.

    With it come the columns of the file that cannot be read, and why.
    """
    path = Path(source)
    known = load_catalog(config.catalog).datasets if config is not None else {}
    if source in known:
        return known[source], {}
    if not path.is_file():
        raise DataError(
            f"{source} does not exist as a file, and the catalog has no data set of that name.",
            near(source, list(known)),
        )
    found = reader.draft(path.absolute().with_name(".no-catalog.toml"), Asked(source=source)).draft
    columns = {name: one.column for name, one in found.columns.items()}
    return replace(found.dataset, columns=columns, key=(), person=()), dict(found.left_out)


def _parties(
    config: Config | None, peer: str | None, dataset: DatasetDeclaration, source: str, say: Say
) -> tuple[str, str]:
    """This party and the peer of the job file."""
    if config is None or dataset.name != source:
        raise UsageError(
            f"{source} is not a data set of the catalog, which a job file has to name.",
            f"Add it with `duetto data add {source}`, and give its name instead; or ask for no job file.",
        )
    names = [one.name for one in config.peers]
    if peer is None and len(names) != 1:
        raise UsageError(f"There are {len(names)} paired peers.", "Name the peer of the job: --peer NAME.")
    if peer is not None and peer not in names:
        say(f"No peer {peer!r} is paired yet; see `duetto pair`.")
    return config.name, peer or names[0]


def _document(found: Suggestion, columns: Mapping[str, str], assumed: Assumed) -> dict[str, Any]:
    return {
        "roles": dict(columns),
        "parameters": dict(found.parameters),
        "expected": _quality(found.expected),
        "least_scores": [_quality(one) for one in found.least_scores],
        "rests_on": {
            "rows": found.rows,
            "linked": list(found.registers),
            "common": found.common,
            "peer_rows": assumed.peer_rows or found.rows,
            "overlap": assumed.overlap,
            "errors": asdict(assumed.errors),
            "recipe": assumed.recipe,
            "seed": assumed.seed,
        },
        "coverage": found.coverage.details,
        "coverage_notes": list(found.coverage.notes),
        "bytes": found.bytes,
        "seconds": round(found.seconds, 3),
    }


def _quality(one: Quality) -> dict[str, Any]:
    figures = {"precision": one.precision, "recall": one.recall, "f": one.f_measure}
    return {
        "least_score": one.least_score,
        "pairs": one.pairs,
        **{name: round(value, 4) for name, value in figures.items()},
    }
