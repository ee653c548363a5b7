"""Values between a process and its worker as JSON and bytes: plain values, arrays, and listed classes.

Whatever is not listed is refused on both ends, so nothing that comes can do more than stand for a value.
Arrays, and long lists of texts or integers, travel as bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
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
        self._errors = {one.__name__: one for one in errors}

    def words(self, value: Any) -> tuple[Words, list[memoryview]]:
        """A value as JSON, and the bytes that belong to it.

        Raises:
            TypeError: it is made of something that is not listed.
        """
        arrays: list[NDArray[Any]] = []
        said = self._said(value, arrays)
        return {"value": said, "arrays": shapes(arrays)}, array_data(arrays)

    def value(self, words: Words, data: memoryview) -> Any:
        """The value that they stand for. Arrays cannot be written to.

        Raises:
            TypeError: it is made of something that is not listed.
        """
        if any(np.dtype(kind).kind not in _KINDS for kind, _ in words["arrays"]):
            raise TypeError("an array of objects came from a worker")
        return self._meant(words["value"], arrays_of(words["arrays"], data.toreadonly()))

    def _said(self, value: Any, arrays: list[NDArray[Any]]) -> Any:
        kind = type(value)
        if value is None or kind in (bool, str, float) or (kind is int and abs(value) < 1 << 63):
            return value
        if kind in _SCALARS:
            name, write, _ = _SCALARS[kind]
            return {name: write(value)}
        if kind in (list, tuple):
            long = _packed(value) if kind is list and len(value) > _LONG else None
            if long is not None:
                arrays.append(np.frombuffer(long[1], np.uint8))
                return {long[0]: len(arrays) - 1}
            return {kind.__name__: [self._said(one, arrays) for one in value]}
        if kind is dict:
            return {"dict": [[self._said(k, arrays), self._said(v, arrays)] for k, v in value.items()]}
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in _KINDS:
                raise TypeError(f"an array of {value.dtype} cannot be sent")
            arrays.append(value)
            return {"array": len(arrays) - 1}
        if isinstance(value, Path):
            return {"path": str(value)}
        if isinstance(value, DuettoError):
            name = next(one.__name__ for one in kind.__mro__ if one.__name__ in self._errors)
            return {"error": [name, value.what, value.hint, value.stable_code]}
        if is_dataclass(value) and self._classes.get(kind.__name__) is kind:
            held = {one.name: self._said(getattr(value, one.name), arrays) for one in fields(value)}
            return {"class": kind.__name__, "fields": held}
        raise TypeError(f"{kind.__name__} cannot be sent")

    def _meant(self, said: Any, arrays: tuple[NDArray[Any], ...]) -> Any:
        if not isinstance(said, dict):
            return said
        if "class" in said:
            held = {name: self._meant(one, arrays) for name, one in said["fields"].items()}
            return self._listed(self._classes, said["class"])(**held)
        (kind, inner), *more = said.items()
        if not more:
            if kind in _READ:
                return _READ[kind](inner)
            if kind in ("list", "tuple"):
                held = [self._meant(one, arrays) for one in inner]
                return held if kind == "list" else tuple(held)
            if kind == "dict":
                return {self._meant(key, arrays): self._meant(one, arrays) for key, one in inner}
            if kind == "array":
                return arrays[inner]
            if kind == "texts":
                return arrays[inner].tobytes().decode("utf-8", "surrogatepass").split("\n")
            if kind == "ints":
                return [int(one, 16) for one in arrays[inner].tobytes().split()]
            if kind == "path":
                return Path(inner)
            if kind == "error":
                name, what, hint, code = inner
                return self._listed(self._errors, name)(what, hint, code=code)
        raise TypeError(f"{kind} is not known")

    @staticmethod
    def _listed(known: Mapping[str, Any], name: str) -> Any:
        if name not in known:
            raise TypeError(f"{name} is not listed")
        return known[name]


def _packed(values: list[Any]) -> tuple[str, bytes] | None:
    """A list of texts without line ends, or of integers, as bytes; None for others."""
    kinds = {*map(type, values)}
    if kinds == {str}:
        joined = "\n".join(values)
        if joined.count("\n") == len(values) - 1:
            return "texts", joined.encode("utf-8", "surrogatepass")
    if kinds == {int}:
        return "ints", " ".join(map(hex, values)).encode()
    return None
