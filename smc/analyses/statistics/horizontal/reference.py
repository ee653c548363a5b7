"""The exact statistics of the rows of both, in the clear."""

from __future__ import annotations

from smc.analyses.statistics.horizontal.asked_exactly import exact_queries, reported_of
from smc.analyses.statistics.plans import noisy, noisy_results
from smc.analyses.statistics.plans.outcome import (
    EXACT_DETAILS,
    Reported,
    kept_from,
    outcome_of,
)
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role


def reference(
    parameters: StatisticsParameters, alice: Data, bob: Data, recipients: frozenset[Role]
) -> tuple[Outcome, Outcome]:
    """What both would get from a trusted third party, without noise and limits."""
    schemas = {name: column.schema for name, column in alice.items()}
    reported: list[Reported] = []
    if parameters.is_exact:
        for asked in exact_queries(parameters, schemas):
            rows = [(LocalRows.of(parameters, data, asked.where), data) for data in (alice, bob)]
            reported += reported_of(asked, asked.reference(rows))
    else:
        plans = plan(parameters, schemas)
        sides = [noisy.local_entries(parameters, plans, data) for data in (alice, bob)]
        for planned, both in zip(plans, zip(*sides, strict=True), strict=True):
            entries = noisy_results.exact(planned, both)
            reported += [
                (planned.query, planned.statistic, *entry)
                for entry in noisy_results.results(planned, entries, b"", noisy=False, limited=False)
            ]
    outcome = outcome_of(parameters, reported, EXACT_DETAILS, noisy=False)
    to_alice, to_bob = (outcome if role in recipients else kept_from(EXACT_DETAILS) for role in Role)
    return to_alice, to_bob
