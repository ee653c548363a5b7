"""What was read of a data set, or of some of its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from parties.catalog.columns.missing import Mask
from smc.analyses.studies.columns import Column


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was read of a data set.

    Attributes:
        columns: the asked columns by name, all of the same length, values in held units.
        rows: how many rows they have.
        left_out: how many rows were left out, since a cell was missing.
        dropped: missing cells that had a row left out, by column.
        imputed: missing cells that were replaced, by column.
        persons: numbers from 0 that tell which rows are about the same person; None if each row is about
            another.
        identities: 16-byte hashes of the persons in the order of their numbers, or, by the key, of the rows;
            None if not asked for, or where the data set declares neither person nor key.
        numbers: where the rows stand in the source, counted from 1; None if no row was left out.
        missing: of the columns whose rows with missing cells were to be kept, which cells are missing, shape
            (rows,) each; there the column holds anything.
        aliases: for cells that would have another hash if they were compared otherwise (`0007` as a text, as
            a number), that hash and the one in `identities`; shape (cells, 2). None if not asked for.
    """

    columns: Mapping[str, Column] = field(repr=False)
    rows: int
    left_out: int
    dropped: Mapping[str, int]
    imputed: Mapping[str, int]
    persons: NDArray[np.int64] | None = field(repr=False)
    identities: NDArray[np.void] | None = field(repr=False)
    numbers: NDArray[np.int64] | None = field(repr=False)
    aliases: NDArray[np.void] | None = field(default=None, repr=False)
    missing: Mapping[str, Mask] = field(default_factory=dict, repr=False)

    @property
    def people(self) -> int:
        """How many different persons the rows are about."""
        if self.persons is None:
            return self.rows
        return int(self.persons.max(initial=-1)) + 1

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done about missing cells, for the local people."""
        return notes_of([self])


def notes_of(pieces: Sequence[Loaded]) -> tuple[str, ...]:
    """What was done about missing cells in all pieces of a data set, for the local people."""
    left_out = sum(piece.left_out for piece in pieces)
    dropped, imputed = Counter[str](), Counter[str]()
    for piece in pieces:
        dropped.update(piece.dropped)
        imputed.update(piece.imputed)
    notes = []
    if left_out:
        where = ", ".join(f"{column} ({count})" for column, count in dropped.items() if count)
        notes.append(f"Rows of this party left out since a cell is missing: {left_out}; by column: {where}.")
    if any(imputed.values()):
        where = ", ".join(f"{column} ({count})" for column, count in imputed.items() if count)
        notes.append(f"Missing cells of this party replaced by the catalog's value, by column: {where}.")
    return tuple(notes)
