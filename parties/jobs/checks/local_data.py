"""The local columns of a job as they were read, and what is counted and checked of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeGuard

import numpy as np
from numpy.typing import NDArray

from parties.catalog.declarations.declaration import DatasetDeclaration
from parties.catalog.loading.loaded import Loaded, notes_of
from parties.contracts.spec import Side
from parties.errors import DataError
from smc.analyses.studies.adding_up import AddsUp
from smc.analyses.studies.columns import MARK, PERSONS, Column, Data, Schema, missing_mark
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.study import Estimate, Study
from smc.analyses.studies.totals import SummedRows
from smc.forms import Role

Moduli = Mapping[Role, int]
"""The Paillier N of each party."""


ADDED_UP: Final = Memory(125 * MEBI, 2)
"""Of a party whose rows are added up as they are read; measured with Parquet, see docs/benchmarks.md."""


@dataclass(frozen=True, slots=True)
class LocalData:
    """The local data of a job.

    Attributes:
        columns: the columns by their names in the job, and `PERSONS` where the data set declares them.
        notes: what was done about missing cells, for the local people.
        identities: hashes of the local persons, or of rows; None if not asked for.
        numbers: where the rows stand in the source, counted from 1; None if no row was left out.
        aliases: other hashes of the persons, see `parties.catalog.loading.loaded.Loaded`.
    """

    columns: Data = field(repr=False)
    notes: tuple[str, ...] = ()
    identities: NDArray[np.void] | None = field(default=None, repr=False)
    numbers: NDArray[np.int64] | None = field(default=None, repr=False)
    aliases: NDArray[np.void] | None = field(default=None, repr=False)


def count_rows(data: Data) -> int:
    """The number of rows that were read; 0 without any columns."""
    return data.rows if isinstance(data, SummedRows) else count_held(data)


def count_held(data: Data) -> int:
    """The number of rows in memory; 0 where totals were kept instead, and without any columns."""
    return max((len(column) for column in data.values()), default=0)


def count_persons(data: Data) -> int:
    """The number of persons whom loaded columns are about; of rows where the data set declares no persons."""
    return len(np.unique(data[PERSONS].array)) if PERSONS in data else count_rows(data)


def with_reading(estimate: Estimate, rows: int, held: int | None) -> Estimate:
    """An estimate by the rows in memory, with what reading takes where rows are added up instead.

    Args:
        estimate: of a run over the rows in memory.
        rows: how many there are.
        held: how many of them are in memory; None for all.
    """
    if estimate.memory is None or held is None or held >= rows:
        return estimate
    # The rows are read before the run begins.
    return replace(estimate, memory=max(estimate.memory, ADDED_UP.at(rows)))


def columns_of(side: Side, loaded: Loaded) -> dict[str, Column]:
    """The columns by their names in the job, and the marks of those whose missing cells were kept."""
    found = {name: loaded.columns[column] for name, column in side.columns.items()}
    marks = {
        missing_mark(name): Column(loaded.missing[column].astype(np.int64), MARK)
        for name, column in side.columns.items()
        if column in loaded.missing
    }
    return found | marks


def can_add_up(study: Study, dataset: DatasetDeclaration, side: Side) -> TypeGuard[AddsUp]:
    """Whether a study needs totals alone, and rows need not be compared with others to be read.

    Keys and persons are compared; shares and ciphertexts are checked against keys by their rows.
    """
    declared = (dataset.columns.get(column) for column in side.columns.values())
    kinds = {column.schema.kind for column in declared if column is not None}
    compared = dataset.key or dataset.person
    return isinstance(study, AddsUp) and not compared and kinds.isdisjoint(("share", "ciphertext"))


def added_up(
    study: AddsUp,
    dataset: DatasetDeclaration,
    side: Side,
    keeping: Iterable[str],
    read: Callable[[DatasetDeclaration, Iterable[str], Iterable[str]], Iterator[Loaded]],
) -> LocalData:
    """What a study adds up of the rows of a data set while they are read, none of which is kept.

    Args:
        study: the study.
        dataset: without key and person.
        side: the local part of the job.
        keeping: as of `parties.catalog.loading.loading.load`, which says what is raised.
        read: reads it in pieces, as `parties.catalog.reading.Reader.load_pieces`.
    """
    changes: list[Loaded] = []

    def pieces() -> Iterator[Data]:
        for piece in read(dataset, side.columns.values(), keeping):
            changes.append(replace(piece, columns={}, numbers=None, missing={}))
            yield columns_of(side, piece)

    totals = study.totals(pieces())
    return LocalData(totals, notes_of(changes))


def with_persons(data: Data, loaded: Loaded) -> Data:
    """The columns, and whom their rows are about where the data set declares it."""
    if loaded.persons is None:
        return data
    return {**data, PERSONS: Column(loaded.persons, Schema("integer", lower=0, unit="persons"))}


def check_residues(side: Side, data: Data, role: Role, moduli: Moduli | None) -> None:
    """Check shares modulo a Paillier N, and ciphertexts under the peer's key, against given keys.

    Raises:
        DataError: a value is too large for its key; says in which row.
    """
    for name, column in data.items() if moduli is not None else ():
        _check_residues(side, name, column, role, moduli or {})


def _check_residues(side: Side, name: str, column: Column, role: Role, moduli: Moduli) -> None:
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
