"""What readers of languages in Latin letters have in common: tokens, sentences, and words made of them."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from anonymizer.documents.languages.tokens import sentences, tokens
from anonymizer.documents.texts.text import Language, Tag, Word

LONGEST: Final = 40
"""The time of a tagger grows with the square of a word's length; longer ones are in no dictionary."""

_PLAIN: Final = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2018": "'"})


class LatinReader(ABC):
    """Reads a language sentence by sentence.

    Attributes:
        language: which.
    """

    language: Language

    def words(self, text: str) -> tuple[Word, ...]:
        """All words of a text in their order, symbols included, blanks left out."""
        spans = tuple(tokens(text))
        forms = [form_of(text[start:end]) for start, end in spans]
        tags: list[Tag] = []
        for first, end in sentences(text, spans):
            tags += self._tags(forms[first:end])
        return tuple(
            Word(text[start:end], self._lemmatize(form, tag), tag, start, end)
            for (start, end), form, tag in zip(spans, forms, self._revise(forms, tags), strict=True)
        )

    @abstractmethod
    def _tags(self, forms: Sequence[str]) -> list[Tag]:
        """The tags of a sentence."""

    def _revise(self, forms: Sequence[str], tags: list[Tag]) -> list[Tag]:
        """The tags of a text, by what stands beside each other in all of it."""
        del forms
        return tags

    @abstractmethod
    def _lemmatize(self, form: str, tag: Tag) -> str:
        """The form under which a dictionary has a word."""


def form_of(text: str) -> str:
    """What a reader sees of a word, in its common characters; the word itself where he sees nothing."""
    seen = "".join(one for one in text if unicodedata.category(one) != "Cf")
    return unicodedata.normalize("NFKC", seen).translate(_PLAIN).strip() or text


def tag_by_form(form: str) -> Tag | None:
    """The tag of what is not a word; None for words."""
    if not any(one.isalnum() for one in form):
        return "symbol"
    return "number" if form[0].isdigit() else None
