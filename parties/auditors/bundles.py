"""Bundles: what one party shows of a run, sealed to the auditor that the contract names.

one line of JSON    for people: format, job, party, auditor; nothing of it is trusted
sealed bytes        lengths of case and inputs (8 bytes each, big-endian), then case, inputs and frames
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any, Final

from parties.auditors.keys import Auditor, AuditorKeys
from parties.errors import DataError
from parties.evidence.frames import decode_frames, encode_frame
from parties.evidence.run_case import Inputs, RunCase, decode_case, decode_inputs
from smc.evidence.record import Came

FORMAT: Final = "duetto evidence bundle 1"
BUNDLE_BYTES: Final = 8 << 30

_LENGTHS: Final = struct.Struct(">QQ")
_HEAD_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class Exhibit:
    """What a party shows of a run.

    Attributes:
        case: all but data and frames.
        inputs: the data.
        frames: those that came in, in their order.
    """

    case: RunCase
    inputs: Inputs = field(repr=False)
    frames: tuple[Came, ...] = field(repr=False)


def seal_bundle(shown: Exhibit, party: str, auditor: Auditor) -> bytes:
    """A bundle for an auditor."""
    head = {
        "format": FORMAT,
        "job_id": shown.case.job_id,
        "party": party,
        "auditor": auditor.name,
        "key": auditor.fingerprint,
    }
    case, inputs = shown.case.encode(), shown.inputs.encode()
    frames = b"".join(map(encode_frame, shown.frames))
    sealed = auditor.seal(_LENGTHS.pack(len(case), len(inputs)) + case + inputs + frames)
    return json.dumps(head).encode() + b"\n" + sealed


def bundle_head(data: bytes) -> dict[str, Any]:
    """What a bundle says of itself.

    Raises:
        DataError: it is none.
    """
    line, _, _ = data[:_HEAD_BYTES].partition(b"\n")
    try:
        head = json.loads(line)
        if head["format"] != FORMAT or not all(isinstance(value, str) for value in head.values()):
            raise ValueError("another format")
        return {name: head[name] for name in ("format", "job_id", "party", "auditor", "key")}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError(
            "The file is not a bundle of evidence.", "Give a file that `duetto evidence bundle` wrote."
        ) from None


def open_bundle(data: bytes, keys: AuditorKeys) -> Exhibit:
    """What is in a bundle; nothing of it is checked but its form.

    Raises:
        DataError: it is none, was sealed to another auditor, or was changed.
    """
    bundle_head(data)
    opened = keys.unseal(data.partition(b"\n")[2])
    try:
        case, inputs = _LENGTHS.unpack_from(opened)
    except struct.error:
        raise DataError("The bundle is malformed.", "Ask the party for it again.") from None
    start = _LENGTHS.size
    return Exhibit(
        decode_case(opened[start : start + case]),
        decode_inputs(opened[start + case : start + case + inputs]),
        tuple(decode_frames(opened[start + case + inputs :])),
    )
