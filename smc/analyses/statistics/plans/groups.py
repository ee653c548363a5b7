"""The groups of a query, by the labels of category columns."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import Final

from smc.analyses.statistics.queries.asked import Query
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError

MAX_ENTRIES: Final = 100_000
"""More numbers in one job are refused: they are opened in one message each way."""

SEPARATOR: Final = " / "
"""Between the labels of a group by two columns."""


def groups(
    query: Query, schemas: Mapping[str, Schema]
) -> tuple[tuple[str | None, ...], tuple[tuple[int, ...], ...]]:
    """Labels and held values of a query's groups; of two columns each pair of labels is a group.

    Raises:
        UsageError: a column of `by` is not a category.
    """
    if not query.by:
        return (None,), ((),)
    labels = []
    for column in query.by:
        schema = schema_of(query, column, schemas)
        if schema.kind != "category" or not schema.categories:
            raise UsageError(
                f"Query {query.name!r}: by needs a category column, {column!r} is declared {schema.kind}.",
                "Name a category column, or derive one by cuts of a number.",
            )
        labels.append(schema.categories)
    if prod(map(len, labels)) > MAX_ENTRIES:
        raise UsageError(
            f"Query {query.name!r} has more than {MAX_ENTRIES} groups.", "Group by columns of fewer labels."
        )
    names = tuple(SEPARATOR.join(pair) for pair in product(*labels))
    return names, tuple(product(*(range(len(each)) for each in labels)))


def schema_of(query: Query, column: str, schemas: Mapping[str, Schema]) -> Schema:
    """The declaration of a column of a query.

    Raises:
        UsageError: the job has no such column.
    """
    if column not in schemas:
        raise UsageError(
            f"Query {query.name!r}: there is no column {column!r}.", "Add it to the columns of the job."
        )
    return schemas[column]
