"""Random change of categories by a matrix of probabilities: drawing, and what an attacker makes of it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import GAP, text_of
from anonymizer.releases.guarantee import MAX_EPSILON, Guarantee
from anonymizer.risk.candidates import Candidates, IntervalCandidates, LabelCandidates, compose_steps
from anonymizer.tables.provenance import Dependence
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Bool = NDArray[np.bool_]
Float = NDArray[np.float64]
Int = NDArray[np.int64]

_ROUNDING: Final = 1e-12
MAX_VALUES: Final = 5_000
"""Of a column: a matrix has the square of so many entries, 200 MB, and a few are held at once."""


def domain(table: Table, column: str) -> tuple[NDArray[Any], Int]:
    """The values that a matrix is about: the declared categories, else those that the column has.

    Where a missing cell counts as a value (`missing = "value"`), that is a declared category too, whether or
    not a cell is missing: no cell decides it.

    Args:
        table: no cell of the column is missing.
        column: the column.

    Returns:
        The values, shape (d,), and how many rows have each.

    Raises:
        TableError: a cell holds another value than the declared ones, or there are too many for a matrix.
    """
    codes = table.codes(column)
    values, declared = codes.values, table.schema.of(column)
    if declared.categories is not None:
        gap = (GAP,) if declared.missing == "value" and GAP not in declared.categories else ()
        values = np.array([*declared.categories, *gap], dtype=object)
    checked_size(column, len(values))
    places = {value: place for place, value in enumerate(values.tolist())}
    known = [places.get(value, -1) for value in codes.values.tolist()]
    if -1 in known:
        raise TableError(
            f"Column {column!r} has the value {text_of(codes.values[known.index(-1)])!r}, which is not among "
            "its declared categories.",
            "Correct the cell or the declaration.",
        )
    return values, np.bincount(np.array(known, dtype=np.int64)[codes.codes], minlength=len(values))


def domain_provenance(table: Table, column: str) -> Dependence:
    """What decides the values of `domain`: declared categories, else all cells of the column.

    Bounds of numbers and the type of truth values do not list what there is: which of them a matrix has, and
    so what a cell may become, the cells of others decide.
    """
    given = table.provenance[column]
    listed = table.schema.of(column).categories is not None
    return given.domain if listed else given.domain | given.content.spread()


def of_one_cell(column: str, matrix: Float, method: str) -> tuple[Guarantee, ...]:
    """The local differential privacy of one cell that is drawn by a matrix which no cell has made.

    Args:
        column: the column.
        matrix: as in `draw_values`.
        method: the word of the step.

    Returns:
        One guarantee; none if the loss is infinite or too large to protect anything.
    """
    epsilon = loss(matrix)
    if not epsilon <= MAX_EPSILON:
        return ()
    said = "The drawing is in double precision, so that probabilities are right to about 2**-53."
    return (
        Guarantee("local-dp", {"epsilon": epsilon, "delta": 0.0}, "cell", (column,), "replace", said, method),
    )


def checked_size(column: str, values: int) -> None:
    """Check that a matrix of all pairs of values fits into memory.

    Raises:
        TableError: there are more than `MAX_VALUES`.
    """
    if values > MAX_VALUES:
        raise TableError(
            f"Column {column!r} has {values:,} different values; the matrix of all pairs is made of "
            f"{MAX_VALUES:,} at most.",
            "Generalize it before, or name other columns.",
        )


def draw_values(
    table: Table, column: str, values: NDArray[Any], matrix: Float, random: Randomness
) -> NDArray[Any]:
    """A new value for each cell.

    Args:
        table: the table; no cell of the column is missing.
        column: the column.
        values: the values that the matrix knows, shape (d,).
        matrix: of each value the probabilities of all, rows add up to 1, shape (d, d).
        random: where from.

    Returns:
        The cells, shape (n,).

    Raises:
        TableError: a cell holds a value that the matrix does not know; names it.
    """
    codes = table.codes(column)
    places = {value: place for place, value in enumerate(values.tolist())}
    for value in codes.values.tolist():
        if value not in places:
            raise TableError(
                f"Column {column!r} has the value {text_of(value)!r}, which the method has not seen.",
                "Fit it on a table that has the value.",
            )
    known = np.array([places[value] for value in codes.values.tolist()], dtype=np.int64)
    bounds = np.cumsum(matrix, axis=1)
    bounds[:, -1] = 1.0
    rows = known[codes.codes]
    uniform = random.uniform(len(table))
    # each row's bounds shifted by its number make one increasing sequence to search in
    flat = (bounds + np.arange(len(values))[:, None]).reshape(-1)
    found = np.searchsorted(flat, uniform + rows, side="right")
    chosen: NDArray[Any] = values[np.minimum(found - rows * len(values), len(values) - 1)]
    return chosen


def simulated_labels(
    candidates: Candidates, values: NDArray[Any], matrix: Float, confidence: float
) -> LabelCandidates:
    """What values may have become.

    Args:
        candidates: before; labels that the matrix does not know stay as they are, of intervals only the
            values that it knows count.
        values: the values that the matrix knows, shape (d,).
        matrix: as in `draw_values`.
        confidence: T. An outcome is a candidate with high confidence if those at least as likely as it add up
            to at most T (erratum 14), and the likeliest always; others of positive probability with low.
    """
    likely = _at_least_as_likely(matrix) <= confidence + _ROUNDING
    likely |= matrix >= matrix.max(axis=1, keepdims=True)
    likely &= matrix > 0
    return propagate_candidates(candidates, values, likely, matrix > 0)


def propagate_candidates(
    candidates: Candidates, values: NDArray[Any], likely: Bool, possible: Bool
) -> LabelCandidates:
    """Where known values lead from the candidates that there are.

    Args:
        candidates: before; labels that are not known stay as they are, of intervals only known values count.
        values: the known ones, shape (d,).
        likely: which of them each becomes with high confidence, shape (d, d).
        possible: the same at all; contains `likely`.
    """
    if isinstance(candidates, IntervalCandidates):
        candidates = LabelCandidates(values, *candidates.holds(values))
    places = {value: place for place, value in enumerate(values.tolist())}
    strange = [label for label in candidates.labels.tolist() if label not in places]
    labels = np.empty(len(values) + len(strange), dtype=object)
    labels[:] = [*values.tolist(), *strange]
    columns = {label: place for place, label in enumerate(labels.tolist())}
    high = np.zeros((len(candidates.labels), len(labels)), dtype=np.bool_)
    low = high.copy()
    for row, label in enumerate(candidates.labels.tolist()):
        if label in places:
            high[row, : len(values)] = likely[places[label]]
            low[row, : len(values)] = possible[places[label]]
        else:
            high[row, columns[label]] = low[row, columns[label]] = True
    return LabelCandidates(labels, compose_steps(candidates.high, high), compose_steps(candidates.low, low))


def loss(matrix: Float) -> float:
    """The epsilon of local differential privacy of one cell: the largest log ratio of two rows of a matrix.

    Args:
        matrix: as in `draw_values`.

    Returns:
        At least 0; infinite where an outcome is possible for one value and not for another.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(matrix)
    possible = np.isfinite(logs).any(axis=0)
    logs = logs[:, possible]
    return float((logs.max(axis=0) - logs.min(axis=0)).max(initial=0.0))


def _at_least_as_likely(matrix: Float) -> Float:
    """Of each outcome the probability of all that are at least as likely, in each row."""
    order = np.argsort(-matrix, axis=1, kind="stable")
    falling = np.take_along_axis(matrix, order, axis=1)
    reached = np.cumsum(falling, axis=1)
    # outcomes that are as likely as each other have one sum: that of the last of them
    for place in range(matrix.shape[1] - 2, -1, -1):
        tied = falling[:, place] - falling[:, place + 1] <= _ROUNDING
        reached[tied, place] = reached[tied, place + 1]
    found = np.empty_like(matrix)
    np.put_along_axis(found, order, reached, axis=1)
    return found
