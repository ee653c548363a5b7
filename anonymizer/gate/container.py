"""What a file holds beside its cells: categories that no row has, an index, notes, a name and a time."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from anonymizer.gate.finding import Finding

MANIFEST_KEY: Final = "duetto"
"""The key of the manifest in the metadata of Parquet."""

_OURS: Final = frozenset({MANIFEST_KEY.encode(), b"ARROW:schema"})
_FLAGS: Final = 0b11100  # extra field, name, comment: RFC 1952, section 2.3.1
_BLOCK: Final = 1 << 20
_HINT: Final = "Write it anew with duetto anonymize, or convert it to CSV."


def inspect_container(path: Path) -> Iterator[Finding]:
    """Look at the bytes of a file around its cells."""
    name = path.name.lower()
    if name.endswith(".gz"):
        yield from _gzip(path)
    elif name.endswith(".parquet"):
        yield from _parquet(path)


def _gzip(path: Path) -> Iterator[Finding]:
    with path.open("rb") as file:
        head = file.read(10)
        if len(head) == 10 and (head[3] & _FLAGS or any(head[4:8])):
            yield Finding(
                "container", None, "The compressed file names its source or the time of its making.", _HINT
            )
        file.seek(0)
        stream = zlib.decompressobj(wbits=31)
        while block := file.read(_BLOCK):
            stream.decompress(block)
            if stream.unused_data:
                yield Finding("container", None, "The compressed file holds more than one part.", _HINT)
                return


def _parquet(path: Path) -> Iterator[Finding]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        notes = dict(file.metadata.metadata or {})
        schema = file.schema_arrow
    index, more = _of_pandas(notes.pop(b"pandas", b"{}"))
    keys = ", ".join(sorted([*more, *(key.decode("utf-8", "replace")[:40] for key in set(notes) - _OURS)]))
    if keys:
        yield Finding("container", None, f"The Parquet file has notes of its own ({keys}).", _HINT)
    for field in schema:
        if set(field.metadata or {}) - {b"PARQUET:field_id"}:
            yield Finding("container", field.name, f"Column {field.name} has notes of its own.", _HINT)
        if field.name in index:
            yield Finding(
                "container", field.name, "The Parquet file holds an index beside the columns.", _HINT
            )
        if pa.types.is_dictionary(field.type) and _has_unused(pq.read_table(path, columns=[field.name])):
            yield Finding(
                "container",
                field.name,
                f"Column {field.name} has categories that no row has: they tell of rows that were left out.",
                _HINT,
            )


def _of_pandas(note: bytes) -> tuple[list[str], list[str]]:
    """What pandas notes in Parquet: the columns of an index, and the keys of other things.

    The types of the columns are noted as well, which tells nothing that the columns do not.
    """
    try:
        document = json.loads(note)
        index = [name for name in document.get("index_columns", []) if isinstance(name, str)]
        extra = [key for key in ("attributes",) if document.get(key)]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return [], ["pandas"]
    return index, extra


def _has_unused(table: Any) -> bool:
    """Whether a column of categories has some that it does not use."""
    for chunk in table.column(0).chunks:
        used = chunk.indices.unique().drop_null()
        if len(used) < len(chunk.dictionary):
            return True
    return False
