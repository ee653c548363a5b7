"""A data set of the catalog is changed or removed; whatever a change does not name stays as it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.exceptions import TOMLKitError

from commons.errors import near
from commons.settings.toml import parse
from parties.catalog.declarations.declaration import catalog_of
from parties.errors import ConfigError
from parties.pki.files import write_atomically

_SAID: Final = (
    *("lower", "upper", "values", "unit", "scale", "missing_tokens", "below_limit", "above_limit"),
    *("ignore_case", "confirmed"),
)
"""Entries of a column that a revision says, or takes away by not saying them."""
_WRITTEN: Final = ("decimal", "thousands", "date_format", "prefix", "suffix")
"""Those that say how its cells are written, which a revision says where the file is read in another way."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What is to be changed of a data set.

    Attributes:
        columns: by name, the entries of those that are declared afterwards.
        dropped: columns that are declared no longer.
        person: columns that tell whom a row is about.
        key: columns that are never empty or twice.
        source: the file, as the catalog writes it; None to leave it.
        reading: entries of the data set that say how the file is read and whose it is, where they change;
            None takes one away.
    """

    columns: Mapping[str, Mapping[str, Any]]
    dropped: Sequence[str]
    person: Sequence[str]
    key: Sequence[str]
    source: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)


def revise(path: Path, name: str, revision: Revision, before: str) -> None:
    """Write a changed data set.

    Args:
        path: the catalog.
        name: of the data set.
        revision: what to change.
        before: the text of the catalog when the person saw it.

    Raises:
        ConfigError: the catalog has changed meanwhile, or would be wrong; nothing was written.
    """
    document, table = _open(path, name, before)
    for what, columns in (("person", revision.person), ("key", revision.key)):
        table.pop(what, None)
        if columns:
            table[what] = columns[0] if len(columns) == 1 else [*columns]
    if revision.source is not None:
        table["source"] = revision.source
    for entry, value in revision.reading.items():
        table.pop(entry, None)
        if value is not None:
            table[entry] = value
    said = (*_SAID, *_WRITTEN) if revision.reading else _SAID
    declared = table["columns"]
    for column in revision.dropped:
        declared.pop(column, None)
    for column, entries in revision.columns.items():
        known = declared.get(column)
        if known is None or known.get("type") != entries["type"]:
            declared[column] = dict(entries)
            continue
        for key in said:
            if key in entries:
                known[key] = entries[key]
            else:
                known.pop(key, None)
        if entries.get("missing") and "impute" not in known:
            known["missing"] = entries["missing"]
    _write(path, document)


def remove(path: Path, name: str, before: str) -> None:
    """Take a data set out of the catalog; its file stays.

    Args:
        path: the catalog.
        name: of the data set.
        before: the text of the catalog when the person saw it.

    Raises:
        ConfigError: the catalog has changed meanwhile; nothing was written.
    """
    document, _ = _open(path, name, before)
    del document["datasets"][name]
    _write(path, document)


def _open(path: Path, name: str, before: str) -> tuple[Any, Any]:
    text = path.read_text(encoding="utf-8-sig")
    if text != before:
        raise ConfigError(f"{path.name} was changed by somebody else meanwhile.", "Look at it once more.")
    try:
        document: Any = tomlkit.parse(text)
    except TOMLKitError as problem:
        raise ConfigError(f"The catalog is not valid TOML: {problem}.", "Correct the line.") from None
    known = document.get("datasets", {})
    if name not in known:
        raise ConfigError(f"The catalog has no data set {name!r}.", near(name, list(known)))
    return document, known[name]


def _write(path: Path, document: Any) -> None:
    text = str(tomlkit.dumps(document))
    catalog_of(parse(text, path.name, ConfigError), path)
    write_atomically(path, text.encode(), path.stat().st_mode & 0o777)
