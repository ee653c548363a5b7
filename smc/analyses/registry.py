"""All analyses, listed plainly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from smc.analyses.clustering.study import CLUSTERING
from smc.analyses.comparison.study import COMPARISON
from smc.analyses.matching.analysis import CHOOSERS, MATCHING, Chooser
from smc.analyses.models.study import MODELS
from smc.analyses.plan.study import PLAN
from smc.analyses.preparation import PREPARATION
from smc.analyses.scoring.study import SCORING
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.studies.study import Analysis, Study
from smc.analyses.validation.study import VALIDATION


def register(analyses: Iterable[Analysis]) -> Mapping[str, Analysis]:
    """Analyses by their names.

    Raises:
        TypeError: one lacks a part of `smc.analyses.studies.study.Analysis`.
        ValueError: two have one name.
    """
    found: dict[str, Analysis] = {}
    for analysis in analyses:
        if not isinstance(analysis, Analysis):
            raise TypeError(f"{type(analysis).__name__} lacks a part of smc.analyses.studies.study.Analysis.")
        if analysis.name in found:
            raise ValueError(f"Two analyses are called {analysis.name!r}.")
        found[analysis.name] = analysis
    return MappingProxyType(found)


def study_of(analysis: Analysis, parameters: Mapping[str, Any]) -> Study:
    """The study that an analysis makes of parameters.

    Raises:
        UsageError: the parameters are not those of the analysis.
        TypeError: the study lacks a part of `smc.analyses.studies.study.Study`, such as its facts.
    """
    study = analysis.parse(parameters)
    if not isinstance(study, Study):
        raise TypeError(f"{type(study).__name__} lacks a part of smc.analyses.studies.study.Study.")
    return study


ANALYSES: Final = register(
    (CLUSTERING, COMPARISON, MATCHING, MODELS, PLAN, PREPARATION, SCORING, STATISTICS, VALIDATION)
)

CHOSEN_ROWS: Final[Mapping[str, tuple[Chooser, ...]]] = MappingProxyType({MATCHING.name: CHOOSERS})
"""By analysis, what whoever chooses its rows learns of the other side's in one job."""

OF_MANY_FIGURES: Final = frozenset({PLAN.name, STATISTICS.name})
"""The analyses of which many exact figures together can tell of single rows."""
