"""A ledger for auditors: a file that can be checked without the party, its keys or its peers.

The file has one JSON object a line: a header with the names and public signing keys of the party and its
peers, the entries as the ledger has them, and a seal, the party's signature over all lines before it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from parties.errors import DataError
from parties.ledger.commit import is_announced, is_signed
from parties.ledger.entries import (
    COUNTERSIGNED,
    HEAD_BYTES,
    NOTHING,
    RELEASES,
    RUN,
    SPENT,
    Entry,
    LedgerError,
    check_chain,
    pack,
    parse_line,
)
from parties.pki.signing import SigningKey, key_text, parse_key
from smc.errors import DuettoError
from smc.forms import Role

FORMAT: Final = 1

_DOMAIN = b"duetto ledger export v1\0"
_HEADER = {"duetto_ledger": int, "party": str, "signing": str, "time": str, "entries": int, "peers": dict}
_HINT = "Ask the party for a new export made by `duetto ledger export`."

Keys = Mapping[str, Sequence[Ed25519PublicKey]]
"""Signing keys by the name of the party; several where one was paired anew."""


@dataclass(frozen=True, slots=True)
class Export:
    """A checked export.

    Attributes:
        party: whose ledger it is.
        key: the signing key by which it is sealed.
        time: when it was made, as the party says.
        entries: all entries; their chain is whole.
        peers: the peers' signing keys as the party says.
    """

    party: str
    key: Ed25519PublicKey
    time: str
    entries: tuple[Entry, ...]
    peers: Keys


@dataclass(frozen=True, slots=True)
class Countersignatures:
    """What the peers have signed of a ledger.

    Attributes:
        valid: numbers of the countersignatures that are the peer's.
        invalid: numbers of the entries whose signature no given key of the peer has made, or is about
            entries that the ledger does not have.
        missing: numbers of the losses and exact releases for which the peer has not signed: their jobs ended
            at the gate.
    """

    valid: tuple[int, ...]
    invalid: tuple[int, ...]
    missing: tuple[int, ...]


def write_export(party: str, signing: SigningKey, entries: Sequence[Entry], peers: Keys, time: str) -> bytes:
    """The export of a ledger.

    Args:
        party: this party's name.
        signing: this party's signing key.
        entries: all entries of the ledger.
        peers: the peers' signing keys.
        time: the time now, RFC 3339 in UTC.
    """
    header = {
        "duetto_ledger": FORMAT,
        "party": party,
        "signing": key_text(signing.public_key()),
        "time": time,
        "entries": len(entries),
        "peers": {name: [key_text(key) for key in keys] for name, keys in peers.items()},
    }
    body = _line(header) + b"".join(entry.line() for entry in entries)
    return body + _line({"seal": signing.sign(_seal(body)).hex()})


def write_csv(entries: Iterable[Entry]) -> str:
    """The entries as a table for spreadsheets; only the export can be verified."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [field.name for field in fields(Entry)], restval="")
    writer.writeheader()
    writer.writerows(entry.document() for entry in entries)
    return text.getvalue()


def read_export(data: bytes) -> Export:
    """Read an export and check its form, its seal and the chain of its entries.

    Raises:
        DataError: something is wrong with it; says what.
    """
    body, newline, seal = data.removesuffix(b"\n").rpartition(b"\n")
    body += newline
    try:
        header, *lines = body.splitlines()
        head = json.loads(header)
        if not isinstance(head, dict) or {name: type(value) for name, value in head.items()} != _HEADER:
            raise ValueError
        if head["duetto_ledger"] != FORMAT:
            raise DataError(f"The export is not of format {FORMAT}.", "Use the release that made it.")
        key = parse_key(head["signing"])
        peers = {name: [parse_key(text) for text in texts] for name, texts in head["peers"].items()}
        signature = bytes.fromhex(json.loads(seal)["seal"])
    except DataError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, DuettoError):
        raise DataError("The file is not an export of a ledger.", _HINT) from None
    try:
        key.verify(signature, _seal(body))
    except InvalidSignature:
        raise DataError(
            "The seal of the export is not valid: it was changed after it was made.", _HINT
        ) from None
    if len(lines) != head["entries"]:
        raise DataError("The export lacks entries that its header counts.", _HINT)
    return Export(head["party"], key, head["time"], _entries(lines), peers)


def check_countersignatures(entries: Sequence[Entry], peers: Keys) -> Countersignatures:
    """Check what the peers have signed.

    A peer signs what it has seen of the ledger as well; so a party cannot leave out an entry that a peer has
    seen, and chain the others anew.

    Args:
        entries: all entries of a ledger.
        peers: the peers' signing keys.
    """
    hashes = {pack(entry.sequence, entry.hash).hex() for entry in entries} | {pack(*NOTHING).hex()}
    written = {entry.hash: entry for entry in entries if entry.event in (RUN, *RELEASES)}
    signed = {(entry.job, entry.peer) for entry in entries if entry.event == COUNTERSIGNED}
    valid: list[int] = []
    invalid: list[int] = []
    for entry in entries:
        keys = peers.get(entry.peer, ())
        if entry.event == COUNTERSIGNED:
            subject = written.get(entry.subject)
            good = (
                subject is not None
                and (subject.job, subject.peer) == (entry.job, entry.peer)
                and (entry.format == 1 or entry.peer_seen in hashes)
                and any(is_countersigned(entry, key, entries) for key in keys)
            )
            (valid if good else invalid).append(entry.sequence)
        elif (
            entry.event in RELEASES
            and entry.signature
            and (entry.peer_seen not in hashes or not any(_has_announced(entry, key) for key in keys))
        ):
            invalid.append(entry.sequence)
    releases = (entry for entry in entries if entry.event in RELEASES)
    missing = tuple(entry.sequence for entry in releases if (entry.job, entry.peer) not in signed)
    return Countersignatures(tuple(valid), tuple(invalid), missing)


def _has_announced(entry: Entry, key: Ed25519PublicKey) -> bool:
    """Whether the holder of a key has announced the release of an entry."""
    try:
        job, seen, signature = map(bytes.fromhex, (entry.job, entry.peer_seen, entry.signature))
        return is_announced(key, job, Role(entry.peer_role), seen, signature)
    except ValueError:
        return False


def is_countersigned(entry: Entry, key: Ed25519PublicKey, entries: Sequence[Entry]) -> bool:
    """Whether the holder of a key has signed a countersignature.

    Args:
        entry: the countersignature.
        key: the peer's signing key.
        entries: the local entries before it, of which it may have signed one as seen; used for entries of
            format 1, which do not say which.
    """
    try:
        job, signature = bytes.fromhex(entry.job), bytes.fromhex(entry.signature)
        theirs = pack(entry.peer_sequence, entry.peer_hash)
        given = [(Role(entry.peer_role), bytes.fromhex(entry.peer_seen))] if entry.format > 1 else None
    except (ValueError, OverflowError):
        return False
    signed = given or _candidates(entry, entries)
    return any(
        len(seen) == HEAD_BYTES and is_signed(key, job, role, theirs, seen, signature)
        for role, seen in signed
    )


def _candidates(entry: Entry, entries: Sequence[Entry]) -> Iterator[tuple[Role, bytes]]:
    """The roles and heads that a peer can have signed with an entry of format 1, the likeliest first."""
    for number in reversed(range(entry.sequence)):
        before = entries[number]
        if (before.peer, before.event) == (entry.peer, SPENT):
            yield from ((role, pack(before.sequence, before.hash)) for role in Role)
    yield from ((role, pack(*NOTHING)) for role in Role)


def _entries(lines: Sequence[bytes]) -> tuple[Entry, ...]:
    try:
        entries = tuple(map(parse_line, lines))
        check_chain(entries)
    except (ValueError, RecursionError):
        raise DataError("An entry of the export cannot be read.", _HINT) from None
    except LedgerError as error:
        raise DataError(
            error.what, "Ask the party for its ledger; compare it with its peers' copies."
        ) from None
    return entries


def _seal(body: bytes) -> bytes:
    return _DOMAIN + hashlib.sha256(body).digest()


def _line(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode() + b"\n"
