"""One sheet of paper for the person who signs: what does not fit is counted, and stands in the report.

Text is measured in units of half a letter's height, as `width` counts it, and in lines of `LINE` units; the
style of `sheet.html` gives both A4 and Letter more room than `LINES`.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from anonymizer.measures.contract.story import Tile
from anonymizer.releases.acceptance import Acceptance
from anonymizer.report.signing import Signing

LINE: Final = 118
"""Units that a line of the sheet holds."""
LINES: Final = 40
"""Lines of text that the sheet has beside its headings, figures and signatures."""
_NARROW: Final = 96
"""Units of a line beside the name of a fact."""
_ACCEPTED: Final = 6
"""Lines for what was accepted; the warnings get what is left."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Texts that fit, and how many do not.

    Attributes:
        shown: in order.
        more: how many are left.
    """

    shown: Sequence[str]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Sheet:
    """The texts of the sheet, each as long as there is room for it.

    Attributes:
        title: of the release.
        tables: from which file to which.
        stated: purpose and the like by heading; "" is not stated.
        facts: names and values.
        judgment: sentences.
        cards: figures.
        columns: names of columns by what becomes of them.
        steps: of the specification.
        promised: what is guaranteed.
        accepted: findings, with reasons.
        warnings: sentences.
    """

    title: str
    tables: str
    stated: Sequence[tuple[str, str]]
    facts: Sequence[tuple[str, str]]
    judgment: Listing
    cards: Sequence[Tile]
    columns: Sequence[tuple[str, str]]
    steps: Listing
    promised: Listing
    accepted: Listing
    warnings: Listing


def sheet(
    title: str,
    tables: str,
    signing: Signing,
    columns: Mapping[str, Sequence[str]],
    steps: Sequence[Mapping[str, Any]],
    promised: Sequence[str],
    cards: Sequence[Tile],
    warnings: Sequence[str],
) -> Sheet:
    """Fit everything on the sheet.

    Args:
        title: of the release.
        tables: from which file to which.
        signing: who, when, what for.
        columns: names by what becomes of them.
        steps: of the specification, as written.
        promised: guarantees as sentences.
        cards: figures, the most important first.
        warnings: sentences.
    """
    stated = [(name, cut(text, 2 * _NARROW)) for name, text in signing.stated]
    judged = _fitting(signing.judgment, 10, 4)
    named = [(heading, _names(names)) for heading, names in columns.items() if names]
    said = _fitting([_step(step) for step in steps], 8, 1)
    promises = _fitting(promised, 4, 2)
    accepted = _fitting(list(map(_describe_acceptance, signing.accepted)), _ACCEPTED, 2)
    used = sum(_lines(text, _NARROW) for _, text in stated)
    used += sum(_lines(text, _NARROW) for _, text in named)
    used += sum(_lines(text) for part in (judged, said, promises, accepted) for text in part.shown)
    used += sum(part.more > 0 for part in (judged, said, promises, accepted))
    return Sheet(
        title=cut(title, 70),
        tables=cut(tables, LINE),
        stated=stated,
        facts=[
            ("Made by", cut(f"{signing.made_by}, {signing.made_at}", _NARROW)),
            ("Specification", f"SHA-256 {signing.digest}"),
            *[(cut(name, 20), f"SHA-256 {digest}") for name, digest in list(signing.files.items())[:2]],
        ],
        judgment=judged,
        cards=[Tile(cut(one.figure, 16), cut(one.text, 52), one.worst) for one in cards[:5]],
        columns=named,
        steps=said,
        promised=promises,
        accepted=accepted,
        warnings=_fitting(warnings, LINES - used, 2),
    )


def width(text: str) -> int:
    """How wide a text is printed at most, in units of half a letter's height."""
    return sum(map(_unit, text))


def cut(text: str, most: int) -> str:
    """A text of at most so many units on one line, with an ellipsis where something is missing."""
    text = " ".join(text.split())
    if width(text) <= most:
        return text
    shown = 0
    for place, letter in enumerate(text):
        shown += _unit(letter)
        if shown > most - 2:
            return text[:place].rstrip() + "…"
    return text


def _unit(letter: str) -> int:
    wide = unicodedata.east_asian_width(letter) in "WFA" or letter in "mwMW@%—…"
    return 2 if wide or letter.isupper() else 1


def _lines(text: str, line: int = LINE) -> int:
    return max(1, math.ceil(width(text) / line))


def _fitting(texts: Iterable[str], lines: int, each: int) -> Listing:
    """As many texts as fit into the lines, each cut to so many, and a line for the count of the others."""
    cuts = [cut(text, each * LINE) for text in texts]
    needed = [_lines(text) for text in cuts]
    if sum(needed) <= lines:
        return Listing(cuts)
    shown = 0
    while shown < len(cuts) and sum(needed[: shown + 1]) < lines:
        shown += 1
    return Listing(cuts[:shown], len(cuts) - shown)


def _names(names: Sequence[str]) -> str:
    """Names of columns on one line, the others counted."""
    shown = [cut(name, 30) for name in names]
    for many in range(len(shown), 0, -1):
        rest = len(shown) - many
        text = ", ".join(shown[:many]) + (f" and {rest:,} more" if rest else "")
        if width(text) <= _NARROW:
            return text
    return f"{len(names):,} columns"


def _step(step: Mapping[str, Any]) -> str:
    given = {key: value for key, value in step.items() if key not in ("method", "name")}
    text = ", ".join(
        f"{key} = {json.dumps(value, ensure_ascii=False, default=str)}" for key, value in given.items()
    )
    return f"{step['method']}: {text}" if text else str(step["method"])


def _describe_acceptance(one: Acceptance) -> str:
    where = f" ({one.column})" if one.column else ""
    return f"{one.finding}{where}: {one.why}"
