"""What every generalization gives: for a word something that says less."""

from __future__ import annotations

from typing import Protocol

from anonymizer.documents.text import Language, Word


class Generalizer(Protocol):
    """Says something less exactly (function g of section 6.1.1)."""

    @property
    def name(self) -> str:
        """A word for reports, such as "hypernym" or "year"."""
        ...

    def general(self, words: tuple[Word, ...], at: int, language: Language) -> tuple[int, int, str] | None:
        """What may stand for a word.

        Args:
            words: of the document, in their order.
            at: which of them.
            language: of the document.

        Returns:
            The first word and the one after the last that are replaced (a date is several words), and what is
            written in their place; None if it knows nothing more general, so that the word is deleted.
        """
        ...
