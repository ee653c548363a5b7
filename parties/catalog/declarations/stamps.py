"""Whether a source is the same as when it was read, without reading it again."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from parties.catalog.declarations.declaration import DatasetDeclaration

_SETTLED_SECONDS: Final = 2.0
"""File systems tell two changes apart that are further from each other than this."""


def stamp_of(dataset: DatasetDeclaration) -> tuple[int, ...] | None:
    """What differs when the file of a data set was written, replaced or renamed in between.

    The time of the last change of a file cannot be set by programs, as that of its content can.

    Returns:
        None where that cannot be told: of databases, and of files that were changed just now, since another
        change could have the same time.
    """
    if dataset.source is None:
        return None
    try:
        found = os.stat(Path(dataset.source))
    except OSError:
        return None
    if not found.st_ctime + _SETTLED_SECONDS < time.time():
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
