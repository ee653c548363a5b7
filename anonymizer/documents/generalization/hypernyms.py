"""Hypernyms: a word becomes a wider one, as WordNet has them."""

from __future__ import annotations

from typing import Final

from anonymizer.documents.generalization.generalizer import Steps
from anonymizer.documents.generalization.wordnet import Part, WordNet
from anonymizer.documents.texts.text import Language, Tag, Word

_STEPS: Final = 4
"""What lies further above says next to nothing."""

_EMPTY: Final = frozenset({"entity", "physical entity", "abstraction", "abstract entity", "object", "whole"})
_SOMEBODY: Final = frozenset({"person", "spiritual being"})
_PARTS: Final[dict[Tag, Part]] = {"noun": "noun", "name": "noun", "verb": "verb"}
_ARTICLES: Final = frozenset({"a", "an"})
_VOWEL_SOUNDS: Final = ("hour", "honest", "heir", "honour", "honor")
_CONSONANT_SOUNDS: Final = ("uni", "use", "usu", "util", "eu", "one", "once", "ura", "uta")


class Hypernyms:
    """English nouns, names of things (never of persons) that WordNet knows, and verbs in their basic form.

    The most frequent meaning counts, and of each meaning above it the first word that is not also a word of
    the meaning itself: a synonym says no less. Plural nouns stay plural, and a or an before the word changes
    with it. Other inflected verbs are left to deletion, since no form would be certain.

    Args:
        wordnet: its files, read.
    """

    name = "hypernym"

    def __init__(self, wordnet: WordNet) -> None:
        self._wordnet = wordnet

    def steps(self, words: tuple[Word, ...], at: int, language: Language) -> Steps | None:
        """The words above; see `Generalizer`."""
        word = words[at]
        part = _PARTS.get(word.tag)
        if language != "en" or part is None:
            return None
        if part == "verb" and word.text.lower() != word.lemma:
            return None
        place = self._wordnet.first(word.lemma, part)
        if place is None:
            return None
        own = self._wordnet.synset(place, part)
        if (word.tag == "name") != own.instance or (own.instance and not self._safe(words, at, place)):
            return None
        found = self._above(place, own.words, part)
        if part == "verb":
            return Steps(at, at + 1, tuple(found)) if found else None
        return _inflect(words, at, found) if found else None

    def _safe(self, words: tuple[Word, ...], at: int, place: int) -> bool:
        """Whether a name stands alone, and not for somebody, who is hardly the one of WordNet."""
        beside = (*words[max(at - 1, 0) : at], *words[at + 1 : at + 2])
        if any(word.tag in {"name", "person"} for word in beside):
            return False
        return not any(_SOMEBODY & set(synset.words) for synset in self._wordnet.above(place, "noun"))

    def _above(self, place: int, own: tuple[str, ...], part: Part) -> list[str]:
        barred = {one.lower() for one in own} | _EMPTY
        found: list[str] = []
        for synset in self._wordnet.above(place, part):
            wider = next((one for one in synset.words if one.lower() not in barred), None)
            if _EMPTY & set(synset.words) or len(found) == _STEPS:
                break
            if wider is not None:
                found.append(wider)
                barred |= {one.lower() for one in synset.words}
        return found


def _inflect(words: tuple[Word, ...], at: int, found: list[str]) -> Steps:
    """Nouns in the number of the word, with its capital and its article."""
    word = words[at]
    before = words[at - 1].text if at else ""
    if word.tag == "noun" and _is_plural(word):
        found = [_plural(one) for one in found]
    elif before.lower() in _ARTICLES:
        return Steps(at - 1, at + 1, tuple(_match_case(f"{_article(one)} {one}", before) for one in found))
    elif word.tag == "name" and before.lower() != "the":
        found = [f"{_article(one)} {one}" for one in found]
    return Steps(
        at, at + 1, tuple(_match_case(one, word.text) if word.tag == "noun" else one for one in found)
    )


def _is_plural(word: Word) -> bool:
    """Whether the form is more than the lemma by its ending, or another word, such as children."""
    return word.text.lower() != word.lemma


def _plural(text: str) -> str:
    """The regular plural of the last word, or of the one before "of"."""
    if " of " in text:
        head, of, rest = text.partition(" of ")
        return _plural(head) + of + rest
    if text.endswith(("s", "x", "z", "ch", "sh")):
        return text + "es"
    if text.endswith("y") and text[-2:-1] not in "aeiou":
        return text[:-1] + "ies"
    if text.endswith("man") and not text.endswith("human"):
        return text[:-2] + "en"
    return text + "s"


def _article(text: str) -> str:
    lower = text.lower()
    vowel = lower.startswith(_VOWEL_SOUNDS) or (
        lower.startswith(tuple("aeiou")) and not lower.startswith(_CONSONANT_SOUNDS)
    )
    return "an" if vowel else "a"


def _match_case(text: str, like: str) -> str:
    return text[:1].upper() + text[1:] if like[:1].isupper() else text
