"""Whether a page of a PDF shows text that readers do not see: white, without ink, or too small to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

_SHOWS: Final = frozenset({b"Tj", b"TJ", b"'", b'"'})
_FILLS: Final = frozenset({b"g", b"rg", b"k", b"sc", b"scn"})
_WHITE: Final = 0.95
"""From which part of all light on a colour is white."""
_SMALL: Final = 2.0
"""Points below which letters are not read."""
_WITHOUT_INK: Final = (3, 7)
"""Modes of rendering (ISO 32000-1, 9.3.6) that neither fill nor stroke letters."""


@dataclass(frozen=True, slots=True)
class _State:
    white: bool = False
    mode: int = 0
    size: float = 0.0


@dataclass(slots=True)
class Visibility:
    """Follows the operators of a page.

    Attributes:
        unseen: whether text was shown that readers may not see. White text on a dark ground counts as well:
            the ground is not looked at.
    """

    unseen: bool = False
    _now: _State = field(default_factory=_State)
    _saved: list[_State] = field(default_factory=list)

    def visit(
        self, operator: bytes, operands: Sequence[Any], page: Sequence[float], text: Sequence[float]
    ) -> None:
        """Take an operator into account; a visitor of pypdf.

        Args:
            operator: its name.
            operands: its operands.
            page: the matrix of the page, of six numbers.
            text: the matrix of the text, of six numbers.
        """
        try:
            self._follow(operator, operands, page, text)
        except (IndexError, TypeError, ValueError):
            return  # an operator with operands that it cannot have; readers differ in what they make of it

    def _follow(
        self, operator: bytes, operands: Sequence[Any], page: Sequence[float], text: Sequence[float]
    ) -> None:
        if operator == b"q":
            self._saved.append(self._now)
        elif operator == b"Q":
            self._now = self._saved.pop() if self._saved else self._now
        elif operator == b"Tf":
            self._now = replace(self._now, size=abs(float(operands[1])))
        elif operator == b"Tr":
            self._now = replace(self._now, mode=int(operands[0]))
        elif operator in _FILLS:
            self._now = replace(self._now, white=_is_white(operands))
        elif operator in _SHOWS:
            points = self._now.size * _scale(page) * _scale(text)
            self.unseen |= self._now.white or self._now.mode in _WITHOUT_INK or points < _SMALL


def _is_white(operands: Sequence[Any]) -> bool:
    """Whether a colour is white: of grey or red, green and blue all light, of inks none."""
    parts = [float(one) for one in operands if not isinstance(one, str)]
    if len(parts) == 4:
        return max(parts) <= 1 - _WHITE
    return len(parts) in {1, 3} and min(parts) >= _WHITE


def _scale(matrix: Sequence[float]) -> float:
    """By how much a matrix makes letters larger."""
    a, b, c, d = (float(one) for one in matrix[:4])
    return float(abs(a * d - b * c) ** 0.5)
