"""Parameters of statistics over matched rows: how rows are matched, and whose column is whose.

[parameters]
layout = "vertical"
alice_columns = ["age", "smoker"]     # beside the keys; a query names columns of both
bob_columns = ["costs"]
[parameters.match]
keys = ["insurance_number"]           # as of the matching method "exact"
duplicates = "error"                  # or "distinct"
[parameters.match.normalization]
insurance_number = ["trim", "digits-only"]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from smc.analyses.records.conditions import columns_of
from smc.analyses.records.keying import DISTINCT, MULTISET
from smc.analyses.records.matched_columns import Vertical
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.query import POOLED_KINDS
from smc.analyses.studies.parameters import read_parameters, take
from smc.errors import UsageError

HORIZONTAL: Final = "horizontal"
VERTICAL: Final = "vertical"
LAYOUTS: Final = (HORIZONTAL, VERTICAL)
KEYS: Final = ("match", "alice_columns", "bob_columns")
"""The keys of `[parameters]` that only the vertical layout has."""

_TOLERANT: Final = frozenset(
    {"method", "fields", "threshold", "least_score", "blocking", "one_to_one", "rounds"}
)

_PLACE: Final = "parameters"
_MATCH: Final = "parameters.match"


def parse_vertical(parameters: Mapping[str, Any]) -> Vertical:
    """Read the keys of this module; the others are the caller's.

    Raises:
        UsageError: a key is missing or impossible; names the place.
    """
    match = take(parameters, "match", dict, _PLACE)
    if _TOLERANT & match.keys():
        raise UsageError(
            f"{_MATCH} asks for tolerant matches: one row can take the partners of many others there, so "
            "that no useful noise hides it.",
            "Match by exact keys, whose normal forms may forgive much (normalization = [...]); or, for exact "
            'sums and means without noise, use analysis = "matching", method = "tolerant", '
            'output = "statistics".',
        )
    found = read_parameters(Vertical, {key: parameters[key] for key in KEYS if key in parameters})
    if found.match.duplicates == MULTISET:
        raise UsageError(
            f"{_MATCH}.duplicates cannot be {MULTISET!r} here: a row that is taken away would move all rows "
            "of its key to other partners, which no noise for one row hides.",
            f"Use 'error' or {DISTINCT!r}.",
        )
    return found


def check_columns(vertical: Vertical, queries: Sequence[Query], noise: str) -> None:
    """Check that every column of a query belongs to one side, and that there is noise, or none is needed.

    Raises:
        UsageError: one does not; or results would be exact, and not about survival.
    """
    for query in queries:
        if query.entry is not None:
            raise UsageError(
                f"{_PLACE}: a table-one is of rows that each side has by itself, not of matched ones.",
                "Ask for the means, deviations, quantiles and histograms one by one, with noise.",
            )
        if query.kind in POOLED_KINDS:
            raise UsageError(
                f"Query {query.name!r}: a {query.kind} is of rows that each side has by itself, not of "
                "matched ones.",
                "Ask for risks by stratum, with where and with noise.",
            )
    if noise == "none" and any(query.follow_up is None for query in queries):
        raise UsageError(
            "Statistics over matched rows are not released without noise, but for survival.",
            "Choose a noise; for exact sizes and sums use the analysis matching with output = 'statistics'.",
        )
    named = (*vertical.alice, *vertical.bob)
    if len(set(named)) < len(named):
        raise UsageError(
            f"{_PLACE}: alice_columns and bob_columns name a column twice.",
            "Give each column its own name in the job.",
        )
    for query in queries:
        for condition in query.where:
            names = columns_of([condition])
            if not any(set(names) <= set(side) for side in (vertical.alice, vertical.bob)):
                raise UsageError(
                    f"Query {query.name!r}: {condition} is about columns of both sides, or of none, so no "
                    "side can check it on its own rows.",
                    "Name columns of alice_columns or of bob_columns in each entry of where; entries for "
                    "both sides may stand beside each other.",
                )
    used = {name for query in queries for name in query.all_columns}
    if missing := sorted(used.difference(named)):
        raise UsageError(
            f"{_PLACE}: a query names {missing[0]!r}, which is in neither alice_columns nor bob_columns.",
            "Add it to the columns of the side that holds it.",
        )
    if spare := sorted(set(named) - used):
        raise UsageError(
            f"{_PLACE}: no query uses the column {spare[0]!r}.",
            "Remove it from alice_columns or bob_columns.",
        )
