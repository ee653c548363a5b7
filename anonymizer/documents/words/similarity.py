"""How alike two words are: by their letters, and by the words that stand around them in the corpus.

Reference: thesis, section 6.1.2, which weighs words down that mean much the same as one that was chosen; the
words "first" and "second" are its example. Levy and Goldberg, *Linguistic Regularities in Sparse and Explicit
Word Representations* (2014), for positive pointwise mutual information in place of trained vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from scipy import sparse

from anonymizer.documents.texts.text import Word

_WINDOW: Final = 3
"""Words to each side, symbols left out."""
_MIN_OCCURRENCES: Final = 3
"""A word that occurs less often has no neighbours that say what it means."""
_N: Final = 3


class Similarity:
    """Similarities of the words of a corpus.

    Args:
        documents: the words of each.
    """

    def __init__(self, documents: Iterable[Sequence[Word]]) -> None:
        self._places: dict[str, int] = {}
        rows: list[Any] = []
        columns: list[Any] = []
        for words in documents:
            lemmas = [word.lemma for word in words if word.tag != "symbol"]
            codes = np.array(
                [self._places.setdefault(one, len(self._places)) for one in lemmas], dtype=np.int64
            )
            for step in range(1, _WINDOW + 1):
                rows += [codes[:-step], codes[step:]]
                columns += [codes[step:], codes[:-step]]
        self._rows = _informative(rows, columns, len(self._places))

    def to(self, one: str, others: Sequence[str]) -> list[float]:
        """How similar each of some lemmas is to one, from 0 to 1, which is equal.

        The larger of the share of letters in a row (the Dice coefficient of three-letter parts) and the
        cosine of what stands around the words.
        """
        around = np.zeros(len(others))
        known = [at for at, other in enumerate(others) if other in self._places]
        if one in self._places and known:
            rows = self._rows[[self._places[others[at]] for at in known]]
            around[known] = (rows @ self._rows[[self._places[one]]].T).toarray().ravel()
        shares = (max(_dice(one, other), share) for other, share in zip(others, around, strict=True))
        return [min(1.0, float(share)) for share in shares]


def _informative(rows: list[Any], columns: list[Any], size: int) -> Any:
    """Rows of positive pointwise mutual information, of length 1; those of rare words are empty."""
    if not rows:
        return sparse.csr_array((size, size))
    row, column = np.concatenate(rows), np.concatenate(columns)
    pairs = sparse.coo_array((np.ones(len(row)), (row, column)), shape=(size, size)).tocsr().tocoo()
    sums = np.asarray(pairs.sum(axis=1)).ravel()
    row, column = pairs.coords
    bits = np.log2(pairs.data * sums.sum() / (sums[row] * sums[column]))
    kept = (bits > 0) & (sums[row] >= 2 * _WINDOW * _MIN_OCCURRENCES)
    matrix = sparse.coo_array((bits[kept], (row[kept], column[kept])), shape=(size, size)).tocsr()
    lengths = np.sqrt(np.asarray(matrix.power(2).sum(axis=1)).ravel())
    return sparse.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ matrix


def _dice(one: str, other: str) -> float:
    parts, others = _parts(one), _parts(other)
    return 2 * len(parts & others) / (len(parts) + len(others))


def _parts(word: str) -> set[str]:
    padded = f"^{word}$"
    return {padded[at : at + _N] for at in range(max(1, len(padded) - _N + 1))}
