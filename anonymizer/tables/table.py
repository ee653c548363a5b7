"""A table as methods see it: a pandas or Polars frame with roles, hierarchies and the origin of its rows.

Frames go in and come out as what they are: columns that no method touches keep their dtype, rows their order
and, in pandas, their index. Narwhals speaks to both libraries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.tables.roles import Roles, near

if TYPE_CHECKING:
    from anonymizer.hierarchies.hierarchy import Hierarchy

Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Codes:
    """A column as numbers: row i holds `values[codes[i]]`.

    Attributes:
        values: the distinct values, sorted; an object array for texts.
        codes: shape (n,); -1 where the cell is missing.
    """

    values: NDArray[Any] = field(repr=False)
    codes: Int = field(repr=False)


@dataclass(frozen=True, slots=True)
class Table:
    """A frame and what is known of it.

    Attributes:
        frame: the frame, as narwhals wraps it.
        roles: of its columns.
        hierarchies: of some columns, by name.
        origin: where each row stood in the table that was first given, shape (n,).
    """

    frame: nw.DataFrame[Any] = field(repr=False)
    roles: Roles
    hierarchies: Mapping[str, Hierarchy]
    origin: Int = field(repr=False)

    @classmethod
    def of(
        cls, frame: Any, roles: Roles | None = None, hierarchies: Mapping[str, Hierarchy] | None = None
    ) -> Self:
        """Wrap a frame.

        Args:
            frame: of pandas or Polars, eager.
            roles: of its columns; None is all other.
            hierarchies: by column.

        Raises:
            TableError: it is no frame, or two columns have one name.
            RoleError: a role names a column that is not there.
        """
        try:
            wrapped = nw.from_native(frame, eager_only=True)
        except TypeError:
            raise TableError(
                f"{type(frame).__name__} is no table.", "Give a pandas or a Polars data frame."
            ) from None
        names = wrapped.columns
        for name in names:
            if not isinstance(name, str) or names.count(name) > 1:
                raise TableError(f"Column {name!r} is no text, or comes twice.", "Rename it.")
        given = roles or Roles()
        given.check(names)
        return cls(wrapped, given, dict(hierarchies or {}), np.arange(len(wrapped)))

    @property
    def native(self) -> Any:
        """The frame as the library of the user has it."""
        return self.frame.to_native()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.frame.columns)

    def __len__(self) -> int:
        return len(self.frame)

    def require(self, column: str) -> None:
        """Check that a column is there.

        Raises:
            TableError: it is not; names the nearest.
        """
        if column not in self.frame.columns:
            raise TableError(f"The table has no column {column!r}.", near(column, self.names))

    def series(self, column: str) -> nw.Series[Any]:
        """A column as narwhals wraps it."""
        self.require(column)
        return self.frame[column]

    def is_numeric(self, column: str) -> bool:
        """Whether a column holds numbers; truth values do not count."""
        return bool(self.series(column).dtype.is_numeric())

    def missing(self, column: str) -> NDArray[np.bool_]:
        """Which cells hold nothing: null or NaN, shape (n,)."""
        series = self.series(column)
        gaps = series.is_null()
        if series.dtype.is_float():
            gaps = gaps | series.is_nan().fill_null(value=True)
        return np.asarray(gaps.to_numpy(), dtype=np.bool_)

    def numbers(self, column: str) -> NDArray[np.float64]:
        """A numeric column in double precision, NaN where a cell is missing.

        Raises:
            TableError: it holds something else, or a number is infinite.
        """
        if not self.is_numeric(column):
            raise TableError(
                f"Column {column!r} holds no numbers.", "Name a numeric column, or convert it before."
            )
        found = np.asarray(self.series(column).cast(nw.Float64).to_numpy(), dtype=np.float64)
        endless = np.flatnonzero(np.isinf(found))
        if len(endless):
            raise TableError(
                f"Column {column!r} has an infinite number in row {int(endless[0]) + 1}.",
                "Replace it, or leave the cell empty.",
            )
        return found

    def codes(self, column: str) -> Codes:
        """A column as codes; texts, categories, truth values and dates by their Python values."""
        missing = self.missing(column)
        series = self.series(column)
        codes = np.full(len(self), -1, dtype=np.int64)
        kept = series.filter(~missing) if missing.any() else series
        if self.is_numeric(column):
            values, codes[~missing] = np.unique(kept.to_numpy(), return_inverse=True)
            return Codes(values, codes)
        if isinstance(series.dtype, nw.Categorical | nw.Enum):
            kept = kept.cast(nw.String)
        cells = np.empty(len(kept), dtype=object)
        cells[:] = kept.to_list()
        found = sorted(set(cells.tolist()), key=lambda value: (type(value).__name__, value))
        places = {value: place for place, value in enumerate(found)}
        codes[~missing] = np.fromiter((places[cell] for cell in cells), dtype=np.int64, count=len(cells))
        values = np.empty(len(found), dtype=object)
        values[:] = found
        return Codes(values, codes)

    def complete(self, columns: tuple[str, ...]) -> None:
        """Check that no cell of the columns is missing.

        Raises:
            TableError: names the first column and row that miss one.
        """
        for column in columns:
            gaps = np.flatnonzero(self.missing(column))
            if len(gaps):
                raise TableError(
                    f"Column {column!r} has {len(gaps)} missing cells, the first in row {int(gaps[0]) + 1}.",
                    "Fill them, drop the rows, or put the step suppress-missing before.",
                )

    def taken(self, rows: Int) -> Table:
        """Some rows, in the given order."""
        return replace(self, frame=self.frame[rows, :], origin=self.origin[rows])

    def replaced(self, columns: Mapping[str, Any]) -> Table:
        """Other cells for some columns, an array or list of n each; they keep their places.

        Texts become the text type of the library; None is a missing cell.
        """
        space = self.frame.implementation
        made = [_series(name, cells, space) for name, cells in columns.items()]
        fresh = self.frame.with_columns(*(self._aligned(series) for series in made))
        return replace(self, frame=fresh)

    def permuted(self, columns: Mapping[str, Int]) -> Table:
        """The cells of some columns in another order, dtypes kept: row i gets the cell of row order[i]."""
        moved = [self.frame[column][order.tolist()] for column, order in columns.items()]
        return replace(self, frame=self.frame.with_columns(*(self._aligned(series) for series in moved)))

    def _aligned(self, series: nw.Series[Any]) -> nw.Series[Any]:
        """The series with the index of the frame, which pandas would otherwise align by."""
        if not self.frame.implementation.is_pandas():
            return series
        native = series.to_native()
        native.index = self.native.index
        return nw.from_native(native, series_only=True)

    def without(self, columns: tuple[str, ...]) -> Table:
        """The table without some columns and their roles."""
        frame = self.frame.drop(list(columns))
        return replace(self, frame=frame, roles=self.roles.among(frame.columns))


def _series(name: str, cells: Any, space: Any) -> nw.Series[Any]:
    if isinstance(cells, np.ndarray) and cells.dtype != object:
        return nw.new_series(name, cells, backend=space)
    listed = list(cells)
    texts = all(cell is None or isinstance(cell, str) for cell in listed)
    return nw.new_series(name, listed, nw.String if texts else None, backend=space)
