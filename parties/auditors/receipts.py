"""Receipts: what both parties have signed of a covert run, as one of them keeps it, without data and seed.

A receipt shows that a run was not due. It also holds the other party to what that has signed, in runs that
broke off as well: whoever signed the record at the gate, or at the end, has to show it as far as that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from parties.contracts.contract import Contract, parse_contract, signed_text
from parties.errors import DataError
from parties.evidence.run_case import RunCase, decode_case
from parties.evidence.seeds import is_due, opens_part
from parties.evidence.statements import ChainHeads, end_text, gate_text, is_signed
from parties.evidence.store import CASE, RECEIPT, EvidenceStore
from parties.pki.signing import parse_key
from smc.ciphers.paillier import PublicKey
from smc.errors import DuettoError
from smc.forms import Role

RECEIPT_BYTES: Final = 1 << 20

Signed = Mapping[str, ChainHeads]
"""The heads that a party has signed, as it sees them, by `gate` and `end`."""

_TEXTS: Final = {"gate": gate_text, "end": end_text}


class Unproven(Exception):  # noqa: N818 - it is a finding
    """What a party shows is not what it signed or committed to; the text says what."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt whose signatures hold.

    Attributes:
        case: what the party keeps.
        contract: of the run, which both have signed.
        signed: what each party has signed of the record.
    """

    case: RunCase
    contract: Contract
    signed: Mapping[Role, Signed]

    @property
    def was_due(self) -> bool:
        """Whether the run was to be audited: both did not bring it to its end, or the coin says so."""
        case, terms = self.case, self.contract.spec.audit
        if terms is None or not all("end" in self.signed[role] for role in Role):
            return True
        if not all(
            opens_part(case.start.commitments[role], self.contract.digest, role, case.parts.get(role, b""))
            for role in Role
        ):
            return True
        return is_due(self.contract.digest, case.parts, terms.rate)


def open_receipt(case: RunCase) -> Receipt:
    """The receipt in what a party keeps.

    Raises:
        DataError: it is malformed, or a signature in it does not hold.
    """
    try:
        contract = contract_of(case)
        return Receipt(case, contract, signed_heads(case, contract))
    except Unproven as problem:
        raise DataError(f"The receipt does not hold. {problem}", "Ask the party for it again.") from None


def read_receipt(data: bytes) -> Receipt:
    """The receipt in a file of `duetto evidence receipt`. Raises as `open_receipt`."""
    return open_receipt(decode_case(data))


def kept_receipt(store: EvidenceStore, job_id: str) -> RunCase | None:
    """What a party keeps of signatures under a run; None if it keeps nothing.

    Raises:
        StorageError: it cannot be read.
    """
    part = next((part for part in (RECEIPT, CASE) if store.has(job_id, part)), None)
    return None if part is None else decode_case(store.read(job_id, part)).receipt()


def contract_of(case: RunCase) -> Contract:
    """The contract, which both have signed, for a covert job.

    Raises:
        DataError: it is malformed, or not of a covert job.
        Unproven: it is not the one that was signed, or other keys belong to it.
    """
    try:
        contract = parse_contract(case.contract.encode())
        signed = {
            role: is_signed(
                parse_key(case.keys[role]), signed_text(contract.digest, role), case.signatures[role]
            )
            for role in Role
        }
    except (DuettoError, KeyError, ValueError):
        raise DataError("The contract of the evidence is malformed.", "Ask for the evidence again.") from None
    if contract.spec.audit is None:
        raise DataError("The contract of the evidence is not of a covert job.", "There is nothing to audit.")
    for role in Role:
        if not signed[role]:
            raise Unproven(f"The signature of {role.value} under the contract that it shows is not valid.")
    if contract.job_id != case.job_id:
        raise Unproven("The contract that it shows is of another job.")
    for role in Role:
        if _fingerprint(case.paillier[role]) != contract.keys[role]:
            raise Unproven(f"The Paillier key of {role.value} that it shows is not that of the contract.")
    return contract


def signed_heads(case: RunCase, contract: Contract) -> dict[Role, dict[str, ChainHeads]]:
    """What each party has signed of the record.

    Raises:
        Unproven: a signature does not hold.
    """
    found: dict[Role, dict[str, ChainHeads]] = {role: {} for role in Role}
    for name, text in _TEXTS.items():
        for role, signature in getattr(case, f"{name}_signatures").items():
            heads = heads_of(case, name, role)
            if heads is None or not is_signed(
                parse_key(case.keys[role]), text(contract.digest, role, case.start, heads), signature
            ):
                raise Unproven(f"The signature of {role.value} under the record at the {name} is not valid.")
            found[role][name] = heads
    return found


def heads_of(case: RunCase, name: str, role: Role) -> ChainHeads | None:
    """The heads of a case at the `gate` or the `end`, as the party in a role sees them."""
    heads: ChainHeads | None = getattr(case, name)
    return heads if heads is None or role is case.role else heads.other


def _fingerprint(n: int) -> str:
    """Of a Paillier N, which may be any number; empty if it cannot be one."""
    try:
        return PublicKey(n).fingerprint
    except (DuettoError, ValueError, ArithmeticError):
        return ""
