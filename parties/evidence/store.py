"""The records of covert runs in the home: sealed under a key of the home, deleted when nobody needs them.

    evidence/JOB/frames      the frames that came in, in sealed pieces as they came
    evidence/JOB/case        what else an audit needs, see `parties.evidence.run_case`, sealed
    evidence/JOB/inputs      the columns, sealed
    evidence/JOB/receipt     when the run has passed: that it was not due, by both parts of the coin, sealed
    evidence/JOB/verdict-*   verdicts that were filed, as their auditors signed them
    evidence/JOB/state.json  for listings: where the record stands, nothing secret
    evidence/running/JOB     empty: the run goes on, or ended with the daemon

A start looks at the runs that went on alone. A listing reads one small file a run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from parties.disk import room
from parties.errors import JobError, StorageError
from parties.evidence.frames import decode_frames, encode_frame
from parties.exits import why_unreadable
from parties.pki.files import PRIVATE, PRIVATE_FOLDER, write_atomically
from parties.pki.sealing import Seal
from smc.channel.message import Frame
from smc.numeric.random import Randomness

FOLDER: Final = "evidence"
CASE: Final = "case"
INPUTS: Final = "inputs"
RECEIPT: Final = "receipt"
FRAMES: Final = "frames"
PIECE_BYTES: Final = 256 << 10
"""About so many bytes of frames are sealed and written at once; a crash loses no more."""

DUE: Final = "due"
KEPT: Final = "kept"
RUNNING: Final = "running"
PASSED: Final = "passed"
JUDGED: Final = "judged"

CLEARED: Final = "cleared"
CONVICTED: Final = "convicted"
PARTIAL: Final = "partial"
UNSIGNED: Final = "unsigned"
SETTLED: Final = frozenset((CLEARED, CONVICTED, PARTIAL, UNSIGNED))
"""What a verdict says that settles an audit, once it is about all that the party has signed."""

COIN: Final = "coin"
BROKEN_OFF: Final = "broken off"
"""Why a run is due."""

_PURPOSE: Final = b"duetto evidence at rest v1"
_SALTS: Final = b"duetto evidence salts v1"
_LENGTH: Final = struct.Struct(">I")
_NONCE_BYTES: Final = 12
_NAME: Final = re.compile(r"[0-9a-f]{16}")
_CODE: Final = "evidence"
_VERDICT: Final = "verdict-"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the record of a run stands.

    Attributes:
        job_id: the job.
        peer: the other party.
        state: `running`, `due` for an audit, `kept` for the days of the policy alone, `passed`: only the
            receipt is left, or `judged`: only verdicts are, and the receipt.
        why: `coin`, `broken off`, or empty.
        until: until when it is kept at least, RFC 3339 in UTC; empty where until it is deleted by a person.
        ended: when the run ended, RFC 3339 in UTC; empty before.
        verdict: what the verdict about this party says that was filed last; empty if none was.
        peer_verdict: the same of the peer.
    """

    job_id: str
    peer: str
    state: str = RUNNING
    why: str = ""
    until: str = ""
    ended: str = ""
    verdict: str = ""
    peer_verdict: str = ""

    @property
    def is_awaited(self) -> bool:
        """Whether an auditor may still ask for the record: it is due, and no verdict about it is filed."""
        return self.state == DUE and self.verdict not in SETTLED


class EvidenceStore:
    """The records of a party's covert runs.

    Args:
        home: the folder of the party.

    Attributes:
        path: the folder that holds them.
    """

    def __init__(self, home: Path) -> None:
        self.path: Final = home / FOLDER
        self._seal = Seal(home)
        self._taken: dict[str, int] = {}

    def begin(self, standing: Standing) -> FrameFile:
        """A new record of a job's run, in place of one of an earlier attempt that came to no data.

        Raises:
            JobError: the job has run before; nothing that a peer does deletes what was kept of that.
            StorageError: it cannot be written.
        """
        self._seal.make()
        folder = self._folder(standing.job_id)
        if any((folder / part).exists() for part in (INPUTS, RECEIPT)):
            raise JobError(f"Job {standing.job_id} has run before.", "Submit the job again.", code="state")
        with _writing(folder):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=PRIVATE_FOLDER, parents=True)
        self.set_standing(standing)
        cipher = AESGCM(self.key(_PURPOSE))
        return FrameFile(folder / FRAMES, cipher, standing, lambda: self._taken.get(standing.peer, 0))

    def require_room(self, peer: str) -> None:
        """Check that a run may begin: records of runs with its peer take no more of the disk than is free.

        They are counted at the first run, and again where that is too much: people delete some by commands.

        Raises:
            StorageError: they take more (code `evidence-full`).
        """
        home = self.path.parent
        if self._taken.get(peer, _free(home) + 1) > _free(home):
            self._taken[peer] = sum(self.size(one.job_id) for one in self.all() if one.peer == peer)
        _require_room(home, peer, self._taken[peer])

    def salting_key(self) -> bytes:
        """The secret bytes of the home from which the salts of commitments follow, 32 of them.

        Raises:
            StorageError: the home's key cannot be used or made.
        """
        self._seal.make()
        return self.key(_SALTS)

    def key(self, purpose: bytes) -> bytes:
        """32 secret bytes of the home for a purpose.

        Raises:
            StorageError: the home's key cannot be used.
        """
        return self._seal.derive(purpose)

    def set_standing(self, standing: Standing) -> None:
        """Say where a record stands.

        Raises:
            StorageError: it cannot be written.
        """
        folder, mark = self._folder(standing.job_id), self.path / RUNNING / standing.job_id
        with _writing(folder):
            if standing.state == RUNNING:
                mark.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
                write_atomically(mark, b"", PRIVATE)
            write_atomically(folder / "state.json", json.dumps(asdict(standing)).encode(), PRIVATE)
            if standing.state != RUNNING and mark.exists():
                mark.unlink()
                if standing.peer in self._taken:
                    self._taken[standing.peer] += self.size(standing.job_id)

    def standing(self, job_id: str) -> Standing:
        """Where the record of a job stands.

        Raises:
            JobError: there is none.
            StorageError: it cannot be read.
        """
        path = self._folder(job_id) / "state.json"
        try:
            return Standing(**json.loads(path.read_bytes()))
        except FileNotFoundError:
            raise JobError(
                f"There is no evidence of job {job_id}.",
                "See `duetto evidence list`. It is kept of covert runs that await an audit, and for the "
                "evidence_days of a rule.",
                code="no-evidence",
            ) from None
        except (OSError, ValueError, TypeError) as problem:
            why = why_unreadable(problem) if isinstance(problem, OSError) else "it is malformed"
            raise StorageError(
                f"{path} cannot be read: {why}.",
                "Restore it from a copy of the home.",
            ) from None

    def all(self) -> list[Standing]:
        """Where all records stand, the newest last; those that cannot be read are left out.

        It reads a small file for each run; those that have passed are among them.
        """
        return sorted(self._in(self.path), key=lambda one: one.ended)

    def _in(self, folder: Path) -> Iterator[Standing]:
        """Where the records stand whose names are those of entries of a folder; others are left out."""
        names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else ()
        for name in filter(_NAME.fullmatch, names):
            with suppress(JobError, StorageError):
                yield self.standing(name)

    def holds(self, job_id: str) -> bool:
        """Whether anything is kept of a job."""
        return self._folder(job_id).is_dir()

    def size(self, job_id: str) -> int:
        """Bytes that the record of a job takes on the disk."""
        return sum(file.stat().st_size for file in self._folder(job_id).iterdir())

    def write(self, job_id: str, part: str, data: bytes) -> None:
        """Keep a part of the record of a job, `CASE` or `INPUTS`.

        Raises:
            StorageError: it cannot be written.
        """
        folder = self._folder(job_id)
        cipher = AESGCM(self.key(_PURPOSE))
        sealed = _seal(cipher, zlib.compress(data, 1), _bound_to(job_id, part, 0))
        with _writing(folder):
            write_atomically(folder / part, sealed, PRIVATE)

    def has(self, job_id: str, part: str) -> bool:
        """Whether there is a part of the record of a job."""
        return (self._folder(job_id) / part).exists()

    def read(self, job_id: str, part: str) -> bytes:
        """A part of the record of a job.

        Raises:
            StorageError: it cannot be read.
        """
        self.standing(job_id)
        with _reading(job_id):
            sealed = (self._folder(job_id) / part).read_bytes()
            return zlib.decompress(_open(AESGCM(self.key(_PURPOSE)), sealed, _bound_to(job_id, part, 0)))

    def read_frames(self, job_id: str) -> Iterator[Frame]:
        """The frames that came in, in their order; those that a crash has lost are missing at the end.

        Raises:
            StorageError: they cannot be read, or were changed.
        """
        cipher = AESGCM(self.key(_PURPOSE))
        if not self.has(job_id, FRAMES):
            return  # nothing came
        with _reading(job_id), (self._folder(job_id) / FRAMES).open("rb") as file:
            number = 0
            while len(head := file.read(_LENGTH.size)) == _LENGTH.size:
                (length,) = _LENGTH.unpack(head)
                piece = file.read(length)
                if len(piece) < length:
                    return  # it was being written when the daemon ended
                yield from decode_frames(_open(cipher, piece, _bound_to(job_id, FRAMES, number)))
                number += 1

    def keep_verdict(self, found: Standing, name: str, data: bytes) -> None:
        """Keep a verdict, and take note of what it says.

        Args:
            found: where the record stands with it; of a job of which nothing else is kept, `judged`.
            name: by which verdicts on the same run differ, hexadecimal.
            data: the verdict as it was signed.

        Raises:
            StorageError: it cannot be written.
        """
        folder = self._folder(found.job_id)
        with _writing(folder):
            folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            write_atomically(folder / f"{_VERDICT}{name}.json", data, PRIVATE)
        self.set_standing(found)

    def interrupt(self, ended: str) -> list[Standing]:
        """Take note of the runs that ended with an earlier daemon, or whose end could not be written.

        Args:
            ended: when that was noticed, RFC 3339 in UTC.

        Returns:
            Where they stand now: they are due for that.

        Raises:
            StorageError: it cannot be written.
        """
        found = []
        for standing in self._in(self.path / RUNNING):
            if standing.state == RUNNING:
                standing = replace(standing, state=DUE, why=BROKEN_OFF, ended=ended)  # noqa: PLW2901
                found.append(standing)
            self.set_standing(standing)
        return found

    def prune(self, now: str) -> int:
        """Leave the receipts of the runs that were kept for some days only, which have passed; of how many.

        Args:
            now: the time, RFC 3339 in UTC.

        Raises:
            StorageError: one cannot be deleted.
        """
        late = [one for one in self.all() if one.state == KEPT and one.until < now]
        for one in late:
            self.leave_receipt(one)
        return len(late)

    def leave_receipt(self, standing: Standing) -> None:
        """Delete all of a record but the receipt, without which a run that was not due could not be told.

        Args:
            standing: where the record stands.

        Raises:
            StorageError: it cannot be deleted.
        """
        self._leave(replace(standing, state=PASSED, until=""), CASE, INPUTS, FRAMES)

    def delete(self, job_id: str) -> None:
        """Delete the record of a job, if there is one; verdicts and receipt stay until nothing else is left.

        Without a verdict the receipt goes as well.

        Raises:
            StorageError: it cannot be deleted.
        """
        folder = self._folder(job_id)
        if any(folder.glob(f"{_VERDICT}*")) and self.standing(job_id).state != JUDGED:
            self._leave(replace(self.standing(job_id), state=JUDGED, until=""), CASE, INPUTS, FRAMES)
            return
        with _writing(folder):
            if folder.exists():
                shutil.rmtree(folder)

    def _leave(self, standing: Standing, *parts: str) -> None:
        """Delete parts of a record, and say where it stands then."""
        folder = self._folder(standing.job_id)
        with _writing(folder):
            for part in parts:
                (folder / part).unlink(missing_ok=True)
        self.set_standing(standing)

    def _folder(self, job_id: str) -> Path:
        if not _NAME.fullmatch(job_id):
            raise JobError(f"{job_id[:64]!r} is not the name of a job.", "See `duetto evidence list`.")
        return self.path / job_id


class FrameFile:
    """The frames of one run on their way to the disk; a `smc.evidence.record.Keeper`. Thread-safe.

    Args:
        path: the file.
        cipher: under the key of the home.
        standing: of the record.
        others: gives the bytes that other records of runs with the peer take.
    """

    def __init__(
        self, path: Path, cipher: AESGCM, standing: Standing, others: Callable[[], int] = lambda: 0
    ) -> None:
        self._path = path
        self._cipher = cipher
        self._job_id = standing.job_id
        self._peer = standing.peer
        self._others = others
        self._written = 0
        self._lock = threading.Lock()
        self._waiting = bytearray()
        self._pieces = 0

    def keep(self, frame: Frame) -> None:
        """Keep a frame.

        Raises:
            StorageError: the disk does not take it, or all records of runs with the peer would take more of
                it than is free (code `evidence-full`).
        """
        with self._lock:
            self._waiting += encode_frame(frame)
            if len(self._waiting) >= PIECE_BYTES:
                _require_room(self._path.parent, self._peer, self._others() + self._written)
                self._write()

    def flush(self) -> None:
        """Write what is waiting, and have all of the file on the disk: what is signed next is about it.

        Raises:
            StorageError: the disk does not take it.
        """
        with self._lock:
            if self._waiting:
                self._write()
            if self._pieces:
                with _writing(self._path.parent), self._path.open("rb") as file:
                    os.fsync(file.fileno())

    def _write(self) -> None:
        bound = _bound_to(self._job_id, FRAMES, self._pieces)
        piece = _seal(self._cipher, bytes(self._waiting), bound)
        with _writing(self._path.parent), self._path.open("ab") as file:
            self._path.chmod(PRIVATE)
            file.truncate(self._written)  # of a piece for which there was no room a part may be there
            file.write(_LENGTH.pack(len(piece)) + piece)
        self._pieces += 1
        self._written += _LENGTH.size + len(piece)
        self._waiting.clear()


def _require_room(folder: Path, peer: str, taken: int) -> None:
    """Check that the records of runs with a peer take no more of the disk than is free.

    Else a peer could fill it by runs that break off, whose records nobody but a person deletes, and no job
    with anybody would run.
    """
    if taken > (free := _free(folder)):
        raise StorageError(
            f"The records of covert runs with {peer!r} take {taken >> 20} MB, and {free >> 20} MB are free "
            "beside what other jobs need: they may take no more.",
            "Have runs audited, file the verdicts, and delete the records (`duetto evidence list`); or free "
            "space.",
            code="evidence-full",
        )


def _free(folder: Path) -> int:
    """Bytes that records may take on the disk of a folder."""
    with _writing(folder):
        return max(0, room(folder))


def _bound_to(job_id: str, part: str, number: int) -> bytes:
    return f"duetto evidence of job {job_id}, {part} {number}".encode()


def _seal(cipher: AESGCM, data: bytes, bound: bytes) -> bytes:
    nonce = Randomness().bytes(_NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, data, bound)


def _open(cipher: AESGCM, sealed: bytes, bound: bytes) -> bytes:
    return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise StorageError(
            f"The evidence in {folder} cannot be written: {why_unreadable(problem)}.",
            f"Free space on the disk of {folder.parent}, or check its rights.",
        ) from None


@contextmanager
def _reading(job_id: str) -> Iterator[None]:
    try:
        yield
    except (OSError, InvalidTag, zlib.error, ValueError) as problem:
        why = (
            why_unreadable(problem)
            if isinstance(problem, OSError)
            else "it was changed, or is of another key"
        )
        raise StorageError(
            f"The evidence of job {job_id} cannot be read: {why}.",
            "Restore keys/results.key and the folder evidence from one and the same copy of the home.",
            code=_CODE,
        ) from None
