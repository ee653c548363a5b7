"""What was read of the columns of a frame: tables of one frame share it, for pipelines make many of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw

from anonymizer.schema.columns import Schema
from anonymizer.tables.dialect import Kind
from anonymizer.tables.encoding import Codes
from commons.tabular.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Readings:
    """Columns of a frame as they were read.

    Attributes:
        frame: the frame; None if nothing was read of any.
        schema: what is declared of its columns.
        numbers_in: as in `Table`.
        dialect: as in `Table`.
        wrapped: columns as they lie in the frame.
        read: columns of texts as the numbers that they are, or the reverse.
        coded: columns as codes.
        made: what functions have made of columns, by function and column.
    """

    frame: nw.DataFrame[Any] | None = field(default=None, repr=False)
    schema: Schema = field(default_factory=Schema, repr=False)
    numbers_in: Mapping[str, Kind] = field(default_factory=dict, repr=False)
    dialect: Dialect | None = field(default=None, repr=False)
    wrapped: dict[str, nw.Series[Any]] = field(default_factory=dict, repr=False)
    read: dict[str, nw.Series[Any]] = field(default_factory=dict, repr=False)
    coded: dict[str, Codes] = field(default_factory=dict, repr=False)
    made: dict[tuple[Callable[..., Any], str], Any] = field(default_factory=dict, repr=False)

    def holds(
        self,
        frame: nw.DataFrame[Any],
        schema: Schema,
        numbers_in: Mapping[str, Kind],
        dialect: Dialect | None,
    ) -> bool:
        """Whether a table of these attributes reads every column in the same way."""
        return (
            self.frame is frame
            and (self.schema is schema or self.schema == schema)
            and (self.numbers_in is numbers_in or self.numbers_in == numbers_in)
            and (self.dialect is dialect or self.dialect == dialect)
        )

    def take(self, other: Readings, names: Iterable[str]) -> None:
        """Take over some columns, which are the same in the other frame and declared alike."""
        some = set(names)
        for name in some:
            for own, theirs in ((self.wrapped, other.wrapped), (self.read, other.read)):
                if name in theirs:
                    own[name] = theirs[name]
            if name in other.coded:
                self.coded[name] = other.coded[name]
        self.made.update({key: one for key, one in other.made.items() if key[1] in some})
