"""The queries of a job without noise: tables, or figures that are pooled in secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from smc.analyses.statistics.horizontal.exact import Results, Tables
from smc.analyses.statistics.horizontal.pooled import Pooled
from smc.analyses.statistics.kinds.mantel_haenszel import MantelHaenszel
from smc.analyses.statistics.plans.outcome import Reported
from smc.analyses.statistics.plans.plan import resolve
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.studies.columns import Schema

Exact = Tables | Pooled
"""A query without noise, ready to run."""


def exact_queries(parameters: StatisticsParameters, schemas: Mapping[str, Schema]) -> list[Exact]:
    """All queries of a job.

    Raises:
        UsageError: a query does not fit its columns, or a sum could exceed 63 bits.
    """
    return [_exact(query, parameters, schemas) for query in parameters.queries]


def reported_of(asked: Exact, results: Results) -> Sequence[Reported]:
    """The results of a query, for `smc.analyses.statistics.plans.outcome`."""
    return [(asked.query, asked.statistic, group, result) for group, result in results]


def _exact(query: Query, parameters: StatisticsParameters, schemas: Mapping[str, Schema]) -> Exact:
    statistic = resolve(query, parameters, schemas)
    if isinstance(statistic, MantelHaenszel):
        return Pooled.of(query, statistic, schemas, parameters.maximum_rows)
    return Tables.of(query, parameters, schemas)
