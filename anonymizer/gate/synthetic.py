"""What is looked at in a synthetic release, whose rows are nobody's.

Rows cannot be compared one by one, and a cell that is like one of the original says nothing: there only are
as many cells as are declared. So each column has to hold what is declared of it and nothing else, which an
identifier, a row number or a text that somebody wrote never is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from anonymizer.gate.finding import Finding
from anonymizer.gate.looks import of_columns
from anonymizer.gate.names import inspect_names
from anonymizer.gate.traces import find_reencoded, looks_like_an_identifier
from anonymizer.gate.types import find_mistyped
from anonymizer.gate.views import ColumnView
from anonymizer.hierarchies.hierarchy import GAP
from anonymizer.tables.table import Table


def of_synthetic(original: Table, read: Table, added: Collection[str]) -> Iterator[Finding]:
    """Look at a synthetic table.

    Args:
        original: that it was made of, with roles and declared columns.
        read: as it was read back.
        added: columns that a step adds.
    """
    yield from of_columns(original, read, added)
    yield from find_mistyped(read, original.schema, (), ())
    columns = [ColumnView.of(read, name) for name in read.names if name not in original.roles.identifiers]
    yield from find_reencoded(columns, [ColumnView.of(original, name) for name in original.roles.identifiers])
    before = {
        column.name: ColumnView.of(original, column.name)
        for column in columns
        if column.name in original.names
    }
    yield from inspect_names(columns, before)
    for column in columns:
        yield from _outside(original, column)
        words = looks_like_an_identifier(column)
        if words is not None and "look like" in words:
            yield Finding(
                "identifying",
                column.name,
                f"Values of column {column.name} {words}.",
                f"Name {column.name} among the identifiers, which takes it out.",
            )


def _outside(original: Table, column: ColumnView) -> Iterator[Finding]:
    """Numbers beyond the declared bounds, and texts that are not declared categories."""
    declared = original.schema.of(column.name)
    wrong = False
    if column.numbers is not None and declared.is_number:
        low, high = declared.lower, declared.upper
        wrong = bool(
            (low is not None and (column.numbers < low).any())
            or (high is not None and (column.numbers > high).any())
        )
    elif declared.categories is not None:
        wrong = not {str(value) for value in column.values} <= {*declared.categories, GAP}
    if wrong:
        yield Finding(
            "type",
            column.name,
            f"Column {column.name} is synthetic, and some of its cells are outside of what is declared.",
            "Report this as a defect, and release nothing of it.",
        )
