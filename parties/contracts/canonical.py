"""Canonical JSON: one text for one value, so that a digest names a value.

There are no floats in it, and no text that is not plain: it is the border of `parties.texts` for all that
peers send and all that parties sign.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from parties.texts import is_plain
from smc.errors import ProtocolViolation

DEPTH = 12
"""The deepest nesting that a message from a peer may have."""


class UnfitTextError(ValueError):
    """A text or key is not plain, see `parties.texts`."""


def encode(value: Any) -> bytes:
    """The canonical text: sorted keys, no blanks, ASCII.

    Args:
        value: dictionaries with text keys, lists, plain texts, integers, booleans and None.

    Raises:
        TypeError: something else is in it, a float for instance.
        ValueError: it is too deep, or a text or key is not plain.
    """
    _check(value, 0)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def decode(data: bytes, limit: int) -> Any:
    """Read a canonical text that a peer has sent.

    Args:
        data: the text.
        limit: the largest number of bytes.

    Raises:
        ProtocolViolation: it is too long, too deep, not JSON or not canonical, or a text is not plain.
    """
    if len(data) > limit:
        raise ProtocolViolation(f"A job message of {len(data)} bytes came; at most {limit} are allowed.")
    try:
        value = json.loads(data.decode("ascii"), parse_float=_no_float, parse_constant=_no_float)
        again = encode(value)
    except UnfitTextError:
        raise ProtocolViolation("A job message from the peer has a text that is not printable.") from None
    except (ValueError, TypeError, RecursionError):
        raise ProtocolViolation("A job message from the peer is not canonical JSON.") from None
    if again != data:
        raise ProtocolViolation("A job message from the peer is not in canonical form.")
    return value


def _no_float(text: str) -> NoReturn:
    raise ValueError(f"a number with {len(text)} characters is not an integer")


def _check(value: Any, depth: int) -> None:
    if depth > DEPTH:
        raise ValueError("too deep")
    if isinstance(value, str):
        if not is_plain(value):
            raise UnfitTextError("a text is not plain")
    elif isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError("a key is not a text")
            _check(key, depth)
            _check(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth + 1)
    elif value is not None and not isinstance(value, int):
        raise TypeError(f"{type(value).__name__} has no canonical form")
