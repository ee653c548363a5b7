"""What a class has to fulfil to be released: privacy models as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Final, get_type_hints

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import HierarchyError, SpecError, TableError
from anonymizer.methods.conditions.constraint import LARGEST, Constraint, within
from anonymizer.methods.conditions.populations import Groups, KMap, Presence
from anonymizer.risk.classes import Contents
from anonymizer.schema.documents import key_of
from anonymizer.tables.table import Table
from commons.errors import near

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class DistinctDiversity(Constraint):
    """At least l different values (Machanavajjhala et al., ICDE 2006).

    Attributes:
        l: the least number.
    """

    name: ClassVar[str] = "distinct-l-diversity"
    grows: ClassVar[bool] = True
    l: int = 2  # noqa: E741

    def __post_init__(self) -> None:
        within("distinct-l-diversity", "l", self.l, 2, LARGEST)

    @override
    def holds(self, contents: Contents, levels: Sequence[Int]) -> Bool:
        return contents.distinct >= self.l


@dataclass(frozen=True, slots=True)
class EntropyDiversity(Constraint):
    """Entropy at least log l (Machanavajjhala et al., ICDE 2006).

    Attributes:
        l: at least 1; need not be whole.
    """

    name: ClassVar[str] = "entropy-l-diversity"
    l: float = 2.0  # noqa: E741

    def __post_init__(self) -> None:
        within("entropy-l-diversity", "l", self.l, 1, LARGEST)

    @override
    def holds(self, contents: Contents, levels: Sequence[Int]) -> Bool:
        return contents.entropy >= self.l * (1 - 1e-12)


@dataclass(frozen=True, slots=True)
class RecursiveDiversity(Constraint):
    """Recursive (c, l)-diversity: the commonest value has fewer than c times the rows of the l-th and rarer.

    Attributes:
        c: positive.
        l: at least 2.
    """

    name: ClassVar[str] = "recursive-cl-diversity"
    c: float = 2.0
    l: int = 2  # noqa: E741

    def __post_init__(self) -> None:
        within("recursive-cl-diversity", "l", self.l, 2, LARGEST)
        within("recursive-cl-diversity", "c", self.c, np.finfo(float).tiny, LARGEST)

    @override
    def holds(self, contents: Contents, levels: Sequence[Int]) -> Bool:
        return contents.recursive(self.l) < self.c


@dataclass(frozen=True, slots=True)
class Closeness(Constraint):
    """t-closeness: the values of a class are distributed nearly as in the table (Li et al., ICDE 2007).

    Attributes:
        t: the largest distance, in [0, 1].
        ordered: whether the values have an order, which numbers have.
        hierarchical: whether values are as far apart as their lowest common label is high in the hierarchy of
            the column (section 5.2 there).
    """

    name: ClassVar[str] = "t-closeness"
    t: float = 0.2
    ordered: bool = False
    hierarchical: bool = False

    def __post_init__(self) -> None:
        within("t-closeness", "t", self.t, 0, 1)
        if self.ordered and self.hierarchical:
            raise SpecError("t-closeness is asked both ordered and hierarchical.", "Choose one of them.")

    @override
    def holds(self, contents: Contents, levels: Sequence[Int]) -> Bool:
        if self.hierarchical:
            distance = contents.hierarchical_distance(levels)
        else:
            distance = contents.ordered_distance if self.ordered else contents.distance
        return distance <= self.t + 1e-12

    @override
    def coded(self, table: Table) -> tuple[Int, int]:
        """As `Constraint.coded`; texts have no order but a declared one."""
        table.require(self.column)
        if self.ordered and not table.is_ordered(self.column):
            raise TableError(
                f"Column {self.column!r} holds texts without an order, and ordered t-closeness needs one.",
                f'Declare it below [columns]: {key_of(self.column)} = {{ type = "category", '
                'categories = ["low", "medium", "high"], ordered = true }.',
            )
        return super(Closeness, self).coded(table)

    @override
    def levels(self, table: Table) -> Sequence[Int]:
        if not self.hierarchical:
            return ()
        hierarchy = table.hierarchies.get(self.column)
        if hierarchy is None:
            raise HierarchyError(
                f"Hierarchical t-closeness is asked of column {self.column!r}, which has no hierarchy.",
                "Write one below [hierarchies].",
            )
        return [one.groups for one in hierarchy.bind(table.codes(self.column).values, self.column)[1:]]

    @override
    def _condition(self) -> str:
        return "Distances are to the values of the table that was released, suppressed rows included."


@dataclass(frozen=True, slots=True)
class Disclosure(Constraint):
    """Delta-disclosure privacy: no value is much commoner or rarer in a class than in the table.

    |ln(share in the class / share in the table)| < delta for every value of the table, so that each class has
    all of them; stricter than t-closeness. (Brickell and Shmatikov, The cost of privacy, KDD 2008,
    Definition 6.)

    Attributes:
        delta: positive.
    """

    name: ClassVar[str] = "delta-disclosure"
    delta: float = 1.0

    def __post_init__(self) -> None:
        within("delta-disclosure", "delta", self.delta, np.finfo(float).tiny, LARGEST)

    @override
    def holds(self, contents: Contents, levels: Sequence[Int]) -> Bool:
        kinds = np.count_nonzero(contents.totals)
        found: Bool = (contents.distinct == kinds) & (contents.disclosure < self.delta)
        return found


WORDS: Final[Mapping[str, type[Constraint]]] = {
    kind.name: kind
    for kind in (
        Closeness,
        Disclosure,
        DistinctDiversity,
        EntropyDiversity,
        Groups,
        KMap,
        Presence,
        RecursiveDiversity,
    )
}
"""The constraints by the name that `model` names in specifications."""


def constraint(given: Any) -> Constraint:
    """A constraint, from itself or a table such as `{ model = "t-closeness", column = "income", t = 0.2 }`.

    Raises:
        SpecError: the table is of no known form.
    """
    if isinstance(given, Constraint):
        return given
    asked = given.get("model") if isinstance(given, Mapping) else given
    kind = WORDS.get(asked) if isinstance(asked, str) else None
    if kind is None or not isinstance(given, Mapping):
        raise SpecError(f"{asked!r} is not a privacy model.", near(str(asked), sorted(WORDS)))
    hints = get_type_hints(kind)
    # a model is asked for by its numbers: a default would promise what nobody has chosen
    known = {one.name: one.default is MISSING or hints[one.name] in (int, float) for one in fields(kind)}
    entries = {key: value for key, value in given.items() if key != "model"}
    for key in entries:
        if key not in known:
            raise SpecError(f"The constraint {asked} has an unknown key {key!r}.", near(key, tuple(known)))
    for key, needed in known.items():
        if needed and key not in entries:
            example = 'column = "diagnosis"' if key == "column" else f"{key} = {_example(kind, key)}"
            raise SpecError(
                f"The constraint {asked} lacks the key {key!r}.", f"Write, for example, {example}."
            )
    for key, value in entries.items():
        if key == "known":
            _named(asked, value)
            continue
        allowed = (int, float) if hints[key] is float else hints[key]
        if not isinstance(value, allowed) or isinstance(value, bool) is not (hints[key] is bool):
            raise SpecError(
                f"The constraint {asked}: {key} = {value!r} is of the wrong type.", "Correct the value."
            )
    return kind(**entries)


def _example(kind: type[Constraint], key: str) -> Any:
    """A value that a number of a constraint may have."""
    return next(one.default for one in fields(kind) if one.name == key)


def _named(asked: Any, value: Any) -> None:
    if not isinstance(value, tuple) or not all(isinstance(name, str) for name in value):
        raise SpecError(
            f"The constraint {asked}: known = {value!r} is not a list of columns.",
            'Write known = ["diagnosis"].',
        )
