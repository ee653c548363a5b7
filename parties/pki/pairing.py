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
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from parties.config import Address, check_name
from parties.errors import ConfigError, PairingError
from parties.pki import certificate
from parties.pki.identity import Identity, PeerIdentity
from parties.pki.signing import SigningKey, key_text
from smc.ciphers.key_proof import ROOTS, prove, verify
from smc.ciphers.keys import PublicKey, check_public_key
from smc.errors import KeyMaterialError
from smc.numeric.modular import Integer

VERSION: Final = 4
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
    4: (
        "duetto_pairing",
        "name",
        "address",
        "certificates",
        "signing",
        "paillier",
        "paillier_proof",
        "counter",
        "signature",
    ),
}
"""By version. Files of version 1 do not prove the Paillier key; they count only where already pinned."""

_COUNTER_BITS: Final = 63

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
        counter: greater than in every earlier file of the party; 0 in files before version 4.
        text: the canonical form.
    """

    identity: PeerIdentity
    address: Address
    proven: bool
    signed: bool
    counter: int
    text: str = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """160 bits of the SHA-256 of the canonical form: eight groups of four of A-Z and 2-7.

        From version 4 on without counter and signature: a file that says the same has the same.
        """
        text = self.text
        if self.counter:
            document = json.loads(text)
            text = _canonical({name: document[name] for name in document.keys() - {"counter", "signature"}})
        digest = hashlib.sha256(b"duetto pairing\0" + text.encode()).digest()
        letters = base64.b32encode(digest[:20]).decode()
        return "-".join(letters[i : i + 4] for i in range(0, len(letters), 4))


def describe(
    identity: Identity, address: Address, now: dt.datetime | None = None, *, after: int = 0
) -> Pairing:
    """This party's pairing file, with those of its certificates that have not ended, or else all.

    Args:
        identity: this party.
        address: where its daemon listens.
        now: the time; None is now.
        after: the counter of the party's last file. The new one is greater, and is the time in milliseconds
            where that is, so that it grows in a home that was restored from an old copy, too.
    """
    now = now or dt.datetime.now(dt.UTC)
    key = identity.signing.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw
    )
    document = {
        "duetto_pairing": VERSION,
        "name": identity.name,
        "address": str(address),
        "certificates": shown_certificates(identity, now).decode(),
        "signing": key.hex(),
        "paillier": f"{int(identity.paillier.public.n):x}",
        "paillier_proof": _encoded(prove(identity.paillier), identity.paillier.public),
        "counter": str(max(after + 1, int(1000 * now.timestamp()))),
    }
    return parse(sign(document, identity.signing))


def shown_certificates(identity: Identity, now: dt.datetime) -> bytes:
    """The certificates that a party's pairing file has: those that have not ended, or else all."""
    valid = [pem for pem in certificate.split(identity.certificates) if certificate.ends(pem) > now]
    return b"".join(valid) or identity.certificates


def sign(document: dict[str, Any], key: SigningKey) -> str:
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
    peer = PeerIdentity(name, signing, key, pem)
    return Pairing(peer, where, proven, signed, _counter(document), _canonical(document))


def succeeds(found: Pairing, paired: Pairing) -> bool:
    """Whether a file is a later one of a party that is paired, signed by the signing key that was compared.

    A file of earlier times, replayed by whoever kept it, is not later: its counter says so, and where neither
    file has one, its certificates may not end earlier.
    """
    one, other = found.identity, paired.identity
    return (
        found.signed
        and found.proven
        and one.name == other.name
        and key_text(one.signing) == key_text(other.signing)
        and one.paillier.fingerprint == other.paillier.fingerprint
        and not is_older(found, paired)
        and (found.counter > 0 or not ends_earlier(found, paired))
    )


def vouched_for(found: Pairing, paired: Pairing) -> bool:
    """Whether a file is a renewal of one that is paired, so that nobody has to compare fingerprints.

    It is, if it succeeds that one, and its certificates end no earlier. An earlier end is for a person to
    accept: so a certificate that is given up leaves no longer than its successor.
    """
    return succeeds(found, paired) and not ends_earlier(found, paired)


def ends_earlier(found: Pairing, paired: Pairing) -> bool:
    """Whether the certificates of a file end before those of one that is paired."""
    return certificate.ends(found.identity.certificates) < certificate.ends(paired.identity.certificates)


def is_older(found: Pairing, paired: Pairing) -> bool:
    """Whether a party made a file before another one of its own, which is paired and says something else."""
    return (
        key_text(found.identity.signing) == key_text(paired.identity.signing)
        and found.fingerprint != paired.fingerprint
        and 0 < paired.counter >= found.counter
    )


def require_valid(found: Pairing, now: dt.datetime | None = None) -> None:
    """Refuse to pair with a file of which no certificate is valid any more, or one for longer than is usual.

    The end is the only way in which a certificate whose key was stolen is given up for certain. So each is
    valid for `certificate.LONGEST_DAYS` at most, and follows now or the one before without a gap: together
    they end within twice that.

    Raises:
        PairingError: all have ended, one is valid for longer, or one begins after the end of the one before.
    """
    now = now or dt.datetime.now(dt.UTC)
    name = found.identity.name
    if (days := certificate.longest(found.identity.certificates)) > certificate.LONGEST_DAYS:
        raise PairingError(
            f"A certificate in the pairing file of {name!r} is valid for {days} days; at most "
            f"{certificate.LONGEST_DAYS} are taken.",
            f"Ask {name!r} what that is, and to run `duetto keys renew --at-once`.",
        )
    if (late := certificate.gap(found.identity.certificates, now)) is not None:
        raise PairingError(
            f"A certificate in the pairing file of {name!r} begins on {late:%Y-%m-%d} only, and none is "
            "valid until then.",
            f"Check the clocks of both sides. If they are right, ask {name!r} what that is, and to run "
            "`duetto keys renew --at-once`.",
        )
    if certificate.ends(found.identity.certificates) <= now:
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


def _counter(document: dict[str, Any]) -> int:
    if "counter" not in document:
        return 0
    text = document["counter"]
    if not re.fullmatch(r"[1-9][0-9]{0,18}", text) or int(text).bit_length() > _COUNTER_BITS:
        raise PairingError("The pairing file's counter is not a number of at most 63 bits.", _HINT)
    return int(text)


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
