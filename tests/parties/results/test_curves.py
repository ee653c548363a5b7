"""Curves that step: what is drawn of them is what the table says."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from parties.client.result import Result
from parties.results.curves import MAX_CURVES, Curves
from parties.results.plots import plots_of
from parties.results.svg import svg
from parties.results.svg_curves import DASHES, outline
from parties.results.tables import ResultTable
from smc.analyses.studies.outcome import STEPS

COLUMNS = {
    "group": ["A", "A", "A", "B", "B", "B"],
    "time": [0, 30, 60, 0, 30, 60],
    "at_risk": [90, 60, None, 80, 50, 20],
    "survival": [1.0, 0.8, None, 1.0, 0.9, 0.7],
    "lower_95": [1.0, 0.7, None, 1.0, 0.8, 0.5],
    "upper_95": [1.0, 0.9, None, 1.0, 0.95, 0.85],
}


def drawn(columns=COLUMNS, name="survival"):
    (plot,) = plots_of([ResultTable(name, columns, {"time": STEPS})])
    assert isinstance(plot, Curves)
    return plot


def test_each_group_has_a_curve_of_what_is_shown():
    curves = drawn()
    assert [(line.name, line.starts) for line in curves.lines] == [("A", (0, 30)), ("B", (0, 30, 60))]
    assert (curves.title, curves.axis, curves.along) == ("survival", "survival", "time")
    assert curves.has_intervals
    assert curves.words.startswith("survival, survival by time: A: 1 at 0, 0.80 ± 0.10 at 30; B: 1 at 0")


def test_a_figure_holds_until_the_next_one():
    places, middle, low, high = outline(drawn().lines[1])
    assert places == [0, 30, 30, 60, 60]
    assert middle == [1, 1, 0.9, 0.9, 0.7]
    assert (low[-1], high[-1]) == (0.5, 0.85)


def test_a_table_without_groups_has_one_curve():
    columns = {name: cells[3:] for name, cells in COLUMNS.items() if name != "group"}
    assert [line.name for line in drawn(columns).lines] == ["all"]


def test_an_svg_has_a_line_and_a_band_for_each_curve_and_stays_within_its_frame():
    curves = drawn()
    picture = ET.fromstring(svg(curves))
    assert picture.get("aria-label") == curves.words
    kinds = [element.get("class") for element in picture.iter()]
    assert kinds.count("band") == 2
    assert kinds.count("curve") == 4  # with the legend
    assert {element.get("stroke-dasharray") for element in picture.iter()} == {None, DASHES[1]}
    for element in picture.iter():
        if element.get("class") in ("band", "curve"):
            corners = element.get("d").strip("MZ").replace("H", " ").split("L")
            assert all(0 <= float(number) <= 520 for corner in corners for number in corner.split())


def test_names_of_a_hostile_peer_stay_text():
    evil = '</title><script>alert(1)</script>" onload="x'
    text = svg(drawn({**COLUMNS, "group": [evil] * 3 + ["B"] * 3}, evil))
    assert "<script" not in text
    ET.fromstring(text)


@pytest.mark.parametrize(
    "columns",
    [
        {**COLUMNS, "survival": [None] * 6},
        {**COLUMNS, "time": [0, 0, 0, 0, 0, 0]},
        {**COLUMNS, "survival": ["x"] * 6},
        {**COLUMNS, "survival": [float("nan")] * 6},
    ],
)
def test_what_is_no_curve_is_not_drawn(columns):
    assert plots_of([ResultTable("survival", columns, {"time": STEPS})]) == []


def test_many_curves_are_drawn_in_part():
    groups = [name for name in "ABCDEFGH" for _ in range(2)]
    columns = {
        "group": groups,
        "time": [0, 1] * 8,
        "survival": [1.0, 0.5] * 8,
        "lower_95": [1.0, 0.4] * 8,
        "upper_95": [1.0, 0.6] * 8,
    }
    curves = drawn(columns)
    assert (len(curves.lines), curves.left) == (MAX_CURVES, 2)
    assert "2 more in the table" in curves.words


def test_matplotlib_draws_curves_and_bands(tmp_path):
    pytest.importorskip("matplotlib")
    result = Result("1", {"survival": COLUMNS}, (), {"kinds": {"survival": {"time": STEPS}}}, {}, {})
    drawing = result.plot()
    (axes,) = drawing.figure.axes
    assert [line.get_label() for line in axes.lines] == ["A", "B"]
    assert list(axes.lines[1].get_ydata()) == [1, 1, 0.9, 0.9, 0.7]
    assert len(axes.collections) == 2
    drawing.save(tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
