"""What was done to the documents of a folder, as commands and reports tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from anonymizer.documents.edits import Edit
from anonymizer.documents.sanitizing import Sanitized, Success
from anonymizer.documents.text import Language


@dataclass(frozen=True, slots=True)
class Treated:
    """A document, attacked and sanitized.

    Attributes:
        sanitized: the document and its edits.
        released: the name that it leaves under.
        language: that it was read in.
        searches: made in all its rounds.
        dropped: what its format cannot release, a sentence each.
    """

    sanitized: Sanitized
    released: str
    language: Language
    searches: int
    dropped: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Of the original."""
        return self.sanitized.document.name

    @property
    def found_before(self) -> tuple[Success, ...]:
        """Attacks that succeeded on the text as it stood after the first pass."""
        return self.sanitized.rounds[0].successes if self.sanitized.rounds else self.sanitized.left

    def edits_by(self, cause: str) -> tuple[Edit, ...]:
        """Its edits that somebody wanted."""
        return tuple(edit for edit in self.sanitized.edits if edit.cause == cause)

    def to_json(self) -> dict[str, Any]:
        """Its figures, without any word of it."""
        return {
            "document": self.name,
            "released": self.released,
            "language": self.language,
            "searches": self.searches,
            "rounds": len(self.sanitized.rounds),
            "found_before": len(self.found_before),
            "found_after": len(self.sanitized.left),
            "edits": {cause: len(self.edits_by(cause)) for cause in ("direct", "attack", "person")},
            "risk_words": len(self.sanitized.risk_words),
            "dropped": list(self.dropped),
        }


@dataclass(frozen=True, slots=True)
class Part:
    """Some characters of a text, for the report.

    Attributes:
        text: of the original.
        edit: that replaces them; None where they stay.
    """

    text: str = field(repr=False)
    edit: Edit | None = None


def parts(text: str, edits: Sequence[Edit]) -> tuple[Part, ...]:
    """A text cut at its edits.

    Args:
        text: the original.
        edits: without overlaps, in their order.
    """
    cuts = [0, *(at for edit in edits for at in edit.span), len(text)]
    by_start = {edit.start: edit for edit in edits}
    found = []
    for number, (low, high) in enumerate(pairwise(cuts)):
        if low < high:
            # every second piece is one of an edit, since cuts come in pairs
            found.append(Part(text[low:high], by_start[low] if number % 2 else None))
    return tuple(found)
