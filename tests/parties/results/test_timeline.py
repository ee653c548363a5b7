"""Sums over time, drawn: where steps, dots and limit stand, and that texts are texts."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta

import pytest

from parties.results.timeline import timeline

START = datetime(2026, 1, 1, tzinfo=UTC)
SVG = "{http://www.w3.org/2000/svg}"


def drawn(values, limit=3.0, days=100, what="job"):
    points = [(START + timedelta(10 * n), value, f"{what} {n}") for n, value in enumerate(values)]
    return ET.fromstring(timeline(points, limit, START + timedelta(days), "in words"))


def test_dots_rise_with_the_sum_and_go_on_with_time():
    found = drawn([0.5, 1.0, 2.0])
    dots = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in found.iter(f"{SVG}circle")]
    assert [x for x, _ in dots] == sorted({x for x, _ in dots})
    (_, one), (_, two), (_, four) = dots
    assert one - two == pytest.approx((two - four) / 2, abs=0.02)  # half a unit, then a whole one
    limit = next(line for line in found.iter(f"{SVG}line") if line.get("class") == "limit")
    assert float(limit.get("y1")) < four
    assert found.get("aria-label") == "in words"
    titles = [title.text for title in found.iter(f"{SVG}title")]
    assert titles == ["job 0", "job 1", "job 2"]


@pytest.mark.parametrize("values", [[0.5], [0.5, 0.5], [4.0], [1e-9], [1e6, 2e6]])
@pytest.mark.parametrize("days", [0, 1, 5000])
def test_everything_stays_within_the_picture(values, days):
    found = drawn(values, days=days)
    _, _, width, height = map(float, found.get("viewBox").split())
    for dot in found.iter(f"{SVG}circle"):
        assert 0 <= float(dot.get("cx")) <= width
        assert 0 <= float(dot.get("cy")) <= height
    for path in found.iter(f"{SVG}path"):
        assert all(0 <= float(number) <= width for number in re.findall(r"-?[\d.]+", path.get("d")))


def test_short_times_are_hours_and_long_ones_days():
    assert ">00:00<" in ET.tostring(drawn([1.0], days=1)).decode()
    assert ">2026-01-01<" in ET.tostring(drawn([1.0], days=30)).decode()


def test_texts_are_escaped():
    text = ET.tostring(drawn([1.0], what='</svg><script>"x"')).decode()
    assert "<script>" not in text
