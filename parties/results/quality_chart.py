"""Precision, recall and F of a suggested recipe by least score, as an SVG file that stands alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from parties.errors import StorageError
from parties.results.axes import scale

_WIDTH, _HEIGHT = 560, 320
_LEFT, _RIGHT, _TOP, _FOOT = 52, 14, 34, 46
_LINES: Final[Mapping[str, tuple[str, str]]] = {
    "precision": ("#0b6e99", "6 3"),
    "recall": ("#b3541e", "2 3"),
    "f": ("#1d2733", "none"),
}
"""What is drawn, in which colour and with which dashes: told apart without colours, too."""


def quality_chart(report: Mapping[str, Any]) -> str:
    """The chart.

    Args:
        report: of `parties.catalog.recipes.recipe`, with two least scores at least.
    """
    tried, chosen = report["least_scores"], report["expected"]
    scores = [one["least_score"] for one in tried]
    low, high, ticks = scale(scores[0], scores[-1])
    bottom, top, levels = scale(min(one[name] for one in tried for name in _LINES), 1.0)

    def across(score: float) -> float:
        return round(_LEFT + (score - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT), 1)

    def up(value: float) -> float:
        return round(_HEIGHT - _FOOT - (value - bottom) / (top - bottom) * (_HEIGHT - _TOP - _FOOT), 1)

    words = (
        f"Precision, recall and F by least score: at {chosen['least_score']} {chosen['precision']}, "
        f"{chosen['recall']} and {chosen['f']}."
    )
    parts = [
        f'<svg role="img" aria-label="{words}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="12">',
        f"<title>{words}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
    ]
    for tick in ticks:
        place = across(tick)
        parts.append(f'<line x1="{place}" x2="{place}" y1="{_TOP}" y2="{_HEIGHT - _FOOT}" stroke="#e4e7eb"/>')
        parts.append(f'<text x="{place}" y="{_HEIGHT - _FOOT + 17}" text-anchor="middle">{tick:g}</text>')
    for level in levels:
        place = up(level)
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{place}" y2="{place}" stroke="#e4e7eb"/>'
        )
        parts.append(f'<text x="{_LEFT - 6}" y="{place + 4}" text-anchor="end">{level:g}</text>')
    here = across(chosen["least_score"])
    parts.append(f'<line x1="{here}" x2="{here}" y1="{_TOP}" y2="{_HEIGHT - _FOOT}" stroke="#8a94a0"/>')
    for number, (name, (colour, dashes)) in enumerate(_LINES.items()):
        points = " ".join(f"{across(one['least_score'])},{up(one[name])}" for one in tried)
        style = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"'
        begin = _LEFT + 120 * number
        parts.append(f'<polyline points="{points}" {style}/>')
        parts.append(f'<line x1="{begin}" x2="{begin + 26}" y1="14" y2="14" {style}/>')
        parts.append(f'<text x="{begin + 32}" y="18">{name if len(name) > 1 else name.upper()}</text>')
    parts.append(
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2:g}" y="{_HEIGHT - 8}" text-anchor="middle">'
        "least score of a match; the line is the recipe's</text></svg>"
    )
    return "".join(parts) + "\n"


def save_quality_chart(report: Mapping[str, Any], path: Path) -> None:
    """Write the chart to a file that does not exist yet.

    Raises:
        StorageError: it exists, or cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(quality_chart(report))
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written ({error.strerror or type(error).__name__}).",
            "Choose another name for the chart, or make room or rights.",
        ) from None
