"""What only the steward may see: each record before and after, printed, or in a file of their own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from anonymizer.cli.output import check_writable, options

if TYPE_CHECKING:
    from anonymizer.pipelines.pipeline import Pipeline
    from anonymizer.report.records import RecordRisks
    from anonymizer.tables.table import Table

COLUMNS: Final = 80
"""Of a terminal."""


record_options = options(
    click.option(
        "--records",
        "records_path",
        type=click.Path(path_type=Path),
        help="For your eyes only: risk and quasi-identifiers of each record before and after, .csv or "
        ".parquet, readable by you alone. It holds personal data.",
    ),
    click.option(
        "--top",
        type=click.IntRange(min=1),
        metavar="N",
        help="Print the N records in most danger, before and after. It prints personal data.",
    ),
)
"""`--records` and `--top`."""


@dataclass(frozen=True, slots=True)
class RecordsShown:
    """What is asked for.

    Attributes:
        path: of the file, or None.
        top: how many are printed, or None.
    """

    path: Path | None
    top: int | None

    def __bool__(self) -> bool:
        return self.path is not None or self.top is not None

    def check(self, data: Path, output: Path) -> None:
        """Check before long work where the file would lie.

        Raises:
            FileError: it cannot be written, or would lie beside the release or below its folder.
        """
        from anonymizer.errors import FileError

        if self.path is None:
            return
        check_writable(self.path)
        folder, released, source = (place.resolve().parent for place in (self.path, output, data))
        # whoever gives the folder of the release away gives away what is below it too
        beside_source = source.is_relative_to(released) and folder.is_relative_to(source)
        if folder.is_relative_to(released) and not beside_source:
            raise FileError(
                f"{self.path} holds personal data and would lie beside the release, or below its folder.",
                "Name a file in another folder, such as that of the original.",
            )

    def measure(self, original: Table, release: Table, pipeline: Pipeline) -> RecordRisks | None:
        """As `record_risks`; None if nothing is asked for.

        Raises:
            TableError: no record can be shown beside what it became.
        """
        if not self:
            return None
        from anonymizer.report.records import record_risks

        return record_risks(original, release, pipeline)

    def show(self, found: RecordRisks | None) -> tuple[dict[str, Any], list[str]]:
        """Write and print what is asked for, once the release is out.

        Returns:
            What was done as JSON values, and as lines.

        Raises:
            FileError: the file cannot be written.
        """
        from anonymizer.tables.private import write_private

        if found is None:
            return {}, []
        values: dict[str, Any] = {
            "records": self.path and str(self.path),
            "records_measure": found.measure,
            "records_why": found.why,
        }
        lines: list[str] = []
        if self.path is not None:
            write_private(found.frame(), self.path)
            lines.append(f"{self.path}: each record before and after; personal data, readable by you alone")
        if self.top is not None:
            values["top"] = found.first(self.top)
            lines += _lines(found, self.top)
        return values, lines


def _lines(found: RecordRisks, count: int) -> list[str]:
    """The first records, beside each other if the terminal is wide enough, else below each other."""
    why = f", since {found.why}" if found.why else ""
    shown = found.first(count)
    head = f"the {len(shown):,} records in most danger, by the {found.measure}{why} (personal data):"
    names = list(found.before)
    rows = [["row", "alike", "risk", *map(printable, names)]]
    for one in shown:
        cells = [_change(one["before"][name], one["after"][name], one["released"]) for name in names]
        rows.append([f"{one['row']:,}", f"{one['alike']:,}", f"{one['risk']:.3g}", *cells])
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) <= COLUMNS:
        return [head, *(_align(row, widths) for row in rows)]
    lines = [head]
    for row in rows[1:]:
        lines.append(f"row {row[0]}: {row[1]} alike, risk {row[2]}")
        lines += [f"  {name}: {cell}" for name, cell in zip(rows[0][3:], row[3:], strict=True)]
    return lines


def _align(row: list[str], widths: list[int]) -> str:
    from rich.cells import set_cell_size

    cells = [set_cell_size(cell, width) for cell, width in zip(row, widths, strict=True)]
    return "  ".join(cells).rstrip()


def _change(before: str | None, after: str | None, released: bool) -> str:
    old = "(empty)" if before is None else printable(before)
    if not released:
        return f"{old} → (none)"
    new = "(empty)" if after is None else printable(after)
    return old if old == new else f"{old} → {new}"


def printable(text: str) -> str:
    """A text on one line, without what a terminal would obey."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
