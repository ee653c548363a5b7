"""What comes before noise and after it: local sums of many rows, and the results of opened entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from smc.analyses.statistics.kinds.crosstabs import Cells
from smc.analyses.statistics.kinds.statistic import Result
from smc.analyses.statistics.kinds.survival.statistic import Survival
from smc.analyses.statistics.plans.noisy import count_rows
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.plans.planned import Planned
from smc.analyses.statistics.queries.parameters import MAX_ROWS, StatisticsParameters
from smc.analyses.statistics.queries.rows import Ints, rows_by_condition
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.totals import SummedRows
from smc.errors import DomainError, DuettoError, UsageError
from smc.numeric.random import Randomness

WITHHELD = "Some results were withheld: their noisy counts are below the policies' minimum_group."


def totals(parameters: StatisticsParameters, pieces: Iterable[Data]) -> SummedRows:
    """Add up the local entries of all queries, and how many rows there are.

    What noise will be added does not matter to them. If the queries do not fit the columns, only the rows are
    counted, and the reason is kept.

    Args:
        parameters: of the job.
        pieces: local columns without persons, some rows at a time.
    """
    anyhow = replace(parameters, maximum_rows=MAX_ROWS)
    schemas: dict[str, Schema] = {}
    plans: tuple[Planned, ...] = ()
    sums: list[Ints] = []
    refusal: DuettoError | None = None
    count = 0
    for piece in pieces:
        count += max((len(column) for column in piece.values()), default=0)
        if refusal is not None:
            continue
        try:
            if not schemas:
                schemas = {name: column.schema for name, column in piece.items()}
                plans = plan(parameters, schemas)
            rows = rows_by_condition(anyhow, piece, [planned.where for planned in plans])
            entries = [count_rows(planned, rows[planned.where]) for planned in plans]
        except (UsageError, DomainError) as problem:
            refusal = problem
            continue
        sums = [before + more for before, more in zip(sums, entries, strict=True)] if sums else entries
    return SummedRows(schemas, count, sums, refusal)


def exact(planned: Planned, sides: Sequence[Ints]) -> Ints:
    """What would be opened without noise, from the local entries of both sides."""
    return planned.statistic.exact(np.sum(sides, axis=0))


def results(
    planned: Planned, entries: Ints, seed: bytes, *, noisy: bool, limited: bool
) -> list[tuple[str | None, Result]]:
    """Each group with its result.

    Args:
        planned: the statistic.
        entries: what was opened, shape (groups, entries).
        seed: of simulations, each query's independent of the others'; see `simulation_seed`.
        noisy: whether there is noise in it.
        limited: whether what is about too few rows came out as 0.
    """
    statistic = planned.statistic
    distributions = statistic.distributions if noisy else ()
    random = Randomness.from_seed(seed, planned.query.name)
    found: list[tuple[str | None, Result]] = []
    for group, row in zip(planned.groups, entries.tolist(), strict=True):
        own = row[: statistic.size]
        if limited and isinstance(statistic, Cells):
            result = statistic.result([entry or None for entry in own], distributions, random)
            if not all(own):
                result = replace(result, notes=(*result.notes, WITHHELD))
        elif limited and isinstance(statistic, Survival):
            result = statistic.result(own, distributions, random)
            if not all(own[statistic.layout.size :]):
                result = replace(result, notes=(*result.notes, WITHHELD))
        elif limited and not row[-1]:
            result = Result(notes=(WITHHELD,))
        else:
            result = statistic.result(own, distributions, random)
        found.append((group, result))
    return found
