"""What every language gives: a text as tagged words."""

from __future__ import annotations

from typing import Protocol

from anonymizer.documents.texts.text import Language, Word


class Tagger(Protocol):
    """Morphological analysis (Algorithm 5, line 2)."""

    @property
    def language(self) -> Language:
        """That it reads."""
        ...

    def words(self, text: str) -> tuple[Word, ...]:
        """All words of a text in their order, symbols included, blanks left out."""
        ...
