"""Each record before and after, with its risk: for the steward's eyes only, since it holds the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.measures.risk.simulator import looked_for, records_at_once
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.risk.classes import class_sizes, classes_of
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]

SIMULATOR: Final = "simulator"
PROSECUTOR: Final = "prosecutor"


@dataclass(frozen=True, slots=True)
class RecordRisks:
    """The records of the original, those in most danger first.

    Attributes:
        rows: where each stands in the original, from 0, shape (n,).
        alike: released rows of its class, itself included, or persons where these have several; 0 if it was
            not released, shape (n,).
        risks: the chance that its row is found, in [0, 1]; 0 if it was not released, shape (n,).
        measure: what the risks are of: "simulator" or "prosecutor".
        why: why it is not the simulator, the end of a sentence; else "".
        before: of each quasi-identifier the cells as texts, None where one is missing.
        after: the same of the release; None also where the row or the column was not released.
    """

    rows: Int = field(repr=False)
    alike: Int = field(repr=False)
    risks: Float = field(repr=False)
    measure: str
    why: str
    before: dict[str, list[str | None]] = field(repr=False)
    after: dict[str, list[str | None]] = field(repr=False)

    def frame(self) -> pl.DataFrame:
        """A row for each record, numbered from 1 as below the first line of the file."""
        columns: dict[str, Any] = {
            "row": self.rows + 1,
            "released": ["yes" if count else "no" for count in self.alike.tolist()],
            "alike": self.alike,
            "risk": self.risks,
            "measure": [self.measure] * len(self.rows),
        }
        for name, cells in self.before.items():
            columns |= {f"{name} before": cells, f"{name} after": self.after[name]}
        return pl.DataFrame(columns)

    def first(self, count: int) -> list[dict[str, Any]]:
        """The first records as plain JSON values."""
        return [
            {
                "row": int(self.rows[place]) + 1,
                "released": bool(self.alike[place]),
                "alike": int(self.alike[place]),
                "risk": float(self.risks[place]),
                "before": {name: cells[place] for name, cells in self.before.items()},
                "after": {name: cells[place] for name, cells in self.after.items()},
            }
            for place in range(min(count, len(self.rows)))
        ]


def record_risks(original: Table, release: Table, pipeline: Pipeline) -> RecordRisks:
    """The risk of each record, and its quasi-identifiers before and after.

    The simulator measures where it knows all steps and can look for all records at once; else a record's risk
    is 1 / the released rows alike, or their persons, as of a prosecutor. Which row became which is what the
    pipeline knows, so that shuffled, sampled and suppressed rows are told apart.

    Args:
        original: with quasi-identifiers.
        release: what the pipeline has made of it last.
        pipeline: that made it.

    Raises:
        TableError: there are no quasi-identifiers, or the released rows stem from nobody.
    """
    names = original.roles.quasi_identifiers
    if not names:
        raise TableError("No quasi-identifiers are declared.", "Say what an attacker may know of a person.")
    if pipeline.origin_ is None:
        raise TableError(
            "The rows of the release are nobody's: no record has become one of them.",
            "Leave out what shows records before and after; the report measures such a release.",
        )
    place = np.full(len(original), -1, dtype=np.int64)
    place[pipeline.origin_] = np.arange(len(release))
    released = place >= 0
    kept = [name for name in release.roles.quasi_identifiers if name in release.names]
    classes, count = classes_of(release, kept)
    alike = np.where(released, class_sizes(release, classes, count)[classes][place], 0)
    why = _why_unsimulated(original, release, pipeline)
    risks = np.divide(1.0, alike, out=np.zeros(len(original)), where=released)
    if not why:
        risks = looked_for(original, release, pipeline).simulation.risks
    order = np.lexsort((np.arange(len(original)), alike, -risks))
    return RecordRisks(
        rows=order,
        alike=alike[order],
        risks=risks[order],
        measure=PROSECUTOR if why else SIMULATOR,
        why=why,
        before={name: list(_texts(original, name, order)) for name in names},
        after={name: list(_texts(release, name, place[order])) for name in names},
    )


def _why_unsimulated(original: Table, release: Table, pipeline: Pipeline) -> str:
    """Why the simulator does not measure all records; "" if it does."""
    if pipeline.unsimulated:
        return f"the attack simulator does not know {', '.join(pipeline.unsimulated)}"
    if records_at_once(release) < len(original):
        return "the attack simulator would take too long for all records"
    return ""


def _texts(table: Table, name: str, rows: Int) -> Iterator[str | None]:
    """The cells of some rows; None for missing ones, for rows at -1, and if the table lacks the column."""
    if name not in table.names:
        yield from [None] * len(rows)
        return
    codes = table.codes(name)
    texts: Sequence[str | None] = [*map(text_of, codes.values.tolist()), None]
    held = np.append(codes.codes, -1)
    yield from (texts[code] for code in held[rows].tolist())
