"""Verdicts: what an auditor signs about one party's part in a run, and how it is checked offline."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from parties.auditors.audit import AuditFinding, Outcome
from parties.auditors.keys import Auditor, AuditorKeys, parse_auditor
from parties.auditors.receipts import Receipt, Signed
from parties.certificates.program import program
from parties.certificates.verification import Certificate
from parties.contracts import canonical
from parties.contracts.contract import Contract, parse_contract
from parties.errors import DataError
from parties.evidence.run_case import RunCase
from parties.evidence.statements import ChainHeads, is_signed
from parties.pki.signing import key_text
from smc.errors import DuettoError
from smc.evidence.verdict import Departure
from smc.forms import Role

FORMAT: Final = 1
VERDICT_BYTES: Final = 1 << 20

_ASK: Final = "Ask the auditor, and both parties for the certificates or receipts of this job."
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
        record: the heads that it is about, as the party sees them and has signed them, by `gate` and `end`.
    """

    body: Mapping[str, Any]
    auditor: Auditor
    role: Role
    finding: AuditFinding
    record: Signed

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
        if certificate.record is None:
            return
        gate = certificate.record.gate
        # Of the end a certificate has its maker's word alone, who may be convicted; of that a receipt tells.
        heads = {"gate": gate if certificate.role is self.role else gate.other}
        self._hold_against(heads, heads, "certificate")

    def confirm_receipt(self, receipt: Receipt) -> None:
        """Check that a verdict is about the run of a receipt, and about all that its party has signed there.

        Args:
            receipt: of either party.

        Raises:
            DataError: it is not; says what differs.
        """
        self.confirm_contract(receipt.contract, receipt.case.keys)
        signed = receipt.signed[self.role]
        self._hold_against(signed, signed, "receipt")

    def _hold_against(self, theirs: Signed, signed: Collection[str], what: str) -> None:
        """Check the heads that the verdict is about, and that they reach as far as its party has signed."""
        if self.finding.outcome is Outcome.MISSING:
            return
        for name, heads in theirs.items():
            if self.record.get(name, heads) != heads:
                raise _unfit(f"The verdict is about another record at the {name} than the {what}.")
            if name in self.record or name not in signed:
                continue
            if self.finding.outcome not in (Outcome.CONVICTED, Outcome.INCOMPLETE):
                raise _unfit(
                    f"By the {what} the party of the verdict has signed the record at the {name}, and the "
                    "verdict is about a record without that: the party has shown less than it had to keep."
                )

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

    @property
    def is_whole(self) -> bool:
        """Whether it is about the whole run, as both have signed it; so it is if nothing was shown."""
        return self.finding.signed == "end" or self.finding.outcome is Outcome.MISSING


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
    return _sign(contract, case.role, case.keys, finding, keys, time)


def sign_missing(
    shown: Certificate | Receipt, role: Role, keys: AuditorKeys, time: str, own: Receipt | None = None
) -> dict[str, Any]:
    """The signed verdict about a party that shows nothing of a run.

    Args:
        shown: what shows that it has signed the run's record: a certificate, or, also of a run that broke
            off, the other party's receipt.
        role: of the party that shows nothing.
        keys: of the auditor.
        time: RFC 3339 in UTC.
        own: what that party shows instead, if anything: its receipt.

    Raises:
        DataError: the contract names another auditor, the job is not covert, nothing shows that the party
            has signed anything, or its receipt shows that the run was not due.
    """
    if isinstance(shown, Receipt):
        contract, named = shown.contract, shown.case.keys
        if not shown.signed[role]:
            raise DataError(
                f"The receipt has no signature of {role.value} under a record: nothing shows that it had to "
                "keep one.",
                "Ask that party for its record all the same, or give a certificate of the job.",
            )
    else:
        contract = parse_contract(canonical.encode(shown.body["contract"]))
        named = {role: key_text(key) for role, key in shown.keys.items()}
    if own is not None:
        if (own.contract.digest, own.case.keys) != (contract.digest, named):
            raise DataError("The receipts are of different jobs or by different keys.", _ASK)
        if not own.was_due:
            raise DataError(
                f"By its receipt the run of job {contract.job_id} was not to be audited.",
                "The party had to keep nothing but the receipt.",
            )
    nothing = AuditFinding(Outcome.MISSING, "It shows no evidence of the run, which it had to keep.")
    return _sign(contract, role, named, nothing, keys, time)


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


def _sign(
    contract: Contract,
    role: Role,
    named: Mapping[Role, str],
    finding: AuditFinding,
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
        "keys": {one.value: key for one, key in named.items()},
        "auditor": keys.public.document(),
        "outcome": finding.outcome.value,
        "ground": finding.ground,
        "signed": finding.signed,
        "frame": {} if finding.departure is None else asdict(finding.departure),
        "record": {
            name: {way: head.hex() for way, head in heads._asdict().items()}
            for name, heads in finding.heads.items()
        },
        "time": time,
        "code": program(())["code"],
    }
    return {"verdict": body, "signature": keys.signing.sign(signed_text(body)).hex()}


def _unfit(what: str) -> DataError:
    return DataError(what, _ASK)
