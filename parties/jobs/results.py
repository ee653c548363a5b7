"""The results of finished jobs: one file each, so that deleting one frees its space."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Final

from parties.errors import StorageError, why_unreadable
from parties.pki.files import PRIVATE, PRIVATE_FOLDER, write_atomically

SPACE: Final = 64 << 20
"""Free bytes without which no run begins: room for the ledger's entries and for most results."""

_NAME = re.compile(r"[0-9a-f]{16}")
_UNKNOWN: Final = ".unknown"
_ENDING = ".json"


class ResultFolder:
    """The folder of a party's results, made with mode 0700 when the first one is written.

    Args:
        path: the folder.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, job_id: str, text: str) -> None:
        """Keep the result of a job, in place of one that is there; it is on the disk on return.

        Raises:
            StorageError: it cannot be written; nothing of it stays.
        """
        try:
            self._path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            write_atomically(self._file(job_id), text.encode(), PRIVATE)
        except OSError as problem:
            raise StorageError(
                f"The result of job {job_id} cannot be written: {why_unreadable(problem)}.",
                f"Free space on the disk of {self._path}.",
            ) from None

    def read(self, job_id: str) -> str:
        """The result of a job.

        Raises:
            StorageError: it cannot be read.
        """
        try:
            return self._file(job_id).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            raise StorageError(
                f"The result of job {job_id} cannot be read: {why_unreadable(problem)}.",
                f"Restore {self._file(job_id)} from a copy.",
            ) from None

    def delete(self, job_id: str) -> None:
        """Delete the result of a job, if there is one.

        Raises:
            StorageError: it cannot be deleted.
        """
        try:
            self._file(job_id).unlink(missing_ok=True)
        except OSError as problem:
            raise StorageError(
                f"The result of job {job_id} cannot be deleted: {why_unreadable(problem)}.",
                f"Check the rights of {self._path}.",
            ) from None

    def set_aside(self, job_id: str) -> Path:
        """Rename the result of a job that nobody knows of, so that it is not in the way; returns its place.

        Raises:
            StorageError: it cannot be renamed.
        """
        place = self._file(job_id).with_suffix(_UNKNOWN)
        try:
            return self._file(job_id).rename(place)
        except OSError as problem:
            raise StorageError(
                f"The result of job {job_id} cannot be renamed: {why_unreadable(problem)}.",
                f"Check the rights of {self._path}.",
            ) from None

    def names(self) -> set[str]:
        """The jobs that have a result here."""
        files = os.listdir(self._path) if self._path.is_dir() else []
        names = (file.removesuffix(_ENDING) for file in files if file.endswith(_ENDING))
        return {name for name in names if _NAME.fullmatch(name)}

    def require_space(self) -> None:
        """Check that there is room for a run.

        Raises:
            StorageError: less than `SPACE` bytes are free (code `disk-full`).
        """
        free = shutil.disk_usage(self._path.parent).free
        if free < SPACE:
            raise StorageError(
                f"Only {free >> 20} MB are free on the disk of {self._path.parent}; "
                f"a run needs {SPACE >> 20} MB, so that what it pays for can be kept.",
                "Free space, for instance with `duetto job prune`.",
                code="disk-full",
            )

    def _file(self, job_id: str) -> Path:
        if not _NAME.fullmatch(job_id):
            raise StorageError(
                f"{job_id[:32]!r} is not the name of a job.", "List the jobs with `duetto job list`."
            )
        return self._path / f"{job_id}{_ENDING}"
