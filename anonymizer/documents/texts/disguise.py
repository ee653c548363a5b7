"""Texts as they would be without disguises, with the place of every character in the original.

A name that is spaced, parted by a hyphen at the end of a line, written with characters of no width, with
letters of another script, or misread by a scanner is the same name to a reader. Rules and gates look at
`undisguise` texts alone, so that what the one finds the other finds. `skeleton` goes further: words that
scanners confuse are one word. It is for comparing with words that are known, not for reading.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from anonymizer.documents.texts.text import UNSEEN, Span, fold

_COMPATIBLE: Final = re.compile(
    "[\u00a0\u00aa\u00ba\u2000-\u200a\u202f\u205f\u2100-\u2188\u2f00-\u2fdf\u3000\u32ff-\u33ff\uf900-\ufaff\ufb00-\ufb06"
    "\ufe30-\ufe6f\uff01-\uffee\U0001d400-\U0001d7ff\U0001f100-\U0001f189\U0002f800-\U0002fa1f]"
)
"""What is another form of common characters: full and half width, ligatures, letters of mathematics. Not
superscripts and fractions, which say something of their own."""

_SELECTORS: Final = "\u034f\u180b-\u180d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_HIDDEN: Final = re.compile(f"{UNSEEN}|[{_SELECTORS}]")
_CLUSTER: Final = re.compile("[^\\W\\d_][\u0300-\u036f\u3099\u309a]+")

_ALIKE: Final = str.maketrans(
    "АВЕЅІЈКМНОРСТХҮҺԚԜаеіјкорсухѕһԁԛԝѵүΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυχοօոսհցꞵɑɡɩ",
    "ABESIJKMHOPCTXYHQWaeijkopcyxshdqwvyABEZHIKMNOPTYXaikvopuxoonuhgBagi",
)
"""Letters of Cyrillic, Greek and Armenian that look like Latin ones (Unicode, UTS 39, confusables)."""

_RUN: Final = re.compile(r"[^\W_]+")
_WORD: Final = re.compile(r"[^\W\d_]+")
_CAPITALS: Final = re.compile(
    r"(?<![\w'’.-])[A-ZÀ-ÖØ-ÞŒŸ][A-ZÀ-ÖØ-ÞŒŸ'’.-]*(?:,?[^\S\n][A-ZÀ-ÖØ-ÞŒŸ][A-ZÀ-ÖØ-ÞŒŸ'’.-]*)+(?!\w)"
)
"""Words in capitals beside each other."""
_FOREIGN: Final = re.compile("[\u0370-\u052f\u0531-\u0587\ua7b5\u0251\u0261\u0269]")
_PARTED: Final = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010\u2011][^\S\n]*\n[^\S\n]*(?=[^\W\d_])")
_PARTED_CODE: Final = re.compile(r"(?<=[-/])[^\S\n]*\n[^\S\n]*(?=\d)")
_HAN: Final = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_SPACED: Final = re.compile(r"(?<!\w)[\w+@](?: {1,4}[^\s]){2,80}(?!\w)")
_DOTTED: Final = re.compile(r"(?<![\w'’])[^\W_](?P<sep>[.·*_-])(?:[^\W_](?P=sep)){1,60}[^\W_](?![\w'’])")
_SPACED_HAN: Final = re.compile(
    rf"(?:(?!名 )[{_HAN}]|(?<![A-Za-z\d])[A-Za-z\d])(?: {{1,4}}[{_HAN}A-Za-z\d/-]){{2,60}}(?![A-Za-z\d])"
    rf"|(?:(?<![\w々])|(?<=[のはがとをにも]))[々\u4e00-\u9fff] [々\u4e00-\u9fff]"
)
_EMPHASIS: Final = re.compile(r"(?<=[^\W\d_])(?:\*{2,3}|~~)(?=[^\W\d_])")
"""Marks of Markdown inside a word."""
_WIDE_GAP: Final = re.compile(rf"(?<=[{_HAN}]) {{2,4}}(?=[{_HAN}])")
_BLANKS: Final = re.compile(" +")
_MIXED: Final = re.compile(
    r"(?<![^\W_])(?=[^\W_]{0,40}[015358|])(?=[\d|]{0,40}[^\W\d_])[^\W_|][^\W_]{2,40}(?![^\W_])"
)
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f]")
_LIKE_DIGIT: Final = r"(?:[\dOolISB]|(?<=\S)\||\|(?=\S))"
"""A bar between blanks parts cells."""
_READ: Final = re.compile(
    rf"(?<![A-Za-z\d\u00c0-\u024f]){_LIKE_DIGIT}+(?:(?:[-/.]| (?=[OolISB|]{{0,4}}\d)){_LIKE_DIGIT}+)*"
    r"(?![A-Za-z\d\u00c0-\u024f])"
    r"|(?<=[A-Z])(?<![a-z][A-Z])\d[\dOolI]{5,14}(?![A-Za-z\d])"
)
_CAPITAL_I: Final = re.compile(r"(?<=[a-z])(?:I(?=[a-z])|\|)")
_AMONG_DIGITS: Final = re.compile(
    r"(?:(?<=\d)|(?<=[A-Z])(?=l\d)|(?<![A-Za-z\d])(?=.\d\d))[lIO](?=\d)|(?<=\d\d)[lO](?![A-Za-z\d\u00c0-\u024f])"
)
_SMALL_L: Final = re.compile(r"(?<=[A-Z\u00c0-\u00de])l(?=[A-Z\u00c0-\u00de])")
_LETTER: Final = str.maketrans("0153", "olse")
_DIGIT: Final = str.maketrans("OolI|SB", "0011158")
_KANA: Final = re.compile("[ァ-ヴー力口二八工夕卜一]{3,20}")
_KANA_ALIKE: Final = str.maketrans("力口二八工夕卜一", "カロニハエタトー")
_SHORTEST: Final = 5
"""Letters of a word from which scanners' confusions of pairs of letters are looked at: torn is not Tom."""

_RULED: Final = frozenset(
    {
        *(
            "november",
            "september",
            "december",
            "dezember",
            "septembre",
            "novembre",
            "décembre",
            "march",
            "may",
        ),
        *("mai", "mars", "number", "name", "nummer", "member", "mobile", "mother", "mutter"),
        *("mr", "mrs", "miss", "mme", "madame", "monsieur"),
    }
)
"""Words of rules in which scanners read rn for m."""


@dataclass(frozen=True, slots=True)
class Undisguised:
    """A text without disguises.

    Attributes:
        text: it.
        starts: for each of its characters, the first one of the original that it stands for.
        ends: for each the one after the last.
    """

    text: str = field(repr=False)
    starts: tuple[int, ...] = field(repr=False)
    ends: tuple[int, ...] = field(repr=False)

    def span(self, start: int, end: int) -> Span:
        """Where characters of this text stand in the original; start lies before end."""
        return self.starts[start], self.ends[end - 1]

    def within(self, start: int, end: int) -> Span:
        """Which characters of this text stand for some of the original, or for a part of them.

        Empty where they are left out.
        """
        return bisect_right(self.ends, start), bisect_left(self.starts, end)


def as_typed(text: str) -> Undisguised:
    """A text without the disguises of a writer; what scanners may have misread stays as it is."""
    found = Undisguised(text, tuple(range(len(text))), tuple(range(1, len(text) + 1)))
    for step in (_characters, _composed, _scripts, _lines, _letters):
        found = edit_undisguised(found, step(found.text))
    return found


def undisguise(text: str) -> Undisguised:
    """A text as a reader takes it; itself where nothing is disguised."""
    return as_scanned(as_typed(text))


def as_scanned(typed: Undisguised) -> Undisguised:
    """A text in which what scanners misread is read as it was written.

    A letter may be meant among digits, too (S42.11.3 is a day of the era Showa): who looks for forms should
    look at both texts.

    Args:
        typed: the text without other disguises.
    """
    return edit_undisguised(typed, _scanned(typed.text))


def in_title_case(text: str) -> str:
    """A text, as long, in which words in capitals beside each other have one: FRAU WEISS is Frau Weiss."""
    if not _CAPITALS.search(text):
        return text
    return _CAPITALS.sub(lambda run: _WORD.sub(lambda word: _titled(word[0]), run[0]), text)


def _titled(word: str) -> str:
    small = word[0] + word[1:].lower()
    return small if len(small) == len(word) else word


def skeleton(text: str) -> str:
    """A text folded, in which words that scanners confuse are the same (see `bones`)."""
    return _RUN.sub(lambda match: bones(match[0]), fold(text))


def bones(word: str) -> str:
    """A word, the same for all words that scanners confuse with it, whatever its case.

    Numbers stay as they are. Of words of five letters or more rn is m, vv is w, and I or l begin them alike.
    """
    if word.isdigit() or not word.isascii():
        return word
    word = word.replace("0", "o").replace("1", "l")
    if len(word) < _SHORTEST:
        return word
    head = "l" if word[0] in "iI" else word[0]
    return head + word[1:].replace("rn", "m").replace("vv", "w")


Edit = tuple[int, int, str]


def edit_undisguised(given: Undisguised, edits: Iterable[Edit]) -> Undisguised:
    """A text with some characters exchanged; what is written stands for all that it replaces.

    Args:
        given: the text.
        edits: first character, the one after the last, and what is written there; without overlaps.
    """
    made = sorted(edits)
    if not made:
        return given
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for low, high, new in (*made, (len(given.text), len(given.text), "")):
        parts += [given.text[at:low], new]
        starts += [*given.starts[at:low], *([given.starts[low]] * len(new) if new else ())]
        ends += [*given.ends[at:low], *([given.ends[high - 1]] * len(new) if new else ())]
        at = high
    return Undisguised("".join(parts), tuple(starts), tuple(ends))


def _characters(text: str) -> list[Edit]:
    """Characters without width, and those that are other forms of common ones."""
    if text.isascii():
        return []
    hidden = [(*one.span(), "") for one in _HIDDEN.finditer(text)]
    return hidden + [
        (*one.span(), unicodedata.normalize("NFKC", one[0]))
        for one in _COMPATIBLE.finditer(text)
        if unicodedata.normalize("NFKC", one[0]) != one[0]
    ]


def _composed(text: str) -> list[Edit]:
    """Letters with marks that combine."""
    if text.isascii():
        return []
    return [(*one.span(), unicodedata.normalize("NFC", one[0])) for one in _CLUSTER.finditer(text)]


def _scripts(text: str) -> list[Edit]:
    """Letters of other scripts in words of which every letter looks like a Latin one."""
    if text.isascii():
        return []
    edits = []
    for word in _WORD.finditer(text):
        latin = word[0].translate(_ALIKE)
        if latin != word[0] and not _FOREIGN.search(latin) and _LATIN.search(latin):
            changed = zip(word[0], latin, strict=True)
            edits += [
                (word.start() + at, word.start() + at + 1, new)
                for at, (old, new) in enumerate(changed)
                if old != new
            ]
    return edits


def _lines(text: str) -> list[Edit]:
    """Hyphens at the ends of lines; before a capital letter the hyphen stays."""
    parted = [(*one.span(), _kept(text, *one.span())) for one in _PARTED.finditer(text)]
    return parted + [(*one.span(), "") for one in _PARTED_CODE.finditer(text)]


def _kept(text: str, start: int, end: int) -> str:
    return "-" if text[end].isupper() and not text[start - 1].isupper() else ""


def _letters(text: str) -> list[Edit]:
    """Signs between single letters or of Markdown, and all but one of the blanks between spaced words.

    Where only one blank stands between all letters, that before a capital letter stays, as it parts words.
    """
    edits: dict[Edit, None] = {(*one.span(), ""): None for one in _EMPHASIS.finditer(text)}
    for one in _SPACED.finditer(text):
        if _is_spaced(one[0].split()):
            edits |= dict.fromkeys(_closed(text, one.start(), one.end()))
    for one in _DOTTED.finditer(text):
        if any(map(str.islower, one[0][2::2])):
            edits |= {(at, at + 1, ""): None for at in range(one.start() + 1, one.end(), 2)}
    if not text.isascii():
        for one in _SPACED_HAN.finditer(text):
            edits |= dict.fromkeys(_closed(text, one.start(), one.end()))
        edits |= {(one.start() + 1, one.end(), ""): None for one in _WIDE_GAP.finditer(text)}
    return list(edits)


def _is_spaced(items: Sequence[str]) -> bool:
    """Whether single characters are words with blanks between their letters, rather than a list."""
    if len(items) > 3 and all(one.isupper() if at % 2 == 0 else one == "." for at, one in enumerate(items)):
        return True
    letters = sum(map(str.isalpha, items))
    alone = sum(map(str.isalnum, items))
    return alone >= 3 and (letters >= 3 or alone >= 6) and any(map(str.islower, items)) | (alone >= 4)


def _closed(text: str, start: int, end: int) -> Iterator[Edit]:
    """The edits that take blanks out of a spaced phrase."""
    wide = "  " in text[start:end]
    for gap in _BLANKS.finditer(text, start, end):
        low, high = gap.span()
        parts = text[low - 1].islower() and text[high].isupper() and (not wide or low == start + 1)
        keep = 1 if parts or high - low > 1 else 0
        if high - low > keep:
            yield low + keep, high, ""


def _scanned(text: str) -> list[Edit]:
    """Digits in words, letters in numbers, and rn for m in words of rules, as scanners misread them."""
    edits: list[Edit] = []
    for one in _MIXED.finditer(text):
        new = _word_read(one[0])
        if new != one[0]:
            edits += _changed(one.start(), one[0], new)
    for one in _READ.finditer(text):
        digits = sum(map(str.isdigit, one[0]))
        if digits >= 3 and 2 * digits >= sum(map(str.isalnum, one[0])) and digits < len(one[0]):
            edits += _changed(one.start(), one[0], one[0].translate(_DIGIT))
    for one in _KANA.finditer(text):
        new = one[0].translate(_KANA_ALIKE)
        if sum(old != same for old, same in zip(one[0], new, strict=True)) * 2 < len(new):
            edits += _changed(one.start(), one[0], new)
    edits += [(*one.span(), "l") for one in _CAPITAL_I.finditer(text)]
    edits += [(*one.span(), one[0].translate(_DIGIT)) for one in _AMONG_DIGITS.finditer(text)]
    edits += [(*one.span(), "I") for one in _SMALL_L.finditer(text)]
    for one in _WORD.finditer(text):
        new = one[0].replace("rn", "m")
        if new != one[0] and new.lower() in _RULED:
            at = one.start() + one[0].index("rn")
            edits.append((at, at + 2, "m"))
    return list(dict.fromkeys(edits))


def _changed(start: int, old: str, new: str) -> list[Edit]:
    return [
        (start + at, start + at + 1, after)
        for at, (before, after) in enumerate(zip(old, new, strict=True))
        if before != after
    ]


def _word_read(word: str) -> str:
    """A word that was read with digits, or the word itself where it may be a code."""
    letters = sum(map(str.isalpha, word))
    digits = len(word) - letters
    small = sum(map(str.islower, word))
    if not word.isascii() and not _LATIN.search(word):
        return word
    if set(word) & set("246789") or letters < 3 or letters < digits or (small < 2 and letters < 3 * digits):
        return word
    if re.search(r"\d$", word) and not re.search(r"[a-z]{3}\d$", word):
        return word
    new = word.translate(_LETTER)
    if small < 2:
        return new.upper().replace("L", "I") if "1" in word and "L" not in word else new.upper()
    return (new[0].upper() if word[0].isdigit() else new[0]) + new[1:]
