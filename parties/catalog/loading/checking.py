"""Whether a data set is as declared: its counts, or else all of its faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from commons.tabular.cells import lost_by_limits
from parties.catalog.declarations.declaration import DatasetDeclaration
from parties.catalog.loading.described import count_document
from parties.catalog.loading.loading import load
from parties.catalog.loading.survey import Fault, survey
from parties.errors import DataError


@dataclass(frozen=True, slots=True)
class Checked:
    """What reading every row of a data set has shown.

    Attributes:
        counts: rows, persons and missing cells; None where the data are not as declared.
        error: what stops a job, None where nothing does.
        faults: all that is wrong, with examples for the people of this party alone; empty also where the
            source cannot be read at all.
    """

    counts: dict[str, Any] | None
    error: DataError | None = None
    faults: Sequence[Fault] = ()


def check_dataset(dataset: DatasetDeclaration) -> Checked:
    """Read a data set whole."""
    try:
        return Checked(count_document(load(dataset, dataset.columns)))
    except DataError as error:
        try:
            return Checked(None, error, survey(dataset).faults)
        except DataError:
            return Checked(None, error)


def beyond_limits(dataset: DatasetDeclaration) -> dict[str, str]:
    """Of columns of numbers that take cells such as `<0.2` or `>200` for missing ones, what that loses."""
    found = {}
    for column in dataset.columns.values():
        lost = lost_by_limits(column.tokens)
        if lost and column.type in ("integer", "decimal"):
            found[column.name] = lost
    return found


def unconfirmed_columns(dataset: DatasetDeclaration) -> list[str]:
    """The columns that jobs cannot use yet, since nobody stands for their bounds or labels."""
    return [column.name for column in dataset.columns.values() if not column.is_confirmed]
