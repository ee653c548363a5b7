"""Which language a text is in, by its scripts and the share of words that every text has."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final

from anonymizer.documents.languages.english import English
from anonymizer.documents.languages.european import European
from anonymizer.documents.languages.japanese import Japanese
from anonymizer.documents.languages.tagger import Tagger
from anonymizer.documents.languages.vocabulary import TELLING, TELLING_FRENCH, TELLING_GERMAN
from anonymizer.documents.texts.text import LANGUAGES, Language
from anonymizer.errors import TableError
from commons.tabular.column_names import folded, label_words

_TAGGERS: Final[dict[str, Callable[[], Tagger]]] = {
    "en": English,
    "ja": Japanese,
    "de": lambda: European("de"),
    "fr": lambda: European("fr"),
}
_TELLING: Final[dict[Language, frozenset[str]]] = {"en": TELLING, "de": TELLING_GERMAN, "fr": TELLING_FRENCH}
_KNOWN: Final = 'Known are English ("en"), Japanese ("ja"), German ("de") and French ("fr").'
_NAMED: Final = f"{_KNOWN} Name the language if it is one of them, or take the document out."
_OTHERWISE: Final = 'Write language = "auto", or name the language of this document if it is another.'
_CALLED: Final[dict[str, str]] = {"en": "English", "ja": "Japanese", "de": "German", "fr": "French"}
_READ: Final = 50_000
"""So many characters are looked at."""
_SHARE: Final = 0.08
"""Of all words."""
_FEWEST: Final = 3
_LONG: Final = 4
_OTHERS: Final[dict[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "ca": "amb els les per una que del és va dels seva seu als però molt",
        "cs": "je se na že není byl byla která který jsem ve pro nebo jako",
        "da": "og det ikke på af til som blev hun med jeg efter også hos",
        "es": "el los las del que por con una su fue como nació está para al lo más pero sus",
        "fi": "ja ei että oli hän mutta myös ovat kun hänen",
        "hu": "és az hogy nem egy volt van meg csak mint",
        "it": "il che della dello una con non del nel gli alla sono è di dei delle nella dal stato",
        "nl": "het een van niet dat zijn werd heeft hij wij met voor bij naar ook haar",
        "pl": "nie się na jest że po był była oraz dla przez jego jej został",
        "pt": "os uma não com para foi ao dos das em por mais seu sua também pelo",
        "ro": "și în cu pe nu este fost din care pentru sau lui",
        "sv": "och det inte på som att är av till hon från blev efter hos",
        "tr": "ve bir bu için ile olarak ancak daha gibi sonra olan",
    }.items()
}
"""Function words of languages that are not read."""
_OTHERS_CALLED: Final = {
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish or Norwegian",
    "es": "Spanish",
    "fi": "Finnish",
    "hu": "Hungarian",
    "it": "Italian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "sv": "Swedish",
    "tr": "Turkish",
}
_OTHERS_SHARE: Final = 0.04
_SHORT: Final = 200
"""Words of a text that may tell no language: more of them without function words are in none that is read."""
_CLEARLY: Final = 2
_KANA_SHARE: Final = 0.05
_SIMPLIFIED: Final = frozenset(
    "検圧頼歳県駅読売発単労薬応関険経済気収験権広込働辺畑塩桜沢渋斎児図団対従歩円帰荘粋続総聴"
    "転鉄徳専銭戦様齢舎釈実獣処渉焼奨畳縄剰譲醸酔瀬雑蔵臓滝択抜仏払変歴楽"
)
"""Characters that are written so in Japanese alone; forms have little kana."""
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


class LanguageError(TableError):
    """A text is in no language that is known, or not in the one that it is said to be in."""


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
        return _loaded(detect(text))
    if language not in LANGUAGES:
        raise TableError(f"The language {language!r} is not known.", _KNOWN)
    return _loaded(language)


@cache
def _loaded(language: str) -> Tagger:
    return _TAGGERS[language]()


class UntoldLanguageError(LanguageError):
    """A short text in Latin letters tells no language, be it read or not."""


def tells(text: str, language: Language) -> bool:
    """Whether a text reads as one in a language by itself."""
    try:
        return detect(text) == language
    except TableError:
        return False


def check_language(text: str, language: str) -> None:
    """Check that a text is not in another language than it is said to be in: its names would not be found.

    Raises:
        LanguageError: it is in letters of another language, or reads as another, read or not, with twice as
            many of its function words.
    """
    check_readable(text, language)
    try:
        found = detect(text)
    except TableError:
        return
    counts = _told(text[:_READ])
    own = next((count for name, count in counts.items() if name == language), 0)
    is_clear = "ja" in (found, language) or counts[found] >= _CLEARLY * own
    if found != language and is_clear:
        raise LanguageError(
            f"The text reads as {_CALLED[found]}, and language says {language!r} of all documents.",
            _OTHERWISE,
        )


def check_readable(text: str, language: str) -> None:
    """Check that a text can be in a language by its letters, and does not read as one that is not read.

    Raises:
        LanguageError: see `check_script`; or it has twice as many function words of another language.
    """
    check_script(text, language)
    if language == "ja":
        return
    other = _not_read(text[:_READ], next(n for name, n in _told(text[:_READ]).items() if name == language))
    if other is not None:
        raise LanguageError(
            f"The text reads as {_OTHERS_CALLED[other]}, which is not read, and is said to be "
            f"{_CALLED[language]}.",
            "Take the document out: its names would not be found.",
        )


def check_script(text: str, language: str) -> None:
    """Check that a text can be in a language by its letters.

    Raises:
        LanguageError: most of them are of another script; to Japanese, there is neither kana nor kanji.
    """
    letters = _letters(text)
    asian = letters["kana"] + letters["Han"]
    fits = asian > 0 if language == "ja" else 2 * letters["Latin"] >= letters.total()
    if letters.total() and not fits:
        script = letters.most_common(1)[0][0]
        raise LanguageError(
            f"The text is in {script} letters, and is said to be {_CALLED[language]}.",
            _OTHERWISE,
        )


def detect(text: str) -> Language:
    """The language of a text.

    Japanese has kana beside Chinese characters, or characters that are simplified as in Japanese alone. In
    a language of Latin letters at least 8 words in 100 are among its common function words (English court
    cases have 26 to 38), and more than of any other. Forms and statements have few of these: there words
    count, too, that fields are called in it and in no other language, and there must be twice as many as of
    any other.

    Raises:
        TableError: the text has no letters.
        LanguageError: it is in a language that is not known.
    """
    read = text[:_READ]
    letters = _letters(read)
    if not any(one.isalpha() for one in text):
        raise TableError("The text has no letters.", "Take the document out: there is nothing to sanitize.")
    script, count = letters.most_common(1)[0]
    asian = letters["kana"] + letters["Han"]
    has_kana = letters["kana"] >= max(1, _KANA_SHARE * asian)
    if asian * 2 >= letters.total() and (has_kana or len(_SIMPLIFIED & set(read)) >= _CLEARLY):
        return "ja"
    if script == "Latin" and count:
        words = [one.lower() for one in _LATIN.findall(read)]
        counts = _told(read)
        best = max(counts, key=lambda name: counts[name])
        if counts[best] >= _SHARE * len(words):
            return best
        form = _of_a_form(words, counts)
        if form is not None:
            return form
        untold = len(words) <= _SHORT and _not_read(read, max(counts.values())) is None
        raise (UntoldLanguageError if untold else LanguageError)(
            "The text is in Latin letters, and reads as none of the languages known.", _NAMED
        )
    if script == "Han" and count:
        raise LanguageError("The text is in Chinese characters without kana, so it may be Chinese.", _NAMED)
    raise LanguageError(f"The text is in {script if count else 'unknown'} letters.", _NAMED)


def _letters(text: str) -> Counter[str]:
    """How many letters of each script are in the beginning of a text."""
    return Counter({name: len(pattern.findall(text, 0, _READ)) for name, pattern in _SCRIPTS.items()})


def _told(text: str) -> dict[Language, int]:
    """How many function words of each language of Latin letters a text has."""
    words = [one.lower() for one in _LATIN.findall(text)]
    return {name: sum(one in known for one in words) for name, known in _TELLING.items()}


def _not_read(text: str, own: int) -> str | None:
    """The language that is not read in which a text clearly is; None if there is none.

    Args:
        text: its beginning.
        own: how many function words of a language that is read it has.
    """
    words = Counter(one.lower() for one in _LATIN.findall(text))
    counts = {name: sum(words[word] for word in known) for name, known in _OTHERS.items()}
    best = max(counts, key=lambda name: counts[name])
    enough = max(_FEWEST, _CLEARLY * own, _OTHERS_SHARE * words.total())
    return best if counts[best] >= enough else None


def _of_a_form(words: Sequence[str], counts: Mapping[Language, int]) -> Language | None:
    """The language of a text without sentences, by function words and words of fields; None if unclear."""
    said = [folded(word) for word in words]
    found: Counter[str] = Counter()
    for name, own in _field_words().items():
        found[name] += sum(word in own for word in said)
    for known, count in counts.items():
        found[known] += count
    [(best, most), *others] = found.most_common()
    enough = most >= max(_FEWEST, _SHARE * len(words)) and all(most >= _CLEARLY * one for _, one in others)
    return next((name for name in _TELLING if name == best), None) if enough else None


@cache
def _field_words() -> Mapping[str, frozenset[str]]:
    """Words of fields, forms of address, professions and months, that one language has and no other."""
    words = {language: {*own, *_OTHERS.get(language, ())} for language, own in label_words().items()}
    for language in _TELLING:
        path = resources.files("anonymizer.documents.direct.languages").joinpath(f"{language}.toml")
        lists = tomllib.loads(path.read_text(encoding="utf-8"))["words"]
        words[language] |= {
            folded(word) for own in lists.values() for word in own if word.isalpha() and len(word) >= _LONG
        }
    return {
        language: frozenset(own.difference(*(others for name, others in words.items() if name != language)))
        for language, own in words.items()
    }
