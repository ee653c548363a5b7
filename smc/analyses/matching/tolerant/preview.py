"""What a side sees of its own rows before a tolerant matching."""

from __future__ import annotations

from smc.analyses.disclosure.persons import check_one_row_each
from smc.analyses.matching.tolerant.coverage import Coverage
from smc.analyses.matching.tolerant.parameters import TolerantParameters
from smc.analyses.matching.tolerant.records import Texts, layouts, rank_layouts
from smc.analyses.studies.columns import PERSONS, Data
from smc.analyses.studies.study import Preview
from smc.numeric.shapes import of_shape


def check_persons(parameters: TolerantParameters, data: Data) -> None:
    """Check that rows are persons where epsilon counts them.

    Raises:
        DomainError: two rows are about one person.
    """
    if parameters.histogram is not None:
        check_one_row_each(data[PERSONS].array if PERSONS in data else None)


@of_shape(lambda parameters, texts, rows: Preview())
def preview_rows(parameters: TolerantParameters, texts: Texts, rows: int) -> Preview:
    """What is known of the local rows when nothing is known of the other side's."""
    if not rows:
        return Preview()
    placed = (
        rank_layouts(parameters, texts)
        if parameters.ranks
        else layouts(parameters, texts, parameters.buckets((rows,)))
    )
    coverage = Coverage.of(parameters, placed, rows)
    refusal = None if parameters.accept_overflow else coverage.refusal
    return Preview(coverage.notes, coverage.details, refusal)
