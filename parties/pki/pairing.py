"""The pairing file: the small file that a party hands to its peer, and its fingerprint for the phone."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from parties.config import Address, check_name
from parties.errors import ConfigError, PairingError
from parties.pki import certificate
from parties.pki.identity import Identity, PeerIdentity
from parties.pki.signing import key_text
from smc.ciphers.key_proof import ROOTS, prove, verify
from smc.ciphers.keys import PublicKey, check_public_key
from smc.errors import KeyMaterialError
from smc.numeric.modular import Integer

VERSION: Final = 3
MINIMUM_PAILLIER_BITS: Final = 2048

_FILE_BYTES = 1 << 14
_FIELDS = {
    1: ("duetto_pairing", "name", "address", "certificate", "signing", "paillier"),
    2: ("duetto_pairing", "name", "address", "certificate", "signing", "paillier", "paillier_proof"),
    3: (
        "duetto_pairing",
        "name",
        "address",
        "certificates",
        "signing",
        "paillier",
        "paillier_proof",
        "signature",
    ),
}
"""By version. Files of version 1 do not prove the Paillier key; they count only where already pinned."""

_SIGNED: Final = b"duetto pairing file\0"
_HINT = "Ask the party for its pairing file again; `duetto keys renew-pairing` writes it there."


@dataclass(frozen=True, slots=True)
class Pairing:
    """What a party says about itself; all of it public.

    Attributes:
        identity: its name and public keys, checked.
        address: where its daemon listens.
        proven: whether the file proves that the Paillier modulus is square-free and prime to phi(N).
        signed: whether the file carries a signature by its own signing key.
        text: the canonical form, of which `fingerprint` is made.
    """

    identity: PeerIdentity
    address: Address
    proven: bool
    signed: bool
    text: str = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """160 bits of the SHA-256 of the canonical form: eight groups of four of A-Z and 2-7."""
        digest = hashlib.sha256(b"duetto pairing\0" + self.text.encode()).digest()
        letters = base64.b32encode(digest[:20]).decode()
        return "-".join(letters[i : i + 4] for i in range(0, len(letters), 4))


def describe(identity: Identity, address: Address, now: dt.datetime | None = None) -> Pairing:
    """This party's pairing file, with those of its certificates that have not ended, or else all."""
    now = now or dt.datetime.now(dt.UTC)
    valid = [pem for pem in certificate.split(identity.certificates) if certificate.ends(pem) > now]
    key = identity.signing.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw
    )
    document = {
        "duetto_pairing": VERSION,
        "name": identity.name,
        "address": str(address),
        "certificates": (b"".join(valid) or identity.certificates).decode(),
        "signing": key.hex(),
        "paillier": f"{int(identity.paillier.public.n):x}",
        "paillier_proof": _encoded(prove(identity.paillier), identity.paillier.public),
    }
    return parse(sign(document, identity.signing))


def sign(document: dict[str, Any], key: Ed25519PrivateKey) -> str:
    """The canonical text of a pairing file's fields, with their signature."""
    unsigned = {name: value for name, value in document.items() if name != "signature"}
    signature = key.sign(_SIGNED + _canonical(unsigned).encode())
    return _canonical(unsigned | {"signature": signature.hex()})


def read(path: Path) -> Pairing:
    """Read and check a pairing file.

    Raises:
        PairingError: the file is unreadable or not a valid pairing file; says what is wrong with it.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_FILE_BYTES + 1)
        if len(data) > _FILE_BYTES:
            raise PairingError(f"{path} is too long for a pairing file.", _HINT)
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise PairingError(f"{path} cannot be read ({type(error).__name__}).", _HINT) from None
    try:
        return parse(text)
    except PairingError as error:
        raise PairingError(f"{path}: {error.what}", error.hint, code=error.stable_code) from None


def parse(text: str) -> Pairing:
    """Check the text of a pairing file, field by field.

    Raises:
        PairingError: a field is missing, superfluous or invalid.
    """
    document = _document(text)
    name, address = document["name"], document["address"]
    try:
        check_name(name)
        where = Address.parse(address)
    except ConfigError as error:
        raise PairingError(f"The pairing file is wrong: {error.what}", _HINT) from None
    pem = document[_FIELDS[document["duetto_pairing"]][3]].encode()
    certificate.check_all(pem, name)
    signing = Ed25519PublicKey.from_public_bytes(bytes.fromhex(_hexadecimal(document, "signing", 64, 64)))
    modulus = int(_hexadecimal(document, "paillier", 1, 1024), 16)
    proven = "paillier_proof" in document
    try:
        key = check_public_key(modulus, MINIMUM_PAILLIER_BITS)
        if proven:
            width = _width(key)
            text = _hexadecimal(document, "paillier_proof", ROOTS * width, ROOTS * width)
            verify(key.n, [int(text[i : i + width], 16) for i in range(0, len(text), width)])
    except KeyMaterialError as error:
        raise PairingError(f"The Paillier key of {name!r} is refused: {error.what}", _HINT) from None
    signed = "signature" in document
    if signed:
        _check_signature(document, signing)
    return Pairing(PeerIdentity(name, signing, key, pem), where, proven, signed, _canonical(document))


def vouched_for(found: Pairing, paired: Pairing) -> bool:
    """Whether a file is a renewal of one that is paired, so that nobody has to compare fingerprints.

    It is, if the signing key that is paired has signed it, the Paillier key is the same, and its certificates
    end no earlier: a file of earlier times, replayed by whoever kept it, is not a renewal.
    """
    one, other = found.identity, paired.identity
    return (
        found.signed
        and found.proven
        and one.name == other.name
        and key_text(one.signing) == key_text(other.signing)
        and one.paillier.fingerprint == other.paillier.fingerprint
        and certificate.ends(one.certificates) >= certificate.ends(other.certificates)
    )


def require_valid(found: Pairing, now: dt.datetime | None = None) -> None:
    """Refuse to pair with a file of which no certificate is valid any more.

    Raises:
        PairingError: all have ended.
    """
    if certificate.ends(found.identity.certificates) <= (now or dt.datetime.now(dt.UTC)):
        name = found.identity.name
        raise PairingError(
            f"The certificate in the pairing file of {name!r} has ended.",
            f"Ask {name!r} to run `duetto keys renew`, and for the file that it writes.",
        )


def same_fingerprint(one: str, other: str) -> bool:
    """Whether two texts are the same fingerprint, however they are grouped and cased."""
    return _letters(one) == _letters(other) and len(_letters(one)) == 32


def require_proof(found: Pairing) -> None:
    """Refuse a new pairing with a file that does not prove its Paillier key.

    Raises:
        PairingError: it has no proof.
    """
    if not found.proven:
        name = found.identity.name
        raise PairingError(
            f"The pairing file of {name!r} is of an older release and does not prove its Paillier key.",
            f"Ask {name!r} for the file that `duetto keys renew-pairing` of this release writes there.",
        )


def _check_signature(document: dict[str, Any], key: Ed25519PublicKey) -> None:
    signature = bytes.fromhex(_hexadecimal(document, "signature", 128, 128))
    unsigned = {name: value for name, value in document.items() if name != "signature"}
    try:
        key.verify(signature, _SIGNED + _canonical(unsigned).encode())
    except InvalidSignature:
        raise PairingError(
            "The pairing file has been changed: its signature does not fit its content.", _HINT
        ) from None


def _encoded(roots: Iterable[Integer], key: PublicKey) -> str:
    return "".join(f"{int(root):0{_width(key)}x}" for root in roots)


def _width(key: PublicKey) -> int:
    """Hexadecimal digits of a residue."""
    return (key.bits + 3) // 4


def _letters(text: str) -> str:
    return re.sub(r"[^A-Z2-7]", "", text.upper())


def _document(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise PairingError("The pairing file is not valid JSON.", _HINT) from None
    if not isinstance(document, dict):
        raise PairingError("The pairing file is not a JSON object.", _HINT)
    version = document.get("duetto_pairing")
    if type(version) is not int or version not in _FIELDS:
        raise PairingError(
            f"The pairing file is not of version {VERSION}.", "Install the same release on both sides."
        )
    names = _FIELDS[version]
    if set(document) != set(names):
        raise PairingError(f"The pairing file has to have exactly the fields {', '.join(names)}.", _HINT)
    for name in names[1:]:
        if not isinstance(document[name], str):
            raise PairingError(f"The pairing file's {name} is not a text.", _HINT)
    return document


def _hexadecimal(document: dict[str, Any], name: str, minimum: int, maximum: int) -> str:
    value = document[name]
    if not minimum <= len(value) <= maximum or not re.fullmatch(r"[0-9a-f]+", value):
        raise PairingError(f"The pairing file's {name} is not hexadecimal or not of the right length.", _HINT)
    return str(value)


def _canonical(document: dict[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))
