"""Reads files that somebody names, up to a stated size."""

from __future__ import annotations

from pathlib import Path

from parties.exits import why_unreadable
from smc.errors import DuettoError, UsageError


def read_bounded(path: Path, most: int, too_long: DuettoError) -> bytes:
    """The bytes of a file.

    Args:
        path: of the file.
        most: bytes that it may have; no more than one further byte is read.
        too_long: raised where it has more.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as problem:
        raise UsageError(
            f"{path} cannot be read: {why_unreadable(problem)}.", "Give the path of a file that can be read."
        ) from None
    if len(data) > most:
        raise too_long
    return data
