"""Specifications as TOML documents: read from a file, and checked for keys that nobody knows."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anonymizer.errors import FileError, SpecError
from commons.errors import near


def document_of(path: Path) -> dict[str, Any]:
    """The parsed document in a file of UTF-8, with a byte order mark or without.

    Raises:
        FileError: it cannot be read.
        SpecError: it is not TOML; says where.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as problem:
        raise FileError(f"{path} cannot be read: {type(problem).__name__}.", "Check the path.") from None
    except tomllib.TOMLDecodeError as problem:
        raise SpecError(f"{path.name} is not TOML: {problem}.", "Correct the named place.") from None


def only(given: Mapping[str, Any], known: tuple[str, ...], place: str) -> None:
    """Check the keys of a table.

    Args:
        given: the table.
        known: the keys that it may have.
        place: how errors call it.

    Raises:
        SpecError: it has another.
    """
    for key in given:
        if key not in known:
            raise SpecError(f"{place} has an unknown key {key!r}.", near(key, known))


def section(document: Mapping[str, Any], key: str, place: str) -> Mapping[str, Any]:
    """A table of a document; empty if it is not there.

    Raises:
        SpecError: something else than a table stands there.
    """
    found = document.get(key, {})
    if not isinstance(found, Mapping):
        raise SpecError(f"{place}: {key} is not a table.", f"Write it below [{key}].")
    return found


def listed(document: Mapping[str, Any], key: str, place: str) -> list[Any]:
    """A list of a document; empty if it is not there.

    Raises:
        SpecError: something else than a list stands there.
    """
    found = document.get(key, [])
    if not isinstance(found, list):
        raise SpecError(f"{place}: {key} is not a list.", f"Write each below [[{key}]].")
    return found
