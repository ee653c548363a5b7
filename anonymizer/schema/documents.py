"""Specifications as TOML documents, and the words for what is wrong in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import tomli_w

from anonymizer.errors import FileError, SpecError
from commons.settings.table import StrictTable
from commons.settings.toml import read
from commons.settings.wording import SETTINGS, Wording

_RANGE: Final = ("= {{}} is out of range", "Choose {minimum} to {maximum}.")
DOCUMENTS: Final = Wording(
    named="{place}, {word} {name!r}",
    table=("{place} is not a table.", "Write its keys below [name], or as {{ ... }}."),
    tables=("is not a list", "Write each below [[{key}]]."),
    unknown=("{place} has an unknown key {key!r}.", "{near}"),
    missing=("{place} lacks {key}.", "{meant}"),
    kinds={
        **SETTINGS.kinds,
        str: ("is not a text", "Put it in quotes."),
        Path: ("is not a path", "Write one in quotes, without control characters."),
        int: ("= {value!r} is not a whole number", "Write, for example, 3."),
        float: ("= {value!r} is not a number", "Write, for example, 0.5."),
        bool: ("= {value!r} is neither true nor false", "Write true or false."),
        list: ("is not a list of words", 'Write it as ["a", "b"].'),
    },
    below=_RANGE,
    above=_RANGE,
    listed=("{place}: {value!r} is not one of {key}.", "{near}"),
)
"""The words of errors such as `spec.toml, attack: keywords = 6 is out of range`."""


def table_of(document: Any, place: str, folder: Path = Path()) -> StrictTable:
    """A table of a specification, to be read.

    Args:
        document: the parsed table.
        place: how errors call it.
        folder: where paths are meant from.

    Raises:
        SpecError: it is not a table.
    """
    return StrictTable(document, place, SpecError, DOCUMENTS, folder)


def document_of(path: Path) -> dict[str, Any]:
    """The parsed document in a file of UTF-8, with a byte order mark or without.

    Raises:
        FileError: it cannot be read.
        SpecError: it is not TOML; says where.
    """
    return read(path, SpecError, float, unreadable=FileError)


def key_of(name: str) -> str:
    """The name of a column as a key of a specification, in quotes where it has blanks or brackets."""
    return tomli_w.dumps({name: 0}).removesuffix(" = 0\n")
