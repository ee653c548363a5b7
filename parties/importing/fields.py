"""What importers read of JSON documents: checked types, and an error for whatever does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from parties.errors import DataError

T = TypeVar("T")

MAX_BYTES: Final = 16 << 20
"""The largest file that is read."""

_AGAIN: Final = "Export the model again by its own program; files that were changed by hand are not read."


def refusal(
    what: str, hint: str = "Train the model without it, or export it in another format."
) -> DataError:
    """The error about a model that is well formed, and cannot be taken."""
    return DataError(what, hint)


@contextmanager
def require_well_formed(program: str) -> Iterator[None]:
    """Read parts of a file of that program.

    Raises:
        DataError: a part is missing, or of another type.
    """
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
        raise DataError(f"The file is not a model as {program} writes it.", _AGAIN) from None


def table(value: object) -> dict[str, object]:
    """A JSON object. Raises TypeError."""
    if not isinstance(value, dict):
        raise TypeError
    return value


def items(value: object, each: Callable[[object], T]) -> list[T]:
    """A JSON array, each entry read by a function. Raises TypeError."""
    if not isinstance(value, list):
        raise TypeError
    return [each(entry) for entry in value]


def text(value: object) -> str:
    """A JSON text. Raises TypeError."""
    if not isinstance(value, str):
        raise TypeError
    return value


def feature_names(values: list[str], count: int) -> tuple[str, ...]:
    """The names of features; `f0`, `f1`, ... where the file gives none."""
    return tuple(values or (f"f{place}" for place in range(count)))


def class_numbers(count: int) -> tuple[str, ...]:
    """The names of classes that are numbers from 0."""
    return tuple(map(str, range(count)))


def only_output(value: float, output: int, outputs: int) -> tuple[float, ...]:
    """What a leaf adds that is about one output."""
    return tuple(value if place == output else 0.0 for place in range(outputs))
