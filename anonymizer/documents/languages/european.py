"""Languages in Latin letters that need no code of their own: function words, and what models know.

German words are tagged by the Hanover Tagger; French ones by the lists of simplemma: a word with a capital
that begins no sentence, or that the lists do not hold, is a name. Lemmas are those of simplemma.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from anonymizer.documents.languages.english import form_of
from anonymizer.documents.languages.lacking import lacking
from anonymizer.documents.languages.tokens import sentences, tokens
from anonymizer.documents.languages.vocabulary import FRENCH, GERMAN
from anonymizer.documents.texts.text import Language, Tag, Word

_LONGEST: Final = 40
"""The time of the tagger grows with the square of a word's length."""

_TAGS: Final[dict[str, Tag]] = {
    "NE": "name",
    "NN": "noun",
    "CA": "number",
    "VV": "verb",
    "AD": "adjective",
    "FM": "name",
    "XY": "name",
    "NA": "adjective",
}
"""By the first two letters of a tag of the Stuttgart-Tübingen tag set; others are function words."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a language: its commonest function words, and a model of the Hanover Tagger."""

    functions: frozenset[str]
    model: str = ""


_LANGUAGES: Final[dict[Language, _Known]] = {
    "de": _Known(GERMAN, "morphmodel_ger.pgz"),
    "fr": _Known(FRENCH),
}


class European:
    """Reads one of these languages. Making one may load a model: a few tenths of a second.

    Args:
        language: "de" or "fr".

    Raises:
        SpecError: HanTa or simplemma is not installed.
    """

    def __init__(self, language: Language) -> None:
        self.language: Language = language
        self._known = _LANGUAGES[language]
        self._tagger: Any = None
        with lacking(f"The language {language!r}"):
            import simplemma

            if self._known.model:
                from HanTa.HanoverTagger import HanoverTagger

                self._tagger = HanoverTagger(self._known.model)
        self._lemma, self._is_known = simplemma.lemmatize, simplemma.is_known

    def words(self, text: str) -> tuple[Word, ...]:
        """All words of a text in their order, symbols included, blanks left out."""
        spans = tuple(tokens(text))
        forms = [form_of(text[start:end]) for start, end in spans]
        tags: list[Tag] = []
        for first, end in sentences(text, spans):
            tags += self._tags(forms[first:end])
        return tuple(
            Word(text[start:end], self._lemmatized(form, tag), tag, start, end)
            for (start, end), form, tag in zip(spans, forms, tags, strict=True)
        )

    def _tags(self, forms: Sequence[str]) -> list[Tag]:
        if self._tagger is None:
            return [self._by_lists(form, first=not at) for at, form in enumerate(forms)]
        found = self._tagger.tag_sent([one[:_LONGEST] for one in forms], taglevel=0)
        return [
            self._plain(form) or _TAGS.get(str(tag)[:2], "function")
            for form, tag in zip(forms, found, strict=True)
        ]

    def _plain(self, form: str) -> Tag | None:
        """The tag of what is no word, or one of the commonest words."""
        if not any(one.isalnum() for one in form):
            return "symbol"
        if form[0].isdigit():
            return "number"
        return "function" if form.lower() in self._known.functions else None

    def _by_lists(self, form: str, *, first: bool) -> Tag:
        if plain := self._plain(form):
            return plain
        known = len(form) <= _LONGEST and self._is_known(form.lower(), lang=self.language)
        return "name" if form[0].isupper() and not (first and known) else "noun"

    def _lemmatized(self, form: str, tag: Tag) -> str:
        lower = form.lower()
        if tag in {"name", "number", "symbol"} or len(form) > _LONGEST:
            return lower
        return str(self._lemma(form, lang=self.language)).lower() or lower
