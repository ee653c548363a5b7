"""Rules: identifiers that their form or the words around them give away.

A language is a file of `languages`, and every.toml holds what all have in common: named records, the pieces
that their patterns are put together from, and lists of words. Every quantifier is bounded and no pattern can
match a text in many ways, so that the time is linear in the text, whatever stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from anonymizer.documents.direct import checks
from anonymizer.documents.direct.columns import named_cells
from anonymizer.documents.direct.fields import named_fields
from anonymizer.documents.direct.found import Found, Kind
from anonymizer.documents.direct.gazetteers import language_file
from anonymizer.documents.texts.text import LANGUAGES, Document, Language, Word

_CAPITAL: Final = "[" + "".join(chr(code) for code in range(0x41, 0x530) if chr(code).isupper()) + "]"
"""Latin, Greek and Cyrillic."""

_PIECE: Final = re.compile(r"\{([a-z_]+)\}")
_WRAPPED: Final = re.compile(r"\n\s*")
_COMMON: Final = "every"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        name: a word for reports and reviewers.
        kind: of what it finds.
        pattern: a regular expression; what its group "it" matches is the identifier, else the whole match.
        language: in which it is used; None for all.
        check: what the pattern cannot say of an identifier.
        each: an expression for the identifiers within a match, where one match lists several.
    """

    name: str
    kind: Kind
    pattern: str
    language: Language | None = None
    check: checks.Check | None = None
    each: str | None = None


@cache
def _pieces(name: str) -> Mapping[str, str]:
    """What stands for `{name}` in the patterns of a file: a piece, or any word of a list."""
    own = language_file(name)
    before = {"capital": _CAPITAL} if name == _COMMON else _pieces(_COMMON)
    lists = {key: _any_of(words) for key, words in own.get("words", {}).items()}
    return {**before, **lists, **own.get("parts", {})}


def _any_of(words: list[str]) -> str:
    ordered = sorted(dict.fromkeys(words), key=lambda one: (-len(one), one))
    return f"(?:{'|'.join(re.escape(one).replace(chr(92) + ' ', chr(92) + 's') for one in ordered)})"


def _whole(pattern: str, pieces: Mapping[str, str]) -> str:
    """A pattern with its pieces, and without the ends of lines that the file has it in."""
    found = _WRAPPED.sub("", pattern)
    while _PIECE.search(found):
        found = _PIECE.sub(lambda match: _WRAPPED.sub("", pieces[match[1]]), found)
    return found


def _rules(name: str, language: Language | None) -> Iterator[Rule]:
    pieces = _pieces(name)
    for one in language_file(name)["rule"]:
        check = one.get("check")
        yield Rule(
            one["name"],
            one["kind"],
            _whole(one["pattern"], pieces),
            language,
            getattr(checks, check) if check else None,
            _whole(one["each"], pieces) if "each" in one else None,
        )


RULES: Final[tuple[Rule, ...]] = (
    *_rules(_COMMON, None),
    *(rule for language in LANGUAGES for rule in _rules(language, language)),
)
"""Every rule. A year alone is a date; a weekday or the name of a month alone is none."""


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _matches(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    pattern = _compile(rule.pattern)
    group = "it" if "it" in pattern.groupindex else 0
    for match in pattern.finditer(text):
        within = match.span(group)
        every = (
            [within]
            if rule.each is None
            else [one.span() for one in _compile(rule.each).finditer(text, *within)]
        )
        for start, end in every:
            reach = end if rule.check is None else start + rule.check(text[start:end])
            if start < reach:
                yield start, reach


def _outermost(hits: list[Found]) -> tuple[Found, ...]:
    """Findings without those that lie within another one of their kind, such as the year of a date."""
    kept: list[Found] = []
    reach: dict[Kind, int] = {}
    for hit in sorted(hits, key=lambda one: (one.start, -one.end)):
        if hit.end > reach.get(hit.kind, -1):
            kept.append(hit)
            reach[hit.kind] = hit.end
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class Rules:
    """The recognizer that applies `RULES`.

    Attributes:
        language: of the texts; its rules and those of all languages are applied.
    """

    language: Language
    name: str = "rules"

    def find(self, document: Document, words: tuple[Word, ...] = ()) -> tuple[Found, ...]:  # noqa: ARG002
        """What the rules find, in their order within the text; `by` is the name of the rule."""
        hits = [
            Found(start, end, rule.kind, rule.name)
            for rule in RULES
            if rule.language in (None, self.language)
            for start, end in _matches(rule, document.text)
        ]
        hits += [
            Found(start, end, "PERSON", "column") for start, end in named_cells(document.text, self.language)
        ]
        hits += [
            Found(start, end, "PERSON", "field") for start, end in named_fields(document.text, self.language)
        ]
        return _outermost(hits)
