"""Sanitization: words that carried a successful attack are generalized or deleted until none succeeds.

Algorithm 7 of the thesis (section 6.1.2) and the loop that it leaves to the reader: what remains after one
round is attacked again, since other words then come first and generalized words can be searched for as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from anonymizer.documents.generalization.chain import Generalized
from anonymizer.documents.texts.edits import (
    Edit,
    apply_edits,
    compose_edits,
    join_edits,
    original_span,
    place_edits,
)
from anonymizer.documents.texts.text import Document, Language, Span, Word, fold
from anonymizer.errors import UnreachableError

_PARTS: Final = re.compile(r"[^\W_]+")

ROUNDS: Final = 1000
"""More rounds than any document needs: each takes something from a word, and a word can lose only so much."""


@dataclass(frozen=True, slots=True)
class Success:
    """A search that led to the person.

    Attributes:
        keywords: that were searched for, as lemmas.
        found: the name of the document that was found.
        evidence: the number w of words that RiskEvaluation found there too; 0 where it found a known name.
    """

    keywords: tuple[str, ...] = field(repr=False)
    found: str
    evidence: int = 0


Attack = Callable[[tuple[Word, ...]], Sequence[Success]]
"""Attacks a document by words that it holds; raises `EngineError` rather than leave out a search."""

Words = Callable[[str], tuple[Word, ...]]

Complete = Callable[[tuple[Edit, ...]], tuple[Edit, ...]]
"""Adds the edits of all other places where what was hidden stands; see `gone.hidden_everywhere`."""


def nothing_more(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Adds no edits."""
    return edits


class Replacement(Protocol):
    """Decides what is written for a risk word, the same for the same word in a whole folder; as `Chain`."""

    def general(
        self, words: tuple[Word, ...], at: int, language: Language, forbidden: Collection[str] = ()
    ) -> Generalized:
        """What stands for a word, without any of the forbidden ones."""
        ...


@dataclass(frozen=True, slots=True)
class Round:
    """One round of attack and sanitization.

    Attributes:
        successes: of the attack that it began with.
        words: that were generalized or deleted thereupon, as lemmas.
    """

    successes: tuple[Success, ...]
    words: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Sanitized:
    """A document that no attack leads from.

    Attributes:
        document: the original.
        edits: of its text.
        rounds: in their order; empty where no attack succeeded at all.
        left: attacks that succeed since the person who reviews kept all of their words.
    """

    document: Document
    edits: tuple[Edit, ...]
    rounds: tuple[Round, ...] = ()
    left: tuple[Success, ...] = ()

    @property
    def text(self) -> str:
        """What may leave."""
        return apply_edits(self.document.text, self.edits)

    @property
    def risk_words(self) -> tuple[str, ...]:
        """All words that carried an attack, in the order in which they were found."""
        return tuple(dict.fromkeys(word for one in self.rounds for word in one.words))


def sanitize(
    document: Document,
    edits: Sequence[Edit],
    words: Words,
    attack: Attack,
    replacement: Replacement,
    kept: Sequence[Span] = (),
    language: Language = "en",
    complete: Complete = nothing_more,
) -> Sanitized:
    """Attack a document and take away what carries attacks, until none succeeds.

    Args:
        document: the original.
        edits: that are made before any attack, such as of direct identifiers; without overlaps, in order.
        words: splits a text.
        attack: on words of the text as it then stands; words of placeholders are not among them.
        replacement: of risk words.
        kept: spans of the original that the person who reviews wants as they are; a word that stands in one
            of them is kept wherever it stands in the document.
        language: of the document.
        complete: what hides words that were hidden wherever else they stand, before each attack.

    Raises:
        EngineError: a search failed, so that nothing is known of its risk.
        UnreachableError: attacks go on to succeed although no word is left that may be changed.
    """
    found, rounds = complete(tuple(edits)), list[Round]()
    for _ in range(ROUNDS):
        now = searchable(words(apply_edits(document.text, found)), found)
        successes = tuple(attack(now))
        fixed = {word.lemma for word in now if touches(kept, original_span(found, word.span))}
        open_ = [one for one in successes if not fixed.issuperset(one.keywords)]
        if not open_:
            return Sanitized(document, found, tuple(rounds), successes)
        risky = _carriers(open_) - fixed
        more = _replace(now, risky, fixed, replacement, language)
        after = complete(compose_edits(document.text, found, more))
        if after == found or not more:
            break
        found = after
        rounds.append(Round(tuple(open_), tuple(sorted(risky))))
    raise UnreachableError(
        f"Attacks on {document.name} go on to succeed although all words that carried them were replaced.",
        "Look at the documents of the web that were found; a generalization may name the person.",
    )


def searchable(words: Iterable[Word], edits: Sequence[Edit]) -> tuple[Word, ...]:
    """The words of an edited text that do not stand in placeholders.

    Args:
        words: of the edited text, in their order.
        edits: that it was edited by, in their order.
    """
    hidden = [span for span, edit in place_edits(edits) if edit.hides]
    return tuple(word for word in words if not touches(hidden, word.span))


def _carriers(successes: Sequence[Success]) -> set[str]:
    """The keywords of the smallest searches that succeed.

    Where a word leads to the person alone, what was searched for together with it says nothing of the others.
    """
    sets = {frozenset(one.keywords) for one in successes}
    smallest = [one for one in sets if not any(other < one for other in sets)]
    return set().union(*smallest)


def _replace(
    words: tuple[Word, ...], risky: set[str], fixed: set[str], replacement: Replacement, language: Language
) -> tuple[Edit, ...]:
    """Edits of all places where risk words stand, whatever the tagger took them for there.

    A risk word is also found as a part of another, "first" in "first-instance": engines part such words.
    """
    written = {fold(word.text) for word in words if word.lemma in risky}
    edits: list[Edit] = []
    reached = 0
    for at, word in enumerate(words):
        inside = word.lemma not in fixed and not written.isdisjoint(_PARTS.findall(fold(word.text)))
        if not (word.lemma in risky or fold(word.text) in written or inside) or at < reached:
            continue
        found = replacement.general(words, at, language, risky)
        reached = found.end
        edits.append(
            Edit(words[found.first].start, words[found.end - 1].end, found.text, "attack", found.kind)
        )
    return join_edits(edits)


def touches(spans: Iterable[Span], span: Span) -> bool:
    """Whether a span shares a character with any of some spans."""
    return any(low < span[1] and span[0] < high for low, high in spans)
