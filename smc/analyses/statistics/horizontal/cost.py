"""What a run over rows of both costs: rounds, bytes, time and memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.statistics.horizontal.exact import tables_of
from smc.analyses.statistics.plans import noisy
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.estimates import estimated
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.study import Estimate
from smc.forms import Role
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import SETUP_COST

_SECONDS_PER_BYTE: Final = 1.2e-8
_SETUP_SECONDS: Final = 0.05
_MEMORY: Final = Memory(35 * MEBI, 50)


def estimate(
    parameters: StatisticsParameters,
    schemas: Mapping[str, Schema],
    recipients: frozenset[Role],
    rows: int,
    limits: Limits,
) -> Estimate:
    """What a run with `rows` rows a side costs; see `smc.analyses.studies.study.Study.cost`."""
    total = run_cost(parameters, schemas, recipients, limits)
    exact = "local sums; open to recipients as far as the limits allow"
    return estimated(
        total,
        _SETUP_SECONDS + _SECONDS_PER_BYTE * (total.alice_bytes + total.bob_bytes),
        exact
        if parameters.is_exact
        else f"local sums; joint discrete {parameters.noise.capitalize()} noise by oblivious transfer; "
        "open to recipients",
        _MEMORY.at(rows),
    )


def run_cost(
    parameters: StatisticsParameters,
    schemas: Mapping[str, Schema],
    recipients: frozenset[Role],
    limits: Limits = NO_LIMITS,
) -> Cost:
    """The exact cost of a run in a fresh session, without what the gate sends.

    Without noise that is the cost where no cell has to be withheld.

    Args:
        parameters: as parsed.
        schemas: the declared columns.
        recipients: who gets the results.
        limits: of both policies.
    """
    if parameters.is_exact:
        every = tables_of(parameters, schemas)
        total = SETUP_COST if any(tables.tested(limits) for tables in every) else Cost()
        for tables in every:
            total += tables.cost(limits, recipients)
        return total
    least = limits.minimum_group * parameters.rows_per_person
    plans = plan(parameters, schemas, counted=least > 0)
    computed = SETUP_COST + noisy.noise_cost(plans) + noisy.seed_cost(plans)
    return computed + noisy.opening_cost(plans, least, recipients)
