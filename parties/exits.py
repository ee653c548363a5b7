"""The exit status of a command that ends with an error, and errors of the operating system with hints."""

from __future__ import annotations

import errno
from typing import Final

from commons.exits import (
    BAD_DATA,
    CONFIG,
    DISK,
    INTERNAL,
    INTERRUPTED,
    REFUSED,
    RETRY,
    UNAVAILABLE,
    USAGE,
)
from parties.errors import (
    ClockError,
    ClusterError,
    ConfigError,
    DaemonUnavailable,
    DataError,
    JobError,
    NoticeError,
    PairingError,
    PeerBusy,
    PeerClosed,
    PeerRefused,
    PolicyError,
    PoolError,
    StampError,
    StorageError,
    TokenError,
)
from smc.errors import (
    Cancelled,
    DisclosureRefused,
    DomainError,
    DuettoError,
    FreshnessError,
    KeyMaterialError,
    OutOfMemory,
    PeerError,
    UsageError,
)

_BY_CLASS: Final[dict[type[BaseException], int]] = {
    DuettoError: INTERNAL,
    UsageError: USAGE,
    DomainError: BAD_DATA,
    DisclosureRefused: REFUSED,
    OutOfMemory: REFUSED,
    KeyMaterialError: CONFIG,
    FreshnessError: INTERNAL,
    Cancelled: INTERRUPTED,
    ConfigError: CONFIG,
    TokenError: UNAVAILABLE,
    DaemonUnavailable: UNAVAILABLE,
    PairingError: BAD_DATA,
    DataError: BAD_DATA,
    PolicyError: REFUSED,
    JobError: BAD_DATA,
    PoolError: BAD_DATA,
    ClockError: RETRY,
    StorageError: DISK,
    NoticeError: UNAVAILABLE,
    StampError: UNAVAILABLE,
    ClusterError: UNAVAILABLE,
    PeerError: UNAVAILABLE,
    PeerBusy: RETRY,
    PeerClosed: REFUSED,
    KeyboardInterrupt: INTERRUPTED,
}


_REFUSALS: Final = ("peer-closed", "policy", "budget", "denied", "overlap", "history", "disclosure")


_FULL: Final = ("busy", "too-many-open", "too-many-today")


_BY_PEER_CODE: Final = {**dict.fromkeys(_REFUSALS, REFUSED), **dict.fromkeys(_FULL, RETRY)}


def why_unreadable(problem: OSError | UnicodeDecodeError) -> str:
    """Why a file cannot be read or written, to follow a colon."""
    if isinstance(problem, UnicodeDecodeError):
        return "it is not UTF-8"
    return problem.strerror or type(problem).__name__


_OF_THE_MACHINE: Final[dict[int | None, str]] = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "Free space on the disk, or raise the quota."),
    errno.EROFS: "Make the file system writable, or name a place that is.",
    **dict.fromkeys((errno.EACCES, errno.EPERM), "Give this user the right to it, or run as its owner."),
    errno.EIO: "Check the disk and the messages of the system's kernel.",
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), "Raise the limit of open files (`ulimit -n`)."),
}


def of_the_machine(problem: OSError) -> StorageError | None:
    """What the machine refuses to any program, as an error with a hint; None for a possible defect here.

    Args:
        problem: of the operating system: a full disk, missing rights, a read-only file system and such.
    """
    if problem.errno not in _OF_THE_MACHINE:
        return None
    place = next((str(name) for name in (problem.filename2, problem.filename) if name is not None), "A file")
    return StorageError(f"{place} cannot be used: {why_unreadable(problem)}.", _OF_THE_MACHINE[problem.errno])


def exit_code(error: BaseException) -> int:
    """The exit status of a command that ends with `error`, after sysexits.

    The nearest listed base class decides; a refusal by the peer's policy or for lack of room counts like
    one at home. What no class lists is a defect of the program: 70.
    """
    if isinstance(error, PeerRefused) and error.stable_code in _BY_PEER_CODE:
        return _BY_PEER_CODE[error.stable_code]
    return next((_BY_CLASS[base] for base in type(error).__mro__ if base in _BY_CLASS), INTERNAL)
