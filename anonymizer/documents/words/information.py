"""The information of words: how rare a word is, and how well it would serve in a search.

Reference: thesis, section 6.1.2, Eq. 6.1 and 6.2.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from anonymizer.documents.texts.text import Tag, Word
from anonymizer.errors import TableError

Numerator = Literal["document", "corpus"]
"""What #d_i(w) counts: w in the document, as printed, or in all documents."""

_AGED: Final = frozenset({"aged", "age"})
_OLD: Final = frozenset({"year-old", "歳", "才"})


@dataclass(frozen=True, slots=True)
class Weights:
    """The moderator variable epsilon(w) of Eq. 6.1, in bits.

    Attributes:
        tags: by the kind of the word; of a kind that is not here, no word is searched for.
        age: more for a number that is an age, such as 17 in "aged 17", "17 years old" and 17歳.
        added: more (or rather less) for a word that the document has and its original has not: the sanitizer
            wrote it in place of another one.
        similar: for a word that is wholly similar to one that was chosen before it, and in proportion for
            one that is less so; not above 0.
    """

    tags: Mapping[Tag, float] = field(
        default_factory=lambda: {
            "name": 2.0,
            "person": 2.0,
            "place": 2.0,
            "noun": 0.0,
            "number": 0.0,
            "verb": -1.0,
            "adjective": -3.0,
        }
    )
    age: float = 0.0
    added: float = -8.0
    similar: float = -8.0

    def __post_init__(self) -> None:
        values = (*self.tags.values(), self.age, self.added, self.similar)
        if not all(math.isfinite(one) for one in values):
            raise TableError(
                "A weight of words is not a finite number.",
                "Leave a kind of word out that nobody searches for.",
            )
        if self.similar > 0:
            raise TableError("The weight of similar words is above 0.", "Give 0, or what they lose, in bits.")


ACCIDENTS: Final = Weights()
"""Reports of accidents: names of all kinds first."""

COURTS: Final = Weights(
    tags={
        "name": 2.0,
        "person": -2.0,
        "place": 2.0,
        "noun": 0.0,
        "number": 0.0,
        "verb": -1.0,
        "adjective": -3.0,
    },
    age=3.0,
)
"""Court cases, which name their judges: persons after all else, ages before (section 6.2.2)."""


@dataclass(frozen=True, slots=True)
class Informative:
    """A word of a document with its information.

    Attributes:
        lemma: by which it is counted.
        text: as it is first written in the document.
        tag: its kind where it is first written.
        count: how often the document has it.
        spread: how many documents of the corpus have it.
        information: I(w), in bits.
    """

    lemma: str
    text: str
    tag: Tag
    count: int
    spread: int
    information: float


@dataclass(frozen=True, slots=True)
class Corpus:
    """How often words are in d, and in D** if there is one.

    Attributes:
        total: #d, or #D** + #d: all words but symbols.
        counts: of each lemma.
        spreads: in how many documents each lemma is.
    """

    total: int
    counts: Mapping[str, int]
    spreads: Mapping[str, int]

    @classmethod
    def of(cls, documents: Iterable[Sequence[Word]]) -> Corpus:
        """Count words.

        Args:
            documents: the words of each document of d, and of D** if there is one; a document of both once.

        Raises:
            TableError: there is no word.
        """
        counts: Counter[str] = Counter()
        spreads: Counter[str] = Counter()
        for words in documents:
            lemmas = [word.lemma for word in words if word.tag != "symbol"]
            counts.update(lemmas)
            spreads.update(set(lemmas))
        if not counts:
            raise TableError("The documents have no words.", "Give documents with text.")
        return cls(counts.total(), counts, spreads)

    def informative(
        self,
        words: Sequence[Word],
        weights: Weights,
        *,
        original: Collection[str] | None = None,
        numerator: Numerator = "document",
    ) -> tuple[Informative, ...]:
        """CalculationI: different words of a document with I(w) = -log2 P(w) + epsilon(w), highest first.

        The printed values of section 6.2.2, 23.80, 22.79 and 22.21, differ by 1.01 and 0.58: they are those
        of words with one, two and three occurrences and a logarithm of base 2 (log2 2 = 1, log2 3/2 = 0.585;
        the natural one would have 0.69 and 0.41). -log2 (1 / 150,000) is 17.19, so that all words of the
        table have an epsilon of 6.60 by Eq. 6.1, of which the text says nothing. The values of Table 6.2,
        31.50, 31.21 and 30.83, are not those of counts from 1 to 5 in base 2, e or 10: they hold different
        epsilons, which are not printed.

        As printed, the numerator of P is the number of occurrences in the document alone, so that P is not a
        probability of appearance, and all words that a document has once are equal before epsilon.
        Among equals, those that fewer documents have come first, then those that are written first.

        Args:
            words: of the document, which is part of this corpus.
            weights: epsilon(w).
            original: lemmas of the document before it was sanitized (D_i), or of D** if that holds the
                originals; None if they are not known.
            numerator: "document" as printed; "corpus" takes the occurrences in all documents.

        Returns:
            Words whose kind has a weight.
        """
        counts: Counter[str] = Counter(word.lemma for word in words)
        first: dict[str, Word] = {}
        ages: set[str] = set()
        for at, word in enumerate(words):
            if word.tag in weights.tags:
                first.setdefault(word.lemma, word)
                if word.tag == "number" and _is_age(words, at):
                    ages.add(word.lemma)
        found = []
        for lemma, word in first.items():
            count = (
                counts[lemma] if numerator == "document" else max(self.counts.get(lemma, 0), counts[lemma])
            )
            epsilon = weights.tags[word.tag] + (weights.age if lemma in ages else 0.0)
            if original is not None and lemma not in original:
                epsilon += weights.added
            information = math.log2(max(self.total, count) / count) + epsilon
            spread = self.spreads.get(lemma, 0)
            found.append(Informative(lemma, word.text, word.tag, counts[lemma], spread, information))
        return tuple(sorted(found, key=lambda one: (-one.information, one.spread)))


def _is_age(words: Sequence[Word], at: int) -> bool:
    before = words[at - 1].lemma if at else ""
    after = [word.lemma for word in words[at + 1 : at + 3]]
    return before in _AGED or not _OLD.isdisjoint(after[:1]) or after == ["year", "old"]
