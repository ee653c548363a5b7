"""Reading the `[parameters]` of a job by their declarations, with errors that name the place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Annotated, Any, Final, TypeVar

from commons.settings.marks import Length
from commons.settings.reader import read_declared
from commons.settings.table import StrictTable
from commons.settings.wording import SETTINGS, Wording
from smc.errors import UsageError

T = TypeVar("T")

PLACE: Final = "parameters"
_WORDS: Final[Mapping[type, str]] = {
    str: "a text in quotes",
    int: "a whole number",
    list: "a list",
    dict: "a table",
    bool: "true or false",
    **dict.fromkeys((float, Fraction), "a number"),
}


Name = Annotated[str, Length(1)]
"""Of a column of the job."""

_RANGE: Final = ("is out of range", "Use {minimum} to {maximum}.")
_CHOICE: Final = ("{place}.{key} cannot be {value!r}.", "Choose one of {known}.")
_TYPES: Final = "Write texts in quotes, and numbers, true, false, [lists] and tables without."
PARAMETERS: Final = Wording(
    inner="{place}.{key}",
    item="{place}.{key}[{index}]",
    named="{place}.{key}.{name}",
    entry="{place}.{key}",
    table=("{place} is not a table.", "Write its keys below [{place}], or as {{ ... }}."),
    unknown=("{place}{variant} has an unknown key {key!r}.", "{near}"),
    missing=("{place} lacks the key {key!r}.", "{meant}"),
    kinds=dict.fromkeys((*SETTINGS.kinds, dict), ("", _TYPES)),
    kind="{place}, key {key!r}: expected {wanted}, found {found}.",
    words=_WORDS,
    below=_RANGE,
    above=_RANGE,
    length=("is not a list of {minimum} to {maximum} names", 'Write ["...", "..."].'),
    repeated=("names a column twice", "Name each column once."),
    choice=_CHOICE,
    listed=_CHOICE,
)
"""The words of errors such as `parameters.fields[0].weight is out of range`."""


def table_of(given: Mapping[str, Any], place: str = PLACE) -> StrictTable:
    """A table of a job, to be read."""
    return StrictTable(given, place, UsageError, PARAMETERS)


def read_parameters(kind: type[T], given: Mapping[str, Any], place: str = PLACE) -> T:
    """Read the parameters that a dataclass declares, see `commons.settings`.

    Args:
        kind: the dataclass.
        given: the table.
        place: how errors call it.

    Raises:
        UsageError: a key is unknown or missing, or a value impossible; names the place.
    """
    return read_declared(kind, table_of(given, place))


def reject_unknown(given: Mapping[str, Any], known: Iterable[str], place: str) -> None:
    """Refuse keys that do not exist.

    Raises:
        UsageError: names the first unknown key, its place and the nearest known one.
    """
    table_of(given, place).only(known)


def take(given: Mapping[str, Any], key: str, kind: type[T], place: str, default: T | None = None) -> T:
    """The value of a key, of the type that it must have.

    Args:
        given: the table.
        key: the key.
        kind: its type; `bool` is never taken for `int`.
        place: how errors call the table.
        default: used if the key is missing; None makes the key required.

    Raises:
        UsageError: the key is missing or of another type.
    """
    if key not in given:
        if default is None:
            raise table_of(given, place).missing(key)
        return default
    value = given[key]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise table_of(given, place).not_a(kind, key, value)
    return value
