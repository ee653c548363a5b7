"""A draft of a catalog's entry for a source: dialect, types, labels, proposed bounds, key and persons.

Bounds and labels that come from the data show something of them to the peer, and noise that is scaled by
them is not private. So they are marked with `confirmed = false`, and no job can use their columns before a
person has confirmed them or put better ones in their place. Proposed bounds are round numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from commons.tabular.cells import above_in, limit_in
from commons.tabular.column_names import is_called
from commons.tabular.dialect import Writing
from commons.tabular.footers import sum_in
from parties.catalog.columns.columns import ColumnDeclaration, differing_in_case
from parties.catalog.columns.missing import missing_cells
from parties.catalog.declarations.declaration import DatasetDeclaration
from parties.catalog.drafting.sniffing import Inference, infer, is_code
from parties.catalog.drafting.suggesting import Code, codes_in, is_asked_for, unit_in
from parties.catalog.loading.opening import batches, header
from parties.catalog.loading.survey import Range, survey
from parties.errors import DataError
from parties.texts import is_plain

MAX_COLUMNS: Final = 5000
"""More are not drafted: they would not fit into a catalog, whose text has a bound."""

LEFT_OUT: Final = "left out as asked"
NO_NAME: Final = "(no name)"
"""What columns without a name are called."""
LAST: Final = "(last columns)"
"""What they are called where they stand behind all others."""
UNNAMED: Final = "its name is empty, comes twice or cannot be printed"

_SAMPLE: Final = 10
"""Batches that are looked at first; later rows that do not fit change what these say."""
_ROUNDS: Final = 5
_SHOWN: Final = 5
"""Rows of the sample."""
_CELL: Final = 60
"""Characters of a cell of the sample."""
_BLANKS: Final = str.maketrans(dict.fromkeys("\u00a0\u202f\u3000", " "))
"""Blanks that a page would show escaped."""
_EPOCH: Final = date(1970, 1, 1)
_NUMBERED: Final = re.compile(
    r"(?:n[°º.]|№|no\.?|nr\.?|num\.?)[\s_]*\S+|\S+[\s_]+(?:n[°º.]|№|no\.?|nr\.?|num\.?)", re.IGNORECASE
)
"""A word with one for a number before or behind it."""


@dataclass
class ColumnDraft:
    """A column as it would be declared.

    Attributes:
        column: the declaration, with proposed bounds or labels.
        seen: what the data hold, for the person who decides.
        others: other ways to read the cells.
        note: what the person should know besides.
        codes: values that may stand for missing cells.
        has_limits: whether cells such as `<0.2` are among those looked at.
        has_upper_limits: whether cells such as `>200` are.
        is_chosen: whether it is declared unless a person says otherwise.
        unit: what its name and its cells suggest as its unit, whatever a person says.
    """

    column: ColumnDeclaration
    seen: str = ""
    others: tuple[str, ...] = ()
    note: str = ""
    codes: tuple[Code, ...] = ()
    has_limits: bool = False
    has_upper_limits: bool = False
    is_chosen: bool = True
    unit: str = ""

    @property
    def alike(self) -> list[tuple[str, ...]]:
        """Labels that differ from each other in case only, which a person may join."""
        return differing_in_case(self.column.schema.categories)


@dataclass
class Draft:
    """A data set as it would be declared.

    Attributes:
        dataset: where it is and how it is written; its columns are in `columns`.
        columns: by name.
        rows: how many it has.
        key: a column that differs in every row.
        person: a column that tells whom a row is about.
        left_out: columns that are not declared, and why.
        sample: by column, the cells of the first few rows.
        total: how the last row begins where it looks like a sum below the table, such as `Total`; else empty.
        doubt: what a person should know of how the file was read.
    """

    dataset: DatasetDeclaration
    columns: dict[str, ColumnDraft] = field(default_factory=dict)
    rows: int = 0
    key: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    sample: dict[str, list[str]] = field(default_factory=dict, repr=False)
    total: str = ""
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person says of columns; what is not said is found out.

    Attributes:
        types: by column.
        tokens: by column, what a missing cell may hold.
        below_limit: by column, what a cell such as `<0.2` is read as, one of `BELOW_LIMIT`.
        above_limit: by column, what a cell such as `>200` is read as, one of `ABOVE_LIMIT`.
        units: by column.
        joined: columns of which labels that differ in case only are one.
        without: columns to leave out.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    tokens: Mapping[str, Sequence[str]] = field(default_factory=dict)
    below_limit: Mapping[str, str] = field(default_factory=dict)
    above_limit: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    joined: Sequence[str] = ()
    without: Sequence[str] = ()


def draft(dataset: DatasetDeclaration, choices: Choices | None = None) -> Draft:
    """Look at all rows of a source.

    Args:
        dataset: where it is and how it is written; numbers and dates that can be read in several ways are
            read in its way. Its columns do not matter.
        choices: what a person says of its columns.

    Raises:
        DataError: the source cannot be read, or has more than `MAX_COLUMNS` columns.
        ConfigError: a library that the source needs is not installed.
    """
    choices = choices or Choices()
    found = Draft(replace(dataset, columns={}, key=(), person=()))
    names = _declarable(found, header(dataset), choices.without)
    if len(names) > MAX_COLUMNS:
        raise DataError(
            f"{dataset.place} has {len(names)} columns; at most {MAX_COLUMNS} can be declared.",
            "Write a source of the columns that jobs need.",
        )
    counts = _sample(found, names)
    looks = {name: _look(name, counts[name], found.dataset, choices) for name in names}
    for _ in range(_ROUNDS):
        declared = {name: one.column for name, one in looks.items() if not one.reason}
        seen = survey(replace(found.dataset, columns=declared))
        faults = seen.faults
        if not faults:
            break
        for fault in faults:
            counts[fault.column].update({cell or None: 1 for _, cell in fault.examples})
            looks[fault.column] = _look(fault.column, counts[fault.column], found.dataset, choices)
    else:
        for fault in faults:
            looks[fault.column] = Inference(
                looks[fault.column].column, reason=f"one of its cells {fault.what}"
            )
    found.rows = seen.rows
    for name, one in looks.items():
        if one.reason:
            found.left_out[name] = one.reason
        else:
            found.columns[name] = _propose(one, seen.ranges.get(name, Range()), counts[name], choices)
    if not found.columns:
        reasons = "; ".join(f"{name!r}: {reason}" for name, reason in [*found.left_out.items()][:5])
        raise DataError(
            f"{dataset.place} has no column that could be declared ({reasons}).",
            "Put rows below a row that names each column once, or choose types with "
            "`duetto data add FILE --type COLUMN=text`.",
        )
    _name(found)
    return found


def _sample(found: Draft, names: Sequence[str]) -> dict[str, Counter[Any]]:
    """How often each cell comes among the first batches, by column; the first rows are noted."""
    counts: dict[str, Counter[Any]] = {name: Counter() for name in names}
    looked = 0
    for batch in islice(batches(found.dataset, names), _SAMPLE):
        looked += 1
        found.total = sum_in([cells[-1] for cells in batch.columns])
        for name, cells in zip(names, batch.columns, strict=True):
            counts[name].update(cells)
            shown = found.sample.setdefault(name, [])
            shown += [_shorten(cells[row]) for row in range(min(len(cells), _SHOWN - len(shown)))]
    if looked == _SAMPLE:
        found.total = ""  # there may be rows below
    return counts


def _check_nameless(found: Draft, there: Sequence[str]) -> None:
    """Note nameless columns, but one alone that holds nothing: lines that end with a separator have it."""
    count = there.count("")
    if count == 1 and all(
        cell is None or not str(cell).strip()
        for batch in batches(found.dataset, [""])
        for cell in batch.columns[0]
    ):
        return
    named = len(there) - count
    if "" not in there[:named] and named > max(1, count):
        found.left_out[LAST] = "no name"
    else:
        found.left_out[NO_NAME] = UNNAMED


def _declarable(found: Draft, there: Sequence[str], without: Sequence[str]) -> list[str]:
    """The names that columns can have; the others are noted."""
    for name, count in Counter(there).items():
        if not name:
            _check_nameless(found, there)
        elif count > 1 or not is_plain(name):
            found.left_out[name] = UNNAMED
        elif name in without:
            found.left_out[name] = LEFT_OUT
    return [name for name in there if name and name not in found.left_out]


def _look(name: str, cells: Mapping[Any, int], dataset: DatasetDeclaration, choices: Choices) -> Inference:
    writing = dataset.dialect.writing
    if writing == Writing() and dataset.dialect.separator == ";":
        writing = Writing(",")  # who separates cells by semicolons needs the comma
    return infer(
        name,
        cells,
        likely=writing,
        wanted=choices.types.get(name, ""),
        tokens=choices.tokens.get(name),
        below_limit=choices.below_limit.get(name, ""),
        above_limit=choices.above_limit.get(name, ""),
        ignores_case=name in choices.joined,
    )


def _shorten(cell: Any) -> str:
    text = "" if cell is None else str(cell).translate(_BLANKS)
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"


def _propose(one: Inference, held: Range, cells: Mapping[Any, int], choices: Choices) -> ColumnDraft:
    """The column with round bounds around what it holds, and what its name and cells suggest."""
    found = _bound(one, held)
    column = found.column
    if column.type in ("integer", "decimal"):
        found.unit = unit_in(column.name) or column.writing.suffix or column.writing.prefix
        unit = choices.units.get(column.name, found.unit)
        found.column = replace(column, schema=replace(column.schema, unit=unit))
        texts = [cell for cell in cells if isinstance(cell, str)]
        found.has_limits = any(limit_in(cell) is not None for cell in texts)
        found.has_upper_limits = any(above_in(cell) is not None for cell in texts)
    found.codes = codes_in(column, cells)
    found.is_chosen = not is_asked_for(column, cells)
    return found


def _bound(one: Inference, held: Range) -> ColumnDraft:
    column, schema = one.column, one.column.schema
    if column.type == "text":
        return ColumnDraft(column, note=one.note)
    if column.type == "category":
        return ColumnDraft(
            replace(column, is_confirmed=False), f"{len(schema.categories)} labels", one.others
        )
    least, greatest = held.least or 0, held.greatest or 0
    if column.type == "date":
        first, last = (_EPOCH + timedelta(days) for days in (least, greatest))
        lower = date(max(1, first.year // 10 * 10), 1, 1)
        upper = date(min(9999, last.year // 10 * 10 + 9), 12, 31)
        low, high = ((day - _EPOCH).days for day in (lower, upper))
        said = f"{first} to {last}"
    else:
        low = -_round(-least, schema.scale) if least < 0 else 0
        high = _round(greatest, schema.scale) if greatest > 0 else 0 if low else 10**schema.scale
        said = f"{number(least, schema.scale)} to {number(greatest, schema.scale)}"
    changed = replace(schema, lower=low, upper=high)
    return ColumnDraft(replace(column, schema=changed, is_confirmed=False), said, one.others, one.note)


def _round(value: int, scale: int) -> int:
    """The next of 1, 2, 5, 10, 20 ... units that is not below a positive value."""
    step: int = 10**scale
    while True:
        for factor in (1, 2, 5):
            if step * factor >= value:
                return step * factor
        step *= 10


def number(value: int, scale: int) -> str:
    """A held value as people write it."""
    return format(Decimal(value).scaleb(-scale), "f")


def _name(found: Draft) -> None:
    """Propose a key, which differs in every row, and a column of persons, whose cells repeat."""
    candidates = [
        name for name in found.columns if (is_code(name) and not _is_place(name)) or _is_number(name)
    ]
    if not candidates:
        return
    rows: dict[str, set[Any]] = {name: set() for name in candidates}
    missing = dict.fromkeys(candidates, 0)
    for batch in batches(found.dataset, candidates):
        for name, cells in zip(candidates, batch.columns, strict=True):
            rows[name].update(cells)
            missing[name] += int(missing_cells(cells, found.columns[name].column.tokens).sum())
    unique = [name for name in candidates if len(rows[name]) == found.rows and not missing[name]]
    persons = [
        name
        for name in candidates
        if name not in unique
        and (_is_person(name) or (is_called(name, "identifier") and 2 * len(rows[name]) > found.rows))
    ]
    persons.sort(key=lambda name: not _is_person(name))
    found.key = tuple(sorted(unique, key=_is_person)[:1])
    if not any(_is_person(name) for name in unique):
        found.person = tuple(persons[:1])


def _is_person(name: str) -> bool:
    return is_called(name, "person", "account")


def _is_number(name: str) -> bool:
    """Whether a column is called as the number of a person in two words, such as `N° patient`."""
    return _NUMBERED.fullmatch(name.strip()) is not None and _is_person(name)


def _is_place(name: str) -> bool:
    return is_called(name, "postcode", "phone", "code")
