"""What is checked of keys, columns and queries of a job about matched rows, before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from smc.analyses.disclosure.limits import Limits
from smc.analyses.records.key_parameters import check_keys
from smc.analyses.records.matched_columns import Vertical
from smc.analyses.records.peer_schemas import KINDS
from smc.analyses.statistics.plans.advice import Advice, advise
from smc.analyses.statistics.plans.noisy import local
from smc.analyses.statistics.plans.precision import expected_precision, unknown_precision
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.statistics.vertical.run import Brought, plan_queries
from smc.analyses.statistics.vertical.terms import pairs
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.precision import with_precision
from smc.analyses.studies.study import Preview
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.exchange.bounds import MAX_SCALE

MAX_PRODUCTS: Final = 20_000
"""More sums in one job are refused."""


def check(
    parameters: StatisticsParameters,
    vertical: Vertical,
    alice: Mapping[str, Schema],
    bob: Mapping[str, Schema],
) -> None:
    """Check keys and columns of both sides, that the queries fit, and that nothing can wrap.

    Raises:
        UsageError: says which column of which side, or which query.
    """
    for role, schemas in ((Role.ALICE, alice), (Role.BOB, bob)):
        check_brought(vertical, schemas, role)
    every = {name: alice[name] for name in vertical.alice} | {name: bob[name] for name in vertical.bob}
    plans = plan_queries(parameters, every, counts_matches=False, counts_groups=False)
    if sum(len(pairs(each, vertical.alice)) for each in plans) > MAX_PRODUCTS:
        raise UsageError(
            f"The queries ask for more than {MAX_PRODUCTS} sums over matched rows.",
            "Use fewer bins, candidates (points) or groups, or several jobs.",
        )


def check_side(
    parameters: StatisticsParameters, vertical: Vertical, schemas: Mapping[str, Schema], role: Role
) -> None:
    """Check keys and columns of one side, and the queries that are about these columns alone.

    Raises:
        UsageError: as `check`.
    """
    check_brought(vertical, schemas, role)
    own = replace(parameters, queries=_alone(parameters, vertical, role))
    plan_queries(own, schemas, counts_matches=False, counts_groups=False)


def precision_of(
    parameters: StatisticsParameters,
    vertical: Vertical,
    brought: Brought,
    schemas: Mapping[str, Schema],
    role: Role,
    limits: Limits,
) -> Preview:
    """What precision to expect if all local rows match, see `smc.analyses.statistics.plans.precision`.

    Of queries about columns of the other side nothing is known, and beside them nothing is advised.
    """
    own = replace(parameters, queries=_alone(parameters, vertical, role))
    plans = plan_queries(
        own, schemas, counts_matches=limits.minimum_intersection > 0, counts_groups=limits.minimum_group > 0
    )
    count = len(brought.keyed)
    rows = LocalRows(brought.columns, np.arange(count), count)
    entries = [local(each, rows.meeting(each.where)) for each in plans]
    found = [
        expected_precision(each, of_each, 1, count) for each, of_each in zip(plans, entries, strict=True)
    ]
    known = {each.query.name: of_each for each, of_each in zip(plans, found, strict=True)}
    said = [
        row for query in parameters.queries for row in known.get(query.name) or [unknown_precision(query)]
    ]
    is_whole = len(known) == len(parameters.queries)
    advice = advise(plans, entries, 1, count, found) if is_whole else Advice()
    return with_precision(advice.preview(), said)


def _alone(parameters: StatisticsParameters, vertical: Vertical, role: Role) -> tuple[Query, ...]:
    """The queries about columns of one side alone."""
    own = set(vertical.values(role))
    return tuple(query for query in parameters.queries if own.issuperset(query.all_columns))


def check_brought(vertical: Vertical, schemas: Mapping[str, Schema], role: Role) -> None:
    """Check that a side has its keys and columns, and of which kind they are.

    Raises:
        UsageError: says which column of which side.
    """
    for name in vertical.columns(role):
        if name not in schemas:
            raise UsageError(f"{role.value} has no column {name!r}.", "Add it to that side of the job.")
    for name in vertical.values(role):
        if schemas[name].kind not in KINDS or schemas[name].scale > MAX_SCALE:
            raise UsageError(
                f"{role.value}'s column {name!r} is of kind {schemas[name].kind}, or has too many decimals.",
                f"Name a column of kind {', '.join(KINDS)}.",
            )
    check_keys(vertical.match, schemas, role)
