"""Whether a text holds a word or a name, however it is written."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from anonymizer.documents.texts.text import fold

_ASIAN: Final = (
    "\u3005\u3007\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD: Final = re.compile(rf"[^\W{_ASIAN}]+")
_HAS_ASIAN: Final = re.compile(rf"[{_ASIAN}]")


class Searched:
    """A text in which words are looked for.

    Words of scripts with blanks between words are found as whole words only; Japanese ones wherever they
    stand, since no blank says where a word ends, and with blanks between their characters.
    """

    def __init__(self, text: str) -> None:
        plain = fold(text)
        self._words = frozenset(_WORD.findall(plain))
        self._joined = re.sub(r"\s+", "", plain)

    def holds(self, name: str) -> bool:
        """Whether all parts of a word or a name are there; false if it has none."""
        parts = parts_of(name)
        return bool(parts) and all(
            part in self._joined if _HAS_ASIAN.search(part) else part in self._words for part in parts
        )


@lru_cache(maxsize=1 << 16)
def parts_of(name: str) -> tuple[str, ...]:
    """What a name consists of: "Anna Evagorou-Christou" of three parts, 田中 太郎 of two."""
    return tuple(part for part in re.split(r"[^\w]+", fold(name)) if part)
