"""The secret columns that figures over matches are made of: values, and what limits are tested on.

Beside its values a party brings absolute values where a column has negative ones, and marks of the rows that
stand apart from the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.amounts import is_signed, weighed
from smc.analyses.disclosure.crowds import BESIDE_BOUNDS, off_bounds
from smc.analyses.disclosure.figures import Sum
from smc.analyses.disclosure.owned import Owned
from smc.analyses.matching.aggregates.parameters import STATISTICS, FigureParameters, declare_value
from smc.analyses.studies.columns import Data
from smc.forms import Role
from smc.protocols.exchange.bounds import Declared, exchange_declarations
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.joins import majority
from smc.secret.linear_ints import LinearInts
from smc.secret.sharing.bounds import Bounds


def exchange_declared(session: Session, parameters: FigureParameters, data: Data) -> list[Declared]:
    """The declarations of all values of both sides, in the order of the job.

    Args:
        session: this side.
        parameters: as parsed.
        data: the local columns.

    Raises:
        UsageError: a local value is not a number within bounds.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    if not parameters.values:
        return []
    local = [
        declare_value(value, data[value.column].schema)
        for value in parameters.values
        if value.side is session.role
    ]
    theirs = exchange_declarations(session, local, len(parameters.values) - len(local))
    sides = {session.role: iter(local), session.role.other: iter(theirs)}
    return [next(sides[value.side]) for value in parameters.values]


@dataclass(frozen=True, slots=True)
class Grouped:
    """The secret columns of a run, sorted by what they are for.

    Attributes:
        values: in the order of the job.
        absolutes: of the values that can be negative, by their place, where sums are weighed.
        marks: of each value that is counted, by its place: `BESIDE_BOUNDS` marks, then its digits.
    """

    values: Sequence[LinearInts]
    absolutes: Mapping[int, LinearInts]
    marks: Mapping[int, Sequence[LinearInts]]


@dataclass(frozen=True, slots=True)
class FigureColumns:
    """Which columns the sides bring, public.

    Attributes:
        parameters: of the job.
        bounds: of the values, in the order of the job.
        weighs: whether the part of one row in a sum is tested.
        counts: whether the rows that stand apart in a sum are counted.
    """

    parameters: FigureParameters
    bounds: tuple[Bounds, ...]
    weighs: bool
    counts: bool

    @classmethod
    def of(
        cls, parameters: FigureParameters, every: Sequence[Declared], *, weighs: bool, counts: bool
    ) -> FigureColumns:
        """Of declared values, with what limits ask for; they ask it of exact sums only."""
        sums = parameters.epsilon is None and parameters.output == STATISTICS
        bounds = tuple(Bounds(each.lower, each.upper) for each in every)
        return cls(parameters, bounds, weighs and sums, counts and sums)

    def declared_bounds(self, place: int) -> Owned[Bounds]:
        """The bounds that the catalog of its side declares of a value; an exact job has no others."""
        return Owned(self.bounds[place])

    def sums(
        self,
        columns: Grouped,
        members: Mapping[Role, LinearInts],
        total: Callable[[LinearInts], LinearInts],
    ) -> list[Sum]:
        """Of each value what no row may have too large a part in; nothing where sums are not weighed.

        Args:
            columns: of the run.
            members: 1 for the slots, or rows of a side, that are matches, else 0; of sides with values.
            total: adds up a column.
        """
        if not self.weighs:
            return []
        found: list[Sum] = []
        for place, column in enumerate(columns.values):
            sizes, side = columns.absolutes.get(place), self.parameters.values[place].side
            found += weighed(column, sizes, members[side], self.declared_bounds(place), total)
        return found

    def spans(self, role: Role) -> list[Bounds]:
        """The bounds of the columns of a side, in their order."""
        further = [Bounds(0, self.bounds[i].magnitude) for i in self._signed_places(role)]
        marks = sum(self._marks(i) for i in self._counted_places(role))
        return [*(self.bounds[i] for i in self._places(role)), *further, *[Bounds(0, 1)] * marks]

    def local(self, role: Role, rows: int, column: Callable[[str], NDArray[np.int64]]) -> NDArray[np.int64]:
        """The columns of a side, clamped if there is noise, shape (rows, c).

        Args:
            role: the local side.
            rows: that take part.
            column: gives their values of a column.
        """
        found = {}
        for place in self._places(role):
            values, each = column(self.parameters.values[place].column), self.bounds[place]
            noisy = self.parameters.epsilon is not None
            found[place] = np.clip(values, each.lower, each.upper) if noisy else values
        chosen = [*found.values(), *(np.abs(found[place]) for place in self._signed_places(role))]
        for place in self._counted_places(role):
            chosen += off_bounds(found[place], self.declared_bounds(place))
            chosen += majority.digits(found[place], self.bounds[place])
        return np.stack(chosen, axis=1) if chosen else np.zeros((rows, 0), dtype=np.int64)

    def group(self, columns: Mapping[Role, Iterable[LinearInts]]) -> Grouped:
        """The columns of both sides by what they are for; of each side those of `local`, in that order."""
        values: dict[int, LinearInts] = {}
        absolutes: dict[int, LinearInts] = {}
        marks: dict[int, list[LinearInts]] = {}
        for role in Role:
            left = iter(columns[role])
            values |= {place: next(left) for place in self._places(role)}
            absolutes |= {place: next(left) for place in self._signed_places(role)}
            for place in self._counted_places(role):
                marks[place] = [next(left) for _ in range(self._marks(place))]
        return Grouped([values[place] for place in sorted(values)], absolutes, marks)

    def _places(self, role: Role) -> list[int]:
        return [place for place, value in enumerate(self.parameters.values) if value.side is role]

    def _signed_places(self, role: Role) -> list[int]:
        return [
            place for place in self._places(role) if self.weighs and is_signed(self.declared_bounds(place))
        ]

    def _counted_places(self, role: Role) -> list[int]:
        return self._places(role) if self.counts else []

    def _marks(self, place: int) -> int:
        return BESIDE_BOUNDS + majority.count_digits(self.bounds[place])


def count_apart(
    member: SecretBits,
    size: LinearInts,
    total: Callable[[LinearInts], LinearInts],
    marks: Sequence[Sequence[LinearInts]],
) -> list[LinearInts]:
    """How many matches stand apart in each sum: from its bounds, and from what most of the matches have.

    Args:
        member: which of the slots, or rows of a side, are matches.
        size: how many.
        total: adds up a column.
        marks: of each sum, see `Grouped`.
    """
    found = [total(column) for group in marks for column in group[:BESIDE_BOUNDS]]
    return found + majority.differing(member, size, [group[BESIDE_BOUNDS:] for group in marks])
