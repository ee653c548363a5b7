"""What a statistics job asks for, once it is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from smc.analyses.studies.loss import Loss

if TYPE_CHECKING:
    from smc.analyses.records.conditions import Condition
    from smc.analyses.statistics.queries.follow_up import FollowUp


@dataclass(frozen=True, slots=True)
class Entry:
    """What a query is to a table one.

    Attributes:
        table: the name of the table.
        column: the characteristic; empty for the number of rows.
        what: `rows`, `missing`, `summary`, `labels` or the name of a quantile.
    """

    table: str
    column: str
    what: str


@dataclass(frozen=True, slots=True)
class Query:
    """One statistic that a job asks for.

    Attributes:
        name: unique in the job.
        kind: one of `smc.analyses.statistics.queries.query.KINDS`.
        columns: the columns' names in the job; none for a count that names none. Of a regression the
            predictors come first and the target last; of a t-test the values come first, then the groups; of
            risks the groups, then the outcome, and of pooled ones the strata; of a standardised ratio the
            strata, then the outcome; of a weighted mean the values, then the weights; of survival
            times, events, groups and strata.
        loss: this query's part of the job's.
        by: the category columns for whose labels, or combinations of labels, the statistic is asked; none for
            all rows together.
        lower: for each column, the clamping bound in its real unit, or None for the declared one.
        upper: the same, upper.
        edges: for each column, increasing edges of bins in the real unit; empty for categories.
        categories: for each column, labels to count; empty for all declared ones.
        level: of a quantile, in (0, 1).
        step: distance of the candidates of a quantile in the real unit; None if not stated.
        points: number of candidates of a quantile at most; 0 if not stated.
        test: whether a cross table is tested for independence, or groups for equal survival.
        where: conditions on the rows that it is about; all of them have to hold.
        rates: of a standardised ratio the rate of each label of the first column; of standardised rates the
            weight of each label of the third.
        entry: its place in a table one, or None.
        follow_up: of a query about survival.
    """

    name: str
    kind: str
    columns: tuple[str, ...]
    loss: Loss
    by: tuple[str, ...] = ()
    lower: tuple[Fraction | None, ...] = ()
    upper: tuple[Fraction | None, ...] = ()
    edges: tuple[tuple[Fraction, ...], ...] = ()
    categories: tuple[tuple[str, ...], ...] = ()
    level: Fraction = Fraction(1, 2)
    step: Fraction | None = None
    points: int = 0
    test: bool = False
    where: tuple[Condition, ...] = ()
    rates: tuple[tuple[str, Fraction], ...] = ()
    entry: Entry | None = None
    follow_up: FollowUp | None = None

    @property
    def all_columns(self) -> tuple[str, ...]:
        """The columns that it needs, those of `by` and `where` included, each once."""
        conditions = (each.column for part in self.where for each in part.comparisons)
        return tuple(dict.fromkeys((*self.columns, *self.by, *conditions)))
