"""English: own tokens, the parts of speech of the Hanover Tagger, the lemmas of simplemma.

Reference: thesis, Algorithm 5, line 2. Wartena, *The Hanover Tagger* (2023), whose wheel holds its model; its
tags are those of the British National Corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from typing_extensions import override

from anonymizer.documents.languages.lacking import lacking
from anonymizer.documents.languages.latin import LONGEST, LatinReader, tag_by_form
from anonymizer.documents.languages.vocabulary import CALENDAR, FUNCTION_WORDS, TITLES
from anonymizer.documents.texts.text import Language, Tag

_TAGS: Final[dict[str, Tag]] = {
    "NP": "name",
    "NN": "noun",
    "CR": "number",
    "OR": "number",
    "VV": "verb",
    "AJ": "adjective",
    "AV": "adjective",
    "PU": "symbol",
}
"""By the first two letters of a tag: adverbs say as little in a search as adjectives do. What is not here
(articles, prepositions, pronouns, the verbs be, have, do and modal ones) is a function word."""

_FUNCTION: Final = frozenset({"AVQ", "AVP"})
_LEMMAS: Final = {
    "n't": "not",
    "ca": "can",
    "wo": "will",
    "sha": "shall",
    "'re": "be",
    "'ve": "have",
    "'ll": "will",
}


class English(LatinReader):
    """Reads English. Making one loads the model: a few tenths of a second.

    A name after a title ("Mr A. Demetriades") is a person; titles, months and days of the week are nouns,
    addresses of the web and of mail are names.

    Raises:
        SpecError: HanTa or simplemma is not installed.
    """

    language: Language = "en"

    def __init__(self) -> None:
        with lacking("English"):
            import simplemma
            from HanTa.HanoverTagger import HanoverTagger
        self._tagger: Any = HanoverTagger("morphmodel_en.pgz")
        self._lemma = simplemma.lemmatize

    @override
    def _tags(self, forms: Sequence[str]) -> list[Tag]:
        shouted = sum(len(form) > 1 and form.isupper() for form in forms) > len(forms) / 2
        said = [form.lower() if shouted else form for form in forms]
        tagged = self._tagger.tag_sent([one[:LONGEST] for one in said], taglevel=0)
        return [_tag(form, str(tag)) for form, tag in zip(said, tagged, strict=True)]

    @override
    def _revise(self, forms: Sequence[str], tags: list[Tag]) -> list[Tag]:
        titled = False
        for at, form in enumerate(forms):
            if _is_title(form):
                titled = True
            elif titled and form[0].isupper() and (tags[at] == "name" or form.lower() not in FUNCTION_WORDS):
                tags[at] = "person"
            else:
                titled = False
        return tags

    @override
    def _lemmatize(self, form: str, tag: Tag) -> str:
        lower = form.lower()
        if lower in _LEMMAS:
            return _LEMMAS[lower]
        if tag in {"name", "person", "place", "number", "symbol"} or len(form) > LONGEST:
            return lower
        return str(self._lemma(lower, lang="en")).lower() or lower


def _tag(form: str, found: str) -> Tag:
    """What a tag of the tagger means; the form decides where the tagger does not know."""
    if plain := tag_by_form(form):
        return plain
    if _is_address(form):
        return "name"
    if found == "NP0" and (form.lower() in CALENDAR or _is_title(form)):
        return "noun"
    unknown = found[:2] in {"UN", "ZZ"}
    if found in _FUNCTION or (unknown and form.lower() in FUNCTION_WORDS):
        tag: Tag = "function"
    elif unknown:
        tag = "name" if form[0].isupper() else "noun"
    else:
        tag = _TAGS.get(found[:2], "function")
    return tag


def _is_address(form: str) -> bool:
    return "@" in form[1:] or form.lower().startswith(("www.", "http://", "https://"))


def _is_title(form: str) -> bool:
    return form[0].isupper() and form.lower().removesuffix(".") in TITLES
