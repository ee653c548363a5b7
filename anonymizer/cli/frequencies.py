"""`duetto anonymize frequencies`: how often values occur, before anything is decided."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from anonymizer.cli.output import check_distinct_paths, check_writable, emit, json_option
from anonymizer.cli.records import printable

if TYPE_CHECKING:
    import polars as pl

    from anonymizer.pipelines.spec import Spec
    from anonymizer.risk.frequencies import ValueCounts
    from anonymizer.tables.table import Table

FILE = click.Path(path_type=Path)
K: Final = 5
COLUMNS: Final = 80
"""Of a terminal."""


@click.command("frequencies")
@click.argument("data", type=FILE)
@click.option(
    "--spec", "spec_path", type=FILE, help="Count the columns with a role, by level of hierarchy too."
)
@click.option(
    "--columns",
    "combinations",
    multiple=True,
    metavar="A,B",
    help="Count these columns together, instead; can be given again.",
)
@click.option(
    "-k", "k", type=click.IntRange(min=1), help="Fewer rows are rare; else the least k of the steps, or 5."
)
@click.option(
    "--show", type=click.IntRange(min=2), default=20, show_default=True, help="Print this many values."
)
@click.option(
    "-o", "--output", "output_path", type=FILE, help="All of them, .csv or .parquet, for you alone."
)
@json_option
def frequencies(
    data: Path,
    spec_path: Path | None,
    combinations: tuple[str, ...],
    k: int | None,
    show: int,
    output_path: Path | None,
    as_json: bool,
) -> None:
    """Count how often each value of DATA occurs, and mark the rare ones.

    Output names cells of DATA: treat it like the table. The file can be read by nobody else.
    """
    check_distinct_paths(data, spec_path, output_path)
    check_writable(output_path)

    from anonymizer.pipelines.spec import read as read_spec
    from anonymizer.proposals.dialects import guess_table_dialect
    from anonymizer.risk.frequencies import frequencies as count
    from anonymizer.tables import files
    from anonymizer.tables.private import write_private

    if spec_path is None:
        spec, table = None, guess_table_dialect(data)[1]
    else:
        spec = read_spec(spec_path)
        table = files.table(data, spec.dialect).declare(spec.roles, spec.hierarchies, spec.schema)
    least = k or _least(spec)
    found = [count(table, columns, least) for columns in _combinations(table, combinations)]
    lines = [line for one in found for line in _lines(one, show)]
    if output_path is not None:
        write_private(_frame(found), output_path)
        lines = [_head(one) for one in found]
        lines.append(f"{output_path}: all values; personal data, readable by you alone")
    values = {
        "data": str(data),
        "rows": len(table),
        "k": least,
        "output": output_path and str(output_path),
        "frequencies": [_values(one) for one in found],
    }
    emit(values, lines, as_json=as_json)


def _least(spec: Spec | None) -> int:
    """The least k of the steps, from which on a value is not rare."""
    given = [step["k"] for step in (spec.steps if spec else ()) if isinstance(step.get("k"), int)]
    return min(given, default=K)


def _combinations(table: Table, combinations: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The columns that are counted together.

    Raises:
        BadParameter: an option names none, or one twice.
    """
    if not combinations:
        roles = table.roles
        named = (*roles.quasi_identifiers, *roles.sensitive) or table.names
        return [(name,) for name in named]
    found = []
    for given in combinations:
        # a name may have a comma in it
        names = (given,) if given in table.names else tuple(one.strip() for one in given.split(","))
        if not all(names) or len(set(names)) < len(names):
            raise click.BadParameter(f"{given!r} names no column, or one twice.", param_hint="--columns")
        found.append(names)
    return found


def _head(one: ValueCounts) -> str:
    kind = "values" if len(one.columns) == 1 else "combinations"
    named = ", ".join(map(printable, one.columns))
    return (
        f"{named}: {len(one.counts):,} {kind} in {int(one.counts.sum()):,} rows, {one.rare:,} of fewer than "
        f"{one.k} rows ({one.rare_rows:,} rows)"
    )


def _lines(one: ValueCounts, show: int) -> list[str]:
    """The commonest and the rarest values, and what levels of a hierarchy leave rare."""
    lines = [_head(one)]
    many = len(one.counts)
    places_shown = list(range(many))
    if many > show:
        places_shown = [*range(show - show // 2), *range(many - show // 2, many)]
    before = -1
    for place in places_shown:
        if place != before + 1:
            lines.append(f"{'...':>9}  {place - before - 1:,} more between these")
        before = place
        count = int(one.counts[place])
        text = " | ".join("(empty)" if cell is None else printable(cell) for cell in one.values[place])
        mark = "  rare  " if count < one.k else "  "
        lines.append(_cut(f"{count:9,}{mark}{text}"))
    for number, level in enumerate(one.levels, 1):
        lines.append(
            f"  level {number}: {level.labels:,} label{'' if level.labels == 1 else 's'}, {level.rare:,} of "
            f"fewer than {one.k} rows ({level.rows:,} rows)"
        )
    if one.problem:
        lines.append(f"  hierarchy not looked at: {one.problem}")
    return [*lines, ""]


def _cut(line: str) -> str:
    from rich.cells import cell_len, set_cell_size

    return line if cell_len(line) <= COLUMNS else f"{set_cell_size(line, COLUMNS - 1).rstrip()}…"


def _values(one: ValueCounts) -> dict[str, Any]:
    return {
        "columns": list(one.columns),
        "values": [
            {"cells": list(cells), "rows": count, "rare": count < one.k}
            for cells, count in zip(one.values, one.counts.tolist(), strict=True)
        ],
        "rare": one.rare,
        "rare_rows": one.rare_rows,
        "levels": [{"labels": it.labels, "rare": it.rare, "rare_rows": it.rows} for it in one.levels],
        "problem": one.problem or None,
    }


def _frame(found: list[ValueCounts]) -> pl.DataFrame:
    import polars as pl

    rows = [
        (
            ", ".join(one.columns),
            " | ".join("" if cell is None else cell for cell in cells),
            count,
            count < one.k,
        )
        for one in found
        for cells, count in zip(one.values, one.counts.tolist(), strict=True)
    ]
    schema = {"columns": pl.String, "value": pl.String, "rows": pl.Int64, "rare": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row")
