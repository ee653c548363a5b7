"""Lines below the rows of a table that are none: a sum, a count, the day of the export.

They are known by how they begin, not by their number: an export without them loses no row.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, Final

MAX_LINES: Final = 20
"""Lines below the rows that are left out at most."""

_CELL: Final = 60
_FIGURE: Final = re.compile(r"[^\w]*\d[\d.,'’\s]*[^\w]*[^\W\d_]{0,3}\W*")
_SUM: Final = re.compile(
    r"(?:grand )?(?:(?:sub-?)?totals?|sum|balance|closing balance|average|mean|count"
    r"|(?:zwischen|gesamt|end|teil|quer)?summen?|gesamt(?:betrag|zahl|anzahl|wert|ergebnis)?|insgesamt|anzahl"
    r"|(?:end|anfangs|schluss)?saldo|übertrag|endbestand|mittelwert|durchschnitt"
    r"|somme|moyenne|(?:sous-)?total|solde|report|effectif|nombre|suma|media|totale|subtotale|somma|saldi|totaal|subtotaal"
    r"|eindtotaal|eindsaldo|gemiddelde|número|numero|aantal"
    r"|合計|総計|小計|計|総額|合算|累計|残高|繰越|平均|件数|人数|総数)(?!\w)",
    re.IGNORECASE,
)
"""What stands in the first cell of a row below a table that adds it up or counts it."""
_LONE: Final = re.compile(r"([^\W\d_][^\d:：=]{0,40}?)\s*[:：=]\s*\d[\d.,’'\s]*")
"""The only cell of such a row in any language: a word, a sign and a figure."""
_COLUMNS: Final = 3
"""Columns of a table in which one filled cell alone is no row."""


def sum_in(row: Sequence[Any]) -> str:
    """What a row begins with that looks like a sum below a table: a word for it, and mostly empty cells.

    Or an empty one, if all others hold figures, as in tables of three columns.

    Of `Anzahl: 805` it is what stands before the figure, which the next export has otherwise. Empty for other
    rows.
    """
    filled = [text for cell in row if cell is not None and (text := str(cell).strip())]
    if len(row) >= _COLUMNS and len(filled) == 1 and (lone := _LONE.fullmatch(filled[0])):
        return lone[1].strip()
    first = filled[0] if filled else ""
    is_full = len(filled) == len(row) or not all(map(_FIGURE.fullmatch, filled[1:]))
    if not _SUM.match(first) or (len(row) > 1 and 2 * len(filled) > len(row) and is_full):
        return ""
    return re.split(r"\s*[:=(：（\d]", first[:_CELL])[0].strip()


def sums_below(rows: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    """How the last of these rows begin that look like sums below a table, each beginning once.

    A word that goes on after a hyphen is none: Somme-Nord is a place.
    """
    found = [
        *takewhile(lambda word: word and "-" not in _SUM.sub("", word, count=1), map(sum_in, reversed(rows)))
    ]
    return tuple(dict.fromkeys(reversed(found)))


def begins(row: Sequence[Any], words: Sequence[str]) -> bool:
    """Whether the first cell of a row that is not empty begins with one of these words."""
    first = next((text for cell in row if cell is not None and (text := str(cell).strip())), "")
    return bool(first) and first.startswith(tuple(words))


def without_footer(
    rows: Iterator[tuple[int, list[Any]]], words: Sequence[str]
) -> Iterator[tuple[int, list[Any]]]:
    """Lines and cells of rows, without those at the end that begin with one of these words.

    Such a row above others is a row as all others are. Blank lines among those at the end do not matter.
    """
    held: deque[tuple[int, list[Any]]] = deque()
    for line, row in rows:
        is_blank = not any(cell is not None and str(cell).strip() for cell in row)
        if begins(row, words) or (held and is_blank):
            held.append((line, row))
            if len(held) > MAX_LINES:
                yield held.popleft()
            continue
        yield from held
        held.clear()
        yield line, row
