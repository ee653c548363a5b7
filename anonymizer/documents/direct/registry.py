"""All recognizers, by the words of specifications."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from anonymizer.documents.direct.crf import THRESHOLD, Trained
from anonymizer.documents.direct.found import Recognizer
from anonymizer.documents.direct.lexicon import Lexicon
from anonymizer.documents.direct.presidio import Presidio
from anonymizer.documents.direct.rules import Rules
from anonymizer.documents.direct.spacy import Spacy
from anonymizer.documents.direct.sudachi import Sudachi
from anonymizer.documents.texts.text import Language


def _load_trained(language: Language, threshold: float) -> Recognizer | None:
    return Trained.of(threshold=threshold) if language == "en" else None


RECOGNIZERS: Final[Mapping[str, Callable[[Language, float], Recognizer | None]]] = {
    "rules": lambda language, _: Rules(language),
    "lexicon": lambda language, _: Sudachi() if language == "ja" else Lexicon.of(language),
    "crf": _load_trained,
    "spacy": lambda language, _: Spacy.of(language),
    "presidio": lambda language, _: Presidio.of(language),
}
"""Each makes its recognizer of a language with a threshold; None where it does not read that language."""

STANDARD: Final = ("rules", "lexicon", "crf")
"""Those that come with duetto."""


def standard(language: Language, threshold: float = THRESHOLD) -> tuple[tuple[Recognizer, ...], float]:
    """Those of `STANDARD` that read a language, and the threshold from which they are believed."""
    made = (RECOGNIZERS[name](language, threshold) for name in STANDARD)
    return tuple(one for one in made if one is not None), threshold
