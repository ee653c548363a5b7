"""What is computed over an intersection: the values, their bounds and their part of epsilon.

[parameters]
method = "exact"
keys = ["insurance_number"]          # with the rest of smc.analyses.records.key_parameters
output = "size" | "statistics" | "shares"
epsilon = "0.5"                      # optional; not with shares
[[parameters.values]]                # statistics need one at least, shares may have some
side = "alice"
column = "amount"
lower = "0"                          # optional, with epsilon; taken from the column's declaration if missing
upper = "1000"
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Final

from commons.settings.bounds import OneOf
from commons.settings.marks import Inline, Read, UnfitError, Wrong
from smc.analyses.records.key_parameters import KeyParameters
from smc.analyses.records.keying import ERROR
from smc.analyses.records.numbers import NUMBER, loss_term, number
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.facts import Asked, ExactFigures, Stated, Whom
from smc.analyses.studies.neighbours import Neighbours
from smc.analyses.studies.parameters import read_parameters
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.exchange.bounds import MAX_SCALE, Declared
from smc.secret.noise.laplace import DiscreteLaplace
from smc.secret.sharing.bounds import LIMIT, Bounds

SIZE: Final = "size"
STATISTICS: Final = "statistics"
SHARES: Final = "shares"
OUTPUTS: Final = (SIZE, STATISTICS, SHARES)

MAX_VALUES: Final = 64
"""Most columns of one job."""

MAX_DELTA: Final = Fraction(1, 1 << 40)
"""Noise whose delta would be larger is refused."""

NUMERIC: Final = ("integer", "decimal")


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """A column of one side.

    Attributes:
        side: whose column it is.
        column: its name.
        lower: clamping bound in real units, or None for the declared one.
        upper: the same.
    """

    side: Annotated[Role, Wrong("is neither alice nor bob", 'Write side = "alice" or side = "bob".')]
    column: str
    lower: Annotated[Fraction | None, Read(number, NUMBER)] = None
    upper: Annotated[Fraction | None, Read(number, NUMBER)] = None

    def __post_init__(self) -> None:
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise UnfitError("lower", "is above upper", "Exchange the two bounds.")

    @property
    def name(self) -> str:
        """The name in results."""
        return f"{self.side.value}_{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureParameters:
    """What is computed over matches, however rows are matched.

    Attributes:
        output: one of `OUTPUTS`.
        values: the columns, in the order of the job.
        epsilon: of the whole release, or None for exact results.

    Raises:
        UnfitError: there are too many values, or they do not fit the output; or epsilon does not.
    """

    output: Annotated[str, OneOf(OUTPUTS)]
    values: tuple[ValueColumn, ...] = ()
    epsilon: Annotated[Fraction | None, Read(loss_term, NUMBER)] = None

    def __post_init__(self) -> None:
        if self.epsilon is not None and self.output == SHARES:
            raise UnfitError("epsilon", "does not go with shares, which are not noisy", "Leave it out.")
        few, many = {SIZE: (0, 0), STATISTICS: (1, MAX_VALUES), SHARES: (0, MAX_VALUES)}[self.output]
        if not few <= len(self.values) <= many:
            raise UnfitError(
                "values",
                f"is wrong: {len(self.values)} columns do not fit the output {self.output!r}",
                f"Name 1 to {MAX_VALUES} for statistics, up to {MAX_VALUES} for shares, none for the size.",
            )
        if len({value.name for value in self.values}) < len(self.values):
            raise UnfitError("values", "names a column twice", "Name each column once.")
        if self.epsilon is None and any(
            value.lower is not None or value.upper is not None for value in self.values
        ):
            raise UnfitError(
                "values",
                "has lower or upper, which need noise (epsilon): without it the bounds are those that the "
                "catalogs declare, by which limits are measured",
                "Leave lower and upper out, or add epsilon.",
            )

    def value_columns(self, role: Role) -> tuple[str, ...]:
        """The value columns that a side brings."""
        return tuple(value.column for value in self.values if value.side is role)

    @property
    def releases_exactly(self) -> bool:
        """Whether figures about several persons are released without noise; shares are not figures."""
        return self.epsilon is None and self.output != SHARES

    @property
    def exact_figures(self) -> ExactFigures | None:
        """What is released without noise: the size, and with it one sum of each side, count as one figure."""
        if not self.releases_exactly:
            return None
        return ExactFigures(max(1, *(len(self.value_columns(role)) for role in Role)), Whom.MATCHES)

    def request(self, keys: Iterable[str]) -> Asked:
        """What the job asks for, in words of policies.

        Args:
            keys: the columns by which rows are matched.
        """
        matched = frozenset(keys)
        bounded = any(bound is not None for value in self.values for bound in (value.lower, value.upper))
        return Asked(
            keys=matched,
            values=matched & {value.column for value in self.values},
            states=frozenset({Stated.BOUNDS} if bounded else ()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateParameters(FigureParameters):
    """What is computed over rows that equal keys match.

    Attributes:
        keys: by which rows are matched.
    """

    keys: Annotated[KeyParameters, Inline()]

    def columns(self, role: Role) -> tuple[str, ...]:
        """The columns that a side brings: keys, then values that are not keys."""
        return tuple(dict.fromkeys((*self.keys.columns, *self.value_columns(role))))

    @property
    def substitutes(self) -> bool:
        """Whether another row of the same key can take a row's place when it is taken away.

        So it is if a side's keys can repeat.
        """
        return self.keys.duplicates != ERROR

    @property
    def noisy_epsilon(self) -> Fraction:
        """The part of epsilon that the count and every sum have: equal ones."""
        return (self.epsilon or Fraction(0)) / (1 + len(self.values))


NEIGHBOURS: Final = Neighbours(1, rows_public=True)
"""What the guarantee is about: one person is one row, and the numbers of rows are public."""


def parse(parameters: Mapping[str, Any]) -> AggregateParameters:
    """Read `[parameters]` without `method`.

    Raises:
        UsageError: a key is unknown, missing or impossible, or does not fit the output.
    """
    return read_parameters(AggregateParameters, parameters)


UNKNOWN_VALUE: Final = Schema("integer", lower=-(1 << 31), upper=1 << 31)
"""What a value is taken for whose declaration is not known."""


def declare_value(value: ValueColumn, schema: Schema | None) -> Declared:
    """Scale and bounds of a column, in held units: declared ones, or those of a job with noise.

    Args:
        value: as the job names it.
        schema: of its column.

    Raises:
        UsageError: the column is missing, is not a number, or has no bounds.
    """
    place = f"{value.side.value}'s column {value.column!r}"
    if schema is None or schema.kind not in NUMERIC or schema.scale > MAX_SCALE:
        raise UsageError(f"{place} is not a column of numbers.", "Name an integer or decimal column.")
    lower = _to_held(value.lower, schema.lower, schema.scale, place)
    upper = _to_held(value.upper, schema.upper, schema.scale, place)
    if lower > upper or max(abs(lower), abs(upper)) >= LIMIT:
        raise UsageError(
            f"{place}: the lower bound is above the upper one, or a bound is too large.",
            "Correct the bounds in the job or the catalog.",
        )
    return Declared(lower, upper, schema.scale)


def _to_held(stated: Fraction | None, of_schema: int | None, scale: int, place: str) -> int:
    if stated is None:
        if of_schema is None:
            raise UsageError(
                f"{place} has no bounds.",
                "Declare lower and upper in the catalog, or set them in the job, with epsilon.",
            )
        return of_schema
    held = stated * 10**scale
    if held.denominator != 1:
        raise UsageError(f"{place}: a bound has more than {scale} decimals.", "Round it to as many.")
    return int(held.numerator)


def sensitivity(bounds: Bounds, *, substitutes: bool) -> int:
    """The most by which a sum differs between neighbours (`NEIGHBOURS`): one row of a side is replaced.

    A row that is taken away takes its value along, or another row of its key takes its place; replacing is
    both taking away and adding. It moves a match to another value, by at most the width of the bounds, or
    makes or ends one. The size differs by at most 1.

    Args:
        bounds: of the values.
        substitutes: as `AggregateParameters.substitutes`.
    """
    once = max(bounds.magnitude, bounds.upper - bounds.lower, 1)
    return 2 * once if substitutes else once


def distributions(parameters: AggregateParameters, bounds: tuple[Bounds, ...]) -> tuple[DiscreteLaplace, ...]:
    """The noise of the count and of every sum; none without epsilon.

    Args:
        parameters: as parsed.
        bounds: of the values, in held units.

    Raises:
        UsageError: epsilon is too small or too large for the noise to be drawn from 64-bit words.
    """
    if parameters.epsilon is None:
        return ()
    epsilon = parameters.noisy_epsilon
    reach = [1, *(sensitivity(each, substitutes=parameters.substitutes) for each in bounds)]
    found = tuple(DiscreteLaplace.of(epsilon / each) for each in reach)
    part = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
    if (
        Fraction((1 + part.exp()) * sum((distribution.distance for distribution in found), Decimal(0)))
        > MAX_DELTA
    ):
        raise UsageError(
            "Drawing the noise from 64-bit words would make delta larger than 2**-40.", "Lower epsilon."
        )
    return found
