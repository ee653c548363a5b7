"""Requests and answers of the Time-Stamp Protocol, and whether an answer is genuine.

`rfc3161-client` makes and reads them; the certificates of the answer lead to a pinned authority, were valid
when it was made, and its own is for time stamps. Whether one was revoked is not asked: that would need
the network, and who pins an authority trusts what it certifies.

Reference: RFC 3161 (Time-Stamp Protocol), RFC 5652 (signed data).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Final

from cryptography import x509

from parties.bounded_files import read_bounded
from parties.errors import ConfigError, StampError
from parties.stamps.set_order import in_order

MAX_ANSWER: Final = 32 << 10
"""The longest answer, in bytes: a stamp with the certificates of its signer takes 1,000 to 10,000."""

MAX_PEM: Final = 1 << 20

_ASK: Final = "Ask the service, or name another one below `[stamps]` in duetto.toml."
_AUTHORITY: Final = "If the service has a new authority, add its certificate to the file that `ca` names."

_MALFORMED: Final = "The answer is not one of a service of time stamps."
_OTHER_SIGNER: Final = "The answer is not signed under the pinned authority."


@dataclass(frozen=True, slots=True)
class Request:
    """What the service is asked.

    Attributes:
        data: as it is sent, DER.
        nonce: a random number that the answer has to repeat.
    """

    data: bytes
    nonce: int


def make_request(stamped: bytes) -> Request:
    """The request to stamp the SHA-256 of some bytes; nothing else of them is in it.

    Raises:
        ConfigError: the extra `stamps` is not installed.
    """
    client = _client()
    builder = client.TimestampRequestBuilder().data(stamped).hash_algorithm(client.HashAlgorithm.SHA256)
    made = builder.nonce(nonce=True).cert_request(cert_request=True).build()
    return Request(made.as_bytes(), made.nonce)


def check_answer(
    answer: bytes, stamped: bytes, authorities: Sequence[x509.Certificate], nonce: int | None = None
) -> datetime:
    """Check an answer of the service.

    Args:
        answer: as it came, DER.
        stamped: the bytes whose digest it has to be about.
        authorities: those that are pinned.
        nonce: of the request, if it was just sent.

    Returns:
        The time that the service states, in UTC.

    Raises:
        StampError: it is malformed, a refusal, about something else, or not signed under an authority.
        ConfigError: the extra `stamps` is not installed.
    """
    client = _client()
    if len(answer) > MAX_ANSWER:
        raise StampError(f"The answer is longer than {MAX_ANSWER} bytes.", _ASK)
    builder = client.VerifierBuilder(roots=list(authorities), nonce=nonce)
    try:
        found = client.decode_timestamp_response(in_order(answer))
        if found.status:
            raise StampError(f"The service has not stamped: its status is {found.status}.", _ASK)
        builder.build().verify_message(found, stamped)
    except client.VerificationError as problem:
        why = _why(str(problem))
        raise StampError(why, _AUTHORITY if why == _OTHER_SIGNER else _ASK) from None
    except ValueError:
        raise StampError(_MALFORMED, _ASK) from None
    return time_of(answer)


def time_of(answer: bytes) -> datetime:
    """The time that an answer states, of which nothing else is checked.

    Raises:
        StampError: it is not one of a service of time stamps.
        ConfigError: the extra `stamps` is not installed.
    """
    try:
        time: datetime = _client().decode_timestamp_response(in_order(answer)).tst_info.gen_time
    except ValueError:
        raise StampError(_MALFORMED, _ASK) from None
    return time.astimezone(UTC)


def read_authorities(path: Path) -> list[x509.Certificate]:
    """The certificates of a PEM file.

    Raises:
        ConfigError: it has none, or cannot be read.
    """
    too_long = ConfigError(
        f"{path} is longer than {MAX_PEM} bytes.", "Give a PEM file of a few certificates."
    )
    try:
        return x509.load_pem_x509_certificates(read_bounded(path, MAX_PEM, too_long))
    except ValueError:
        raise ConfigError(
            f"{path} holds no certificates in PEM.",
            "Save the certificate of the service's authority there, as it publishes it.",
        ) from None


_REASONS: Final = {
    "Nonce mismatch": "The answer repeats another nonce than the request has: it may be an old one.",
    "Mismatch between messages": "The answer is about another digest than was sent.",
    "Unsupported hash algorithm": "The answer is about another digest than was sent.",
    "unsuitable certificate purpose": "The answer is signed by a certificate that is not for time stamps.",
    "EKU extension": "The answer is signed by a certificate that is not for time stamps.",
    "unable to get": _OTHER_SIGNER,
    "self-signed certificate": _OTHER_SIGNER,
    "has expired": "A certificate of the answer had ended when it was made.",
    "not yet valid": "A certificate of the answer was not yet valid when it was made.",
}
"""What is said for a word of the library's message, whose rest names places in its source."""


def _why(problem: str) -> str:
    known = (reason for word, reason in _REASONS.items() if word in problem)
    return next(known, "The signature of the answer is not valid.")


def _client() -> ModuleType:
    try:
        import rfc3161_client
    except ImportError:
        raise ConfigError(
            "Stamps need rfc3161-client, which is not installed.", "Run pip install 'duetto[stamps]'."
        ) from None
    return rfc3161_client
