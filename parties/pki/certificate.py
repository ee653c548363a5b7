"""The TLS certificates of parties: self-signed, ECDSA P-256, bound to the name, pinned by the peer.

Around a renewal a party has two: the one in use, and the one that follows it. Where a function takes PEM
of a party's certificates, it takes one or both, one after the other.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from parties.errors import PairingError

DAYS: Final = 365
LONGEST_DAYS: Final = 400
"""For how long a certificate may be valid that a peer is paired with."""

WARN_DAYS: Final = 30
MAXIMUM: Final = 2
"""Certificates that a party has at once."""

_PEM: Final = re.compile(rb"-----BEGIN CERTIFICATE-----\n[^-]*-----END CERTIFICATE-----\n?")

_MALFORMED: Final = (
    ValueError,
    TypeError,
    InvalidSignature,
    UnsupportedAlgorithm,
    x509.DuplicateExtension,
    x509.ExtensionNotFound,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)


def host_name(party: str) -> str:
    """The name under which a party's certificate is checked; independent of its address."""
    return f"duetto.{party}"


def make(party: str, now: dt.datetime | None = None) -> tuple[bytes, bytes]:
    """Make a key and its self-signed certificate.

    Args:
        party: the party's name.
        now: the time from which it is valid for a year, with a day of grace for clocks; None is now.

    Returns:
        The certificate and the private key, both PEM.
    """
    start = now or dt.datetime.now(dt.UTC)
    key = ec.generate_private_key(ec.SECP256R1())
    serial = x509.random_serial_number()
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, host_name(party)),
            x509.NameAttribute(NameOID.SERIAL_NUMBER, f"{serial:x}"),
        ]
    )
    names: list[x509.GeneralName] = [
        x509.DNSName(host_name(party)),
        x509.UniformResourceIdentifier(f"duetto://{party}"),
    ]
    usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(serial)
        .not_valid_before(start - dt.timedelta(days=1))
        .not_valid_after(start + dt.timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM), private


def check(pem: bytes, party: str) -> x509.Certificate:
    """Check a party's certificate in all but its dates.

    Raises:
        PairingError: it is not exactly one certificate of the kind that `make` makes for this name.
    """
    hint = "Ask the party for its pairing file again; `duetto keys renew-pairing` writes it there."
    try:
        certificates = x509.load_pem_x509_certificates(pem)
        (certificate,) = certificates
        if certificate.public_bytes(serialization.Encoding.PEM).strip() != pem.strip():
            raise ValueError
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        certificate.verify_directly_issued_by(certificate)
        key = certificate.public_key()
    except _MALFORMED:
        raise PairingError(f"The certificate of {party!r} is malformed.", hint) from None
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        raise PairingError(f"The certificate of {party!r} is not of the kind ECDSA P-256.", hint)
    if names.get_values_for_type(x509.DNSName) != [host_name(party)]:
        raise PairingError(f"The certificate is not made out to {party!r}.", hint)
    return certificate


def check_all(pem: bytes, party: str) -> tuple[x509.Certificate, ...]:
    """Check a party's certificates in all but their dates.

    Raises:
        PairingError: there are none, more than two, two equal ones, or other text between them; or one is not
            as `check` demands.
    """
    parts = split(pem)
    if not 1 <= len(set(parts)) == len(parts) <= MAXIMUM or b"".join(parts) != pem:
        parts = (pem,)
    return tuple(check(part, party) for part in parts)


def split(pem: bytes) -> tuple[bytes, ...]:
    """The certificates of a PEM text, each as a PEM text of its own."""
    return tuple(_PEM.findall(pem))


def ends(pem: bytes) -> dt.datetime:
    """When the last of a party's certificates ends."""
    return max(pins(pem).values())


def days_left(pem: bytes, now: dt.datetime | None = None) -> int:
    """Whole days until the last of a party's certificates ends; negative when it has ended."""
    return (ends(pem) - (now or dt.datetime.now(dt.UTC))).days


def longest(pem: bytes) -> int:
    """For how many days that one of the certificates is valid that is valid for longest."""
    return max(
        (each.not_valid_after_utc - each.not_valid_before_utc).days
        for each in x509.load_pem_x509_certificates(pem)
    )


def gap(pem: bytes, now: dt.datetime) -> dt.datetime | None:
    """When a certificate begins before which a party would have none that is valid; None without such a gap.

    Args:
        pem: the party's certificates.
        now: the time; a certificate may begin within a day of it, since clocks differ.
    """
    latest = now + dt.timedelta(days=1)
    for each in sorted(x509.load_pem_x509_certificates(pem), key=lambda one: one.not_valid_before_utc):
        if each.not_valid_before_utc > latest:
            return each.not_valid_before_utc
        latest = max(latest, each.not_valid_after_utc)
    return None


def pins(pem: bytes) -> dict[str, dt.datetime]:
    """The SHA-256 of each certificate in DER, hexadecimal, and when that certificate ends."""
    return {
        hashlib.sha256(each.public_bytes(serialization.Encoding.DER)).hexdigest(): each.not_valid_after_utc
        for each in x509.load_pem_x509_certificates(pem)
    }


def begin(certificate_der: bytes) -> dt.datetime:
    """From when on a certificate in DER is valid. Raises ValueError if it is malformed."""
    return x509.load_der_x509_certificate(certificate_der).not_valid_before_utc


def begins(pem: bytes) -> dt.datetime:
    """When the first of a party's certificates begins."""
    return min(each.not_valid_before_utc for each in x509.load_pem_x509_certificates(pem))
