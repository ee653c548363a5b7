"""The pairing file: the small file that a party hands to its peer, and its fingerprint for the phone."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from parties.config import Address, check_name
from parties.errors import ConfigError, PairingError
from parties.pki import certificate
from parties.pki.identity import Identity, PeerIdentity
from smc.ciphers.key_proof import ROOTS, prove, verify
from smc.ciphers.keys import PublicKey, check_public_key
from smc.errors import KeyMaterialError
from smc.numeric.modular import Integer

VERSION: Final = 2
MINIMUM_PAILLIER_BITS: Final = 2048

_FILE_BYTES = 1 << 14
_FIELDS = {
    1: ("duetto_pairing", "name", "address", "certificate", "signing", "paillier"),
    2: ("duetto_pairing", "name", "address", "certificate", "signing", "paillier", "paillier_proof"),
}
"""By version. Files of version 1 do not prove the Paillier key; they count only where already pinned."""

_HINT = "Ask the party for a new file made by `duetto init`."


@dataclass(frozen=True, slots=True)
class Pairing:
    """What a party says about itself; all of it public.

    Attributes:
        identity: its name and public keys, checked.
        address: where its daemon listens.
        proven: whether the file proves that the Paillier modulus is square-free and prime to phi(N).
        text: the canonical form, of which `fingerprint` is made.
    """

    identity: PeerIdentity
    address: Address
    proven: bool
    text: str = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """160 bits of the SHA-256 of the canonical form: eight groups of four of A-Z and 2-7."""
        digest = hashlib.sha256(b"duetto pairing\0" + self.text.encode()).digest()
        letters = base64.b32encode(digest[:20]).decode()
        return "-".join(letters[i : i + 4] for i in range(0, len(letters), 4))


def describe(identity: Identity, address: Address) -> Pairing:
    """This party's pairing file."""
    key = identity.signing.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw
    )
    document = {
        "duetto_pairing": VERSION,
        "name": identity.name,
        "address": str(address),
        "certificate": identity.certificate.decode(),
        "signing": key.hex(),
        "paillier": f"{int(identity.paillier.public.n):x}",
        "paillier_proof": _encoded(prove(identity.paillier), identity.paillier.public),
    }
    return parse(_canonical(document))


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
        return parse(data.decode())
    except (OSError, UnicodeDecodeError) as error:
        raise PairingError(f"{path} cannot be read ({type(error).__name__}).", _HINT) from None


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
    pem = document["certificate"].encode()
    certificate.check(pem, name)
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
    return Pairing(PeerIdentity(name, signing, key, pem), where, proven, _canonical(document))


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
