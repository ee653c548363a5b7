"""All analyses, listed plainly."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from smc.analyses.base import Analysis
from smc.analyses.clustering.analysis import CLUSTERING
from smc.analyses.comparison.analysis import COMPARISON
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.preparation import PREPARATION
from smc.analyses.statistics.analysis import STATISTICS

ANALYSES: Final[Mapping[str, Analysis]] = MappingProxyType(
    {analysis.name: analysis for analysis in (CLUSTERING, COMPARISON, MATCHING, PREPARATION, STATISTICS)}
)
