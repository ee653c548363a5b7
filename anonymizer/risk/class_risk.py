"""What the classes of a release fulfil, and what they give away of its sensitive columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import HierarchyError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.risk.classes import Contents, class_sizes, classes_of, totals_of
from anonymizer.tables.table import Table

Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Distance:
    """The t of t-closeness: the largest distance of a class.

    Attributes:
        release: to the values of the released rows, in [0, 1].
        table: to those of the original rows, which methods that take out rows are held to; None if the
            original is not known or lacks the column.
    """

    release: float
    table: float | None


@dataclass(frozen=True, slots=True)
class SensitiveRisk:
    """What the classes give away of one sensitive column; missing cells are left out.

    Attributes:
        l: the fewest different values in a class; 0 if one has only missing cells.
        entropy_l: the least e to the entropy of a class.
        t: by the distance between two values: "equal", 1 if they differ; "ordered", the values between them,
            for numbers and declared orders; "hierarchical", the height of their lowest common label, where
            the column has a hierarchy.
        delta: of delta-disclosure privacy, see `Contents.disclosure`.
        missing: released rows without a value.
        alike: groups of values that differ in blanks, case or width alone, but count as different.
    """

    l: int  # noqa: E741 - the name of the field
    entropy_l: float
    t: Mapping[str, Distance]
    delta: float
    missing: int
    alike: int


@dataclass(frozen=True, slots=True)
class ClassRisk:
    """What a release fulfils.

    Attributes:
        k: persons of its smallest class; rows, where each is a person of its own.
        classes: the number of classes.
        sensitive: by column.
        counts: what is counted, "rows" or "persons".
        drawn: the sensitive columns whose cells were drawn at random, and so are nobody's values.
    """

    k: int
    classes: int
    sensitive: Mapping[str, SensitiveRisk]
    counts: str = "rows"
    drawn: tuple[str, ...] = ()

    @property
    def l(self) -> dict[str, int]:  # noqa: E743
        """Of each sensitive column, the fewest different values in a class."""
        return {name: one.l for name, one in self.sensitive.items()}

    @property
    def entropy_l(self) -> dict[str, float]:
        """Of each sensitive column, the least e to the entropy of a class."""
        return {name: one.entropy_l for name, one in self.sensitive.items()}

    @property
    def t(self) -> dict[str, float]:
        """Of each sensitive column, the largest distance of a class to the release, of equal ground."""
        return {name: one.t["equal"].release for name, one in self.sensitive.items()}


def class_risk(release: Table, original: Table | None = None) -> ClassRisk:
    """The k, l and t of a release over its quasi-identifiers; they count persons, where these are known.

    Args:
        release: at least one row.
        original: that it was made of, for t against it and for hierarchies of sensitive columns.
    """
    classes, count = classes_of(release, release.roles.quasi_identifiers)
    return ClassRisk(
        int(class_sizes(release, classes, count).min()),
        count,
        {name: sensitive_risk(release, original, name, classes, count) for name in release.roles.sensitive},
        "rows" if release.persons is None else "persons",
    )


def sensitive_risk(
    release: Table, original: Table | None, column: str, classes: Int, count: int
) -> SensitiveRisk:
    """What classes give away of a column.

    Args:
        release: with the column.
        original: as `class_risk`.
        column: the sensitive one.
        classes: of each released row, shape (n,).
        count: the number of classes.
    """
    values, cells, before, ordered = _encode(release, original, column)
    here = cells >= 0
    persons = None if release.persons is None else release.persons.take(np.flatnonzero(here))
    totals = totals_of(cells[here], len(values), persons)
    contents = Contents.of(classes[here], count, cells[here], totals, persons)
    levels = _levels(release, original, column, values)
    measured = [contents] if before is None else [contents, contents.against(before)]
    t = {"equal": [_worst(one.distance, one.sizes) for one in measured]}
    if ordered:
        t["ordered"] = [_worst(one.ordered_distance, one.sizes) for one in measured]
    if levels:
        t["hierarchical"] = [_worst(one.hierarchical_distance(levels), one.sizes) for one in measured]
    return SensitiveRisk(
        l=int(contents.distinct.min()),
        entropy_l=float(contents.entropy.min()),
        t={word: Distance(found[0], found[1] if len(found) > 1 else None) for word, found in t.items()},
        delta=float(contents.disclosure.max()),
        missing=int((~here).sum()),
        alike=nearly_alike(values),
    )


def nearly_alike(values: NDArray[Any]) -> int:
    """How many groups of texts differ in blanks, case or width alone."""
    texts = [value for value in values.tolist() if isinstance(value, str)]
    plain = [" ".join(unicodedata.normalize("NFKC", text).casefold().split()) for text in texts]
    return sum(1 for count in np.unique(plain, return_counts=True)[1].tolist() if count > 1)


def _worst(distances: NDArray[np.float64], sizes: Int) -> float:
    """The largest of the classes that have a value at all."""
    return float(distances[sizes > 0].max(initial=0.0))


def _encode(
    release: Table, original: Table | None, column: str
) -> tuple[NDArray[Any], Int, Int | NDArray[np.float64] | None, bool]:
    """One numbering of the values of both tables, in their order if they have one.

    Returns:
        The values; of each released row the place of its own, -1 where it is missing; how many of the
        original have each, or None; whether the order means something.
    """
    tables = [release] if original is None or column not in original.names else [release, original]
    coded = [table.codes(column) for table in tables]
    numeric = all(table.is_numeric(column) for table in tables)
    order: list[str] = []
    if numeric:
        values = np.unique(np.concatenate([one.values for one in coded]))
        places = [np.searchsorted(values, one.values) for one in coded]
    else:
        texts = [[text_of(value) for value in one.values.tolist()] for one in coded]
        every = sorted({text for own in texts for text in own})
        order = _declared_order(tables, column, every)
        every = order or every
        values = np.empty(len(every), dtype=object)
        values[:] = every
        place = {text: number for number, text in enumerate(every)}
        places = [np.array([place[text] for text in own], dtype=np.int64) for own in texts]
    cells = [np.append(own, -1)[one.codes] for own, one in zip(places, coded, strict=True)]
    before = None
    if original is not None and len(cells) > 1:
        here = np.flatnonzero(cells[1] >= 0)
        persons = None if original.persons is None else original.persons.take(here)
        before = totals_of(cells[1][here], len(values), persons)
    if before is not None and not before.sum():
        before = None
    return values, cells[0], before, numeric or bool(order)


def _declared_order(tables: Sequence[Table], column: str, texts: Sequence[str]) -> list[str]:
    """The values in the order that is declared of their column; none if there is none, or not of all."""
    for table in tables:
        declared = table.schema.of(column)
        if declared.ordered and set(texts) <= set(declared.categories or ()):
            return [one for one in declared.categories or () if one in set(texts)]
    return []


def _levels(release: Table, original: Table | None, column: str, values: NDArray[Any]) -> list[Int]:
    """The levels above the values by the hierarchy of the column; none if it has none that fits."""
    for table in (release, original):
        if table is not None and column in table.hierarchies and len(values):
            try:
                return [one.groups for one in table.hierarchies[column].bind(values, column)[1:]]
            except HierarchyError:
                return []
    return []
