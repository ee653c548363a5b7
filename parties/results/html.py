"""Tables and remarks as HTML of bounded size, every text escaped, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final

from parties.results.tables import ResultTable, TableView, show_table
from parties.texts import escape_unprintable

ROWS: Final = 40
TABLES: Final = 20
COLUMNS: Final = 40
LETTERS: Final = 300
"""What is shown of a result at most: rows of a table, tables, columns, and characters of a text."""

_NUMBER: Final = ' style="text-align:right;white-space:nowrap"'


def escape_text(value: object) -> str:
    """A text for a page: cut, visible and escaped."""
    text = escape_unprintable(str(value))
    return escape(text if len(text) <= LETTERS else text[: LETTERS - 1] + "…")


def tables_html(tables: Sequence[ResultTable]) -> str:
    """The first rows of the first tables."""
    parts = [table_html(show_table(table, most=ROWS)) for table in tables[:TABLES]]
    return "".join([*parts, *_more(len(tables) - TABLES, "tables")])


def table_html(table: TableView) -> str:
    """A table as it is shown, with the number of rows and columns that are not."""
    styles = [_NUMBER if head.is_number else "" for head in table.heads[:COLUMNS]]
    heads = "".join(
        f'<th scope="col"{style}>{escape_text(head.text)}</th>'
        for head, style in zip(table.heads, styles, strict=False)
    )
    rows = "".join(
        "<tr>"
        + "".join(f"<td{style}>{escape_text(cell)}</td>" for cell, style in zip(row, styles, strict=False))
        + "</tr>"
        for row in table.rows
    )
    body = f"<table><caption>{escape_text(table.name)}</caption><tr>{heads}</tr>{rows}</table>"
    return "".join([body, *_more(table.left, "rows"), *_more(len(table.heads) - COLUMNS, "columns")])


def facts_html(caption: str, facts: Mapping[str, object]) -> str:
    """Names and values as a table."""
    rows = "".join(
        f'<tr><th scope="row">{escape_text(name)}</th><td>{escape_text(value)}</td></tr>'
        for name, value in facts.items()
    )
    return f"<table><caption>{escape_text(caption)}</caption>{rows}</table>"


def list_html(lines: Iterable[str]) -> str:
    """Remarks as a list; empty if there are none."""
    items = "".join(f"<li>{escape_text(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _more(count: int, what: str) -> list[str]:
    return [f"<p>{count} more {what}</p>"] if count > 0 else []
