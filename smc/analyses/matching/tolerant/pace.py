"""How long a tolerant matching takes, and how much memory: measured, see docs/benchmarks.md."""

from __future__ import annotations

from typing import Final

from smc.analyses.matching.tolerant.parameters import TolerantParameters
from smc.analyses.studies.memory import MEBI, Memory, Pace

_PACE: Final = Pace(0.06, byte=5e-9)
_JOIN_PACE: Final = Pace(0.35, byte=1.5e-8, numpy=2.7, numpy_fixed=4.0)
_FIXED: Final = 90 * MEBI
_JOIN_FIXED: Final = 70 * MEBI
_BUCKETS_ROW: Final = 14_500
_ROW: Final = 1_000
_ITEM: Final = 750


def memory(parameters: TolerantParameters) -> Memory:
    """Of a run whose records are compared."""
    if parameters.ranks:
        return Memory(_JOIN_FIXED, _ROW + _ITEM * parameters.ranks * len(parameters.blocking))
    return Memory(_FIXED, _BUCKETS_ROW)


def pace(parameters: TolerantParameters) -> Pace:
    """Over a fast network."""
    return _JOIN_PACE if parameters.ranks else _PACE
