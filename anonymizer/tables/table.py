"""A table as methods see it: a pandas or Polars frame with roles, hierarchies and the origin of its rows.

Frames go in and come out as what they are: columns that no method touches keep their dtype, rows their order
and, in pandas, their index. Narwhals speaks to both libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import GAP, GapHierarchy, Hierarchy, text_of
from anonymizer.schema.columns import Schema
from anonymizer.tables.dialect import Kind, numbers_of
from anonymizer.tables.encoding import Codes, encode
from anonymizer.tables.headers import RENAME, is_pattern
from anonymizer.tables.order import has_categories, has_order, order_codes, order_of
from anonymizer.tables.persons import PersonRows
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.readings import Readings
from anonymizer.tables.roles import Roles
from commons.errors import near
from commons.tabular.dialect import Dialect

Int = NDArray[np.int64]
T = TypeVar("T")

_KEPT: Final = 20_000_000
"""So many cells of columns, read as numbers or coded, a table keeps."""
_MADE: Final = 1_000_000
"""The same of what others make of them, which may hold a Python object for each."""


@dataclass(frozen=True, slots=True)
class Table:
    """A frame and what is known of it.

    Attributes:
        frame: the frame, as narwhals wraps it.
        roles: of its columns.
        hierarchies: of some columns, by name.
        origin: where each row stood in the table that was first given, shape (n,).
        schema: what is declared of its columns.
        source: the same object in all tables whose rows come from one table that was given, and in no other.
        numbers_in: columns of texts that read as numbers, and of which kind. The frame keeps the texts, so
            that what no method changes is released as it was read.
        dialect: how those texts are written; None if the frame says itself what its columns hold.
        provenance: what its cells were made of.
        persons: whose its rows are, which stays known when the column of persons is gone; None where each row
            is a person of its own, or nobody's.
        readings: what was read of the frame; made from one another, tables that read it alike share it.
    """

    frame: nw.DataFrame[Any] = field(repr=False)
    roles: Roles
    hierarchies: Mapping[str, Hierarchy]
    origin: Int = field(repr=False)
    schema: Schema = field(default_factory=Schema, repr=False)
    source: object = field(default_factory=object, repr=False, compare=False)
    numbers_in: Mapping[str, Kind] = field(default_factory=dict, repr=False)
    dialect: Dialect | None = field(default=None, repr=False)
    provenance: TableProvenance = field(default_factory=TableProvenance, repr=False, compare=False)
    persons: PersonRows | None = field(default=None, repr=False, compare=False)
    readings: Readings = field(default_factory=Readings, repr=False, compare=False)
    _named: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_named", frozenset(self.frame.columns))
        reading = (self.frame, self.schema, self.numbers_in, self.dialect)
        if not self.readings.holds(*reading):
            object.__setattr__(self, "readings", Readings(*reading))

    @staticmethod
    def of(
        frame: Any,
        roles: Roles | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        schema: Schema | None = None,
        *,
        numbers_in: Mapping[str, Kind] | None = None,
        dialect: Dialect | None = None,
    ) -> Table:
        """Wrap a frame.

        Args:
            frame: of pandas or Polars, eager.
            roles: of its columns; None is all other.
            hierarchies: by column.
            schema: what is declared of its columns; None is nothing.
            numbers_in: columns of texts that read as numbers; of a Polars frame.
            dialect: how those texts are written.

        Raises:
            TableError: it is not a frame, two columns have one name, or one is a pattern of names.
            RoleError: a role names a column that is not there.
            SpecError: a column is declared that is not there.
        """
        try:
            wrapped = nw.from_native(frame, eager_only=True)
        except TypeError:
            raise TableError(
                f"{type(frame).__name__} is not a table.", "Give a pandas or a Polars data frame."
            ) from None
        names = wrapped.columns
        for name in names:
            if not isinstance(name, str) or names.count(name) > 1:
                raise TableError(f"The column name {name!r} is not a text, or stands twice.", "Rename it.")
            if is_pattern(name):
                raise TableError(f"The column name {name!r} stands for several columns.", RENAME)
        given = roles or Roles()
        given.check(names)
        declared = schema or Schema()
        declared.check(names)
        made = Table(
            wrapped,
            given,
            {},
            np.arange(len(wrapped)),
            declared,
            numbers_in={n: k for n, k in (numbers_in or {}).items() if declared.of(n).categories is None},
            dialect=dialect,
        )
        return made._with(hierarchies or {})

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
        if column not in self._named:
            raise TableError(f"The table has no column {column!r}.", near(column, self.names))

    def series(self, column: str) -> nw.Series[Any]:
        """A column as narwhals wraps it; texts that read as numbers as numbers.

        Where categories are declared they are texts, whatever the cells look like: no cell decides that.
        """
        self.require(column)
        cells = self.column(column)
        if self.schema.of(column).categories is not None and cells.dtype.is_numeric():
            return self._keep(column, lambda: _texts(cells))
        if self.dialect is None or column not in self.numbers_in:
            return cells
        dialect, kind = self.dialect, self.numbers_in[column]
        return self._keep(
            column,
            lambda: nw.from_native(numbers_of(dialect.writing, cells.to_native(), kind), series_only=True),
        )

    def column(self, column: str) -> nw.Series[Any]:
        """A column as it lies in the frame, texts that read as numbers as texts."""
        found = self.readings.wrapped.get(column)
        if found is None:  # to wrap it costs more than to look at a small one
            if self.frame.implementation.is_pandas():  # where narwhals lists all columns to find one
                found = nw.from_native(self.native[column], series_only=True)
            else:
                found = self.frame[column]
            self.readings.wrapped[column] = found
        return found

    def _keep(self, column: str, read: Callable[[], nw.Series[Any]]) -> nw.Series[Any]:
        """A column as it reads, which is kept of tables that are small."""
        found = self.readings.read.get(column)
        if found is None:
            found = read()
            if len(self) * (len(self.readings.read) + 1) <= _KEPT:
                self.readings.read[column] = found
        return found

    def is_numeric(self, column: str) -> bool:
        """Whether a column holds numbers; truth values do not count."""
        if self.dialect is not None and column in self.numbers_in:
            return True
        return bool(self.series(column).dtype.is_numeric())

    def is_categorical(self, column: str) -> bool:
        """Whether a column holds categories; see `has_categories`."""
        return has_categories(self.series(column), self.schema.of(column))

    def is_ordered(self, column: str) -> bool:
        """Whether the values of a column have an order; see `has_order`."""
        return has_order(self.series(column), self.schema.of(column))

    def missing(self, column: str) -> NDArray[np.bool_]:
        """Which cells hold nothing: null or NaN, shape (n,)."""
        series = self.series(column)
        if series.implementation.is_polars() and series.dtype.is_float():
            return np.isnan(series.to_numpy())  # where a cell is null, too
        if not series.dtype.is_float() and not series.null_count():
            return np.zeros(len(self), dtype=np.bool_)
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
        """A column as codes; texts, categories, truth values and dates by their Python values.

        Values are sorted, those with an order of their own by it; see `order_of`. Of tables that are small
        the codes are kept, since measures ask for them again and again.

        Raises:
            TableError: a cell holds none of the declared categories of an ordered column; names it.
        """
        known = self.readings.coded.get(column)
        if known is None:
            known = self._codes(column)
            if len(self) * (len(self.readings.coded) + 1) <= _KEPT:
                for cells in (known.values, known.codes):
                    cells.flags.writeable = False
                self.readings.coded[column] = known
        return known

    def compute(self, make: Callable[[Table, str], T], column: str) -> T:
        """What a function makes of a column; kept of tables that are small, so that it is not to be changed.

        Args:
            make: looks at nothing but the cells of the column and what is declared of it.
            column: the column.
        """
        found: T | None = self.readings.made.get((make, column))
        if found is None:
            found = make(self, column)
            if len(self) * (len(self.readings.made) + 1) <= _MADE:
                self.readings.made[make, column] = found
        return found

    def _codes(self, column: str) -> Codes:
        missing = self.missing(column)
        found = encode(self.series(column).filter(~missing) if missing.any() else self.series(column))
        order = order_of(self.series(column), self.schema.of(column))
        if order is not None and not self.is_numeric(column):
            found = order_codes(found, order, column)
        if not missing.any():
            return found
        codes = np.full(len(self), -1, dtype=np.int64)
        codes[~missing] = found.codes
        return Codes(found.values, codes)

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

    def take(self, rows: Int) -> Table:
        """Some rows, in the given order; categories that only other rows have are forgotten."""
        frame = self.frame[rows, :]
        if frame.implementation.is_pandas():
            native = frame.to_native()
            named = native.columns[native.dtypes == "category"]
            fresh = {name: native[name].cat.remove_unused_categories() for name in named}
            frame = nw.from_native(native.assign(**fresh) if fresh else native, eager_only=True)
        persons = None if self.persons is None else self.persons.take(rows)
        return replace(self, frame=frame, origin=self.origin[rows], persons=persons)

    def declare(
        self,
        roles: Roles,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        schema: Schema | None = None,
    ) -> Table:
        """The table with roles, hierarchies and declared columns.

        Texts that are declared to be numbers are read as such. Quasi-identifiers are converted to numbers
        where they read so: rows alike in what they mean are alike in what is released. Other texts stay.

        Raises:
            RoleError: a role names a column that is not there.
            SpecError: a column is declared that is not there.
            TableError: a column that is declared to hold numbers has none, or it is not known whose a row is.
        """
        roles.check(self.names)
        known = schema or Schema()
        known.check(self.names)
        kinds = dict(self.numbers_in)
        for name, column in known.items() if self.dialect is not None else ():
            if column.is_number and isinstance(self.frame[name].dtype, nw.String):
                kinds[name] = self._number_kind(name)
            elif column.kind is not None or column.categories is not None:
                kinds.pop(name, None)
        found = replace(self, roles=roles, schema=known, numbers_in=kinds)._of_known_persons()
        return found.convert(roles.quasi_identifiers)._with(hierarchies or {})

    def _with(self, hierarchies: Mapping[str, Hierarchy]) -> Table:
        """The table with hierarchies that fit it, and with `GAP` where a missing cell counts as a value."""
        learned: dict[str, set[str]] = {}

        def cells_for(name: str) -> Callable[[str], tuple[NDArray[Any], Int]]:
            def cells(column: str) -> tuple[NDArray[Any], Int]:
                learned.setdefault(name, set()).add(column)
                codes = self.codes(column)
                return codes.values, codes.codes

            return cells

        fitted = {
            name: one.fit_to(name, cells_for(name), self.schema.of(name).categories or ())
            if name in self.names
            else one
            for name, one in hierarchies.items()
        }
        provenance = TableProvenance.of(self.names, self.schema, learned)
        known = (*self.roles.quasi_identifiers, *self.roles.sensitive)
        filled = {}
        for name in known:
            if self.schema.of(name).missing != "value":
                continue
            if name in fitted:
                fitted[name] = GapHierarchy(fitted[name])
            codes = self.codes(name)
            if (codes.codes < 0).any():
                texts = [text_of(value) for value in codes.values.tolist()]
                gap = texts.index(GAP) if GAP in texts else len(texts)
                labels = np.array([*texts, GAP], dtype=object)
                filled[name] = Codes(labels, np.where(codes.codes < 0, gap, codes.codes))
        table = self.replace(filled) if filled else self
        return replace(table, hierarchies=fitted, provenance=provenance, persons=self._persons())

    def _of_known_persons(self) -> Table:
        """Without rows that say nothing of whose they are, where the column of persons is declared so."""
        column = self.roles.person
        if column is None or self.schema.of(column).missing != "drop":
            return self
        rows = np.flatnonzero(~self.missing(column))
        return self if len(rows) == len(self) else replace(self.take(rows), origin=np.arange(len(rows)))

    def _persons(self) -> PersonRows | None:
        """Whose the rows are, by the column that the roles name.

        Raises:
            TableError: a cell of it is missing.
        """
        column = self.roles.person
        if column is None:
            return self.persons
        gaps = np.flatnonzero(self.missing(column))
        if len(gaps):
            raise TableError(
                f"Column {column!r} does not say whose row {int(gaps[0]) + 1} is.",
                'Fill its cells, or declare it with missing = "drop" below [columns], which leaves the '
                f"{len(gaps):,} rows out: of whom they are, nobody could be counted.",
            )
        return PersonRows(self.codes(column).codes, self.roles.rows_per_person)

    def _number_kind(self, column: str) -> Kind:
        """How the texts of a column that is declared to hold numbers read; of a CSV file.

        A cell that is not a number is missing: whether there is a release must not tell of a single cell.
        """
        cells = self.frame[column].to_native()
        form = self.dialect or Dialect()
        blank = (cells.is_null() | (cells.str.strip_chars() == "")).to_numpy()
        whole = numbers_of(form.writing, cells, "integer").is_null().to_numpy()
        numbers = numbers_of(form.writing, cells, "float").is_null().to_numpy()
        if numbers.all() and not blank.all():
            row = int(np.flatnonzero(~blank)[0])
            raise TableError(
                f"Column {column!r} is declared to hold numbers, and row {row + 1} is {cells[row]!r}.",
                "Correct the declaration in [columns], or decimal and thousands in [csv].",
            )
        return "integer" if np.array_equal(whole, numbers) else "float"

    def convert(self, columns: tuple[str, ...]) -> Table:
        """The table with numbers for the texts of some columns, where they read as numbers."""
        named = [column for column in columns if column in self.numbers_in]
        if not named:
            return self
        fresh = self.frame.with_columns(*(self.series(column) for column in named))
        return self._but(named, replace(self, frame=fresh, numbers_in=_without(self.numbers_in, named)))

    def replace(self, columns: Mapping[str, Any]) -> Table:
        """Other cells for some columns, an array, list or codes of n each; they keep their places.

        Texts become the text type of the library; None is a missing cell.
        """
        if not columns:
            return self
        space = self.frame.implementation
        made = [_series(name, cells, space) for name, cells in columns.items()]
        fresh = self.frame.with_columns(*(self._align(series) for series in made))
        return self._but(columns, replace(self, frame=fresh, numbers_in=_without(self.numbers_in, columns)))

    def permuted(self, columns: Mapping[str, Int]) -> Table:
        """The cells of some columns in another order, dtypes kept: row i gets the cell of row order[i]."""
        if not columns:
            return self
        moved = [self.frame[column][order] for column, order in columns.items()]
        fresh = self.frame.with_columns(*(self._align(series) for series in moved))
        return self._but(columns, replace(self, frame=fresh))

    def _but(self, changed: Collection[str], made: Table) -> Table:
        """A table of the same rows with other cells in some columns: what is known of the rest stays so."""
        rest = [name for name in self.names if name not in changed and name in made.names]
        for name in rest:
            self.column(name)
        made.readings.take(self.readings, rest)
        return made

    def _align(self, series: nw.Series[Any]) -> nw.Series[Any]:
        """The series with the index of the frame, which pandas would otherwise align by."""
        if not self.frame.implementation.is_pandas():
            return series
        native = series.to_native()
        native.index = self.native.index
        return nw.from_native(native, series_only=True)

    @property
    def has_index(self) -> bool:
        """Whether it is a frame of pandas with another index than row numbers."""
        if not self.frame.implementation.is_pandas():
            return False
        index = self.native.index
        return not (type(index).__name__ == "RangeIndex" and index.name is None)

    def renumber(self) -> Table:
        """The table without an index: rows numbered from 0, as pandas does by itself."""
        if not self.frame.implementation.is_pandas():
            return self
        frame = nw.from_native(self.native.reset_index(drop=True), eager_only=True)
        return replace(self, frame=frame)

    def without(self, columns: tuple[str, ...]) -> Table:
        """The table without some columns and their roles."""
        if not columns:
            return self
        frame = self.frame.drop(list(columns))
        kept = frame.columns
        made = replace(
            self,
            frame=frame,
            roles=self.roles.among(kept),
            schema=self.schema.among(kept),
            numbers_in=_without(self.numbers_in, columns),
        )
        return self._but(columns, made)


def _texts(cells: nw.Series[Any]) -> nw.Series[Any]:
    """Numbers as the texts that categories are declared by: 1 for 1 and 1.0."""
    found = encode(cells.drop_nulls())
    texts = {value: text_of(value) for value in found.values.tolist()}
    listed = [None if cell is None or cell != cell else texts[cell] for cell in cells.to_list()]  # noqa: PLR0124
    return nw.new_series(cells.name, listed, nw.String, backend=cells.implementation)


def _without(numbers_in: Mapping[str, Kind], columns: Iterable[str]) -> Mapping[str, Kind]:
    gone = set(columns)
    return {name: kind for name, kind in numbers_in.items() if name not in gone}


def _series(name: str, cells: Any, space: Any) -> nw.Series[Any]:
    if isinstance(cells, Codes):
        return cells.series(name, space)
    if isinstance(cells, np.ndarray) and cells.dtype != object:
        return nw.new_series(name, cells, backend=space)
    listed = list(cells)
    texts = all(cell is None or isinstance(cell, str) for cell in listed)
    return nw.new_series(name, listed, nw.String if texts else None, backend=space)
