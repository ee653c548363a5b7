"""A direct or quasi-identifier that was found in a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Protocol

from anonymizer.documents.texts.text import Document, Span, Word

Kind = Literal["PERSON", "CODE", "LOC", "ORG", "DEM", "DATETIME", "QUANTITY", "MISC"]
KINDS: Final[tuple[Kind, ...]] = ("PERSON", "CODE", "LOC", "ORG", "DEM", "DATETIME", "QUANTITY", "MISC")
"""The types of the Text Anonymization Benchmark (Pilan et al. 2022)."""


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """What was found.

    Attributes:
        start: its first character.
        end: the character after its last one.
        kind: its type.
        by: the recognizer that found it, a word.
        probability: that it is one, as its recognizer says; 1 for rules.
    """

    start: int
    end: int
    kind: Kind
    by: str
    probability: float = 1.0

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.start, self.end


class Recognizer(Protocol):
    """Finds identifiers."""

    @property
    def name(self) -> str:
        """A word for reports."""
        ...

    def find(self, document: Document, words: tuple[Word, ...]) -> tuple[Found, ...]:
        """What it finds in a document whose words are given; findings may overlap."""
        ...
