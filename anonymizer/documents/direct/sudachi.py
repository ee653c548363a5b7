"""Japanese persons, places and organizations, by Sudachi's dictionary and the words around them.

The tagger says which words are names of persons and places. A word of unknown kind is a person's too where it
touches one, or stands behind a word of family or office (妻みどり, 被告人鰐淵).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from anonymizer.documents.direct.found import Found
from anonymizer.documents.direct.gazetteers import words_of
from anonymizer.documents.languages.vocabulary import ORGANIZATIONS, PLACES
from anonymizer.documents.texts.text import Document, Word

_KANJI: Final = re.compile("[々〆ヶケノ\u4e00-\u9fff]+")
_KANA: Final = re.compile("[ァ-ヴー]{2,8}|[ぁ-ん]{2,5}")
_NAMELIKE: Final = re.compile("[々〆ヶ\u4e00-\u9fffァ-ヴーぁ-ん]+")
_READING: Final = re.compile("[ァ-ヴー]{2,8} [ァ-ヴー]{2,8}")
_FOREIGN: Final = re.compile("[ァ-ヴー]{1,12}(?:[・=＝][ァ-ヴー]{1,12}){1,4}")
"""A foreign name whose parts a dot or a double hyphen parts; one known part makes all of it a name."""
_READ: Final = re.compile(
    "(?:様|さん|氏|殿|先生)?[ 　]?[(（〔][ 　]?([ァ-ヴー]{2,12}(?:[ 　・][ァ-ヴー]{2,8})?"
    "|[ぁ-ん]{2,12}(?:[ 　・][ぁ-ん]{2,8})?)[ 　]?[)）〕]"
)
_LONGEST: Final = 8
"""Characters of a name without a blank."""


@dataclass(frozen=True, slots=True)
class Sudachi:
    """The recognizer."""

    name: str = "lexicon"

    def find(self, document: Document, words: tuple[Word, ...]) -> tuple[Found, ...]:
        """All names in a text whose words Sudachi has tagged."""
        hits = [*self._persons(document.text, words), *self._places(words)]
        hits += [
            Found(*run.span(), "PERSON", self.name)
            for run in _FOREIGN.finditer(document.text)
            if any(run.start() < one.end and one.start < run.end() for one in hits if one.kind == "PERSON")
        ]
        hits += [Found(*one.span(), "PERSON", self.name) for one in _READING.finditer(document.text)]
        hits += [*self._readings(document.text, hits)]
        return tuple(hits)

    def _readings(self, text: str, hits: Sequence[Found]) -> Iterator[Found]:
        """How a name is read, in brackets behind it: 山田太郎（やまだたろう）."""
        for one in hits:
            read = _READ.match(text, one.end) if one.kind == "PERSON" else None
            if read is not None and read[1] not in _not_names():
                yield Found(*read.span(1), "PERSON", self.name)

    def _persons(self, text: str, words: Sequence[Word]) -> Iterator[Found]:
        at = 0
        while at < len(words):
            begins = words[at].tag == "person" or _is_introduced(words, at)
            if not begins:
                at += 1
                continue
            end = _reach(text, words, at)
            yield Found(words[at].start, words[end - 1].end, "PERSON", self.name)
            at = end

    def _places(self, words: Sequence[Word]) -> Iterator[Found]:
        """Places, and organizations that begin with a name."""
        at = 0
        while at < len(words):
            if words[at].tag not in {"place", "name"} or not _NAMELIKE.search(words[at].text):
                at += 1
                continue
            end, organization = at + 1, False
            while end < len(words) and words[end].start == words[end - 1].end and end - at < 6:
                word = words[end]
                belongs = word.tag in {"place", "name"} or word.text in PLACES or word.text in ORGANIZATIONS
                if not belongs:
                    break
                organization |= word.text in ORGANIZATIONS
                end += 1
            yield Found(words[at].start, words[end - 1].end, "ORG" if organization else "LOC", self.name)
            at = end


@cache
def _not_names() -> frozenset[str]:
    lists = ("family", "role", "not_name", "profession", "honorific")
    return frozenset(one for name in lists for one in words_of("ja", name))


def _introduced_by(words: Sequence[Word], at: int, lists: frozenset[str]) -> bool:
    """Whether one of these words, which may be of two of the tagger's, touches a word from before."""
    if at == 0 or words[at - 1].end != words[at].start:
        return False
    before = words[at - 1].text
    if at > 1 and words[at - 2].end == words[at - 1].start and words[at - 2].text + before in lists:
        return True
    return before in lists


def _is_introduced(words: Sequence[Word], at: int) -> bool:
    """Whether a word that the tagger takes for something else is the name of somebody.

    It stands behind a word of family, or behind one of office where it is a name or in single characters, as
    the tagger leaves names that it does not know; の may stand between, before a name or one character.
    """
    word = words[at]
    if word.text in _not_names() or word.tag in {"function", "symbol", "verb"}:
        return False
    if not (_KANJI.fullmatch(word.text) or _KANA.fullmatch(word.text)):
        return False
    unknown = word.tag in {"name", "place"} or len(word.text) == 1
    if _introduced_by(words, at, _family()):
        return True
    if _introduced_by(words, at, _role()):
        return unknown
    joined = at > 0 and words[at - 1].text == "の" and words[at - 1].end == word.start
    return joined and unknown and _introduced_by(words, at - 1, _family() | _role())


@cache
def _family() -> frozenset[str]:
    return frozenset(words_of("ja", "family"))


@cache
def _role() -> frozenset[str]:
    return frozenset((*words_of("ja", "role"), *words_of("ja", "profession")))


def _reach(text: str, words: Sequence[Word], at: int) -> int:
    """Before which word the name ends that begins at one: names and unknown words that touch belong to it."""
    end, length, parts = at + 1, len(words[at].text), 1
    while end < len(words) and parts < 4:
        word = words[end]
        gap = word.start - words[end - 1].end
        if gap > 1 or length + len(word.text) > _LONGEST or word.text in _not_names():
            break
        joins = word.tag == "person" or (
            gap == 0
            and parts < 3
            and word.tag in {"noun", "name", "place", "number", "adjective"}
            and _can_be_given(word)
        )
        joins = joins or (parts == 1 and _is_given(text, words, end))
        if not joins:
            break
        end, length, parts = end + 1, length + len(word.text), parts + 1
    return end


def _is_given(text: str, words: Sequence[Word], at: int) -> bool:
    """Whether one character behind a surname and a blank is a first name: 星野 光は."""
    word, after = words[at], words[at + 1] if at + 1 < len(words) else None
    return (
        words[at - 1].tag == "person"
        and len(word.text) == 1
        and _KANJI.fullmatch(word.text) is not None
        and text[words[at - 1].end : word.start] in {" ", "　"}
        and (after is None or after.start > word.end or after.tag in {"function", "symbol"})
    )


def _can_be_given(word: Word) -> bool:
    return (
        len(word.text) <= 4
        and word.text not in PLACES
        and bool(_KANJI.fullmatch(word.text) or _KANA.fullmatch(word.text))
    )
