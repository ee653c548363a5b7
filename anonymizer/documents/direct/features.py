"""What the recognizer sees of every word: itself, its neighbours, lists, rules, the document around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from anonymizer.documents.direct import gazetteers
from anonymizer.documents.direct.found import Found
from anonymizer.documents.texts.text import Document, Word

VERSION: Final = 2
"""Of the features. A model says the version that it was trained with, and no other can read it."""

_NEAR: Final = 2
_WIDE: Final = 5
"""Neighbours that are seen with all their features, and those whose words alone are."""

_TRIGGERS: Final = (
    gazetteers.words_of_list("office")
    | gazetteers.words_of_list("profession")
    | gazetteers.words_of_list("family")
    | {
        *(
            "born",
            "lives",
            "living",
            "lived",
            "resident",
            "resides",
            "represented",
            "practising",
            "national",
            "called",
        ),
        *(
            "sentenced",
            "imprisonment",
            "fine",
            "sum",
            "amount",
            "application",
            "protocol",
            "judgment",
            "act",
            "law",
        ),
        *(
            "v.",
            "ibid",
            "echr",
            "cited",
            "article",
            "code",
            "bulletin",
            "gazette",
            "newspaper",
            "village",
            "district",
        ),
    }
)


def sentences(document: Document, words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """The paragraphs of a document, as ranges of its words: what the recognizer reads at once."""
    start = 0
    for at in range(1, len(words) + 1):
        if at == len(words) or "\n" in document.text[words[at - 1].end : words[at].start]:
            yield start, at
            start = at


def shape(word: str) -> str:
    """The form of a word: "Xx" for capitalized ones, "d/d" for 18403/91; one character stands for a run."""
    kinds = (
        "X" if one.isupper() else "x" if one.isalpha() else "d" if one.isdigit() else one for one in word
    )
    return "".join(key for key, _ in groupby(kinds))[:8]


def features(document: Document, words: tuple[Word, ...], hits: Sequence[Found]) -> list[list[str]]:
    """The features of every word.

    Args:
        document: the text.
        words: all its words.
        hits: what the rules have found in it.

    Returns:
        one list of names of features per word; a feature is there or not.
    """
    places = gazetteers.places(tuple(word.text for word in words))
    ruled = _rule_features(words, hits)
    around = _around(words, ruled)
    single = [
        _single(word, place, rule) + more
        for word, place, rule, more in zip(words, places, ruled, around, strict=True)
    ]
    table: list[list[str]] = []
    for number, (start, end) in enumerate(sentences(document, words)):
        lowers = [word.text.lower() for word in words[start:end]]
        tags = [word.tag for word in words[start:end]]
        for at in range(end - start):
            one = ["bias", f"par={min(number, 12)}", f"pos={min(at, 4)}", *single[start + at]]
            for step in (*range(-_NEAR, 0), *range(1, _NEAR + 1)):
                if 0 <= at + step < end - start:
                    one += [f"{step}:{name}" for name in single[start + at + step]]
                else:
                    one.append(f"{step}:none")
            one += _pairs(lowers, tags, at)
            window = lowers[max(0, at - _WIDE) : at + _WIDE + 1]
            one += [f"near={word}" for word in sorted(_TRIGGERS & set(window))]
            table.append(one)
    return table


def _single(word: Word, place: str, rule: str) -> list[str]:
    lower = word.text.lower()
    found = [f"w={lower}", f"t={word.tag}", f"s={shape(word.text)}"]
    if len(lower) > 3:
        found += [f"p={lower[:3]}", f"x={lower[-3:]}", f"xx={lower[-2:]}"]
    found += [f"l={name}" for name in gazetteers.lists(word.text)]
    if place:
        found.append(f"g={place}")
    if rule:
        found.append(f"r={rule}")
    return found


def _rule_features(words: tuple[Word, ...], hits: Sequence[Found]) -> list[str]:
    """What the rules say of each word: the kind, and whether it begins the finding. Longer findings win."""
    kinds = [""] * len(words)
    for hit in sorted(hits, key=lambda one: (one.start - one.end, one.start)):
        inside = [at for at, word in enumerate(words) if hit.start < word.end and word.start < hit.end]
        if any(kinds[at] for at in inside):
            continue
        for first, at in enumerate(inside):
            kinds[at] = f"{'I' if first else 'B'}-{hit.kind}"
    return kinds


def _around(words: tuple[Word, ...], ruled: list[str]) -> list[list[str]]:
    """What the document says elsewhere of the same word."""
    persons = {
        word.text
        for word, rule in zip(words, ruled, strict=True)
        if rule.endswith("PERSON") and len(word.text) > 2
    } - {
        title
        for word in words
        if (title := word.text).lower().rstrip(".") in gazetteers.words_of_list("title")
    }
    small = {word.text for word in words if word.text.islower()}
    counts, seen = Counter(word.text for word in words), Counter[str]()
    table = []
    for word in words:
        more = []
        if word.text[:1].isupper():
            if word.text in persons:
                more.append("known-person")
            if word.text.lower() in small:
                more.append("small-too")
            more.append(f"again={min(seen[word.text], 3)}")
            more.append(f"often={min(counts[word.text].bit_length(), 5)}")
        seen[word.text] += 1
        table.append(more)
    return table


def _pairs(lowers: Sequence[str], tags: Sequence[str], at: int) -> list[str]:
    before = lowers[at - 1] if at else "^"
    after = lowers[at + 1] if at + 1 < len(lowers) else "$"
    found = [f"ww={before}|{lowers[at]}", f"wn={lowers[at]}|{after}", f"ba={before}|{after}"]
    found.append("ttt=" + "|".join(tags[max(0, at - 1) : at + 2]))
    if at > 1:
        found.append(f"bb={lowers[at - 2]}|{before}")
    if at + 2 < len(lowers):
        found.append(f"aa={after}|{lowers[at + 2]}")
    return found
