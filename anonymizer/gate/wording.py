"""What people write into a specification and what goes out with the release: purposes, reasons, categories.

They stand in the manifest or the release as they are written, and nobody looks at them as at cells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from anonymizer.gate.mentions import UNCASED, fold
from anonymizer.hierarchies.hierarchy import ValueHierarchy, text_of
from anonymizer.hierarchies.learned import LearnedHierarchy
from anonymizer.pipelines.spec import Spec
from anonymizer.releases.purpose import Purpose
from anonymizer.tables.table import Table
from commons.tabular.person_names import names_somebody

_LONG: Final = 4
"""Letters from which on a word may be that of an identifier."""
_DIGITS: Final = 5
"""The same of numbers: those of four digits are years."""
_EASTERN: Final = 3
_SEPARATOR: Final = "\n"
_COMMON: Final = 10
"""A word is common if more values than this hold it, and more than one value in this many: `street` is."""
_WORD: Final = re.compile(r"[^\W_]+")
_STAFF: Final = ("[purpose] responsible", "[purpose] recipient")
"""Who answers and who receives has a name there, as a rule."""
TITLE: Final = "the title"
WEB: Final = "the name of the web"
FOLDER: Final = "the name of the folder"
"""Places that specifications and commands share."""


def persons_in_wording(spec: Spec, original: Table, output: Path) -> tuple[str, ...]:
    """The texts of a specification, and names of columns, that hold an identifier of a row, or a name.

    Identifiers are found by their words, of four letters or five digits and more, as whole words; those of
    scripts without spaces whole, from three characters on. In categories, labels and the name of the file
    they are found by all their words together: `brown` alone is a colour.

    Args:
        spec: with purpose, reasons, units, categories and hierarchies.
        original: with roles, whole or in part.
        output: the release.
    """
    identifiers = [name for name in original.roles.identifiers if name in original.names]
    texts = {place: text for place, text in _texts(spec).items() if text}
    words = {name: _words(original, name) for name in identifiers} if texts else {}
    found = _found_whole(dict(_short_texts(spec, original, output)), original, identifiers)
    heads = [name for name in original.names if name not in identifiers and names_somebody(name, surely=True)]
    headings = (
        f"The name of column {name!r} holds what looks like the name of a person, and goes out with the "
        "release as written. Rename the column in the file."
        for name in heads
    )
    return (*persons_in_texts(texts, partial(_find_words, words)), *_sentences(found), *headings)


def persons_in_texts(texts: Mapping[str, str], find: Callable[[str], str]) -> tuple[str, ...]:
    """The texts that hold what must not leave, or a name; a sentence each.

    Args:
        texts: by what people call them.
        find: says what a text holds that must not leave; "" if nothing.
    """
    return _sentences((place, find(text) or _find_name(place, text)) for place, text in texts.items() if text)


def _sentences(found: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(
        f"The text of {place} holds {what}, and goes out with {_carrier(place)} as written. Write it "
        "without, unless who gets that may read it."
        for place, what in found
        if what
    )


def _carrier(place: str) -> str:
    return "the report" if place in {TITLE, WEB} else "the release"


def purpose_texts(purpose: Purpose) -> Mapping[str, str]:
    """What is stated of a purpose, by what people call it."""
    return {f"[purpose] {key}": text for key, text in purpose.to_mapping().items() if text}


def _texts(spec: Spec) -> Mapping[str, str]:
    """The texts, by what people call them."""
    found = dict(purpose_texts(spec.purpose))
    for one in spec.accept:
        of = f" of {one.column}" if one.column else ""
        found[f"the reason why {one.finding}{of} is accepted"] = one.why
    found[TITLE] = spec.title
    return found | {f"the unit of {name}": column.unit for name, column in spec.schema.items()}


def _short_texts(spec: Spec, original: Table, output: Path) -> Iterator[tuple[str, str]]:
    """The name of the file, and the categories and labels of columns that may be released, by their place."""
    yield "the name of the file", output.name.split(".")[0]
    for name in original.names:
        if name not in original.roles.identifiers:
            column, hierarchy = spec.schema.get(name), spec.hierarchies.get(name)
            if isinstance(hierarchy, LearnedHierarchy):
                hierarchy = hierarchy.declared
            if column is not None and column.categories:
                yield f"the categories of {name}", _SEPARATOR.join(map(text_of, column.categories))
            if isinstance(hierarchy, ValueHierarchy):
                labels = {label: None for row in hierarchy.rows for label in row[1:]}
                yield f"the labels of {name}", _SEPARATOR.join(labels)


def _found_whole(
    texts: Mapping[str, str], original: Table, identifiers: Collection[str]
) -> list[tuple[str, str]]:
    """The places in which a text has all words of an identifier, and what it holds."""
    said = {
        place: [own for part in fold(text).split(_SEPARATOR) if _can_hold(own := _words_of(part))]
        for place, text in texts.items()
    }
    every = {word for parts in said.values() for own in parts for word in own}
    found = []
    for name in identifiers if every else ():
        values = (_words_of(fold(text_of(value))) for value in original.codes(name).values.tolist())
        held = [own for own in values if own <= every and _can_hold(own)]
        found += [
            (place, f"a value of the identifier {name}")
            for place, parts in said.items()
            if any(own <= part for part in parts for own in held)
        ]
    return found


def _words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _can_hold(words: frozenset[str]) -> bool:
    """Whether words are enough to tell somebody: two of them, or a long number, or a Japanese name."""
    return len(words) > 1 or any(
        _tells(word) if word.isdigit() else len(word) >= _EASTERN and UNCASED.fullmatch(word) is not None
        for word in words
    )


def _find_name(place: str, text: str) -> str:
    return "what looks like the name of a person" if place not in _STAFF and names_somebody(text) else ""


def _find_words(words: Mapping[str, Collection[str]], text: str) -> str:
    plain = fold(text).casefold()
    said = {*filter(_tells, _WORD.findall(plain))}
    runs = "".join(UNCASED.findall(plain))
    for name, own in words.items():
        if not said.isdisjoint(own) or any(word in runs for word in own if UNCASED.fullmatch(word)):
            return f"a value of the identifier {name}"
    return ""


def _words(table: Table, name: str) -> frozenset[str]:
    """The words of a column but for those of many values, and whole values of scripts without spaces."""
    texts = [fold(text_of(value)).casefold() for value in table.codes(name).values.tolist()]
    counts = Counter(word for text in texts for word in {*_WORD.findall(UNCASED.sub(" ", text))})
    most = max(_COMMON, len(texts) // _COMMON)
    eastern = ("".join(UNCASED.findall(text)) for text in texts)
    return frozenset(
        (
            *(word for word, count in counts.items() if count <= most and _tells(word)),
            *(word for word in eastern if len(word) >= _EASTERN),
        )
    )


def _tells(word: str) -> bool:
    return len(word) >= (_DIGITS if word.isdigit() else _LONG)
