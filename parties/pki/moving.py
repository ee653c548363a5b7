"""A home on its way to another machine: packed into one file, marked as moved, unpacked and checked there.

The mark is on disk before the archive has its name, and a home with the mark has no daemon any more. So of a
home and its archive at most one can spend budget: whatever moment the machine fails at, the home is in use
and there is no archive, or there may be one and the home is out of use. Packing again gives the same content.

What this cannot prevent: an archive unpacked twice, or a copy of the home made by other means. The peers
notice those by the heads of the ledgers, see `parties.ledger.heads`.
"""

from __future__ import annotations

import datetime as dt
import fcntl
import hashlib
import json
import os
import re
import stat
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from parties.config import Config
from parties.errors import ConfigError
from parties.pki.files import PRIVATE, PRIVATE_FOLDER, sweep_left, temporary_folder, write_atomically
from parties.pki.lock import MOVED, only_one
from parties.places import CONFIG_NAME

MANIFEST: Final = "duetto-home.json"
VERSION: Final = 1
TAKEN: Final = "backup"
"""Where the list of a backup says when it was made; that of a home that moved says nothing there."""

_MAX_MANIFEST: Final = 64 << 20
_CHUNK: Final = 1 << 20
_PACKING: Final = ".new"
_ARRIVING: Final = ".arriving"
_LEFT_OUT: Final = ("run", "pools", MOVED)
_DIGEST: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_AGAIN: Final = "Copy the archive again, or pack the home again with `duetto party pack`."


def pack(config: Config, archive: Path) -> dict[str, str]:
    """Write a home into an archive and mark the home as moved; it is never started again.

    Left out are `run` and `pools`: what was prepared for later comparisons must not exist twice.

    Args:
        config: of the home.
        archive: a file that does not exist, outside of the home.

    Returns:
        The SHA-256 of each file by its path in the home, hexadecimal.

    Raises:
        ConfigError: the daemon runs, the archive exists or lies in the home, or the home holds a file that
            cannot be packed or belongs elsewhere.
    """
    archive = archive.absolute()
    check_place(config, archive)
    with only_one(config, moved=True), new_archive(archive) as file:
        digests = write_archive(config.name, config.home.resolve(), file)
        mark = {"moved": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"), "archive": str(archive)}
        write_atomically(config.home / MOVED, json.dumps(mark).encode() + b"\n", PRIVATE)
    return digests


def check_place(config: Config, archive: Path) -> None:
    """Check that a home can be put into an archive of that name.

    Raises:
        ConfigError: the archive exists or lies in the home, or the configuration lies elsewhere.
    """
    home = config.home.resolve()
    if config.path.resolve() != home / CONFIG_NAME:
        raise ConfigError(
            f"The configuration {config.path} does not lie in the home {home} as {CONFIG_NAME}.",
            'Move it there, with home = "." below [party], and try again.',
        )
    if archive.resolve().is_relative_to(home):
        raise ConfigError(f"The archive {archive} would lie in the home.", "Name a file in another folder.")
    if archive.exists():
        raise ConfigError(f"{archive} exists already; nothing was changed.", "Name another file.")


@contextmanager
def new_archive(archive: Path) -> Iterator[IO[bytes]]:
    """A private file that becomes the archive, whole, if the body of the `with` does not fail."""
    sweep_left(_folder(archive), archive.name, _PACKING)
    descriptor, name = tempfile.mkstemp(_PACKING, f".{archive.name}.", _folder(archive))
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield file
        temporary.rename(archive)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def unpack(archive: Path, home: Path, *, backup: bool = False) -> Iterator[tuple[Path, str]]:
    """Unpack an archive beside the home-to-be; it becomes the home if the body of the `with` does not fail.

    Args:
        archive: of a home that has moved, or a backup of one.
        home: a folder that does not exist or is empty.
        backup: which of the two it has to be.

    Yields:
        The folder with the files, each with the size and digest of the manifest; and when a backup was made.

    Raises:
        ConfigError: the folder holds something, or the archive is not whole.
    """
    home = home.absolute()
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise ConfigError(f"{home} is not empty; nothing was changed.", "Name another folder with --home.")
    home.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(home.parent, home.name, _ARRIVING) as arriving:
        try:
            with tarfile.open(archive, "r:") as tar:
                taken = _read(tar, arriving, backup=backup)
        except (OSError, tarfile.TarError) as error:
            raise ConfigError(f"{archive} cannot be unpacked ({type(error).__name__}).", _AGAIN) from None
        (arriving / "run").mkdir(PRIVATE_FOLDER, exist_ok=True)
        yield arriving, taken
        arriving.rename(home)


def _folder(archive: Path) -> Path:
    if not archive.parent.is_dir():
        raise ConfigError(f"The folder {archive.parent} does not exist.", "Make it, or name another file.")
    return archive.parent


def write_archive(name: str, home: Path, file: IO[bytes], **about: str) -> dict[str, str]:
    """Write the files of a folder into an archive, with their list; on return it is on the disk.

    Args:
        name: of the party.
        home: the folder.
        file: the archive.
        about: what the list says besides.

    Returns:
        The SHA-256 of each file by its path in the folder, hexadecimal.

    Raises:
        ConfigError: the folder holds a link or such.
    """
    paths = sorted(_files(home))
    digests = {str(path): _digest(home / path) for path in paths}
    manifest = {"duetto_home": VERSION, "name": name, "files": digests, **about}
    with tarfile.open(fileobj=file, mode="w:", format=tarfile.PAX_FORMAT) as tar:
        text = json.dumps(manifest, sort_keys=True).encode()
        with tempfile.TemporaryFile() as head:
            head.write(text)
            head.seek(0)
            tar.addfile(_entry(MANIFEST, len(text)), head)
        for path in paths:
            with (home / path).open("rb") as one:
                tar.addfile(_entry(str(path), os.fstat(one.fileno()).st_size), one)
    file.flush()
    os.fsync(file.fileno())
    return digests


def _files(home: Path) -> Iterator[PurePosixPath]:
    for path in home.rglob("*"):
        relative = path.relative_to(home)
        if relative.parts[0] in _LEFT_OUT or (path.name.startswith(".") and path.name.endswith(".new")):
            continue
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            yield PurePosixPath(relative.as_posix())
        elif not stat.S_ISDIR(mode):
            raise ConfigError(
                f"{path} is neither a file nor a folder.",
                "Put the file itself in its place, or move it away.",
            )


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, PRIVATE
    return entry


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(tar: tarfile.TarFile, folder: Path, *, backup: bool) -> str:
    """Unpack what the manifest names, and refuse everything else; when a backup was made."""
    entries = iter(tar)
    digests, taken = _manifest(tar, next(entries, None))
    if bool(taken) is not backup:
        what, command = ("a backup", "restore") if taken else ("the archive of a home that moved", "unpack")
        raise ConfigError(f"That is {what}.", f"Use `duetto party {command}`.")
    missing = set(digests)
    for entry in entries:
        if entry.name not in missing or not entry.isreg():
            raise ConfigError(f"The archive holds {entry.name!r}, which its list does not name.", _AGAIN)
        missing.remove(entry.name)
        path = folder / entry.name
        for above in reversed(path.relative_to(folder).parents[:-1]):
            (folder / above).mkdir(PRIVATE_FOLDER, exist_ok=True)
        digest = hashlib.sha256()
        with _content(tar, entry) as source, path.open("xb") as target:
            os.fchmod(target.fileno(), PRIVATE)
            while piece := source.read(_CHUNK):
                digest.update(piece)
                target.write(piece)
            target.flush()
            os.fsync(target.fileno())
        if digest.hexdigest() != digests[entry.name]:
            raise ConfigError(f"{entry.name} has been damaged on its way: its digest differs.", _AGAIN)
    if missing:
        raise ConfigError(f"The archive lacks {min(missing)!r}.", _AGAIN)
    return taken


def _manifest(tar: tarfile.TarFile, first: tarfile.TarInfo | None) -> tuple[dict[str, str], str]:
    if first is None or first.name != MANIFEST or not first.isreg() or first.size > _MAX_MANIFEST:
        raise ConfigError("The file is not an archive of a home.", "Make one with `duetto party pack`.")
    try:
        with _content(tar, first) as source:
            document: Any = json.loads(source.read())
    except (ValueError, RecursionError):
        document = None
    files = document.get("files") if isinstance(document, dict) else None
    if not isinstance(files, dict) or document.get("duetto_home") != VERSION:
        raise ConfigError(
            f"The list in the archive is not of version {VERSION}.",
            "Unpack it with the release that packed it.",
        )
    for name, digest in files.items():
        if not _is_plain(name) or not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise ConfigError(f"The list in the archive has the malformed entry {name!r}.", _AGAIN)
    if CONFIG_NAME not in files:
        raise ConfigError(f"The archive lacks {CONFIG_NAME!r}.", _AGAIN)
    taken = document.get(TAKEN, "")
    if not isinstance(taken, str) or (taken and not _TIME.fullmatch(taken)):
        raise ConfigError("The list in the archive has a malformed time.", _AGAIN)
    return files, taken


def _is_plain(name: str) -> bool:
    parts = name.split("/")
    return (
        all(part not in {"", ".", ".."} and "\0" not in part for part in parts) and parts[0] not in _LEFT_OUT
    )


def _content(tar: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    found = tar.extractfile(entry)
    if found is None:
        raise ConfigError(f"The archive holds no content of {entry.name!r}.", _AGAIN)
    return found
