"""The local columns of a job as they were read, and what is counted and checked of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from parties.catalog.loading import Loaded
from parties.contracts.spec import Side
from parties.errors import DataError
from smc.analyses.studies.columns import MARK, PERSONS, Column, Data, Schema, missing_mark
from smc.forms import Role

Moduli = Mapping[Role, int]
"""The Paillier N of each party."""


@dataclass(frozen=True, slots=True)
class LocalData:
    """The local data of a job.

    Attributes:
        columns: the columns by their names in the job, and `PERSONS` where the data set declares them.
        notes: what was done about missing cells, for the local people.
        identities: hashes of the local persons, or of rows; None if not asked for.
        numbers: where the rows stand in the source, counted from 1; None if no row was left out.
        aliases: other hashes of the persons, see `parties.catalog.loading.Loaded`.
    """

    columns: Data = field(repr=False)
    notes: tuple[str, ...] = ()
    identities: NDArray[np.void] | None = field(default=None, repr=False)
    numbers: NDArray[np.int64] | None = field(default=None, repr=False)
    aliases: NDArray[np.void] | None = field(default=None, repr=False)


def count_rows(data: Data) -> int:
    """The number of rows of loaded columns; 0 without any."""
    return max((len(column) for column in data.values()), default=0)


def count_persons(data: Data) -> int:
    """The number of persons whom loaded columns are about; of rows where the data set declares no persons."""
    return len(np.unique(data[PERSONS].array)) if PERSONS in data else count_rows(data)


def columns_of(side: Side, loaded: Loaded) -> dict[str, Column]:
    """The columns by their names in the job, and the marks of those whose missing cells were kept."""
    found = {name: loaded.columns[column] for name, column in side.columns.items()}
    marks = {
        missing_mark(name): Column(loaded.missing[column].astype(np.int64), MARK)
        for name, column in side.columns.items()
        if column in loaded.missing
    }
    return found | marks


def with_persons(data: Data, loaded: Loaded) -> Data:
    """The columns, and whom their rows are about where the data set declares it."""
    if loaded.persons is None:
        return data
    return {**data, PERSONS: Column(loaded.persons, Schema("integer", lower=0, unit="persons"))}


def check_residues(side: Side, name: str, column: Column, role: Role, moduli: Moduli) -> None:
    """Check shares modulo a Paillier N, and ciphertexts under the peer's key, against the real keys.

    Raises:
        DataError: a value is too large for its key; says in which row.
    """
    if column.schema.kind == "ciphertext":
        bound = moduli[role.other] ** 2
    elif column.schema.kind == "share" and not column.schema.modulus.isdigit():
        bound = moduli[Role(column.schema.modulus)]
    else:
        return
    for row, value in enumerate(column.values, 1):
        if value >= bound:
            raise DataError(
                f"Data set {side.dataset!r}, row {row}: the cell of column {side.columns[name]!r} is too "
                "large for the key that it belongs to.",
                "Check that the column was made with the keys of these two parties.",
            )
