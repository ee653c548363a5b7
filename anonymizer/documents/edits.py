"""Edits: which characters of a text become which others, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from anonymizer.documents.text import Span
from anonymizer.errors import TableError

Cause = Literal["direct", "attack", "person"]
"""Who wants it: the first pass for direct identifiers, a search that succeeded, or the person who reviews."""


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """One replacement in the text of a document.

    Attributes:
        start: its first character in the original text.
        end: the character after its last one; larger than start.
        text: what is written there instead.
        cause: who wants it.
        kind: of the identifier or of the generalization, a word such as "DATETIME" or "hypernym".
    """

    start: int
    end: int
    text: str = field(repr=False)
    cause: Cause = field(compare=False)
    kind: str = field(compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise TableError(
                f"An edit from character {self.start} to {self.end} holds none.",
                "Give a start of 0 or more, and an end beyond it.",
            )

    @property
    def span(self) -> Span:
        """Where it is in the original text."""
        return self.start, self.end

    def overlaps(self, span: Span) -> bool:
        """Whether it shares a character with a span."""
        return self.start < span[1] and span[0] < self.end


def joined(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits of one text in their order, without overlaps.

    Of edits that overlap, the first-named one says what is written; it grows over all characters of the
    others, so that nothing that any of them hides can stand again.
    """
    found: list[Edit] = []
    for edit in edits:
        touched = [one for one in found if one.overlaps(edit.span)]
        if not touched:
            found.append(edit)
            continue
        start = min(edit.start, *(one.start for one in touched))
        end = max(edit.end, *(one.end for one in touched))
        found = [one for one in found if one not in touched]
        found.append(replace(touched[0], start=start, end=end))
    return tuple(sorted(found))


def applied(text: str, edits: Sequence[Edit]) -> str:
    """A text with its edits.

    Args:
        text: the original.
        edits: without overlaps, in their order; see `joined`.

    Raises:
        TableError: they overlap, are out of order, or reach beyond the text.
    """
    parts, at = [], 0
    for edit in edits:
        if edit.start < at or edit.end > len(text):
            raise TableError(
                f"The edit of characters {edit.start} to {edit.end} overlaps another or is beyond the text.",
                "Give edits in their order, each inside the text.",
            )
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])
