"""Preprocessing: documents as words with information, keywords and an interest label.

Reference: thesis, section 6.1.2, Algorithm 5.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from anonymizer.documents.texts.text import Word
from anonymizer.documents.words.information import ACCIDENTS, Corpus, Informative, Numerator, Weights
from anonymizer.documents.words.keywords import KEYWORDS, set_keywords
from anonymizer.documents.words.labels import Interest, Labeller
from anonymizer.documents.words.similarity import Similarity


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document, ready to be attacked.

    Attributes:
        words: w^i, all words in their order.
        informative: the different ones that may be searched for with I(w), highest first.
        label: of interest; None if there is no classifier.
        keywords: KW_i.
    """

    words: tuple[Word, ...]
    informative: tuple[Informative, ...]
    label: str | None
    keywords: tuple[Informative, ...]

    @property
    def top(self) -> tuple[str, ...]:
        """All informative words as they are written, highest first: what stands for metadata."""
        return tuple(one.text for one in self.informative)


class Preprocessing:
    """Counts the words of all documents once, and prepares each by these counts.

    Args:
        documents: the words of each document of d.
        others: the words of further ones (D** without d).
        weights: epsilon(w).
        numerator: of P(w); see `Corpus.informative`.
        labeller: gives labels; None gives none.
        interest: what labels decide; |KW| = 3 for all if it is not given.

    Raises:
        TableError: there are no words.
    """

    def __init__(
        self,
        documents: Sequence[Sequence[Word]],
        others: Sequence[Sequence[Word]] = (),
        *,
        weights: Weights = ACCIDENTS,
        numerator: Numerator = "document",
        labeller: Labeller | None = None,
        interest: Interest | None = None,
    ) -> None:
        everything = [*documents, *others]
        self.corpus = Corpus.of(everything)
        self._similarity = Similarity(everything) if weights.similar else None
        self._weights, self._numerator = weights, numerator
        self._labeller, self._interest = labeller, interest or Interest({}, KEYWORDS)

    def prepare(
        self, words: tuple[Word, ...], original: Collection[str] | None = None, *, size: int | None = None
    ) -> Prepared:
        """A document with its keywords, by the counts of the beginning.

        Args:
            words: of the document as it stands, sanitized as far as it is.
            original: lemmas of D_i, or of a D** that holds D_i; words that are not among them were written by
                a sanitizer and weigh less. None if they are not known.
            size: |KW|; what the label of the document decides if it is not given.
        """
        informative = self.corpus.informative(
            words, self._weights, original=original, numerator=self._numerator
        )
        label = self._labeller.label(words) if self._labeller else None
        wanted = self._interest.size(label) if size is None else size
        keywords = set_keywords(informative, self._weights, self._similarity, wanted)
        return Prepared(words, informative, label, keywords)
