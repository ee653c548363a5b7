"""Character encodings: whether there is one of a name, and which one a file is likely to be in."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple

_JAPANESE: Final = ("euc-jp", "cp932")
"""The stricter first: what is Shift_JIS is hardly ever EUC-JP too."""
_SHIFTS: Final = (b"\x1b$B", b"\x1b$@")
"""Where ISO-2022-JP, all of whose bytes are those of ASCII, begins Japanese characters."""
_RUN: Final = re.compile(r"(?<![A-Za-z])[^\x00-\x7f]+(?![A-Za-z])|[^\x00-\x7f]{2,}")
"""Characters beside each other. `K\u00f6ln` read as Japanese has single ones between Latin letters."""
_LETTERS: Final = re.compile(r"[\u3001-\u30ff\u4e00-\u9fff\uff01-\uff9f]")
_WESTERN: Final = ("cp850", "mac-roman")
"""Of old programs for DOS and for the Macintosh. Every byte is a character in them, so only what they make of
a text tells."""
_WITHIN_WORDS: Final = re.compile(rb"(?<=[A-Za-z])[\x80-\xff](?=[a-z])")
_BESIDE_LETTERS: Final = re.compile(rb"(?<=[A-Za-z\x80-\xff])[\x80-\xff](?=[a-z\x80-\xff])")
_SMALL: Final = frozenset("äöüßéèêëàâáãåæøœçñîïíìôóòõûùú\u2019")
"""What stands before small letters within words; a text read wrongly has capitals and signs there."""
_WITHIN: Final = frozenset("\u2019\u00b4\u00b7\u2013\u00ad\u00a0")
"""Signs that stand between letters in western texts: apostrophes, points, dashes and blanks."""
_STRANGE: Final = (
    ("ðþý", "áéíóúæ", ""),  # Turkish and Romanian; Icelandic has the others as well
    ("ìùò", "à", ""),  # Czech; in Italian they end words, and Gaelic and Catalan have the other too
    ("ø", "æå", "íýìù"),  # Czech; Danish has none of the last
    ("õû", "ãçâêîèàä", ""),  # Hungarian; Portuguese, French and Estonian have others
)
"""Letters within words that cp1252 makes of other encodings, those that would stand beside them if it were
right, a fourth as many at least, and those of which there must be so many."""
_SOME_LETTERS: Final = 3
_STRINGS: Final = re.compile(rb"[\x80-\xff]{3,}")
"""Western languages have no three such bytes beside each other; other scripts have words of them."""
_KANA: Final = re.compile(r"[\u3041-\u309f\u30a1-\u30ff]")
_MIXED: Final = re.compile(
    r"[\uff66-\uff9f][\u4e00-\u9fff]|[\u4e00-\u9fff][\uff66-\uff9f]|(?<![\uff73\uff76-\uff84\uff8a-\uff8e])[\uff9e\uff9f]"
)
"""Half-width kana beside kanji, or with marks that they cannot have: other bytes that were read as cp932."""
_KANJI: Final = re.compile(r"[\u4e00-\u9fff]")
_ASCII: Final = bytes(range(128))
_COMMON_KANJI: Final = 0xD0
"""The first byte in EUC-JP from which on kanji are rare in Japanese. Of Chinese texts a fourth lies there."""
_HANGUL: Final = 0xC8
"""The first byte in EUC-KR up to which it has hangul; Japanese has many kanji beyond it."""
_RARE: Final = 0.08
_SOME: Final = 0.1
_PLAUSIBLE: Final = 0.8
_CLEARLY: Final = 0.6
_ENOUGH: Final = 100_000
"""So many characters tell whether a text is Japanese; whether it can be decoded all of it tells."""


def is_encoding(name: str) -> bool:
    """Whether Python knows an encoding of texts by a name."""
    try:
        return codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):
        return False


def is_same(name: str, other: str) -> bool:
    """Whether two names are of one encoding."""
    return codecs.lookup(name).name == codecs.lookup(other).name


class Guess(NamedTuple):
    """What a text seems to be encoded in.

    Attributes:
        encoding: by a name that Python knows.
        is_doubtful: whether it was taken for want of a better one, and what it makes of the text does not
            look like one: it may be Chinese, Korean, Cyrillic, or another that nothing tells surely.
    """

    encoding: str
    is_doubtful: bool = False

    @property
    def doubt(self) -> str:
        """For people what to do where it is doubtful; empty where it is not."""
        if not self.is_doubtful:
            return ""
        return (
            f"The file is read as {self.encoding}, which is a guess, and its texts do not look like it: "
            "names in it may go unrecognized. Look at them, and name what the file is in by --encoding, such "
            "as gb18030, big5, cp949, cp1251, cp1250 or cp1254."
        )


def guess_encoding(blocks: Iterable[bytes]) -> Guess:
    """The likeliest encoding of a text: by its mark, by where zeros stand in its beginning, else by trial.

    A fault may stand far below: of UTF-8, EUC-JP, Shift_JIS (`cp932`), cp1252 and latin-1 the first is chosen
    that all blocks are in, of the Japanese ones if what they make of the text looks like Japanese. cp850 and
    Mac Roman stand for cp1252 and latin-1 where most characters within words are small accented letters in
    them, and few are in cp1252. A guess is doubtful where what it makes of the text is hardly western: words
    of characters beyond ASCII alone, signs within words, or letters of Iceland or Denmark without the
    others; or hardly Japanese: no kana, and other kanji than Japanese mostly has.

    Args:
        blocks: the bytes of the text, or of its beginning, in pieces.
    """
    pieces: Iterator[bytes] = iter(blocks)
    start = next(pieces, b"")
    if (wide := _wide(start)) is not None:
        return Guess(wide)
    utf8, is_cp1252 = _Trial("utf-8"), True
    japanese = [_Trial(name) for name in _JAPANESE]
    within: Counter[bytes] = Counter()
    beside: Counter[bytes] = Counter()
    strings = foreign = 0
    for piece in chain((start,), pieces):
        if any(shift in piece for shift in _SHIFTS):
            return Guess("iso2022_jp")
        for trial in (utf8, *japanese):
            trial.read(piece)
        is_cp1252 = is_cp1252 and _decodes(codecs.getincrementaldecoder("cp1252")(), piece)
        if within.total() < _ENOUGH:
            within.update(_WITHIN_WORDS.findall(piece))
        if foreign < _ENOUGH:
            foreign += len(piece.translate(None, _ASCII))
            strings += sum(map(len, _STRINGS.findall(piece)))
            beside.update(_BESIDE_LETTERS.findall(piece))
    if utf8.fits:
        return Guess("utf-8")
    found = next((trial for trial in japanese if trial.fits and trial.reads_as_japanese), None)
    if found is not None:
        return Guess(found.encoding, found.is_doubtful)
    if (old := _western(within)) is not None:
        return Guess(old)
    name = "cp1252" if is_cp1252 else "latin-1"
    return Guess(
        name, name == "latin-1" or strings > _SOME * foreign or _has_signs(beside) or _is_strange(beside)
    )


def _has_signs(beside: Counter[bytes]) -> bool:
    """Whether many characters within words, read as cp1252, are neither letters nor what stands there."""
    letters = {byte: byte.decode("cp1252", "ignore") or "?" for byte in beside}
    signs = [
        byte
        for byte, sign in letters.items()
        if unicodedata.category(sign) not in ("Ll", "Lu") and sign not in _WITHIN
    ]
    return sum(beside[byte] for byte in signs) > _RARE * beside.total()


def _is_strange(beside: Counter[bytes]) -> bool:
    """Whether letters within words, read as cp1252, are those that other encodings have there."""
    letters: Counter[str] = Counter()
    for byte, count in beside.items():
        letters[byte.decode("cp1252", "ignore")] += count

    def count_of(some: str) -> int:
        return sum(letters[one] for one in some)

    return any(
        count_of(told) >= max(_SOME_LETTERS, _RARE * letters.total())
        and count_of(told) > 4 * count_of(others)
        and (not beside_them or 4 * count_of(beside_them) >= count_of(told))
        for told, others, beside_them in _STRANGE
    )


def _western(within: Counter[bytes]) -> str | None:
    """Which old western encoding makes small letters of the bytes within words; None where cp1252 does."""

    def share(encoding: str) -> float:
        fitting = sum(count for byte, count in within.items() if byte.decode(encoding, "ignore") in _SMALL)
        return fitting / max(1, within.total())

    best = max(_WESTERN, key=share)
    return best if share(best) - share("cp1252") > _CLEARLY else None


class _Trial:
    """Whether a text that comes in pieces can be in an encoding, and whether it is Japanese then.

    Args:
        encoding: by a name that Python knows.
    """

    def __init__(self, encoding: str) -> None:
        self.encoding: Final = encoding
        self.fits = True
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._foreign = self._japanese = self._kana = self._mixed = 0
        self._kanji: Counter[int] = Counter()  # by their first byte

    def read(self, piece: bytes) -> None:
        """Go on with the next piece."""
        if not self.fits:
            return
        try:
            text = self._decoder.decode(piece)
        except UnicodeDecodeError:
            self.fits = False
            return
        if self._foreign < _ENOUGH and not text.isascii():
            self._foreign += len(text) - len(text.encode("ascii", "ignore"))
            self._japanese += sum(len(_LETTERS.findall(run)) for run in _RUN.findall(text))
            self._kana += len(_KANA.findall(text))
            self._mixed += len(_MIXED.findall(text))
            if self.encoding == "euc-jp":
                self._kanji.update(kanji.encode("euc-jp")[0] for kanji in _KANJI.findall(text))

    @property
    def reads_as_japanese(self) -> bool:
        """Whether most characters beyond ASCII are kana and kanji, as they stand in Japanese."""
        return self._japanese >= _PLAUSIBLE * self._foreign > 0

    @property
    def is_doubtful(self) -> bool:
        """Whether there are no kana, and the characters stand as those of Chinese or Korean do, read so."""
        if self._kana:
            return False
        rare = sum(count for first, count in self._kanji.items() if first >= _COMMON_KANJI)
        is_korean = bool(self._kanji) and max(self._kanji) <= _HANGUL
        return is_korean or rare > _RARE * self._kanji.total() or self._mixed > _RARE * self._japanese


def _wide(start: bytes) -> str | None:
    """The encoding of a text in which every character takes two bytes or four; None for others."""
    if start[:4] in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):  # the first begins like a mark of UTF-16
        return "utf-32"
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    first, second, third, fourth = (start[place::4].count(0) for place in range(4))
    if max(first + second, third + fourth) > 0.45 * len(start):  # characters beyond U+FFFF are rare
        return "utf-32-le" if third + fourth > first + second else "utf-32-be"
    if max(first + third, second + fourth) > len(start) / 8:
        return "utf-16-le" if second + fourth > first + third else "utf-16-be"
    return None


def _decodes(decoder: codecs.IncrementalDecoder, piece: bytes) -> bool:
    try:
        decoder.decode(piece)
    except UnicodeDecodeError:
        return False
    return True
