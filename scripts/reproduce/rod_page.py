"""Where the rebuilt tables and figures on the risk of disclosure go: a section of one page, and plots."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure

HEADING: Final = "## The risk of disclosure"


def markdown(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table."""
    cells = [[f"{one:.3g}" if isinstance(one, float) else str(one) for one in row] for row in rows]
    lines = [list(heads), ["---"] * len(heads), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def written(folder: Path, text: str, drawn: Mapping[str, Figure]) -> None:
    """Put the section into the page of reproductions, in place of an older one, and the plots beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "reproduction.md"
    before = page.read_text(encoding="utf-8") if page.exists() else "# Reproduction\n"
    kept = re.sub(
        rf"\n*^{re.escape(HEADING)}\n.*?(?=^## |\Z)", "\n\n", before, flags=re.DOTALL | re.MULTILINE
    )
    page.write_text(f"{kept.rstrip()}\n\n{text}", encoding="utf-8")
    for name, figure in drawn.items():
        figure.savefig(folder / f"{name}.svg", format="svg", metadata={"Date": None, "Creator": None})
