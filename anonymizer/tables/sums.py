"""Rows at the end of a table that are nobody's: sums and counts of those above, as exports write them."""

from __future__ import annotations

from anonymizer.errors import list_names
from anonymizer.tables.table import Table
from commons.tabular.footers import MAX_LINES, sums_below


def sums_of(table: Table) -> tuple[str, ...]:
    """How the last rows begin that look like sums below the table; nothing where none does."""
    return sums_below(table.frame.tail(MAX_LINES).rows()) if len(table.names) > 1 else ()


def caution_of_sums(words: tuple[str, ...]) -> str:
    """What to do about rows that begin so, for people; empty for none."""
    if not words:
        return ""
    return (
        f"The last rows begin with {list_names([repr(word) for word in words])}, as sums below a table do: "
        "they count as persons, and their sums as values. Take them out of the file if they are nobody's."
    )
