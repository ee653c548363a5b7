"""RiskEvaluation: whether a text that was found tells who the person of a document is.

Reference: thesis, sections 6.1.2 (Algorithm 7), 6.2.2 and 6.2.3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, Protocol

from anonymizer.documents.attacks.attack import Attacked, Search
from anonymizer.documents.engines.engine import Hit
from anonymizer.documents.sanitization.sanitizing import Success
from anonymizer.documents.texts.matching import Searched, parts_of
from anonymizer.errors import TableError

METADATA: Final = 20
"""So many informative words stand for metadata where there are none (section 6.2.1)."""


class RiskEvaluation(Protocol):
    """Judges a hit of a search."""

    def count_shared(self, document: str, search: Search, hit: Hit) -> int:
        """How many words of R_i a hit has.

        Args:
            document: the name of the document.
            search: that found the hit.
            hit: the text that was found.
        """
        ...

    @property
    def threshold(self) -> int:
        """From so many words on the attack succeeded."""
        ...

    @property
    def counts(self) -> bool:
        """Whether the number of words is evidence (w), and not a name proof."""
        ...


def successes(attacked: Attacked, evaluation: RiskEvaluation) -> tuple[Success, ...]:
    """The searches of an attack that succeeded, each with the first hit that tells."""
    found = []
    for search in attacked.searches:
        for hit in search.hits:
            shared = evaluation.count_shared(attacked.document, search, hit)
            if shared >= evaluation.threshold:
                kw = tuple(one.lemma for one in search.keywords)
                found.append(Success(kw, hit.name, shared if evaluation.counts else 0))
                break
    return tuple(found)


def most_shared(attacked: Attacked, evaluation: RiskEvaluation) -> int:
    """W of a document: the most words of R_i that a hit of its searches has; 0 without hits."""
    return max(
        (
            evaluation.count_shared(attacked.document, search, hit)
            for search in attacked.searches
            for hit in search.hits
        ),
        default=0,
    )


class _Texts:
    """Hits as they are compared; the same text is a hit of many searches."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, str], Searched] = {}

    def of(self, hit: Hit) -> Searched:
        key = hit.name, hit.text
        if key not in self._read:
            self._read[key] = Searched(hit.text)
        return self._read[key]


class KnownNames:
    """R_i is names that only the data holder knows; a hit that has one of them tells.

    Args:
        names: of the people of each document, by its name.
        parts: "all" parts of a name have to be in the hit, in whatever order and place; with "any", one part
            of two letters or more, which is what the thesis's words r_ij say, and finds namesakes as well.

    Raises:
        TableError: a document has no name, or one without letters.
    """

    threshold = 1
    counts = False

    def __init__(self, names: Mapping[str, Collection[str]], parts: Literal["all", "any"] = "all") -> None:
        self._names: dict[str, tuple[str, ...]] = {}
        for document, known in names.items():
            wanted = tuple(known)
            if parts == "any":
                wanted = tuple(part for name in known for part in parts_of(name) if len(part) > 1)
            if not wanted or not all(parts_of(name) for name in wanted):
                raise TableError(
                    f"No name with letters is known of the people in {document}.",
                    "Name the people whom the document is about, or judge by shared words.",
                )
            self._names[document] = wanted
        self._texts = _Texts()

    def count_shared(self, document: str, search: Search, hit: Hit) -> int:  # noqa: ARG002
        """How many of the names are in the hit.

        Raises:
            TableError: no name of the document is known.
        """
        if document not in self._names:
            raise TableError(
                f"No name is known of the people in {document}.", "Give one, or judge by shared words."
            )
        text = self._texts.of(hit)
        return sum(text.holds(name) for name in self._names[document])


class SharedWords:
    """R_i is metadata, or else the most informative words of a document other than kw; w counts them.

    Args:
        words: of each document by its name, the most informative ones first, or metadata.
        threshold: from so many shared words on a hit is about the same matter; see `calibration`.
        top: so many words other than kw count.

    Raises:
        TableError: the threshold is not from 1 to `top`.
    """

    counts = True

    def __init__(self, words: Mapping[str, Sequence[str]], threshold: int, top: int = METADATA) -> None:
        if not 1 <= threshold <= top:
            raise TableError(f"A threshold of {threshold} shared words is out of range.", f"Take 1 to {top}.")
        self.threshold = threshold
        self._words, self._top = words, top
        self._texts = _Texts()

    def count_shared(self, document: str, search: Search, hit: Hit) -> int:
        """w: how many of the words other than those of the search are in the hit.

        Raises:
            TableError: no words of the document are known.
        """
        if document not in self._words:
            raise TableError(
                f"No words of {document} are known.", "Give its metadata or its informative words."
            )
        searched = {
            part for one in search.keywords for form in (one.text, one.lemma) for part in parts_of(form)
        }
        others = [word for word in self._words[document] if not searched.issuperset(parts_of(word))]
        text = self._texts.of(hit)
        return sum(text.holds(word) for word in others[: self._top])
