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
from typing import Any, Final, cast, get_args

from anonymizer.errors import AnonymizerError, SpecError
from anonymizer.methods.contract.method import Method
from anonymizer.pipelines.parameters import check
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.pipelines.spec import dialect_of, digest_of, made
from anonymizer.releases.acceptance import Acceptance
from anonymizer.schema.documents import document_of, listed, only, section
from anonymizer.series.log import Log
from anonymizer.series.matrix import MIN_USERS, Cells, Matrix, Window, matrices
from anonymizer.series.recombined import Recombined
from anonymizer.tables.dialect import Dialect
from anonymizer.tables.table import Table

_KEYS: Final = ("title", "csv", "log", "windows", "matrix", "factorization", "steps", "accept")
_LOG: Final = ("user", "time", "item", "amount", "place", "cell")
_HIDDEN: Final = ("steps", "columns", "random_state")
"""Parameters of the factorization that are not written in its section."""


@dataclass(frozen=True, slots=True)
class SeriesSpec:
    """A specification of matrices, checked for form.

    Attributes:
        columns: of the log, by what they are: `user`, `time`, `item` or `place` and `cell`, `amount`.
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

    columns: Mapping[str, Any]
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
        user, time = self.columns["user"], self.columns["time"]
        if "place" in self.columns:
            place, cell = self.columns["place"], self.columns["cell"]
            log = Log.of_places(table, user=user, time=time, place=place, cell=cell)
        else:
            named = {"item": self.columns["item"], "amount": self.columns.get("amount")}
            log = Log.of(table, user=user, time=time, **named)
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
            method = made(step, f"step {place + 1}")
            if start is not None and "random_state" in method.get_params():
                method.set_params(random_state=start + place + 1)
            steps.append((str(step.get("name", f"{place + 1}-{step['method']}")), method))
        if self.factorization is not None:
            whole = _recombined(self.factorization, "factorization")
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


def parse_series(document: Mapping[str, Any], place: str = "spec") -> SeriesSpec:
    """Check a parsed specification.

    Raises:
        SpecError: as `read_series`.
    """
    only(document, _KEYS, place)
    steps = listed(document, "steps", place)
    for number, step in enumerate(steps, 1):
        made(step, f"{place}, step {number}")
    factorization = section(document, "factorization", place) if "factorization" in document else None
    if factorization is not None:
        _recombined(factorization, f"{place}, factorization")
    elif not steps:
        raise SpecError(
            f"{place} has neither steps nor a factorization, so that nothing protects the users.",
            "Write [factorization] with a rank, or a method below [[steps]].",
        )
    windows = tuple(
        _window(one, f"{place}, window {number}")
        for number, one in enumerate(listed(document, "windows", place), 1)
    )
    if not windows:
        raise SpecError(f"{place} has no windows.", "Write start and end of each below [[windows]].")
    matrix = section(document, "matrix", place)
    only(matrix, ("cells", "minimum_users"), f"{place}, matrix")
    cells, least = matrix.get("cells", "binary"), matrix.get("minimum_users", MIN_USERS)
    if cells not in get_args(Cells) or not isinstance(least, int) or isinstance(least, bool) or least < 1:
        raise SpecError(
            f"{place}: cells = {cells!r} and minimum_users = {least!r} do not fit.",
            f"Choose cells of {', '.join(get_args(Cells))}, and minimum_users of 1 or more.",
        )
    title = document.get("title", "")
    if not isinstance(title, str):
        raise SpecError(f"{place}: title is not a text.", "Put it in quotes.")
    accept = tuple(
        Acceptance.from_mapping(one, f"{place}, acceptance {number}")
        for number, one in enumerate(listed(document, "accept", place), 1)
    )
    return SeriesSpec(
        _columns(section(document, "log", place), f"{place}, log"),
        windows,
        cells,
        least,
        factorization,
        tuple(steps),
        document,
        title,
        dialect_of(document, place),
        accept,
    )


def _columns(given: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    only(given, _LOG, place)
    for key in ("user", "time"):
        if key not in given:
            raise SpecError(f"{place} lacks {key}.", f'Name the column, such as {key} = "{key}".')
    if ("item" in given) == ("place" in given) or ("place" in given) != ("cell" in given):
        raise SpecError(
            f"{place} needs either item, or place and cell.",
            'Write item = "category", or place = ["longitude", "latitude"] and cell = 0.01.',
        )
    if "place" in given and "amount" in given:
        raise SpecError(f"{place} has an amount of places.", "Leave it out; visits are counted.")
    found = dict(given)
    for key in ("user", "time", "item", "amount"):
        if key in given and not isinstance(given[key], str):
            raise SpecError(f"{place}: {key} is not a text.", "Name a column, in quotes.")
    if "place" in given:
        ends = given["place"]
        if not isinstance(ends, list) or len(ends) != 2 or not all(isinstance(one, str) for one in ends):
            raise SpecError(f"{place}: place is not two columns.", 'Write ["longitude", "latitude"].')
        if not isinstance(given["cell"], int | float) or isinstance(given["cell"], bool):
            raise SpecError(f"{place}: cell is not a number.", "Write such as 0.01.")
        found["place"] = tuple(ends)
    return found


def _window(given: Any, place: str) -> Window:
    if not isinstance(given, Mapping):
        raise SpecError(f"{place} is not a table.", "Write { start = 2025-01-01, end = 2025-04-01 }.")
    only(given, ("start", "end"), place)
    if "start" not in given or "end" not in given:
        raise SpecError(f"{place} lacks its start or end.", "Write start = 2025-01-01, end = 2025-04-01.")
    return Window(given["start"], given["end"])


def _recombined(given: Mapping[str, Any], place: str) -> Recombined:
    known = tuple(name for name in Recombined().get_params(deep=False) if name not in _HIDDEN)
    named = {"kind" if key == "factorization" else key for key in known}
    only(given, tuple(sorted(named)), place)
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
