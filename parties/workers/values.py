"""Values between a process and its worker as JSON and bytes: plain values, arrays, and listed classes.

Whatever is not listed is refused on both ends, so nothing that comes can do more than stand for a value.
Arrays, and long lists of texts or integers, travel as bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from parties.workers.pipe import Words, array_data, arrays_of, shapes
from smc.errors import DuettoError

_KINDS: Final = "biufV"
"""Of arrays: numbers, truth values and bytes."""
_LONG: Final = 32
"""Lists of more entries may travel as bytes."""
_SCALARS: Final[Mapping[type, tuple[str, Callable[[Any], str], Callable[[str], Any]]]] = {
    Decimal: ("decimal", str, Decimal),
    datetime: ("datetime", datetime.isoformat, datetime.fromisoformat),
    date: ("date", date.isoformat, date.fromisoformat),
    time: ("time", time.isoformat, time.fromisoformat),
    UUID: ("uuid", str, UUID),
    bytes: ("bytes", bytes.hex, bytes.fromhex),
    int: ("int", hex, lambda text: int(text, 16)),
    str: (
        "str",
        lambda text: text.encode("utf-8", "surrogatepass").hex(),
        lambda text: bytes.fromhex(text).decode("utf-8", "surrogatepass"),
    ),
}
_READ: Final = {name: read for name, _, read in _SCALARS.values()}


class Values:
    """Writes and reads values.

    Args:
        classes: the data classes that may come, besides plain values.
        errors: the errors that may come; one of another class comes as the nearest of these.
    """

    def __init__(self, classes: Iterable[type], errors: Iterable[type[DuettoError]]) -> None:
        self._classes = {one.__name__: one for one in classes}
        self._fields = {one: [field.name for field in fields(one)] for one in self._classes.values()}
        self._errors = {one.__name__: one for one in errors}

    def words(self, value: Any) -> tuple[Words, list[memoryview]]:
        """A value as JSON, and the bytes that belong to it.

        Raises:
            TypeError: it is made of something that is not listed.
        """
        arrays: list[NDArray[Any]] = []
        said = self._encode(value, arrays)
        return {"value": said, "arrays": shapes(arrays)}, array_data(arrays)

    def value(self, words: Words, data: memoryview) -> Any:
        """The value that they stand for. Arrays cannot be written to.

        Raises:
            TypeError: it is made of something that is not listed.
        """
        if any(np.dtype(kind).kind not in _KINDS for kind, _ in words["arrays"]):
            raise TypeError("an array of objects came from a worker")
        return self._decode(words["value"], arrays_of(words["arrays"], data.toreadonly()))

    def _encode(self, value: Any, arrays: list[NDArray[Any]]) -> Any:
        kind = type(value)
        if _is_plain(value, kind):
            return value
        if kind in _SCALARS:
            name, write, _ = _SCALARS[kind]
            return {name: write(value)}
        packed = _pack(value)
        if packed is not None:
            arrays.append(packed[1])
            return {packed[0]: len(arrays) - 1}
        if kind in (list, tuple):
            return {kind.__name__: [self._encode(one, arrays) for one in value]}
        if kind is dict:
            return {"dict": [[self._encode(k, arrays), self._encode(v, arrays)] for k, v in value.items()]}
        return self._encode_named(value, arrays)

    def _encode_named(self, value: Any, arrays: list[NDArray[Any]]) -> Any:
        """A path, an error, or a value of a listed class."""
        kind = type(value)
        if isinstance(value, Path):
            return {"path": str(value)}
        if isinstance(value, DuettoError):
            name = next(one.__name__ for one in kind.__mro__ if one.__name__ in self._errors)
            return {"error": [name, value.what, value.hint, value.stable_code]}
        if self._classes.get(kind.__name__) is kind:
            held = {name: self._encode(getattr(value, name), arrays) for name in self._fields[kind]}
            return {"class": [kind.__name__, held]}
        raise TypeError(f"{kind.__name__} cannot be sent")

    def _decode(self, said: Any, arrays: tuple[NDArray[Any], ...]) -> Any:
        if not isinstance(said, dict):
            return said
        ((kind, inner),) = said.items()
        read: Mapping[str, Callable[[], Any]] = {
            "list": lambda: [self._decode(one, arrays) for one in inner],
            "tuple": lambda: tuple(self._decode(one, arrays) for one in inner),
            "dict": lambda: {self._decode(key, arrays): self._decode(one, arrays) for key, one in inner},
            "array": lambda: arrays[inner],
            "texts": lambda: arrays[inner].tobytes().decode("utf-8", "surrogatepass").split("\n"),
            "ints": lambda: [int(one, 16) for one in arrays[inner].tobytes().split()],
            "path": lambda: Path(inner),
            "error": lambda: self._look_up(self._errors, inner[0])(inner[1], inner[2], code=inner[3]),
            "class": lambda: self._look_up(self._classes, inner[0])(
                **{name: self._decode(one, arrays) for name, one in inner[1].items()}
            ),
        }
        if kind in read:
            return read[kind]()
        return self._look_up(_READ, kind)(inner)

    @staticmethod
    def _look_up(known: Mapping[str, Any], name: str) -> Any:
        if name not in known:
            raise TypeError(f"{name} is not listed")
        return known[name]


def _is_plain(value: Any, kind: type) -> bool:
    """Whether JSON has it as it is: of integers small ones, of texts those without halves of characters."""
    if kind is int:
        return bool(abs(value) < 1 << 63)
    if kind is str and not value.isascii():
        return not any("\ud800" <= one <= "\udfff" for one in value)
    return value is None or kind in (bool, str, float)


def _pack(value: Any) -> tuple[str, NDArray[Any]] | None:
    """An array, or a long list of texts without line ends or of integers as one; None for other values."""
    if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        return "array", value
    kinds = {*map(type, value)} if type(value) is list and len(value) > _LONG else set()
    joined = ""
    if kinds == {str}:
        joined = "\n".join(value)
        kinds = kinds if joined.count("\n") == len(value) - 1 else set()
    elif kinds == {int}:
        joined = " ".join(map(hex, value))
    if kinds not in ({str}, {int}):
        return None
    found = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
    return "texts" if kinds == {str} else "ints", found
