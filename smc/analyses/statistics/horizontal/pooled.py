"""A query without noise whose figures are pooled over strata in secret (`stratified.py`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from smc.analyses.disclosure.persons import check_one_row_each
from smc.analyses.disclosure.pooled import PooledFigure
from smc.analyses.disclosure.release import Release
from smc.analyses.records.held_conditions import Where
from smc.analyses.statistics.horizontal.exact import Results, counted
from smc.analyses.statistics.horizontal.stratified import MOST_ROWS, pooled, read
from smc.analyses.statistics.kinds.mantel_haenszel import MantelHaenszel, PooledFigures
from smc.analyses.statistics.plans.plan import conditions
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.studies.columns import Data, Schema
from smc.errors import OutsideRange, UsageError
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.linear_ints import LinearInts
from smc.secret.reals.statements import Sealed


@dataclass(frozen=True, slots=True)
class Pooled:
    """A query, its statistic, and the conditions on its rows.

    Where limits count persons, a side brings one row for each of them: a person who is in many strata would
    weigh more than the number of rows says.
    """

    query: Query
    statistic: MantelHaenszel
    where: Where
    maximum_rows: int

    @classmethod
    def of(
        cls, query: Query, statistic: MantelHaenszel, schemas: Mapping[str, Schema], maximum_rows: int
    ) -> Pooled:
        """Resolve the conditions of a query.

        Raises:
            UsageError: one does not fit its column; or sums could be too large.
        """
        if maximum_rows > MOST_ROWS:
            raise UsageError(
                f"Query {query.name!r}: of more than {MOST_ROWS} rows of a side strata are not pooled.",
                "Lower maximum_rows.",
            )
        return cls(query, statistic, conditions(query, schemas), maximum_rows)

    def run(
        self, session: Session, release: Release, rows: LocalRows, data: Data, recipients: frozenset[Role]
    ) -> Results | None:
        """The joint run, one side; arguments as of `Tables.run`.

        Raises:
            DomainError: limits count persons, and one has several rows here; nothing was sent.
            DisclosureRefused: a side does not let its part be used; nothing was opened.
        """
        del data
        if release.counts_groups or release.weighs:
            check_one_row_each(rows.persons)
        places, strata = self.statistic.places(rows), self.statistic.strata_count
        cells = np.where(places < 0, -1, places % strata * 4 + places // strata)
        part = counted(cells, rows.persons, (strata, 4))
        own = self.statistic.local(rows).reshape(4, -1)
        kept: list[Sealed] = []

        def figures() -> LinearInts:
            found = pooled(session, own, self.maximum_rows)
            kept.append(found[0].seal(*found[1:]))
            return kept[0].ints

        opened = release.exact(PooledFigure(part, (strata, 2, 2), figures), recipients)
        if opened is None:
            return None
        try:
            return [(None, self.statistic.pooled(read(kept[0], opened)))]
        except OutsideRange:
            return [(None, self.statistic.pooled(None))]

    def reference(self, sides: Sequence[tuple[LocalRows, Data]]) -> Results:
        """What a recipient would get from both sides' rows without limits and rounding."""
        total = np.sum([self.statistic.local(rows) for rows, _ in sides], axis=0)
        cells = total.astype(np.float64).reshape(4, -1)
        return [(None, self.statistic.pooled(PooledFigures.of(cells)))]
