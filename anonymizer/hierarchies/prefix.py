"""Hierarchies of codes: more and more characters masked, such as postcodes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import HierarchyError
from anonymizer.hierarchies.hierarchy import ANY, Hierarchy, Level, text_of

_MASK: Final = "*"
_LONGEST: Final = 64
_LARGEST: Final = 10_000
"""Such that their power is a number."""


class PrefixHierarchy(Hierarchy):
    """Level i keeps the first `length` - i characters and masks the others.

    Codes may be shorter: `250` is itself until a level keeps no more than its three characters, and then
    `250***`, with `250.83` and all else that begins with it.

    Args:
        length: the length of the longest code.
        alphabet: how many characters a place can have, for the loss: 10 for digits.

    Raises:
        HierarchyError: a number is not positive, or too large.
    """

    def __init__(self, length: int, alphabet: int = 10) -> None:
        if not 1 <= length <= _LONGEST or not 2 <= alphabet <= _LARGEST:
            raise HierarchyError(
                f"Prefix masking needs a length of 1 to {_LONGEST} and an alphabet of 2 to {_LARGEST:,}.",
                "Write, for example, prefix = 5, the length of the codes.",
            )
        self._length = length
        self._alphabet = alphabet

    @property
    @override
    def height(self) -> int:
        """The length of the longest code."""
        return self._length

    @override
    def bind(self, values: NDArray[Any], column: str) -> tuple[Level, ...]:
        """The levels over the given codes; loss by the number of codes that a prefix leaves."""
        texts = [text_of(value) for value in values.tolist()]
        for text in texts:
            if len(text) > self._length:
                raise HierarchyError(
                    f"Column {column!r} has the value {text!r}, longer than {self._length} characters.",
                    f"Write prefix = {len(text)}, or the length of the longest code.",
                )
            if _MASK in text:
                raise HierarchyError(
                    f"Column {column!r} has the value {text!r}, which is masked already.",
                    "Give the column another hierarchy, or the codes without the mask.",
                )
        return tuple(self._level(texts, masked) for masked in range(self._length + 1))

    def _level(self, texts: list[str], masked: int) -> Level:
        kept = self._length - masked
        cut = [self._cut(text, kept) for text in texts] if kept else [ANY] * len(texts)
        labels = tuple(dict.fromkeys(cut))
        places = {label: place for place, label in enumerate(labels)}
        covered = (float(self._alphabet) ** masked - 1) / (float(self._alphabet) ** self._length - 1)
        loss = [covered if label.endswith(_MASK) else 0.0 for label in labels]
        return Level(labels, np.array([places[text] for text in cut], dtype=np.int64), np.array(loss))

    def _cut(self, text: str, kept: int) -> str:
        if kept == self._length or len(text) < kept:
            return text
        return text[:kept] + _MASK * (self._length - kept)
