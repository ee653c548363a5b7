"""What a column looks like: its kind, how many values it has, and how well it tells rows apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from anonymizer.gate.looks import MAX_ROWS
from anonymizer.gate.names import mostly_alone, names_persons, singles_out
from anonymizer.gate.nested import parts_of
from anonymizer.gate.persons import numbers_person
from anonymizer.gate.traces import looks_like_an_identifier
from anonymizer.gate.views import ColumnView
from anonymizer.hierarchies.days import day
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.tables.table import Table
from commons.tabular.column_names import kinds_of

Int = NDArray[np.int64]

Look = Literal["number", "date", "code", "category", "text", "nested"]

MAX_CATEGORIES: Final = 60
_CODE: Final = re.compile(r"[A-Za-z]{0,4}[-./ ]?\d[\w./ -]{0,14}")
_AMBIGUOUS: Final = re.compile(r"\d{1,2}([/.-])\d{1,2}\1(\d{4}|\d{2})")
_FORMS: Final = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%y", "%m/%d/%y")
_TINY: Final = 1e-290
_HUGE: Final = 1e300
_FINE: Final = 1e-9
"""The span of numbers, by the largest, below which intervals would be as narrow as the grid of doubles."""
_LOOKED: Final = 5000
_FEW: Final = 12
_ICD_10: Final = re.compile(r"[A-Z][0-9][0-9A-Z](\.?[0-9A-Z]{1,4})?[+*!]?")
_ICD_9: Final = re.compile(r"([0-9]{1,3}|E[0-9]{3}|V[0-9]{2})(\.[0-9]{1,2})?")
_ATC: Final = re.compile(r"[A-DGHJL-NPRSV][0-9]{2}[A-Z]{2}[0-9]{2}")
_LOINC: Final = re.compile(r"[0-9]{1,5}-[0-9]")
_CODES: Final = 8
"""Different values from which on a column may be one of medical codes."""
_MOSTLY: Final = 0.95


@dataclass(frozen=True, slots=True)
class Profile:
    """A column.

    Attributes:
        name: of it.
        look: what its values seem to be.
        values: the different ones, in order.
        counts: rows of each.
        missing: rows without a value.
        distinction: different values by rows, in [0, 1] (Motwani and Xu, Efficient algorithms for masking and
            finding quasi-identifiers, 2007).
        separation: part of the pairs of rows that it tells apart, in [0, 1].
        identifying: why its values look like those of an identifier; empty if they do not.
        naming: why its name or its cells are those of persons; empty if they are not.
        singling: why it finds persons though it names none; empty if nothing says so.
        numbering: why it is a number of persons, whatever it is called; empty if nothing says so.
        date_formats: of dates that can be read in more than one way, those by which all can be read.
    """

    name: str
    look: Look
    values: NDArray[Any] = field(repr=False)
    counts: Int = field(repr=False)
    missing: int
    distinction: float
    separation: float
    identifying: str
    naming: str = ""
    singling: str = ""
    numbering: str = ""
    date_formats: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        """The different values as hierarchies write them."""
        return [text_of(value) for value in self.values.tolist()]

    @property
    def repetition(self) -> float:
        """Rows of a value on average; 0 without a value."""
        return float(self.counts.mean()) if len(self.counts) else 0.0

    @property
    def is_called_sensitive(self) -> bool:
        """Whether its name is that of what an attacker wants to learn."""
        return any(kind.role == "sensitive" for kind in kinds_of(self.name))

    @property
    def is_mostly_alone(self) -> bool:
        """Whether it singles out most rows, so that the gate lets it leave with a role alone."""
        return mostly_alone(self.counts)

    @property
    def is_medical_code(self) -> bool:
        """Whether nearly all values have the form of codes of diseases, drugs or laboratory tests.

        Those of ICD-9 or ICD-10, some with a letter; of ATC; or of LOINC, with their check digits.
        """
        texts = [text.strip().upper() for text in self.texts[:_LOOKED]]
        if len(texts) < _CODES:
            return False
        for is_one in (_ATC.fullmatch, _is_loinc):
            if sum(bool(is_one(text)) for text in texts) >= _MOSTLY * len(texts):
                return True
        lettered = [text for text in texts if text[:1].isalpha()]
        if not lettered:
            return False
        for form, least in ((_ICD_10, len(texts)), (_ICD_9, 1)):
            fit = sum(form.fullmatch(text) is not None for text in texts)
            if fit >= _MOSTLY * len(texts) and len(lettered) >= _MOSTLY * least:
                return any(text[1:3].isdigit() for text in lettered)
        return False


def profile(table: Table, name: str) -> Profile:
    """Look at a column."""
    codes = table.codes(name)
    counts = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.values))
    rows = max(1, len(table))
    look, formats = _look(table, name, codes.values, counts)
    view = ColumnView.of(table, name)
    words = None if look == "nested" else looks_like_an_identifier(view)
    return Profile(
        name=name,
        look=look,
        values=codes.values,
        counts=counts,
        missing=int((codes.codes < 0).sum()),
        distinction=len(counts) / rows,
        separation=separation(counts),
        identifying=words or "",
        naming=names_persons(view) or "",
        singling=singles_out(view) or "",
        date_formats=formats,
    )


def with_numbering(table: Table, profiles: Sequence[Profile]) -> list[Profile]:
    """The profiles with what the columns beside them tell: which are numbers of persons."""
    part = table if len(table) <= MAX_ROWS else table.take(np.arange(MAX_ROWS))
    views = {one.name: ColumnView.of(part, one.name) for one in profiles if one.look != "nested"}
    return [
        replace(
            one,
            numbering=numbers_person(views[one.name], views.values(), is_measured=one.is_called_sensitive)
            or "",
        )
        if one.name in views
        else one
        for one in profiles
    ]


def separation(sizes: Int) -> float:
    """The part of the pairs of rows that lie in different groups.

    Args:
        sizes: of the groups.
    """
    rows = float(sizes.sum())
    if rows < 2:
        return 0.0
    return 1 - float((sizes * (sizes - 1.0)).sum()) / (rows * (rows - 1))


def together(table: Table, names: tuple[str, ...]) -> tuple[float, float]:
    """Distinction and separation of columns as a set; a missing cell counts as a value."""
    if not names:
        return 0.0, 0.0
    cells = np.stack([table.codes(name).codes for name in names], axis=1)
    sizes = np.unique(cells, axis=0, return_counts=True)[1]
    return len(sizes) / max(1, len(table)), separation(sizes)


def _is_loinc(text: str) -> bool:
    """Whether a text is a number with its check digit by Luhn's algorithm, as codes of LOINC are."""
    if not _LOINC.fullmatch(text):
        return False
    number, check = text.split("-")
    doubled = [int(digit) * (1 + (place % 2 == 0)) for place, digit in enumerate(reversed(number))]
    return (sum(one // 10 + one % 10 for one in doubled) + int(check)) % 10 == 0


def _measurable(values: NDArray[Any]) -> bool:
    """Whether double precision tells numbers apart well enough to cut their range into intervals."""
    numbers = values.astype(np.float64)
    if not numbers.size or not np.isfinite(numbers).all():
        return False
    largest, span = float(np.abs(numbers).max()), float(numbers.max() - numbers.min())
    return largest == 0 or (_TINY < largest < _HUGE and (span == 0 or span > _FINE * largest))


def _look(table: Table, name: str, values: NDArray[Any], counts: Int) -> tuple[Look, tuple[str, ...]]:
    dtype = table.series(name).dtype
    some = values[:: max(1, len(values) // _LOOKED)].tolist()
    texts = [text_of(value).strip() for value in some]
    few = len(values) <= max(MAX_CATEGORIES, int(counts.sum()) // 20)
    look: Look = "category" if few else "text"
    formats: tuple[str, ...] = ()
    if (
        dtype.is_nested()
        or str(dtype) in ("Binary", "Object", "Unknown")
        or parts_of(dict.fromkeys(texts, 1))
    ):
        look = "nested"
    elif dtype.is_temporal():
        look = "date" if values.size and day(values[0]) is not None else "category"
    elif len(values) > 2 and all(len(text) >= 8 and day(text) is not None for text in texts):
        look = "date" if all(day(text_of(value)) is not None for value in values.tolist()) else look
    elif table.is_numeric(name) and _measurable(values):
        look = "number"
    elif len(values) > 2 and all(map(_AMBIGUOUS.fullmatch, texts)):
        whole = [text_of(value) for value in values.tolist()]
        formats = tuple(form for form in _FORMS if all(day(text, form) is not None for text in whole))
        look = "date" if formats else look
    elif len(values) > _FEW and all(map(_CODE.fullmatch, texts)):
        look = "code"
    return look, formats
