"""What can be drawn of a result, and that what is drawn is what the tables say."""

from __future__ import annotations

import sys
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.client.result import Result
from parties.errors import ConfigError, JobError
from parties.results.figures import Estimated
from parties.results.plots import MAX_FIGURES, Plot, plots_of
from parties.results.svg import svg
from parties.results.tables import ResultTable
from tests.parties.results.test_tables import MATCHES, STATISTICS, SUMS

BINS = ResultTable(
    "histogram of age",
    {"bin": ["[0, 40)", "[40, 80]"], "count": [-2, 30], "lower_95": [-5, 27], "upper_95": [1, 33]},
    {},
)
CENTRES = ResultTable("centres", {"cluster": [1, 2], "size": [20, None], "age": [31.5, None]}, {})
FIT = ResultTable(
    "fit",
    {
        "term": ["(intercept)", "age"],
        "coefficient": [1.5, -2.0],
        "lower_95": [1.0, -2.5],
        "upper_95": [2.0, -1.5],
    },
    {},
)


def test_figures_are_drawn_by_unit_and_without_what_has_no_value():
    plots = plots_of([STATISTICS, BINS, FIT, CENTRES, SUMS])
    assert [(plot.title, plot.axis, plot.is_count) for plot in plots] == [
        ("results", "rows", True),
        ("results", "kg", False),
        ("results", "date", False),
        ("histogram of age", "count", True),
        ("fit", "coefficient", False),
        ("centres", "size", True),
        ("centres", "age", False),
        ("intersection", "count", True),
        ("intersection", "sum", False),
    ]
    assert plots[3].names == ("[0, 40)", "[40, 80]")
    assert plots[3].words == "histogram of age, count: [0, 40): -2 ± 3; [40, 80]: 30 ± 3"
    assert plots[5].names == ("cluster 1",)


def test_groups_have_a_plot_for_each_query():
    columns = {
        "query": ["mean of age"] * 2 + ["mean of cost"] * 2,
        "group": ["no", "yes", "no", "yes"],
        "value": [50.0, 60.0, 10.0, 20.0],
        "lower_95": [49.0, 59.0, 9.0, 19.0],
        "upper_95": [51.0, 61.0, 11.0, 21.0],
        "unit": ["years", "years", "euro", "euro"],
    }
    plots = plots_of([ResultTable("results", columns, {})])
    assert [(plot.title, plot.names) for plot in plots] == [
        ("mean of age", ("no", "yes")),
        ("mean of cost", ("no", "yes")),
    ]


@pytest.mark.parametrize(
    "columns",
    [
        {"row": [1, 2], "key": ["a", "b"], "x": [1, 2]},
        {"quantity": ["t", "p"], "value": [1.0, 0.5]},
        {"total": [62]},
        {"name": ["a"], "value": [float("nan")]},
        {"name": [], "value": []},
    ],
)
def test_what_cannot_be_drawn_is_said(columns):
    pytest.importorskip("matplotlib")
    result = Result("1", {"t": columns}, (), {}, {}, {})
    with pytest.raises(JobError, match="Nothing of this result can be drawn") as caught:
        result.plot()
    assert "frame()" in caught.value.hint
    assert plots_of([MATCHES]) == []


def test_matplotlib_draws_the_figures_and_their_error_bars(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    tables = {table.name: dict(table.columns) for table in (STATISTICS, BINS)}
    result = Result("1", tables, (), {"kinds": {"results": dict(STATISTICS.kinds)}}, {}, {})
    drawing = result.plot()
    assert len(drawing.figure.axes) == 4
    assert [text.get_text() for text in drawing.figure.axes[3].get_yticklabels()] == ["[0, 40)", "[40, 80]"]
    bars = [
        line.get_xdata().tolist() if hasattr(line.get_xdata(), "tolist") else list(line.get_xdata())
        for line in drawing.figure.axes[3].lines
    ]
    assert bars == [[-5, 1], [27, 33]]
    assert drawing._repr_svg_().startswith("<svg")
    drawing.save(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert len(result.plot("histogram of age").figure.axes) == 1
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ConfigError, match=r"duetto\[plots\]"):
        result.plot()


def test_an_svg_says_its_figures_and_loads_nothing():
    (plot,) = plots_of([BINS])
    drawn = ET.fromstring(svg(plot))
    assert drawn.get("aria-label") == plot.words
    kinds = [element.get("class") for element in drawn.iter() if element.get("class")]
    assert kinds.count("bar") == kinds.count("error") == 2
    assert "zero" in kinds
    assert {element.tag.split("}")[1] for element in drawn.iter()} <= {
        "svg",
        "line",
        "text",
        "g",
        "title",
        "rect",
        "path",
    }


def test_names_of_a_hostile_peer_stay_text():
    evil = '</text><script>alert(1)</script>" onload="x'
    columns = {"bin": [evil], "count": [3], "lower_95": [1], "upper_95": [5]}
    text = svg(plots_of([ResultTable(evil, columns, {})])[0])
    assert "<script" not in text
    ET.fromstring(text)


@given(
    st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(0, 1e9)), min_size=1, max_size=5),
    st.booleans(),
    st.booleans(),
)
def test_every_point_lies_within_the_picture(pairs, is_count, is_date):
    figures = tuple(Estimated(value, value - half, value + half, is_date) for value, half in pairs)
    drawn = ET.fromstring(svg(Plot("t", "a", ("n",) * len(figures), figures, is_count)))
    for element in drawn.iter():
        for name in ("x", "cx", "x1", "x2"):
            assert 0 <= float(element.get(name, 0)) <= 520
        assert float(element.get("width", 0)) >= 0


def test_large_tables_are_drawn_in_part():
    count = MAX_FIGURES + 7
    columns = {"bin": [str(i) for i in range(count)], "count": list(range(count))}
    (plot,) = plots_of([ResultTable("t", columns, {})])
    assert (len(plot.names), plot.left) == (MAX_FIGURES, 7)
    assert "7 more in the table" in plot.words
