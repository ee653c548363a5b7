"""Whether a text holds a word or a name, however it is written."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ASIAN: Final = (
    "\u3005\u3007\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD: Final = re.compile(rf"[^\W{_ASIAN}]+")
_HAS_ASIAN: Final = re.compile(rf"[{_ASIAN}]")
_LETTERS: Final = str.maketrans(
    {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
)
_FIRST_MARK, _LAST_MARK = "\u0300", "\u036f"


def folded(text: str) -> str:
    """A text as it is compared: NFKC and case folded, without characters of no width and accents of letters.

    Accents go since a searcher types names without them: Şahin as Sahin. Marks of kana stay.
    """
    plain = unicodedata.normalize("NFKD", text).casefold()
    kept = (
        one for one in plain if not _FIRST_MARK <= one <= _LAST_MARK and unicodedata.category(one) != "Cf"
    )
    return unicodedata.normalize("NFKC", "".join(kept)).translate(_LETTERS)


class Searched:
    """A text in which words are looked for.

    Words of scripts with blanks between words are found as whole words only; Japanese ones wherever they
    stand, since no blank says where a word ends, and with blanks between their characters.
    """

    def __init__(self, text: str) -> None:
        plain = folded(text)
        self._words = frozenset(_WORD.findall(plain))
        self._joined = re.sub(r"\s+", "", plain)

    def holds(self, name: str) -> bool:
        """Whether all parts of a word or a name are there; false if it has none."""
        parts = parts_of(name)
        return bool(parts) and all(
            part in self._joined if _HAS_ASIAN.search(part) else part in self._words for part in parts
        )


def parts_of(name: str) -> tuple[str, ...]:
    """What a name consists of: "Anna Evagorou-Christou" of three parts, 田中 太郎 of two."""
    return tuple(part for part in re.split(r"[^\w]+", folded(name)) if part)
