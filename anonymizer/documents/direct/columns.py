"""Names below a heading that says so, in tables that a text is written with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Final

from anonymizer.documents.direct.gazetteers import words_of
from anonymizer.documents.texts.text import Language, Span

_CELLS: Final = {"|": re.compile(r"[^|\n]+"), ";": re.compile(r"[^;\n]+"), "\t": re.compile(r"[^\t\n]+")}
"""By what parts them. Commas part names, too, and blanks words."""
_LINE: Final = re.compile(r"[^\n]+")
_LONGEST: Final = 60
"""Characters of a name."""
_LETTER: Final = re.compile(r"[^\W\d_]")

_Cell = tuple[int, str]
"""Where it begins, and its text without blanks around it."""


def named_cells(text: str, language: Language) -> Iterator[Span]:
    """Where names stand in the columns of tables that are headed Name, Patient and so on.

    A table is two lines or more, one behind the other, with as many cells parted by bars, semicolons or tabs.

    Args:
        text: of a document.
        language: of its headings.
    """
    lines = [one.span() for one in _LINE.finditer(text)]
    for sign, cell in _CELLS.items():
        rows = [_cells(text, cell, *line) if text.count(sign, *line) else [] for line in lines]
        for count, table in groupby(rows, key=len):
            if count > 1:
                yield from _below(list(table), language)


def _cells(text: str, pattern: re.Pattern[str], start: int, end: int) -> list[_Cell]:
    found = []
    for one in pattern.finditer(text, start, end):
        said = one[0].strip()
        if said or one.end() < end:
            found.append((one.start() + len(one[0]) - len(one[0].lstrip()), said))
    if found and not found[0][1] and pattern is _CELLS["|"]:
        found = found[1:]  # the blank before a bar at the beginning of a line
    return found


def _below(table: Sequence[Sequence[_Cell]], language: Language) -> Iterator[Span]:
    """The cells below the headings, of rows with as many cells."""
    head, *rows = table
    for at, (_, heading) in enumerate(head):
        if _is_field(heading, language):
            for start, said in (row[at] for row in rows):
                is_name = _LETTER.search(said) and not re.search(r"\d", said) and len(said) <= _LONGEST
                if is_name and not _is_field(said, language):
                    yield start, start + len(said)


def _is_field(heading: str, language: Language) -> bool:
    words = [word for word in re.split(r"[\s,/&*:#]+", heading.lower()) if word]
    return bool(words) and (
        heading.strip(" *:#").lower() in _fields(language) or all(word in _fields(language) for word in words)
    )


@cache
def _fields(language: Language) -> frozenset[str]:
    return frozenset(word.lower() for word in words_of(language, "field"))
