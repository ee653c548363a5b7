"""What must not stand in a document that leaves, said once: what the gate would refuse is hidden before.

What was hidden in one place of a document must not stand in another; nor may what was hidden in one document
as the name of a person or as a code stand in another document of the folder.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from anonymizer.documents.direct.coreference import Name
from anonymizer.documents.direct.gazetteers import places, titles, words_of_list
from anonymizer.documents.direct.lexicon import is_common
from anonymizer.documents.generalization.deletion import PLACEHOLDERS
from anonymizer.documents.languages.vocabulary import ABBREVIATIONS, FRENCH, FUNCTION_WORDS, GERMAN
from anonymizer.documents.texts.edits import (
    Edit,
    apply_edits,
    compose_edits,
    edited_span,
    join_edits,
    place_edits,
)
from anonymizer.documents.texts.standing import still_standing
from anonymizer.documents.texts.terms import Terms
from anonymizer.documents.texts.text import Document, Language, Span, fold
from commons.tabular.person_names import given_names

_ROUNDS: Final = 100
"""More than any document needs: each hides something more."""

_WORDS: Final = re.compile(r"[^\W_]+")
_EVERYDAY: Final[dict[Language, frozenset[str]]] = {
    "en": FUNCTION_WORDS | {"a"},
    "ja": frozenset(),
    "de": GERMAN,
    "fr": FRENCH,
}
"""Words that every text has."""

_SMALL: Final = 3
"""Digits of a number that may stand elsewhere as a number of something else."""
_PART: Final = 4
"""Letters of a part of a name by which other documents are looked through."""
_CODE: Final = 6
"""Letters and digits of a code by which other documents are looked through."""
_JOINED: Final = 8
"""Letters of a first name and a surname in one word, as in #annalee."""
_PIECES: Final = re.compile("[-‐‑'’]")
_SPELLED: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"}
_SOLID: Final = re.compile("[\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


def must_go(text: str, edit: Edit, language: Language) -> str:
    """What must not stand elsewhere in a document since an edit has hidden it; "" if nothing.

    What an edit says less exactly, or a person has decided, may stand; so may what the first pass has hidden
    where it says something else in other places: numbers below 1,000 (60 is hidden as an age, and may stand
    as a number of days), and words that every text has, unless they are the name of a person.

    Args:
        text: the original.
        edit: of it.
        language: of the text.
    """
    if not edit.hides or edit.cause == "person":
        return ""
    term = text[edit.start : edit.end]
    words = _WORDS.findall(fold(term))
    if not words:
        return ""
    if edit.cause == "direct":
        if term.isdecimal() and len(term) <= _SMALL:
            return ""
        everyday = _EVERYDAY[language] | (ABBREVIATIONS if language == "en" else frozenset())
        if edit.kind == "PERSON":
            everyday = frozenset(one for one in _EVERYDAY[language] if len(one) == 1)
        if everyday.issuperset(words):
            return ""
    return term


@dataclass(frozen=True, slots=True)
class FolderTerms:
    """Names and codes that were hidden in one document of a folder, and must not stand in any.

    Attributes:
        written: what is written where one stands.
        terms: the same, to be looked for.
    """

    written: Mapping[str, Edit] = field(default_factory=dict, repr=False)
    terms: Terms = field(default_factory=lambda: Terms(()), repr=False)


def folder_terms(
    documents: Iterable[tuple[str, Sequence[Edit], Language]], names: Iterable[str] = ()
) -> FolderTerms:
    """What was found in single documents and is looked for in all.

    Of persons: names of a written-out first name and a surname, in both orders; and the parts of such a name
    that no dictionary of the language holds, that are no place, and that have four letters or more. Codes of
    six letters and digits or more. A surname that is also a common word is not looked for alone.

    Args:
        documents: the text of each, the edits of the first pass, and its language.
        names: of persons that are known, of any document.
    """
    written: dict[str, Edit] = {}
    for text, edits, language in documents:
        for edit in edits:
            term = must_go(text, edit, language) if edit.cause == "direct" else ""
            if not term:
                continue
            if edit.kind == "CODE":
                signs = "".join(_WORDS.findall(term))
                if len(signs) >= _CODE and any(map(str.isdigit, signs)):
                    written.setdefault(term, edit)
            elif edit.kind == "PERSON":
                for one, whole in _names(term, language):
                    written.setdefault(one, edit if whole else _hide_name(edit, language))
    for name in names:
        language = "ja" if _SOLID.search(name) else "en"
        for one, _ in _names(name, language):
            written.setdefault(one, Edit(0, 1, PLACEHOLDERS[language], "direct", "PERSON"))
    return FolderTerms(written, Terms(written))


def _hide_name(edit: Edit, language: Language) -> Edit:
    """A part of a name may be one of several people: which one is not said."""
    return Edit(edit.start, edit.end, PLACEHOLDERS[language], edit.cause, edit.kind)


def _names(text: str, language: Language) -> Iterable[tuple[str, bool]]:
    """What a name is known by elsewhere, and whether it is the whole name."""
    name = Name.of(text, language)
    if _SOLID.search(text):
        solid = "".join(name.parts)
        return [(solid, True)] if len(solid) > 2 else []
    if not name.written_out:
        return []
    parts = name.parts
    whole = [" ".join(parts), " ".join((parts[-1], *parts[:-1]))]
    alone = [one for one in parts if _is_rare(one, language)]
    return [*((one, True) for one in whole), *((one, False) for one in alone)]


@lru_cache(maxsize=1 << 14)
def other_forms(text: str, language: Language) -> tuple[str, ...]:
    """How a document also writes parts of a name that it has: what is nothing else than a name.

    Halves of double names, ä as ae, the German genitive, and the whole name in one word.

    Args:
        text: the name of a person.
        language: of the document.
    """
    return () if _SOLID.search(text) else tuple(dict.fromkeys(_other_forms(text, language)))


def _other_forms(text: str, language: Language) -> Iterator[str]:
    name = Name.of(text, language)
    parts = [one for one in name.parts if len(one) > 1]
    if len(parts) > 1 and len("".join(parts)) >= _JOINED:
        yield from ("".join(parts), "".join((parts[-1], *parts[:-1])))
    for word in text.lower().split():
        if fold(word).strip(",.") not in parts:
            continue
        pieces = [one.strip(",.") for one in _PIECES.split(word)]
        for piece in (one for one in pieces if _is_rare(fold(one), language)):
            forms = [piece, "".join(_SPELLED.get(one, one) for one in piece)]
            forms += [f"{one}s" for one in forms if language == "de"]
            yield from (one for one in dict.fromkeys(forms) if one != piece or len(pieces) > 1)


def _is_rare(part: str, language: Language) -> bool:
    """Whether a part of a name is nothing else than a name."""
    return (
        len(part) >= _PART
        and part.isalpha()
        and not any(is_common(part, one) for one in ({language, "en"} - {"ja"}))
        and part.title() not in given_names()
        and part not in titles() | words_of_list("nationality") | words_of_list("month")
        and places((part.title(),)) == [""]
    )


def hidden_everywhere(
    document: Document,
    edits: Sequence[Edit],
    language: Language,
    names: Collection[str] = (),
    kept: Sequence[Span] = (),
    folder: FolderTerms | None = None,
) -> tuple[Edit, ...]:
    """Hide what must be gone wherever it stands in a document, until it stands nowhere.

    Characters that a person keeps or has written stay; the gate refuses what is left there.

    Args:
        document: the original.
        edits: of its text, without overlaps, in their order.
        language: of the text.
        names: parts of names of its persons, which must be gone as well.
        kept: spans of the original that a person wants as they are.
        folder: names and codes of the other documents.

    Returns:
        The edits with those that were added, without overlaps, in their order.
    """
    text, found = document.text, tuple(edits)
    decided = [text[start:end] for start, end in kept]
    shared = folder or FolderTerms()
    instead = {name: Edit(0, 1, PLACEHOLDERS[language], "direct", "PERSON") for name in names}
    for _ in range(_ROUNDS):
        own = {**instead, **own_terms(text, found, language)}
        now = apply_edits(text, found)
        standing = still_standing(now, found, (Terms(own), shared.terms), decided)
        untouched = [edited_span(found, span) for span in kept]
        untouched += [span for span, edit in place_edits(found) if edit.cause == "person"]
        more = []
        for one in sorted(standing, key=lambda one: one.span[0] - one.span[1]):
            edit = own.get(one.term) or shared.written[one.term]
            more += [Edit(*span, edit.text, edit.cause, edit.kind) for span in _cut(now, one.span, untouched)]
        if not more:
            break
        found = compose_edits(text, found, join_edits(more))
    return found


def own_terms(text: str, edits: Iterable[Edit], language: Language) -> dict[str, Edit]:
    """The terms of a document by its own edits, each with the first edit that has hidden it."""
    found: dict[str, Edit] = {}
    for edit in edits:
        term = must_go(text, edit, language)
        if term:
            found.setdefault(term, edit)
            if edit.kind == "PERSON" and edit.cause == "direct":
                for form in other_forms(term, language):
                    found.setdefault(form, _hide_name(edit, language))
    return found


def _cut(text: str, span: Span, untouched: Iterable[Span]) -> list[Span]:
    """The parts of a span outside of some spans, from a letter or digit to another."""
    parts = [span]
    for low, high in untouched:
        before = [(start, min(end, max(start, low))) for start, end in parts]
        behind = [(max(start, min(end, high)), end) for start, end in parts]
        parts = [*before, *behind] if low < high else parts
    words = [[*_WORDS.finditer(text, *part)] for part in parts]
    return [(those[0].start(), those[-1].end()) for those in words if those] if len(parts) > 1 else parts
