"""A text whose pieces stand here and there in a tree of elements, and edits brought to these places."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from anonymizer.documents.formats.characters import writable
from anonymizer.documents.texts.edits import Edit, apply_edits
from anonymizer.documents.texts.text import Span, TableSpans
from anonymizer.errors import TableError

TEXT: Final = "text"
TAIL: Final = "tail"
"""Where a piece stands at its element; every other place is an attribute of that name."""
_EMPTY: Final = (0, 0)
"""Where the text of an empty cell stands."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Where some characters of a text stand.

    Attributes:
        node: the number of the element in the order of its document.
        place: TEXT, TAIL or the name of an attribute.
        start: its first character in the text.
        end: the character after its last one.
    """

    node: int
    place: str
    start: int
    end: int


@dataclass(slots=True)
class Flow:
    """Collects pieces, and the line breaks between them that stand in no piece."""

    parts: list[str] = field(default_factory=list, repr=False)
    pieces: list[Piece] = field(default_factory=list)
    length: int = 0
    pending: str = ""

    def separate(self, mark: str = "\n") -> None:
        """Write a mark before the next piece; where there are several, a line break before others."""
        self.pending = ("\n" if "\n" in {mark, self.pending} else mark) if self.length else ""

    def add(self, node: int, place: str, text: str) -> None:
        """A piece; nothing if it is empty."""
        if not text:
            return
        if self.pending:
            self.parts.append(self.pending)
            self.length += len(self.pending)
            self.pending = ""
        self.parts.append(text)
        self.pieces.append(Piece(node, place, self.length, self.length + len(text)))
        self.length += len(text)

    @property
    def text(self) -> str:
        """All together."""
        return "".join(self.parts)


def table_spans(
    flow: Flow, numbers: Mapping[Any, int], tables: Iterable[Iterable[Iterable[tuple[Any, int, int]]]]
) -> tuple[TableSpans, ...]:
    """Where the cells of tables stand in a text.

    Args:
        flow: the text.
        numbers: of elements, as its pieces have them.
        tables: by rows, each cell as its element, and how many columns and rows it covers.
    """
    places: dict[int, list[Piece]] = {}
    for piece in flow.pieces:
        if piece.place in {TEXT, TAIL}:
            places.setdefault(piece.node, []).append(piece)

    def span(cell: Any) -> Span:
        own = [
            one
            for node in cell.iter()
            for one in places.get(numbers[node], ())
            if node is not cell or one.place == TEXT
        ]
        return (min(one.start for one in own), max(one.end for one in own)) if own else _EMPTY

    return tuple(filter(None, (tuple(_spans_of(rows, span)) for rows in tables)))


def _spans_of(
    rows: Iterable[Iterable[tuple[Any, int, int]]], span: Callable[[Any], Span]
) -> Iterator[tuple[Span, ...]]:
    """The rows of a table; what a cell covers beside and below itself is empty."""
    covered: dict[int, int] = {}  # rows that are still covered, by column
    for row in rows:
        taken, found = covered, list[Span]()
        covered = {column: left - 1 for column, left in taken.items() if left > 1}
        for cell, wide, high in row:
            while len(found) in taken:
                found.append(_EMPTY)
            if high > 1:
                covered |= dict.fromkeys(range(len(found), len(found) + wide), high - 1)
            found += [span(cell), *[_EMPTY] * (wide - 1)]
        yield tuple(found)


def changes(text: str, pieces: Sequence[Piece], edits: Sequence[Edit]) -> Iterator[tuple[Piece, str]]:
    """What is to be written in each piece that an edit touches.

    The replacement stands in the first piece that the edit covers; from the others it takes characters away.

    Raises:
        TableError: edits overlap, are out of order or outside of the text, or cover no piece.
    """
    apply_edits(text, edits)
    starts, ends = [piece.start for piece in pieces], [piece.end for piece in pieces]
    inside: dict[int, list[Edit]] = {}
    for edit in edits:
        writable(edit.text)
        first = bisect_right(ends, edit.start)
        if first == len(pieces) or pieces[first].start >= edit.end:
            raise TableError(
                f"The edit of characters {edit.start} to {edit.end} covers only a line break between blocks.",
                "Edit words.",
            )
        last = bisect_left(starts, edit.end)
        for number in range(first, last):
            start, end = pieces[number].start, pieces[number].end
            here = replace(edit, start=max(edit.start, start) - start, end=min(edit.end, end) - start)
            inside.setdefault(number, []).append(here if number == first else replace(here, text=""))
    for number, here_ in inside.items():
        piece = pieces[number]
        yield piece, apply_edits(text[piece.start : piece.end], here_)


def put(nodes: Sequence[Any], piece: Piece, text: str) -> None:
    """Write a piece into the elements of a document, in their order."""
    if piece.place in {TEXT, TAIL}:
        setattr(nodes[piece.node], piece.place, text or None)
    elif text:
        nodes[piece.node].set(piece.place, text)
    else:
        del nodes[piece.node].attrib[piece.place]
