"""How well identifiers are found: spans masked whole, and the precision of what is masked.

- *Span masked whole*: a mention to be masked (DIRECT or QUASI) of which every character but blanks lies in a
  finding, whatever types the findings have. Recall is the fraction of such mentions.
- *Token precision*: of the words with a letter or a digit that a finding touches, the fraction that touches a
  mention to be masked. Words of mentions marked NO_MASK count as wrongly masked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from anonymizer.documents.direct.annotated import Annotated
from anonymizer.documents.texts.text import Span, Word


@dataclass(slots=True)
class Score:
    """Counts over documents.

    Attributes:
        spans: mentions to be masked, by (identifier, kind).
        whole: those of them that are masked whole.
        words: that are masked.
        right: those of them that touch a mention to be masked.
    """

    spans: Counter[tuple[str, str]] = field(default_factory=Counter)
    whole: Counter[tuple[str, str]] = field(default_factory=Counter)
    words: int = 0
    right: int = 0

    def add(self, one: Annotated, words: Sequence[Word], masked: Iterable[Span]) -> None:
        """Count one document.

        Args:
            one: the document with its mentions.
            words: its words.
            masked: the spans that are masked; they may overlap.
        """
        text = one.document.text
        covered, wanted = bytearray(len(text)), bytearray(len(text))
        for start, end in masked:
            covered[start:end] = b"\1" * (end - start)
        for mention in one.mentions:
            if mention.masked:
                key = mention.identifier, mention.kind
                wanted[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
                self.spans[key] += 1
                self.whole[key] += all(
                    covered[at] or text[at].isspace() for at in range(mention.start, mention.end)
                )
        for word in words:
            if any(covered[word.start : word.end]) and any(one.isalnum() for one in word.text):
                self.words += 1
                self.right += any(wanted[word.start : word.end])

    def recall(self, identifier: str, kind: str | None = None) -> float:
        """The fraction of spans masked whole, 0 to 1; NaN if there are none."""
        keys = [key for key in self.spans if key[0] == identifier and kind in (None, key[1])]
        total = sum(self.spans[key] for key in keys)
        return sum(self.whole[key] for key in keys) / total if total else float("nan")

    def whole_of(self, identifier: str) -> tuple[int, int]:
        """How many spans of DIRECT or QUASI are masked whole, and how many there are."""
        keys = [key for key in self.spans if key[0] == identifier]
        return sum(self.whole[key] for key in keys), sum(self.spans[key] for key in keys)

    def __iadd__(self, other: Self) -> Self:
        """Add the counts of other documents."""
        self.spans += other.spans
        self.whole += other.whole
        self.words += other.words
        self.right += other.right
        return self

    @property
    def precision(self) -> float:
        """The token precision, 0 to 1; NaN if nothing is masked."""
        return self.right / self.words if self.words else float("nan")

    def to_json(self) -> dict[str, Any]:
        """Counts and fractions as plain values; None where there is nothing to divide by."""
        return {
            "words_masked": self.words,
            "token_precision": self.precision if self.words else None,
            "recall": {one: self.recall(one) for one in sorted({key[0] for key in self.spans})},
            "kinds": [
                {"identifier": key[0], "kind": key[1], "spans": total, "whole": self.whole[key]}
                for key, total in sorted(self.spans.items())
            ],
        }
