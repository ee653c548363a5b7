"""The whole numbers of a clustering job."""

from __future__ import annotations

from collections.abc import Mapping

from smc.analyses.clustering.parameters import ClusteringParameters, Layout
from smc.analyses.records.fixed_point import Declared, Grid, grid


def grid_of(parameters: ClusteringParameters, declared: Mapping[str, Declared]) -> Grid:
    """The grid of a clustering job.

    Args:
        parameters: as parsed.
        declared: all columns by name.

    Raises:
        UsageError, DomainError: as `grid`.
    """
    parts = 2 if parameters.layout is Layout.ARBITRARY else 1
    columns = {name: declared[name] for name in parameters.names}
    return grid(columns, parameters.precision, parameters.scaling, parts)
