"""The memory of a run: measured, with so many rows a side."""

from __future__ import annotations

from typing import Final

from smc.analyses.clustering.orders import orders
from smc.analyses.clustering.parameters import ClusteringParameters
from smc.analyses.clustering.table import Shape
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.setting import RunSetting
from smc.forms import Role

_FIXED_MEMORY: Final = 30 * MEBI
_ROW_MEMORY: Final = 670
_CELL_MEMORY: Final = 12.3
"""Of each row for a column of a centre; also below."""

_BATCH_CELL_MEMORY: Final = 50
_FULL_BATCHES: Final = 140 * MEBI
"""Most that batches take, which larger tables fill."""

_TRANSFER_MEMORY: Final = 16
_MARKED_COLUMN_MEMORY: Final = 20


def memory(parameters: ClusteringParameters, shape: Shape, setting: RunSetting) -> int:
    """Measured: batches that fill, what is kept of rows, and of their transfers."""
    rows = max(setting.rows)
    cells = parameters.clusters * shape.scaled.dimensions
    each = _ROW_MEMORY + _CELL_MEMORY * cells
    if parameters.epsilon is None and setting.limits.counts_clusters:
        each += _MARKED_COLUMN_MEMORY * shape.scaled.dimensions
    batches = min(_FULL_BATCHES, _BATCH_CELL_MEMORY * cells * rows)
    kept = _kept_memory(parameters, shape) + 2 * max(
        each.memory for each in orders(setting.network, setting.lanes, parameters, shape, None)
    )
    return Memory(_FIXED_MEMORY + batches + kept, each).at(rows)


def _kept_memory(parameters: ClusteringParameters, shape: Shape) -> int:
    """Of the transfers that rows are multiplied by in each pass, where these are kept from the first one."""
    if shape.lattice(parameters.clusters - 1, shape.scaled.width) is not None:
        return 0
    blocks = [entries for entries in map(shape.entries, Role) if entries.kept]
    return _TRANSFER_MEMORY * sum(entries.rows * entries.transfers for entries in blocks)
