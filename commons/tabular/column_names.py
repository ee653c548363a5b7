"""What a column holds by its name: one table of words in seven languages, `column_words.toml`.

A name says nothing for certain. It is read so that a person is asked, and that what is called a name of
persons does not leave unseen.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from typing import Final, Literal

Role = Literal["identifiers", "quasi_identifiers", "sensitive", ""]

LANGUAGES: Final = ("en", "de", "fr", "es", "it", "nl", "ja")
"""The languages of the table."""
OTHERS: Final = "other"
"""The key of words of languages of which only those for names of persons and their numbers are known."""

_LONGEST: Final = 6
"""Words of a name that are read together at most."""
_SHORTEST: Final = 4
"""Letters of a beginning or an end of a word."""
_REMEMBERED: Final = 4096
_SHORTENED: Final = 5
"""The fewest letters to which a word may be shortened, as `occup`; beside other words one less."""
_FULL: Final = 7
"""Letters of words that are shortened."""
_CONSONANTS: Final = 4
"""Letters of a word without its vowels: `trtmnt`, `hlth`."""
_FULL_NAME: Final = "full_name"
_NAMING: Final = "naming"
_NAMED: Final = ("person", "bearer")
_NAME_ENDS: Final = ("name", "naam", "nme", "nm")
_ABBREVIATED: Final = frozenset({"nm", "nme", "nam"})
"""Words for a name beside those for persons alone: `nm` is a length too, and a gene."""
_NAMES: Final = frozenset({"surname", "given_name", _FULL_NAME})
_LINK: Final = "link"
_ONLY_BESIDE: Final = frozenset({"full", "legal", "preferred", "given", "mal"})
"""Words for persons beside one for a name, which alone are called like doses and states."""
_FIRST_AND_LAST: Final = frozenset({"first", "last"})
_EASTERN: Final = re.compile(r"[\u3005-\u30ff\u3400-\u9fff]")
_CHANGE: Final = re.compile(r"(?<=[a-z\u00df-\u00ff])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PIECE: Final = re.compile(r"[^\W\d_]+|\d+")
_SPELT_OUT: Final = re.compile("(?<=[aou])e")
_VOWELS: Final = re.compile("(?<!^)[aeiouy]")
_MARKS: Final = "nlpdh"
"""Letters before a word: a number, logarithm, person, indicator or household of it."""
_LEGEND: Final = re.compile(r"\s*[(\[].*[)\]]\s*$")
"""A unit or the meaning of values after a name."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What columns of some names hold.

    Attributes:
        name: such as `surname` or `birth_date`; a key of the table.
        role: that such a column has to an attacker, as `[roles]` of the anonymizer calls it; empty for a word
            that says nothing of it.
        is_direct: whether a single cell names, or finds, a person: names, addresses, numbers of accounts.
    """

    name: str
    role: Role
    is_direct: bool


@dataclass(frozen=True)
class _Words:
    """The words of the table, folded, by how they are found in a name; each with its kinds."""

    anywhere: Mapping[str, frozenset[str]]
    whole: Mapping[str, frozenset[str]]
    at_the_end: Mapping[str, frozenset[str]]
    beginnings: tuple[tuple[str, str], ...]
    ends: tuple[tuple[str, str], ...]
    last_ends: tuple[tuple[str, str], ...]
    eastern: tuple[tuple[str, str], ...]
    eastern_last: tuple[tuple[str, str], ...]

    @cached_property
    def fragments(self) -> Mapping[str, frozenset[str]]:
        """Words and beginnings of which glued names consist; of whole names and ends none."""
        found = dict(self.anywhere)
        for word, kind in self.beginnings:
            found[word] = found.get(word, frozenset()) | {kind}
        return {word: kinds for word, kinds in found.items() if word.isascii() and len(word) > 1}

    @cached_property
    def shortened(self) -> Mapping[str, frozenset[str]]:
        """What words are shortened to, each with its kinds: their beginnings and their consonants."""
        found: dict[str, frozenset[str]] = {}
        for word, held in self.fragments.items():
            roles = frozenset(kind for kind in held if _may_be_guessed(kind))
            starts = [word[:end] for end in range(_SHORTENED - 1, len(word))] if len(word) >= _FULL else []
            for short in (*starts, *([_VOWELS.sub("", word)] if len(word) > _SHORTENED else [])):
                if len(short) >= _CONSONANTS and roles:
                    found[short] = found.get(short, frozenset()) | roles
        return found

    @cached_property
    def of_persons(self) -> frozenset[str]:
        """Words for persons, and what long ones are shortened to."""
        known = {**self.anywhere, **self.fragments}
        held = {word for word, of in known.items() if not of.isdisjoint(_NAMED)}
        long = [word for word in held if len(word) >= _FULL and word.isascii()]
        short = {word[:end] for word in long for end in range(_SHORTENED, len(word))}
        others = {word[:end] for word in known.keys() - held for end in range(_SHORTENED, len(word) + 1)}
        return frozenset(held | (short - others))


def kinds() -> Mapping[str, Kind]:
    """All kinds by their names, in the order of the table."""
    return _table()[0]


@lru_cache(_REMEMBERED)
def kinds_of(name: str) -> tuple[Kind, ...]:
    """The kinds that the name of a column has words of, in the order of the table; often none.

    Case, accents, the width of letters, separators, and umlauts written as two letters make no difference:
    `Geburtsdatum`, `GEBURTS_DATUM`, `dateOfBirth` and `ＤＯＢ` are birth dates. A name without any word is
    read as words written together (`numkids`), shortened (`occup`) or without vowels (`trtmnt`); never as
    those of identifiers, since such readings are guesses.

    Args:
        name: of the column, in any of `LANGUAGES`; of names of persons and their numbers in some others.
    """
    pieces = _pieces(name)
    bare = _pieces(_LEGEND.sub("", unicodedata.normalize("NFKC", name)))
    apart = _spelt_out(pieces)
    found = _longest(_find_words(pieces))
    found |= _longest(one for one in _find_words(bare) if one[:2] == (0, len(bare)))
    found |= _NAMES & _longest(_find_words(apart))
    found |= _eastern(_join(pieces))
    if _names_persons(apart, _join(pieces)):
        found.add(_FULL_NAME)
    if not any(kinds()[kind].role for kind in found):
        found |= _guess(pieces)
    return tuple(kind for key, kind in kinds().items() if key in found)


@lru_cache(_REMEMBERED)
def named_as_a_whole(name: str) -> tuple[Kind, ...]:
    """The kinds of which the whole name of a column is a word, not only a part of it."""
    pieces = _pieces(name)
    whole = {kind for start, end, kind in _find_words(pieces) if (start, end) == (0, len(pieces))}
    if _EASTERN.search(name):
        whole |= _eastern(_join(pieces))
    return tuple(kind for key, kind in kinds().items() if key in whole)


def is_called(name: str, *wanted: str) -> bool:
    """Whether the name of a column has a word of one of some kinds.

    Args:
        name: of the column.
        wanted: names of kinds.
    """
    return any(kind.name in wanted for kind in kinds_of(name))


def direct(name: str) -> Kind | None:
    """The first kind by which a column would name persons; None if its name says none."""
    return next((kind for kind in kinds_of(name) if kind.is_direct), None)


@cache
def label_words() -> Mapping[str, frozenset[str]]:
    """The single words of the table by language, of those with Latin letters."""
    path = resources.files(__package__).joinpath("column_words.toml")
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        language: frozenset(
            fold(word)
            for one in document.values()
            for word in one.get(language, ())
            if word.isalpha() and len(word) >= _SHORTEST
        )
        for language in LANGUAGES
        if language != "ja"
    }


def _find_words(pieces: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
    """Where words of the table stand among the pieces of a name: first and last piece, and the kind."""
    words, count = _table()[1], len(pieces)
    for start in range(count):
        for end in range(start + 1, min(count, start + _LONGEST) + 1):
            text = "".join(pieces[start:end])
            found = set(words.anywhere.get(text, ()))
            if (start, end) == (0, count):
                found |= words.whole.get(text, frozenset())
            if end == count:
                found |= words.at_the_end.get(text, frozenset())
            for kind in found:
                yield start, end, kind
        piece = pieces[start]
        starts, stops = words.beginnings, words.ends + (words.last_ends if start == count - 1 else ())
        for part, kind in starts:
            if piece.startswith(part):
                yield start, start + 1, kind
        for part, kind in stops:
            if piece.endswith(part):
                yield start, start + 1, kind


def _longest(found: Iterable[tuple[int, int, str]]) -> set[str]:
    """The kinds without those whose word is part of a longer one: `marital status` is no outcome."""
    spans = [*found]
    return {
        kind
        for start, end, kind in spans
        if not kinds()[kind].role
        or not any(first <= start and end <= last and last - first > end - start for first, last, _ in spans)
    }


def is_of_persons(name: str) -> bool:
    """Whether the name of a column has words for persons or titles alone: `Patient`, `Herr/Frau`."""
    pieces = [piece for piece in _pieces(name) if not piece.isdigit()]
    joined = _join(pieces)
    if _EASTERN.search(joined):
        return any(word == joined and kind in _NAMED for word, kind in _table()[1].eastern)
    whole = _table()[1].whole
    return any(_is_of_persons(piece) for piece in pieces if piece not in _ONLY_BESIDE) and all(
        len(piece) == 1 or _is_of_persons(piece) or _LINK in whole.get(piece, ()) for piece in pieces
    )


def _is_of_persons(piece: str) -> bool:
    words = _table()[1]
    if piece in words.of_persons:
        return True
    return any(piece.startswith(part) for part, kind in words.beginnings if kind in _NAMED)


def _names_persons(apart: tuple[str, ...], joined: str) -> bool:
    """Whether a word for a name stands beside one for persons (`Name of patient`), or alone with a number.

    Args:
        apart: the words of the name of a column, spelt out.
        joined: the whole name.
    """
    naming = {start for start, _, one in _find_words(apart) if one == _NAMING}
    persons = {place for place, part in enumerate(apart) if _is_of_persons(part)}
    others = {place for place, part in enumerate(apart) if not part.isdigit()} - naming
    eastern = _eastern(joined)
    western = bool(naming) and (bool(persons - naming) or not others)
    if len(apart) == 2 and apart[1] in _FIRST_AND_LAST and persons:
        return True  # `patient_last`
    return western or (_NAMING in eastern and not eastern.isdisjoint(_NAMED))


def _spelt_out(pieces: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a name, those that end in one for a name in two, and abbreviations of it as what they are.

    `schulername` (pupil) is `schuler`, `name`; `ptname` and `pt_nm` are `pt`, `name`.
    """
    apart = [part for piece in pieces for part in _without_name(piece)]
    words = sum(not part.isdigit() for part in apart)
    return tuple("name" if part in _ABBREVIATED and words > 1 else part for part in apart)


def _without_name(piece: str) -> tuple[str, ...]:
    for ending in _NAME_ENDS:
        head = piece.removesuffix(ending)
        if head != piece and head:
            is_long = len(head) >= _SHORTEST and len(ending) >= _SHORTEST
            if is_long or head in _FIRST_AND_LAST or head in _table()[1].of_persons:
                return head, ending
    return (piece,)


def _guess(pieces: tuple[str, ...]) -> set[str]:
    """The kinds of words that are written together, shortened or without vowels."""
    words = _table()[1]
    found: set[str] = set()
    for piece in {*pieces, _join(pieces)}:
        if piece in words.fragments:
            continue
        is_short = len(piece) >= _SHORTENED or not _VOWELS.search(piece)
        found |= (is_short and words.shortened.get(piece)) or _split_glued(piece) or frozenset()
    return {kind for kind in found if _may_be_guessed(kind)}


@lru_cache(_REMEMBERED)
def _split_glued(text: str, at_the_start: bool = True) -> frozenset[str] | None:
    """The kinds of the words of which a text consists from its beginning to its end; None if it does not."""
    words = _table()[1]
    best: frozenset[str] | None = None
    for end in range(len(text) - 1 if at_the_start else len(text), 0, -1):
        head, rest = text[:end], text[end:]
        held = words.fragments.get(head)
        if held is None and not rest:
            held = words.at_the_end.get(head)
        if held is None and not (at_the_start and not rest):
            held = words.shortened.get(head)
        if held is None and at_the_start and end == 1 and head in _MARKS:
            held = frozenset()
        if held is None:
            continue
        tail = _split_glued(rest, False) if rest else frozenset()
        if tail is not None and (best is None or len(held | tail) < len(best)):
            best = held | tail
    return best


def _may_be_guessed(kind: str) -> bool:
    return kinds()[kind].role not in ("", "identifiers")


def _eastern(text: str) -> set[str]:
    """The kinds of words in a script without blanks."""
    words = _table()[1]
    found = {kind for word, kind in words.eastern if word in text}
    return found | {kind for word, kind in words.eastern_last if text.endswith(word)}


def _join(pieces: Iterable[str]) -> str:
    return "".join(pieces)


def _pieces(name: str) -> tuple[str, ...]:
    """The words and numbers of a name, folded."""
    text = _CHANGE.sub(" ", unicodedata.normalize("NFKC", name))
    return tuple(fold(piece) for piece in _PIECE.findall(text))


def fold(text: str) -> str:
    """Letters without case and accents, and umlauts as one letter, as words of the table are compared."""
    split = unicodedata.normalize("NFKD", text.casefold())
    return _SPELT_OUT.sub("", "".join(one for one in split if not unicodedata.combining(one)))


@cache
def _table() -> tuple[Mapping[str, Kind], _Words]:
    path = resources.files(__package__).joinpath("column_words.toml")
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    known = {key: Kind(key, one.get("role", ""), one.get("direct", False)) for key, one in document.items()}
    exact: dict[str, dict[str, set[str]]] = {"": {}, "=": {}, "$": {}}
    parts: dict[str, list[tuple[str, str]]] = {one: [] for one in ("x*", "*x", "*x$", "ja", "ja$")}
    for key, one in document.items():
        for entry in (word for language in (*LANGUAGES, OTHERS) for word in one.get(language, ())):
            word = "".join(_pieces(entry)) or entry.strip("=$*")
            last = "$" if entry.endswith("$") else ""
            if "*" in entry:
                parts["x*" if entry.endswith("*") else f"*x{last}"].append((word, key))
            elif _EASTERN.search(entry) and not entry.startswith("="):
                parts[f"ja{last}"].append((word, key))
            else:
                way = "=" if entry.startswith("=") else last
                exact[way].setdefault(word, set()).add(key)
    anywhere, whole, ending = (
        {word: frozenset(found) for word, found in exact[way].items()} for way in ("", "=", "$")
    )
    return known, _Words(anywhere, whole, ending, *(tuple(found) for found in parts.values()))
