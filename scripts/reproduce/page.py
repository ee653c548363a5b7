"""The page of reproductions: where data lie, tables and statements, and how a section gets into it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from matplotlib import rcParams
from matplotlib.figure import Figure

DATA: Final = Path(os.environ.get("DUETTO_SHARED_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
"""The folder of the tables that the scripts read, unless `--data` names another."""

PLOTS: Final = "reproduction"
"""The folder of the plots, beside the page."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a paper says of a figure, and what is found here.

    Attributes:
        table: of which table or figure.
        says: what the paper says, with method and parameters.
        found: what is found here.
        holds: whether that agrees.
    """

    table: str
    says: str
    found: str
    holds: bool


def markdown(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table; numbers with three digits."""
    cells = [[f"{one:.3g}" if isinstance(one, float) else str(one) for one in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in [names, ["---"] * len(names), *cells]) + "\n"


def judged(statements: Sequence[Statement], of: str = "table") -> str:
    """A table of statements; `of` heads its first column."""
    rows = [(one.table, one.says, one.found, "yes" if one.holds else "**no**") for one in statements]
    return markdown((of, "statement", "here", "holds"), rows)


def drawn(title: str, name: str) -> str:
    """A line that shows the plot of this name."""
    return f"![{title}]({PLOTS}/{name}.svg)"


def missing(folder: Path, *names: str) -> str:
    """What to say of the first of these files that is not in the folder; empty if all are there."""
    gone = [folder / name for name in names if not (folder / name).exists()]
    return f"{gone[0]} is missing; name its folder with --data." if gone else ""


def write(folder: Path, heading: str, text: str, plots: Mapping[str, Figure]) -> None:
    """Put a section into `reproduction.md`, in place of an older one or at its end, and its plots beside it.

    Args:
        folder: of the page, such as `docs`; made if it is not there.
        heading: the first line of the section, of the second level.
        text: the section, with its heading.
        plots: by their names, which `drawn` shows in a section.
    """
    (folder / PLOTS).mkdir(parents=True, exist_ok=True)
    page = folder / "reproduction.md"
    before = page.read_text(encoding="utf-8") if page.exists() else "# Reproduction\n"
    old = re.search(rf"^{re.escape(heading)}\n.*?(?=^## |\Z)", before, flags=re.DOTALL | re.MULTILINE)
    start, end = old.span() if old else (len(before), len(before))
    parts = (before[:start].rstrip(), text.strip(), before[end:].strip())
    page.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    # ids of drawings hang on this alone, so that the same figures give the same files
    rcParams["svg.hashsalt"] = "reproduction"
    for name, figure in plots.items():
        figure.savefig(folder / PLOTS / f"{name}.svg", format="svg", metadata={"Date": None, "Creator": None})
