"""The contract: a job with keys, schemas and limits of both parties. Both sign it; nothing else is run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from parties.contracts import canonical
from parties.contracts.spec import JobSpec, spec_from_document
from parties.errors import JobError
from parties.pki.signing import SigningKey
from smc.analyses.disclosure.limits import MAX_LIMIT, NO_LIMITS, ZEROS, Agreed, Limits
from smc.analyses.disclosure.owned import Owned
from smc.analyses.studies.columns import Schema
from smc.errors import ProtocolViolation
from smc.forms import Role

FORMAT = 4
"""Contracts of other formats are kept and shown, but never worked with."""
CONTRACT_BYTES = 192 << 10
"""The longest contract."""

_DIGEST = b"duetto job contract v1\0"
_SIGNATURE = b"duetto job contract signature v1\0"
_HEX = re.compile(r"[0-9a-f]{64}")
_PART = re.compile(r"[0-9]{1,7}(/[0-9]{1,7})?")

Schemas = Mapping[str, Schema]
"""Schemas of one party's columns, by their names in the job."""

Commitments = Mapping[str, str]
"""Commitments to one party's columns, hexadecimal, by their names in the job."""

_COUNTS = ("minimum_group", "minimum_set", "minimum_intersection")
_PARTS = ("dominance", "maximum_ratio")


@dataclass(frozen=True, slots=True)
class Outline:
    """What is known of a contract of any format without understanding it.

    Attributes:
        format: its format; 0 if it has none.
        analysis: the name of the analysis; empty if it has none.
        title: for people; may be empty.
        digest: what both sign, hexadecimal; empty if it is a draft.
    """

    format: int
    analysis: str
    title: str
    digest: str


@dataclass(frozen=True)
class Contract:
    """What both parties agree to.

    Attributes:
        spec: the job.
        proposer: the role of the party that proposes it.
        nonce: 32 bytes of the proposer in hexadecimal, so that the same job can be run twice.
        keys: fingerprints of the parties' Paillier keys.
        schemas: declarations of the used columns; of the other party None until it has added them.
        limits: what each party's policy asks of results; of the other party None until it has added them.
        commitments: of a covert job, to each party's columns, see `parties.evidence.cells`; likewise.
    """

    spec: JobSpec
    proposer: Role
    nonce: str
    keys: Mapping[Role, str]
    schemas: Mapping[Role, Schemas | None]
    limits: Mapping[Role, Limits | None]
    commitments: Mapping[Role, Commitments | None] = field(default_factory=lambda: dict.fromkeys(Role))

    @property
    def job_id(self) -> str:
        """The job's name on both sides: 16 hexadecimal digits of the digest of the draft."""
        return digest_of(self.draft.encode()).hex()[:16]

    @property
    def digest(self) -> bytes:
        """What is signed, 32 bytes."""
        return digest_of(self.encode())

    @property
    def draft(self) -> Contract:
        """The contract as it was proposed, without the other party's schemas and limits."""
        nothing = {self.proposer.other: None}
        return replace(
            self,
            schemas={**self.schemas, **nothing},
            limits={**self.limits, **nothing},
            commitments={**self.commitments, **nothing},
        )

    @property
    def is_complete(self) -> bool:
        """Whether both parties' schemas and limits are in it, and of a covert job their commitments."""
        parts = [self.schemas, self.limits, *([self.commitments] if self.is_covert else [])]
        return all(part[role] is not None for part in parts for role in Role)

    @property
    def is_covert(self) -> bool:
        """Whether its runs can be audited."""
        return self.spec.audit is not None

    @property
    def agreed(self) -> Limits:
        """The limits that hold: the stricter of both parties'."""
        found = NO_LIMITS
        for limits in self.limits.values():
            found = found.stricter(limits or NO_LIMITS)
        return found

    def limits_of(self, role: Role) -> Agreed:
        """The limits as one party sees them: its own, and those of figures about both sides' persons."""
        return Agreed(Owned(self.limits[role] or NO_LIMITS), self.agreed)

    def complete(self, schemas: Schemas, limits: Limits, commitments: Commitments | None = None) -> Contract:
        """The contract with the other party's schemas and limits, and its commitments if it is covert."""
        other = self.proposer.other
        return replace(
            self,
            schemas={**self.schemas, other: dict(schemas)},
            limits={**self.limits, other: limits},
            commitments={**self.commitments, other: commitments},
        )

    def encode(self) -> bytes:
        """Canonical JSON."""
        return self._encoded

    @cached_property
    def _encoded(self) -> bytes:
        covert = {role.value: made and dict(made) for role, made in self.commitments.items()}
        return canonical.encode(
            {
                "format": FORMAT,
                "spec": self.spec.document(),
                "proposer": self.proposer.value,
                "nonce": self.nonce,
                "keys": {role.value: self.keys[role] for role in Role},
                "schemas": {role.value: _schemas_document(self.schemas[role]) for role in Role},
                "limits": {role.value: limits_document(self.limits[role]) for role in Role},
                **({"commitments": covert} if self.is_covert else {}),
            }
        )


def parse_contract(data: bytes) -> Contract:
    """Read a contract that a peer has sent or that the store has kept.

    Raises:
        ProtocolViolation: it is malformed in any way.
    """
    document = canonical.decode(data, CONTRACT_BYTES)
    try:
        commitments = document.pop("commitments", None)
        if set(document) != {"format", "spec", "proposer", "nonce", "keys", "schemas", "limits"}:
            raise ValueError
        if document["format"] != FORMAT or not _HEX.fullmatch(document["nonce"]):
            raise ValueError
        keys, schemas, limits = document["keys"], document["schemas"], document["limits"]
        both = {role.value for role in Role}
        if any(set(part) != both for part in (keys, schemas, limits)) or not all(
            map(_HEX.fullmatch, keys.values())
        ):
            raise ValueError
        contract = Contract(
            spec_from_document(document["spec"], "contract"),
            Role(document["proposer"]),
            document["nonce"],
            {role: keys[role.value] for role in Role},
            {role: _parse_schemas(schemas[role.value]) for role in Role},
            {role: _parse_limits(limits[role.value]) for role in Role},
            _parse_commitments(commitments),
        )
        if contract.is_covert != (commitments is not None):
            raise ValueError
    except JobError as error:
        raise ProtocolViolation(f"The peer's contract is malformed: {error.what}") from None
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError):
        raise ProtocolViolation("The peer's contract is malformed.") from None
    if contract.encode() != data:
        raise ProtocolViolation("The peer's contract is not in canonical form.")
    return contract


def outline(encoded: bytes) -> Outline:
    """The outline of a stored contract of any format. Nothing is checked, and nothing is refused."""
    try:
        document = json.loads(encoded)
        job = document["spec"]["job"]
        said = [*document["schemas"].values(), *document.get("limits", {}).values()]
        complete = bool(said) and None not in said
        return Outline(
            int(document["format"]),
            str(job["analysis"]),
            str(job.get("title", "")),
            digest_of(encoded).hex() if complete else "",
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Outline(0, "", "", "")


def sign(contract: Contract, role: Role, key: SigningKey) -> bytes:
    """The signature of the party in `role`, 64 bytes.

    Raises:
        JobError: the contract lacks a party's schemas or limits.
    """
    if not contract.is_complete:
        raise JobError(
            "A contract without the declarations and limits of both parties cannot be signed.",
            "Submit the job again.",
        )
    return key.sign(signed_text(contract.digest, role))


def check_signature(contract: Contract, role: Role, key: Ed25519PublicKey, signature: bytes) -> None:
    """Check the signature of the party in `role`.

    Raises:
        ProtocolViolation: it is not valid.
    """
    try:
        key.verify(signature, signed_text(contract.digest, role))
    except InvalidSignature:
        raise ProtocolViolation("The peer's signature under the contract is not valid.") from None


def digest_of(encoded: bytes) -> bytes:
    """The digest of an encoded contract of any format, 32 bytes."""
    return hashlib.sha256(_DIGEST + encoded).digest()


def signed_text(digest: bytes, role: Role) -> bytes:
    """What the party in `role` signs of the contract with that digest."""
    return _SIGNATURE + role.value.encode().ljust(8, b"\0") + digest


def limits_document(limits: Limits | None) -> dict[str, Any] | None:
    """Limits as plain JSON values; fractions as texts."""
    if limits is None:
        return None
    values = {one.name: getattr(limits, one.name) for one in fields(Limits)}
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in values.items()}


def _parse_limits(entry: Any) -> Limits | None:
    if entry is None:
        return None
    if set(entry) != {*_COUNTS, *_PARTS, "zeros"}:
        raise ValueError
    if not all(type(entry[name]) is int and 0 <= entry[name] <= MAX_LIMIT for name in _COUNTS):
        raise ValueError
    if entry["zeros"] not in ZEROS:
        raise ValueError
    parts = {name: _parse_part(entry[name]) for name in _PARTS}
    if not 0 < parts["dominance"] <= 1 or 0 < parts["maximum_ratio"] < 1:
        raise ValueError
    return Limits(**(entry | parts))


def _parse_commitments(document: Any) -> dict[Role, Commitments | None]:
    if document is None:
        return dict.fromkeys(Role)
    if set(document) != {role.value for role in Role}:
        raise ValueError
    made = {role: document[role.value] for role in Role}
    for one in made.values():
        if one is not None and not all(map(_HEX.fullmatch, one.values())):
            raise ValueError
    return made


def _parse_part(text: Any) -> Fraction:
    if not isinstance(text, str) or not _PART.fullmatch(text):
        raise ValueError
    part = Fraction(text)
    if str(part) != text or part < 0 or max(part.numerator, part.denominator) > MAX_LIMIT:
        raise ValueError
    return part


def _schemas_document(schemas: Schemas | None) -> dict[str, Any] | None:
    if schemas is None:
        return None
    return {name: _schema_document(schema) for name, schema in schemas.items()}


def _schema_document(schema: Schema) -> dict[str, Any]:
    document = {one.name: getattr(schema, one.name) for one in fields(Schema)}
    return document | {"categories": list(schema.categories)}


def _parse_schemas(document: Any) -> Schemas | None:
    return None if document is None else {name: _parse_schema(entry) for name, entry in document.items()}


def _parse_schema(entry: Any) -> Schema:
    if set(entry) != {one.name for one in fields(Schema)}:
        raise ValueError
    texts = [entry["kind"], entry["modulus"], entry["unit"], *entry["categories"]]
    bounds = [entry["lower"], entry["upper"]]
    if not all(isinstance(text, str) and len(text) <= 3000 for text in texts):
        raise ValueError
    if type(entry["scale"]) is not int or not 0 <= entry["scale"] <= 18:
        raise ValueError
    if not all(bound is None or (type(bound) is int and bound.bit_length() <= 8192) for bound in bounds):
        raise ValueError
    if (entry["lower"] is None) != (entry["upper"] is None):
        raise ValueError
    if entry["lower"] is not None and entry["lower"] > entry["upper"]:
        raise ValueError
    if entry["kind"] == "category" and bounds != [0, len(entry["categories"]) - 1]:
        raise ValueError
    if len({*entry["categories"]}) != len(entry["categories"]):
        raise ValueError
    if entry["kind"] not in ("integer", "decimal", "category", "text", "share", "ciphertext"):
        raise ValueError
    return Schema(**(entry | {"categories": tuple(entry["categories"])}))
