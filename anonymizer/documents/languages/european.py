"""Languages in Latin letters that need no code of their own: function words, and what models know.

German words are tagged by the Hanover Tagger; French ones by the lists of simplemma: a word with a capital
that begins no sentence, or that the lists do not hold, is a name. Lemmas are those of simplemma.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from anonymizer.documents.languages.lacking import lacking
from anonymizer.documents.languages.latin import LONGEST, LatinReader, tag_by_form
from anonymizer.documents.languages.vocabulary import FRENCH, GERMAN
from anonymizer.documents.texts.text import Language, Tag

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


class European(LatinReader):
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

    @override
    def _tags(self, forms: Sequence[str]) -> list[Tag]:
        if self._tagger is None:
            return [self._by_lists(form, first=not at) for at, form in enumerate(forms)]
        found = self._tagger.tag_sent([one[:LONGEST] for one in forms], taglevel=0)
        return [
            self._plain(form) or _TAGS.get(str(tag)[:2], "function")
            for form, tag in zip(forms, found, strict=True)
        ]

    def _plain(self, form: str) -> Tag | None:
        """The tag of what is not a word, or is one of the commonest words."""
        return tag_by_form(form) or ("function" if form.lower() in self._known.functions else None)

    def _by_lists(self, form: str, *, first: bool) -> Tag:
        if plain := self._plain(form):
            return plain
        known = len(form) <= LONGEST and self._is_known(form.lower(), lang=self.language)
        return "name" if form[0].isupper() and not (first and known) else "noun"

    @override
    def _lemmatize(self, form: str, tag: Tag) -> str:
        lower = form.lower()
        if tag in {"name", "number", "symbol"} or len(form) > LONGEST:
            return lower
        return str(self._lemma(form, lang=self.language)).lower() or lower
