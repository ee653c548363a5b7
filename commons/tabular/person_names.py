"""Whether texts are names of persons, by lists of common ones: a look, not a proof."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Final

_WORDS: Final = re.compile(r"[^\W\d_]+")
_EASTERN: Final = re.compile(r"[\u3005-\u30ff\u3400-\u9fff]+")
_TITLES: Final = frozenset(
    {
        "mr",
        "mrs",
        "ms",
        "miss",
        "dr",
        "prof",
        "herr",
        "herrn",
        "frau",
        "mme",
        "monsieur",
        "madame",
        "senor",
        "senora",
        "signor",
        "signora",
        "mevrouw",
        "meneer",
    }
)
_KANA: Final = re.compile(r"[\u3041-\u3096\u30a1-\u30fc]{2,7}")
_BETWEEN: Final = re.compile(r" +| *, *")
_LARGE: Final = str.maketrans("ァィゥェォッャュョヮ", "アイウエオツヤユヨワ")
_LONG: Final = re.compile(r"(?<=[ウオクコグゴスソズゾツトヅドヌノフホブボプポムモユヨルロ])[オー]")
_GIVEN_OF_KANA: Final = 4
"""Of so many names in kana one must have a listed given name: cars and firms are called like families."""
_ADDRESSED: Final = ("さん", "様", "氏", "先生", "君")
_INITIALS: Final = re.compile(r"(?:[^\W\d_]\.[ -]?){2,4}")
"""Each with its point: two capitals alone are as often codes of countries or of tests."""
_MOST_WORDS: Final = 5
_LONGEST_EASTERN: Final = 7
_DIFFERENT: Final = 3
"""Listed names that must be there: a category may be called Charlotte or Adams by chance."""


def holds_names(counts: Mapping[str, int]) -> bool:
    """Whether half of the cells of a column, and half of its different values, are names of persons.

    Args:
        counts: how often each text occurs.
    """
    kana = {text: found for text in counts if (found := _of_kana(text)) is not None}
    is_of_persons = _GIVEN_OF_KANA * sum("given" in found for found in kana.values()) >= len(kana)
    listed = [text for text in counts if is_name(text) and (is_of_persons or not kana.get(text))]
    if len(listed) < max(_DIFFERENT, len(counts) / 2):
        return False
    return 2 * sum(counts[text] for text in listed) >= sum(counts.values())


def is_name(text: str) -> bool:
    """Whether a text has the form of a name, with a listed first name or surname in it, or is initials.

    Args:
        text: such as `Anna Weber`, `WEBER, A.`, `H.-J. W.`, `山田 太郎` or `ヤマダ タロウ`.
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    if _INITIALS.fullmatch(plain) or _of_kana(text):
        return True
    if _EASTERN.search(plain):
        joined = "".join(plain.split())
        return (
            len(joined) <= _LONGEST_EASTERN
            and _EASTERN.fullmatch(joined) is not None
            and joined.startswith(_eastern("surname"))
            and (joined in _eastern("surname") or joined.endswith(_eastern("given")) or " " in plain)
        ) or joined in _eastern("given")
    if any(letter.isdigit() for letter in plain):
        return False
    words = _WORDS.findall(plain)
    return 0 < len(words) <= _MOST_WORDS and not _folded(words).isdisjoint(_western())


def _of_kana(text: str) -> frozenset[str] | None:
    """Which listed readings a text has, `surname` or `given`; None if it has not the form of a name in kana.

    Two words of Hiragana or Katakana of any width, listed or not; or one that is made of a listed surname
    and a listed given name.
    """
    words = _BETWEEN.split(unicodedata.normalize("NFKC", text).strip())
    if not all(map(_KANA.fullmatch, words)):
        return None
    readings = [_reading(word) for word in words]
    if len(readings) == 2:
        return frozenset(kind for kind in ("surname", "given") if not _readings(kind).isdisjoint(readings))
    whole = readings[0] if len(readings) == 1 else ""
    cuts = ((whole[:at], whole[at:]) for at in range(2, len(whole) - 1))
    if any(one in _readings("surname") and other in _readings("given") for one, other in cuts):
        return frozenset({"surname", "given"})
    return None


def _reading(word: str) -> str:
    """Katakana in one spelling: banks and registers write no small kana, and long vowels in three ways."""
    upper = "".join(chr(ord(one) + 0x60) if "\u3041" <= one <= "\u3096" else one for one in word)
    return _LONG.sub("ウ", upper.translate(_LARGE))


@cache
def _readings(kind: str) -> frozenset[str]:
    return frozenset(map(_reading, _lists()[kind]["ja_kana"]))


def names_somebody(text: str) -> bool:
    """Whether a sentence holds the name of a person.

    A listed first name, or a title, before a word with a capital letter; or a listed surname of Japan before
    a listed given name or a form of address.

    Args:
        text: of any length.
    """
    plain = unicodedata.normalize("NFKC", text)
    for run in _EASTERN.findall(plain):
        surname = next((one for one in _eastern("surname") if one in run), None)
        rest = run.partition(surname)[2] if surname else ""
        if rest.startswith((*_eastern("given"), *_ADDRESSED)):
            return True
    if any(
        surname + word in "".join(plain.split()) for surname in _eastern("surname") for word in _ADDRESSED
    ):
        return True
    words = _WORDS.findall(plain)
    listed = {_plain(word) for word in given_names()}
    return any(
        after[0].isupper()
        and len(after) > 1
        and (_plain(before) in _TITLES or (before[0].isupper() and _plain(before) in listed))
        for before, after in pairwise(words)
    )


def given_names() -> frozenset[str]:
    """First names of English, German and French, as they are written."""
    return frozenset(word for language in ("en", "de", "fr") for word in _lists()["given"][language])


def _folded(words: Sequence[str]) -> set[str]:
    return {_plain(word) for word in words}


def _plain(word: str) -> str:
    split = unicodedata.normalize("NFKD", word.casefold())
    return "".join(one for one in split if not unicodedata.combining(one))


@cache
def _western() -> frozenset[str]:
    lists = (
        words for one in _lists().values() for language, words in one.items() if not language.startswith("ja")
    )
    return frozenset(_plain(word) for words in lists for word in words)


@cache
def _eastern(kind: str) -> tuple[str, ...]:
    return tuple(_lists()[kind]["ja"])


@cache
def _lists() -> Mapping[str, Mapping[str, Sequence[str]]]:
    path = resources.files(__package__).joinpath("person_names.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
