"""Prosecutor, journalist and marketer risk: who is looked for, and who looks.

The prosecutor knows that the target is in the release, the journalist only that it is in the population, the
marketer wants as many as possible and does not care whom. A row in a class of f rows in the release and F in
the population has prosecutor risk 1 / f and journalist risk 1 / F.
Reference: El Emam and Dankar, Protecting privacy using k-anonymity, JAMIA 15, 2008; Dankar and El Emam, A
method for evaluating marketer re-identification risk, EDBT/ICDT workshops 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.risk.attacks.predicates import Index, Predicates
from anonymizer.risk.attacks.rows import align_rows
from anonymizer.risk.classes import class_sizes, classes_of, number_classes
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RowRisk:
    """The risk of each released row.

    Attributes:
        rows: in [0, 1], shape (n,).
    """

    rows: Float = field(repr=False)

    @property
    def highest(self) -> float:
        """The worst row's."""
        return float(self.rows.max())

    @property
    def average(self) -> float:
        """The mean over the rows."""
        return float(self.rows.mean())

    def above(self, limit: float) -> float:
        """The part of the rows with a risk above a limit."""
        return float((self.rows > limit).mean())


def sized_classes(release: Table) -> tuple[Int, Int]:
    """The class of each row, and how many persons each class has; rows, where each is a person of its own.

    Returns:
        Shape (n,), from 0; shape (c,).

    Raises:
        TableError: the table has no rows or no quasi-identifiers.
    """
    if not len(release) or not release.roles.quasi_identifiers:
        raise TableError("The table has no rows or no quasi-identifiers.", "Give rows and declare some.")
    classes, count = classes_of(release, release.roles.quasi_identifiers)
    return classes, class_sizes(release, classes, count)


def prosecutor_risk(release: Table) -> RowRisk:
    """1 / f for each row.

    Raises:
        TableError: the table has no rows or no quasi-identifiers.
    """
    classes, sizes = sized_classes(release)
    return RowRisk(1 / sizes[classes])


def journalist_risk(release: Table, population: Table, original: Table | None = None) -> RowRisk:
    """1 / F for each row; k-map holds for the k that is the least F (Sweeney 2001).

    A population in the form of the release is counted class by class; one as it was collected by how many of
    its people the labels of a class cover, which needs the hierarchies.

    Args:
        release: with quasi-identifiers.
        population: all people whom the attacker may think of, those of the release among them.
        original: that the release was made of, with the hierarchies.

    Raises:
        TableError: a table has no rows or lacks a quasi-identifier, it is not known which rows are of the
            same person, or fewer people of the population than of the release are in a class, so that it is
            not the population.
    """
    if release.persons is not None and release.persons.repeat and population.persons is None:
        raise TableError(
            "Persons of the release have several rows, and it is not known whose the rows of the population "
            "are.",
            "Give a population that has the column of persons.",
        )
    classes, sizes = sized_classes(release)
    own = sizes[classes]
    population = _each_once(population, release.roles.quasi_identifiers)
    there = _population_sizes(release, population)
    if (there < own).any():
        if population.persons is not None and population.persons.repeat:
            raise TableError(
                "Persons of the population have several rows that differ, and labels may cover some of them.",
                "Give the population in the form of the release, or with one row of each person.",
            )
        there = np.maximum(there, _covered_sizes(release, population, original))
    few = np.flatnonzero(there < own)
    if len(few):
        row = int(few[0])
        raise TableError(
            f"The population has {there[row]} people like the one in row {row + 1} of the release, which has "
            f"{own[row]} such rows itself.",
            "Give a population that contains the released people, as it was collected or in the form of the "
            "release.",
        )
    return RowRisk(1 / there)


def marketer_risk(release: Table, population: Table | None = None) -> float:
    """The part of the rows that is re-identified rightly when each is matched to one person at random.

    Args:
        release: with quasi-identifiers.
        population: as for `journalist_risk`; None if the attacker knows who was released.

    Raises:
        TableError: as the risk of the rows.
    """
    return (prosecutor_risk(release) if population is None else journalist_risk(release, population)).average


def _each_once(population: Table, names: Sequence[str]) -> Table:
    """The population with one row of each person among those that are alike in some columns."""
    if population.persons is None:
        return population
    columns = [population.codes(name).codes for name in names]
    kinds, count = number_classes([*columns, population.persons.codes])
    some = np.full(count, -1, dtype=np.int64)
    some[kinds] = np.arange(len(kinds))
    return population.take(np.sort(some))


def _covered_sizes(release: Table, population: Table, original: Table | None) -> Int:
    """Of each released row how many people its labels cover, shape (n,)."""
    columns = release.roles.quasi_identifiers
    known = [] if original is None else [original]
    released, people, *_ = align_rows(release, [population, *known], columns)
    classes, count = classes_of(release, columns)
    some = np.empty(count, dtype=np.int64)
    some[classes] = np.arange(len(release))
    return Index(people).count(Predicates(released.low[:, some], released.high[:, some]))[classes]


def _population_sizes(release: Table, population: Table) -> Int:
    joined = []
    for name in release.roles.quasi_identifiers:
        population.require(name)
        places: dict[str, int] = {}
        parts = []
        for table in (release, population):
            codes = table.codes(name)
            own = [places.setdefault(text_of(value), len(places)) for value in codes.values.tolist()]
            parts.append(np.array([*own, -1], dtype=np.int64)[codes.codes])
        joined.append(np.concatenate(parts))
    classes, count = number_classes(joined)
    return np.bincount(classes[len(release) :], minlength=count)[classes[: len(release)]]
