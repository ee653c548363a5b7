"""Character encodings: whether there is one of a name, and which one a file is likely to be in."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain


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

    A fault may stand far below: of UTF-8, cp1252 and latin-1 the first is chosen that all blocks are in.

    Args:
        blocks: the bytes of the text, or of its beginning, in pieces.
    """
    pieces: Iterator[bytes] = iter(blocks)
    start = next(pieces, b"")
    if (wide := _wide(start)) is not None:
        return wide
    decoder, is_utf8, is_cp1252 = codecs.getincrementaldecoder("utf-8")(), True, True
    for piece in chain((start,), pieces):
        is_utf8 = is_utf8 and _decodes(decoder, piece)
        is_cp1252 = is_cp1252 and _decodes(codecs.getincrementaldecoder("cp1252")(), piece)
        if not is_utf8 and not is_cp1252:
            return "latin-1"
    return "utf-8" if is_utf8 else "cp1252"


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
