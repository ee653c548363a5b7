"""A released file and its manifest, opened together and checked against each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from anonymizer.errors import FileError
from anonymizer.gate.container import MANIFEST_KEY
from anonymizer.gate.gate import beside, manifest_path
from anonymizer.methods.sensitive.anatomy import SENSITIVE
from anonymizer.releases.manifest import Manifest, digest
from anonymizer.tables import files
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from commons.tabular.dialect import Dialect

_HINT: Final = "Take the release and its manifest as they were written, both."


def open_release(path: Path) -> tuple[Table, Manifest]:
    """Read a release and what is said of it.

    The manifest is the file beside it, which holds the digest of the release; in Parquet also a copy in the
    metadata, which is enough by itself and must say the same.

    Returns:
        The table with its declared columns, and the manifest.

    Raises:
        FileError: a file is missing or cannot be read, there is no manifest, or it is that of another
            release, or was edited.
    """
    table = files.table(path)
    place = manifest_path(path)
    inside = _inside(path)
    if not place.exists():
        if inside is None:
            raise FileError(f"{path} has no manifest; {place.name} is missing beside it.", _HINT)
        manifest = inside
    else:
        try:
            manifest = Manifest.from_json(place.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as problem:
            raise FileError(f"{place} cannot be read: {type(problem).__name__}.", _HINT) from None
        if digest(path) not in manifest.files.values():
            raise FileError(f"{place} is the manifest of another release than {path.name}.", _HINT)
        if inside is not None and _without_table(manifest) != _without_table(inside):
            raise FileError(f"{place} was edited: the copy in {path.name} says otherwise.", _HINT)
    if manifest.rows != len(table):
        raise FileError(
            f"The manifest speaks of {manifest.rows:,} rows, and {path.name} has {len(table):,}.", _HINT
        )
    return table.declare(Roles(), schema=manifest.columns), manifest


def further(path: Path, dialect: Dialect) -> dict[str, Table]:
    """The tables that a release has beside its main one, by their words; those that lie where it put them.

    Raises:
        FileError: one cannot be read.
    """
    places = {SENSITIVE: beside(path, SENSITIVE)}
    return {word: files.table(place, dialect) for word, place in places.items() if place.is_file()}


def _without_table(manifest: Manifest) -> Manifest:
    """A manifest without what is known only when the table is written."""
    return replace(manifest, files={}, record={})


def _inside(path: Path) -> Manifest | None:
    """The manifest in the metadata of Parquet, if there is one."""
    if not path.name.lower().endswith(".parquet"):
        return None
    try:
        notes = pq.read_metadata(path).metadata or {}
        text = notes.get(MANIFEST_KEY.encode(), b"").decode("utf-8")
    except (OSError, pa.ArrowException, UnicodeDecodeError) as problem:
        raise FileError(f"{path} cannot be read: {type(problem).__name__}.", "Check the file.") from None
    return Manifest.from_json(text) if text else None
