"""What a server sent, checked before it is used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any, Final, TypeVar

from anonymizer.documents.engines.engine import EngineError

Kind = TypeVar("Kind")

_WORDS: Final = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number"}
_LONGEST: Final = 2000
_TAGS: Final = re.compile(r"<[!/a-zA-Z][^<>]*>")
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
"""What is not text, or turns the direction of the text around it."""


def member(values: Any, key: str, kind: type[Kind], shown: str) -> Kind:
    """A member of an object that was received.

    Args:
        values: the object, if it is one.
        key: its member.
        kind: what this must be.
        shown: how people call the server.

    Raises:
        EngineError: it is not an object, has no such member, or one of another kind.
    """
    found = values.get(key) if isinstance(values, Mapping) else None
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        raise EngineError(
            f"{shown} answers in JSON, but {key!r} is not {_WORDS[kind]} there.",
            "Check its kind and its address.",
        )
    return found


def printable_name(text: str) -> str:
    """A received name as people can read it, of bounded length."""
    name = plain(text)
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def plain(text: str) -> str:
    """A text without tags, control characters and marks of direction, its blanks made one."""
    return " ".join(_CONTROLS.sub(" ", unescape(_TAGS.sub(" ", text))).split())
