"""Documents and their words, with the offsets that every later step keeps."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Final, Literal

Language = Literal["en", "ja", "de", "fr"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "ja", "de", "fr")

Tag = Literal["name", "person", "place", "noun", "number", "verb", "adjective", "function", "symbol"]
"""What kind of word it is. `name` is a proper noun of which no more is known; `function` words are articles,
prepositions, conjunctions, particles and the like."""

Span = tuple[int, int]
"""From a character of a text to before another, as in `text[start:end]`."""

TableSpans = tuple[tuple[Span, ...], ...]
"""Where the cells of a table stand, by rows; one that covers several columns is followed by empty ones."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word where it stands.

    Attributes:
        text: as it is written.
        lemma: its normal form, by which words are counted, compared and searched for; lower case.
        tag: its kind.
        start: its first character in the text of the document.
        end: the character after its last one.
    """

    text: str
    lemma: str
    tag: Tag
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class Document:
    """A text with a name.

    Attributes:
        name: the path below its folder, with "/" between the parts.
        text: what people read of it; never part of a repr, since it is confidential.
        tables: of its format, such as those of Word, where their cells stand in the text.
    """

    name: str
    text: str = field(repr=False)
    tables: tuple[TableSpans, ...] = field(default=(), repr=False)


_ACCENTS = re.compile("[\u0300-\u036f\u180b-\u180d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Combining marks of Latin, Greek and Cyrillic; the marks of kana are other ones, and tell か from が.
With them the selectors of variants, by which a kanji of a name may be written in another form."""

_LETTERS = str.maketrans(
    {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "ħ": "h", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
)
"""What people type for letters other than accented ones."""


UNSEEN: Final = (
    "[\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"
)
"""Characters of Unicode's category Cf, which format and are not seen, as a class of regular expressions."""

_HIDDEN: Final = re.compile(UNSEEN)


def fold(text: str) -> str:
    """A text as searches compare it.

    There are no differences of case, width and accents (Işık is Isik), and no characters that nobody sees.
    """
    if text.isascii():  # most words; nothing but the case can differ
        return text.lower()
    parted = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    seen = _HIDDEN.sub("", _ACCENTS.sub("", parted))
    return unicodedata.normalize("NFC", seen.translate(_LETTERS))
