"""How Japanese names are read: one spelling of what is written in kana of any width, or in Latin letters.

Small and large kana, long vowels in all their spellings, Hepburn and Kunrei make no difference: ショウジ,
ｼﾖｳｼﾞ, `Shoji`, `Shouji`, `Shōji` and `Syozi` are one. Names that differ in nothing else become one too.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final, Literal

Listed = Literal["surname", "given"]

_KINDS: Final[tuple[Listed, ...]] = ("surname", "given")
_KANA: Final = re.compile(r"[\u3041-\u3096\u30a1-\u30fc]{2,7}")
_LATIN: Final = re.compile(r"[a-z]{3,14}")
_SYLLABLES: Final = re.compile(r"(?:(?:[kgsztdnhbpmr]y?|[wy])?[aiueo]|n)+")
_SMALL: Final = str.maketrans("ァィゥェォッャュョヮ", "アイウエオツヤユヨワ")
_ROWS: Final = {
    "": "アイウエオ",
    "k": "カキクケコ",
    "s": "サシスセソ",
    "t": "タチツテト",
    "n": "ナニヌネノ",
    "h": "ハヒフヘホ",
    "m": "マミムメモ",
    "y": "ヤ・ユ・ヨ",
    "r": "ラリルレロ",
    "w": "ワ・・・ヲ",
    "g": "ガギグゲゴ",
    "z": "ザジズゼゾ",
    "d": "ダヂヅデド",
    "b": "バビブベボ",
    "p": "パピプペポ",
}
_LETTERS: Final = str.maketrans(
    {
        kana: consonant + vowel
        for consonant, row in _ROWS.items()
        for kana, vowel in zip(row, "aiueo", strict=True)
        if kana != "・"
    }
    | {"ン": "n", "ヲ": "o", "ヂ": "zi", "ヅ": "zu", "ヴ": "bu"}
)
_OF_HEPBURN: Final = (
    (re.compile("sh(?=i)"), "s"),
    (re.compile("sh"), "sy"),
    (re.compile("t?ch(?=i)"), "t"),
    (re.compile("t?ch"), "ty"),
    (re.compile("ts"), "t"),
    (re.compile("j(?=i)"), "z"),
    (re.compile("jy?"), "zy"),
    (re.compile("f"), "h"),
    (re.compile("m(?=[bpm])"), "n"),
    (re.compile(r"([kstpgdz])\1"), r"\1"),
    (re.compile("oh(?![aiueoy])"), "o"),
)
_LONG: Final = re.compile("(?<=o)[ou-]|(?<=u)[u-]")
_ROUND: Final = re.compile("iy(?=[auo])")


def reading(word: str) -> str | None:
    """The reading of a word in kana, of two to seven, or in Latin letters that Japanese words can have.

    Args:
        word: without blanks.
    """
    plain = unicodedata.normalize("NFKC", word)
    if _KANA.fullmatch(plain):
        upper = "".join(chr(ord(one) + 0x60) if "\u3041" <= one <= "\u3096" else one for one in plain)
        return _fold(upper.translate(_SMALL).translate(_LETTERS).replace("ー", "-"))
    letters = "".join(
        one for one in unicodedata.normalize("NFKD", plain.casefold()) if not unicodedata.combining(one)
    )
    if not _LATIN.fullmatch(letters):
        return None
    for form, kunrei in _OF_HEPBURN:
        letters = form.sub(kunrei, letters)
    return _fold(letters) if _SYLLABLES.fullmatch(letters) else None


def find_listed(words: Sequence[str]) -> frozenset[Listed] | None:
    """Which listed readings a text has that has the form of a Japanese name; None if it has not the form.

    Two words in any order, of which those in kana need not be listed; or one, in kana, of a listed surname
    and a listed given name. A given name that as many places or things have counts beside a listed surname
    alone.

    Args:
        words: of the text.
    """
    readings = [reading(word) for word in words]
    if len(readings) == 2 and None not in readings:
        found = frozenset(kind for kind in _KINDS if not readings_of(kind).isdisjoint(readings))
        clear = not (readings_of("given") - _alike()).isdisjoint(readings)
        found = found if clear or "surname" in found else found - {"given"}
        return found if found or not words[0].isascii() else None
    if (
        len(words) == 1
        and readings[0] is not None
        and _KANA.fullmatch(unicodedata.normalize("NFKC", words[0]))
    ):
        whole = readings[0]
        cuts = ((whole[:at], whole[at:]) for at in range(2, len(whole) - 1))
        if any(one in readings_of("surname") and other in readings_of("given") for one, other in cuts):
            return frozenset({"surname", "given"})
    return None


def is_alone(word: str) -> bool | None:
    """Whether a single word is a listed name and hardly anything else; None if it is no listed name.

    Args:
        word: in kana, or of four Latin letters or more.
    """
    found = reading(word)
    if found is None or (word.isascii() and len(word) < 4):
        return None
    return found not in _alike() if found in readings_of("surname") | readings_of("given") else None


@cache
def readings_of(kind: Listed) -> frozenset[str]:
    """The readings of all listed surnames or given names."""
    return frozenset(read for word in lists()[kind]["ja_kana"] if (read := reading(word)) is not None)


@cache
def _alike() -> frozenset[str]:
    return frozenset(read for word in lists()["alike"]["ja_kana"] if (read := reading(word)) is not None)


@cache
def lists() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """The names of `person_names.toml` by kind and language."""
    path = resources.files(__package__).joinpath("person_names.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _fold(letters: str) -> str:
    """Without long vowels, and with what small and large kana differ in."""
    return _ROUND.sub("y", _LONG.sub("", letters))
