"""The columns of a job as one party holds them, and what both may know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from smc.errors import DomainError, UsageError

DAYS: Final = "days since 1970-01-01"
"""The unit of columns that hold dates, as whole numbers."""


@dataclass(frozen=True, slots=True)
class Schema:
    """What both parties may know of a column: its declaration, never its content.

    Attributes:
        kind: `integer`, `decimal`, `category`, `text`, `share` or `ciphertext`.
        scale: digits after the point of a decimal; values are held multiplied by 10**scale.
        lower: least value, in held units (already multiplied by 10**scale).
        upper: greatest value, in held units.
        categories: the labels of a category column; values are held as indices into it.
        modulus: modulus of a share column, a positive integer in decimal, or `alice` or `bob` for the
            Paillier N of that party; empty for other kinds.
        unit: the unit of measurement, for people; `DAYS` makes a column of integers one of dates.
    """

    kind: str
    scale: int = 0
    lower: int | None = None
    upper: int | None = None
    categories: tuple[str, ...] = ()
    modulus: str = ""
    unit: str = ""

    @property
    def is_date(self) -> bool:
        """Whether the column holds dates, as days since 1970-01-01."""
        return self.kind == "integer" and self.unit == DAYS


@dataclass(frozen=True, slots=True)
class Column:
    """A column as one party holds it, with its schema.

    Attributes:
        values: integers in held units, an int64 array where they fit 63 bits; texts of a `text` column.
        schema: its declaration.
    """

    values: Sequence[int] | NDArray[np.int64] | Sequence[str] = field(repr=False)
    schema: Schema

    def __len__(self) -> int:
        return len(self.values)

    @property
    def integers(self) -> Sequence[int]:
        """The values as Python integers.

        Raises:
            UsageError: they are texts.
        """
        if isinstance(self.values, np.ndarray):
            found: list[int] = self.values.tolist()
            return found
        if self.schema.kind == "text":
            raise UsageError(
                "A column of texts is used where numbers are needed.", "Declare it as integer or decimal."
            )
        return cast(Sequence[int], self.values)

    @property
    def array(self) -> NDArray[np.int64]:
        """The values as an int64 array, shape (n,).

        Raises:
            UsageError: they are texts.
            DomainError: a value does not fit 63 bits.
        """
        if isinstance(self.values, np.ndarray):
            return self.values
        try:
            return np.array(self.integers, dtype=np.int64)
        except OverflowError:
            raise DomainError(
                "A value does not fit into 63 bits.", "Use smaller values, and declare narrower bounds."
            ) from None

    @property
    def texts(self) -> Sequence[str]:
        """The values of a column of kind `text`.

        Raises:
            UsageError: they are numbers.
        """
        if self.schema.kind != "text":
            raise UsageError("A column of numbers is used where texts are needed.", "Declare it as text.")
        return cast(Sequence[str], self.values)


Data = Mapping[str, Column]
"""The local columns of a job under the names that the job gives them."""

MARK: Final = Schema("integer", lower=0, upper=1)
"""Of a column of marks, see `missing_mark`."""


def missing_mark(column: str) -> str:
    """The name in `Data` of a column's marks: 1 where its cell is missing, else 0.

    They are there where a study keeps such rows (`Facts.keeps_missing`); the cell itself then holds anything.
    """
    return f"@missing {column}"


PERSONS: Final = "@persons"
"""The name in `Data` of the numbers, from 0, that show which rows are about the same person; own numbers of a
party, meaningless to the other. It is missing where the data set declares no person column: then each row is
a person of its own."""
