"""Files that are whole or absent: written beside their place, and renamed at the end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from commons.logs.files import sync


@contextmanager
def replacing(path: Path, mode: int, *, prefix: str = "", suffix: str = ".new") -> Iterator[Path]:
    """A new file beside a wanted one, which takes its name at the end if all went well.

    A crash leaves the old file or the new one; file and folder are on the disk then. Until the end only its
    owner can read the new one.

    Args:
        path: the wanted file.
        mode: its rights.
        prefix: of the name of the new one; a point and the wanted name unless given.
        suffix: of the same.

    Raises:
        OSError: it cannot be written; nothing of it is left.
    """
    handle, name = tempfile.mkstemp(suffix, prefix or f".{path.name}.", path.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.chmod(mode)
        part.replace(path)
        sync(path.parent)
    finally:
        part.unlink(missing_ok=True)
