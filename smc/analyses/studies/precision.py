"""What error bars figures can be expected to have: said to the local people before a run.

The half widths are those that a run would print if its noise came out as 0. They depend on the local rows, so
they are for the local people alone: they are part of no message, contract or certificate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from smc.analyses.studies.columns import DAYS
from smc.analyses.studies.study import Preview

PRECISION: Final = "precision"
"""The name in `Preview.details` of the rows of `expectation`."""

SPLIT: Final = "split"
"""The name in `Preview.details` of shares by which the loss would be split better, by query."""

REACH: Final = "reach"
"""The name in such a row of how far the figure can vary at all; it is for `is_vague` alone."""

_VAGUE: Final = 0.25


def is_vague(row: Mapping[str, Any]) -> bool:
    """Whether a figure says almost nothing: its half width is above a quarter of what it can vary by."""
    reach, width = row.get(REACH), row["half_width"]
    return reach is not None and width is not None and width > _VAGUE * reach


def with_precision(preview: Preview, found: Sequence[dict[str, Any]]) -> Preview:
    """A preview that also says what precision to expect, unless it refuses."""
    if preview.refusal is not None:
        return preview
    return replace(preview, details={**preview.details, PRECISION: list(found)})


def expectation(
    query: str,
    kind: str,
    half_width: float | None,
    unit: str,
    loss: dict[str, str],
    *,
    group: str | None = None,
    term: str | None = None,
    reach: float | None = None,
) -> dict[str, Any]:
    """One row.

    Args:
        query: what the figure is called.
        kind: of figure.
        half_width: of its 95 % interval in `unit`; None where it is unknown, or there would be no figure.
        unit: of the figure; a distance between dates is in days.
        loss: its part of the job's loss: `epsilon` or `rho`, as text.
        group: whom the figure is about, if there are several groups.
        term: of what in a regression.
        reach: how far the figure can vary by the declared bounds and the local rows; None if nobody says.
    """
    named = {"query": query, "kind": kind, "group": group, "term": term}
    known = {} if reach is None else {REACH: reach}
    return {**named, "half_width": half_width, "unit": unit.replace(DAYS, "days"), **loss, **known}


def half(lower: Fraction | float | str | None, upper: Fraction | float | str | None) -> float | None:
    """Half the width of an interval; None if it has no ends."""
    if lower is None or upper is None:
        return None
    return float(Fraction(upper) - Fraction(lower)) / 2
