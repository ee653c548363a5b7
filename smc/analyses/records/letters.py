"""What the same name is written with: alphabets, marks, widths, apostrophes and cases of Unicode.

Each function takes and gives a text in normal form C. Texts in other scripts than Latin, Greek and Cyrillic
keep their marks, which are vowels or consonants there: the Japanese ga is not ka, the Hindi Ram is not Rm.

Reference: Unicode Standard Annex 15 (normal forms) and Unicode Character Database; `transliterate`: the
transform de-ASCII of the Unicode CLDR, as far as it is about Latin letters, apostrophes and hyphens.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_MARKED_ALPHABETS: Final = ("LATIN ", "GREEK ", "CYRILLIC ")
_MODIFIED: Final = re.compile(r"LATIN (SMALL|CAPITAL) LETTER ([A-Z]) WITH .*")
_UMLAUT: Final = re.compile("([aouAOU])\u0308")
_DOT: Final = "\u0307"
_SPACING_MARK: Final = "<compat> 0020 0"
"""How decompositions of marks that stand alone begin: a blank that carries the mark."""

_APOSTROPHES: Final = "`\u00b4\u2018\u2019\u201b\u2032\u02b9\u02bb\u02bc\u02bd\u02be\u02bf\u055a\ua78c\uff07"
_HYPHENS: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_SOFT_HYPHEN: Final = "\u00ad"
_SPELT: Final = str.maketrans(
    {
        **dict.fromkeys(_APOSTROPHES, "'"),
        **dict.fromkeys(_HYPHENS, "-"),
        _SOFT_HYPHEN: "",
        "ß": "ss",
        "ẞ": "SS",
        "æ": "ae",
        "Æ": "Ae",
        "œ": "oe",
        "Œ": "Oe",
        "þ": "th",
        "Þ": "Th",
        "ð": "d",
        "Ð": "D",
        "ı": "i",
        "ĸ": "k",
        "ŋ": "n",
        "Ŋ": "N",
    }
)
_NO_LETTERS_OF_ENGLISH: Final = re.compile("[^a-z]+")


def narrow(text: str) -> str:
    """Compatibility forms become plain: full-width letters and digits, ligatures, superscripts (NFKC).

    Marks that stand alone, such as an acute accent for an apostrophe, stay.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", "".join(map(_narrow, text)))


def transliterate(text: str) -> str:
    """Latin letters beyond a to z are spelt out; apostrophes of all kinds become ', hyphens and dashes -.

    ä, ö, ü become ae, oe, ue, ß ss, æ ae, œ oe, þ th, and ø o, ł l, đ and ð d, ı i. Other accents stay.
    """
    text = text.translate(_SPELT)
    if text.isascii():
        return text
    apart = _UMLAUT.sub(r"\1e", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", "".join(map(_strip_modifier, apart)))


def remove_marks(text: str) -> str:
    """Letters of the Latin, Greek and Cyrillic alphabets lose their marks."""
    if text.isascii():
        return text
    kept, marked = [], False
    for character in unicodedata.normalize("NFD", text):
        if not unicodedata.combining(character):
            marked = _has_marks(character)
        elif marked:
            continue
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept))


def fold_case(text: str) -> str:
    """Upper and lower case become the same (case folding); the dot of a Turkish capital I is the i's own."""
    folded = text.casefold()
    return folded if text.isascii() else folded.replace("i" + _DOT, "i")


def letters(text: str) -> str:
    """Letters alone, with the marks that belong to them, such as the vowel signs of Indic scripts."""
    kept, of_letter = [], False
    for character in text:
        kind = unicodedata.category(character)
        of_letter = kind[0] == "L" or (of_letter and kind in ("Mn", "Mc"))
        if of_letter:
            kept.append(character)
    return "".join(kept)


def digits(text: str) -> str:
    """Decimal digits alone, those of all scripts and widths as 0 to 9."""
    if text.isascii():
        return "".join(filter(str.isdigit, text))
    return "".join(str(unicodedata.decimal(character)) for character in text if character.isdecimal())


def spell(text: str) -> str:
    """The letters from a to z of a name that is transliterated, without accents and case."""
    return _NO_LETTERS_OF_ENGLISH.sub("", fold_case(remove_marks(transliterate(narrow(text)))))


@lru_cache(maxsize=1 << 12)
def _has_marks(character: str) -> bool:
    return unicodedata.name(character, "").startswith(_MARKED_ALPHABETS)


@lru_cache(maxsize=1 << 12)
def _narrow(character: str) -> str:
    if unicodedata.decomposition(character).startswith(_SPACING_MARK):
        return character
    return unicodedata.normalize("NFKC", character)


@lru_cache(maxsize=1 << 12)
def _strip_modifier(character: str) -> str:
    """The letter that a stroke, a hook or the like was added to, where Unicode does not take them apart."""
    match = _MODIFIED.fullmatch(unicodedata.name(character, ""))
    if match is None:
        return character
    return match[2] if match[1] == "CAPITAL" else match[2].lower()
