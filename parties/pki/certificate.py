"""The TLS certificates of parties: self-signed, ECDSA P-256, bound to the name, pinned by the peer."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from parties.errors import PairingError

DAYS: Final = 365
WARN_DAYS: Final = 30

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
    hint = "Ask the party for a pairing file made by `duetto init`."
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


def days_left(pem: bytes, now: dt.datetime | None = None) -> int:
    """Whole days until a certificate ends; negative when it has ended."""
    certificate = x509.load_pem_x509_certificate(pem)
    return (certificate.not_valid_after_utc - (now or dt.datetime.now(dt.UTC))).days


def pin(pem: bytes) -> str:
    """The SHA-256 of a certificate in DER, hexadecimal."""
    certificate = x509.load_pem_x509_certificate(pem)
    return hashlib.sha256(certificate.public_bytes(serialization.Encoding.DER)).hexdigest()
