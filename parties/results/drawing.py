"""Plots by matplotlib, for notebooks and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from parties.errors import ConfigError
from parties.results.curves import Curves
from parties.results.figures import date_text
from parties.results.plots import Plot
from parties.results.svg_curves import outline

COLOUR: Final = "#0b6e99"
_INK: Final = "#1d2733"


@dataclass(frozen=True, slots=True)
class Drawing:
    """Drawn plots, which a notebook shows by themselves.

    Attributes:
        figure: of matplotlib, to be changed at will.
        words: the plots for those who do not see them.
    """

    figure: Any
    words: str

    def save(self, path: Path | str) -> None:
        """Write a file of the kind that its name says: png, svg or pdf."""
        self.figure.savefig(path)

    def _repr_svg_(self) -> str:
        out = StringIO()
        self.figure.savefig(out, format="svg", metadata={"Date": None})
        drawn = out.getvalue()
        return drawn[drawn.index("<svg") :]

    @override
    def __repr__(self) -> str:
        return f"Drawing({self.words[:200]!r})"


def draw_plots(plots: Sequence[Plot | Curves]) -> Drawing:
    """Plots below each other.

    Args:
        plots: one at least.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError("Plots need matplotlib.", "Run pip install 'duetto[plots]'.") from None
    heights = [3.6 if isinstance(plot, Curves) else 1.1 + 0.3 * len(plot.names) for plot in plots]
    with rc_context({"text.parse_math": False}):
        figure = Figure(figsize=(7.2, sum(heights)), layout="constrained")
        every = figure.subplots(len(plots), squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
        for axes, plot in zip(every, plots, strict=True):
            if isinstance(plot, Curves):
                _draw_curves(axes, plot)
            else:
                _draw(axes, plot)
    return Drawing(figure, ". ".join(plot.words for plot in plots))


def _draw(axes: Any, plot: Plot) -> None:
    places = range(len(plot.names))
    values = [float(figure.value or 0) for figure in plot.figures]
    if plot.is_count:
        axes.barh(places, values, color=COLOUR, height=0.6)
    else:
        axes.plot(values, places, "o", color=COLOUR)
    for place, figure in zip(places, plot.figures, strict=True):
        if figure.half_width is not None and figure.lower is not None and figure.upper is not None:
            ends = [float(figure.lower), float(figure.upper)]
            axes.plot(ends, [place, place], "-|", color=_INK, linewidth=1.2)
    axes.set_yticks(places, plot.names)
    axes.invert_yaxis()
    axes.set_ylim(len(plot.names) - 0.4, -0.6)
    axes.set_title(plot.title, loc="left", fontsize=11)
    axes.set_xlabel(plot.axis)
    axes.spines[["top", "right"]].set_visible(False)
    if plot.figures[0].is_date:
        axes.xaxis.set_major_formatter(lambda days, _: date_text(days))
        axes.locator_params(axis="x", nbins=5)


def _draw_curves(axes: Any, curves: Curves) -> None:
    for line in curves.lines:
        places, middle, low, high = outline(line)
        (drawn,) = axes.plot(places, middle, label=line.name)
        axes.fill_between(places, low, high, alpha=0.15, color=drawn.get_color(), linewidth=0)
    axes.set_title(curves.title, loc="left", fontsize=11)
    axes.set_xlabel(curves.along)
    axes.set_ylabel(curves.axis)
    if all(high <= 1 for line in curves.lines for high in outline(line)[3]):
        axes.set_ylim(0, 1)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
