"""Whether what a specification says fits what a method takes, by the annotations of its constructor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from anonymizer.errors import SpecError
from anonymizer.methods.contract.method import Method
from commons.settings.shapes import Document

_WORDS: Final[Mapping[Any, tuple[str, str]]] = {
    bool: ("true or false", "of true or false"),
    int: ("a whole number", "of whole numbers"),
    float: ("a number", "of numbers"),
    str: ("a text", "of texts"),
}
"""Of each type how one value and how a list is called."""

_TYPES: Final[Mapping[Any, str]] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def check(method: type[Method], given: Mapping[str, Any], place: str) -> None:
    """Check the parameters of a step.

    Args:
        method: the kind of method.
        given: parameters that it has, lists as tuples.
        place: how errors call the step.

    Raises:
        SpecError: a value is of the wrong type; says what to write instead.
    """
    hints = get_type_hints(method.__init__)
    for key, value in given.items():
        if not fits(value, hints[key]):
            raise SpecError(
                f"{place}: {key} = {value!r} is of the wrong type.", f"Write {describe_type(hints[key])}."
            )


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type; a whole number is a number as well, a truth value is not."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if kind in (int, float):
        return isinstance(value, (int, float) if kind is float else int) and not isinstance(value, bool)
    if kind is Any or not (isinstance(kind, type) and isinstance(value, kind)):
        return kind is Any
    if isinstance(value, Mapping) and inner:
        return all(fits(key, inner[0]) and fits(one, inner[1]) for key, one in value.items())
    if not (isinstance(value, tuple) and inner):
        return True
    each = inner[:1] * len(value) if kind is not tuple or inner[-1] is Ellipsis else inner
    return len(value) == len(each) and all(map(fits, value, each))


def describe_type(hint: Any) -> str:
    """An annotated type in words."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return " or ".join(describe_type(one) for one in inner if one is not NoneType)
    if kind is Mapping:
        return f"a table with {describe_type(inner[1])} for each column"
    if kind in (tuple, Sequence):
        return f"a list {_WORDS[inner[0]][1]}" if inner[0] in _WORDS else "a list"
    return _WORDS[kind][0] if kind in _WORDS else "what the method takes"


def parameter_schema(method: type[Method]) -> Document:
    """JSON Schema of the parameters of a method, by the annotations of its constructor."""
    hints = get_type_hints(method.__init__)
    return {key: _schema(hints.get(key, Any)) for key in method().get_params()}


def _schema(hint: Any) -> Document:
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return {"anyOf": [_schema(one) for one in inner if one is not NoneType]}
    if kind in (tuple, Sequence):
        return {"type": "array"}
    if kind is Mapping:
        return {"type": "object", "additionalProperties": _schema(inner[1])}
    return {"type": _TYPES[kind]} if kind in _TYPES else {}
