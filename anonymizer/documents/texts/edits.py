"""Edits: which characters of a text become which others, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from anonymizer.documents.texts.text import Span
from anonymizer.errors import TableError

Cause = Literal["direct", "attack", "person"]
"""Who wants it: the first pass for direct identifiers, a search that succeeded, or the person who reviews."""

_PLACEHOLDER: Final = ("[", "［")


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
                f"An edit from character {self.start} to {self.end} holds no character.",
                "Give a start of 0 or more, and an end beyond it.",
            )

    @property
    def span(self) -> Span:
        """Where it is in the original text."""
        return self.start, self.end

    @property
    def hides(self) -> bool:
        """Whether nothing is said instead: the text is empty, or a placeholder in brackets."""
        return not self.text or self.text.startswith(_PLACEHOLDER)

    def overlaps(self, span: Span) -> bool:
        """Whether it shares a character with a span."""
        return self.start < span[1] and span[0] < self.end


def join_edits(edits: Iterable[Edit]) -> tuple[Edit, ...]:
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


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """A text with its edits.

    Args:
        text: the original.
        edits: without overlaps, in their order; see `join_edits`.

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


def place_edits(edits: Sequence[Edit]) -> tuple[tuple[Span, Edit], ...]:
    """Where the texts of edits stand in the edited text.

    Args:
        edits: without overlaps, in their order.
    """
    found, shift = [], 0
    for edit in edits:
        start = edit.start + shift
        found.append(((start, start + len(edit.text)), edit))
        shift += len(edit.text) - (edit.end - edit.start)
    return tuple(found)


def compose_edits(text: str, edits: Sequence[Edit], more: Sequence[Edit]) -> tuple[Edit, ...]:
    """One set of edits that does what two do after each other.

    An edit of `more` that touches the text of an earlier edit replaces that one: the new text keeps the rest
    of the earlier text, and stands for all original characters of both.

    Args:
        text: the original.
        edits: of the original, without overlaps, in their order.
        more: of the edited text, without overlaps, in their order.

    Returns:
        Edits of the original, without overlaps, in their order.

    Raises:
        TableError: an edit is out of order or place.
    """
    found = tuple(edits)
    # from the right, so that what is left of an edit keeps its place in the edited text
    for edit in reversed(more):
        found = _with_one(text, found, edit)
    apply_edits(text, found)
    return found


def original_span(edits: Sequence[Edit], span: Span) -> Span:
    """The original characters that a span of the edited text stands for.

    A character of a replacement stands for all that was replaced.

    Args:
        edits: of the original, without overlaps, in their order.
        span: of the edited text, of one character or more.
    """
    return _original(edits, span[0])[0], _original(edits, span[1] - 1)[1]


def edited_span(edits: Sequence[Edit], span: Span) -> Span:
    """Where original characters stand in the edited text.

    Args:
        edits: of the original, without overlaps, in their order.
        span: of the original, touched by none of the edits.
    """
    shift = sum(len(edit.text) - (edit.end - edit.start) for edit in edits if edit.end <= span[0])
    return span[0] + shift, span[1] + shift


def _original(edits: Sequence[Edit], at: int) -> Span:
    """The same for one character of the edited text."""
    shift = 0
    for (low, high), edit in place_edits(edits):
        if at < low:
            break
        if at < high:
            return edit.span
        # behind this replacement characters stand so much further right than in the original
        shift = high - edit.end
    return at - shift, at - shift + 1


def _with_one(text: str, edits: Sequence[Edit], edit: Edit) -> tuple[Edit, ...]:
    touched = [(span, one) for span, one in place_edits(edits) if span[0] < edit.end and edit.start < span[1]]
    low = min([edit.start, *(span[0] for span, _ in touched)])
    high = max([edit.end, *(span[1] for span, _ in touched)])
    now = apply_edits(text, edits)
    start, end = original_span(edits, (low, high))
    written = now[low : edit.start] + edit.text + now[edit.end : high]
    gone = [one for _, one in touched]
    rest = [one for one in edits if one not in gone]
    return tuple(sorted([*rest, Edit(start, end, written, edit.cause, edit.kind)]))
