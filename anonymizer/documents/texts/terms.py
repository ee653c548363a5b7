"""Whether words that must be gone still stand somewhere, as a reader would see it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from anonymizer.documents.texts.disguise import bones, undisguised
from anonymizer.documents.texts.text import folded

_KANA: Final = {"hiragana": "\u3041-\u309f", "katakana": "\u30a0-\u30ff\u31f0-\u31ff"}
_HAN: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SCRIPTS: Final = {**_KANA, "han": _HAN}
_SOLID: Final = f"{''.join(_SCRIPTS.values())}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Scripts that write words without blanks between them."""

_SIGNS: Final = "[%\u2030\u00b0\u00a7#&+$\u00a2-\u00a5\u20a0-\u20cf]"
"""Signs that people read as words: 20 % is not 20."""

_TOKEN: Final = re.compile(f"(?:(?![{_SOLID}_])\\w)+|{_SIGNS}")
_HYPHENED: Final = re.compile(f"(?:(?![{_SOLID}_])\\w)+(?:-(?:(?![{_SOLID}_\\d])\\w)+)*|{_SIGNS}")
_NAMED: Final = re.compile(f"(?:(?![{_SOLID}_\\d])\\w)+|\\d+|{_SIGNS}")
_PARTED: Final = re.compile(r"(?<=\w)-[^\S\n]*\n\s*(?=\w)")
_INSIDE: Final = 4
"""Letters and digits that a term needs to be looked for inside the words of a name, as in johnsmith.txt."""


class Terms:
    """Words and phrases that must be gone.

    Of scripts with blanks, a term stands where its words stand one after the other, whatever is between them
    (so "12,000" is also "12.000", and "Smith-Jones" "smith jones"), also where a line parts a word. Japanese
    has no blanks: a term of two or more characters stands wherever its characters stand, line breaks between
    them or not; katakana, single characters and pairs of hiragana only where the script changes around them.
    Disguises do not matter: the text is also looked at as `undisguised` gives it, words as their `bones`.

    Args:
        terms: as they are written anywhere; blank ones are left out.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._phrases: dict[str, list[tuple[str, ...]]] = {}
        self._bones: dict[str, set[tuple[str, ...]]] = {}
        self._patterns: list[tuple[str, re.Pattern[str]]] = []
        self._inside: set[str] = set()
        for term in {folded(one).strip() for one in terms} - {""}:
            words = tuple(_TOKEN.findall(term))
            solid = "".join(term.split())
            if words and not re.search(f"[{_SOLID}]", term):
                self._phrases.setdefault(words[0], []).append(words)
                known = tuple(map(bones, words))
                self._bones.setdefault(known[0], set()).add(known)
                self._inside |= {"".join(words)} if len("".join(words)) >= _INSIDE else set()
            else:
                self._patterns.append((solid, _pattern(solid)))

    def __bool__(self) -> bool:
        """Whether there is a term at all."""
        return bool(self._phrases or self._patterns)

    def lines(self, text: str) -> tuple[int, ...]:
        """The lines of a text in which a term begins, counted from 1; of a word in two lines, about there."""
        written, text = text, folded(text)
        places = {*self._of_phrases(text, _TOKEN), *self._of_patterns(text)}
        found = {text.count("\n", 0, at) + 1 for at in places}
        joined = _PARTED.sub("", text)
        if not found and joined != text:
            found = {joined.count("\n", 0, at) + 1 for at in self._of_phrases(joined, _TOKEN)}
        return tuple(sorted(found or {written.count("\n", 0, at) + 1 for at in self._disguised(written)}))

    def stand_in_name(self, name: str) -> bool:
        """Whether a term stands in the name of a file or folder, also inside of a longer word."""
        name = folded(name)
        if next(self._of_phrases(name, _NAMED), None) is not None:
            return True
        solid = "".join(_TOKEN.findall(name.replace("_", " ")))
        return any(one in solid for one in self._inside) or next(self._of_patterns(name), None) is not None

    def _disguised(self, text: str) -> Iterator[int]:
        """Where a term begins in a text without its disguises; hyphens may part its words."""
        plain = undisguised(text)
        if plain.text != text:
            folds = folded(plain.text)
            last = len(plain.starts) - 1
            yield from (plain.starts[min(at, last)] for at in self._of_patterns(folds))
        for hyphens in (False, True):
            found = [
                (one.start(), bones(folded(one[0].replace("-", ""))))
                for one in (_HYPHENED if hyphens else _TOKEN).finditer(plain.text)
            ]
            words = [word for _, word in found]
            for at, (place, word) in enumerate(found):
                for phrase in self._bones.get(word, ()):
                    if tuple(words[at : at + len(phrase)]) == phrase:
                        yield plain.starts[place]

    def _of_phrases(self, text: str, token: re.Pattern[str]) -> Iterator[int]:
        if not self._phrases:
            return
        found = list(token.finditer(text))
        words = [one.group() for one in found]
        for at, word in enumerate(words):
            for phrase in self._phrases.get(word, ()):
                if tuple(words[at : at + len(phrase)]) == phrase:
                    yield found[at].start()

    def _of_patterns(self, text: str) -> Iterator[int]:
        solid = "".join(text.split())
        for term, pattern in self._patterns:
            if term in solid:
                yield from (one.start() for one in pattern.finditer(text))


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
