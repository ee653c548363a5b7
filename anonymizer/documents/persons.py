"""The persons whom a search must not find: read from a table, and looked for in the documents themselves."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from anonymizer.documents.direct.found import Found
from anonymizer.documents.matching import parts_of
from anonymizer.documents.text import Document, Word, folded
from anonymizer.errors import TableError
from anonymizer.tables import files

COLUMNS: Final = ("document", "name")

_JOINED: Final = re.compile(r"[぀-ヿ㐀-鿿]")
_EXAMPLE: Final = "Write a header line document,name and a row for each person, such as report.txt,Ann Lee."


def read_persons(path: Path) -> dict[str, tuple[str, ...]]:
    """The names of each document.

    Args:
        path: of a table (.csv or .parquet) with the columns `document`, a path below the folder, and `name`.

    Raises:
        FileError: it cannot be read.
        TableError: a column is missing, a cell is empty, or a name has no letters. Names the row.
    """
    table = files.table(path)
    for column in COLUMNS:
        if column not in table.names:
            raise TableError(f"{path} has no column {column!r}.", _EXAMPLE)
    found: dict[str, list[str]] = defaultdict(list)
    cells = (table.frame[column].to_list() for column in COLUMNS)
    for row, (document, name) in enumerate(zip(*cells, strict=True), 1):
        for column, cell in zip(COLUMNS, (document, name), strict=True):
            if cell is None or not str(cell).strip():
                raise TableError(f"Row {row} of {path} has no {column}.", _EXAMPLE)
        if not parts_of(str(name)):
            raise TableError(f"The name in row {row} of {path} has no letters.", _EXAMPLE)
        found[str(document).strip()].append(str(name).strip())
    return {document: tuple(dict.fromkeys(names)) for document, names in found.items()}


class KnownPersons:
    """Finds the persons of a document by their names: whole names, and each part of two letters or more.

    Args:
        names: by document.
    """

    name = "names"

    def __init__(self, names: Mapping[str, tuple[str, ...]]) -> None:
        self._names = names

    def found(self, document: Document, words: tuple[Word, ...]) -> tuple[Found, ...]:
        """All places of the names in a document; adjacent parts of a name as one."""
        parts = {
            part for name in self._names.get(document.name, ()) for part in parts_of(name) if len(part) > 1
        }
        spans = [word.span for word in words if parts.issuperset(parts_of(word.text)) and parts_of(word.text)]
        spans += [span for part in parts if _JOINED.search(part) for span in _places(document.text, part)]
        return tuple(Found(start, end, "PERSON", self.name) for start, end in _merged(document.text, spans))


def _places(text: str, part: str) -> Iterator[tuple[int, int]]:
    """Where the characters of a name stand in a text that has no blanks between words."""
    whole = [folded(one) for one in text]
    ends = [0]
    for one in whole:
        ends.append(ends[-1] + len(one))
    at = "".join(whole).find(part)
    while at >= 0:
        first = next(place for place, end in enumerate(ends) if end > at) - 1
        last = next(place for place, end in enumerate(ends) if end >= at + len(part))
        yield first, last
        at = "".join(whole).find(part, at + 1)


def _merged(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in their order; those with nothing or blanks between them as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and not text[found[-1][1] : start].strip():
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found
