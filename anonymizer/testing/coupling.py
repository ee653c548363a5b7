"""A check of what a method says its cells are made of: two tables that differ in one cell, and one chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Final
from unittest.mock import patch

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.errors import AnonymizerError, ConformanceError
from anonymizer.hierarchies.correlation import CorrelationHierarchy
from anonymizer.hierarchies.intervals import EqualFrequencyHierarchy
from anonymizer.methods.contract.method import Method
from anonymizer.schema.columns import Schema
from anonymizer.tables.provenance import Dependence
from anonymizer.tables.table import Table
from anonymizer.testing.demands import Make
from anonymizer.testing.people import DECLARED, people

_ROW: Final = 30
"""The row in which a cell is changed."""
_SEED: Final = 20
_DRAWING: Final = "anonymizer.methods.perturbation"


def cells_are_made_of_what_is_said(make: Make) -> None:
    """If one cell of the original changes, nothing changes in the release but what is said to depend on it.

    Both runs draw the same numbers: by `random_state`; noise of `anonymizer.dp` is left out. A method that
    draws otherwise cannot be looked at so, and passes.
    """
    for declared in _declarations():
        before = people().reset_index(drop=True)
        first = _release(make, before, declared)
        if first is None or _differing(first, _release(make, before, declared)):
            continue
        for column in before.columns if declared is DECLARED else declared["schema"]:
            for after in _change_cell(before, column):
                second = _release(make, after, declared)
                if second is not None:
                    _check_change(first, second, column)


class _Released:
    """A release, cell by cell.

    Args:
        method: after its run.
        table: the release.
    """

    def __init__(self, method: Method, table: Table) -> None:
        self.provenance = table.provenance
        self.nobody = method.origin_ is None
        self.rows: Sequence[int] = range(len(table)) if method.origin_ is None else method.origin_.tolist()
        self.cells = {name: dict(zip(self.rows, _texts(table, name), strict=True)) for name in table.names}
        self.further = {name: _texts(extra, name) for extra in method.extra_.values() for name in extra.names}


def _texts(table: Table, name: str) -> list[str]:
    return [str(cell) for cell in table.frame[name].to_list()]


def _declarations() -> Iterator[Mapping[str, Any]]:
    """As it is declared; with hierarchies that are built of the cells; without categories."""
    yield DECLARED
    learned = {"age": EqualFrequencyHierarchy([4, 2]), "city": CorrelationHierarchy("illness", [2])}
    yield {**DECLARED, "hierarchies": learned}
    schema = Schema({name: replace(one, categories=None) for name, one in DECLARED["schema"].items()})
    yield {**DECLARED, "schema": schema}


def _change_cell(frame: pd.DataFrame, column: str) -> Iterator[pd.DataFrame]:
    """The frame with another value, and with none, in one cell of a column."""
    cells = frame[column]
    others = cells.dropna()
    for value in (others[others != cells[_ROW]].iloc[0], None):
        fresh = cells.convert_dtypes() if cells.dtype.kind in "iu" else cells.copy()
        fresh[_ROW] = value
        yield frame.assign(**{column: fresh})


def _release(make: Make, frame: pd.DataFrame, declared: Mapping[str, Any]) -> _Released | None:
    """A release whose chance is the same each time; None if it is refused."""
    method = make()
    if "random_state" in method.get_params():
        method.set_params(random_state=_SEED)
    with ExitStack() as stack:
        for place, quiet in _QUIET.items():
            stack.enter_context(patch(f"{_DRAWING}.{place}", quiet))
        try:
            return _Released(method, method.fit_transform_table(Table.of(frame, **declared)))
        except AnonymizerError:
            return None


def _still(distribution: str, scale: float, *, whole: bool) -> Callable[[list[float]], list[float]]:
    """In place of `anonymizer.dp.noise.mechanism`."""
    del distribution, scale, whole
    return lambda cells: cells


def _exact(means: NDArray[Any], changes: NDArray[Any], *rest: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """In place of `anonymizer.dp.centroids.noisy`."""
    del rest
    return means, changes


def _commonest(counts: NDArray[Any], epsilon: float) -> NDArray[Any]:
    """In place of `anonymizer.dp.centroids.choose_categories`."""
    del epsilon
    return np.asarray(counts.argmax(axis=1))


_QUIET: Final[Mapping[str, Any]] = {
    "dp_noise.mechanism": _still,
    "microaggregation.noisy": _exact,
    "microaggregation.choose_categories": _commonest,
}


def _differing(first: _Released, second: _Released | None) -> bool:
    return second is None or (first.cells, first.further) != (second.cells, second.further)


def _check_change(first: _Released, second: _Released, column: str) -> None:
    """Check that what differs between two releases depends on the changed cell, as the method says."""
    found, rows = first.provenance, first.provenance.rows
    for gone in set(first.rows) ^ set(second.rows):
        _demand(rows, column, gone == _ROW and not first.nobody, "Which rows there are")
    both = set(first.rows) & set(second.rows)
    if [one for one in first.rows if one in both] != [one for one in second.rows if one in both]:
        _demand(rows, column, False, "The order of the rows")
    for name, cells in first.cells.items():
        for place in sorted(both):
            if cells[place] != second.cells.get(name, {}).get(place):
                _demand(
                    found[name].content, column, place == _ROW and not first.nobody, f"A cell of {name!r}"
                )
    for name, listed in first.further.items():
        if listed != second.further.get(name):
            _demand(found[name].content, column, False, f"Column {name!r} of a further table")


def _demand(said: Dependence, column: str, own: bool, what: str) -> None:
    """Demand that a dependence names a column: of all rows, unless that of its own row is enough."""
    seen = {one.rows for one in said.sources if one.column == column}
    if "all" not in seen and not (own and seen):
        where = "of its row" if own else "of another row"
        raise ConformanceError(
            f"{what} changes with the cell of {column!r} {where}, and `provenance` says: {said.describe()}.",
            f"Let it say so, such as table.provenance.content({column!r}){'' if own else '.spread()'}.",
        )
