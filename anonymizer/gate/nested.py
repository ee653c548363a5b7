"""Cells that are records of their own, written as JSON: what they hold is looked at part by part."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from anonymizer.hierarchies.hierarchy import text_of

_OPENS: Final = ("{", "[")


def parts_of(counts: Mapping[str, int]) -> dict[str, Counter[str]] | None:
    """What half of the cells of a column hold, if they are objects or lists of JSON; None if they are not.

    Args:
        counts: how often each text occurs.

    Returns:
        By the names that lead to a part, as `patient name`, how often each text or number stands there.
    """
    read = {text: _read(text) for text in counts if text.lstrip().startswith(_OPENS)}
    whole = [text for text, value in read.items() if value is not None]
    if 2 * sum(counts[text] for text in whole) < max(1, sum(counts.values())):
        return None
    found: dict[str, Counter[str]] = {}
    for text in whole:
        for names, value in _leaves(read[text]):
            found.setdefault(" ".join(names), Counter())[value] += counts[text]
    return found


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _leaves(value: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """The texts, numbers and truth values in a value of JSON, each with the names that lead to it."""
    rest: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while rest:
        names, one = rest.pop()
        if isinstance(one, dict):
            rest += [((*names, name), inner) for name, inner in one.items()]
        elif isinstance(one, list):
            rest += [(names, inner) for inner in one]
        elif one is not None:
            yield names, text_of(one)
