"""Plots as SVG elements: no fonts, scripts or files beside them, coloured by the page they stand in.

The page's style has to say what the classes `axis`, `bar`, `dot`, `error` and `zero` look like.
"""

from __future__ import annotations

from html import escape
from typing import Final

from parties.results.axes import scale
from parties.results.curves import Curves
from parties.results.figures import Estimated, date_text, number_text
from parties.results.plots import Plot
from parties.results.svg_curves import svg_of_curves

_WIDTH: Final = 520
_LEFT, _RIGHT = 170, 14
_TOP, _ROW, _FOOT = 6, 24, 40
_LETTERS: Final = 24
"""Characters of a name that stand beside a figure; the whole name is in its `title`."""


def svg(plot: Plot | Curves) -> str:
    """A plot as an SVG element with a text for those who do not see it; about 520 by 24 for each figure."""
    if isinstance(plot, Curves):
        return svg_of_curves(plot)
    low, high, ticks = _scale(plot)
    height = _TOP + _ROW * len(plot.names) + _FOOT
    base = height - _FOOT + 4

    def at(value: float) -> float:
        part = (value - low) / (high - low)
        return round(_LEFT + part * (_WIDTH - _LEFT - _RIGHT), 2)

    parts = [
        f'<svg role="img" aria-label="{escape(plot.words)}" viewBox="0 0 {_WIDTH} {height}" '
        'xmlns="http://www.w3.org/2000/svg" font-size="13">'
    ]
    if low < 0 < high:
        parts.append(f'<line class="zero" x1="{at(0)}" x2="{at(0)}" y1="{_TOP}" y2="{base}"/>')
    parts.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{base}" y2="{base}"/>')
    for number, tick in enumerate(ticks):
        place = at(tick)
        parts.append(f'<line class="axis" x1="{place}" x2="{place}" y1="{base}" y2="{base + 4}"/>')
        if plot.figures[0].is_date and number % 2:
            continue
        anchor = "end" if place > _WIDTH - 40 else "middle"
        text = date_text(tick) if plot.figures[0].is_date else number_text(float(tick))
        parts.append(f'<text x="{place}" y="{base + 17}" text-anchor="{anchor}" font-size="11">{text}</text>')
    parts.append(f'<text x="{_LEFT}" y="{base + 33}" font-size="11">{escape(plot.axis)}</text>')
    for row, (name, figure) in enumerate(zip(plot.names, plot.figures, strict=True)):
        middle = _TOP + _ROW * row + _ROW / 2
        short = name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…"
        parts.append(f"<g><title>{escape(f'{name}: {figure.text()}')}</title>")
        parts.append(f'<text x="{_LEFT - 8}" y="{middle + 4}" text-anchor="end">{escape(short)}</text>')
        value = float(figure.value or 0)
        if plot.is_count:
            left, right = sorted((at(max(low, 0)), at(value)))
            wide = round(right - left, 2)
            parts.append(f'<rect class="bar" x="{left}" y="{middle - 7}" width="{wide}" height="14"/>')
        else:
            parts.append(f'<circle class="dot" cx="{at(value)}" cy="{middle}" r="4"/>')
        if figure.half_width is not None and figure.lower is not None and figure.upper is not None:
            one, two = at(float(figure.lower)), at(float(figure.upper))
            parts.append(
                f'<path class="error" d="M{one} {middle}H{two}M{one} {middle - 5}v10M{two} {middle - 5}v10"/>'
            )
        parts.append("</g>")
    return "".join([*parts, "</svg>"])


def _scale(plot: Plot) -> tuple[float, float, list[float]]:
    """The ends of the axis, and where its ticks are."""
    points = [float(one) for figure in plot.figures for one in _points(figure)]
    if plot.is_count:
        points.append(0.0)
    low, high = min(points), max(points)
    return scale(low, high)


def _points(figure: Estimated) -> list[float]:
    return [float(one) for one in (figure.value, figure.lower, figure.upper) if one is not None]
