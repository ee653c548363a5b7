"""The exact statistics of the joined table, in the clear."""

from __future__ import annotations

import numpy as np

from smc.analyses.records.matched_columns import Vertical
from smc.analyses.statistics.plans import noisy, noisy_results
from smc.analyses.statistics.plans.outcome import EXACT_DETAILS, kept_from, outcome_of
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.statistics.vertical.run import Brought, reported_of, schemas_of
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role


def reference(
    parameters: StatisticsParameters, vertical: Vertical, alice: Data, bob: Data, recipients: frozenset[Role]
) -> tuple[Outcome, Outcome]:
    """The exact statistics of the joined table."""
    rows = joined_rows(parameters, vertical, alice, bob)
    plans = plan(parameters, {**schemas_of(alice, vertical.alice), **schemas_of(bob, vertical.bob)})
    entries = [noisy_results.exact(each, [noisy.local(each, rows.meeting(each.where))]) for each in plans]
    reported = reported_of(plans, entries, b"", is_noisy=False, limited=False)
    outcome = outcome_of(parameters, reported, EXACT_DETAILS, noisy=False)
    to_alice, to_bob = (outcome if role in recipients else kept_from(EXACT_DETAILS) for role in Role)
    return to_alice, to_bob


def joined_rows(parameters: StatisticsParameters, vertical: Vertical, alice: Data, bob: Data) -> LocalRows:
    """The rows that match, with the columns of both sides.

    Raises:
        DomainError: as `Brought.of`.
    """
    first, second = (
        Brought.of(parameters, vertical, data, role) for role, data in zip(Role, (alice, bob), strict=True)
    )
    places = {key: place for place, key in enumerate(second.keyed.plain())}
    common = [(i, places[key]) for i, key in enumerate(first.keyed.plain()) if key in places]
    joined = np.array(common, dtype=np.int64).reshape(-1, 2)
    columns = {
        name: column[joined[:, side]]
        for side, brought in enumerate((first, second))
        for name, column in brought.columns.items()
    }
    return LocalRows(columns, np.arange(len(joined)), len(joined))
