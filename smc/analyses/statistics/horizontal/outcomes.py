"""Runs over rows of both and their outcomes, one side: with noise, or as exact tables."""

from __future__ import annotations

from smc.analyses.disclosure.release import Release
from smc.analyses.statistics.horizontal.asked_exactly import exact_queries, reported_of
from smc.analyses.statistics.horizontal.run import open_noisy_sums
from smc.analyses.statistics.plans import noisy_results
from smc.analyses.statistics.plans.outcome import (
    EXACT_DETAILS,
    Reported,
    kept_from,
    noisy_details,
    outcome_of,
)
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.queries.rows import rows_by_condition
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role
from smc.protocols.session import Session


def run_noisy(
    session: Session,
    parameters: StatisticsParameters,
    data: Data,
    recipients: frozenset[Role],
    release: Release,
) -> Outcome:
    """Add up the local rows, add noise that neither party knows, and open the sums to the recipients."""
    schemas = {name: column.schema for name, column in data.items()}
    plans = plan(parameters, schemas, counted=release.counts_groups)
    details = noisy_details(parameters, plans)
    opened, seed = open_noisy_sums(session, parameters, plans, data, recipients, release)
    if opened is None:
        return kept_from(details)
    reported: list[Reported] = [
        (planned.query, planned.statistic, *entry)
        for planned, entries in zip(plans, opened, strict=True)
        for entry in noisy_results.results(planned, entries, seed, noisy=True, limited=release.counts_groups)
    ]
    return outcome_of(parameters, reported, details, noisy=True)


def run_exact(
    session: Session,
    parameters: StatisticsParameters,
    data: Data,
    recipients: frozenset[Role],
    release: Release,
) -> Outcome:
    """Open the counts and sums of each query as tables under limits, or figures that follow from such."""
    asked = exact_queries(parameters, {name: column.schema for name, column in data.items()})
    rows = rows_by_condition(parameters, data, [each.where for each in asked])
    reported: list[Reported] = []
    for each in asked:
        found = each.run(session, release, rows[each.where], data, recipients)
        if found is not None:
            reported += reported_of(each, found)
    if session.role not in recipients:
        return kept_from(EXACT_DETAILS)
    return outcome_of(parameters, reported, EXACT_DETAILS, noisy=False)
