"""Annotated documents in disguise, to measure what of it recognizers see through.

Each disguise changes the direct identifiers alone; marks move with their texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from anonymizer.documents.direct.annotated import Annotated, Mention, outermost
from anonymizer.documents.texts.text import Document

_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f]{6,}")
_RUN: Final = re.compile(r"[^\W_]+")
_ALIKE: Final = str.maketrans("AaBCcEeHiKMOoPpTXxy", "АаВСсЕеНіКМОоРрТХху")
_WIDE: Final = str.maketrans({code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000})
_LETTERS: Final = (("m", "rn"), ("o", "0"), ("l", "1"), ("I", "l"))
_DIGITS: Final = (("0", "O"), ("1", "l"))


def _parted(text: str) -> str:
    """Long words with a hyphen and the end of a line in their middle."""
    return _WORD.sub(lambda one: f"{one[0][: len(one[0]) // 2]}-\n{one[0][len(one[0]) // 2 :]}", text)


def _misread(word: str) -> str:
    """A word in which one character was misread: of a number a digit, of others a letter behind the first."""
    digits = sum(map(str.isdigit, word))
    for old, new in _DIGITS if 2 * digits > len(word) else _LETTERS:
        at = word.find(old, 0 if digits else 1)
        if at >= 0 and (digits or len(word) > 3):
            return word[:at] + new + word[at + 1 :]
    return word


DISGUISES: Final[Mapping[str, Callable[[str], str]]] = {
    "hyphens": _parted,
    "spaced": " ".join,
    "zero-width": "\u200b".join,
    "look-alikes": lambda text: text.translate(_ALIKE),
    "ocr": lambda text: _RUN.sub(lambda one: _misread(one[0]), text),
    "full-width": lambda text: text.translate(_WIDE),
    "capitals": str.upper,
}
"""By their names; each changes the text of an identifier."""


def disguise_identifiers(one: Annotated, disguise: str) -> Annotated:
    """A document of which the direct identifiers are disguised; mentions within others are left out.

    Args:
        one: the document.
        disguise: one of `DISGUISES`.
    """
    text, parts, at, length = one.document.text, list[str](), 0, 0
    mentions: list[Mention] = []
    for mention in outermost(one.mentions):
        said = text[mention.start : mention.end]
        if mention.identifier == "DIRECT":
            said = DISGUISES[disguise](said)
        before = text[at : mention.start]
        start = length + len(before)
        length, at = start + len(said), mention.end
        parts += [before, said]
        mentions.append(Mention(start, length, mention.kind, mention.identifier))
    document = Document(one.document.name, "".join([*parts, text[at:]]))
    return Annotated(document, tuple(mentions), one.form)
