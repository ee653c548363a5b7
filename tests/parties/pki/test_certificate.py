"""Certificates: their dates, who signed them, and how many a party may show."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from parties.errors import PairingError
from parties.pki import certificate, pairing
from tests.parties.pki.homes import HERE
from tests.parties.rpc.harness import NORTH, SOUTH


def test_dates():
    now = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
    pem, _ = certificate.make("north", now)
    assert certificate.days_left(pem, now) == 365
    assert certificate.days_left(pem, now + dt.timedelta(days=366)) < 0


def test_a_certificate_that_is_not_self_signed():
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization

    ca_key = serialization.load_pem_private_key(NORTH.tls_key, None)
    original = x509.load_pem_x509_certificate(SOUTH.certificate)
    forged = (
        x509.CertificateBuilder()
        .subject_name(original.subject)
        .issuer_name(original.issuer)
        .public_key(original.public_key())
        .serial_number(1)
        .not_valid_before(original.not_valid_before_utc)
        .not_valid_after(original.not_valid_after_utc)
        .add_extension(original.extensions.get_extension_for_class(x509.SubjectAlternativeName).value, False)
        .sign(ca_key, hashes.SHA256())
    )
    with pytest.raises(PairingError, match="malformed"):
        certificate.check(forged.public_bytes(serialization.Encoding.PEM), "south")


@pytest.mark.parametrize("how", ["three", "twice", "text between", "none"])
def test_bad_lists_of_certificates(how):
    one, two, three = (certificate.make("south")[0].decode() for _ in range(3))
    text = {"three": one + two + three, "twice": one + one, "text between": one + "x\n" + two, "none": ""}[
        how
    ]
    document = json.loads(pairing.describe(SOUTH, HERE).text) | {"certificates": text}
    with pytest.raises(PairingError, match="malformed"):
        pairing.parse(pairing.sign(document, SOUTH.signing))
