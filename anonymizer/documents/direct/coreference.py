"""Which findings name the same: simple rules, by which the same person gets the same number.

Persons: titles are left out. Two mentions of one document are the same person if one has all parts of the
    other, initials counted as the names that they begin, and their titles do not say different sexes. A
    mention that fits several persons so far is a person of its own: a wrong merge would tell more than a lost
    one. Across documents only names with a written-out first name are the same, since surnames and initials
    are shared by many. Everything else is the same if it is written the same, apart from case, blanks, quotes
    and an article before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from anonymizer.documents.direct.gazetteers import titles, words_of
from anonymizer.documents.texts.text import Language, fold

_MEN: Final = frozenset({"mr", "sir", "lord", "herr", "herrn", "hr", "hrn", "monsieur"})
_WOMEN: Final = frozenset(
    {"mrs", "ms", "miss", "mme", "mlle", "madame", "mademoiselle", "frau", "frl", "fräulein", "lady", "dame"}
)
_SHORT: Final[Mapping[Language, Mapping[str, str]]] = {
    "fr": {"m": "m"},
    "de": {"fr": "f"},
    "en": {"fr": "m"},
}
"""Titles that are other words elsewhere, and which sex they say."""
_AROUND: Final = " \"'“”«»()[].,;:「」"
_KANA: Final = 0x3041


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a person, taken apart.

    Attributes:
        parts: its words without titles, folded; an initial is one letter.
        sex: that the title says; "" if it does not.
    """

    parts: tuple[str, ...]
    sex: str = ""

    @classmethod
    def of(cls, text: str, language: Language) -> Name:
        """Take the name of a person apart.

        Args:
            text: the name.
            language: of the text that it stands in: "M." begins a name as a title in French alone.
        """
        split = text.replace(".", ". ").replace("　", " ").split()
        words = [fold(one).strip(_AROUND).removesuffix("'s").removesuffix("’s") for one in split]
        sex = "m" if _MEN & set(words) else "f" if _WOMEN & set(words) else ""
        short = _SHORT.get(language, {}).get(words[0], "") if len(words) > 1 else ""
        if short:
            sex, words = short, words[1:]
        parts = [one for one in words if one and one not in titles()]
        if parts:
            for ending in words_of("ja", "honorific"):
                parts[-1] = parts[-1].removesuffix(ending) or parts[-1]
        return cls(tuple(parts), sex)

    @property
    def written_out(self) -> bool:
        """Whether it has two parts other than initials."""
        return sum(len(one) > 1 for one in self.parts) > 1

    def fits(self, other: Name) -> bool:
        """Whether both can be one person."""
        if self.sex and other.sex and self.sex != other.sex:
            return False
        short, long = sorted((self.parts, other.parts), key=len)
        if not short:
            return False
        return _within(short, long) or _begins("".join(self.parts), "".join(other.parts))


@dataclass(slots=True)
class Persons:
    """The persons of one document so far, each with the names under which it was met.

    Attributes:
        language: of the document.
        met: the names.
    """

    language: Language
    met: list[list[Name]] = field(default_factory=list)

    def number(self, text: str) -> int:
        """Which person a mention names, from 0; a new one is added."""
        name = Name.of(text, self.language)
        same = [at for at, names in enumerate(self.met) if name in names]
        fitting = same or [
            at for at, names in enumerate(self.met) if all(name.fits(other) for other in names)
        ]
        if len(fitting) == 1:
            at = fitting[0]
            if name not in self.met[at]:
                self.met[at].append(name)
            return at
        self.met.append([name])
        return len(self.met) - 1

    def full(self, number: int) -> tuple[str, ...]:
        """The longest name of a person, by which the person is known in other documents.

        A name without a written-out first name goes with the sex that its title says.
        """
        name = max(self.met[number], key=lambda one: sum(map(len, one.parts)))
        return name.parts if name.written_out else (name.sex, *name.parts)


def _begins(one: str, other: str) -> bool:
    """Whether Japanese names, which have no blanks between their parts, begin with the same surname."""
    short, long = sorted((one, other), key=len)
    return len(short) > 1 and ord(short[0]) >= _KANA and long.startswith(short)


def _within(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Whether all parts of a name are in another, each once; an initial is in the name that it begins.

    One part is whole in both: "M. Quayle" and Maud may be two people.
    """
    if not {one for one in short if len(one) > 1} & set(long):
        return short == long
    left = list(long)
    for one in sorted(short, key=len, reverse=True):
        match = next((other for other in left if one == other), None)
        if match is None:
            match = next(
                (other for other in left if 1 in (len(one), len(other)) and one[0] == other[0]), None
            )
        if match is None:
            return False
        left.remove(match)
    return True
