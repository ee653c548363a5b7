"""The dialect of a data set, and of a column that is written in another way, from the catalog."""

from __future__ import annotations

from collections.abc import Iterator

from commons.settings.table import StrictTable
from commons.tabular.dialect import ABOVE_CHOICES, CHOICES, Dialect, Fault, Writing, has_digits_only


def parse_writing(table: StrictTable, default: Writing) -> Writing:
    """Read how cells are written, from the table of a data set or of a column.

    Args:
        table: keys that are missing in it stay as in `default`.
        default: of the data set, for the table of a column.

    Raises:
        DuettoError: of the table's class; an entry is impossible.
    """
    writing = Writing(
        table.text("decimal", default.decimal),
        table.text("thousands", default.thousands),
        table.text("date_format", default.date_format),
        table.texts("missing_tokens", default.missing_tokens),
        table.choice("below_limit", CHOICES, default.below_limit),
        table.text("suffix", default.suffix),
        table.choice("above_limit", ABOVE_CHOICES, default.above_limit),
        table.text("prefix", default.prefix),
    )
    _check(table, writing.faults())
    if writing.date_format and not has_digits_only(writing.date_format):
        raise table.fail(
            "date_format",
            f"{writing.date_format!r} does not identify a day: it needs %d, %m and %Y once each",
            'For example: date_format = "%d.%m.%Y"; %H, %M, %S may follow.',
        )
    return writing


def parse_dialect(table: StrictTable) -> Dialect:
    """Read the form of a source, from the table of its data set.

    Raises:
        DuettoError: of the table's class; an entry is impossible.
    """
    writing = parse_writing(table, Writing())
    dialect = Dialect(table.text("delimiter", ""), table.text("encoding", "utf-8"), writing)
    _check(table, dialect.faults())
    return dialect


def _check(table: StrictTable, faults: Iterator[Fault]) -> None:
    for key, what, hint in faults:
        raise table.fail(key, what, hint)
