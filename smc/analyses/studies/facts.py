"""What a daemon has to know of a job, whatever its analysis is called: policies and the release go by it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, unique
from typing import Final

from smc.analyses.disclosure.scope import Kind, Scope
from smc.analyses.studies.loss import Loss
from smc.forms import ComparisonType, Role

MAX_PARTS: Final = 20
"""The most analyses that one job is made of."""


@unique
class Whom(Enum):
    """Whom figures without noise are about, as far as that can be remembered for later jobs."""

    CELLS = "cells"
    """Rows that the job sorts by their values: each figure is held against all that were shown before."""
    CLUSTERS = "clusters"
    """Rows between lines that a run finds and recipients know: nobody can list them beforehand, and of two
    such figures, or one beside a table or model, the difference is about the rows between two lines."""
    FITS = "fits"
    """All rows of a side, by coefficients of a model, which tell sums over groups: held against all that were
    shown before, as cells are."""
    MATCHES = "matches"
    """Rows that both sides have, whom nobody knows."""


@dataclass(frozen=True, slots=True)
class ExactFigures:
    """Figures about several persons without noise.

    Attributes:
        count: how many figures the rows of a side are shown by: tables, clusterings, or sums of columns of
            that side; of both sides the larger number. Two about the same rows can be subtracted from each
            other, so where the policies limit groups or sums there may be one.
        whom: whom they are about.
        added_up: the columns, by their names in the job, of which sums are shown.
        together: how many of them a release holds against each other before one is opened.
    """

    count: int
    whom: Whom
    added_up: frozenset[str] = frozenset()
    together: int = 0

    @property
    def apart(self) -> int:
        """How many figures nothing holds against each other; those that are held together count as one."""
        return self.count - self.together + bool(self.together)


@dataclass(frozen=True, slots=True)
class RowBounds:
    """What the parameters take for granted of the rows of either side.

    No run is to find out by failing whether it holds: a daemon holds it against the catalog's declarations.

    Attributes:
        rows: the most rows; None where a run does not depend on it.
        per_person: the most rows of one person; likewise.
    """

    rows: int | None = None
    per_person: int | None = None


@unique
class Stated(Enum):
    """What a job may state of its own, by the words of policies."""

    WHERE = "where"
    """Conditions on rows."""
    DERIVED = "derived"
    """Columns that are derived from others."""
    BOUNDS = "bounds"
    """Bounds to which values are clamped."""
    CENTRES = "centres"
    """Points at which a clustering begins."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers by which one side's data answer rows that the other chooses.

    Attributes:
        by: whose data answer.
        most: of a run.
    """

    by: Role
    most: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What a job asks for, in words that a policy can name.

    Attributes:
        queries: the kinds of figures, such as `mean`; none where an analysis has one kind only.
        keys: the columns, by their names in the job, by which rows of both sides are matched.
        values: those of `keys` that figures are about as well, as all columns are that are no keys.
        states: what it states of its own.
        named: parameters of which a rule has to name the value, as jobs with it tell more than others of the
            analysis.
        likeness: whether rows are paired that are alike, so that a side finds the other's nearest by bringing
            many variants.
        answers: what a side's data answer about rows of the other.
        parts: the analyses of its parts, where a job is made of several.
    """

    queries: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    states: frozenset[Stated] = frozenset()
    named: frozenset[str] = frozenset()
    likeness: bool = False
    answers: tuple[Answers, ...] = ()
    parts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the daemon has to know of a job, whatever its analysis is called.

    Nothing has a default: an analysis that leaves a fact out cannot state any.

    Attributes:
        pairs_by_position: rows of both sides belong together by their position, so none may be left out.
        matches: rows of both sides are matched, so limits on the sizes of sets hold.
        lpn: the run rests on learning parity with noise, or may, on whatever link: rows are matched by keys,
            or compared by silent transfers.
        row_results: somebody learns something about single rows: matched keys or pairs, labels, outcomes of
            comparisons, exact sums over matches, models and survival without noise. Shares and ciphertexts
            that nobody opens are not such results.
        comparison_type: what is compared in which form, or None where nothing of a stated form is.
        exact: the figures about several persons that are released without noise: sums, sizes, centres; None
            where none is.
        sorts_by: the columns, by their names in the job, by whose values exact tables sort rows into cells.
            Which cells have rows at all is shown, so these must not name persons.
        keeps_missing: the columns, by their names in the job, of which rows with missing cells are kept where
            the catalog would have them left out; the data then have their marks
            (`smc.analyses.studies.columns.missing_mark`).
        loss: the total privacy loss of the run; nothing if it releases nothing under differential privacy.
        bounds: what is taken for granted of the number of rows.
        asked: what is asked for.
    """

    pairs_by_position: bool
    matches: bool
    lpn: bool
    row_results: bool
    comparison_type: ComparisonType | None
    exact: ExactFigures | None
    sorts_by: frozenset[str]
    keeps_missing: frozenset[str]
    loss: Loss
    bounds: RowBounds
    asked: Asked

    @property
    def scope(self) -> Scope:
        """What a run may open by these facts."""
        kinds = (
            (Kind.GROUPS, self.exact is not None),
            (Kind.ROWS, self.row_results),
            (Kind.NOISY, bool(self.loss)),
        )
        held = frozenset(kind for kind, holds in kinds if holds)
        figures, apart = (0, 0) if self.exact is None else (self.exact.count, self.exact.apart)
        return Scope(held, self.matches, figures, apart, together=bool(self.asked.parts))
