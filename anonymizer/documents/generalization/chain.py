"""Generalizations one after the other, the same for the same words in a whole folder."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from anonymizer.documents.generalization.deletion import NAME, PLACEHOLDERS
from anonymizer.documents.generalization.generalizer import Generalizer
from anonymizer.documents.texts.text import Language, Word, fold
from anonymizer.errors import FileError

_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_WORD: Final = re.compile(r"[^\W\d_]+")

GENERALIZED: Final[frozenset[Language]] = frozenset({"en", "ja"})
"""Languages in which generalizers can say something; words of others are deleted."""

Key = tuple[Language, str, tuple[str, ...]]
"""A language, the name of a generalizer, and the lemmas that it replaces, but for those of function words."""


@dataclass(frozen=True, slots=True)
class Generalized:
    """What stands for words.

    Attributes:
        first: the first word that is replaced.
        end: the word after the last one.
        text: what is written instead.
        kind: the generalizer's name, or "deletion".
    """

    first: int
    end: int
    text: str = field(repr=False)
    kind: str


class Chain:
    """Says a risk word less exactly, or deletes it.

    What it gives never holds the word itself, another risk word that the caller names, or any word that it
    has ever replaced; so whoever attacks, generalizes and attacks again comes to an end. The same words are
    said at the same step in a whole folder; where what they became is a risk in turn, the next step counts
    from then on. Only symbols may stay what they are: the placeholder of a deletion holds some.

    Args:
        generalizers: the first that knows something counts; their names differ.
        settled: what an earlier run has settled, as `settled` gives it.

    Raises:
        FileError: what is settled was not written by a chain.
    """

    def __init__(self, generalizers: Sequence[Generalizer], settled: Any = None) -> None:
        self._generalizers = tuple(generalizers)
        self._taken: dict[Key, int] = {}
        self._replaced: set[str] = set()
        if settled is not None:
            self.resume(settled)

    def general(
        self, words: tuple[Word, ...], at: int, language: Language, forbidden: Collection[str] = ()
    ) -> Generalized:
        """What stands for a word.

        Args:
            words: of the document, in their order.
            at: which of them.
            language: of the document.
            forbidden: lemmas and texts of other risk words of the folder.
        """
        word = words[at]
        self._replaced |= {fold(word.text), fold(word.lemma)}
        barred = self._replaced | {fold(one) for one in forbidden}
        for generalizer in self._generalizers:
            steps = generalizer.steps(words, at, language) if language in GENERALIZED else None
            if steps is None:
                continue
            said = (
                one.lemma for one in words[steps.first : steps.end] if one.tag not in {"function", "symbol"}
            )
            key = language, generalizer.name, tuple(said)
            taken = self._taken.get(key, 0)
            while taken < len(steps.texts) and _holds_any(steps.texts[taken], barred):
                taken += 1
            self._taken[key] = taken
            if taken < len(steps.texts):
                return Generalized(steps.first, steps.end, steps.texts[taken], generalizer.name)
        return Generalized(at, at + 1, PLACEHOLDERS[language], NAME)

    @property
    def names(self) -> tuple[str, ...]:
        """What it can do, for reports; deletion comes last."""
        return (*(one.name for one in self._generalizers), NAME)

    @property
    def settled(self) -> Mapping[str, Any]:
        """What it has settled, as plain values. As confidential as the documents: it holds their words."""
        taken = [
            [language, name, list(lemmas), step] for (language, name, lemmas), step in self._taken.items()
        ]
        return {"taken": sorted(taken), "replaced": sorted(self._replaced)}

    def resume(self, settled: Any) -> None:
        """Go on from where an earlier run was.

        Args:
            settled: as `settled` gives it.

        Raises:
            FileError: it was not written by a chain.
        """
        try:
            for language, name, lemmas, step in settled["taken"]:
                fits = language in GENERALIZED and _are_texts([name]) and _are_texts(lemmas)
                if not fits or type(step) is not int or step < 0:
                    raise TypeError
                self._taken[language, name, tuple(lemmas)] = step
            if not _are_texts(settled["replaced"]):
                raise TypeError
            self._replaced = set(settled["replaced"])
        except (TypeError, KeyError, ValueError):
            raise FileError(
                "The generalizations that an earlier run kept cannot be read.",
                "Begin anew with --fresh.",
            ) from None


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(one, str) for one in values)


def _holds_any(text: str, barred: Collection[str]) -> bool:
    """Whether one of some folded words stands in a text.

    A word counts also as a part of another one, unless that says nothing: numbers and words of one or two
    letters of ASCII count as whole words alone.
    """
    plain = fold(text)
    whole = {*_NUMBER.findall(plain), *_WORD.findall(plain)}
    for one in barred:
        short = (one.isascii() and len(one) < 3) or _NUMBER.fullmatch(one)
        if any(map(str.isalnum, one)) and (one in whole if short else one in plain):
            return True
    return False
