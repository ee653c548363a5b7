"""Reading the `[parameters]` of a job: strict, with errors that name the place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from commons.errors import near
from smc.errors import UsageError

T = TypeVar("T")


def reject_unknown(given: Mapping[str, Any], known: Iterable[str], place: str) -> None:
    """Refuse keys that do not exist.

    Raises:
        UsageError: names the first unknown key, its place and the nearest known one.
    """
    names = sorted(known)
    for key in given:
        if key not in names:
            raise UsageError(f"{place} has an unknown key {key!r}.", near(key, names))


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
            raise UsageError(f"{place} lacks the key {key!r}.", f"Add {key} = ...")
        return default
    value = given[key]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise UsageError(
            f"{place}, key {key!r}: expected {_WORDS.get(kind, kind.__name__)}, found "
            f"{_WORDS.get(type(value), type(value).__name__)}.",
            "Write texts in quotes, and numbers, true, false, [lists] and tables without.",
        )
    return value


_WORDS = {
    str: "a text in quotes",
    int: "a whole number",
    list: "a list",
    dict: "a table",
    bool: "true or false",
}
