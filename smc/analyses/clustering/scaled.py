"""The columns of a clustering job, scaled to whole numbers."""

from __future__ import annotations

from collections.abc import Mapping

from smc.analyses.clustering.parameters import ClusteringParameters, Layout
from smc.analyses.records.fixed_point import DeclaredRange, FixedPointColumns, fixed_point_columns


def scaled_columns(
    parameters: ClusteringParameters, declared: Mapping[str, DeclaredRange]
) -> FixedPointColumns:
    """The columns of a clustering job as whole numbers of the same precision.

    Args:
        parameters: as parsed.
        declared: all columns by name.

    Raises:
        UsageError, DomainError: as `smc.analyses.records.fixed_point.fixed_point_columns`.
    """
    parts = 2 if parameters.layout is Layout.ARBITRARY else 1
    columns = {name: declared[name] for name in parameters.names}
    return fixed_point_columns(columns, parameters.precision, parameters.scaling, parts)
