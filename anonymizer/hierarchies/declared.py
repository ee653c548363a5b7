"""Hierarchies as specifications declare them, such as `{ widths = [5, 10], lower = 0, upper = 120 }`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from anonymizer.errors import HierarchyError, SpecError
from anonymizer.hierarchies import adult, arx
from anonymizer.hierarchies.correlation import CorrelationHierarchy
from anonymizer.hierarchies.dates import DateHierarchy
from anonymizer.hierarchies.hierarchy import Hierarchy, ValueHierarchy
from anonymizer.hierarchies.intervals import EqualFrequencyHierarchy, IntervalHierarchy
from anonymizer.hierarchies.learned import LearnedHierarchy
from anonymizer.hierarchies.prefix import PrefixHierarchy
from anonymizer.schema.documents import table_of
from commons.settings.shapes import Document, keys_schema

_BUILTIN: Final = "thesis-adult"
LEARNED_FROM: Final = "learned_from"
"""The key of the columns whose cells a hierarchy was made of before it was written down."""


def resolve(column: str, given: Any, folder: Path, place: str) -> Mapping[str, Any]:
    """A declaration that needs nothing else: what a file or a built-in hierarchy says stands in it.

    Args:
        column: whose hierarchy it is.
        given: as parsed.
        folder: where files are meant from.
        place: how errors call it.

    Raises:
        FileError: a file cannot be read.
        HierarchyError: a file is malformed, or the built-in hierarchy does not exist.
        SpecError: it is not a table, or has an unknown key.
    """
    if not isinstance(given, Mapping):
        raise SpecError(
            f"{place} is not a table.", 'Write { file = "age.csv" } or { widths = [10, 20], ... }.'
        )
    if "file" in given:
        _check_known(given, ("file",), place)
        if not isinstance(given["file"], str):
            raise SpecError(f"{place}: file is not a text.", 'Write file = "age.csv".')
        return {"rows": [list(row) for row in arx.read(folder / given["file"]).rows]}
    if "builtin" in given:
        _check_known(given, ("builtin",), place)
        if given["builtin"] != _BUILTIN or column not in adult.DECLARED:
            raise HierarchyError(
                f"{given['builtin']!r} is not a built-in hierarchy; column {column!r} names it.",
                f"{_BUILTIN} has {', '.join(adult.DECLARED)}.",
            )
        return dict(adult.DECLARED[column])
    return dict(given)


def build(column: str, given: Mapping[str, Any], place: str, date_format: str = "") -> Hierarchy:
    """The hierarchy of a resolved declaration.

    Args:
        column: whose hierarchy it is.
        given: as `resolve` returns it.
        place: how errors call the specification.
        date_format: of dates, where the declaration says none.

    Raises:
        SpecError: it is of no known kind, lacks an entry, or has one of the wrong type.
        HierarchyError: the entries do not make a hierarchy; names the column.
    """
    where = f"{place}: the hierarchy of {column!r}"
    kind = next((key for key in _KINDS if key in given), None)
    if kind is None:
        raise SpecError(
            f"{where} is not of a known kind.", f"Give one of {', '.join((*_KINDS, 'file', 'builtin'))}."
        )
    entries = _KINDS[kind]
    known = {**entries.known, LEARNED_FROM: _COLUMNS}
    _check_known(given, tuple(known), f"{place}, hierarchy of {column!r}")
    for key, entry in known.items():
        if key not in given and key in entries.needed:
            raise SpecError(f"{where} lacks {key}.", f"It needs {', '.join(entries.needed)}.")
        if key in given and not entry.fits(given[key]):
            raise SpecError(
                f"{where}: {key} = {given[key]!r} is of the wrong type.", f"Write {entry.example}."
            )
    try:
        built = entries.build(given, date_format)
        return LearnedHierarchy(built, given[LEARNED_FROM]) if LEARNED_FROM in given else built
    except HierarchyError as problem:
        raise HierarchyError(f"{where}: {problem.what}", problem.hint) from None


@dataclass(frozen=True, slots=True)
class _Entry:
    """What may stand for a key."""

    fits: Callable[[Any], bool]
    example: str


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of hierarchy: its keys, which of them it needs, and how it is built of them."""

    known: Mapping[str, _Entry]
    needed: tuple[str, ...]
    build: Callable[[Mapping[str, Any], str], Hierarchy]


def _check_known(given: Mapping[str, Any], known: tuple[str, ...], place: str) -> None:
    table_of(given, place).only(known)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and not math.isnan(value))


def _list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list | tuple) and all(map(fits, value))


_NUMBER: Final = _Entry(_is_number, "a number")
_WHOLE: Final = _Entry(_is_whole, "a whole number")
_COLUMNS: Final = _Entry(_list_of(lambda name: isinstance(name, str)), '["town", "income"]')
_COUNTS: Final = _Entry(_list_of(_is_whole), "decreasing whole numbers, such as [16, 4, 2]")


def _levels(given: Mapping[str, Any], date_format: str) -> Hierarchy:
    del date_format
    bounds = (float(given["lower"]), float(given["upper"])) if {"lower", "upper"} <= set(given) else None
    if bounds is None and {"lower", "upper"} & set(given):
        raise HierarchyError("Only one of lower and upper is given.", "Write both, or neither.")
    return IntervalHierarchy(given["levels"], open_ends=given.get("open_ends", False), bounds=bounds)


_KINDS: Final[Mapping[str, _Kind]] = {
    "rows": _Kind(
        {"rows": _Entry(_list_of(lambda row: isinstance(row, list | tuple)), '[["Ulm", "south", "*"], ...]')},
        ("rows",),
        lambda given, _: ValueHierarchy(given["rows"]),
    ),
    "widths": _Kind(
        {"widths": _Entry(_list_of(_is_number), "[5, 10, 20]"), "lower": _NUMBER, "upper": _NUMBER},
        ("widths", "lower", "upper"),
        lambda given, _: IntervalHierarchy.of_widths(given["lower"], given["upper"], given["widths"]),
    ),
    "levels": _Kind(
        {
            "levels": _Entry(_list_of(_list_of(_is_number)), "[[0, 18, 65, 120], [0, 65, 120]]"),
            "open_ends": _Entry(lambda value: isinstance(value, bool), "true or false"),
            "lower": _NUMBER,
            "upper": _NUMBER,
        },
        ("levels",),
        _levels,
    ),
    "equal_frequency": _Kind(
        {"equal_frequency": _COUNTS},
        ("equal_frequency",),
        lambda given, _: EqualFrequencyHierarchy(given["equal_frequency"]),
    ),
    "correlation": _Kind(
        {
            "correlation": _Entry(lambda value: isinstance(value, str), 'a column, such as "income"'),
            "groups": _COUNTS,
        },
        ("correlation", "groups"),
        lambda given, _: CorrelationHierarchy(given["correlation"], given["groups"]),
    ),
    "dates": _Kind(
        {
            "dates": _Entry(_list_of(lambda value: isinstance(value, str)), '["month", "year"]'),
            "format": _Entry(lambda value: isinstance(value, str), '"%d/%m/%Y"'),
        },
        ("dates",),
        lambda given, date_format: DateHierarchy(given["dates"], given.get("format", date_format)),
    ),
    "prefix": _Kind(
        {"prefix": _WHOLE, "alphabet": _WHOLE},
        ("prefix",),
        lambda given, _: PrefixHierarchy(given["prefix"], given.get("alphabet", 10)),
    ),
}


def hierarchies_schema() -> Document:
    """JSON Schema of the table `[hierarchies]`: which keys each has, by its kind."""
    files = (keys_schema((key,), (key,), **{key: {"type": "string"}}) for key in ("file", "builtin"))
    several = [
        *files,
        *(keys_schema((*kind.known, LEARNED_FROM), kind.needed) for kind in _KINDS.values()),
    ]
    return {"type": "object", "additionalProperties": {"anyOf": several}}
