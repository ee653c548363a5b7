"""What a run over rows of both costs: rounds, bytes, time and memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.statistics.horizontal.exact import tables_of
from smc.analyses.statistics.plans import noisy
from smc.analyses.statistics.plans.plan import Planned, plan
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.estimates import Pace, estimated
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.study import Estimate
from smc.forms import Role
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import SETUP_COST

_PACE: Final = Pace(0.015, byte=3e-9, round=0.4e-3, numpy=2.2)
_MEMORY: Final = Memory(30 * MEBI, 50)
_BIT_MEMORY: Final = 95
_BATCH_BIT_MEMORY: Final = 300
_BATCH_BITS: Final = 1 << 17
"""Bytes for each biased bit that noise is drawn from, and for each of a batch of this size at most."""


def estimate(
    parameters: StatisticsParameters,
    schemas: Mapping[str, Schema],
    recipients: frozenset[Role],
    rows: int,
    limits: Limits,
) -> Estimate:
    """What a run with `rows` rows a side costs; see `smc.analyses.studies.study.Study.cost`."""
    total = run_cost(parameters, schemas, recipients, limits)
    exact = "local sums; each side's part opened to recipients as far as its limits allow"
    return estimated(
        total,
        _PACE.seconds(total),
        exact
        if parameters.is_exact
        else f"local sums; joint discrete {parameters.noise.capitalize()} noise by oblivious transfer; "
        "open to recipients",
        _MEMORY.at(rows) + (0 if parameters.is_exact else _noise_memory(parameters, schemas, limits)),
    )


def _noise_memory(parameters: StatisticsParameters, schemas: Mapping[str, Schema], limits: Limits) -> int:
    bits = noisy.biased_bits(_plans(parameters, schemas, limits))
    return _BIT_MEMORY * bits + _BATCH_BIT_MEMORY * min(bits, _BATCH_BITS)


def run_cost(
    parameters: StatisticsParameters,
    schemas: Mapping[str, Schema],
    recipients: frozenset[Role],
    limits: Limits = NO_LIMITS,
) -> Cost:
    """The exact cost of a run in a fresh session, without what the gate sends.

    Args:
        parameters: as parsed.
        schemas: the declared columns.
        recipients: who gets the results.
        limits: of both policies.
    """
    if parameters.is_exact:
        return sum((tables.cost(recipients) for tables in tables_of(parameters, schemas)), Cost())
    least = limits.minimum_group * parameters.rows_per_person
    plans = _plans(parameters, schemas, limits)
    computed = SETUP_COST + noisy.noise_cost(plans) + noisy.seed_cost(plans)
    return computed + noisy.opening_cost(plans, least, recipients)


def _plans(
    parameters: StatisticsParameters, schemas: Mapping[str, Schema], limits: Limits
) -> tuple[Planned, ...]:
    return plan(parameters, schemas, counted=limits.minimum_group > 0)
