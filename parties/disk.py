"""How much room there is on the disk of a home for what runs leave behind."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

SPACE: Final = 64 << 20
"""Free bytes without which no run begins: room for the ledger's entries and for most results."""


def room(folder: Path) -> int:
    """Bytes that are free on the disk of a folder beyond `SPACE`; below 0 where less is free.

    Raises:
        OSError: the disk cannot be asked.
    """
    return shutil.disk_usage(folder).free - SPACE
