"""Whether released columns hold what is declared of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from anonymizer.gate.finding import Finding
from anonymizer.gate.views import ColumnView
from anonymizer.hierarchies.hierarchy import GAP
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.table import Table

_TRUTH = frozenset({"true", "false", "0", "1"})


def find_mistyped(
    read: Table, schema: Schema, changed: Collection[str], noised: Collection[str] = ()
) -> Iterator[Finding]:
    """Look for cells that are not of the declared type.

    Labels such as `[30-40)`, or means, may stand in a column of numbers that a step has changed. Differential
    privacy is another matter: there the form of a number may not tell what it was made of.

    Args:
        read: the table as it was read back.
        schema: what is declared.
        changed: columns that a step has changed.
        noised: those for which differential privacy is promised.
    """
    for name in read.names:
        declared = schema.of(name)
        if declared.kind is None:
            continue
        column = ColumnView.of(read, name)
        if not len(column.values) or (name in changed and name not in noised):
            continue
        if not _fits(column, declared):
            yield Finding(
                "type",
                name,
                f"Column {name} is declared to be of type {declared.kind}, and some of its cells are not.",
                f"Correct the declaration of {name} below [columns], or its cells.",
            )


def _fits(column: ColumnView, declared: Column) -> bool:
    kind = declared.kind
    if kind == "integer":
        return column.whole is not None
    if kind == "float":
        return column.numbers is not None
    if kind == "date":
        return column.days is not None
    if kind == "boolean":
        return {str(value).lower() for value in column.values} <= _TRUTH
    if kind == "category" and declared.categories is not None:
        gap = {GAP} if declared.missing == "value" else set()
        return {str(value) for value in column.values} <= {*declared.categories, *gap}
    return True
