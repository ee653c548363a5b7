"""The first pass: direct identifiers are replaced by placeholders before any attack.

What is found in one place is replaced wherever the document has it: a name that is hidden once and stands
elsewhere is not hidden. Numbers are given by first appearance in the folder. Documents should come in an
order that has nothing to do with their names, or [PERSON 1] would be of the first one in the alphabet. Which
placeholder stands for whom is the key; it stays at home.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self

from anonymizer.documents.direct.columns import named_in_table
from anonymizer.documents.direct.coreference import Persons
from anonymizer.documents.direct.found import KINDS, Found, Recognizer
from anonymizer.documents.direct.gazetteers import titles, words_of, words_of_list
from anonymizer.documents.direct.persons import KnownPersons
from anonymizer.documents.direct.registry import RECOGNIZERS
from anonymizer.documents.direct.rules import Rules
from anonymizer.documents.languages.detect import tagger_of
from anonymizer.documents.specification import Direct
from anonymizer.documents.texts.disguise import (
    Undisguised,
    as_scanned,
    as_typed,
    bones,
    in_title_case,
)
from anonymizer.documents.texts.edits import Edit, join_edits
from anonymizer.documents.texts.matching import parts_of
from anonymizer.documents.texts.text import Document, Language, Span, Word
from commons.tabular.person_names import given_names

_BRACKETS: Final[dict[Language, str]] = {"en": "[{}]", "ja": "［{}］", "de": "[{}]", "fr": "[{}]"}
_TAKEN: Final = re.compile(rf"[\[［](?:{'|'.join(KINDS)}) \d{{1,9}}[\]］]")
_SPREAD: Final = frozenset({"PERSON", "CODE", "LOC", "ORG", "MISC"})
"""Kinds that are replaced wherever the same words stand. A date or "Turkish" elsewhere is another matter."""

_NAMES: Final = ("name", "person", "place")
_ALONE: Final = (*_NAMES, "noun")
"""What a single character that is somebody's name may be tagged as elsewhere."""

_OF_CAPITALS: Final = frozenset({"PERSON", "MISC"})
"""What is looked for in words in capitals: a name, or an unknown word; and places that a rule finds."""

_LONG: Final = 5
"""Letters of a word in capitals from which on it is hardly an abbreviation."""
_WORD: Final = re.compile(r"[^\W\d_]+")

_SHORTEST: Final = 3
"""Letters of a part of a name that is looked for alone."""

_YEAR: Final = re.compile(
    r"(?<!\d)(?:1[5-9]|20|21)\d{2}(?!\d)|(?:令和|平成|昭和|大正|明治)(?:元|[\d一二三四五六七八九十]{1,3})年"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a placeholder stands for; confidential.

    Attributes:
        placeholder: as it is written.
        texts: that it replaces, in the order of their first appearance.
    """

    placeholder: str
    texts: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reading:
    """A document as the recognizers see it: without disguises.

    Attributes:
        undisguised: its text, with the places in the original.
        document: with that text.
        words: of that text.
        typed: its text before what scanners misread was put right.
        language: of the text.
        original: as it is.
    """

    undisguised: Undisguised
    document: Document
    words: tuple[Word, ...] = field(repr=False)
    typed: Undisguised
    language: Language
    original: Document

    @classmethod
    def of(cls, document: Document, words: tuple[Word, ...], language: Language) -> Self:
        """Read a document whose words are known.

        Args:
            document: the original.
            words: of its text.
            language: of its text.
        """
        typed = as_typed(document.text)
        plain = as_scanned(typed)
        if plain.text == document.text:
            return cls(plain, document, words, typed, language, document)
        said = tagger_of(plain.text, language).words(plain.text)
        return cls(plain, Document(document.name, plain.text), said, typed, language, document)

    def hits(self, recognizers: Iterable[Recognizer], threshold: float) -> list[Found]:
        """What recognizers find with at least this probability, by places in the text without disguises.

        Names in capitals are looked for as if they were written with one; and rules look at the text as it
        was typed, too, where letters among digits are no misreadings.
        """
        ready = list(recognizers)
        everything = [
            *(one for recognizer in ready for one in recognizer.find(self.document, self.words)),
            *self._as_typed(ready),
            *self._in_capitals(ready),
            *self._in_tables(ready),
        ]
        return [
            one
            for one in everything
            if one.probability >= threshold and any(map(str.isalnum, self.document.text[one.start : one.end]))
        ]

    def _as_typed(self, recognizers: Iterable[Recognizer]) -> Iterator[Found]:
        """What rules find in the text before what scanners misread was put right."""
        if self.typed.text == self.undisguised.text:
            return
        document = Document(self.document.name, self.typed.text)
        for recognizer in recognizers:
            if isinstance(recognizer, Rules):
                for one in recognizer.find(document):
                    start, end = self.undisguised.within(*self.typed.span(*one.span))
                    yield replace(one, start=start, end=end)

    def _in_tables(self, recognizers: Iterable[Recognizer]) -> Iterator[Found]:
        """Names below the headings of tables of the format, which rules know."""
        if any(isinstance(recognizer, Rules) for recognizer in recognizers):
            for table in self.original.tables:
                for span in named_in_table(self.original.text, table, self.language):
                    yield Found(*self.undisguised.within(*span), "PERSON", "column")

    def _in_capitals(self, recognizers: Iterable[Recognizer]) -> Iterator[Found]:
        """Names in capitals, where words in capitals stand beside each other.

        What no rule calls a name must have a long word or a first name: NYHA III and HLA B are none.
        """
        text = self.document.text
        titled = text if self.language == "ja" else in_title_case(text)
        if titled == text:
            return
        document = Document(self.document.name, titled)
        words = tagger_of(titled, self.language).words(titled)
        for recognizer in recognizers:
            for one in recognizer.find(document, words):
                said = titled[one.start : one.end]
                ruled = isinstance(recognizer, Rules)
                wanted = one.kind in _OF_CAPITALS or (ruled and one.kind == "LOC")
                if not wanted or said == text[one.start : one.end]:
                    continue
                parts = [
                    part[0]
                    for part in _WORD.finditer(titled, one.start, one.end)
                    if part[0] != text[slice(*part.span())]
                ]
                if ruled or any(len(part) >= _LONG or part in given_names() for part in parts):
                    yield one

    def mask(self, recognizers: Iterable[Recognizer], threshold: float) -> list[Span]:
        """What the first pass hides by these recognizers, by places in the original; all kinds."""
        found = findings(self.document, self.words, self.hits(recognizers, threshold))
        return [self.undisguised.span(*one.span) for one in found]


class FirstPass:
    """Replaces what recognizers find by placeholders such as [PERSON 1].

    The same identifier has the same number in all documents that one object sees, in the order in which they
    come; see `coreference` for which persons are the same.

    Args:
        recognizers: of a language.
        kinds: that are replaced.
        threshold: from which probability a recognizer is believed.
        persons: whose names are known, by document; each place of a part of them is replaced.
        years: write the years of a date, where it has some, instead of a placeholder.
    """

    def __init__(
        self,
        recognizers: Callable[[Language], Sequence[Recognizer]],
        kinds: Iterable[str],
        threshold: float,
        persons: Mapping[str, tuple[str, ...]],
        *,
        years: bool = False,
    ) -> None:
        self._recognizers, self._kinds, self._threshold = recognizers, frozenset(kinds), threshold
        self._persons, self._years = KnownPersons(persons), years
        self._numbers: dict[tuple[str, tuple[str, ...]], int] = {}
        self._last: dict[str, int] = defaultdict(int)
        self._taken: set[str] = set()
        self._key: dict[str, dict[str, None]] = defaultdict(dict)

    @classmethod
    def of(cls, options: Direct, persons: Mapping[str, tuple[str, ...]]) -> Self:
        """As a specification has it.

        Args:
            options: its section.
            persons: whose names are known, by document.
        """
        ready: dict[Language, Sequence[Recognizer]] = {}

        def recognizers(language: Language) -> Sequence[Recognizer]:
            if language not in ready:
                made = (RECOGNIZERS[name](language, options.threshold) for name in options.recognizers)
                ready[language] = [one for one in made if one is not None]
            return ready[language]

        return cls(recognizers, options.kinds, options.threshold, persons, years=options.years)

    @property
    def key(self) -> tuple[Entry, ...]:
        """Which placeholder stands for which texts, so far; it stays at home."""
        return tuple(Entry(name, tuple(texts)) for name, texts in self._key.items())

    def __call__(self, document: Document, words: tuple[Word, ...], language: Language) -> tuple[Edit, ...]:
        """The edits of a document; without overlaps, in their order.

        Args:
            document: it.
            words: of its text.
            language: of its text.
        """
        self._taken.update(_TAKEN.findall(document.text))
        read = Reading.of(document, words, language)
        plain = read.document
        known = self._persons.find(plain, read.words)
        hits = [
            one for one in read.hits(self._recognizers(language), self._threshold) if one.kind in self._kinds
        ]
        edits, persons = [], Persons(language)
        everything = findings(plain, read.words, [*known, *hits])
        texts = [plain.text[one.start : one.end] for one in everything]
        numbers = [
            persons.number(text) if one.kind == "PERSON" else -1
            for one, text in zip(everything, texts, strict=True)
        ]
        for one, text, number in zip(everything, texts, numbers, strict=True):
            start, end = read.undisguised.span(*one.span)
            written = "–".join(dict.fromkeys(_YEAR.findall(text))) if one.kind == "DATETIME" else ""
            if not (self._years and written):
                identity = persons.full(number) if one.kind == "PERSON" else parts_of(text) or (text,)
                written = self._placeholder(one.kind, identity, _BRACKETS[language])
                self._key[written][document.text[start:end]] = None
            edits.append(Edit(start, end, written, "direct", one.kind))
        return join_edits(edits)

    def _placeholder(self, kind: str, identity: tuple[str, ...], bracket: str) -> str:
        while (kind, identity) not in self._numbers:
            self._last[kind] += 1
            number = self._last[kind]
            if not self._taken & {form.format(f"{kind} {number}") for form in _BRACKETS.values()}:
                self._numbers[kind, identity] = number
        return bracket.format(f"{kind} {self._numbers[kind, identity]}")


def findings(document: Document, words: tuple[Word, ...], hits: Iterable[Found]) -> tuple[Found, ...]:
    """What is replaced in a document: all that was found, wherever the same words stand, joined.

    Args:
        document: the text.
        words: all its words.
        hits: that recognizers have found; they may overlap.

    Returns:
        findings in their order, without overlaps. Of findings that overlapped, the longest one says the kind
        and the recognizer.
    """
    given = list(hits)
    found: list[Found] = []
    longest = 0
    everything = [*given, *_elsewhere(words, given), *_same_codes(document.text, given)]
    for hit in sorted(everything, key=lambda one: (one.start, -one.end, one.kind == "MISC")):
        length = hit.end - hit.start
        if found and hit.start < found[-1].end:
            last = found[-1]
            says = hit if length > longest else last
            longest = max(longest, length)
            best = max(last.probability, hit.probability)
            found[-1] = Found(last.start, max(last.end, hit.end), says.kind, says.by, best)
        else:
            found.append(hit)
            longest = length
    return tuple(found)


def _same_codes(text: str, hits: Sequence[Found]) -> Iterator[Found]:
    """Codes where they are parts of longer words."""
    for code in {text[one.start : one.end] for one in hits if one.kind == "CODE"}:
        at = text.find(code) if len(code) >= _SHORTEST else -1
        while at >= 0:
            yield Found(at, at + len(code), "CODE", "again")
            at = text.find(code, at + len(code))


def _elsewhere(words: tuple[Word, ...], hits: Sequence[Found]) -> Iterator[Found]:
    """The same words in other places, also in capitals, and parts of the names of persons alone."""
    phrases: dict[tuple[str, ...], Found] = {}
    for hit in hits:
        if hit.kind not in _SPREAD:
            continue
        inside = [word for word in words if hit.start <= word.start and word.end <= hit.end]
        parts = [inside]
        if hit.kind == "PERSON":
            parts.append([word for word in inside if not _is_title(word)])
            parts += [[word] for word in inside]
        for part in parts:
            if len(part) > 1 or (part and _tells(part[0])):
                phrases.setdefault(tuple(bones(word.text) for word in part), hit)
                phrases.setdefault(tuple(bones(word.text.upper()) for word in part), hit)
    lengths: dict[str, set[int]] = defaultdict(set)
    for phrase in phrases:
        lengths[phrase[0]].add(len(phrase))
    written = [bones(word.text.replace("-", "") if word.text.count("-") > 1 else word.text) for word in words]
    for at, word in enumerate(words):
        for length in sorted(lengths.get(written[at], ())):
            same = words[at : at + length]
            hit_of = phrases.get(tuple(written[at : at + length]))
            if hit_of is not None and (length > 1 or _tells(word)):
                yield Found(word.start, same[-1].end, hit_of.kind, "again", hit_of.probability)


def _is_title(word: Word) -> bool:
    return word.text.lower().rstrip(".") in titles()


def _tells(word: Word) -> bool:
    """Whether a word alone is looked for: a name of some letters, or a number; no title and no month."""
    solid = not word.text.isascii() and (len(word.text) > 1 or word.tag in _ALONE)
    long = len(word.text) >= _SHORTEST or solid
    named = word.tag in _NAMES or word.text[:1].isupper() or any(one.isdigit() for one in word.text)
    return (
        long
        and (named or (solid and word.tag in _ALONE))
        and not _is_title(word)
        and word.text not in words_of("ja", "not_name")
        and word.text.lower() not in words_of_list("month")
    )
