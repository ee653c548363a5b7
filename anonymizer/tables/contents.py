"""A digest of what a table holds, whatever the order of its rows and columns and the kind of its file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from anonymizer.tables.table import Table

_MODULUS: Final = 1 << 256


@dataclass(slots=True)
class ContentDigest:
    """Adds up rows, chunk by chunk.

    Cells count as texts: `39` of a CSV file is 39 of a Parquet file, and `1.50` is not `1.5`. The rows are
    hashed one by one and added up, so that their order does not count and how often one stands does. It
    recognizes copies that were made without thinking; whoever wants to deceive changes a cell.
    """

    rows: int = 0
    _names: tuple[str, ...] = ()
    _sum: int = field(default=0, repr=False)

    def add(self, table: Table) -> None:
        """Add the rows of a table, of the same columns as those before."""
        frame = table.frame.to_polars()
        self._names = tuple(sorted(frame.columns))
        self.rows += len(frame)
        lines = frame.select(pl.concat_str(_texts(frame, self._names)).alias("row"))["row"].to_list()
        added = sum(int.from_bytes(hashlib.sha256(line.encode()).digest()) for line in lines)
        self._sum = (self._sum + added) % _MODULUS

    def hexadecimal(self) -> str:
        """SHA-256 of the names of the columns, the number of rows and their sum."""
        head = f"{len(self._names)}:{self.rows}:" + "".join(f"{len(name)}:{name}" for name in self._names)
        return hashlib.sha256(head.encode() + self._sum.to_bytes(32)).hexdigest()


def digest_of_content(table: Table) -> str:
    """The digest of a whole table as it was read, in hexadecimal; see `ContentDigest`."""
    found = ContentDigest()
    found.add(table)
    return found.hexadecimal()


def _texts(frame: pl.DataFrame, names: tuple[str, ...]) -> list[pl.Expr]:
    """The cells of the columns as texts, each behind its length, so that no two rows run into one text."""
    return [
        pl.when(cell.is_null())
        .then(pl.lit("-"))
        .otherwise(pl.concat_str(cell.str.len_bytes().cast(pl.String), pl.lit(":"), cell))
        for cell in (_text(frame, name) for name in names)
    ]


def _text(frame: pl.DataFrame, name: str) -> pl.Expr:
    """A cell as a text; lists, bytes and the like as Python writes them."""
    kind, cell = frame.schema[name], pl.col(name)
    if kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Duration):
        return pl.lit(
            pl.Series(name, [None if c is None else repr(c) for c in frame[name].to_list()], pl.String)
        )
    if kind.is_float():
        whole = pl.when(cell == cell.floor()).then(cell).cast(pl.Int64, strict=False).cast(pl.String)
        return whole.fill_null(cell.cast(pl.String))
    return cell.cast(pl.String)
