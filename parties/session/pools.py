"""Pools of correlated randomness on disk: encrypted, and deleted before they are used.

    keys/pool.key                32 random bytes, made on first use
    pools/<peer>/<name>.pool     one pool, AES-256-GCM; magic, facts and nonce stand before the ciphertext
    pools/<peer>/<name>.damaged  one that could not be read, moved aside
    pools/taken.log              the names of all pools that were ever taken, in hexadecimal
    pools/lock                   locked for every change, so threads and processes see one order

A pool that is taken is first written to the log, then unlinked, and the folder is synced; only then is it
handed out. A crash in between loses the pool. A copy of a pool that was taken is refused by the log; whoever
restores pools and log together gets a pool that the peer no longer has, and the two names do not meet.

Deleting a file does not erase the disk: what remains is ciphertext under the pool key.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from commons.logs.files import lock, open_log, sync
from parties.config import check_name
from parties.errors import ConfigError, PoolError
from parties.kept_pools import MAX_POOLS, KeptPools
from parties.pki.files import PRIVATE, PRIVATE_FOLDER, check_private, read_private, write_atomically
from parties.pki.protection import read_key, write_key

if TYPE_CHECKING:
    from smc.oblivious.pool import PoolInfo

_MAGIC: Final = b"duetto/pool/v1\0"
_FACTS: Final = struct.Struct(">32sQHBQ")
_HEAD_BYTES: Final = len(_MAGIC) + _FACTS.size
_NONCE_BYTES: Final = 12
_KEY_BYTES: Final = 32
_NAME_BYTES: Final = 32
_MAX_BYTES: Final = (1 << 31) - 64
_SUFFIX: Final = ".pool"


@dataclass(frozen=True, slots=True)
class PoolFile:
    """A pool on disk, as its head describes it; the head is checked when the pool is taken.

    Attributes:
        peer: the other party.
        stored: its description.
        size: bytes of the file.
        made: when it was made, seconds since 1970.
    """

    peer: str
    stored: PoolInfo
    size: int
    made: int


class PoolStore:
    """The pools of one party. Thread-safe, and safe among processes.

    Args:
        home: the party's folder.
        clock: the time, in seconds since 1970.
    """

    def __init__(self, home: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = home / "pools"
        self._taken_path = self._folder / "taken.log"
        self._key_path = home / "keys" / "pool.key"
        self._clock = clock

    def with_peer(self, peer: str) -> PeerPoolFolder:
        """The pools with one peer, as a session uses them."""
        return PeerPoolFolder(self, check_name(peer))

    def put(self, peer: str, stored: PoolInfo, data: bytes) -> None:
        """Keep a pool; on return it is whole on disk.

        Args:
            peer: the other party.
            stored: its description.
            data: its secrets, encrypted here.

        Raises:
            PoolError: as many pools are kept as may be, it is too large, or one of its name is or was kept.
            ConfigError: the folder or the key cannot be used.
        """
        if len(stored.name) != _NAME_BYTES or len(data) > _MAX_BYTES:
            raise PoolError(
                "This is not a pool, or it is too large to be kept.", "Prepare fewer comparisons."
            )
        with self._lock():
            folder = self._peer_folder(peer)
            _make_private(folder)
            path = folder / (stored.name.hex() + _SUFFIX)
            if path.exists() or stored.name in self._taken_names():
                raise PoolError("A pool of this name was kept before.", "Prepare a new one.")
            if len(list(folder.glob("*" + _SUFFIX))) >= MAX_POOLS:
                raise PoolError(
                    f"{MAX_POOLS} pools with {peer!r} are kept, as many as are allowed.",
                    "Use them up, or delete them with `duetto pool clear`.",
                )
            facts = (stored.name, stored.comparisons, stored.bits, stored.holds_x, int(self._clock()))
            head = _MAGIC + _FACTS.pack(*facts)
            nonce = os.urandom(_NONCE_BYTES)
            body = AESGCM(self._key()).encrypt(nonce, data, head + peer.encode())
            write_atomically(path, head + nonce + body, PRIVATE)

    def take(self, peer: str, name: bytes) -> bytes | None:
        """Delete a pool and then hand it out.

        Args:
            peer: the other party.
            name: the pool's name, 32 bytes.

        Returns:
            Its secrets, of which no copy is left; None if there is no such pool.

        Raises:
            PoolError: the file is damaged, was moved here, or is a copy of a pool that was taken before.
            ConfigError: the folder or the key cannot be used.
        """
        with self._lock():
            path = self._peer_folder(peer) / (name.hex() + _SUFFIX)
            if len(name) != _NAME_BYTES or not path.is_file():
                return None
            if name in self._taken_names():
                _delete(path)
                raise PoolError(
                    f"{path.name} is a copy of a pool that was used before; it was deleted.",
                    "Never restore pools from a backup; prepare a new one.",
                )
            content = read_private(path, _MAX_BYTES + _HEAD_BYTES + 64)
            head, rest = content[:_HEAD_BYTES], content[_HEAD_BYTES:]
            try:
                if not head.startswith(_MAGIC + name):
                    raise InvalidTag
                nonce, body = rest[:_NONCE_BYTES], rest[_NONCE_BYTES:]
                data = AESGCM(self._key()).decrypt(nonce, body, head + peer.encode())
            except (InvalidTag, ValueError):
                raise _moved_aside(path) from None
            self._write_taken(name)
            _delete(path)
            return data

    def list(self, peer: str | None = None) -> tuple[PoolFile, ...]:
        """The pools that can be taken, with one peer or with all, the oldest first.

        Copies of pools that were taken are left out; files whose head cannot be read are moved aside.

        Raises:
            ConfigError: the folder cannot be used.
        """
        if not self._folder.exists():
            return ()
        with self._lock():
            taken = self._taken_names()
            found = [file for path in self._files(peer) if (file := _read_head(path)) is not None]
        return tuple(
            sorted((f for f in found if f.stored.name not in taken), key=lambda f: (f.made, f.stored.name))
        )

    def count(self, kept: KeptPools) -> int:
        """How many pools of a kind there are. Raises as `list`."""
        return sum(kept.counts(file.stored) for file in self.list(kept.peer))

    def discard(self, peer: str, names: Collection[bytes]) -> None:
        """Delete pools with a peer by name, those that are there: halves whose other half is gone.

        Raises:
            ConfigError: the folder cannot be used.
        """
        if not names:
            return
        with self._lock():
            for name in names:
                path = self._peer_folder(peer) / (name.hex() + _SUFFIX)
                if path.is_file():
                    _delete(path)

    def clear(self, peer: str | None = None) -> int:
        """Delete all pools, with one peer or with all, and what was moved aside; says how many files.

        Raises:
            ConfigError: the folder cannot be used.
        """
        if not self._folder.exists():
            return 0
        with self._lock():
            files = [*self._files(peer), *self._files(peer, ".damaged"), *self._files(peer, ".new")]
            for path in files:
                _delete(path)
        return len(files)

    def _files(self, peer: str | None, suffix: str = _SUFFIX) -> Sequence[Path]:
        folders = [self._peer_folder(peer)] if peer is not None else sorted(self._folder.iterdir())
        return [
            path
            for folder in folders
            if folder.is_dir()
            for path in sorted(folder.iterdir())
            if path.suffix == suffix
        ]

    def _peer_folder(self, peer: str) -> Path:
        return self._folder / check_name(peer)

    def _key(self) -> bytes:
        """The key, made on first use."""
        if not self._key_path.exists():
            _make_private(self._key_path.parent)
            write_key(self._key_path, os.urandom(_KEY_BYTES))
        key = read_key(self._key_path)
        if len(key) != _KEY_BYTES:
            raise ConfigError(
                f"{self._key_path} does not hold a key of {_KEY_BYTES} bytes.",
                "Delete it, and the pools with `duetto pool clear`.",
            )
        return key

    def _taken_names(self) -> frozenset[bytes]:
        """The names in the log; a line that a crash cut off stood for a pool that was never handed out."""
        try:
            lines = self._taken_path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return frozenset()
        try:
            return frozenset(bytes.fromhex(line.decode("ascii")) for line in lines if len(line) == 64)
        except ValueError:
            raise PoolError(
                "The log of used pools, taken.log, is damaged.",
                "Delete all pools with `duetto pool clear`, then the log.",
            ) from None

    def _write_taken(self, name: bytes) -> None:
        with open_log(self._taken_path, os.O_NOFOLLOW) as log:
            whole = self._taken_path.read_bytes().rfind(b"\n") + 1  # the rest was cut off by a crash
            log.append(name.hex().encode() + b"\n", whole)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        try:
            _make_private(self._folder)
            with lock(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW):
                yield
        except OSError as problem:
            raise _unusable(self._folder, problem) from None


@dataclass(frozen=True, slots=True)
class PeerPoolFolder:
    """The pools with one peer; fulfils `smc.oblivious.pool.PeerPools`."""

    store: PoolStore
    peer: str

    def put(self, stored: PoolInfo, data: bytes) -> None:
        """See `PoolStore.put`."""
        self.store.put(self.peer, stored, data)

    def pools(self) -> Sequence[PoolInfo]:
        """See `PoolStore.list`."""
        return [file.stored for file in self.store.list(self.peer)]

    def take(self, name: bytes) -> bytes | None:
        """See `PoolStore.take`."""
        return self.store.take(self.peer, name)


def _read_head(path: Path) -> PoolFile | None:
    """What the head of a file says; None, and the file moved aside, if it is none or of another pool."""
    from smc.oblivious.pool import PoolInfo  # with its protocols: few need them

    status = path.lstat()
    head = b""
    if path.is_file() and not path.is_symlink():
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    if len(head) != _HEAD_BYTES or not head.startswith(_MAGIC):
        _moved_aside(path)
        return None
    name, comparisons, bits, holds_x, made = _FACTS.unpack(head[len(_MAGIC) :])
    if name.hex() != path.stem or holds_x > 1:
        _moved_aside(path)
        return None
    return PoolFile(path.parent.name, PoolInfo(name, comparisons, bits, holds_x == 1), status.st_size, made)


def _moved_aside(path: Path) -> PoolError:
    path.rename(path.with_suffix(".damaged"))
    sync(path.parent)
    return PoolError(
        f"{path.name} is damaged, of another peer, or made with another key; it was moved aside.",
        "Delete it with `duetto pool clear` and prepare a new pool.",
    )


def _delete(path: Path) -> None:
    path.unlink()
    sync(path.parent)


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    check_private(folder)


def _unusable(folder: Path, problem: OSError) -> ConfigError:
    return ConfigError(
        f"The folder of pools {folder} cannot be used ({type(problem).__name__}).", "Check disk and rights."
    )


def pool_documents(store: PoolStore) -> list[dict[str, Any]]:
    """The pools by peer, as plain JSON values; ages in seconds."""
    now = time.time()
    return [
        {
            "peer": file.peer,
            "name": file.stored.name.hex(),
            "comparisons": file.stored.comparisons,
            "bits": file.stored.bits,
            "holds_x": file.stored.holds_x,
            "bytes": file.size,
            "age_seconds": max(0, int(now - file.made)),
        }
        for file in sorted(store.list(), key=lambda file: file.peer)
    ]


def kept_documents(store: PoolStore, kinds: Iterable[KeptPools]) -> list[dict[str, Any]]:
    """What the configuration wants to have ready, and how much of it there is, as plain JSON values."""
    return [
        {
            "peer": kept.peer,
            "x_at": kept.x_at,
            "bits": kept.bits,
            "comparisons": kept.comparisons,
            "ready": kept.ready,
            "there": store.count(kept),
        }
        for kept in kinds
    ]
