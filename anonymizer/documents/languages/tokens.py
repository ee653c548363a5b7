"""English texts as tokens with offsets, and tokens as sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from anonymizer.documents.languages.vocabulary import ABBREVIATIONS, COMMON, FUNCTION_WORDS
from anonymizer.documents.texts.text import Span

# A mark that combines, and characters of no width, belong to the word that they are in.
_MARKS: Final = "\u0300-\u036f\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\u200b-\u200f\u2060\ufeff\u00ad"
_IN: Final = rf"[\w{_MARKS}]"
_QUOTE: Final = "['\u2019\u02bc]"
_TOKEN: Final = re.compile(
    rf"""
      (?:https?://|www\.)[^\s<>"\u201d\u2019)\]]*[^\s<>"\u201d\u2019)\].,;:!?]   # an address
    | [\w.+-]{{1,64}}@[\w-]+(?:\.[\w-]+)+                                              # an e-mail address
    | (?:[^\W\d_]\.){{2,}}                                                       # U.S.A., Z.M.
    | \d{_IN}*(?:[.,/:\u2010-\u2013-]\d{_IN}*)*                                 # 1,000; 18403/91; 2019-03-05
    | {_IN}+(?:(?:[-\u2010\u2011&]|/(?=\d)|{_QUOTE}(?!(?:s|re|ve|ll|d|m|t)\b)){_IN}+)*  # O'Neill, Saint-Denis
    | {_QUOTE}(?:s|re|ve|ll|d|m|t)\b                                             # a clitic
    | \S[{_MARKS}]*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NOT: Final = re.compile(rf"n{_QUOTE}t\b", re.IGNORECASE)
_NEXT: Final = re.compile(r"\s*(\S)")
_NUMBER: Final = re.compile(r"\s*\d")
_ENDS: Final = frozenset(".!?\u2026")
_CLOSING: Final = frozenset("\"')]\u201d\u2019\u00bb")
_PARAGRAPH: Final = re.compile(r"\n[^\S\n]*\n")


def tokens(text: str) -> Iterator[Span]:
    """The tokens of a text in their order; each character that is not blank is in exactly one.

    A possessive or contracted ending is a token ("applicant" "'s", "did" "n't"); a full stop belongs to the
    token where it abbreviates ("Mr.", "Z.M.", the initial "A.").
    """
    at = 0
    while match := _TOKEN.search(text, at):
        start, end = match.span()
        if negated := _NOT.match(text, end - 1):
            if start < end - 1:
                yield start, end - 1
            start, end = negated.span()
        elif text[end : end + 1] == "." and _abbreviates(text, start, end):
            end += 1
        yield start, end
        at = end


def _abbreviates(text: str, start: int, end: int) -> bool:
    word = text[start:end]
    after = _NEXT.match(text, end + 1)
    if len(word) == 1 and word.isupper():
        return after is not None and (after[1].isalpha() or after[1] == ".") and word != "I"
    if word.lower() not in ABBREVIATIONS:
        return False
    if word.lower() in COMMON:
        return _NUMBER.match(text, end + 1) is not None or (
            word[0].isupper() and after is not None and after[1].isupper()
        )
    return True


def sentences(text: str, spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """From which token to before which one each sentence reaches.

    A sentence ends after a full stop, question or exclamation mark (and quotes and brackets that close after
    it) unless a small letter follows, after an abbreviation that a capital function word follows, and where
    a line is empty.

    Args:
        text: of the document.
        spans: its tokens, as `tokens` gives them.
    """
    first = 0
    for at in range(1, len(spans)):
        before, word = spans[at - 1], text[slice(*spans[at])]
        if word in _CLOSING and spans[at][0] == before[1]:
            continue
        gap = text[before[1] : spans[at][0]]
        closed = at - 1
        while closed > first and text[slice(*spans[closed])] in _CLOSING:
            closed -= 1
        last = text[slice(*spans[closed])]
        ended = last in _ENDS and gap != "" and not word[0].islower()
        abbreviated = (
            len(last) > 1 and last.endswith(".") and word[0].isupper() and word.lower() in FUNCTION_WORDS
        )
        if ended or abbreviated or _PARAGRAPH.search(gap):
            yield first, at
            first = at
    if spans:
        yield first, len(spans)
