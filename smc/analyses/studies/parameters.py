"""Reading the `[parameters]` of a job by their declarations, with errors that name the place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar

from commons.errors import near
from commons.settings.marks import Length
from commons.settings.reader import declared
from commons.settings.table import StrictTable
from commons.settings.wording import Wording
from smc.errors import UsageError

T = TypeVar("T")

PLACE: Final = "parameters"
_WORDS: Final[Mapping[type, str]] = {
    str: "a text in quotes",
    int: "a whole number",
    list: "a list",
    dict: "a table",
    bool: "true or false",
}


class ParameterWording(Wording):
    """The words of errors such as `parameters.fields[0].weight is out of range`."""

    def inner(self, place: str, key: str) -> str:
        """How a table within another is called."""
        return f"{place}.{key}"

    def item(self, place: str, key: str, word: str, number: int) -> str:
        """How an entry of a list of tables is called."""
        del word
        return f"{place}.{key}[{number - 1}]"

    def named(self, place: str, key: str, word: str, name: str) -> str:
        """How a table of a table of tables is called."""
        del word
        return f"{place}.{key}.{name}"

    def entry(self, place: str, key: str) -> str:
        """How the value of a key is called."""
        return f"{place}.{key}"

    def not_a_table(self, place: str) -> tuple[str, str]:
        """Of something else where a table has to be."""
        return f"{place} is not a table.", f"Write its keys below [{place}], or as {{ ... }}."

    def unknown(self, place: str, variant: str, key: str, known: Collection[str]) -> tuple[str, str]:
        """Of a key that does not exist."""
        whose = f"{place} ({variant})" if variant else place
        return f"{whose} has an unknown key {key!r}.", near(key, known)

    def missing(self, place: str, key: str, meant: str | None) -> tuple[str, str]:
        """Of a key that has to be there."""
        what = f"{place} lacks the key {key!r}."
        return what, f"Is {meant!r} meant to be it?" if meant else f"Add {key} = ..."

    def kind(self, place: str, key: str, value: Any, kind: type) -> tuple[str, str]:
        """Of a value of another type."""
        wanted, found = (_WORDS.get(one, one.__name__) for one in (kind, type(value)))
        what = f"{place}, key {key!r}: expected {wanted}, found {found}."
        return what, "Write texts in quotes, and numbers, true, false, [lists] and tables without."

    def outside(self, value: Any, minimum: Any, maximum: Any) -> tuple[str, str]:
        """Of a number outside its bounds."""
        del value
        return "is out of range", f"Use {minimum} to {maximum}."

    def length(self, minimum: int, maximum: int | None) -> tuple[str, str]:
        """Of a list that is too short or too long."""
        return f"is not a list of {minimum} to {maximum} names", 'Write ["...", "..."].'

    def repeated(self) -> tuple[str, str]:
        """Of a list with an entry twice."""
        return "names a column twice", "Name each column once."

    def choice(
        self, place: str, key: str, value: str, known: Sequence[str], *, in_list: bool = False
    ) -> tuple[str, str]:
        """Of a text that is not among those that there are."""
        del in_list
        return f"{place}.{key} cannot be {value!r}.", f"Choose one of {', '.join(map(repr, known))}."


Name = Annotated[str, Length(1)]
"""Of a column of the job."""

PARAMETERS: Final = ParameterWording()


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
    return declared(kind, table_of(given, place))


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
            raise UsageError(*PARAMETERS.missing(place, key, None))
        return default
    value = given[key]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise UsageError(*PARAMETERS.kind(place, key, value, kind))
    return value
