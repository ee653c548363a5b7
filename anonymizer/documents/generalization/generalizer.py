"""What every generalization gives: for a word something that says less."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from anonymizer.documents.texts.text import Language, Word


@dataclass(frozen=True, slots=True)
class Steps:
    """What may stand for words, in steps from the most exact to the least.

    Attributes:
        first: the first word that is replaced; a date is several words.
        end: the word after the last one.
        texts: one for each step, each true of what the one before says.
    """

    first: int
    end: int
    texts: tuple[str, ...] = field(repr=False)


class Generalizer(Protocol):
    """Says something less exactly (function g of section 6.1.1)."""

    @property
    def name(self) -> str:
        """A word for reports, such as "hypernym" or "date"."""
        ...

    def steps(self, words: tuple[Word, ...], at: int, language: Language) -> Steps | None:
        """What may stand for a word.

        Args:
            words: of the document, in their order.
            at: which of them.
            language: of the document.

        Returns:
            The steps, whose words hold the one at `at`; None if it knows nothing more general. Whether a step
            still holds the word, or another one that is a risk, is not its concern; see `Chain`.
        """
        ...
