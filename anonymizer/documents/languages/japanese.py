"""Japanese: SudachiPy with its core dictionary, in its longest units.

Reference: thesis, section 6.2.1, which takes MeCab with NEologd; both know names of people and places.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, Final

from anonymizer.documents.languages.lacking import lacking
from anonymizer.documents.languages.vocabulary import AUXILIARIES, BETWEEN, ORGANIZATIONS, PLACES
from anonymizer.documents.texts.text import Language, Tag, Word

_PIECE: Final = 1200
"""Characters of one call: Sudachi takes 49,149 bytes, and a character may have four, or become many when it
is normalised."""

_BREAK: Final = re.compile(r"[。．！？!?\n][」』）)\s]*")
_COMMA: Final = re.compile(r"[、，,\s]")
_TAGS: Final[dict[str, Tag]] = {
    "名詞": "noun",
    "動詞": "verb",
    "形容詞": "adjective",
    "形状詞": "adjective",
    "副詞": "adjective",
    "補助記号": "symbol",
    "記号": "symbol",
    "空白": "symbol",
}
"""By the first part of speech; what is not here is a function word."""


class Japanese:
    """Reads Japanese. Making one loads the dictionary.

    Raises:
        SpecError: SudachiPy or its core dictionary is not installed.
    """

    language: Language = "ja"

    def __init__(self) -> None:
        with lacking("Japanese"):
            import sudachidict_core  # noqa: F401  which sudachipy finds by its name
            import sudachipy
        self._tokenizer: Any = sudachipy.Dictionary(dict="core").tokenizer(mode=sudachipy.SplitMode.C)

    def words(self, text: str) -> tuple[Word, ...]:
        """All words of a text in their order, symbols included, blanks left out.

        Names of people are persons, except those that name a place or an organization: 田中 in 田中病院.
        """
        found = [word for start, end in _pieces(text) for word in self._of(text, start, end)]
        return tuple(_without_namesakes(found))

    def _of(self, text: str, start: int, end: int) -> Iterator[Word]:
        at = start
        for one in self._tokenizer.tokenize(text[start:end]):
            # a character that stands for several words gives words of no width; the first one has it
            first, last = max(at, start + one.begin()), start + one.end()
            if last <= first:
                continue
            yield from _strip(text, at, first, "", "symbol")
            yield from _strip(text, first, last, one.normalized_form(), _tag(one))
            at = last
        yield from _strip(text, at, end, "", "symbol")


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Parts of a text that are short enough, cut at the ends of sentences where there are any."""
    at = 0
    while len(text) - at > _PIECE:
        end = at + _PIECE
        for pattern in (_BREAK, _COMMA):
            cuts = [match.end() for match in pattern.finditer(text, at, end) if match.end() < end]
            if cuts:
                end = cuts[-1]
                break
        yield at, end
        at = end
    if at < len(text):
        yield at, len(text)


def _strip(text: str, start: int, end: int, form: str, tag: Tag) -> Iterator[Word]:
    """The word without blanks around it; none if it is blank."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start == end:
        return
    word = text[start:end]
    lemma = unicodedata.normalize("NFKC", form or word).strip().lower()
    if not any(one.isalnum() for one in word):
        tag = "symbol"
    yield Word(word, lemma or word, tag, start, end)


def _tag(morpheme: Any) -> Tag:
    first, second, third, *_ = morpheme.part_of_speech()
    if second == "固有名詞":
        return {"人名": "person", "地名": "place"}.get(third, "name")  # type: ignore[return-value]
    if second == "数詞":
        return "number"
    if first == "動詞" and morpheme.normalized_form() in AUXILIARIES:
        return "function"
    return _TAGS.get(first, "function")


def _without_namesakes(words: Sequence[Word]) -> Iterator[Word]:
    for at, word in enumerate(words):
        tag = word.tag
        if tag == "person":
            tag = _name_tag(words, at)
        yield word if tag == word.tag else Word(word.text, word.lemma, tag, word.start, word.end)


def _name_tag(words: Sequence[Word], at: int) -> Tag:
    """Of what a name of a person is the name."""
    end = words[at].end
    for word in words[at + 1 :]:
        if word.start != end:
            return "person"
        if word.text in PLACES:
            return "place"
        if word.text in ORGANIZATIONS:
            return "name"
        if word.tag != "person" and word.text not in BETWEEN:
            return "person"
        end = word.end
    return "person"
