"""The results of finished jobs: one sealed file each, so that deleting one frees its space."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from parties.disk import SPACE, room
from parties.errors import StorageError
from parties.exits import why_unreadable
from parties.jobs.storage.trash import Trash
from parties.pki.files import PRIVATE, PRIVATE_FOLDER, write_atomically
from parties.pki.sealing import Seal

_TRIED: Final = 8
"""Results with which the key is tried."""

_NAME = re.compile(r"[0-9a-f]{16}")
_UNKNOWN: Final = ".unknown"
_RELEASED: Final = ".released"
_ENDING: Final = ".sealed"
_PLAIN: Final = ".json"
"""The ending of results that earlier releases kept in clear."""


class ResultFolder:
    """The folder of a party's results, made with mode 0700 when the first run begins.

    Args:
        home: the folder of the party; the results are in `results` there, under `keys/results.key`.
    """

    def __init__(self, home: Path) -> None:
        self._path = home / "results"
        self._seal = Seal(home)
        self._trash = Trash(self._path)

    def write(self, job_id: str, text: str) -> None:
        """Keep the result of a job, in place of one that is there; it is on the disk on return.

        Raises:
            StorageError: it cannot be written; nothing of it stays.
        """
        self._make_key()
        sealed = self._seal.seal(job_id, text)
        try:
            self._path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            write_atomically(self._file(job_id), sealed, PRIVATE)
        except OSError as problem:
            raise StorageError(
                f"The result of job {job_id} cannot be written: {why_unreadable(problem)}.",
                f"Free space on the disk of {self._path}.",
            ) from None

    def read(self, job_id: str) -> str:
        """The result of a job.

        Raises:
            StorageError: it cannot be read; with code `results-key` for want of the key that it was sealed
                with.
        """
        return self._read(job_id, self._file(job_id))

    def seal_all(self) -> None:
        """Seal the results that earlier releases kept in clear; begun anew after a crash.

        Raises:
            StorageError: one cannot be read, sealed or deleted.
        """
        for job_id in sorted(self._names(_PLAIN)):
            plain = self._file(job_id).with_suffix(_PLAIN)
            try:
                self.write(job_id, plain.read_text(encoding="utf-8"))
                plain.unlink()
            except (OSError, UnicodeDecodeError) as problem:
                raise StorageError(
                    f"The result of job {job_id} cannot be sealed: {why_unreadable(problem)}.",
                    f"Check the rights of {self._path}, or restore {plain} from a copy.",
                ) from None

    def delete(self, job_id: str) -> None:
        """Delete the result of a job for good, if there is one, in the trash or not.

        Raises:
            StorageError: it cannot be deleted.
        """
        with self._doing(job_id, "deleted"):
            for end in (_ENDING, _RELEASED):
                self._file(job_id, end).unlink(missing_ok=True)
            for end in (_ENDING, _UNKNOWN):
                self._trash.delete(self._file(job_id, end).name)

    def has_room(self) -> bool:
        """Whether so much is free on the disk that a run may begin."""
        return room(self._path.parent) >= 0

    def release(self, job_id: str) -> bool:
        """Delete what a result holds, which takes no room; an empty file says so until `delete`.

        Returns:
            Whether there is a result.

        Raises:
            StorageError: it cannot be deleted.
        """
        path, released = self._file(job_id), self._file(job_id, _RELEASED)
        with self._doing(job_id, "deleted"):
            if not path.exists():
                return False
            path.rename(released)
            os.truncate(released, 0)
        return True

    def released_jobs(self) -> set[str]:
        """The jobs whose results `release` has deleted, and `delete` not yet. Raises as `aside`."""
        with self._doing("", "looked at"):
            return self._names(_RELEASED)

    def names(self) -> set[str]:
        """The jobs that have a result here."""
        return self._names(_ENDING)

    # What lies aside

    def set_aside(self, job_id: str, when: datetime) -> Path:
        """Put a result aside whose job is not known here as one that has kept it; returns its place.

        Raises:
            StorageError: it cannot be renamed.
        """
        with self._doing(job_id, "put aside"):
            place = self._file(job_id).rename(self._file(job_id, _UNKNOWN))
            os.utime(place, (when.timestamp(), when.timestamp()))
            return place

    def touch_aside(self, job_id: str, when: datetime) -> None:
        """Note another time at which a result was put aside, if it lies there. Raises as `set_aside`."""
        with self._doing(job_id, "put aside"), suppress(FileNotFoundError):
            os.utime(self._file(job_id, _UNKNOWN), (when.timestamp(), when.timestamp()))

    def take_up(self, job_id: str) -> None:
        """Bring back what was put aside. Raises as `set_aside`."""
        with self._doing(job_id, "taken up"):
            self._file(job_id, _UNKNOWN).rename(self._file(job_id))

    def aside(self) -> dict[str, datetime]:
        """The jobs whose results were put aside, and since when they lie there.

        Raises:
            StorageError: that cannot be seen.
        """
        with self._doing("", "looked at"):
            return {
                name: datetime.fromtimestamp(self._file(name, _UNKNOWN).stat().st_mtime, UTC)
                for name in self._names(_UNKNOWN)
            }

    def read_aside(self, job_id: str) -> str:
        """A result that was put aside, or lies in the trash. Raises as `read`."""
        in_trash = self._file(job_id, folder=self._trash.path)
        return self._read(job_id, in_trash if in_trash.exists() else self._file(job_id, _UNKNOWN))

    # The trash

    def discard(self, job_id: str, when: datetime) -> bool:
        """Put a result, or what was put aside of one, into the trash; whether there is one.

        Raises:
            StorageError: it cannot be moved.
        """
        with self._doing(job_id, "deleted"):
            found = [self._trash.put(self._file(job_id, end).name, when) for end in (_ENDING, _UNKNOWN)]
        return any(found)

    def discarded_jobs(self) -> dict[str, datetime]:
        """The jobs whose results are in the trash, and since when. Raises `StorageError` as `aside`."""
        with self._doing("", "looked at"):
            found = {Path(name).stem: when for name, when in self._trash.since().items()}
        return {name: when for name, when in found.items() if _NAME.fullmatch(name)}

    def take_back(self, job_id: str) -> None:
        """Bring a result back from the trash. Raises as `discard`."""
        with self._doing(job_id, "brought back"):
            for end in (_ENDING, _UNKNOWN):
                self._trash.take_back(self._file(job_id, end).name)

    def require_room(self) -> None:
        """Check that a run can keep its result: there is the folder, space, and the key.

        Raises:
            StorageError: results cannot be written to the folder, or less than `SPACE` bytes are free (code
                `disk-full`), or the key cannot be used, or is lost or another one while results need it
                (code `results-key`).
        """
        self.check_place()
        with self._doing("", "made"):
            self._path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        self._make_key()
        self.check_key()
        if (left := room(self._path.parent)) < 0:
            raise StorageError(
                f"Only {left + SPACE >> 20} MB are free on the disk of {self._path.parent}; "
                f"a run needs {SPACE >> 20} MB, so that what it pays for can be kept.",
                "Free space, for instance with `duetto job forget JOB`.",
                code="disk-full",
            )

    def check_key(self) -> None:
        """Check that the key opens what is here, so that no two keys are needed later; nothing is made.

        A few results are tried, since one may be damaged.

        Raises:
            StorageError: it opens none of them, or cannot be used (code `results-key`).
        """
        problem = None
        for job_id in sorted(self.names())[:_TRIED]:
            try:
                self.read(job_id)
            except StorageError as error:
                problem = problem or error
            else:
                return
        if problem is not None:
            raise problem
        if self._seal.path.exists():
            self._seal.seal("", "")

    def check_place(self) -> None:
        """Check that a result could be written here; the folder is not made if it is missing.

        Raises:
            StorageError: it could not.
        """
        if not os.path.lexists(self._path):
            return
        try:
            with tempfile.TemporaryFile(dir=self._path) as file:
                file.write(bytes(1))
                file.flush()
                os.fsync(file.fileno())
        except OSError as problem:
            is_full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
            raise StorageError(
                f"Results cannot be written to {self._path}: {why_unreadable(problem)}.",
                "Free space, for instance with `duetto job forget JOB`."
                if is_full
                else "Make it a folder of this user with mode 0700, or move away what is in its place.",
            ) from None

    def _make_key(self) -> None:
        """Make the key with which results are sealed, unless there are results already: then it is lost."""
        if not self.names():
            self._seal.make()

    def _names(self, ending: str) -> set[str]:
        files = os.listdir(self._path) if self._path.is_dir() else []
        names = (file.removesuffix(ending) for file in files if file.endswith(ending))
        return {name for name in names if _NAME.fullmatch(name)}

    def _read(self, job_id: str, path: Path) -> str:
        try:
            sealed = path.read_bytes()
        except OSError as problem:
            raise StorageError(
                f"The result of job {job_id} cannot be read: {why_unreadable(problem)}.",
                f"Restore {path} from a copy.",
            ) from None
        return self._seal.open(job_id, sealed)

    @contextmanager
    def _doing(self, job_id: str, what: str) -> Iterator[None]:
        whose = f"The result of job {job_id}" if job_id else "The folder of the results"
        try:
            yield
        except OSError as problem:
            raise StorageError(
                f"{whose} cannot be {what}: {why_unreadable(problem)}.", f"Check the rights of {self._path}."
            ) from None

    def _file(self, job_id: str, ending: str = _ENDING, folder: Path | None = None) -> Path:
        if not _NAME.fullmatch(job_id):
            raise StorageError(
                f"{job_id[:32]!r} is not the name of a job.", "List the jobs with `duetto job list`."
            )
        return (folder or self._path) / f"{job_id}{ending}"
