"""Curves that step as SVG elements, with their 95 % bands; coloured by the page they stand in.

The page's style has to say what the classes `axis`, `curve` and `band` look like. Curves differ by their
dashes, so that they can be told apart without colours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Final

from parties.results.axes import scale
from parties.results.curves import Curves, StepLine
from parties.results.figures import number_text

_WIDTH: Final = 520
_HEIGHT: Final = 260
_LEFT, _RIGHT, _TOP = 44, 14, 8
_LEGEND: Final = 18
_FOOT: Final = 40
DASHES: Final = ("", "8 3", "2 3", "10 3 2 3", "5 2", "1 2")
"""Of the curves, in their order."""

_LETTERS: Final = 50

Place = Callable[[float], float]


def svg_of_curves(curves: Curves) -> str:
    """Curves as an SVG element with a text for those who do not see it; about 520 by 300."""
    height = _HEIGHT + _FOOT + _LEGEND * len(curves.lines)
    ends = [float(end) for line in curves.lines for end in _ends(line)]
    first, last, along = scale(
        min(line.starts[0] for line in curves.lines), max(line.starts[-1] for line in curves.lines)
    )
    low, high, ticks = scale(min(0.0, *ends), max(1.0 if max(ends) <= 1 else max(ends), *ends))

    def x(value: float) -> float:
        return round(_LEFT + (value - first) / (last - first) * (_WIDTH - _LEFT - _RIGHT), 2)

    def y(value: float) -> float:
        return round(_HEIGHT - (value - low) / (high - low) * (_HEIGHT - _TOP), 2)

    parts = [
        f'<svg role="img" aria-label="{escape(curves.words)}" viewBox="0 0 {_WIDTH} {height}" '
        'xmlns="http://www.w3.org/2000/svg" font-size="13">',
        f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{_HEIGHT}" y2="{_HEIGHT}"/>',
        f'<line class="axis" x1="{_LEFT}" x2="{_LEFT}" y1="{_TOP}" y2="{_HEIGHT}"/>',
    ]
    parts += [
        f'<text x="{x(at)}" y="{_HEIGHT + 15}" text-anchor="middle" font-size="11">{number_text(at)}</text>'
        for at in along
    ]
    parts += [
        f'<text x="{_LEFT - 6}" y="{y(at) + 4}" text-anchor="end" font-size="11">{number_text(at)}</text>'
        for at in ticks
    ]
    label = f"{curves.axis} by {curves.along}"
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT + 32}" font-size="11">{escape(label)}</text>')
    for place, line in enumerate(curves.lines):
        parts += _draw(line, DASHES[place % len(DASHES)], x, y)
        parts += _legend(line, DASHES[place % len(DASHES)], _HEIGHT + _FOOT + _LEGEND * place + 8)
    return "".join([*parts, "</svg>"])


def outline(line: StepLine) -> tuple[list[float], list[float], list[float], list[float]]:
    """A curve as one draws it: where its corners are, and there its height and the ends of its band.

    Each figure holds until the next one; one without an interval has a band of no width.
    """
    places: list[float] = []
    heights: list[tuple[float, float, float]] = []
    for start, figure in zip(line.starts, line.figures, strict=True):
        value = float(figure.value or 0)
        lower = value if figure.lower is None else float(figure.lower)
        upper = value if figure.upper is None else float(figure.upper)
        if heights:
            places.append(start)
            heights.append(heights[-1])
        places.append(start)
        heights.append((value, lower, upper))
    middle, low, high = (list(each) for each in zip(*heights, strict=True))
    return places, middle, low, high


def _draw(line: StepLine, dashes: str, x: Place, y: Place) -> list[str]:
    places, middle, low, high = outline(line)
    edge = [*zip(places, high, strict=True), *zip(places[::-1], low[::-1], strict=True)]
    said = escape(f"{line.name}: {line.figures[-1].text()} at {number_text(line.starts[-1])}")
    return [
        f"<g><title>{said}</title>",
        f'<path class="band" d="M{_points(edge, x, y)}Z"/>',
        f'<path class="curve"{_dash(dashes)} d="M{_points([*zip(places, middle, strict=True)], x, y)}"/>',
        "</g>",
    ]


def _legend(line: StepLine, dashes: str, y: float) -> list[str]:
    name = line.name if len(line.name) <= _LETTERS else line.name[: _LETTERS - 1] + "…"
    return [
        f'<path class="curve"{_dash(dashes)} d="M{_LEFT} {y}H{_LEFT + 36}"/>',
        f'<text x="{_LEFT + 44}" y="{y + 4}" font-size="11">{escape(name)}</text>',
    ]


def _dash(dashes: str) -> str:
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def _points(corners: Sequence[tuple[float, float]], x: Place, y: Place) -> str:
    return "L".join(f"{x(place)} {y(height)}" for place, height in corners)


def _ends(line: StepLine) -> list[float]:
    return [
        float(end) for one in line.figures for end in (one.value, one.lower, one.upper) if end is not None
    ]
