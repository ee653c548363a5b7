"""What a search measures at a point: the simulator's risk, and a utility."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from anonymizer.errors import TableError
from anonymizer.measures.risk.simulator import looked_for
from anonymizer.search.space import SearchSpace
from anonymizer.tables.table import Table
from anonymizer.utility.objectives import Utility

_SEEDS: Final = 1000


@dataclass(frozen=True, slots=True)
class ReleaseMeasure:
    """Makes releases at a point and measures them.

    The risk is 1 / n_q of the attack simulator (thesis, Definition 4.4), or with `average` the mean risk over
    the records, which outliers move less. Both figures are means over the repetitions. Of large tables it is
    that of a part of the records, see `anonymizer.measures.risk.simulator.PAIRS`.

    Attributes:
        space: the specification with ranges.
        original: the table to release; roles and hierarchies are taken from the specification.
        utility: for instance `Learning` or `fidelity`.
        repetitions: releases a point, for methods that draw at random; at least 1.
        average: see above.
        random_state: release i is made with a seed derived from it and i; None is the operating system's
            randomness.
    """

    space: SearchSpace
    original: Table
    utility: Utility
    repetitions: int = 1
    average: bool = False
    random_state: int | None = None

    def __call__(self, point: Mapping[str, Any]) -> tuple[float, float]:
        """Risk and utility.

        Raises:
            AnonymizerError: no release can be made at the point.
        """
        spec = self.space.spec(point)
        table = self.original.declare(spec.roles, spec.hierarchies, spec.schema)
        table = replace(table, origin=np.arange(len(table)))
        found = []
        for number in range(max(1, self.repetitions)):
            seed = None if self.random_state is None else self.random_state + _SEEDS * number
            pipeline = spec.pipeline(seed)
            release = pipeline.fit_transform_table(table)
            simulated = looked_for(table, release, pipeline, seed).simulation
            if not simulated.found.any():
                raise TableError(
                    "The attack simulator finds no true row among its candidates: its risk says nothing.",
                    "Search by another measure of risk, or by other steps.",
                )
            risk = float(simulated.risks.mean()) if self.average else simulated.risk
            found.append((risk, self.utility(table, release, pipeline)))
        risk, utility = np.mean(found, axis=0)
        return float(risk), float(utility)
