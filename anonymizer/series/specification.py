"""What is to be released of a log, as a TOML file.

[log]
user = "household"
time = "day"
item = "category"

[[windows]]
start = 2025-01-01
end = 2025-04-01

[factorization]
rank = 10

[[steps]]
method = "mdav"
k = 5
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, cast, get_args

from anonymizer.errors import AnonymizerError, SpecError
from anonymizer.methods.contract.method import Method
from anonymizer.pipelines.parameters import check
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.pipelines.spec import Steps, digest_of, make_method, step_schema
from anonymizer.releases.acceptance import Acceptance
from anonymizer.schema.documents import document_of, table_of
from anonymizer.series.log import Log
from anonymizer.series.matrix import MIN_USERS, Cells, Matrix, Window, matrices
from anonymizer.series.recombined import Recombined
from anonymizer.tables.dialect import read_dialect
from anonymizer.tables.table import Table
from commons.settings.bounds import Between
from commons.settings.marks import Item, Key, Length, Read, UnfitError, Wrong
from commons.settings.reader import Tables, read_declared, schema_of
from commons.settings.shapes import Document
from commons.tabular.dialect import Dialect

_MOMENT: Final[Mapping[str, Any]] = {"type": ["string", "integer", "number"]}
_CELLS: Final = f"Choose one of {', '.join(get_args(Cells))}."
_HIDDEN: Final = ("steps", "columns", "random_state")
"""Parameters of the factorization that are not written in its section."""


def _read_recombined(given: Mapping[str, Any], place: str) -> Recombined:
    known = tuple(name for name in Recombined().get_params(deep=False) if name not in _HIDDEN)
    named = {"kind" if key == "factorization" else key for key in known}
    table_of(given, place).only(named)
    parameters: dict[str, Any] = {
        "factorization" if key == "kind" else key: tuple(value) if isinstance(value, list) else value
        for key, value in given.items()
    }
    check(Recombined, parameters, place)
    method = Recombined(**parameters)
    try:
        method.check()
    except AnonymizerError as problem:
        raise SpecError(f"{place}: {problem.what}", problem.hint) from None
    return method


def _factorization(given: Any, place: str) -> Mapping[str, Any]:
    table = table_of(given, place).table
    _read_recombined(table, place)
    return table


def _moment(value: Any, place: str) -> Any:
    """A moment as the log has them, which is compared with them later."""
    del place
    return value


_Name = Annotated[str, Wrong("is not a text", "Name a column, in quotes.")]


@dataclass(frozen=True, slots=True)
class LogTable:
    """The columns of the log, by what they are.

    Attributes:
        user: whose a line is.
        time: when it was written.
        item: what it is about; or `place` and `cell`.
        amount: how much of it; of items only.
        place: two columns, such as longitude and latitude.
        cell: the width of a cell of places, in their unit.

    Raises:
        SpecError: it has neither items nor places, or both.
    """

    user: _Name
    time: _Name
    item: _Name | None = None
    amount: _Name | None = None
    place: Annotated[
        tuple[str, ...] | None, Length(2, 2), Wrong("is not two columns", 'Write ["longitude", "latitude"].')
    ] = None
    cell: Annotated[float | None, Wrong("is not a number", "Write, for example, 0.01.")] = None

    def __post_init__(self) -> None:
        has_place, has_cell = self.place is not None, self.cell is not None
        if (self.item is not None) == has_place or has_place != has_cell:
            raise SpecError(
                "either item, or place and cell are needed.",
                'Write item = "category", or place = ["longitude", "latitude"] and cell = 0.01.',
            )
        if has_place and self.amount is not None:
            raise SpecError("there is an amount of places.", "Leave it out; visits are counted.")


@dataclass(frozen=True, slots=True)
class WindowTable:
    """An observation window.

    Attributes:
        start: its first moment.
        end: the first moment behind it.
    """

    start: Annotated[Any, Read(_moment, _MOMENT)] = None
    end: Annotated[Any, Read(_moment, _MOMENT)] = None

    def __post_init__(self) -> None:
        if self.start is None or self.end is None:
            raise UnfitError("it", "lacks its start or end", "Write start = 2025-01-01, end = 2025-04-01.")


@dataclass(frozen=True, slots=True)
class SeriesFile:
    """The tables of a specification.

    Attributes:
        title: for people.
        csv: how CSV files are written.
        log: the columns of the log.
        windows: that are released.
        cells: what stands in the matrices.
        minimum_users: how many users an item has that is kept.
        factorization: parameters of the factorization; without it steps work on the matrix itself.
        steps: methods, in order, with their parameters.
        accept: findings of the gate that are accepted, each with a reason.
    """

    log: LogTable
    title: str = ""
    csv: Annotated[Dialect, Read(read_dialect, Tables(Dialect).schema)] = field(default_factory=Dialect)
    windows: Annotated[tuple[WindowTable, ...], Item("window")] = ()
    cells: Annotated[Cells, Key("matrix.cells"), Wrong("= {} does not fit", _CELLS)] = "binary"
    minimum_users: Annotated[int, Key("matrix.minimum_users"), Between(minimum=1)] = MIN_USERS
    factorization: Annotated[Mapping[str, Any] | None, Read(_factorization, {"type": "object"})] = None
    steps: Steps = ()
    accept: Annotated[tuple[Acceptance, ...], Item("acceptance")] = ()


@dataclass(frozen=True, slots=True)
class SeriesSpec:
    """A specification of matrices, checked for form.

    Attributes:
        log: its columns, by what they are.
        windows: that are released.
        cells: see `matrices`.
        minimum_users: see `matrices`.
        factorization: parameters of `Recombined`; None to work on the matrix itself.
        steps: methods as written.
        document: the whole of it as plain values.
        title: for people.
        dialect: of CSV files.
        accept: findings of the gate that are accepted.
    """

    log: LogTable
    windows: tuple[Window, ...]
    cells: Cells
    minimum_users: int
    factorization: Mapping[str, Any] | None
    steps: tuple[Mapping[str, Any], ...]
    document: Mapping[str, Any] = field(repr=False)
    title: str = ""
    dialect: Dialect = field(default_factory=Dialect)
    accept: tuple[Acceptance, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of the document, in hexadecimal."""
        return digest_of(self.document)

    def matrices(self, table: Table) -> tuple[Matrix, ...]:
        """The matrices of the windows.

        Raises:
            TableError: the table is not such a log; see `Log.of` and `matrices`.
        """
        user, time, place, cell = self.log.user, self.log.time, self.log.place, self.log.cell
        if place is not None and cell is not None:
            log = Log.of_places(table, user=user, time=time, place=(place[0], place[1]), cell=cell)
        else:
            log = Log.of(table, user=user, time=time, item=self.log.item or "", amount=self.log.amount)
        return matrices(log, self.windows, cells=self.cells, minimum_users=self.minimum_users)

    def pipeline(self, number: int = 0, seed: int | None = None) -> Pipeline:
        """A fresh pipeline for the matrix of a window.

        Args:
            number: of the window; a seed gives each another stream.
            seed: as of `Spec.pipeline`.
        """
        start = None if seed is None else seed + 1000 * number
        steps = []
        for place, step in enumerate(self.steps):
            method = make_method(step, f"step {place + 1}")
            if start is not None and "random_state" in method.get_params():
                method.set_params(random_state=start + place + 1)
            steps.append((str(step.get("name", f"{place + 1}-{step['method']}")), method))
        if self.factorization is not None:
            whole = _read_recombined(self.factorization, "factorization")
            whole.set_params(steps=tuple(steps), random_state=start)
            steps = [("factorization", cast("Method", whole))]
        found = Pipeline(steps=steps)
        found.specification_ = self.digest
        return found


def read_series(path: str | Path) -> SeriesSpec:
    """Read a specification.

    Raises:
        FileError: it cannot be read.
        SpecError: it is not TOML, or has an unknown, missing or impossible entry.
    """
    place = Path(path)
    document = document_of(place)
    return parse_series(document, place.name)


def series_schema() -> Document:
    """The JSON Schema of a specification of a series."""
    found = schema_of(SeriesFile, "A specification of duetto series")
    found["properties"]["steps"]["items"] = step_schema()
    return found


def parse_series(document: Mapping[str, Any], place: str = "spec") -> SeriesSpec:
    """Check a parsed specification.

    Raises:
        SpecError: as `read_series`.
    """
    found = read_declared(SeriesFile, table_of(document, place))
    for number, step in enumerate(found.steps, 1):
        make_method(step, f"{place}, step {number}")
    if found.factorization is None and not found.steps:
        raise SpecError(
            f"{place} has neither steps nor a factorization, so that nothing protects the users.",
            "Write [factorization] with a rank, or a method below [[steps]].",
        )
    if not found.windows:
        raise SpecError(f"{place} has no windows.", "Write start and end of each below [[windows]].")
    return SeriesSpec(
        log=found.log,
        windows=tuple(Window(one.start, one.end) for one in found.windows),
        cells=found.cells,
        minimum_users=found.minimum_users,
        factorization=found.factorization,
        steps=found.steps,
        document=document,
        title=found.title,
        dialect=found.csv,
        accept=found.accept,
    )
