"""A sum over time as an SVG element, such as what was spent of a budget.

The page's style has to say what the classes `axis`, `line`, `dot` and `limit` look like.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Final

from parties.results.axes import scale
from parties.results.figures import number_text

_WIDTH, _HEIGHT = 520, 190
_LEFT, _RIGHT = 44, 14
_TOP, _FOOT = 10, 26
_MARKS: Final = 4
"""Spaces between times on the axis."""

_FORMS: Final = (
    (timedelta(minutes=10), "%H:%M:%S"),
    (timedelta(days=2), "%H:%M"),
    (timedelta.max, "%Y-%m-%d"),
)
"""How times are written, by how long the axis is at most."""


def timeline(points: Sequence[tuple[datetime, float, str]], limit: float, until: datetime, words: str) -> str:
    """Steps upwards, with a dot for each, below a line that is the limit; 520 by 190.

    Args:
        points: when, the sum from then on, and what has happened, the oldest first; one at least.
        limit: what the sum may come to.
        until: where the time ends.
        words: the whole for those who do not see it.
    """
    first = min(points[0][0], until)
    span = max((until - first).total_seconds(), 1.0)
    _, high, ticks = scale(0.0, max(limit, *(value for _, value, _ in points)))

    def across(moment: datetime) -> float:
        part = min(1.0, max(0.0, (moment - first).total_seconds() / span))
        return round(_LEFT + part * (_WIDTH - _LEFT - _RIGHT), 2)

    def up(value: float) -> float:
        return round(_TOP + (1 - value / high) * (_HEIGHT - _TOP - _FOOT), 2)

    parts = [
        f'<svg role="img" aria-label="{escape(words)}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'xmlns="http://www.w3.org/2000/svg" font-size="11">'
    ]
    for tick in ticks:
        parts.append(f'<line class="axis" x1="{_LEFT - 4}" x2="{_LEFT}" y1="{up(tick)}" y2="{up(tick)}"/>')
        parts.append(
            f'<text x="{_LEFT - 7}" y="{up(tick) + 4}" text-anchor="end">{number_text(float(tick))}</text>'
        )
    base, end = up(0.0), _WIDTH - _RIGHT
    parts.append(f'<path class="axis" fill="none" d="M{_LEFT} {up(high)}V{base}H{end}"/>')
    form = next(form for longest, form in _FORMS if until - first < longest)
    for mark in range(_MARKS + 1):
        moment = first + mark / _MARKS * (until - first)
        anchor = "start" if mark == 0 else "end" if mark == _MARKS else "middle"
        text = moment.astimezone(UTC).strftime(form)
        parts.append(f'<text x="{across(moment)}" y="{base + 17}" text-anchor="{anchor}">{text}</text>')
    parts.append(f'<line class="limit" x1="{_LEFT}" x2="{end}" y1="{up(limit)}" y2="{up(limit)}"/>')
    way = f"M{across(points[0][0])} {base}"
    for moment, value, _ in points:
        way += f"H{across(moment)}V{up(value)}"
    parts.append(f'<path class="line" fill="none" d="{way}H{end}"/>')
    for moment, value, what in points:
        parts.append(f'<g><title>{escape(what)}</title><circle class="dot" cx="{across(moment)}" ')
        parts.append(f'cy="{up(value)}" r="3.5"/></g>')
    return "".join([*parts, "</svg>"])
