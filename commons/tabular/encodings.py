"""Character encodings: whether there is one of a name, and which one a file is likely to be in."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

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
_SMALL: Final = frozenset("äöüßéèêëàâáãåæøœçñîïíìôóòõûùú\u2019")
"""What stands before small letters within words; a text read wrongly has capitals and signs there."""
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


def guess_encoding(blocks: Iterable[bytes]) -> str:
    """The likeliest encoding of a text: by its mark, by where zeros stand in its beginning, else by trial.

    A fault may stand far below: of UTF-8, EUC-JP, Shift_JIS (`cp932`), cp1252 and latin-1 the first is chosen
    that all blocks are in, of the Japanese ones if what they make of the text looks like Japanese. cp850 and
    Mac Roman stand for cp1252 and latin-1 where most characters within words are small accented letters in
    them, and few are in cp1252.

    Args:
        blocks: the bytes of the text, or of its beginning, in pieces.
    """
    pieces: Iterator[bytes] = iter(blocks)
    start = next(pieces, b"")
    if (wide := _wide(start)) is not None:
        return wide
    utf8, is_cp1252 = _Trial("utf-8"), True
    japanese = [_Trial(name) for name in _JAPANESE]
    within: Counter[bytes] = Counter()
    for piece in chain((start,), pieces):
        if any(shift in piece for shift in _SHIFTS):
            return "iso2022_jp"
        for trial in (utf8, *japanese):
            trial.read(piece)
        is_cp1252 = is_cp1252 and _decodes(codecs.getincrementaldecoder("cp1252")(), piece)
        if within.total() < _ENOUGH:
            within.update(_WITHIN_WORDS.findall(piece))
    if utf8.fits:
        return "utf-8"
    found = next((trial.encoding for trial in japanese if trial.fits and trial.reads_as_japanese), None)
    return found or _western(within) or ("cp1252" if is_cp1252 else "latin-1")


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
        self._foreign = self._japanese = 0

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

    @property
    def reads_as_japanese(self) -> bool:
        """Whether most characters beyond ASCII are kana and kanji, as they stand in Japanese."""
        return self._japanese >= _PLAUSIBLE * self._foreign > 0


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
