"""What an interrupted run has finished, kept at home so that the next run goes on from there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from anonymizer.errors import FileError
from anonymizer.releases.manifest import program_version
from commons.files import replacing

_FORMAT: Final = 1
_SUFFIX: Final = ".duetto-work"


def work_folder(output: Path) -> Path:
    """The folder beside an output where what is finished is kept; hidden, and never inside of it."""
    return output.parent / f".{output.name}{_SUFFIX}"


def key_of(**parts: Any) -> str:
    """The key of a result: a digest of everything that it depends on, the program's version included.

    Args:
        parts: by name; bytes, or plain JSON values. A part that is left out cannot make a result stale.

    Returns:
        A SHA-256 in hexadecimal.
    """
    plain = {name: _digest(part) if isinstance(part, bytes) else part for name, part in parts.items()}
    return _digest(_canonical({"program": program_version(), "parts": plain}))


@dataclass(frozen=True, slots=True)
class Kept:
    """Results by key, as JSON files in a folder that nobody else may read; they are confidential.

    Each file says its key and a digest of its value. One that is damaged, was cut off, or lies under
    another name is not there: it is computed anew and overwritten.

    Attributes:
        folder: where they are; it need not exist.
    """

    folder: Path

    def get(self, key: str) -> Any:
        """The value of a key, plain JSON values; None if there is none that can be trusted.

        Raises:
            FileError: the folder belongs to somebody else, or is not a folder.
        """
        if not self._there():
            return None
        try:
            entry = json.loads(self._place(key).read_bytes())
            value = entry["value"]
            sound = entry["format"] == _FORMAT and entry["key"] == key and entry["digest"] == _of_value(value)
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        return value if sound else None

    def put(self, key: str, value: Any) -> None:
        """Keep a value, all or nothing.

        Args:
            key: of `key_of`.
            value: plain JSON values, not None.

        Raises:
            FileError: the folder cannot be written in, belongs to somebody else, or is not a folder.
        """
        entry = {"format": _FORMAT, "key": key, "digest": _of_value(value), "value": value}
        with _writing(self.folder):
            if not self._there():
                self.folder.mkdir(mode=0o700, exist_ok=True)
            with replacing(self._place(key), 0o600, prefix="new-") as part:
                part.write_bytes(_canonical(entry))

    def clear(self) -> None:
        """Forget everything.

        Raises:
            FileError: the folder belongs to somebody else, is not a folder, or cannot be removed.
        """
        if self._there():
            with _writing(self.folder):
                shutil.rmtree(self.folder)

    def _place(self, key: str) -> Path:
        return self.folder / f"{key}.json"

    def _there(self) -> bool:
        """Whether the folder is there; it is then made unreadable for others."""
        try:
            found = self.folder.lstat()
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise FileError(
                f"{self.folder} cannot be read: {problem.strerror}.", "Check the folder."
            ) from None
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise FileError(
                f"{self.folder}, where finished documents are kept, is not a folder of your own.",
                "Take it away, or choose another output.",
            )
        if stat.S_IMODE(found.st_mode) != 0o700:
            with _writing(self.folder):
                self.folder.chmod(0o700)
        return True


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise FileError(f"{folder} cannot be written: {reason}.", "Check folder and disk.") from None


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def _of_value(value: Any) -> str:
    return _digest(_canonical(value))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
