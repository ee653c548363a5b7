"""Checks certificates without daemon, configuration or network: what holds, and by whose keys."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from parties.audit_terms import AuditTerms
from parties.certificates.document import (
    COVERT_FORMAT,
    ENTRIES,
    FORMAT,
    RESULT,
    SALT_BYTES,
    SIGNED_FORMAT,
    commitment,
    signed_text,
)
from parties.contracts import canonical
from parties.contracts import contract as contracts
from parties.errors import JobError
from parties.evidence.statements import RunRecord, gate_text
from parties.ledger.entries import COUNTERSIGNED, RUN, SPENT, Entry, parse_document
from parties.ledger.export import is_countersigned
from parties.persons.keys import PersonKey
from parties.persons.register import statement_of
from parties.persons.roles import Act
from parties.pki.signing import key_text, parse_key
from smc.analyses.studies.loss import Loss
from smc.errors import DuettoError
from smc.forms import Role

CERTIFICATE_BYTES: Final = 64 << 20
"""The longest file; most of it can only be an attached result."""

_FORM: Final[dict[str, type | tuple[type, ...]]] = {
    **dict.fromkeys(("job_id", "digest", "party", "role", "peer"), str),
    **dict.fromkeys(("keys", "contract", "signatures", "loss", "result", "noise", "run", "program"), dict),
    "format": int,
    "ledger": dict,
}
_RUN = {
    "started": str,
    "finished": str,
    "seconds": str,
    "rounds": int,
    "sent": int,
    "received": int,
    "route": str,
    "against": str,
}
"""Of a run; earlier ones do not say what they held."""

_PROGRAM: Mapping[str, type | tuple[type, ...]] = {
    "duetto": str,
    "wire": int,
    "suite": (str, int),
    "python": str,
    "code": str,
    "plugins": list,
}
"""Of a program; before the digest of the wire, `suite` was a number, and before plug-ins none were listed."""

_PLUGIN: Mapping[str, type | tuple[type, ...]] = dict.fromkeys(("name", "version", "code"), str)

_FRACTION = re.compile(r"[0-9]{1,1000}(/[1-9][0-9]{0,999})?")
_SIGNATURE = re.compile(r"[0-9a-f]{128}")
_ROLES = frozenset(role.value for role in Role)


class CertificateError(JobError):
    """A certificate or a result does not hold; ask the party that made it for a new one."""

    code = "certificate"
    advice = "Do not rely on it; ask the party that made it for the file once more."


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate whose signatures and statements all fit together.

    Attributes:
        body: all that it states, plain JSON values.
        role: the role of the party that made it.
        keys: the parties' signing keys, as it states them.
        loss: the privacy loss.
        entries: the entries of the party's ledger by their events: `run` and `countersigned`, which holds
            the peer's signature for its own entry; `exact` and `spent` if there are such.
        result: the result that is attached; None without.
        approvals: the entries with the signatures of persons who approved the job at the party; it vouches
            for their names and keys.
        record: of a covert run, its record as both have signed it at the gate; None for others.
        audit: how it is audited, likewise.
    """

    body: Mapping[str, Any]
    role: Role
    keys: Mapping[Role, Ed25519PublicKey]
    loss: Loss
    entries: Mapping[str, Entry]
    result: Mapping[str, Any] | None
    approvals: tuple[Entry, ...] = ()
    record: RunRecord | None = None
    audit: AuditTerms | None = None

    def name(self, role: Role) -> str:
        """The name of the party in a role."""
        return str(self.body["party"] if role is self.role else self.body["peer"])

    @property
    def received(self) -> bool:
        """Whether the party received a result."""
        return bool(self.body["result"]["received"])

    def confirm(self, key: Ed25519PublicKey, role: Role) -> None:
        """Check that the party in a role signs with a key that is known to be its own.

        Raises:
            CertificateError: it does not.
        """
        if key_text(key) != key_text(self.keys[role]):
            raise CertificateError(
                f"The certificate names another signing key of {self.name(role)!r} than the one given.",
                "It is not by that party, or the party has made new keys since.",
            )

    def check_result(self, result: Any) -> None:
        """Check that a result is the one of this job.

        Args:
            result: a document with `tables`, `notes`, `details` and `salt`, as `duetto job result`
                prints it with `--json`.

        Raises:
            CertificateError: it is another one, or no result at all.
        """
        if not self.received:
            raise CertificateError("The certificate says that its party received no result.")
        try:
            salt = bytes.fromhex(result["salt"])
            found = commitment(result, salt) if len(salt) == SALT_BYTES else ""
        except (KeyError, TypeError, ValueError, RecursionError):
            raise CertificateError(
                "The result is not in the form of `duetto job result --json`.",
                f"It needs {', '.join(RESULT)} and salt.",
            ) from None
        if found != self.body["result"]["commitment"]:
            raise CertificateError(
                "The result is not the one that this certificate is about, or it was changed."
            )


def read_certificate(data: bytes) -> Certificate:
    """Read a certificate and check that all of it fits together.

    Raises:
        CertificateError: something does not; says what.
    """
    document = _parse(data)
    if not {"certificate", "signature"} <= set(document) <= {"certificate", "signature", "result"}:
        raise _malformed_error()
    body = document["certificate"]
    _check_form(body)
    try:
        role = Role(body["role"])
        keys = {Role(name): parse_key(text) for name, text in body["keys"].items()}
        signature, text = _signature(document["signature"]), signed_text(body)
    except (ValueError, TypeError, DuettoError):
        raise _malformed_error() from None
    if not _is_signed(keys[role], signature, text):
        raise CertificateError(
            "The signature under the certificate is not valid: it was changed after it was made."
        )
    _check_contract(body, role, keys)
    loss, entries = _check_ledger(body, role, keys)
    approvals = _check_approvals(body)
    audit, record = _check_record(body, role, keys)
    result = document.get("result")
    certificate = Certificate(body, role, keys, loss, entries, result, approvals, record, audit)
    if certificate.result is not None:
        certificate.check_result(certificate.result)
    return certificate


def read_result(data: bytes) -> Any:
    """Read a result that was written by `duetto job result --json`.

    Raises:
        CertificateError: it is not JSON.
    """
    return _parse(data)


def _check_contract(body: Mapping[str, Any], role: Role, keys: Mapping[Role, Ed25519PublicKey]) -> None:
    digest = contracts.digest_of(canonical.encode(body["contract"]))
    if digest.hex() != body["digest"]:
        raise CertificateError("The contract in the certificate does not match its digest.")
    for one in Role:
        signature = _signature(body["signatures"][one.value])
        if not _is_signed(keys[one], signature, contracts.signed_text(digest, one)):
            raise CertificateError(f"The signature of {one.value} under the contract is not valid.")
    try:
        job = body["contract"]["spec"]["job"]
        named = {one: job[one.value] for one in Role}
        recipients = list(job["recipients"])
    except (KeyError, TypeError):
        raise _malformed_error() from None
    if named != {role: body["party"], role.other: body["peer"]}:
        raise CertificateError("The contract is between other parties than the certificate says.")
    result = body["result"]
    if result["received"] != (role.value in recipients) or bool(result["commitment"]) != result["received"]:
        raise CertificateError("The contract names other recipients than the certificate says.")


def _check_ledger(
    body: Mapping[str, Any], role: Role, keys: Mapping[Role, Ed25519PublicKey]
) -> tuple[Loss, dict[str, Entry]]:
    loss = Loss(*(Fraction(body["loss"][name]) for name in ("epsilon", "delta", "rho")))
    try:
        entries = {event: parse_document(entry) for event, entry in body["ledger"].items()}
        dataset = body["contract"]["spec"][role.value]["dataset"]
    except (KeyError, TypeError, ValueError):
        raise CertificateError("The entries of the ledger in the certificate cannot be read.") from None
    if not {RUN, COUNTERSIGNED} <= set(entries):
        raise CertificateError("The certificate lacks entries of the ledger.")
    written = [entry for event, entry in entries.items() if event != COUNTERSIGNED]
    countersigned, last = entries[COUNTERSIGNED], max(written, key=lambda entry: entry.sequence)
    about = (body["digest"], body["peer"])
    if any(entry.dataset != dataset for entry in written) or not all(
        entry.is_sealed and (entry.event, entry.job, entry.peer) == (event, *about)
        for event, entry in entries.items()
    ):
        raise CertificateError("The entries of the ledger are not those of this job.")
    spent = entries.get(SPENT)
    if (spent.loss if spent else Loss()) != loss:
        raise CertificateError("The privacy loss in the ledger differs from the one in the certificate.")
    if (
        countersigned.subject != last.hash
        or countersigned.sequence <= last.sequence
        or countersigned.peer_role != role.other.value
        or not is_countersigned(countersigned, keys[role.other], ())
    ):
        raise CertificateError("The peer's signature for its own ledger entry is not valid.")
    return loss, entries


def _check_approvals(body: Mapping[str, Any]) -> tuple[Entry, ...]:
    """The signatures of persons under the contract, or under its draft at the party that proposed it."""
    try:
        entries = tuple(parse_document(one) for one in body.get("approvals", ()))
        contract = body["contract"]
        nothing = {Role(contract["proposer"]).other.value: None}
        both = ("schemas", "limits", *(("commitments",) if "commitments" in contract else ()))
        draft = {**contract, **{name: {**contract[name], **nothing} for name in both}}
        digests = (body["digest"], contracts.digest_of(canonical.encode(draft)).hex())
        for entry in entries:
            signed = statement_of(entry, body["party"])
            is_about = signed.act is Act.APPROVE and entry.peer == body["peer"] and entry.job in digests
            key, signature = PersonKey.parse(entry.key), _signature(entry.signature)
            if not (entry.is_sealed and is_about and key.has_signed(signed.text, signature)):
                raise ValueError("not signed")
    except (KeyError, TypeError, ValueError, DuettoError):
        raise CertificateError("The signature of a person who approved the job is not valid.") from None
    return entries


def _check_record(
    body: Mapping[str, Any], role: Role, keys: Mapping[Role, Ed25519PublicKey]
) -> tuple[AuditTerms, RunRecord] | tuple[None, None]:
    """How a covert run is audited, and its record, signed by both at the gate."""
    if ("record" in body) != ("audit" in body["contract"]["spec"]):
        raise CertificateError("The contract asks for another level of security than the certificate shows.")
    if "record" not in body:
        return None, None
    try:
        record = RunRecord.parse(body["record"])
        audit = contracts.parse_contract(canonical.encode(body["contract"])).spec.audit
    except (KeyError, TypeError, ValueError, DuettoError):
        raise _malformed_error() from None
    if audit is None:
        raise _malformed_error()
    digest = bytes.fromhex(body["digest"])
    for one in Role:
        heads = record.gate if one is role else record.gate.other
        if not _is_signed(keys[one], record.signatures[one], gate_text(digest, one, record.start, heads)):
            raise CertificateError(f"The signature of {one.value} under the record of the run is not valid.")
    return audit, record


def _check_form(body: Any) -> None:
    """Check names and types of all that is read from a certificate."""
    if not isinstance(body, dict) or body.get("format") not in (FORMAT, SIGNED_FORMAT, COVERT_FORMAT):
        raise CertificateError(
            f"The file is not a certificate of format {FORMAT} to {COVERT_FORMAT}.",
            "Use the release that made it.",
        )
    made = {"plugins": [], **body["program"]} if isinstance(body.get("program"), dict) else {}
    signed: dict[str, type] = {"approvals": list} if body["format"] != FORMAT else {}
    covert: dict[str, type] = {"record": dict} if body["format"] == COVERT_FORMAT else {}
    if not _has(body, {**_FORM, **signed, **covert}):
        raise _malformed_error()
    if body["format"] == SIGNED_FORMAT and not body["approvals"]:
        raise _malformed_error()
    run = {"against": "", **body["run"]} if isinstance(body.get("run"), dict) else {}
    if not _has(run, _RUN) or not _has(made, _PROGRAM):
        raise _malformed_error()
    if not all(_has(plugin, _PLUGIN) for plugin in made["plugins"]):
        raise _malformed_error()
    if not _has(body["result"], {"received": bool, "commitment": str}):
        raise _malformed_error()
    for name in ("keys", "signatures"):
        if set(body[name]) != _ROLES or not all(isinstance(text, str) for text in body[name].values()):
            raise _malformed_error()
    loss = body["loss"]
    if not _has(loss, dict.fromkeys(("epsilon", "delta", "rho"), str)):
        raise _malformed_error()
    if not all(_FRACTION.fullmatch(text) and str(Fraction(text)) == text for text in loss.values()):
        raise _malformed_error()
    if not set(body["ledger"]) <= set(ENTRIES):
        raise _malformed_error()


def _has(document: Any, form: Mapping[str, type | tuple[type, ...]]) -> bool:
    if not isinstance(document, dict) or set(document) != set(form):
        return False
    return all(
        isinstance(document[name], wanted) and (wanted is bool or not isinstance(document[name], bool))
        for name, wanted in form.items()
    )


def _signature(text: Any) -> bytes:
    if not isinstance(text, str) or not _SIGNATURE.fullmatch(text):
        raise _malformed_error()
    return bytes.fromhex(text)


def _is_signed(key: Ed25519PublicKey, signature: bytes, text: bytes) -> bool:
    try:
        key.verify(signature, text)
    except InvalidSignature:
        return False
    return True


def _parse(data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(data.decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise CertificateError("The file is not valid JSON, or has a name twice.") from None
    if not isinstance(document, dict):
        raise _malformed_error()
    return document


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _malformed_error() -> CertificateError:
    return CertificateError(
        "The certificate is malformed.", "Ask the party for the file that `duetto job certificate` wrote."
    )
