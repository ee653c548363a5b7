"""Which language a text is in, by its scripts and the share of words that every text has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Final

from anonymizer.documents.languages.english import English
from anonymizer.documents.languages.european import European
from anonymizer.documents.languages.japanese import Japanese
from anonymizer.documents.languages.tagger import Tagger
from anonymizer.documents.languages.vocabulary import TELLING, TELLING_FRENCH, TELLING_GERMAN
from anonymizer.documents.texts.text import LANGUAGES, Language
from anonymizer.errors import TableError

_TAGGERS: Final[dict[str, Callable[[], Tagger]]] = {
    "en": English,
    "ja": Japanese,
    "de": lambda: European("de"),
    "fr": lambda: European("fr"),
}
_TELLING: Final[dict[Language, frozenset[str]]] = {"en": TELLING, "de": TELLING_GERMAN, "fr": TELLING_FRENCH}
_KNOWN: Final = 'Known are English ("en"), Japanese ("ja"), German ("de") and French ("fr").'
_NAMED: Final = f"{_KNOWN} Name the language if it is one of them, or take the document out."
_READ: Final = 50_000
"""So many characters are looked at."""
_SHARE: Final = 0.08
"""Of all words."""
_KANA_SHARE: Final = 0.05
_LATIN: Final = re.compile(r"[^\W\d_]+")
_SCRIPTS: Final = {
    "Latin": re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff\uff21-\uff5a]"),
    "kana": re.compile(r"[\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d]"),
    "Han": re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"),
    "Cyrillic": re.compile(r"[\u0400-\u052f]"),
    "Greek": re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]"),
    "Arabic": re.compile(r"[\u0600-\u06ff\u0750-\u077f]"),
    "Hebrew": re.compile(r"[\u0590-\u05ff]"),
    "Hangul": re.compile(r"[\uac00-\ud7af\u1100-\u11ff]"),
}


def tagger_of(text: str, language: str | None = None) -> Tagger:
    """What splits a text into words. Each language's model is loaded once.

    Args:
        text: of a document.
        language: one of `LANGUAGES`; found by the text if it is not given.

    Raises:
        TableError: the text has no letters, is in a language that is not known, or the name is not known.
        SpecError: the packages that read the language are not installed.
    """
    if language is None:
        return _loaded(detected(text))
    if language not in LANGUAGES:
        raise TableError(f"The language {language!r} is not known.", _KNOWN)
    return _loaded(language)


@cache
def _loaded(language: str) -> Tagger:
    return _TAGGERS[language]()


def detected(text: str) -> Language:
    """The language of a text.

    Japanese has kana beside Chinese characters; in a language of Latin letters at least 8 words in 100 are
    among its common function words (English court cases have 26 to 38), and more than of any other.

    Raises:
        TableError: the text has no letters, or is in a language that is not known.
    """
    read = text[:_READ]
    letters = Counter({name: len(pattern.findall(read)) for name, pattern in _SCRIPTS.items()})
    if not any(one.isalpha() for one in text):
        raise TableError("The text has no letters.", "Take the document out: there is nothing to sanitize.")
    script, count = letters.most_common(1)[0]
    asian = letters["kana"] + letters["Han"]
    if asian * 2 >= letters.total() and letters["kana"] >= max(1, _KANA_SHARE * asian):
        return "ja"
    if script == "Latin" and count:
        words = [one.lower() for one in _LATIN.findall(read)]
        counts = {name: sum(one in known for one in words) for name, known in _TELLING.items()}
        best = max(counts, key=lambda name: counts[name])
        if counts[best] >= _SHARE * len(words):
            return best
        raise TableError("The text is in Latin letters, and reads as none of the languages known.", _NAMED)
    if script == "Han" and count:
        raise TableError("The text is in Chinese characters without kana, so it may be Chinese.", _NAMED)
    raise TableError(f"The text is in {script if count else 'unknown'} letters.", _NAMED)
