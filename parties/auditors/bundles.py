"""Bundles: what one party shows of a run, sealed to the auditor that the contract names.

one line of JSON    for people: format, job, party, auditor; nothing of it is trusted
sealed bytes        the party's Ed25519 signature over the rest and the auditor's name (64 bytes), lengths of
                    case and inputs (8 bytes each, big-endian), then case, inputs and frames

Without the signature anybody could show an auditor what convicts somebody else.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass, field
from typing import Final

from parties.auditors.keys import Auditor, AuditorKeys
from parties.errors import DataError, PairingError
from parties.evidence.frames import decode_frames, encode_frame
from parties.evidence.run_case import Inputs, RunCase, decode_case, decode_inputs
from parties.evidence.statements import SIGNATURE_BYTES, is_signed
from parties.pki.signing import SigningKey, key_text, parse_key
from smc.channel.message import Frame

FORMAT: Final = "duetto evidence bundle 1"
BUNDLE_BYTES: Final = (1 << 31) - (1 << 16)
"""The longest bundle: a cipher takes no more at once."""

_SHOWN: Final = b"duetto evidence shown v1\0"
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
    frames: tuple[Frame, ...] = field(repr=False)


def seal_bundle(shown: Exhibit, party: str, auditor: Auditor, signing: SigningKey) -> bytes:
    """A bundle for an auditor.

    Args:
        shown: what is in it.
        party: the name of the party, for people.
        auditor: who alone can open it.
        signing: the party's key, which signed the contract as well.

    Raises:
        DataError: the contract was signed with another key, or there is more than a bundle can hold.
    """
    if key_text(signing.public_key()) != shown.case.keys[shown.case.role]:
        raise DataError(
            "The contract was signed with another key than this party has now.",
            "Let the auditor come and run `duetto evidence verdict` here.",
        )
    head = {
        "format": FORMAT,
        "job_id": shown.case.job_id,
        "party": party,
        "auditor": auditor.name,
        "key": auditor.fingerprint,
    }
    case, inputs = shown.case.encode(), shown.inputs.encode()
    frames = b"".join(map(encode_frame, shown.frames))
    content = _LENGTHS.pack(len(case), len(inputs)) + case + inputs + frames
    if len(content) + _HEAD_BYTES > BUNDLE_BYTES:
        raise DataError(
            f"The record of job {shown.case.job_id} is longer than a bundle can be, {BUNDLE_BYTES >> 20} MB.",
            "Let the auditor come and run `duetto evidence verdict` here.",
        )
    sealed = auditor.seal(signing.sign(_shown_text(auditor, content)) + content)
    return json.dumps(head).encode() + b"\n" + sealed


def _check_head(data: bytes) -> None:
    """Check that bytes are a bundle of this format; its head is for people.

    Raises:
        DataError: it is none.
    """
    line, _, _ = data[:_HEAD_BYTES].partition(b"\n")
    try:
        if json.loads(line)["format"] != FORMAT:
            raise ValueError("another format")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError(
            "The file is not a bundle of evidence.", "Give a file that `duetto evidence bundle` wrote."
        ) from None


def open_bundle(data: bytes, keys: AuditorKeys) -> Exhibit:
    """What is in a bundle; nothing of it is checked but its form, and that the party shows it.

    Raises:
        DataError: it is none, was sealed to another auditor, was changed, or is shown by somebody else.
    """
    _check_head(data)
    whole = keys.unseal(data.partition(b"\n")[2])
    signature, opened = whole[:SIGNATURE_BYTES], whole[SIGNATURE_BYTES:]
    try:
        case, inputs = _LENGTHS.unpack_from(opened)
    except struct.error:
        raise DataError("The bundle is malformed.", "Ask the party for it again.") from None
    start = _LENGTHS.size
    found = decode_case(opened[start : start + case])
    try:
        shows = is_signed(parse_key(found.keys[found.role]), _shown_text(keys.public, opened), signature)
    except (PairingError, ValueError):
        shows = False
    if not shows:
        raise DataError(
            "The bundle is not signed by the party that it is about: somebody else may have made it.",
            "Ask that party for one.",
        )
    return Exhibit(
        found,
        decode_inputs(opened[start + case : start + case + inputs]),
        tuple(decode_frames(opened[start + case + inputs :])),
    )


def _shown_text(auditor: Auditor, content: bytes) -> bytes:
    """What a party signs of what it shows."""
    return _SHOWN + auditor.fingerprint.encode() + hashlib.sha256(content).digest()
