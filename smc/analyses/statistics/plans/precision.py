"""What error bar each query can be expected to have, from the local rows and the noise, before a run.

The intervals of a result follow from the noisy sums and the quantiles of the noise. Here they are computed
of sums without noise: of the local rows twice, as if the other side brought rows like these; over matched
rows once, as if all of them matched. No noise is drawn and nothing is spent. As they depend on the local
rows, they are for the local people alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from smc.analyses.records.numbers import text
from smc.analyses.statistics.kinds.statistic import Result
from smc.analyses.statistics.plans.outcome import show_number
from smc.analyses.statistics.plans.planned import Planned
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.rows import Ints
from smc.analyses.studies.outcome import STEPS
from smc.analyses.studies.precision import expectation, half
from smc.numeric.random import Randomness

_SPREAD: Final = frozenset({"mean", "median", "quantile", "summary"})
"""Kinds of figures that lie between the bounds of a column."""

_PARTS: Final = {"sd": 0.5, "deviation": 0.5}
"""Terms and kinds that reach over a part of a column's range: a standard deviation is at most half of it."""

_COUNTS: Final = frozenset({"count", "histogram", "crosstab"})
"""Kinds of figures that lie between 0 and the number of rows."""


def expected_precision(planned: Planned, entries: Ints, sides: int, rows: int = 0) -> list[dict[str, Any]]:
    """The half widths of a query's 95 % intervals: one for each group, and each term of a regression.

    Args:
        planned: the query.
        entries: the local ones, as `smc.analyses.statistics.plans.noisy.local` has them.
        sides: how often they count: 2 where the other side brings rows of its own.
        rows: how many there are here; 0 if that is not known.

    Returns:
        `query`, `kind`, `group` and `term`, or None; `half_width` in `unit`, None where the query would have
        no result; and the query's `epsilon` or `rho`.
    """
    statistic, reach = planned.statistic, _reach(planned, sides * rows)
    sums = sides * entries
    if planned.count_distribution is not None:
        sums = np.ascontiguousarray(sums[:, :-1])
    found = []
    for group, typical in zip(planned.groups, statistic.typical(sums).tolist(), strict=True):
        random = Randomness.from_seed(b"", planned.query.name)
        result = statistic.result(typical, statistic.distributions, random)
        found += [
            _row(
                planned.query,
                statistic.unit,
                group,
                term,
                width,
                reach and reach * _PARTS.get(term or planned.query.kind, 1.0),
            )
            for term, width in _widths(result)
        ]
    return found


def unknown_precision(query: Query) -> dict[str, Any]:
    """The row of a query whose precision the local columns do not tell."""
    return _row(query, "", None, None, None)


def _reach(planned: Planned, rows: int) -> float | None:
    query = planned.query
    if query.kind in _COUNTS:
        return float(rows) if rows else None
    if query.follow_up is not None:
        return 1.0  # a chance
    if query.kind not in _SPREAD and query.kind not in _PARTS:
        return None
    schema, lower, upper = planned.statistic.schemas[0], query.lower[:1], query.upper[:1]
    ends = [
        stated[0] if stated and stated[0] is not None else declared and Fraction(declared, 10**schema.scale)
        for stated, declared in ((lower, schema.lower), (upper, schema.upper))
    ]
    return None if None in ends else float((ends[1] or 0) - (ends[0] or 0))


def _row(
    query: Query,
    unit: str,
    group: str | None,
    term: str | None,
    width: float | None,
    reach: float | None = None,
) -> dict[str, Any]:
    loss = {"rho": show_number(query.loss.rho)} if query.loss.rho else {"epsilon": text(query.loss.epsilon)}
    return expectation(query.name, query.kind, width, unit, loss, group=group, term=term, reach=reach)


def _widths(result: Result) -> Iterator[tuple[str | None, float | None]]:
    table = result.table or {}
    ends = [table.get("lower_95", ()), table.get("upper_95", ())]
    widths = [half(*pair) for pair in zip(*ends, strict=True)]
    if STEPS in result.kinds.values():  # the widest place of each curve
        groups = table.get("group", [None] * len(widths))
        for name in dict.fromkeys(groups):
            own = [width for group, width in zip(groups, widths, strict=True) if group == name]
            yield name, max((width for width in own if width is not None), default=None)
    elif "term" in table:
        yield from zip(table["term"], widths, strict=True)
    elif widths:  # cells of a table, which have noise of one distribution
        yield None, max((width for width in widths if width is not None), default=None)
    else:
        yield None, half(result.lower, result.upper)
