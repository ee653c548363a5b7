"""What was done to the documents of a folder, as commands and reports tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, Self, get_args

from anonymizer.documents.sanitization.sanitizing import Round, Sanitized, Success
from anonymizer.documents.texts.edits import Cause, Edit, apply_edits
from anonymizer.documents.texts.text import Document, Language
from anonymizer.errors import AnonymizerError, FileError


@dataclass(frozen=True, slots=True)
class SanitizedFolder:
    """A document, attacked and sanitized.

    Attributes:
        sanitized: the document and its edits.
        language: that it was read in.
        searches: made in all its rounds.
        own: names of documents of the web that are this document itself, and were set aside.
        label: of interest; None where documents have none.
    """

    sanitized: Sanitized
    language: Language
    searches: int
    own: tuple[str, ...] = ()
    label: str | None = None

    @property
    def name(self) -> str:
        """Of the original."""
        return self.sanitized.document.name

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Of its text."""
        return self.sanitized.edits

    @property
    def found_before(self) -> tuple[Success, ...]:
        """Attacks that succeeded on the text as it stood after the first pass."""
        return self.sanitized.rounds[0].successes if self.sanitized.rounds else self.sanitized.left

    def edits_by(self, cause: str) -> tuple[Edit, ...]:
        """Its edits that somebody wanted."""
        return tuple(edit for edit in self.edits if edit.cause == cause)

    def figures(self) -> dict[str, Any]:
        """Its figures, without any word of it."""
        return {
            "document": self.name,
            "language": self.language,
            "searches": self.searches,
            "rounds": len(self.sanitized.rounds),
            "found_before": len(self.found_before),
            "found_after": len(self.sanitized.left),
            "edits": {cause: len(self.edits_by(cause)) for cause in get_args(Cause)},
            "risk_words": len(self.sanitized.risk_words),
            "own": list(self.own),
            "label": self.label,
        }

    def to_values(self) -> dict[str, Any]:
        """All of it but the text, as plain values; as confidential as the text."""
        return {
            "edits": [asdict(one) for one in self.edits],
            "rounds": [
                {"successes": [asdict(each) for each in one.successes], "words": list(one.words)}
                for one in self.sanitized.rounds
            ],
            "left": [asdict(one) for one in self.sanitized.left],
            "language": self.language,
            "searches": self.searches,
            "own": list(self.own),
            "label": self.label,
        }

    @classmethod
    def from_values(cls, document: Document, values: Any) -> Self:
        """Read what `to_values` has written about a document.

        Raises:
            FileError: something else stands there.
        """
        try:
            rounds = tuple(
                Round(_successes(one["successes"]), tuple(map(str, one["words"]))) for one in values["rounds"]
            )
            edits = tuple(Edit(**one) for one in values["edits"])
            apply_edits(document.text, edits)
            made = Sanitized(document, edits, rounds, _successes(values["left"]))
            return cls(
                made, values["language"], values["searches"], tuple(map(str, values["own"])), values["label"]
            )
        except (AnonymizerError, AttributeError, KeyError, TypeError, ValueError):
            raise FileError(
                f"The record of an earlier run about {document.name} cannot be read.",
                "Begin anew with --fresh.",
            ) from None


def _successes(values: Any) -> tuple[Success, ...]:
    return tuple(
        Success(tuple(map(str, one["keywords"])), str(one["found"]), int(one["evidence"])) for one in values
    )


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
