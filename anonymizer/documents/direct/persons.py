"""The persons whom a search must not find: read from a table, and looked for in the documents themselves."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from anonymizer.documents.direct.found import Found
from anonymizer.documents.texts.matching import parts_of
from anonymizer.documents.texts.text import Document, Span, Word, fold
from anonymizer.errors import TableError
from anonymizer.tables import files

COLUMNS: Final = ("document", "name")

_JOINED: Final = re.compile(r"[぀-ヿ㐀-鿿]")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_PARTING: Final = re.compile(r"(?<=\w)(?:[-\u2010\u2011][ \t]*\n\s*|[-\u2010\u2011])(?=\w)")
_INSIDE: Final = 5
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

    A part stands alone between blanks, signs, digits and changes of case (ann_lee1, LeeAnn). One of five
    letters or more is found inside longer words as well, and where a hyphen or the end of a line parts it; so
    is a part of a script without blanks. What it touches is found with it: Imhofstreet leaves no street.

    Args:
        names: by document.
    """

    name = "names"

    def __init__(self, names: Mapping[str, tuple[str, ...]]) -> None:
        self._names = names

    def find(self, document: Document, words: tuple[Word, ...]) -> tuple[Found, ...]:
        """All places of the names in a document; adjacent parts of a name as one."""
        parts = name_parts(self._names.get(document.name, ()))
        if not parts:
            return ()
        text = document.text
        spans = [word.span for word in words if parts.issuperset(parts_of(word.text)) and parts_of(word.text)]
        spans += [_whole(text, span) for span in _alone(text, parts)]
        solid, places = _solid(text)
        for part in parts:
            if _JOINED.search(part):
                spans += _inside(solid, places, part)
            elif len(part) >= _INSIDE:
                spans += [_whole(text, span) for span in _inside(solid, places, part)]
        return tuple(Found(start, end, "PERSON", self.name) for start, end in _merge(text, spans))


def name_parts(names: Iterable[str]) -> frozenset[str]:
    """The parts of names that are looked for, folded: those of two letters or more."""
    return frozenset(part for name in names for part in parts_of(name) if len(part) > 1)


def _alone(text: str, parts: frozenset[str]) -> Iterator[Span]:
    """Where a part stands between other signs than letters, or changes of case."""
    for run in _LETTERS.finditer(text):
        letters, start = run[0], run.start()
        cuts = [at for at in range(1, len(letters)) if letters[at - 1].islower() and letters[at].isupper()]
        ends = [0, *cuts, len(letters)]
        for low, high in {(0, len(letters)), *pairwise(ends)}:
            if fold(letters[low:high]) in parts:
                yield start + low, start + high


def _solid(text: str) -> tuple[str, list[int]]:
    """The letters of a text, folded and without hyphens and ends of lines in words, and the place of each."""
    left_out = {at for one in _PARTING.finditer(text) for at in range(*one.span())}
    letters: list[str] = []
    places: list[int] = []
    for at, character in enumerate(text):
        one = "" if at in left_out else fold(character)
        letters.append(one)
        places += [at] * len(one)
    return "".join(letters), places


def _inside(solid: str, places: Sequence[int], part: str) -> Iterator[Span]:
    """Where the letters of a part stand, in whatever word."""
    at = solid.find(part)
    while at >= 0:
        yield places[at], places[at + len(part) - 1] + 1
        at = solid.find(part, at + 1)


def _whole(text: str, span: Span) -> Span:
    """A span with all letters, digits and underscores that it touches."""
    start, end = span
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return start, end


def _merge(text: str, spans: list[Span]) -> list[Span]:
    """Spans in their order; those with nothing or blanks between them as one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and not text[found[-1][1] : start].strip():
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found
