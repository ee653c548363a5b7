"""Figures 8.4 and 8.5 as PNG, if matplotlib is installed (extra `plots`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from measuring import tell
from printed import LABELS, TOTAL_KB, TOTAL_MS

PAPER = 1024
COLOURS = {
    "paillier": "#0b5fa5",
    "bo07": "#c2410c",
    "ghjr15": "#15803d",
    "vbdhe15": "#7e22ce",
    "dgk": "#b45309",
}
MARKERS = {"paillier": "o", "bo07": "s", "ghjr15": "^", "vbdhe15": "D", "dgk": "v"}
FIGURES = (
    ("figure-8.4.png", "ms", "time, ms", "One comparison of type 1: time", TOTAL_MS),
    ("figure-8.5.png", "kb", "messages, KB", "One comparison of type 1: traffic", TOTAL_KB),
)

Line = tuple[int, str, Sequence[Mapping[str, Any]]]


def draw(folder: Path, lines: Sequence[Line]) -> list[Path]:
    """Draw both figures, one panel per key size.

    Args:
        folder: where the files go.
        lines: key size, engine and points with `bits`, `ms` and `kb`.

    Returns:
        The files; none if matplotlib is missing.
    """
    try:
        import matplotlib as mpl
    except ImportError:
        tell("no plots: matplotlib is not installed (pip install 'duetto[plots]')")
        return []
    mpl.use("Agg")
    return [
        _figure(folder / name, field, unit, title, thesis, lines)
        for name, field, unit, title, thesis in FIGURES
    ]


def _figure(
    path: Path, field: str, unit: str, title: str, thesis: Mapping[int, float], lines: Sequence[Line]
) -> Path:
    from matplotlib import pyplot as plt

    sizes = sorted({key_bits for key_bits, _, _ in lines})
    figure, panels = plt.subplots(
        1, len(sizes), figsize=(1 + 5.2 * len(sizes), 4.4), squeeze=False, layout="constrained"
    )
    for axes, size in zip(panels[0], sizes, strict=True):
        for key_bits, engine, points in lines:
            if key_bits == size and points:
                axes.plot(
                    [point["bits"] for point in points],
                    [point[field] for point in points],
                    label=LABELS.get(engine, engine),
                    color=COLOURS.get(engine),
                    marker=MARKERS.get(engine, "x"),
                    # wide below and narrow above: lines that lie on each other are both seen
                    markersize=9 if engine == "paillier" else 5,
                    linewidth=4 if engine == "paillier" else 1.6,
                    zorder=2 if engine == "paillier" else 3,
                )
        if size == PAPER:
            axes.plot(
                list(thesis),
                list(thesis.values()),
                label="thesis's own, as printed",
                color="#555555",
                linestyle="--",
                marker=".",
            )
        axes.set_title(f"{size}-bit keys")
        axes.set_xlabel("bits of x and y")
        axes.set_ylabel(unit)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    figure.suptitle(title)
    figure.savefig(path, dpi=140)
    plt.close(figure)
    return path
