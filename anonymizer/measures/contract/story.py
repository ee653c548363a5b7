"""How what a measure has found is presented: as plain values, on a terminal, and on a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure at the top of a page.

    Attributes:
        figure: short.
        text: what it is.
        worst: whether it is about the one in most danger.
    """

    figure: str
    text: str
    worst: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of a page; the first column is of names, the others of figures.

    Attributes:
        caption: what it shows.
        heads: of the columns.
        rows: of cells as texts.
    """

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Presentation:
    """What a measure has found.

    Attributes:
        values: for machines: numbers, texts, lists and mappings.
        lines: for a terminal: a name and what there is to say.
        cautions: what a steward must not overlook, a sentence each.
        cards: the one or two figures to see first.
        text: what is measured, for who has not read of it.
        facts: names and what is said of them.
        grids: tables.
    """

    values: Mapping[str, Any]
    lines: Sequence[tuple[str, str]] = ()
    cautions: Sequence[str] = ()
    cards: Sequence[Tile] = ()
    text: str = ""
    facts: Sequence[tuple[str, str]] = ()
    grids: Sequence[Grid] = ()

    def of_rows(self) -> Presentation:
        """The same, each figure with the words that it counts rows, of which a person has several."""
        return replace(
            self,
            values={**self.values, "counts": "rows"},
            lines=[(name, f"{said} ({_OF_ROWS})") for name, said in self.lines],
            cards=[replace(one, text=f"{one.text} ({_OF_ROWS})") for one in self.cards],
            facts=[*self.facts, ("Counted", _OF_ROWS)],
        )


_OF_ROWS: Final = "rows, of which a person may have several"


def number(value: float | None) -> str:
    """Three digits, or more before the point; a dash for what is not a number."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def percent(value: float | None) -> str:
    """The same of a hundred."""
    return "–" if value is None or math.isnan(value) else f"{100 * value:.3g} %"


def plain(value: Any) -> Any:
    """The same with None for what JSON has no number for."""
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
