"""What error bar each query can be expected to have, from the local rows and the noise, before a run.

The intervals of a result follow from the noisy sums and the quantiles of the noise. Here they are computed
of sums without noise: of the local rows twice, as if the other side brought rows like these; over matched
rows once, as if all of them matched. No noise is drawn and nothing is spent. As they depend on the local
rows, they are for the local people alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from smc.analyses.records.numbers import text
from smc.analyses.statistics.kinds.statistic import Result
from smc.analyses.statistics.plans.outcome import show_number
from smc.analyses.statistics.plans.planned import Planned
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.rows import Ints
from smc.analyses.studies.precision import expectation, half
from smc.numeric.random import Randomness


def expected_precision(planned: Planned, entries: Ints, sides: int) -> list[dict[str, Any]]:
    """The half widths of a query's 95 % intervals: one for each group, and each term of a regression.

    Args:
        planned: the query.
        entries: the local ones, as `smc.analyses.statistics.plans.noisy.local` has them.
        sides: how often they count: 2 where the other side brings rows of its own.

    Returns:
        `query`, `kind`, `group` and `term`, or None; `half_width` in `unit`, None where the query would have
        no result; and the query's `epsilon` or `rho`.
    """
    statistic = planned.statistic
    sums = sides * entries
    if planned.count_distribution is not None:
        sums = np.ascontiguousarray(sums[:, :-1])
    found = []
    for group, typical in zip(planned.groups, statistic.typical(sums).tolist(), strict=True):
        random = Randomness.from_seed(b"", planned.query.name)
        result = statistic.result(typical, statistic.distributions, random)
        found += [_row(planned.query, statistic.unit, group, term, width) for term, width in _widths(result)]
    return found


def unknown(query: Query) -> dict[str, Any]:
    """The row of a query whose precision the local columns do not tell."""
    return _row(query, "", None, None, None)


def _row(query: Query, unit: str, group: str | None, term: str | None, width: float | None) -> dict[str, Any]:
    loss = {"rho": show_number(query.loss.rho)} if query.loss.rho else {"epsilon": text(query.loss.epsilon)}
    return expectation(query.name, query.kind, width, unit, loss, group=group, term=term)


def _widths(result: Result) -> Iterator[tuple[str | None, float | None]]:
    table = result.table or {}
    ends = [table.get("lower_95", ()), table.get("upper_95", ())]
    widths = [half(*pair) for pair in zip(*ends, strict=True)]
    if "term" in table:
        yield from zip(table["term"], widths, strict=True)
    elif widths:  # cells of a table, which have noise of one distribution
        yield None, max((width for width in widths if width is not None), default=None)
    else:
        yield None, half(result.lower, result.upper)
