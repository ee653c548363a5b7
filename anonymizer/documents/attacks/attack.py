"""Attack: a searcher takes informative words of a document and looks for texts about the same matter.

Reference: thesis, section 6.1.2, Algorithm 6. The search engine stands for D*, what an attacker knows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from anonymizer.documents.engines.engine import RESULTS, Engine, EngineError, Hit
from anonymizer.documents.texts.text import Document, fold
from anonymizer.documents.words.information import Informative
from anonymizer.documents.words.keywords import combine
from anonymizer.errors import TableError

Progress = Callable[[int, int], None]
"""Is called with the searches that are done and all that there are."""

_SPARE: Final = 2
"""So many hits more are asked for, so that the document itself takes no place in the list."""


@dataclass(frozen=True, slots=True)
class Search:
    """One search.

    Attributes:
        keywords: kw, words of the document.
        hits: List_i(kw), best first, without the document itself.
    """

    keywords: tuple[Informative, ...]
    hits: tuple[Hit, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Attacked:
    """What an attack on one document found.

    Attributes:
        document: its name.
        keywords: KW_i.
        searches: all combinations of them, single words first.
        own: names of hits that were set aside since they are the document itself.
    """

    document: str
    keywords: tuple[Informative, ...]
    searches: tuple[Search, ...]
    own: tuple[str, ...]


class Attacker:
    """Searches by one engine, and remembers what it answered for as long as this object lives.

    Attributes:
        searches: how many it was asked for, remembered ones included.

    Args:
        engine: what is searched; an engine whose `leaks` is true is given confidential words.
        limit: #List, so many hits of a search are looked at.

    Raises:
        TableError: the limit is below 1.
    """

    def __init__(self, engine: Engine, limit: int = RESULTS) -> None:
        if limit < 1:
            raise TableError(
                f"A search for {limit} results finds nothing.", f"Take 1 or more; the thesis has {RESULTS}."
            )
        self.engine, self.limit = engine, limit
        self.searches = 0
        self._answers: dict[tuple[str, ...], tuple[Hit, ...]] = {}

    def attack(
        self,
        document: Document,
        keywords: tuple[Informative, ...],
        *,
        versions: Collection[str] = (),
        progress: Progress | None = None,
    ) -> Attacked:
        """Search for a document by all combinations of its keywords.

        The document may not be its own web. Hits whose text is that of the document itself are set aside,
        whatever they are called: they say nothing that it does not say, and its original would make every
        search succeed, so that sanitizing would have no end. A hit that differs in one word counts.

        Args:
            document: the original.
            keywords: KW_i; none makes no search.
            versions: further texts that are the document itself, such as a part of it.
            progress: is called after each search.

        Raises:
            EngineError: a search failed; nothing is known then of the document, least of all that it is safe.
        """
        texts = {same_text(text) for text in (document.text, *versions)}
        tried = combine(keywords)
        searches, own = [], dict[str, None]()
        for done, kw in enumerate(tried, start=1):
            hits = self._hits(tuple(one.text for one in kw))
            is_own = [same_text(hit.text) in texts for hit in hits]
            own |= dict.fromkeys(hit.name for hit, is_it in zip(hits, is_own, strict=True) if is_it)
            others = (hit for hit, is_it in zip(hits, is_own, strict=True) if not is_it)
            self.searches += 1
            searches.append(Search(kw, tuple(islice(others, self.limit))))
            if progress is not None:
                progress(done, len(tried))
        return Attacked(document.name, keywords, tuple(searches), tuple(own))

    def _hits(self, words: tuple[str, ...]) -> tuple[Hit, ...]:
        asked = tuple(sorted(words))
        if asked not in self._answers:
            answer = self.engine.search(asked, self.limit + _SPARE)
            if not isinstance(answer, tuple) or not all(isinstance(hit, Hit) for hit in answer):
                raise EngineError(
                    f"{self.engine.name} answered with something else than documents.",
                    "Correct the engine; no attack was made with these words.",
                )
            self._answers[asked] = answer
        return self._answers[asked]


def same_text(text: str) -> str:
    """What two texts have in common that are the same document, whatever their blanks, case and accents."""
    return "".join(fold(text).split())
