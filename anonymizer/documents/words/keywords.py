"""SetKeywords: the words of a document that an attacker would search with, and in which combinations.

Reference: thesis, sections 6.1.2 and 6.2.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from typing import Final

from anonymizer.documents.words.information import Informative, Weights
from anonymizer.documents.words.similarity import Similarity
from anonymizer.errors import TableError

KEYWORDS: Final = 3
"""|KW| of the thesis: people seldom search with more words."""
MAX_KEYWORDS: Final = 5
"""|KW| at most: five words make 31 searches."""


def set_keywords(
    informative: Sequence[Informative], weights: Weights, similarity: Similarity | None, size: int = KEYWORDS
) -> tuple[Informative, ...]:
    """KW_i: one after another the word with the most information, less what it shares with those chosen.

    Args:
        informative: words of the document, highest information first.
        weights: their `similar` is epsilon for similarity.
        similarity: of words of the corpus; None takes words as they come.
        size: |KW|, 0 to 5.

    Returns:
        At most `size` words, in the order in which they were chosen.

    Raises:
        TableError: `size` is out of its range.
    """
    if not 0 <= size <= MAX_KEYWORDS:
        raise TableError(
            f"{size} keywords (|KW|) are out of range.",
            f"Take 0 to {MAX_KEYWORDS}; the thesis has {KEYWORDS}.",
        )
    left, chosen = list(informative), list[Informative]()
    shares = {one.lemma: 0.0 for one in left}
    while left and len(chosen) < size:
        best = max(left, key=lambda one: one.information + weights.similar * shares[one.lemma])
        chosen.append(best)
        left.remove(best)
        if similarity is not None and len(chosen) < size:
            left = _possible(left, weights, size - len(chosen))
            lemmas = [one.lemma for one in left]
            for lemma, share in zip(lemmas, similarity.to(best.lemma, lemmas), strict=True):
                shares[lemma] = max(shares[lemma], share)
    return tuple(chosen)


def _possible(left: Sequence[Informative], weights: Weights, wanted: int) -> list[Informative]:
    """Those that can still be among the next ones: others are below these even if these are all similar."""
    worst = sorted((one.information + weights.similar for one in left), reverse=True)[:wanted]
    return [one for one in left if one.information >= worst[-1]] if worst else []


def combine(keywords: Sequence[Informative]) -> tuple[tuple[Informative, ...], ...]:
    """All 2^|KW| - 1 combinations kw of keywords, single words first."""
    sizes = range(1, len(keywords) + 1)
    return tuple(chain.from_iterable(combinations(keywords, size) for size in sizes))
