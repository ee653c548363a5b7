"""Hierarchies of codes: more and more characters masked, such as postcodes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import HierarchyError
from anonymizer.hierarchies.hierarchy import ANY, Hierarchy, Level, text_of

_MASK: Final = "*"


class PrefixHierarchy(Hierarchy):
    """Level i masks the last i characters.

    Args:
        length: the length of the codes; shorter ones are refused.
        alphabet: how many characters a place can have, for the loss: 10 for digits.

    Raises:
        HierarchyError: a number is not positive.
    """

    def __init__(self, length: int, alphabet: int = 10) -> None:
        if length < 1 or alphabet < 2:
            raise HierarchyError(
                "Prefix masking needs a length of 1 or more and an alphabet of 2 or more.", "Correct them."
            )
        self._length = length
        self._alphabet = alphabet

    @property
    def height(self) -> int:
        """The length of the codes."""
        return self._length

    def bind(self, values: NDArray[Any], column: str) -> tuple[Level, ...]:
        """The levels over the given codes; loss by the number of codes that a prefix leaves."""
        texts = [text_of(value) for value in values.tolist()]
        for text in texts:
            if len(text) != self._length:
                raise HierarchyError(
                    f"Column {column!r} has the value {text!r}, which has not {self._length} characters.",
                    "Keep codes as texts of one length, leading zeros included.",
                )
        return tuple(self._level(texts, masked) for masked in range(self._length + 1))

    def _level(self, texts: list[str], masked: int) -> Level:
        kept = self._length - masked
        cut = [text[:kept] + _MASK * masked if kept else ANY for text in texts]
        labels = tuple(dict.fromkeys(cut))
        places = {label: place for place, label in enumerate(labels)}
        covered = (float(self._alphabet) ** masked - 1) / (float(self._alphabet) ** self._length - 1)
        groups = np.array([places[text] for text in cut], dtype=np.int64)
        return Level(labels, groups, np.full(len(labels), covered))
