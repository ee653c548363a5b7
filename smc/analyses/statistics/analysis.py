"""The analysis `statistics`: one name for people, one study for each way to bring rows together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from smc.analyses.derived.study import with_derived
from smc.analyses.statistics.horizontal.curves_study import ExactCurvesStudy
from smc.analyses.statistics.horizontal.study import ExactTablesStudy, NoisyStudy
from smc.analyses.statistics.queries.parameters import parse
from smc.analyses.statistics.vertical.curves_study import MatchedCurvesStudy
from smc.analyses.statistics.vertical.study import NoisyVerticalStudy
from smc.analyses.studies.study import Study


class Statistics:
    """The analysis `statistics`; see `smc.analyses.studies.study.Analysis` for its methods' contracts."""

    name: Final = "statistics"
    always_matches: Final = False

    def parse(self, parameters: Mapping[str, Any]) -> Study:
        """Check the `[parameters]` of a job, see `smc.analyses.statistics.queries.parameters`.

        Columns may be derived, see `smc.analyses.derived.columns`.
        """
        return with_derived(parameters, _study)


def _study(parameters: Mapping[str, Any]) -> Study:
    parsed = parse(parameters)
    if parsed.vertical is not None:
        if parsed.is_exact:
            return MatchedCurvesStudy(parsed, parsed.vertical)
        return NoisyVerticalStudy(parsed, parsed.vertical)
    if parsed.is_exact and parsed.queries[0].follow_up is not None:
        return ExactCurvesStudy(parsed)
    return ExactTablesStudy(parsed) if parsed.is_exact else NoisyStudy(parsed)


STATISTICS: Final = Statistics()
"""The analysis, for the registry."""
