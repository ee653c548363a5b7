"""The certificate of a finished job, as its party makes it.

It names the contract with both signatures, the entries of the ledger with the peer's countersignature, the
noise, what the run cost, and the program. It holds no row counts and nothing of the result but a commitment,
since a digest alone would let anybody try out small tables: SHA-256 over 32 random bytes, the salt, and the
result. Who shows the result with its salt lets others check that it is the one of the job.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from parties.certificates.program import program
from parties.contracts import canonical
from parties.contracts.records import Record
from parties.ledger.entries import COUNTERSIGNED, RELEASES, RUN, Entry
from parties.pki.identity import PeerIdentity
from parties.pki.signing import SigningKey, key_text
from parties.plugins import Plugin
from smc.analyses.studies.loss import Loss

FORMAT: Final = 2
SIGNED_FORMAT: Final = 3
"""The format of a certificate that holds signatures of persons."""

COVERT_FORMAT: Final = 4
"""The format of one that holds the record of a covert run; its signatures of persons may be none."""

SALT_BYTES: Final = 32

_SIGNATURE = b"duetto result certificate v1\0"
_COMMITMENT = b"duetto result commitment v1\0"
_NOISE = ("guarantee", "neighbours", "mechanism", "epsilon", "delta", "rho", "queries", "engine")
"""What a certificate tells of an outcome's details: what follows from parameters and declarations."""

RESULT = ("tables", "notes", "details")

ENTRIES: Final = (RUN, *RELEASES, COUNTERSIGNED)
"""The entries of the ledger that every certificate holds. Who approved the job stays at home, but for persons
who have signed it: their signatures are there, with the names and keys for which the party vouches."""


def certify(
    record: Record,
    signing: SigningKey,
    peer: PeerIdentity,
    *,
    loss: Loss,
    entries: Sequence[Entry],
    approvals: Sequence[Entry] = (),
    outcome: Mapping[str, Any],
    facts: Mapping[str, Any],
    finished: str,
    salt: bytes,
    plugins: Sequence[Plugin] = (),
    record_of_run: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The signed certificate of a job, as plain JSON values.

    Args:
        record: the job, with both signatures.
        signing: this party's signing key.
        peer: the peer's public keys.
        loss: the privacy loss of the job.
        entries: the local ledger's entries of the job.
        approvals: the local ledger's entries with the signatures of persons who approved the job.
        outcome: the local outcome as plain JSON values, see `smc.analyses.studies.outcome.Outcome`.
        facts: what the run cost.
        finished: when it ended, RFC 3339 in UTC.
        salt: `SALT_BYTES` random bytes, to be kept with the result.
        plugins: what the daemon has loaded.
        record_of_run: of a covert job, the heads of the record of its run, with signatures under them.
    """
    contract, role = record.contract, record.role
    spec = contract.spec
    keys = {role.value: key_text(signing.public_key()), role.other.value: key_text(peer.signing)}
    signatures = {role.value: record.own_signature.hex(), role.other.value: record.peer_signature.hex()}
    received = role in spec.recipients
    body = {
        "format": FORMAT,
        "job_id": record.job_id,
        "digest": contract.digest.hex(),
        "party": spec.side(role).party,
        "role": role.value,
        "peer": record.peer,
        "keys": keys,
        "contract": json.loads(contract.encode()),
        "signatures": signatures,
        "loss": {"epsilon": str(loss.epsilon), "delta": str(loss.delta), "rho": str(loss.rho)},
        "ledger": _ledger(entries),
        "result": {"received": received, "commitment": commitment(outcome, salt) if received else ""},
        "noise": {name: _plain(outcome["details"][name]) for name in _NOISE if name in outcome["details"]},
        "run": {
            "started": record.started,
            "finished": finished,
            "seconds": str(facts["seconds"]),
            **{name: facts[name] for name in ("rounds", "sent", "received", "route", "against")},
        },
        "program": program(tuple(plugins)),
    }
    if approvals:
        body |= {"format": SIGNED_FORMAT, "approvals": [entry.document() for entry in approvals]}
    if record_of_run is not None:
        approved = {"approvals": [entry.document() for entry in approvals]}
        body |= {"format": COVERT_FORMAT, **approved, "record": dict(record_of_run)}
    return {"certificate": body, "signature": signing.sign(signed_text(body)).hex()}


def signed_text(body: Mapping[str, Any]) -> bytes:
    """What the party signs of a certificate.

    Raises:
        TypeError: there is something in it that has no canonical form.
        ValueError: it is nested too deeply.
    """
    return _SIGNATURE + hashlib.sha256(canonical.encode(dict(body))).digest()


def commitment(outcome: Mapping[str, Any], salt: bytes) -> str:
    """The commitment to a result, hexadecimal.

    Args:
        outcome: `tables`, by name or as a list, `notes` and `details`, plain JSON values.
        salt: the random bytes.
    """
    tables = outcome["tables"]
    if not isinstance(tables, Mapping):
        tables = {table["name"]: table["columns"] for table in tables}
    result = {"tables": tables, "notes": outcome["notes"], "details": outcome["details"]}
    text = json.dumps(result, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(_COMMITMENT + salt + text.encode()).hexdigest()


def _ledger(entries: Sequence[Entry]) -> dict[str, Any]:
    return {entry.event: entry.document() for entry in entries if entry.event in ENTRIES}


def _plain(value: Any) -> Any:
    """The value without floats, which have no canonical form; they become texts."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, str | bool | int) else str(value)
