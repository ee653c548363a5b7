"""Presidio's recognizers by pattern, which the extra `recognizers` brings.

Only those that need no model of a language are used: card numbers, e-mail, national numbers of many countries
and the like. See https://microsoft.github.io/presidio/supported_entities/.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Self

from anonymizer.documents.direct.found import Found, Kind
from anonymizer.documents.texts.text import Document, Language, Word
from anonymizer.errors import SpecError

_MIN_SCORE: Final = 0.4
"""Of Presidio's scores. Below it are patterns such as "any nine digits", which need other words to count."""

_KINDS: Final[dict[str, Kind]] = {"DATE_TIME": "DATETIME", "PERSON": "PERSON", "LOCATION": "LOC"}
"""By Presidio's types; every other one is a code."""


@dataclass(frozen=True, slots=True)
class Presidio:
    """The recognizer; make it with `of`.

    Attributes:
        recognizers: of Presidio.
        least: the score from which a finding counts, 0 to 1.
        name: for reports.
    """

    recognizers: tuple[Any, ...] = field(repr=False)
    least: float = _MIN_SCORE
    name: str = "presidio"

    @classmethod
    def of(cls, language: Language, least: float = _MIN_SCORE) -> Self:
        """All recognizers by pattern that know a language.

        Raises:
            SpecError: presidio-analyzer is not installed.
        """
        try:
            from presidio_analyzer import PatternRecognizer, predefined_recognizers
        except ImportError as error:
            raise SpecError(
                f"Presidio's recognizers need {error.name}, which is not installed.",
                "Run pip install 'duetto[recognizers]', or leave out the recognizer 'presidio'.",
            ) from None
        known = (getattr(predefined_recognizers, name) for name in predefined_recognizers.__all__)
        made: list[Any] = [
            one for one in known if isinstance(one, type) and issubclass(one, PatternRecognizer)
        ]
        return cls(tuple(one for make in made if (one := make()).supported_language == language), least)

    def find(self, document: Document, words: tuple[Word, ...] = ()) -> tuple[Found, ...]:  # noqa: ARG002
        """What Presidio finds; its score is taken for the probability, which it is not in a strict sense."""
        hits = {
            Found(hit.start, hit.end, _KINDS.get(hit.entity_type, "CODE"), self.name, float(hit.score))
            for one in self.recognizers
            for hit in one.analyze(document.text, one.supported_entities, None) or ()
            if hit.score >= self.least and hit.start < hit.end
        }
        return tuple(sorted(hits))
