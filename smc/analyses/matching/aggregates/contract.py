"""What a job about an intersection says of itself before it runs: checks, leakage, loss and cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from smc.analyses.columns import Schema
from smc.analyses.disclosure.costs import SumShape, cost_test
from smc.analyses.disclosure.crowds import BESIDE_BOUNDS
from smc.analyses.disclosure.limits import ASKED, Limits
from smc.analyses.loss import Loss
from smc.analyses.matching.aggregates.parameters import (
    MAX_DELTA,
    NEIGHBOURS,
    SHARES,
    SIZE,
    STATISTICS,
    AggregateParameters,
    declared,
    distributions,
)
from smc.analyses.records.numbers import text
from smc.analyses.study import Leakage
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.exchange.bounds import declarations_cost
from smc.protocols.intersection import cuckoo
from smc.protocols.spec import Cost
from smc.secret import circuit_psi, majority, mux, noise, opening
from smc.secret.bounds import Bounds

_CHOSEN: Final = (
    "which of its own rows match, if it wants to: whoever holds a summed column can choose its values so "
    "that the exact sum shows which of its rows match"
)
_UNKNOWN: Final = Bounds(-(1 << 31), 1 << 31)


def check_values(
    parameters: AggregateParameters, alice: Mapping[str, Schema], bob: Mapping[str, Schema]
) -> None:
    """Check that the values are numbers with bounds, for which noise can be drawn.

    Raises:
        UsageError: says which column of which side and how to fix it.
    """
    schemas = {Role.ALICE: alice, Role.BOB: bob}
    every = [
        declared(value, schemas[value.side].get(value.column), clamped=parameters.epsilon is not None)
        for value in parameters.values
    ]
    distributions(parameters, tuple(Bounds(each.lower, each.upper) for each in every))


def check_aggregate_recipients(parameters: AggregateParameters, recipients: frozenset[Role]) -> None:
    """Shares go to both parties, figures to one at least.

    Raises:
        UsageError: the job names others.
    """
    if not recipients:
        raise UsageError("Nobody receives the result.", "Name alice, bob or both as recipients.")
    if parameters.output == SHARES and len(recipients) < len(Role):
        raise UsageError("Shares are of use to both parties only.", "Name alice and bob as recipients.")


def aggregate_loss(parameters: AggregateParameters) -> Loss:
    """Epsilon, with the delta that drawing the noise may need at most; nothing without epsilon."""
    return Loss() if parameters.epsilon is None else Loss(parameters.epsilon, MAX_DELTA)


def releases_exactly(parameters: AggregateParameters) -> bool:
    """Whether figures about several persons are released without noise; shares are no figures."""
    return parameters.epsilon is None and parameters.output != SHARES


def shows_rows(parameters: AggregateParameters, recipients: frozenset[Role]) -> bool:
    """Whether somebody gets the exact sum of its own column.

    Its holder can choose values of which every set has another sum, such as 1, 2, 4, 8 above one that all
    rows have, and then takes from the sum which of its rows match. Limits on groups hold of such values as
    well.
    """
    return releases_exactly(parameters) and any(parameters.columns(role) for role in recipients)


def aggregate_leakage(parameters: AggregateParameters, recipients: frozenset[Role]) -> Leakage:
    """Who learns what."""
    names = ", ".join(f"{value.side.value}'s {value.column}" for value in parameters.values)
    figures = "the size of the intersection"
    if parameters.output != SIZE:
        figures = f"the size of the intersection, and over it the sum and the mean of {names}"
    if parameters.epsilon is not None:
        figures += (
            f", with noise that neither party knows, under differential privacy with epsilon "
            f"{text(parameters.epsilon)}: {NEIGHBOURS}"
        )
    gets = {
        role: (figures, _CHOSEN) if shows_rows(parameters, frozenset((role,))) else (figures,)
        for role in recipients
        if parameters.output != SHARES
    }
    bit = "whether the limits of disclosure hold, one bit, where the policies set any that apply"
    bit += f"; {ASKED}" if parameters.epsilon is None else "; it comes from the noisy size"
    public: tuple[str, ...] = ("the number of rows of each side that take part",)
    if parameters.values:
        public += (f"bounds and scales of {names}",)
    return Leakage(
        (*gets.get(Role.ALICE, ()), bit),
        (*gets.get(Role.BOB, ()), bit),
        public,
    )


def aggregate_cost(
    parameters: AggregateParameters,
    schemas: Mapping[str, Schema],
    recipients: frozenset[Role],
    counts: tuple[int, int],
    limits: Limits,
) -> Cost:
    """What `run_aggregates` costs in a fresh session; exact in flights and bytes.

    Args:
        parameters: as parsed.
        schemas: declarations by column name; a column that has none is taken for one of 32-bit numbers.
        recipients: who gets the results.
        counts: rows of Alice and of Bob.
        limits: of both policies, none of which stands against the result.
    """
    columns = [len(parameters.columns(role)) for role in Role]
    total = declarations_cost(*columns) if parameters.values else Cost()
    bounds = _spans(parameters, schemas)
    exact_sums = parameters.epsilon is None and parameters.output == STATISTICS
    weighs, counts_groups = (exact_sums and asked for asked in (limits.weighs, limits.counts_groups))
    aligned = list(columns)
    for value, span in zip(parameters.values, bounds, strict=True):
        further = (weighs and span.lower < 0) + counts_groups * (BESIDE_BOUNDS + span.span_bits)
        aligned[list(Role).index(value.side)] += further
    total += circuit_psi.cost(*counts, *aligned, fresh=True)
    fewer = min(counts)
    slots = cuckoo.bins_for(fewer)
    total += mux.cost_to_words(slots)
    noises = distributions(parameters, tuple(bounds))
    size = Bounds(0, fewer)
    if noises:
        total += noise.cost(noises)
        size += Bounds(-noises[0].bound, noises[0].bound)
    least = limits.minimum_intersection
    if parameters.output != SIZE:
        least = max(least, limits.minimum_group)
    sums = [SumShape(_weighed(span), slots, fewer) for span in bounds] if weighs else []
    apart = []
    if counts_groups:
        widths = [span.span_bits for span in bounds]
        total += majority.cost(slots, fewer, widths)
        apart = [Bounds(0, fewer)] * (BESIDE_BOUNDS * len(bounds))
        apart += [Bounds(0, fewer if width else 0) for width in widths]
    total += cost_test([(size, least)], limits, sums, apart)
    if parameters.output == SHARES:
        return total
    return total + opening.cost(1 + len(parameters.values), recipients)


def digits(parameters: AggregateParameters, schemas: Mapping[str, Schema], limits: Limits) -> int:
    """How many digits of values are secret columns of a run, to find the value that most matches have."""
    if parameters.epsilon is not None or parameters.output != STATISTICS or not limits.counts_groups:
        return 0
    return sum(span.span_bits for span in _spans(parameters, schemas))


def _spans(parameters: AggregateParameters, schemas: Mapping[str, Schema]) -> list[Bounds]:
    """Bounds of all values as far as the declarations are known."""
    found = []
    for value in parameters.values:
        schema = schemas.get(value.column)
        each = None if schema is None else declared(value, schema, clamped=parameters.epsilon is not None)
        found.append(_UNKNOWN if each is None else Bounds(each.lower, each.upper))
    return found


def _weighed(bounds: Bounds) -> Bounds:
    """Of what is compared with a sum: the values of the matches, absolute ones where some are negative."""
    return Bounds(0, bounds.magnitude if bounds.lower < 0 else bounds.upper)
