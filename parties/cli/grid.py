"""Tables on a screen: numbers whole at any width, texts broken where there is no room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from parties.texts import escape_unprintable

_TITLE_WIDTH: Final = 60

_WORD_WIDTH: Final = 16
"""Characters of a text that stay together in a narrow table: enough for the name of a job."""

_BORDERS: Final = 3
"""Characters around each cell of a table with lines."""

_HANG: Final = 4
"""Blanks before the further lines of a text that is longer than there is room."""

_GAP: Final = 2
"""Blanks between the columns of one without."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table for people, laid out for the screen on which it is printed.

    Attributes:
        title: shown above; may be empty. Of a table without lines it is a line of its own before it.
        heads: of the columns.
        rows: as many cells a row as there are heads.
        numeric: of each column, whether it holds numbers.
        boxed: whether it has lines around its cells.
        colours: of each row the colour of its cell in the second column, or an empty text.
    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    boxed: bool = True
    colours: tuple[str, ...] = ()


def hanging(text: str, console: Console, width: int) -> str:
    """A text broken into lines of at most `width` cells, the further ones to the right of the first.

    So a name that a peer chose never begins a line of the screen, however long it is.
    """
    own = len(text) - len(text.lstrip(" "))
    hang = " " * min(own + _HANG, width // 2)
    if cell_len(text) <= width:
        return text
    pieces = Text(text[own:]).wrap(console, max(1, width - len(hang)))
    return "\n".join(
        (hang if number else " " * own) + piece.plain.rstrip() for number, piece in enumerate(pieces)
    )


def laid_out(grid: Grid, console: Console) -> Table:
    """A table that fits onto a console.

    Numbers are never broken or shortened. Texts are broken where there is no room, and where the numbers
    alone are wider than the screen, each row becomes a list of names and cells. Without lines around its
    cells, only what begins a cell of the first column stands at the left edge.
    """
    width = console.width
    heads = [escape_unprintable(head) for head in grid.heads]
    rows = [[escape_unprintable(cell) for cell in row] for row in grid.rows]
    columns = [[row[place] for row in rows] for place in range(len(heads))]
    room = width - (_BORDERS * len(heads) + 1 if grid.boxed else _GAP * len(heads))
    full = [max(map(cell_len, [head, *cells])) for head, cells in zip(heads, columns, strict=True)]
    least = [
        _least(head, cells, is_number=is_number)
        for head, cells, is_number in zip(heads, columns, grid.numeric, strict=True)
    ]
    title = Text(escape_unprintable(grid.title)) if grid.title and grid.boxed else None
    if sum(least) > room:
        return _as_lists(grid, title, heads, rows, console)
    title_width = min(cell_len(grid.title), _TITLE_WIDTH, width)
    shown = _table(grid, title, title_width, show_header=any(heads))
    widths = _widths(full, least, room)
    if not grid.boxed:
        rows = [[hanging(first, console, widths[0]), *others] for first, *others in rows]
    for head, is_number, wide in zip(heads, grid.numeric, widths, strict=True):
        justify: Literal["left", "right"] = "right" if is_number else "left"
        shown.add_column(Text(head), justify=justify, width=wide, overflow="fold")
    for row, colour in zip_longest(rows, grid.colours, fillvalue=""):
        shown.add_row(*(Text(cell, colour if place == 1 else "") for place, cell in enumerate(row)))
    return shown


def _table(grid: Grid, title: Text | None, width: int, *, show_header: bool) -> Table:
    if grid.boxed:
        return Table(title=title, title_justify="left", min_width=width or None, show_header=show_header)
    return Table(
        show_header=show_header,
        header_style="",
        box=None,
        pad_edge=False,
        padding=(0, _GAP, 0, 0),
    )


def _least(head: str, cells: Sequence[str], *, is_number: bool) -> int:
    """The least width of a column: of numbers that of the longest, of texts that of a long word."""
    words = [word for text in ([head] if is_number else [head, *cells]) for word in text.split()]
    longest = max(map(cell_len, words), default=1)
    if is_number:
        return max([longest, *map(cell_len, cells)])
    return max(1, min(longest, _WORD_WIDTH))


def _widths(full: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths between the least and the full ones, the widest columns narrowed first."""
    found = list(full)
    while sum(found) > room:
        widest = max(
            (place for place in range(len(found)) if found[place] > least[place]), key=found.__getitem__
        )
        found[widest] -= 1
    return found


def _as_lists(
    grid: Grid, title: Text | None, heads: Sequence[str], rows: Sequence[Sequence[str]], console: Console
) -> Table:
    """Each row as a list of names and cells."""
    shown = _table(grid, title, 0, show_header=False)
    names = min(max(map(cell_len, heads)), console.width // 3)
    shown.add_column(width=None if grid.boxed else names, overflow="fold")
    shown.add_column(overflow="fold")
    for row in rows:
        for head, cell in zip(heads, row, strict=True):
            shown.add_row(Text(head if grid.boxed else hanging(head, console, names)), Text(cell))
        shown.add_section()
    return shown
