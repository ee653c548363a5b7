"""What people write into a specification and what goes out with the release: purposes, reasons, units.

They stand in the manifest as they are written, and nobody looks at them as at cells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

from anonymizer.gate.mentions import UNCASED, folded
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.pipelines.spec import Spec
from anonymizer.tables.table import Table
from commons.tabular.person_names import names_somebody

_LONG: Final = 4
"""Letters from which on a word may be that of an identifier."""
_DIGITS: Final = 5
"""The same of numbers: those of four digits are years."""
_EASTERN: Final = 3
_COMMON: Final = 10
"""A word is common in more values than this, and than one in so many: `street` gives no address away."""
_WORD: Final = re.compile(r"[^\W_]+")
_STAFF: Final = ("[purpose] responsible", "[purpose] recipient")
"""Who answers and who receives has a name there, as a rule."""


def persons_in_wording(spec: Spec, original: Table) -> tuple[str, ...]:
    """The texts of a specification that hold an identifier of a row, or a name; a sentence each.

    Identifiers are found by their words, of four letters or five digits and more, as whole words; those of
    scripts without spaces whole, from three characters on.

    Args:
        spec: with purpose, reasons and units.
        original: with roles, whole or in part.
    """
    texts = {place: text for place, text in _texts(spec).items() if text}
    if not texts:
        return ()
    words = {name: _words(original, name) for name in original.roles.identifiers if name in original.names}
    found = ((place, _found(place, text, words)) for place, text in texts.items())
    return tuple(
        f"The text of {place} holds {what}, and goes out with the release as written. Write it without, "
        "unless who gets the release may read it."
        for place, what in found
        if what
    )


def _texts(spec: Spec) -> Mapping[str, str]:
    """The texts, by what people call them."""
    found = {f"[purpose] {key}": text for key, text in spec.purpose.to_mapping().items()}
    for one in spec.accept:
        of = f" of {one.column}" if one.column else ""
        found[f"the reason why {one.finding}{of} is accepted"] = one.why
    return found | {f"the unit of {name}": column.unit for name, column in spec.schema.items()}


def _found(place: str, text: str, words: Mapping[str, Collection[str]]) -> str:
    plain = folded(text).casefold()
    said = {*filter(_tells, _WORD.findall(plain))}
    runs = "".join(UNCASED.findall(plain))
    for name, own in words.items():
        if not said.isdisjoint(own) or any(word in runs for word in own if UNCASED.fullmatch(word)):
            return f"a value of the identifier {name}"
    return "what looks like the name of a person" if place not in _STAFF and names_somebody(text) else ""


def _words(table: Table, name: str) -> frozenset[str]:
    """The words of a column but for those of many values, and whole values of scripts without spaces."""
    texts = [folded(text_of(value)).casefold() for value in table.codes(name).values.tolist()]
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
