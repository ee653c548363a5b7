"""The precision to expect of a job, for the local people, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from parties.cli.output import Screen, listing
from parties.results.tables import figures_by_group

MAX_ROWS: Final = 40
"""More rows are not printed; `--json` has all."""

VAGUE: Final = "!"
"""Beside a width that says almost nothing."""


def width_text(figure: dict[str, Any], plus_minus: str) -> str:
    """Half the width of the 95 % interval of a figure of `terms`, with its unit; empty if it is not known."""
    if figure["half_width"] is None:
        return ""
    said = f" {plus_minus} {figure['half_width']:.3g} {figure['unit']}".rstrip()
    return f"{said} (says almost nothing)" if figure["vague"] else said


def print_precision(
    out: Screen, rows: Sequence[dict[str, Any]], vague: Sequence[bool] = (), advice: Sequence[str] = ()
) -> None:
    """Print what half width each query's 95 % interval is expected to have, from the local rows alone.

    Queries of several groups have a column for each.

    Args:
        out: the screen.
        rows: as `smc.analyses.studies.precision.expectation` makes them.
        vague: of each whether it says almost nothing; none if that is not known.
        advice: what would give more for the same loss.
    """
    if not rows:
        return
    marks = [*vague, *([False] * (len(rows) - len(vague)))]
    marked = [row | {"vague": is_vague} for row, is_vague in zip(rows, marks, strict=True)]
    groups, lines = figures_by_group(marked)
    printed = [
        (f"  {name}", *(_cell(out, found.get(group)) for group in groups)) for name, found in lines.items()
    ]
    out.print("Expected precision, as half the width of a 95 % interval:")
    out.print(listing(("", *groups), printed[:MAX_ROWS]))
    if len(lines) > MAX_ROWS:
        out.print(f"... and {len(lines) - MAX_ROWS} more; --json has them all.")
    if any(vague):
        out.print(f"{VAGUE} says almost nothing: it is wider than half of what the figure can vary by.")
    for line in advice:
        out.print(line)
    out.print(
        "The widths follow from the noise and the local rows, as if the other side had rows like these (over "
        "matched rows: as if all matched). They stay with this party: nothing was sent, and nothing spent."
    )


def _cell(out: Screen, row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    width = "unknown" if row["half_width"] is None else f"{out.plus_minus} {row['half_width']:.3g}"
    return f"{width} {VAGUE}" if row["vague"] else width
