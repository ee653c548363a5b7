"""How an error crosses the border: as a stable code, and back into an error of this side."""

from __future__ import annotations

import logging
import re
from typing import Final, NoReturn

import grpc

from parties.errors import PeerBusy, PeerRefused, PeerUntrusted, VersionMismatch
from smc.errors import DuettoError, PeerError, PeerLost, ProtocolViolation

CODE_KEY: Final = "duetto-code"
"""The name of the trailing metadata that carries a stable code."""

_CODE = re.compile(r"[a-z0-9-]{1,64}")
_STATUS: Final = {
    "busy": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "policy": grpc.StatusCode.PERMISSION_DENIED,
    "budget": grpc.StatusCode.PERMISSION_DENIED,
    "peer-untrusted": grpc.StatusCode.UNAUTHENTICATED,
    "protocol-violation": grpc.StatusCode.INVALID_ARGUMENT,
    "internal": grpc.StatusCode.INTERNAL,
}

_AGAIN: Final = "See what `duetto doctor --peer {}` finds; submit the job again when the peer is back."
_LOSSES: Final = {
    grpc.StatusCode.DEADLINE_EXCEEDED: "the peer did not answer in time",
    grpc.StatusCode.CANCELLED: "the stream was cut off",
}

_MEANINGS: Final = {
    "policy": "its policy does not allow that",
    "budget": "its privacy budget does not allow that",
    "overlap": "too few of its persons differ from those of an earlier job",
    "data": "its data are not as it has declared them",
    "config": "its configuration is wrong",
    "ledger": "its ledger cannot be trusted until a person has looked",
    "too-many-open": "it holds as many unfinished jobs of this party as it takes",
    "too-many-today": "it has taken as much of this party's proposals in a day as it takes",
    "peer-ledger": "it has seen newer entries of this party's ledger than the ledger holds now",
    "pool-unstated": "its configuration does not want the same pools",
    "pool-losses": "too many of the pools made with this party were lost",
    "lanes": "its configuration grants fewer lanes",
    "peer-closed": "the oblivious transfers of this party have failed a check there",
    "rows": "its data set is declared to have more rows than the job takes for granted",
    "history": "its record of earlier jobs cannot be trusted",
}

_HINTS: Final = {
    "rows": "Raise maximum_rows or rows_per_person in the job to what the other institution declares.",
    "lanes": "Write fewer lanes below [compute] in the job, or ask the other institution to grant more.",
    "too-many-open": "Wait until some have ended, or cancel some: `duetto job list`, `duetto job cancel`.",
    "too-many-today": "Try again tomorrow.",
    "peer-closed": "Find out together what has happened; then a person there opens this party again.",
}

log = logging.getLogger(__name__)


def clean(code: str) -> str:
    """A code as it may be shown and logged; `unknown` if it is not a code."""
    return code if _CODE.fullmatch(code) else "unknown"


def refuse(context: grpc.ServicerContext, code: str) -> NoReturn:
    """End a call with a code and nothing else.

    Raises:
        Exception: the one by which gRPC ends a handler.
    """
    context.set_trailing_metadata(((CODE_KEY, code),))
    context.abort(_STATUS.get(code, grpc.StatusCode.FAILED_PRECONDITION), "refused")


def code_of(error: BaseException, doing: str, **about: str) -> str:
    """What the peer learns of an error; the local log gets the rest, and `about`: the `job`, the `peer`.

    Lack of room is logged at the lowest level only. Of an error that is not a `DuettoError` the log gets the
    type and the place, since its text may hold values.
    """
    if isinstance(error, DuettoError):
        # The peer comes again every second while there is no room.
        level = logging.DEBUG if isinstance(error, PeerBusy) else logging.WARNING
        said = {"doing": doing, "error": error, "code": clean(error.stable_code), **about}
        log.log(level, "%(doing)s: %(error)s", said)
        return clean(error.stable_code)
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "unknown place"
    log.error(
        "%(doing)s: a defect of the program: %(kind)s at %(place)s",
        {"doing": doing, "kind": type(error).__name__, "place": place, **about},
    )
    return "internal"


def refusal_error(peer: str, code: str) -> PeerError:
    """The error of this side for a refusal by `peer`."""
    code = clean(code)
    if code == "busy":
        return PeerBusy(f"{peer} runs as many sessions as it allows.", "Try again later.")
    if code == "storage":
        return PeerBusy(
            f"{peer} cannot write to its disk now.",
            "Try again when somebody there has made room; its log has more.",
        )
    if code == "version":
        return VersionMismatch(
            f"{peer} speaks another version of the protocol.", "Install the same release on both sides."
        )
    if code == "peer-untrusted":
        return PeerUntrusted(
            f"{peer} does not know this party's certificate.", "Pair the two parties again, both ways."
        )
    meaning = f": {_MEANINGS[code]}" if code in _MEANINGS else ""
    hint = _HINTS.get(code, "Its log has the reason.")
    return PeerRefused(f"{peer} refused with code {code!r}{meaning}.", hint, code=code)


def translate(error: grpc.RpcError, peer: str, doing: str) -> PeerError:
    """The error of this side for a call that failed.

    Args:
        error: what gRPC raised; a `grpc.Call`.
        peer: the peer's name.
        doing: what the call was for.
    """
    if not isinstance(error, grpc.Call):
        return PeerLost(f"{doing}: the connection to {peer} broke.", _AGAIN.format(peer))
    for key, value in error.trailing_metadata() or ():
        if key == CODE_KEY:
            return refusal_error(peer, str(value))
    status, details = error.code(), (error.details() or "").lower()
    if status is grpc.StatusCode.UNIMPLEMENTED:
        return refusal_error(peer, "version")
    if status is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" not in details:
        return refusal_error(peer, "busy")
    if status is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return ProtocolViolation(f"{doing}: a message was longer than the limit.")
    silent = "keepalive" in details or "ping timeout" in details
    what = f"{peer} has fallen silent" if silent else _LOSSES.get(status, f"the connection to {peer} broke")
    return PeerLost(f"{doing}: {what}.", _AGAIN.format(peer))


def not_connected(error: grpc.RpcError) -> bool:
    """Whether a call failed because there never was a connection."""
    if not isinstance(error, grpc.Call) or error.code() is not grpc.StatusCode.UNAVAILABLE:
        return False
    details = error.details() or ""
    return "failed to connect" in details or "resol" in details
