"""What every measure is, and what is known of the release that it looks at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Final, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from anonymizer.measures.contract.story import Presentation
from anonymizer.methods.contract.method import Method
from anonymizer.risk.attacks.rows import shared_columns
from anonymizer.risk.covering import ReleasedRows
from anonymizer.risk.intersection import Intersection
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from anonymizer.utility.objectives import Utility

Int = NDArray[np.int64]
Float = NDArray[np.float64]
T = TypeVar("T")
Scale = Literal["declared", "original"]


@dataclass(frozen=True, slots=True)
class Case:
    """A release, and what is known of it.

    Attributes:
        original: with roles and hierarchies, at least one row.
        release: with roles, at least one row.
        pipeline: the fitted method that has made it, if known.
        population: all people whom an attacker may think of, as they were collected or in the form of the
            release.
        control: rows that the release was not made of.
        fraction: released rows by population, in (0, 1].
        weights: of each released row, how many people it stands for, shape (m,).
        households: of each released row the number of its household, -1 for a person alone, shape (m,).
        utility: for learning.
        extra: further tables of the release, by a short word.
        others: releases of the same table that an attacker has too.
        joint: what is left of the release, first, and of others together, where that was measured already.
        scale: what numbers are measured by in distances: the declared range of their column alone, or where
            none is declared the range of the original.
        seed: of all that is drawn, each purpose with a stream of its own; None is the operating system's
            randomness.
    """

    original: Table = field(repr=False)
    release: Table = field(repr=False)
    pipeline: Method | None = None
    population: Table | None = field(default=None, repr=False)
    control: Table | None = field(default=None, repr=False)
    fraction: float | None = None
    weights: Float | None = field(default=None, repr=False)
    households: Int | None = field(default=None, repr=False)
    utility: Utility | None = None
    extra: Mapping[str, Table] = field(default_factory=dict, repr=False)
    others: tuple[ReleasedRows, ...] = field(default=(), repr=False)
    joint: Intersection | None = field(default=None, repr=False)
    scale: Scale = "declared"
    seed: int | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The quasi-identifiers of the release."""
        return self.release.roles.quasi_identifiers

    @property
    def shared(self) -> tuple[str, ...]:
        """The columns of the release that the original has, without identifiers."""
        return shared_columns(self.original, self.release)

    @property
    def origin(self) -> Int | None:
        """Where each released row stood in the original, shape (m,); None if that is not known."""
        return None if self.pipeline is None else self.pipeline.origin_

    @property
    def has_repeats(self) -> bool:
        """Whether a person has several rows of the original."""
        return self.original.persons is not None and self.original.persons.repeat

    @property
    def counts_persons(self) -> bool:
        """Whether it is known which released rows are of one person, or each is a person of its own."""
        known = self.release.persons is not None or self.pipeline is not None
        return known or not self.has_repeats

    @property
    def rows(self) -> ReleasedRows:
        """The release as an attacker has it."""
        blurred = () if self.pipeline is None else self.pipeline.blurred
        roles = self.original.roles
        return ReleasedRows.of("this release", self.release, roles, self.extra, self.origin, blurred)

    @property
    def groups(self) -> tuple[Table, Table | None]:
        """Original and control group as an attacker sees them who knows which steps work row by row."""
        if self.pipeline is None:
            return self.original, self.control
        control = None if self.control is None else self.pipeline.recode(self.control)
        return self.pipeline.recode(self.original), control

    def randomness(self, purpose: str) -> Randomness:
        """A stream of one purpose, independent of all others, those of the release among them."""
        return Randomness(self.seed, f"measure {purpose}")


class Need(StrEnum):
    """What a measure cannot do without."""

    COLUMN = "column"
    PAIR = "pair of columns"
    QUASI_IDENTIFIERS = "quasi-identifiers"
    PERSONS = "persons"
    SENSITIVE = "sensitive"
    NUMERIC = "numeric"
    PIPELINE = "pipeline"
    ORIGIN = "origin"
    CONTROL = "control"
    POPULATION = "population"
    FRACTION = "fraction"
    WEIGHTS = "weights"
    UTILITY = "utility"
    OTHERS = "others"


_NEEDS: Final[dict[Need, tuple[Callable[[Case], bool], str]]] = {
    Need.COLUMN: (lambda case: bool(case.shared), "original and release share no column"),
    Need.PAIR: (lambda case: len(case.shared) > 1, "original and release share fewer than two columns"),
    Need.QUASI_IDENTIFIERS: (lambda case: bool(case.keys), "no quasi-identifiers are declared"),
    Need.PERSONS: (
        lambda case: case.counts_persons,
        "persons have several rows, and it is not known whose the released ones are; measure with `duetto "
        "anonymize --report`",
    ),
    Need.SENSITIVE: (lambda case: bool(case.release.roles.sensitive), "no sensitive column is declared"),
    Need.NUMERIC: (
        lambda case: any(case.original.is_numeric(name) for name in case.shared),
        "no shared column holds numbers",
    ),
    Need.PIPELINE: (lambda case: case.pipeline is not None, "it is not known how the release was made"),
    Need.ORIGIN: (lambda case: case.origin is not None, "it is not known where the rows came from"),
    Need.CONTROL: (lambda case: case.control is not None, "no control group is given"),
    Need.POPULATION: (lambda case: case.population is not None, "no population is given"),
    Need.FRACTION: (lambda case: case.fraction is not None, "it is not given what part was sampled"),
    Need.WEIGHTS: (lambda case: case.weights is not None, "no sampling weights are given"),
    Need.OTHERS: (lambda case: bool(case.others or case.joint), "no other release of the table is given"),
    Need.UTILITY: (lambda case: case.utility is not None, "no column to predict is named"),
}


class Measure(ABC, Generic[T]):
    """A measure or an attack; one without state.

    A new one is a file with a subclass, and its line in `anonymizer.measures.registry`: assessments, reports,
    `--json`, `--measures` and `--without` take it from there.
    """

    name: ClassVar[str]
    """The name on the command line and in JSON."""
    title: ClassVar[str]
    """The heading on a page."""
    kind: ClassVar[Literal["risk", "attack", "utility"]]
    """Attacks run only where they are asked for."""
    needs: ClassVar[tuple[Need, ...]] = ()
    """All of what it cannot do without."""
    passes: ClassVar[float]
    """How many times it goes over the cells of its columns, if that is its cost; see `cost`."""
    fixed_cost: ClassVar[float] = 0.0
    """What it costs besides, whatever the size of the tables."""
    counts_rows: ClassVar[bool] = False
    """Whether its figures count rows also where a person has several; they say so then."""

    def lacks(self, case: Case) -> str:
        """Why it does not apply, as the end of a sentence; empty if it does."""
        return next((why for need in self.needs for has, why in (_NEEDS[need],) if not has(case)), "")

    def columns(self, case: Case) -> tuple[str, ...]:
        """The columns that it looks at: the quasi-identifiers if it needs some, else all shared ones."""
        return case.keys if Need.QUASI_IDENTIFIERS in self.needs else case.shared

    def cost(self, rows: int, columns: int) -> float:
        """About how many cells it looks at, a hundred million of which take a second.

        Args:
            rows: of original and release, the larger number.
            columns: as `columns` counts them.
        """
        return self.fixed_cost + self.passes * rows * columns

    @abstractmethod
    def measure(self, case: Case) -> T:
        """Measure.

        Args:
            case: to which it applies.

        Raises:
            AnonymizerError: the tables do not fit it after all.
        """

    @abstractmethod
    def describe(self, found: T) -> Presentation:
        """How the result is reported. No cell of the tables is shown, nor a label that few rows have."""
