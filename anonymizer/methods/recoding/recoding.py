"""What methods have in common that replace quasi-identifiers by labels, so that rows become alike."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, TypeVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import HierarchyError, SpecError, UnreachableError, list_names
from anonymizer.hierarchies.hierarchy import ANY, text_of
from anonymizer.methods.conditions.allowed import Allowed, checked_k
from anonymizer.methods.conditions.constraints import constraint
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.recoding.attributes import Attribute, Labelled, NumericAttribute, attribute, covers
from anonymizer.releases.guarantee import Guarantee, k_anonymity
from anonymizer.risk.candidates import Candidates, LabelCandidates, compose_steps
from anonymizer.risk.classes import number_classes
from anonymizer.tables.encoding import Codes
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.table import Table
from commons.errors import near

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Texts = NDArray[Any]
A = TypeVar("A", bound=Attribute)


@parameters
class Recoding(Method):
    """A method with the parameters `k`, `constraints` and `columns`; subclasses give `_recode`.

    Some have `weights` and `limits` too: of columns what their loss counts for, 1 where nothing is said; and
    the least and the most level of their hierarchies that a label may have. Nobody is released together with
    somebody whose label at the most level is another.

    Raises:
        HierarchyError: a column has no hierarchy and needs one, or a value is not covered.
        UnreachableError: k is larger than the table, or not even the whole table as one class is allowed.
        SpecError: delta-presence is asked of a method whose classes overlap.
    """

    makes_classes: ClassVar[bool] = True
    k: int = 5
    constraints: tuple[Any, ...] = ()
    columns: tuple[str, ...] | None = None
    weights: Mapping[str, float] | None = field(default=None, init=False)
    limits: Mapping[str, tuple[int, int]] | None = field(default=None, init=False)

    @property
    def _weights(self) -> Mapping[str, float]:
        return self.weights or {}

    @property
    def disjoint(self) -> bool:
        """Whether each possible row matches the labels of at most one class, as delta-presence needs."""
        return False

    @abstractmethod
    def _recode(self, attributes: list[Attribute], allowed: Allowed) -> tuple[list[Codes], Int]:
        """The labels of the released rows in each column, and their places."""

    def _attribute(self, table: Table, column: str) -> Attribute:
        return attribute(table, column)

    @override
    def check(self) -> None:
        super().check()
        checked_k(self.k)
        asked = [constraint(one) for one in self.constraints]
        if self.k < 2 and not asked:
            raise SpecError(f"k is {self.k}, which asks for nothing.", "Choose 2 or more, or constraints.")
        for column, weight in self._weights.items():
            if not (math.isfinite(weight) and weight > 0):
                raise SpecError(f"The weight of {column!r} is {weight}.", "Choose a positive number.")
        for column, ends in (self.limits or {}).items():
            if not (len(ends) == 2 and 0 <= ends[0] <= ends[1]):
                raise SpecError(
                    f"The limits of {column!r} are {list(ends)}.",
                    "Write the lowest and the highest allowed level, such as [0, 2].",
                )

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """Labels depend on all rows of its columns and of those that constraints name."""
        columns = self.columns_of(table)
        asked = [constraint(one) for one in self.constraints]
        named = [name for one in asked for name in (one.column, *one.known) if name in table.names]
        given = table.provenance
        read = (given.content(*columns, *named) | given.hierarchies(*columns, *named)).spread()
        found = given.recode(dict.fromkeys(columns, read), gaps="none")
        return found if self.keeps_rows and not asked else found.with_rows(read)

    @override
    def guarantees(self, table: Table) -> tuple[Guarantee, ...]:
        """k-anonymity over its columns, and what the constraints ask."""
        columns = self.columns_of(table)
        asked = tuple(constraint(one).guarantee(columns, self.name) for one in self.constraints)
        return (*k_anonymity(self.k, columns, self.name), *asked)

    @override
    def _fit(self, table: Table) -> None:
        self._prepare(table)

    def _prepare(self, table: Table) -> tuple[list[Attribute], Allowed]:
        columns = self.columns_of(table)
        table.complete(columns)
        attributes = [self._shape(table, column) for column in columns]
        for column in (*self._weights, *(self.limits or {})):
            if column not in columns:
                raise SpecError(
                    f"{column!r} has a weight or limits, and is not recoded.", near(column, columns)
                )
        allowed = Allowed(table, self.k, tuple(self.constraints))
        rows = int(allowed.released.sum())
        if rows < self.k:
            raise UnreachableError(
                f"k is {self.k} and the table has {rows} rows.", "Lower k, or give more rows."
            )
        overlapping = [one.name for one in allowed.constraints if one.needs_disjoint and not self.disjoint]
        if overlapping:
            raise SpecError(
                f"The classes of {self.name} overlap, so that {overlapping[0]} cannot be promised.",
                "Use incognito without suppression, or strict mondrian.",
            )
        everything = np.arange(len(table))
        if not allowed(everything, np.zeros(len(table), dtype=np.int64), 1)[0]:
            unmet = allowed.unmet()
            raise UnreachableError(
                f"Not even the whole table as one class fulfils {unmet or 'what is asked'}.",
                "Ask less of this column." if unmet else "Lower k, or relax the constraints.",
            )
        return attributes, allowed

    def _shape(self, table: Table, column: str) -> Attribute:
        """A column with its weight and within its limits."""
        one = self._attribute(table, column).with_weight(self._weights.get(column, 1.0))
        if column not in (self.limits or {}):
            return one
        if not isinstance(one, Labelled):
            raise HierarchyError(
                f"Column {column!r} has limits and no hierarchy.",
                "Write one below [hierarchies], or take the limits away.",
            )
        least, most = (self.limits or {})[column]
        height = table.hierarchies[column].height
        # where the highest labels are several, * goes on top of them
        if least > height or most > height + 1:
            raise SpecError(
                f"The limits of {column!r} are {[least, most]}; its hierarchy has {height} levels.",
                "Choose levels from 0 to that number, the lower one first.",
            )
        return one.limit(least, most)

    @override
    def _transform(self, table: Table) -> Table:
        columns = self.columns_of(table)
        attributes, allowed = self._prepare(table)
        texts, rows = self._recode(attributes, allowed)
        self.labels_ = {
            column: _ends(one, cells) for column, one, cells in zip(columns, attributes, texts, strict=True)
        }
        stays = allowed.released[rows]
        released = table if len(rows) == len(table) and stays.all() else table.take(rows[stays])
        if allowed.withheld:
            released = released.without(allowed.withheld)
        if not stays.all():
            texts = [Codes(cells.values, cells.codes[stays]) for cells in texts]
        labels = {
            column: cells
            for column, cells in zip(columns, texts, strict=True)
            if not _as_before(released, column, cells)
        }
        return released.replace(labels)

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """A value may have become its label at any level, or any interval around it, with high confidence."""
        if column not in getattr(self, "labels_", {}):
            return candidates
        labels, ends = self.labels_[column]
        if isinstance(candidates, LabelCandidates):
            known, member = self._members(column, candidates.labels)
            return LabelCandidates(
                known, compose_steps(candidates.high, member), compose_steps(candidates.low, member)
            )
        if column in self.hierarchies_ and (points := candidates.points) is not None:
            known, member = self._members(column, points)
            return LabelCandidates(known, member, member)
        if ends is None:
            labels, ends = self._of_numbers(column)
        high, low = (
            (one[:, :1] <= ends[None, :, 1]) & (ends[None, :, 0] <= one[:, 1:])
            for one in (candidates.high, candidates.low)
        )
        return LabelCandidates(labels, high, low)

    def _of_numbers(self, column: str) -> tuple[Texts, Float]:
        """All labels of a hierarchy of numbers, and what they cover."""
        hierarchy = self.hierarchies_[column]
        names, spans = zip(
            *(hierarchy.spans(level, column) for level in range(1, hierarchy.height + 1)), strict=True
        )
        own = self.labels_[column][0]
        numbers = np.array([number(label) for label in own.tolist()])
        own, numbers = own[np.isfinite(numbers)], numbers[np.isfinite(numbers)]
        whole = np.array([[-np.inf, np.inf]])
        labels = np.array([*own, *itertools.chain(*names), ANY], dtype=object)
        return labels, np.concatenate([np.stack([numbers, numbers], axis=1), *spans, whole])

    def _members(self, column: str, values: NDArray[Any]) -> tuple[Texts, NDArray[np.bool_]]:
        """All labels of the values, and which are of which value."""
        levels = self.hierarchies_[column].bind(values, column)
        names = [*itertools.chain(*(level.labels for level in levels)), ANY]
        places = {label: place for place, label in enumerate(dict.fromkeys(names))}
        member = np.zeros((len(values), len(places)), dtype=np.bool_)
        for level in levels:
            found = np.array([places[label] for label in level.labels])
            member[np.arange(len(values)), found[level.groups]] = True
        member[:, places[ANY]] = True
        return np.array(list(places), dtype=object), member


class Partitioning(Recoding):
    """A method that divides the rows into classes; each class is released under its cover."""

    @abstractmethod
    def _classes(self, attributes: list[Attribute], allowed: Allowed) -> Int:
        """The class of each row, shape (n,)."""

    @override
    def _recode(self, attributes: list[Attribute], allowed: Allowed) -> tuple[list[Codes], Int]:
        classes, count = np.empty(len(allowed.released), dtype=np.int64), 0
        for rows, some, judge in parts(attributes, allowed):
            found, number = number_classes([self._classes(some, judge)])
            classes[rows] = count + found
            count += number
        labels = [one.labels(*covers(one.codes, classes, count)) for one in attributes]
        return [Codes(one.values, one.codes[classes]) for one in labels], np.arange(len(classes))

    @property
    @override
    def notes(self) -> tuple[str, ...]:
        """As `Method.notes`: numbers without a hierarchy, whose labels end at cells."""
        exact = [column for column, (_, ends) in getattr(self, "labels_", {}).items() if ends is not None]
        if not exact:
            return ()
        return (
            f"No hierarchy is given for {list_names(exact)}, so that {self.name} labels classes by their "
            "exact least and largest numbers, each the cell of a person. Give intervals below [hierarchies] "
            "where that tells too much.",
        )


def parts(attributes: list[A], allowed: Allowed) -> Iterator[tuple[Int, list[A], Allowed]]:
    """The parts of the table that classes may lie in: rows alike in all labels of most level.

    Yields:
        The rows of each, its attributes and its judge.

    Raises:
        UnreachableError: not even a whole part is allowed as one class.
    """
    tops = [
        one.levels[-1].groups[one.codes]
        for one in attributes
        if isinstance(one, Labelled) and len(one.levels[-1].labels) > 1
    ]
    rows = np.arange(len(allowed.released))
    if not tops:
        yield rows, attributes, allowed
        return
    own, count = number_classes(tops)
    wrong = np.flatnonzero(~allowed(rows, own, count))
    if len(wrong):
        raise UnreachableError(
            f"Within the limits the table falls into {count} parts, and {len(wrong)} of them, the first of "
            f"{int((own == wrong[0]).sum())} rows, do not fulfil what is asked even as one class.",
            "Raise the highest allowed level of a column, or suppress rare values before.",
        )
    order = np.argsort(own, kind="stable")
    for some in np.split(order, np.cumsum(np.bincount(own))[:-1]):
        yield some, [one.among(some) for one in attributes], allowed.of(some)


def attribute_of(table: Table, column: str) -> Attribute:
    """An attribute of a method that needs hierarchies throughout."""
    return Labelled.of(table, column)


def by_levels(attributes: Sequence[Attribute], levels: Int, rows: Int) -> list[Codes]:
    """The labels of some rows at levels.

    Args:
        attributes: m with hierarchies.
        levels: of these rows, shape (r, m).
        rows: their places, shape (r,).
    """
    return [
        one.texts(one.codes[rows], levels[:, place])
        for place, one in enumerate(attributes)
        if isinstance(one, Labelled)
    ]


def _as_before(table: Table, column: str, after: Codes) -> bool:
    """Whether a column of texts gets only its own values as labels, and so keeps the writing of numbers.

    Columns of other types become texts in each case: a release's types do not depend on its cells.
    """
    if not isinstance(table.frame[column].dtype, nw.String):
        return False
    before = table.codes(column)
    places = {text_of(value): place for place, value in enumerate(before.values.tolist())}
    same = np.array([places.get(label, -1) for label in after.values.tolist()], dtype=np.int64)
    return bool((same[after.codes] == before.codes).all())


def _ends(one: Attribute, cells: Codes) -> tuple[Texts, Float | None]:
    """The labels that were used, and for numbers without a hierarchy what they cover."""
    used = np.bincount(cells.codes, minlength=len(cells.values)) > 0
    labels = np.array(sorted(set(cells.values[used].tolist())), dtype=object)
    if not isinstance(one, NumericAttribute):
        own = one.levels[0].labels if isinstance(one, Labelled) else ()
        return np.array(own, dtype=object), None
    bounds = [[number(end) for end in label.strip("[]").split(", ")] for label in labels.tolist()]
    return labels, np.array([[ends[0], ends[-1]] for ends in bounds]).reshape(-1, 2)


def number(text: str) -> float:
    """A text as a number; NaN if it is none."""
    try:
        return float(text)
    except ValueError:
        return float("nan")
