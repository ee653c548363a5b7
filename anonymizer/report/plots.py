"""Plots as SVG elements that go into a page: no fonts, scripts or files beside them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from io import StringIO
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from anonymizer.choosing.choice import Fit
from anonymizer.search.search import SearchResult
from anonymizer.utility.marginals import Marginal

Float = NDArray[np.float64]

BEFORE: Final = "#5b6b7b"
AFTER: Final = "#0b6e99"
WORST: Final = "#b3261e"
_STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_BARS: Final = 24


def risk_plot(parts: Mapping[str, float], *, records: str) -> str:
    """How many records are left with how many candidates.

    Args:
        parts: in [0, 1], from safest to most endangered, by the number of candidates.
        records: what is counted, such as "original records".
    """
    with _figure() as (figure, axes):
        places = np.arange(len(parts))
        shares = 100 * np.array(list(parts.values()))
        colours = [WORST if name in ("1", "2") else AFTER for name in parts]
        bars = axes.bar(places, shares, color=colours, width=0.75)
        axes.bar_label(bars, [f"{share:.3g} %" if share else "" for share in shares], padding=2, fontsize=8)
        axes.set_xticks(places, list(parts), rotation=30, ha="right")
        axes.set_xlabel("candidates among which an attacker has to choose")
        axes.set_ylabel(f"% of {records}")
        axes.margins(y=0.12)
        shown = ", ".join(
            f"{name}: {share:.3g} %" for name, share in zip(parts, shares, strict=True) if share
        )
        return _svg(figure, f"Share of {records} by the number of candidates: {shown}")


def marginal_plot(column: str, marginal: Marginal) -> str:
    """One column before and after; the most frequent values if there are many."""
    used = np.flatnonzero((marginal.original > 0) | (marginal.release > 0))
    if len(used) > _BARS:
        weight = (marginal.original + marginal.release)[used]
        used = np.sort(used[np.argsort(-weight, kind="stable")[:_BARS]])
    before = 100 * marginal.original[used] / max(1.0, marginal.original.sum())
    after = 100 * marginal.release[used] / max(1.0, marginal.release.sum())
    labels = [_short(marginal.labels[place]) for place in used]
    with _figure(height=2.9) as (figure, axes):
        places = np.arange(len(used))
        axes.bar(places - 0.2, before, width=0.4, color=BEFORE, label="before")
        axes.bar(places + 0.2, after, width=0.4, color=AFTER, label="after")
        many = len(used) > 4
        axes.set_xticks(places, labels, rotation=45 if many else 0, ha="right" if many else "center")
        axes.tick_params(axis="x", labelsize=8)
        axes.set_ylabel("% of the rows")
        axes.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
        pairs = "; ".join(
            f"{label} {one:.3g} and {two:.3g} %"
            for label, one, two in zip(labels, before, after, strict=True)
        )
        return _svg(figure, f"Distribution of {column} before and after: {pairs}")


def search_plot(result: SearchResult) -> str:
    """The map of risk and utility: all trials, the front, the limit and the best."""
    made = np.array([not one.problem and np.isfinite(one.utility) for one in result.trials], dtype=np.bool_)
    risk = np.array([one.risk for one in result.trials])[made]
    utility = np.array([one.utility for one in result.trials])[made]
    front = result.front[made]
    allowed = risk <= result.limit
    with _figure(height=4.0) as (figure, axes):
        axes.axvline(
            result.limit, color=WORST, linestyle="--", linewidth=1, label=f"limit {result.limit:.4g}"
        )
        axes.scatter(
            risk[~allowed], utility[~allowed], color=BEFORE, marker="x", s=28, label="above the limit"
        )
        axes.scatter(risk[allowed], utility[allowed], color=AFTER, s=28, label="allowed")
        order = np.argsort(risk[front], kind="stable")
        axes.plot(risk[front][order], utility[front][order], color=AFTER, linewidth=1, label="front")
        if allowed.any():
            best = result.best
            axes.scatter(
                [best.risk],
                [best.utility],
                s=120,
                facecolors="none",
                edgecolors=WORST,
                linewidths=2,
                label="best",
            )
        axes.set_xlabel("risk")
        axes.set_ylabel("utility")
        axes.legend(frameon=False, fontsize=8, loc="best")
        return _svg(
            figure,
            f"Risk and utility of {int(made.sum())} trials, {int(allowed.sum())} of them within the limit "
            f"{result.limit:.4g}; the table below has the figures",
        )


def choice_plot(
    fit: Fit, epsilons: Float, values: Float, title: str, chosen: float, limit: float | None = None
) -> str:
    """A figure over epsilon: releases, the curve, its band, the limit if there is one, and what was chosen.

    Args:
        fit: of the curve.
        epsilons: of the releases, shape (n,).
        values: of the figure, shape (n,).
        title: of the figure.
        chosen: epsilon.
        limit: of the figure.
    """
    with _figure() as (figure, axes):
        axes.fill_between(fit.grid, fit.low, fit.high, color=AFTER, alpha=0.15, linewidth=0)
        axes.plot(fit.grid, fit.curve(fit.grid), color=AFTER, label=fit.curve.family)
        axes.scatter(epsilons, values, color=BEFORE, s=18, label="releases", zorder=3)
        if limit is not None:
            axes.axhline(limit, color=WORST, linestyle="--", linewidth=1, label=f"limit {limit:.4g}")
        axes.axvline(chosen, color=WORST, linestyle=":", linewidth=1.5, label=f"epsilon {chosen:.4g}")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("epsilon")
        axes.set_ylabel(title, fontsize=8)
        axes.legend(frameon=False, fontsize=8, loc="best")
        return _svg(
            figure,
            f"{title} of {len(values)} releases over epsilon from {epsilons.min():g} to {epsilons.max():g}, "
            f"with the curve {fit.curve.family} and epsilon {chosen:.4g}; the table below has the figures",
        )


@contextmanager
def _figure(height: float = 3.4) -> Iterator[tuple[Any, Any]]:
    """A figure with one pair of axes, in the style of the page."""
    with warnings.catch_warnings(), mpl.rc_context(_STYLE):
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(figsize=(7.2, height), layout="constrained")
        yield figure, figure.add_subplot()


def _svg(figure: Any, description: str) -> str:
    """The figure as an SVG element with a text for those who do not see it."""
    out = StringIO()
    with mpl.rc_context({"svg.hashsalt": description}):
        figure.savefig(
            out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    drawn = out.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"<style.*?</style>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r'(<svg[^>]*?) width="[^"]*pt"', r"\1", drawn, count=1)
    drawn = re.sub(r'(<svg[^>]*?) height="[^"]*pt"', r"\1", drawn, count=1)
    return drawn.replace("<svg", f'<svg role="img" aria-label="{escape(description)}"', 1)


def _short(label: str, most: int = 18) -> str:
    return label if len(label) <= most else label[: most - 1] + "…"
