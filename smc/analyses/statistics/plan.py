"""From parsed queries and declared columns to statistics with their noise, checked against overflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from smc.analyses.base import Schema
from smc.analyses.statistics.parameters import Query, StatisticsParameters
from smc.analyses.statistics.queries import Count, Histogram, Mean, Statistic, Sum, real
from smc.errors import UsageError
from smc.secret.laplace import DiscreteLaplace

MOST_DELTA: Final = Decimal(1) / (1 << 40)
"""A plan whose delta would be larger is refused."""

MOST_ENTRIES: Final = 100_000
"""More numbers in one job are refused: they are opened in one message each way."""

_NUMERIC: Final = ("integer", "decimal")


@dataclass(frozen=True, slots=True)
class Noisy:
    """A statistic and the law of the noise of each of its entries."""

    statistic: Statistic
    laws: tuple[DiscreteLaplace, ...]

    @property
    def delta(self) -> Decimal:
        """Bound on the delta of this query: (1 + e**epsilon) times the statistical distance of its noise."""
        epsilon = Decimal(self.statistic.epsilon.numerator) / Decimal(self.statistic.epsilon.denominator)
        return (1 + epsilon.exp()) * sum((law.distance for law in self.laws), Decimal(0))


def plan(parameters: StatisticsParameters, schemas: Mapping[str, Schema]) -> tuple[Noisy, ...]:
    """Resolve all queries.

    Args:
        parameters: the parsed parameters.
        schemas: the declared columns, which both sides share.

    Raises:
        UsageError: a query does not fit its column, or a total could leave 63 bits.
    """
    laws: dict[Fraction, DiscreteLaplace] = {}
    resolved = []
    for query in parameters.queries:
        statistic = _resolve(query, schemas.get(query.column) if query.column else Schema("integer"))
        for rate in statistic.rates:
            if rate not in laws:
                laws[rate] = DiscreteLaplace.of(rate)
        noisy = Noisy(statistic, tuple(laws[rate] for rate in statistic.rates))
        _check_room(noisy, parameters.max_rows)
        resolved.append(noisy)
    if sum(len(noisy.laws) for noisy in resolved) > MOST_ENTRIES:
        raise UsageError(
            f"The queries ask for more than {MOST_ENTRIES} numbers.", "Use several jobs, or fewer bins."
        )
    if sum((noisy.delta for noisy in resolved), Decimal(0)) > MOST_DELTA:
        raise UsageError(
            "Drawing the noise from 64-bit words would make delta larger than 2**-40.",
            "Lower epsilon or ask fewer queries or bins.",
        )
    return tuple(resolved)


def _check_room(noisy: Noisy, max_rows: int) -> None:
    noise = max(law.bound for law in noisy.laws)
    if 2 * max_rows * noisy.statistic.reach + noise >= 1 << 63:
        raise UsageError(
            f"Query {noisy.statistic.name!r} could leave 63 bits: 2 * max_rows * bound + noise is too large.",
            "Lower max_rows, clamp to narrower bounds, or raise epsilon.",
        )


def _resolve(query: Query, schema: Schema | None) -> Statistic:
    if schema is None:
        raise UsageError(f"Query {query.name!r}: there is no column {query.column!r}.", "Add it to the job.")
    common = (query.name, query.column, schema, query.epsilon)
    if query.kind == "count":
        return Count(*common)
    if query.kind == "histogram":
        return Histogram(*common, *_bins(query, schema))
    if schema.kind not in _NUMERIC:
        raise UsageError(
            f"Query {query.name!r}: a {query.kind} needs a number, column {query.column!r} is "
            f"declared {schema.kind}.",
            "Name an integer or decimal column.",
        )
    lower, upper = _bound(query, "lower", schema), _bound(query, "upper", schema)
    statistic = (Mean if query.kind == "mean" else Sum)(*common, lower, upper)
    if lower > upper or not statistic.sensitivity:
        raise UsageError(
            f"Query {query.name!r}: the bounds leave no value but one, or none.", "Set lower below upper."
        )
    return statistic


def _held(value: Fraction, query: Query, schema: Schema, what: str) -> int:
    held = value * 10**schema.scale
    if held.denominator != 1:
        raise UsageError(
            f"Query {query.name!r}: {what} has more decimals than column {query.column!r}, which has "
            f"{schema.scale}.",
            "Round it.",
        )
    return int(held.numerator)


def _bound(query: Query, side: str, schema: Schema) -> int:
    stated: Fraction | None = getattr(query, side)
    if stated is not None:
        return _held(stated, query, schema, side)
    declared: int | None = getattr(schema, side)
    if declared is None:
        raise UsageError(
            f"Query {query.name!r}: neither the query nor column {query.column!r} has a bound {side!r}.",
            f"Set {side} in the query.",
        )
    return declared


def _bins(query: Query, schema: Schema) -> tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...]]:
    """Labels, held edges and category indices."""
    if schema.kind == "category":
        return _categories(query, schema)
    if schema.kind not in _NUMERIC or not query.edges:
        raise UsageError(
            f"Query {query.name!r}: a histogram of column {query.column!r}, declared {schema.kind}, "
            "does not fit.",
            "Give edges for an integer or decimal column; count labels of a category column.",
        )
    edges = tuple(_held(edge, query, schema, "an edge") for edge in query.edges)
    names = [str(real(edge, schema.scale)) for edge in edges]
    closing = [")"] * (len(edges) - 2) + ["]"]
    labels = tuple(f"[{a}, {b}{end}" for a, b, end in zip(names, names[1:], closing, strict=False))
    return labels, edges, ()


def _categories(query: Query, schema: Schema) -> tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...]]:
    labels = query.categories or schema.categories
    places = {label: index for index, label in enumerate(schema.categories)}
    if query.edges or not labels or not places.keys() >= set(labels):
        raise UsageError(
            f"Query {query.name!r}: column {query.column!r} has labels; the query asks for others.",
            "Leave edges out, and take categories from the column's declaration.",
        )
    return labels, (), tuple(places[label] for label in labels)


def check_alike(query: Query, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
    """Check that both sides declare the query's column so that their numbers add up.

    Raises:
        UsageError: a side lacks the column, or the declarations differ in what the query depends on.
    """
    for side, schemas in (("Alice", alice), ("Bob", bob)):
        if query.column not in schemas:
            raise UsageError(
                f"Query {query.name!r}: {side} has no column {query.column!r}.",
                "Add it to that side of the job.",
            )
    fields = ["kind", "scale", "unit", "categories"]
    if query.kind in ("sum", "mean"):
        fields += [side for side in ("lower", "upper") if getattr(query, side) is None]
    differing = _differences(alice[query.column], bob[query.column], fields)
    if differing:
        raise UsageError(
            f"Query {query.name!r}: Alice and Bob declare {differing[0]} of {query.column!r} differently.",
            "Declare the columns alike"
            + (" or state the bound in the query." if differing[0] in ("lower", "upper") else "."),
        )


def _differences(alice: Schema, bob: Schema, fields: Sequence[str]) -> list[str]:
    return [name for name in fields if getattr(alice, name) != getattr(bob, name)]
