"""Rows at the end of a table that are nobody's: sums and counts of those above, as exports write them."""

from __future__ import annotations

from anonymizer.errors import list_names
from anonymizer.tables.table import Table
from commons.tabular.footers import MAX_LINES, sums_below


def sums_of(table: Table) -> tuple[str, ...]:
    """How the last rows begin that look like sums below the table; nothing where none does.

    An empty text for a last row that begins otherwise, of which half of the cells are the only empty ones of
    their columns.
    """
    if len(table.names) < 2:
        return ()
    words = sums_below(table.frame.tail(MAX_LINES).rows())
    return words or (("",) if _ends_alone(table) else ())


def _ends_alone(table: Table) -> bool:
    last = len(table) - 1
    if last < MAX_LINES:
        return False
    alone = sum((gaps := table.missing(name))[last] and gaps.sum() == 1 for name in table.names)
    return bool(len(table.names) <= 2 * alone < 2 * len(table.names))


def caution_of_sums(words: tuple[str, ...]) -> str:
    """What to do about rows that begin so, for people; empty for none."""
    if not words:
        return ""
    if words == ("",):
        return (
            "The last row has cells in few columns, and all others have one in each: it looks like a sum or "
            "a note below the table, and counts as a person. Take it out of the file if it is nobody's."
        )
    return (
        f"The last rows begin with {list_names([repr(word) for word in words])}, as sums below a table do: "
        "they count as persons, and their sums as values. Take them out of the file if they are nobody's."
    )
