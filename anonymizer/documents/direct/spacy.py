"""Names by a spaCy model, where one of the language is installed; the extra `recognizers` brings spaCy.

The model is a package that the user has chosen and installed; nothing is downloaded. See https://spacy.io/models
and, for Japanese, https://github.com/megagonlabs/ginza.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Self

from anonymizer.documents.direct.found import Found, Kind
from anonymizer.documents.texts.text import Document, Language, Word
from anonymizer.errors import SpecError

_MODELS: Final[dict[Language, tuple[str, ...]]] = {
    "en": ("en_core_web_lg", "en_core_web_md", "en_core_web_sm"),
    "ja": ("ja_ginza", "ja_core_news_lg", "ja_core_news_md", "ja_core_news_sm"),
    "de": ("de_core_news_lg", "de_core_news_md", "de_core_news_sm"),
    "fr": ("fr_core_news_lg", "fr_core_news_md", "fr_core_news_sm"),
}
"""By language; the first one that is installed is used."""

_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(("PERSON", "PER"), "PERSON"),
    **dict.fromkeys(("GPE", "LOC", "FAC", "CITY", "PROVINCE", "COUNTY", "COUNTRY", "ADDRESS_OTHER"), "LOC"),
    **dict.fromkeys(("ORG", "COMPANY", "SCHOOL", "CORPORATION_OTHER", "ORGANIZATION_OTHER"), "ORG"),
    **dict.fromkeys(("DATE", "TIME", "ERA"), "DATETIME"),
    **dict.fromkeys(("MONEY", "QUANTITY", "PERCENT"), "QUANTITY"),
    **dict.fromkeys(("NORP", "NATIONALITY", "DISEASE", "AGE", "OCCUPATION", "POSITION_VOCATION"), "DEM"),
    **dict.fromkeys(("PHONE_NUMBER", "EMAIL", "ID_NUMBER", "URL"), "CODE"),
}
"""By labels of spaCy's models and of GiNZA, in capitals; others are left out."""


@dataclass(frozen=True, slots=True)
class Spacy:
    """The recognizer; make it with `of`.

    Attributes:
        model: of spaCy, loaded.
        name: for reports.
    """

    model: Any = field(repr=False)
    name: str = "spacy"

    @classmethod
    def of(cls, language: Language) -> Self:
        """The model of a language.

        Raises:
            SpecError: spaCy or a model is not installed.
        """
        try:
            import spacy
        except ImportError as error:
            raise SpecError(
                f"The recognizer 'spacy' needs {error.name}, which is not installed.",
                "Run pip install 'duetto[recognizers]', or leave out the recognizer 'spacy'.",
            ) from None
        for model in _MODELS[language]:
            if spacy.util.is_package(model):
                return cls(spacy.load(model))
        raise SpecError(
            f"No spaCy model of the language {language!r} is installed.",
            f"Install one of {', '.join(_MODELS[language])}, or leave out the recognizer 'spacy'.",
        )

    def find(self, document: Document, words: tuple[Word, ...] = ()) -> tuple[Found, ...]:  # noqa: ARG002
        """What the model finds; models of spaCy say no probability, so that it is 1."""
        return tuple(
            Found(one.start_char, one.end_char, _KINDS[one.label_.upper()], self.name)
            for one in self.model(document.text).ents
            if one.label_.upper() in _KINDS
        )
