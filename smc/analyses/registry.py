"""All analyses, listed plainly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from smc.analyses.base import Analysis
from smc.analyses.clustering.analysis import CLUSTERING
from smc.analyses.comparison.analysis import COMPARISON
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.preparation import PREPARATION
from smc.analyses.statistics.analysis import STATISTICS


def registered(analyses: Iterable[Analysis]) -> Mapping[str, Analysis]:
    """Analyses by their names.

    Raises:
        TypeError: one lacks a part of `smc.analyses.base.Analysis`, such as its facts.
        ValueError: two have one name.
    """
    found: dict[str, Analysis] = {}
    for analysis in analyses:
        if not isinstance(analysis, Analysis):
            raise TypeError(f"{type(analysis).__name__} lacks a part of smc.analyses.base.Analysis.")
        if analysis.name in found:
            raise ValueError(f"Two analyses are called {analysis.name!r}.")
        found[analysis.name] = analysis
    return MappingProxyType(found)


ANALYSES: Final = registered((CLUSTERING, COMPARISON, MATCHING, PREPARATION, STATISTICS))
