"""The first pass: direct identifiers are replaced by placeholders before any attack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Self

from anonymizer.documents.direct.found import Found, Recognizer
from anonymizer.documents.direct.registry import RECOGNIZERS
from anonymizer.documents.edits import Edit, joined
from anonymizer.documents.matching import parts_of
from anonymizer.documents.persons import KnownPersons
from anonymizer.documents.sanitizing import touches
from anonymizer.documents.specification import Direct
from anonymizer.documents.text import Document, Language, Span, Word, folded

_BRACKETS: Final[dict[Language, str]] = {"en": "[{}]", "ja": "［{}］"}
_NAMES: Final = ("name", "person")


class FirstPass:
    """Replaces what recognizers find by placeholders such as [PERSON 1].

    The same identifier has the same number in all documents that one object sees, in the order in which they
    come. Two persons count as one if the last parts of their names are the same: Mrs Anna Lee and Ms Lee.

    Args:
        recognizers: of a language.
        kinds: that are replaced.
        threshold: from which probability a recognizer is believed.
        persons: whose names are known, by document; each place of a part of them is replaced.
    """

    def __init__(
        self,
        recognizers: Callable[[Language], Sequence[Recognizer]],
        kinds: Iterable[str],
        threshold: float,
        persons: Mapping[str, tuple[str, ...]],
    ) -> None:
        self._recognizers, self._kinds, self._threshold = recognizers, frozenset(kinds), threshold
        self._persons = KnownPersons(persons)
        self._numbers: dict[tuple[str, str], int] = {}

    @classmethod
    def of(cls, options: Direct, persons: Mapping[str, tuple[str, ...]]) -> Self:
        """As a specification has it.

        Args:
            options: its section.
            persons: whose names are known, by document.
        """

        def recognizers(language: Language) -> Sequence[Recognizer]:
            made = (RECOGNIZERS[name](language) for name in options.recognizers)
            return [one for one in made if one is not None]

        return cls(recognizers, options.kinds, options.threshold, persons)

    def __call__(self, document: Document, words: tuple[Word, ...], language: Language) -> tuple[Edit, ...]:
        """The edits of a document; without overlaps, in their order.

        Args:
            document: it.
            words: of its text.
            language: of its text.
        """
        known = self._persons.found(document, words)
        found = [
            one
            for recognizer in self._recognizers(language)
            for one in recognizer.found(document, words)
            if one.kind in self._kinds and one.probability >= self._threshold
        ]
        everything = [*known, *found, *_again(document, words, [*known, *found])]
        edits = []
        for start, end, kind in _merged(everything):
            number = self._number(kind, document.text[start:end])
            edits.append(Edit(start, end, _BRACKETS[language].format(f"{kind} {number}"), "direct", kind))
        return joined(edits)

    def _number(self, kind: str, text: str) -> int:
        parts = parts_of(text)
        key = parts[-1] if kind == "PERSON" and parts else folded(text)
        return self._numbers.setdefault((kind, key), 1 + sum(one == kind for one, _ in self._numbers))


def _again(document: Document, words: tuple[Word, ...], found: Sequence[Found]) -> Iterator[Found]:
    """Further places of the identifiers that were found.

    Of a person, every word that is a name and a part of the person's name; of codes, the same code.
    """
    people = [one.span for one in found if one.kind == "PERSON"]
    parts = {
        folded(word.text)
        for word in words
        if word.tag in _NAMES and len(word.text) > 1 and touches(people, word.span)
    }
    for word in words:
        if word.tag in _NAMES and folded(word.text) in parts:
            yield Found(word.start, word.end, "PERSON", "again")
    codes = {document.text[one.start : one.end] for one in found if one.kind == "CODE"}
    for code in codes:
        at = document.text.find(code)
        while at >= 0:
            yield Found(at, at + len(code), "CODE", "again")
            at = document.text.find(code, at + len(code))


def _merged(found: Iterable[Found]) -> Iterator[tuple[int, int, str]]:
    """Spans without overlaps, in their order; of what overlaps, the longest says the kind."""
    kinds: list[tuple[Span, Found]] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if kinds and one.start < kinds[-1][0][1]:
            (start, end), longest = kinds[-1]
            if one.end - one.start > longest.end - longest.start:
                longest = one
            kinds[-1] = (start, max(end, one.end)), longest
        else:
            kinds.append((one.span, one))
    for (start, end), one in kinds:
        yield start, end, one.kind
