"""Answers of engines kept on the disk, so that no word is sent twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from anonymizer.documents.engines.engine import RESULTS, Engine, Hit
from anonymizer.errors import FileError

_DAY: Final = 86_400


class Cached:
    """An engine whose answers are kept for a time.

    What is kept is as confidential as the documents: the answers tell what was searched for. The folder is of
    its owner alone (0700), its files too (0600), and it belongs on the machine of the documents. Failures are
    never kept. A file that is broken counts as not there.

    Args:
        engine: the engine; its name tells it apart from others in the folder.
        folder: where to keep answers; made if it is not there.
        days: after which an answer is asked for again and the old one removed; over 0.
        clock: seconds since 1970.

    Raises:
        FileError: the folder cannot be made, or others can look into it.
    """

    def __init__(
        self, engine: Engine, folder: Path, days: float = 30, clock: Callable[[], float] = time.time
    ) -> None:
        self.engine = engine
        self.folder = folder
        self._seconds = days * _DAY
        self._clock = clock
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = folder.lstat()
            closed = not status.st_mode & 0o077 and status.st_uid == os.geteuid()
            if folder.is_symlink() or not closed:
                raise FileError(
                    f"Others may look into the folder {folder}, or it is only a link.",
                    f"Name a folder of your own, and close it: chmod 700 {folder}",
                )
            for path in [*folder.glob("*.json"), *folder.glob("*.part")]:
                if self._old(path):
                    path.unlink(missing_ok=True)
        except OSError as problem:
            raise FileError(
                f"The folder {folder} cannot be used: {type(problem).__name__}.", "Name another one."
            ) from None

    @property
    def name(self) -> str:
        """What people read: that of the engine."""
        return self.engine.name

    @property
    def digest(self) -> str:
        """That of the engine."""
        return self.engine.digest

    @property
    def leaks(self) -> bool:
        """Whether the words of a search may leave the machine."""
        return self.engine.leaks

    def search(self, keywords: tuple[str, ...], limit: int = RESULTS) -> tuple[Hit, ...]:
        """What the engine finds, or found.

        Args:
            keywords: as they are written.
            limit: at most so many hits.

        Raises:
            EngineError: as the engine.
            FileError: the answer cannot be written.
        """
        question = json.dumps([self.engine.name, list(keywords), limit])
        path = self.folder / f"{hashlib.sha256(question.encode()).hexdigest()}.json"
        found = None if self._old(path) else _read(path)
        if found is None:
            found = self.engine.search(keywords, limit)
            self._write(path, found)
        return found

    def _old(self, path: Path) -> bool:
        with contextlib.suppress(FileNotFoundError):
            return not 0 <= self._clock() - path.stat().st_mtime < self._seconds
        return True

    def _write(self, path: Path, hits: tuple[Hit, ...]) -> None:
        try:
            handle, part = tempfile.mkstemp(suffix=".part", dir=self.folder)  # 0600
            with os.fdopen(handle, "w", encoding="utf-8") as opened:
                json.dump([[hit.name, hit.text] for hit in hits], opened)
            os.utime(part, (self._clock(),) * 2)
            Path(part).replace(path)
        except OSError as problem:
            raise FileError(
                f"The folder {self.folder} cannot be written: {type(problem).__name__}.",
                "Make room there, or search without it.",
            ) from None


def _read(path: Path) -> tuple[Hit, ...] | None:
    """The hits in a file, if it holds any list of them."""
    try:
        found: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    whole = isinstance(found, list) and all(
        isinstance(one, list) and len(one) == 2 and all(isinstance(part, str) for part in one)
        for one in found
    )
    return tuple(Hit(name, text) for name, text in found) if whole else None
