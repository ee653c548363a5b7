"""Errors on the way from the daemon to its own command line, whole and of the same class."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Final

import grpc

import parties.errors
import smc.errors
from commons.exits import BAD_DATA, CONFIG, REFUSED, RETRY, UNAVAILABLE, USAGE
from parties.disclosure.log import HistoryError, OverlapError
from parties.errors import JobError, PolicyError
from parties.exits import exit_code
from parties.ledger.entries import LedgerError
from smc.errors import DuettoError

METADATA: Final = "duetto-error-bin"
"""The trailing metadata that carries an error."""

_STATUS: Final = {
    USAGE: grpc.StatusCode.INVALID_ARGUMENT,
    BAD_DATA: grpc.StatusCode.FAILED_PRECONDITION,
    UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    RETRY: grpc.StatusCode.RESOURCE_EXHAUSTED,
    REFUSED: grpc.StatusCode.PERMISSION_DENIED,
    CONFIG: grpc.StatusCode.FAILED_PRECONDITION,
}


def _classes(module: ModuleType) -> dict[str, type[DuettoError]]:
    found = vars(module).items()
    return {name: kind for name, kind in found if isinstance(kind, type) and issubclass(kind, DuettoError)}


_OTHERS: Final = {kind.__name__: kind for kind in (LedgerError, HistoryError, OverlapError)}
_CLASSES: Final = _classes(smc.errors) | _classes(parties.errors) | _OTHERS


def status(error: DuettoError) -> grpc.StatusCode:
    """The gRPC status that comes nearest to an error."""
    return _STATUS.get(exit_code(error), grpc.StatusCode.ABORTED)


def pack(error: DuettoError) -> bytes:
    """An error as bytes; only for the local people, since it says everything."""
    document = {
        "class": next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _CLASSES),
        "code": error.stable_code,
        "what": error.what,
        "hint": error.hint,
    }
    return json.dumps(document).encode()


def from_code(code: str, what: str, hint: str) -> DuettoError:
    """The error that ended a job, of the class that the code belongs to."""
    if code == "denied":
        return PolicyError(what, hint, code=code)
    kind = next((kind for kind in _CLASSES.values() if kind.code == code), JobError)
    return kind(what, hint, code=code)


def unpack(data: bytes) -> DuettoError:
    """The error in `data`, as the daemon raised it."""
    document = json.loads(data)
    kind = _CLASSES.get(document["class"], DuettoError)
    return kind(document["what"], document["hint"], code=document["code"])
