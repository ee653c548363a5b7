"""Verdicts: what an auditor signs about one party's part in a run, and how it is checked offline."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from parties.auditors.audit import AuditFinding, Outcome
from parties.auditors.keys import Auditor, AuditorKeys, parse_auditor
from parties.certificates.program import program
from parties.certificates.verification import Certificate
from parties.contracts import canonical
from parties.contracts.contract import Contract, parse_contract
from parties.errors import DataError
from parties.evidence.run_case import RunCase
from parties.evidence.seeds import is_due, opens_part
from parties.evidence.statements import ChainHeads, end_text, is_signed
from smc.errors import DuettoError
from smc.evidence.verdict import Departure
from smc.forms import Role

FORMAT: Final = 1
VERDICT_BYTES: Final = 1 << 20

_SIGNATURE: Final = b"duetto audit verdict v1\0"
_ENTRIES: Final[Mapping[str, type]] = {
    "format": int,
    "job_id": str,
    "digest": str,
    "party": str,
    "peer": str,
    "role": str,
    "keys": dict,
    "auditor": dict,
    "outcome": str,
    "ground": str,
    "signed": str,
    "frame": dict,
    "record": dict,
    "time": str,
    "code": str,
}


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """A verdict whose signature holds.

    Attributes:
        body: all that it states, plain JSON values.
        auditor: whose it is.
        role: the role of the party that it is about.
        finding: what the auditor found.
        record: the heads that it is about, as the party sees them, by `gate` and `end`; empty where nothing
            was signed.
    """

    body: Mapping[str, Any]
    auditor: Auditor
    role: Role
    finding: AuditFinding
    record: Mapping[str, ChainHeads]

    def confirm(self, certificate: Certificate) -> None:
        """Check that a verdict is about the run of a certificate, by the auditor whom its contract names.

        Args:
            certificate: of either party.

        Raises:
            DataError: it is not; says what differs.
        """
        body, terms = certificate.body, certificate.body["contract"]["spec"].get("audit", {})
        if terms.get("key") != self.auditor.fingerprint:
            raise _unfit("The contract in the certificate names another auditor than the one of the verdict.")
        for name, what in (("digest", "job"), ("keys", "keys of the parties")):
            if body[name] != self.body[name]:
                raise _unfit(f"The verdict is about another {what} than the certificate.")
        if certificate.record is None or self.finding.outcome is Outcome.MISSING:
            return
        if self.finding.outcome is not Outcome.CONVICTED and "gate" not in self.record:
            raise _unfit(
                "The certificate has both signatures at the gate, and the verdict is about a record without "
                "them: the party has shown less than it had to keep."
            )
        own = certificate.role is self.role
        for name, heads in self.record.items():
            theirs: ChainHeads = getattr(certificate.record, name)
            if heads != (theirs if own else theirs.other):
                raise _unfit(f"The verdict is about another record at the {name} than the certificate.")

    def confirm_contract(self, contract: Contract, keys: Mapping[Role, str]) -> None:
        """Check that a verdict is about a run of a contract, by the auditor whom it names.

        Args:
            contract: the contract.
            keys: the parties' signing keys, hexadecimal, as they are known here.

        Raises:
            DataError: it is not; says what differs.
        """
        check_auditor(contract, self.auditor)
        parties = {role: contract.spec.side(role).party for role in (self.role, self.role.other)}
        for name, value, what in (
            ("digest", contract.digest.hex(), "job"),
            ("party", parties[self.role], "party"),
            ("peer", parties[self.role.other], "peer"),
            ("keys", {role.value: key for role, key in keys.items()}, "keys of the parties"),
        ):
            if self.body[name] != value:
                raise _unfit(f"The verdict is about another {what} than the contract here.")

    @property
    def subject(self) -> str:
        """The digest of what the auditor has signed, hexadecimal."""
        return hashlib.sha256(signed_text(self.body)).hexdigest()

    def reaches(self, certificate: Certificate) -> bool:
        """Whether the verdict is about all that the certificate's party recorded of the run."""
        return certificate.record is None or "end" in self.record or self.finding.outcome is Outcome.MISSING


def sign_verdict(case: RunCase, finding: AuditFinding, keys: AuditorKeys, time: str) -> dict[str, Any]:
    """The signed verdict about a case, as plain JSON values.

    Args:
        case: what the party showed.
        finding: what the audit found.
        keys: of the auditor.
        time: RFC 3339 in UTC.

    Raises:
        DataError: the contract names another auditor.
    """
    try:
        contract = parse_contract(case.contract.encode())
    except DuettoError:
        raise DataError("The contract of the evidence is malformed.", "Ask for the evidence again.") from None
    heads = {name: getattr(case, name) for name in _reached(finding)}
    named = {role.value: key for role, key in case.keys.items()}
    return _signed(contract, case.role, named, finding, heads, keys, time)


def sign_missing(certificate: Certificate, role: Role, keys: AuditorKeys, time: str) -> dict[str, Any]:
    """The signed verdict about a party that shows nothing of a run.

    Args:
        certificate: of the other party, or an earlier one of its own.
        role: of the party that shows nothing.
        keys: of the auditor.
        time: RFC 3339 in UTC.

    Raises:
        DataError: the contract names another auditor, or the job is not covert.
    """
    contract = parse_contract(canonical.encode(certificate.body["contract"]))
    nothing = AuditFinding(Outcome.MISSING, "It shows no evidence of the run, which it had to keep.")
    return _signed(contract, role, certificate.body["keys"], nothing, {}, keys, time)


def is_not_due(receipt: RunCase, certificate: Certificate) -> bool:
    """Whether a receipt shows that the run of a certificate was brought to its end and was not due.

    Both parties have signed the record of the whole run then, and have told their parts of the coin.
    """
    contract = parse_contract(canonical.encode(certificate.body["contract"]))
    terms, digest = contract.spec.audit, contract.digest
    both = (receipt.parts, receipt.commitments)
    if terms is None or receipt.end is None or any(set(each) != set(Role) for each in both):
        return False
    for role in Role:
        heads = receipt.end if role is receipt.role else receipt.end.other
        text = end_text(digest, role, receipt.commitments, heads)
        if not is_signed(certificate.keys[role], text, receipt.end_signatures.get(role, b"")):
            return False
        if not opens_part(receipt.commitments[role], digest, role, receipt.parts[role]):
            return False
    return not is_due(digest, receipt.parts, terms.rate)


def read_verdict(data: bytes) -> AuditVerdict:
    """Read a verdict and check its signature.

    Raises:
        DataError: it is malformed, or its signature does not hold.
    """
    try:
        document = json.loads(data)
        body = document["verdict"]
        if (
            set(document) != {"verdict", "signature"}
            or set(body) != set(_ENTRIES)
            or body["format"] != FORMAT
        ):
            raise ValueError("other entries")
        if not all(type(body[name]) is kind for name, kind in _ENTRIES.items()):
            raise ValueError("other types")
        signature, text, frame = bytes.fromhex(document["signature"]), signed_text(body), body["frame"]
        departure = Departure(**frame) if frame else None
        finding = AuditFinding(Outcome(body["outcome"]), body["ground"], departure, body["signed"])
        record = {
            name: ChainHeads(*(bytes.fromhex(heads[way]) for way in ("sent", "received")))
            for name, heads in body["record"].items()
        }
        if not set(record) <= {"gate", "end"}:
            raise ValueError("other heads")
        verdict = AuditVerdict(body, parse_auditor(body["auditor"]), Role(body["role"]), finding, record)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError(
            "The file is not a verdict.", "Give a file that `duetto evidence verdict` wrote."
        ) from None
    if not is_signed(verdict.auditor.key, text, signature):
        raise _unfit("The signature under the verdict is not valid: it was changed after it was made.")
    return verdict


def signed_text(body: Mapping[str, Any]) -> bytes:
    """What the auditor signs of a verdict.

    Raises:
        TypeError, ValueError: there is something in it that has no canonical form.
    """
    return _SIGNATURE + hashlib.sha256(canonical.encode(dict(body))).digest()


def check_auditor(contract: Contract, auditor: Auditor) -> None:
    """Check that a contract names an auditor.

    Raises:
        DataError: it names another one, or none.
    """
    terms = contract.spec.audit
    if terms is None:
        raise DataError("The job is not covert; nothing is kept of its runs.", "There is nothing to audit.")
    if terms.key != auditor.fingerprint:
        raise DataError(
            f"The contract names the auditor {terms.auditor!r} with key {terms.key[:16]}; this is "
            f"{auditor.name!r} with key {auditor.fingerprint[:16]}.",
            "Use the keys of the auditor whom both parties agreed on.",
        )


def _signed(
    contract: Contract,
    role: Role,
    named: Mapping[str, str],
    finding: AuditFinding,
    heads: Mapping[str, ChainHeads],
    keys: AuditorKeys,
    time: str,
) -> dict[str, Any]:
    check_auditor(contract, keys.public)
    spec = contract.spec
    body = {
        "format": FORMAT,
        "job_id": contract.job_id,
        "digest": contract.digest.hex(),
        "party": spec.side(role).party,
        "peer": spec.side(role.other).party,
        "role": role.value,
        "keys": dict(named),
        "auditor": keys.public.document(),
        "outcome": finding.outcome.value,
        "ground": finding.ground,
        "signed": finding.signed,
        "frame": {} if finding.departure is None else asdict(finding.departure),
        "record": {
            name: {way: head.hex() for way, head in each._asdict().items()} for name, each in heads.items()
        },
        "time": time,
        "code": program(())["code"],
    }
    return {"verdict": body, "signature": keys.signing.sign(signed_text(body)).hex()}


def _reached(finding: AuditFinding) -> tuple[str, ...]:
    """The heads that both have signed, by how far that reaches."""
    return {"end": ("gate", "end"), "gate": ("gate",)}.get(finding.signed, ())


def _unfit(what: str) -> DataError:
    return DataError(what, "Ask the auditor, and both parties for the certificates of this job.")
