"""Whether words that must be gone still stand somewhere, as a reader would see it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from anonymizer.documents.texts.disguise import Undisguised, bones, edit_undisguised, undisguise
from anonymizer.documents.texts.text import Span, fold

_KANA: Final = {"hiragana": "\u3041-\u309f", "katakana": "\u30a0-\u30ff\u31f0-\u31ff"}
_HAN: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SCRIPTS: Final = {**_KANA, "han": _HAN}
_SOLID: Final = f"{''.join(_SCRIPTS.values())}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Scripts that write words without blanks between them."""

BREAK: Final = "\uffff"
"""Stands for what nobody reads as words, such as a placeholder; no term goes on across it. No character."""

_SIGNS: Final = f"[%\u2030\u00b0\u00a7#&+$\u00a2-\u00a5\u20a0-\u20cf{BREAK}]"
"""Signs that people read as words: 20 % is not 20."""

_TOKEN: Final = re.compile(f"(?:(?![{_SOLID}_])\\w)+|{_SIGNS}")
_HYPHENED: Final = re.compile(f"(?:(?![{_SOLID}_])\\w)+(?:-(?:(?![{_SOLID}_\\d])\\w)+)*|{_SIGNS}")
_NAMED: Final = re.compile(f"(?:(?![{_SOLID}_\\d])\\w)+|\\d+|{_SIGNS}")
_PARTED: Final = re.compile(r"(?<=\w)-[^\S\n]*\n\s*(?=\w)")
_INSIDE: Final = 4
"""Letters and digits that a term needs to be looked for inside the words of a name, as in johnsmith.txt."""

_MARKS: Final = "\u0300-\u036f\u3099\u309a\uff9e\uff9f\u180b-\u180d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_CLUSTER: Final = re.compile(f"[^{_MARKS}][{_MARKS}]*|[{_MARKS}]+", re.DOTALL)
"""A character with the marks that belong to it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A place where a term stands.

    Attributes:
        span: in the text that was looked at.
        term: as it was given.
    """

    span: Span
    term: str = field(repr=False)


class Terms:
    """Words and phrases that must be gone.

    Of scripts with blanks, a term stands where its words stand one after the other, whatever is between them
    (so "12,000" is also "12.000", and "Smith-Jones" "smith jones"), also where a line parts a word. Japanese
    has no blanks: a term of two or more characters stands wherever its characters stand, line breaks between
    them or not; katakana, single characters and pairs of hiragana only where the script changes around them.
    Disguises do not matter: the text is also looked at as `undisguise` gives it, words as their `bones`.

    Args:
        terms: as they are written anywhere; blank ones are left out.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self._bones: dict[str, dict[tuple[str, ...], str]] = {}
        self._patterns: list[tuple[str, re.Pattern[str], str]] = []
        self._inside: dict[str, str] = {}
        for given in terms:
            term = fold(given).strip()
            if not term:
                continue
            words = tuple(_TOKEN.findall(term))
            solid = "".join(term.split())
            if words and not re.search(f"[{_SOLID}]", term):
                self._phrases.setdefault(words[0], []).append((words, given))
                known = tuple(map(bones, words))
                self._bones.setdefault(known[0], {})[known] = given
                if len("".join(words)) >= _INSIDE:
                    self._inside["".join(words)] = given
            else:
                self._patterns.append((solid, _pattern(solid), given))

    def __bool__(self) -> bool:
        """Whether there is a term at all."""
        return bool(self._phrases or self._patterns)

    def standing(self, text: str) -> tuple[Standing, ...]:
        """All places of a text in which a term stands, in their order; they may overlap.

        Args:
            text: as people read it. `BREAK` stands for each letter of a placeholder.
        """
        if not self:
            return ()
        places = tuple(range(len(text)))
        folds = _folds(Undisguised(text, places, tuple(range(1, len(text) + 1))))
        found = [*self._of_phrases(folds, _TOKEN), *self._of_patterns(folds)]
        parted = [(*one.span(), "") for one in _PARTED.finditer(folds.text)]
        if parted:
            found += self._of_phrases(edit_undisguised(folds, parted), _TOKEN)
        found += self._find_disguised(text)
        return tuple(sorted(dict.fromkeys(found), key=lambda one: one.span))

    def lines(self, text: str) -> tuple[int, ...]:
        """The lines of a text in which a term begins, counted from 1."""
        return tuple(sorted({text.count("\n", 0, one.span[0]) + 1 for one in self.standing(text)}))

    def in_name(self, name: str) -> tuple[str, ...]:
        """The terms that stand in the name of a file or folder, also inside of a longer word."""
        places = tuple(range(len(name)))
        folds = _folds(Undisguised(name, places, tuple(range(1, len(name) + 1))))
        found = [*self._of_phrases(folds, _NAMED), *self._of_patterns(folds)]
        solid = "".join(_TOKEN.findall(folds.text.replace("_", " ")))
        inside = [term for one, term in self._inside.items() if one in solid]
        return tuple(dict.fromkeys([*(one.term for one in found), *inside]))

    def _find_disguised(self, text: str) -> Iterator[Standing]:
        """Where a term stands in a text without its disguises; hyphens may part its words."""
        plain = undisguise(text)
        if plain.text != text:
            yield from self._of_patterns(_folds(plain))
        for hyphens in (False, True):
            found = [
                (one.span(), bones(fold(one[0].replace("-", ""))))
                for one in (_HYPHENED if hyphens else _TOKEN).finditer(plain.text)
            ]
            words = [word for _, word in found]
            for at, (place, word) in enumerate(found):
                for phrase, term in self._bones.get(word, {}).items():
                    if tuple(words[at : at + len(phrase)]) == phrase:
                        yield Standing(plain.span(place[0], found[at + len(phrase) - 1][0][1]), term)

    def _of_phrases(self, text: Undisguised, token: re.Pattern[str]) -> Iterator[Standing]:
        if not self._phrases:
            return
        found = list(token.finditer(text.text))
        words = [one.group() for one in found]
        for at, word in enumerate(words):
            for phrase, term in self._phrases.get(word, ()):
                if tuple(words[at : at + len(phrase)]) == phrase:
                    yield Standing(text.span(found[at].start(), found[at + len(phrase) - 1].end()), term)

    def _of_patterns(self, text: Undisguised) -> Iterator[Standing]:
        solid = "".join(text.text.split())
        for term, pattern, given in self._patterns:
            if term in solid:
                yield from (Standing(text.span(*one.span()), given) for one in pattern.finditer(text.text))


def _folds(text: Undisguised) -> Undisguised:
    """A text as searches compare it, with the places of its characters."""
    if text.text.isascii():
        return Undisguised(text.text.lower(), text.starts, text.ends)
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for one in _CLUSTER.finditer(text.text):
        new = _folded_once(one[0])
        parts.append(new)
        low, high = text.span(*one.span())
        starts += [low] * len(new)
        ends += [high] * len(new)
    return Undisguised("".join(parts), tuple(starts), tuple(ends))


@lru_cache(maxsize=1 << 16)
def _folded_once(cluster: str) -> str:
    return fold(cluster)


def _pattern(term: str) -> re.Pattern[str]:
    """What finds a term of a script without blanks, or of symbols."""
    middle = r"\s*".join(map(re.escape, term))
    return re.compile(f"{_edge(term, term[0], '<!')}{middle}{_edge(term, term[-1], '!')}")


def _edge(term: str, last: str, look: str) -> str:
    """That the script changes at an end of a term, where that is needed."""
    script = next((word for word, signs in _SCRIPTS.items() if re.match(f"[{signs}]", last)), "")
    short = len(term) == 1 or (script == "hiragana" and len(term) < 3)
    if script == "katakana" or (script and short):
        return f"(?{look}[{_SCRIPTS[script]}])"
    return f"(?{look}(?![{_SOLID}_])\\w)" if not script and last.isalnum() and look == "!" else ""
