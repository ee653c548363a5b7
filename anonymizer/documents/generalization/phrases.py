"""Words beside each other as one text, so that patterns of several words can be found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from anonymizer.documents.texts.text import Word

_AROUND: Final = 8
"""Words on either side of one that a pattern may reach."""

_BLANKS: Final = 2
_APART: Final = "\0"
"""Stands where words are further apart than blanks part them, such as by the placeholder of a deletion."""


class Phrase:
    """The words around one as a text, in which matches become words again.

    Args:
        words: of the document.
        at: the word in the middle.
    """

    def __init__(self, words: tuple[Word, ...], at: int) -> None:
        self._at = at
        self._spans: list[tuple[int, int, int]] = []
        self.text = ""
        first = max(at - _AROUND, 0)
        for index, word in enumerate(words[first : at + _AROUND + 1], first):
            gap = word.start - words[index - 1].end if self._spans else 0
            if gap:
                self.text += " " if gap <= _BLANKS else _APART
            self._spans.append((index, len(self.text), len(self.text) + len(word.text)))
            self.text += word.text

    def matches(self, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, re.Match[str]]]:
        """Matches of whole words that hold the middle one: the first word, and the one after the last."""
        for match in pattern.finditer(self.text):
            inside = [
                index for index, start, end in self._spans if match.start() <= start and end <= match.end()
            ]
            touched = [
                index for index, start, end in self._spans if start < match.end() and match.start() < end
            ]
            if inside == touched and self._at in inside:
                yield inside[0], inside[-1] + 1, match
