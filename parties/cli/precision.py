"""The precision to expect of a job, for the local people, before anything is spent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from parties.cli.output import Screen, table

MAX_ROWS: Final = 40
"""More rows are not printed; `--json` has all."""


def print_precision(out: Screen, rows: Sequence[dict[str, Any]]) -> None:
    """Print what half width each query's 95 % interval is expected to have, from the local rows alone."""
    if not rows:
        return
    shown = []
    for row in rows[:MAX_ROWS]:
        place = ": ".join(str(each) for each in (row["group"], row["term"]) if each is not None)
        width = (
            "unknown"
            if row["half_width"] is None
            else f"{out.plus_minus} {row['half_width']:.3g} {row['unit']}".rstrip()
        )
        loss = f"rho {row['rho']}" if "rho" in row else f"epsilon {row['epsilon']}"
        shown.append((row["query"], place, width, loss))
    out.print(table("precision to expect", ("query", "group", "95 % interval", "privacy loss"), shown))
    if len(rows) > MAX_ROWS:
        out.print(f"... and {len(rows) - MAX_ROWS} more; --json has them all.")
    out.print(
        "The widths follow from the noise and the local rows, as if the other side had rows like these (over "
        "matched rows: as if all matched). They stay with this party: nothing was sent, and nothing spent."
    )
