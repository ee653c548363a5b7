"""Files that are deleted for good after a day, since a clock may have been wrong about their age."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from parties.pki.files import PRIVATE_FOLDER

FOLDER: Final = "trash"


class Trash:
    """The folder `trash` in a folder of files. Its methods raise `OSError` where the disk does not do it.

    Args:
        folder: of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._above = folder
        self.path: Final = folder / FOLDER

    def put(self, name: str, when: datetime) -> bool:
        """Put a file into it; whether there is one of that name."""
        self.path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        place = self.path / name
        try:
            (self._above / name).rename(place)
        except FileNotFoundError:
            return False
        os.utime(place, (when.timestamp(), when.timestamp()))
        return True

    def since(self) -> dict[str, datetime]:
        """The files in it by their names, and when they were put there."""
        found = self.path.iterdir() if self.path.is_dir() else ()
        return {path.name: datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in found}

    def take_back(self, name: str) -> None:
        """Bring a file back, if it is in it."""
        with suppress(FileNotFoundError):
            (self.path / name).rename(self._above / name)

    def delete(self, name: str) -> None:
        """Delete a file for good, if it is in it."""
        with suppress(FileNotFoundError):
            (self.path / name).unlink()
