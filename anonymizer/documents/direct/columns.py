"""Names below a heading that says so, in tables of a format and in tables that a text is written with."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Final

from anonymizer.documents.direct.fields import asks_for
from anonymizer.documents.direct.gazetteers import words_of
from anonymizer.documents.texts.text import Language, Span, TableSpans
from commons.tabular.person_names import names_bearers

_PARTS: Final = {"|": r"[^|\n]*", ";": r"[^;\n]*", "\t": r"[^\t\n]*", ",": r'"[^"\n]*"(?=,|$)|[^,\n]*'}
"""Cells by what parts them. Blanks part words, too."""
_CELLS: Final = {sign: re.compile(rf"(?:^|{re.escape(sign)})({cell})") for sign, cell in _PARTS.items()}
_LINE: Final = re.compile(r"[^\n]+")
_LONGEST: Final = 60
"""Characters of a name."""
_HEADING: Final = 3
"""Words of a heading between commas, which stand in sentences, too."""
_LETTER: Final = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class _Cell:
    """Some characters of a text without blanks and quotes around them."""

    start: int
    said: str

    @classmethod
    def of(cls, text: str, start: int, end: int) -> _Cell:
        said = text[start:end]
        return cls(start + len(said) - len(said.lstrip(' \t"')), said.strip(' \t"'))


def named_cells(text: str, language: Language) -> Iterator[Span]:
    """Where names stand in the columns of tables that are headed Name, Patient and so on.

    A table is two lines or more, one behind the other, with cells parted by bars, semicolons, tabs or commas;
    where blanks stand behind commas, as in sentences, it is three lines or more, and all headings are known.
    Lines with as many cells have the same headings.

    Args:
        text: of a document.
        language: of its headings.
    """
    lines = [one.span() for one in _LINE.finditer(text)]
    for sign in _CELLS:
        for parted, together in groupby(lines, key=lambda line, sign=sign: text.count(sign, *line) > 0):  # type: ignore[misc]
            if parted:
                tables = defaultdict(list)
                for line in together:
                    row = _row(text, sign, *line)
                    tables[len(row)].append(row)
                for table in tables.values():
                    if sign != "," or _is_list(text, table, language):
                        yield from _below(table, language)


def named_in_table(text: str, table: TableSpans, language: Language) -> Iterator[Span]:
    """The same in a table of a format, whose cells stand in lines of their own.

    Args:
        text: of a document.
        table: where its cells stand.
        language: of its headings.
    """
    yield from _below([[_Cell.of(text, *cell) for cell in row] for row in table], language)


def _row(text: str, sign: str, start: int, end: int) -> list[_Cell]:
    line = text[start:end]
    if sign == "|":  # bars may stand around a line
        line = line.rstrip().removesuffix("|")
        inside = line.lstrip().removeprefix("|")
        start, line = start + len(line) - len(inside), inside
    return [_Cell.of(text, start + one.start(1), start + one.end(1)) for one in _CELLS[sign].finditer(line)]


def _is_list(text: str, table: Sequence[Sequence[_Cell]], language: Language) -> bool:
    """Whether lines with commas are a table, and no sentences."""
    head = [cell.said for cell in table[0]]
    if any(text[cell.start - 1] == " " for row in table for cell in row[1:] if cell.said):
        known = all(_is_field(said, language) or _is_heading(said, language) for said in head)
        return len(table) > 2 and known
    return len(table) > 1 and all(0 < len(said.split()) <= _HEADING for said in head)


def _below(table: Sequence[Sequence[_Cell]], language: Language) -> Iterator[Span]:
    """The cells below the headings."""
    head, *rows = table
    for at, heading in enumerate(head):
        below = [row[at] for row in rows if at < len(row)]
        if not _is_field(heading.said, language) and not _heads_names(heading.said, below):
            continue
        if _are_labels([cell.said for cell in below], language):
            continue  # a form: labels stand one below the other, and what they say beside them
        for cell in below:
            for line in _LINE.finditer(cell.said):
                said = line[0].strip()
                is_name = _LETTER.search(said) and not re.search(r"\d", said) and len(said) <= _LONGEST
                if is_name and not _is_field(said, language) and not _is_heading(said, language):
                    start = cell.start + line.start() + len(line[0]) - len(line[0].lstrip())
                    yield start, start + len(said)


def _heads_names(heading: str, below: Sequence[_Cell]) -> bool:
    """Whether a heading is one of names or of persons in tables of data, with names below it."""
    return bool(asks_for(heading)) and names_bearers(Counter(cell.said for cell in below if cell.said))


def _are_labels(below: Sequence[str], language: Language) -> bool:
    """Whether labels stand in a column, and no names: the first one, or most; a list may end with one."""
    labels = [_is_heading(said, language) for said in below if said and not _is_field(said, language)]
    return any(labels[:1]) or 2 * sum(labels) > len(labels)


def _is_field(heading: str, language: Language) -> bool:
    words = [word for word in re.split(r"[\s,/&*:#_]+", heading.lower()) if word]
    fields = _fields(language)
    return bool(words) and (" ".join(words) in fields or all(word in fields for word in words))


def _is_heading(said: str, language: Language) -> bool:
    """Whether something heads a column without names."""
    return said.endswith((":", "：")) or said.lower().rstrip(" .") in _headings(language)


@cache
def _fields(language: Language) -> frozenset[str]:
    return frozenset(word.lower() for word in words_of(language, "field"))


@cache
def _headings(language: Language) -> frozenset[str]:
    return frozenset(word.lower().rstrip(".") for word in words_of(language, "heading"))
