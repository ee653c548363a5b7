"""By how much means, standard deviations and variances of columns are off.

Reference: the RoD paper, section 3.3.1, Eq. 11 and 12 (which sums over columns, not over records as it says).
The paper uses its Eq. 11 for means too; of a column whose mean is 0 there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.tables.numbers import numbers_of
from anonymizer.tables.table import Table

Moment = Literal["mean", "deviation", "variance"]

_MOMENTS: Final[Mapping[Moment, Callable[[NDArray[Any]], Any]]] = MappingProxyType(
    {"mean": np.mean, "deviation": np.std, "variance": np.var}
)


def moment_errors(
    original: Table, release: Table, columns: Sequence[str], moment: Moment = "variance"
) -> Mapping[str, float]:
    """The relative error of a moment of each column (Eq. 11); the mean over the columns is Eq. 12.

    Args:
        original: at least one row.
        release: at least one row; labels of intervals count as their middle.
        columns: of numbers; missing cells do not count.
        moment: which.

    Returns:
        Of each column |original - release| / |original|; 1 is 100 %.

    Raises:
        TableError: there is no column, one holds no numbers, or the moment of the original is 0.
    """
    if not columns:
        raise TableError("No column of numbers is shared.", "Name columns that hold numbers.")
    found = {}
    for column in columns:
        true, made = (_moment(table, column, moment) for table in (original, release))
        if true == 0:
            raise TableError(
                f"The {moment} of column {column!r} of the original is 0, and no error is relative to that.",
                "Leave the column out.",
            )
        found[column] = abs(true - made) / abs(true)
    return found


def _moment(table: Table, column: str, moment: Moment) -> float:
    numbers = numbers_of(table, column)
    known = np.zeros(0) if numbers is None else numbers[np.isfinite(numbers)]
    if not len(known):
        raise TableError(f"Column {column!r} holds no numbers.", "Leave it out.")
    return float(_MOMENTS[moment](known))
