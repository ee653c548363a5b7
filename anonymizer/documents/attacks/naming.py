"""Attackers who name one document of the web for each report, and how many name the right one first.

`duetto sanitize` takes searches away that lead to a person. How much that helps against somebody who goes
another way is measured here: two attackers name the document of the web that they take for the one about the
same person, once for the originals and once for what leaves. The first makes the searches of chapter 6 and
takes the document that comes up most and highest; the second compares whole texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from anonymizer.documents.attacks.attack import Attacked, same_text
from anonymizer.documents.engines.index import tokens_of
from anonymizer.dp.audit import clopper_pearson

AttackerName = Literal["search", "whole text"]
Stage = Literal["original", "first pass", "released"]
STAGES: Final[tuple[Stage, ...]] = ("original", "first pass", "released")
"""The texts that attackers are given: as they came, without direct identifiers, and as they leave."""

Reference = Literal["known names", "the nearest text"]
"""Which document of the web is the right one: one that holds a known name of the person, or, where none is
known, the one whose whole text is nearest to the original, so that the first figure is 1 by definition."""

WRONG: Final = 0.025
"""The probability with which each end of an interval may be wrong."""
_BATCH: Final = 64


@dataclass(frozen=True, slots=True)
class NamedFirst:
    """How many documents an attacker has named rightly.

    Attributes:
        attacker: who.
        reference: what the right document is.
        documents: that were attacked; with known names, those of whose person the web holds the name.
        first: of each stage, how many were named rightly; 0 to `documents`.
    """

    attacker: AttackerName
    reference: Reference
    documents: int
    first: dict[Stage, int] = field(default_factory=dict)

    def interval(self, stage: Stage) -> tuple[float, float]:
        """The 95 % confidence interval (Clopper-Pearson) of the part that is named rightly, in [0, 1]."""
        return clopper_pearson(self.first[stage], self.documents, WRONG)

    def to_values(self) -> dict[str, Any]:
        """As plain values, with the intervals."""
        return {**asdict(self), "intervals": {stage: list(self.interval(stage)) for stage in self.first}}


def most_found(searches: Sequence[Attacked]) -> str | None:
    """The document of the web that searches find most and highest: the largest sum of 1 / rank.

    Args:
        searches: all that were made for one document.

    Returns:
        Its name; of equals the first in the alphabet, None where nothing was found.
    """
    scores: dict[str, float] = defaultdict(float)
    for attacked in searches:
        for search in attacked.searches:
            for rank, hit in enumerate(search.hits, 1):
                scores[hit.name] += 1 / rank
    return min(scores, key=lambda name: (-scores[name], name)) if scores else None


class WholeTexts:
    """Finds the nearest text of a web: the largest cosine of words and pairs of words.

    Of the weights that were tried on halves of court cases, the best one is taken: the logarithm of the count
    times the square of the inverse document frequency.

    Args:
        web: texts by name.
        others: further texts that words are counted in.
    """

    def __init__(self, web: Mapping[str, str], others: Iterable[str] = ()) -> None:
        self._names = list(web)
        self._same = [same_text(text) for text in web.values()]
        self._counted = TfidfVectorizer(analyzer=_analyze, sublinear_tf=True, dtype=np.float32)
        self._counted.fit([*web.values(), *others])
        self._counted.idf_ = self._counted.idf_**2
        self._web = self._counted.transform(web.values())

    def nearest(self, texts: Sequence[str], originals: Sequence[str]) -> list[str | None]:
        """The document of the web that each text is nearest to.

        Args:
            texts: to look for.
            originals: of each; a document of the web with the same text is the report itself, and set aside.

        Returns:
            Names; None where no word of a text is in the web.
        """
        found: list[str | None] = []
        for at in range(0, len(texts), _BATCH):
            rows = self._counted.transform(texts[at : at + _BATCH])
            likeness = np.asarray((rows @ self._web.T).todense())
            for row, original in zip(likeness, originals[at : at + _BATCH], strict=True):
                own = same_text(original)
                row[[place for place, other in enumerate(self._same) if other == own]] = 0.0
                best = int(row.argmax())
                found.append(self._names[best] if row[best] > 0 else None)
        return found


def _analyze(text: str) -> list[str]:
    words = list(tokens_of(text))
    return [*words, *(f"{one} {other}" for one, other in pairwise(words))]
