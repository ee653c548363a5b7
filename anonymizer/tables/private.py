"""Tables for the steward alone, which hold personal data: only their owner can read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anonymizer.tables import files


def write_private(content: Any, path: str | Path) -> None:
    """Write a frame as plain CSV or Parquet; only the owner can read the file, from its first byte on.

    Raises:
        FileError: it cannot be written; no part of it was.
        TableError: a column holds what a file of this kind cannot hold.
    """
    with files.append_to(path, private=True) as append:
        append(content)
