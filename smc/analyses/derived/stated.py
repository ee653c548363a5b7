"""Bounds that a job states for a derived column, beside those that follow from its sources."""

from __future__ import annotations

from typing import Final

from smc.errors import UsageError

MAX_BOUND: Final = 1 << 40
"""The largest bound that a job may state, in held units."""

Ends = tuple[int | None, int | None]


def narrow(name: str, follow: Ends, stated: Ends, *, exact: bool) -> Ends:
    """The bounds of a derived column, in held units.

    Without noise they are those that the declared sources allow, as limits are measured by them
    (`smc.analyses.disclosure.owned`).

    Args:
        name: of the column.
        follow: what follows from the bounds of its sources.
        stated: what the job says.
        exact: whether figures are released without noise.

    Raises:
        UsageError: bounds are stated without noise, or the lower one is above the upper one.
    """
    if exact and stated != (None, None):
        raise UsageError(
            f"derived.{name}: lower and upper need noise. Without it the bounds are those that the declared "
            "columns allow, by which limits are measured.",
            "Leave lower and upper out, or add noise.",
        )
    lower, upper = (ours if theirs is None else theirs for ours, theirs in zip(follow, stated, strict=True))
    if lower is not None and upper is not None and lower > upper:
        raise UsageError(
            f"derived.{name}: the lower bound is above the upper one.",
            "Correct the bounds in the job, or those of the columns in the catalog.",
        )
    return lower, upper
