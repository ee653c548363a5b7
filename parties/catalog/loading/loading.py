"""Loading declared columns: every row is read and checked, or nothing is returned."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from commons.errors import near
from parties.catalog.columns import persons
from parties.catalog.columns.cells import is_missing, parser
from parties.catalog.columns.hints import hint
from parties.catalog.columns.missing import Cells, Mask, MissingCellError, Piece, missing_cells
from parties.catalog.columns.vectors import Values, join
from parties.catalog.declarations.declaration import DatasetDeclaration
from parties.catalog.loading.loaded import Loaded
from parties.catalog.loading.opening import batches
from parties.catalog.sources.batch import Batch, Place
from parties.errors import DataError
from smc.analyses.studies.columns import Column
from smc.pieces import each

ROW_LIMIT: Final = 100_000_000
"""More rows than any job can hold in memory are refused while reading."""

PIECE_ROWS: Final = 1 << 16
"""About so many rows of a data set are in memory at a time where rows are read in pieces."""


def load(
    dataset: DatasetDeclaration,
    columns: Iterable[str],
    secret: bytes | None = None,
    keeping: Iterable[str] = (),
) -> Loaded:
    """Read columns of a data set.

    Args:
        dataset: the declaration.
        columns: declared columns to read.
        secret: 16 to 64 bytes for the hashes of `Loaded.identities`; None leaves them out. A data set that
            declares neither person nor key has none: what tells its rows apart could change with them.
        keeping: columns whose rows with missing cells are kept, and marked, where the declaration leaves such
            rows out. Those of the data set's key and person are not.

    Raises:
        DataError: a column is missing, a key or person cell is empty, a key came before, or a cell is
            missing where it may not be, unparsable or outside its bounds, or a key or person cell is not of
            its column's type; names file, column and row, never the value.
        ConfigError: a library that the source needs is not installed.
    """
    reading = _Reading(
        dataset, _declared_columns(dataset, columns), hashed=secret is not None, keeping=frozenset(keeping)
    )
    for batch in each(batches(dataset, reading.sources), 1):
        reading.add(batch)
    return reading.load(secret)


def load_pieces(
    dataset: DatasetDeclaration, columns: Iterable[str], keeping: Iterable[str] = ()
) -> Iterator[Loaded]:
    """Read columns of a data set, some rows after the others, in memory that does not grow with them.

    Each row is read and checked as by `load`, so the pieces one after the other are what that returns.

    Args:
        dataset: the declaration, without key and person: these compare each row with all before it.
        columns: as of `load`.
        keeping: as of `load`.

    Returns:
        The pieces in the order of the source; at least one, the last without rows if there are none.

    Raises:
        ConfigError: as `load`.
        DataError: as `load`; after pieces, if it is of a later row.
    """
    reading = _Reading(dataset, _declared_columns(dataset, columns), hashed=False, keeping=frozenset(keeping))
    for batch in each(batches(dataset, reading.sources), 1):
        reading.add(batch)
        if reading.held >= PIECE_ROWS:
            yield reading.take()
    yield reading.take()


def count_rows(dataset: DatasetDeclaration) -> int:
    """Read and check all declared columns of a data set.

    Returns:
        The number of rows.

    Raises:
        DataError: as `load`.
    """
    return load(dataset, dataset.columns).rows


class _Reading:
    """A data set while it is being read, batch by batch."""

    def __init__(
        self, dataset: DatasetDeclaration, wanted: Sequence[str], *, hashed: bool, keeping: frozenset[str]
    ) -> None:
        self._dataset = dataset
        declared = [dataset.columns[column] for column in wanted]
        self._cells = [Cells(column) for column in declared if column.constant is None]
        self._constant = [column for column in declared if column.constant is not None]
        self._pieces: list[list[Piece]] = [[] for _ in self._cells]
        self._named = dict.fromkeys(dataset.key, "key")
        self._named = dict.fromkeys(dataset.person, "person") | self._named
        self._hashed = dataset.naming if hashed else ()
        self._keeping = keeping.difference(self._named)
        read = [cells.column.name for cells in self._cells]
        self.sources = list(dict.fromkeys([*read, *self._named, *self._hashed]))
        self._keys = persons.Distinct()
        self._places: list[Place] = []
        self._rows = 0
        self._kept: list[Mask] = []
        self._dropped = {column: 0 for column in self.sources if self._drops(column)}
        self._imputed = {c.column.name: 0 for c in self._cells if c.column.missing == "impute"}
        self._people: list[Hashable] = []
        self._hashes: list[Hashable] = []
        self._aliases: dict[Hashable, Hashable] = {}

    def add(self, batch: Batch) -> None:
        """Read and check one batch."""
        cells = dict(zip(self.sources, batch.columns, strict=True))
        self._places.append(batch.place)
        named = {column: missing_cells(cells[column], self._tokens(column)) for column in self._named}
        texts = {column: self._texts(column, cells[column], mask, batch) for column, mask in named.items()}
        keys = persons.labels([texts[column] for column in self._dataset.key]) if self._dataset.key else []
        pieces = [column.quick(cells[column.column.name]) for column in self._cells]
        known = [piece for piece in pieces if piece is not None]
        allowed = all(self._drops(column) or not mask.any() for column, mask in named.items())
        if len(known) < len(pieces) or not allowed or not self._new_keys(keys, named, batch.rows):
            known = self._closely(cells, keys, batch)
        self._rows += batch.rows
        if self._rows > ROW_LIMIT:
            raise DataError(f"{self._dataset.place} has more than {ROW_LIMIT} rows.", "Split it.")
        if self._rows > self._dataset.maximum_rows:
            raise DataError(
                f"{self._dataset.place} has more than {self._dataset.maximum_rows} rows, the most that the "
                "catalog declares.",
                f"Raise maximum_rows below [{self._dataset.table}] in the catalog, to a number that may be "
                "known.",
            )
        kept = self._keep(known, named, batch.rows)
        self._name(texts, cells, kept)

    @property
    def held(self) -> int:
        """How many rows have been read since the last were taken."""
        return sum(map(len, self._kept))

    def take(self) -> Loaded:
        """What was read since the last time, which is then forgotten."""
        found = self.load(None)
        self._pieces = [[] for _ in self._cells]
        self._kept, self._places = [], []
        self._dropped, self._imputed = dict.fromkeys(self._dropped, 0), dict.fromkeys(self._imputed, 0)
        return found

    def load(self, secret: bytes | None) -> Loaded:
        """Everything that was read."""
        kept = np.concatenate([np.empty(0, np.bool_), *self._kept])
        rows = int(np.count_nonzero(kept))
        columns = {}
        for cells, pieces in zip(self._cells, self._pieces, strict=True):
            values = join([piece.values for piece in pieces], cells.column)
            if rows < len(kept):
                values = _keep(values, kept)
            columns[cells.column.name] = Column(values, cells.column.schema)
        for column in self._constant:
            values = join([cast(Values, [parser(column)(column.constant)] * rows)], column)
            columns[column.name] = Column(values, column.schema)
        hashes = aliases = None
        if secret is not None and self._hashed:
            once = dict.fromkeys(self._hashes)
            hashes = persons.identities(once if self._dataset.person else self._hashes, secret)
            others = {form: label for form, label in self._aliases.items() if form not in once}
            aliases = persons.aliases(others, secret)
        missing = {
            cells.column.name: np.concatenate(
                [
                    np.zeros(len(piece.values), np.bool_) if piece.missing is None else piece.missing
                    for piece in pieces
                ]
                or [np.empty(0, np.bool_)]
            )[kept]
            for cells, pieces in zip(self._cells, self._pieces, strict=True)
            if cells.column.name in self._keeping and cells.column.missing == "drop"
        }
        return Loaded(
            columns=columns,
            rows=rows,
            left_out=len(kept) - rows,
            dropped=self._dropped,
            imputed=self._imputed,
            persons=self._persons(),
            identities=hashes,
            numbers=np.flatnonzero(kept) + 1 if rows < len(kept) else None,
            aliases=aliases,
            missing=missing,
        )

    def _persons(self) -> NDArray[np.int64] | None:
        """Which rows are about the same person, as `Loaded.persons`; of none more than are declared."""
        if not self._dataset.person:
            return None
        found = persons.number_labels(self._people)
        most = self._dataset.maximum_rows_per_person
        if most is not None and len(found) and int(np.bincount(found).max()) > most:
            raise DataError(
                f"{self._dataset.place} has more than {most} rows about one person, the most that the "
                "catalog declares.",
                f"Raise maximum_rows_per_person below [{self._dataset.table}] in the catalog.",
            )
        return found

    def _drops(self, column: str) -> bool:
        declared = self._dataset.columns.get(column)
        return declared is not None and declared.missing == "drop"

    def _tokens(self, column: str) -> tuple[str, ...]:
        declared = self._dataset.columns.get(column)
        return declared.tokens if declared else self._dataset.dialect.writing.missing_tokens

    def _texts(self, column: str, cells: Sequence[Any], missing: Mask, batch: Batch) -> Sequence[str]:
        """What the cells of a key or person column are compared by."""
        declared = self._dataset.columns.get(column)
        kind = persons.kind_of(declared)
        found = persons.texts(cells, kind, declared.writing if declared else self._dataset.dialect.writing)
        if None not in found:
            return cast(Sequence[str], found)
        for row, text in enumerate(found):
            if text is None and not missing[row]:
                raise DataError(
                    f"{self._dataset.place}, {batch.place[row]}: the {self._named[column]} cell of column "
                    f"{column!r} is not a {kind}, as the catalog declares.",
                    hint(self._dataset.entry(column), declared, cells[row])
                    if declared
                    else "Correct the cell, or declare the column in the catalog.",
                )
        return [text or "" for text in found]

    def _new_keys(self, labels: Sequence[Hashable], named: Mapping[str, Mask], rows: int) -> bool:
        if not self._dataset.key:
            return True
        there = ~np.any([named[column] for column in self._dataset.key], axis=0)
        numbers: Sequence[int] = range(self._rows, self._rows + rows)
        if not there.all():
            labels, numbers = list(compress(labels, there)), list(compress(numbers, there))
        return self._keys.add(labels, numbers)

    def _keep(
        self,
        pieces: Sequence[Piece],
        named: Mapping[str, Mask],
        rows: int,
    ) -> Mask:
        """Hold what was read, and note which rows stay."""
        dropped = {column: mask for column, mask in named.items() if self._drops(column)}
        imputed = {}
        for own, column, piece in zip(self._pieces, self._cells, pieces, strict=True):
            own.append(piece)
            if piece.missing is not None and column.column.missing == "drop":
                if column.column.name in self._keeping:
                    continue
                dropped[column.column.name] = piece.missing
            elif piece.missing is not None:
                imputed[column.column.name] = piece.missing
        kept: Mask = ~np.any([np.zeros(rows, np.bool_), *dropped.values()], axis=0)
        self._kept.append(kept)
        for name, mask in dropped.items():
            self._dropped[name] += int(np.count_nonzero(mask))
        for name, mask in imputed.items():
            self._imputed[name] += int(np.count_nonzero(mask & kept))
        return kept

    def _name(
        self, texts: Mapping[str, Sequence[str]], cells: Mapping[str, Sequence[Any]], kept: Mask
    ) -> None:
        """Note whom the rows that stay are about, and how these would be called otherwise."""
        for names, labels in ((self._dataset.person, self._people), (self._hashed, self._hashes)):
            if names:
                labels.extend(compress(persons.labels([texts[name] for name in names]), kept))
        if self._hashed:
            plain = [[text or "" for text in persons.texts(cells[name], "text")] for name in self._hashed]
            own = persons.labels([texts[name] for name in self._hashed])
            for forms in (plain, [persons.by_number(column) for column in plain]):
                for label, form in compress(zip(own, persons.labels(forms), strict=True), kept):
                    if form != label:
                        self._aliases.setdefault(form, label)

    def _closely(
        self, cells: Mapping[str, Sequence[Any]], labels: Sequence[Hashable], batch: Batch
    ) -> list[Piece]:
        """Read a batch row by row, for its values or the first reason against it."""
        values: list[list[int | str | None]] = [[] for _ in self._cells]
        for row in range(batch.rows):
            where = f"{self._dataset.place}, {batch.place[row]}"
            if self._is_named(cells, row, where) and labels:
                first = self._keys.first(labels[row], self._rows + row)
                if first != self._rows + row:
                    raise DataError(
                        f"{where}: the key in {' and '.join(map(repr, self._dataset.key))} came before, in "
                        f"{self._place(first)}.",
                        "Keep one of the rows.",
                    )
            for column, held in zip(self._cells, values, strict=True):
                name = column.column.name
                try:
                    held.append(column.exact(cells[name], row))
                except MissingCellError:
                    raise DataError(
                        f"{where}: the cell of column {name!r} is empty.",
                        f'Fill it, or write missing = "drop" or impute = "VALUE" below '
                        f"[{self._dataset.entry(name)}].",
                    ) from None
                except ValueError as problem:
                    raise DataError(
                        f"{where}: the cell of column {name!r} {problem}.",
                        hint(self._dataset.entry(name), column.column, cells[name][row]),
                    ) from None
        return [column.piece(held) for column, held in zip(self._cells, values, strict=True)]

    def _is_named(self, cells: Mapping[str, Sequence[Any]], row: int, where: str) -> bool:
        """Whether a row has all cells of its key; refuses it if it lacks one that it must have."""
        complete = True
        for column, what in self._named.items():
            if is_missing(cells[column][row], self._tokens(column)):
                if not self._drops(column):
                    raise DataError(
                        f"{where}: the {what} cell of column {column!r} is empty.", f"Give the row a {what}."
                    )
                complete = complete and what != "key"
        return complete

    def _place(self, row: int) -> str:
        """Where a row stands, by its index in the whole data set."""
        batch = bisect_right(self._places, row + 1, key=lambda place: place.first) - 1
        place = self._places[batch]
        return place[row + 1 - place.first]


def _declared_columns(dataset: DatasetDeclaration, columns: Iterable[str]) -> list[str]:
    wanted = list(dict.fromkeys(columns))
    for column in wanted:
        if column not in dataset.columns:
            raise DataError(
                f"Data set {dataset.name!r} declares no column {column!r}.",
                near(column, list(dataset.columns)),
            )
    return wanted


def _keep(values: Values, kept: Mask) -> Values:
    if isinstance(values, np.ndarray):
        return values[kept]
    return cast(Values, list(compress(values, kept)))
