"""A time-stamping service of the tests' own: an authority, a signer, and answers of RFC 3161, right or wrong.

What is signed is made by asn1crypto, which the program does not use, so that reader and writer differ.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from asn1crypto import algos, cms, core, tsp
from asn1crypto import x509 as der
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.parties.talking import listening, request

NOW = dt.datetime(2026, 11, 29, 12, 0, 0, tzinfo=dt.UTC)
_YEARS = dt.timedelta(days=3650)
_POLICY = "1.2.3.4.1"


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def certify(subject, public_key, issuer, issuer_key, *, around=NOW, is_authority, stamps=True):
    """A certificate of ten years around a time."""
    made = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(around - _YEARS / 2)
        .not_valid_after(around + _YEARS / 2)
        .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False
        )
        .add_extension(
            x509.KeyUsage(
                digital_signature=not is_authority,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                key_cert_sign=is_authority,
                crl_sign=is_authority,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
    )
    if not is_authority:
        use = ExtendedKeyUsageOID.TIME_STAMPING if stamps else ExtendedKeyUsageOID.SERVER_AUTH
        made = made.add_extension(x509.ExtendedKeyUsage([use]), critical=True)
    return made.sign(issuer_key, hashes.SHA256())


def pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM)


def _to_der(certificate):
    return der.Certificate.load(certificate.public_bytes(serialization.Encoding.DER))


@dataclass
class Service:
    """A signer below an authority of its own.

    Attributes:
        stamps: whether its certificate is for time stamps; else for a server of TLS.
        is_deep: whether an authority stands between the two.
        time: of its stamps, around which its certificates are valid; set another later.
    """

    stamps: bool = True
    is_deep: bool = False
    time: dt.datetime = NOW
    root: x509.Certificate = field(init=False)

    def __post_init__(self):
        top, below, self._key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
        issued = partial(certify, around=self.time)
        self.root = issued("Root", top.public_key(), "Root", top, is_authority=True)
        self._chain, issuer, key = [], "Root", top
        if self.is_deep:
            self._chain = [issued("Middle", below.public_key(), "Root", top, is_authority=True)]
            issuer, key = "Middle", below
        self._signer = issued(
            "Stamper", self._key.public_key(), issuer, key, is_authority=False, stamps=self.stamps
        )

    @property
    def authority(self):
        """What is pinned, PEM."""
        return pem(self.root)

    def answer(self, request, *, nonce=None, digest=None, spoil=lambda data: data, in_order=True):
        """The answer to a request, DER.

        Args:
            request: DER.
            nonce: another than that of the request; -1 for none.
            digest: another than that of the request.
            spoil: changes the signed content after it was signed.
            in_order: whether its certificates are, as DER asks for.
        """
        asked = tsp.TimeStampReq.load(request)
        imprint = asked["message_imprint"]
        info = {
            "version": "v1",
            "policy": _POLICY,
            "message_imprint": {
                "hash_algorithm": {"algorithm": imprint["hash_algorithm"]["algorithm"].native},
                "hashed_message": digest or imprint["hashed_message"].native,
            },
            "serial_number": x509.random_serial_number(),
            "gen_time": self.time,
            "accuracy": {"seconds": 1},
            "ordering": False,
        }
        if nonce != -1:
            info["nonce"] = nonce if nonce is not None else asked["nonce"].native
        content = tsp.TSTInfo(info).dump()
        signer = _to_der(self._signer)
        named = hashlib.sha256(signer.dump()).digest()
        attributes = cms.CMSAttributes(
            [
                cms.CMSAttribute({"type": "content_type", "values": ["tst_info"]}),
                cms.CMSAttribute({"type": "message_digest", "values": [hashlib.sha256(content).digest()]}),
                cms.CMSAttribute(
                    {
                        "type": "signing_certificate_v2",
                        "values": [tsp.SigningCertificateV2({"certs": [{"cert_hash": named}]})],
                    }
                ),
            ]
        )
        sha256 = algos.DigestAlgorithm({"algorithm": "sha256"})
        signed = cms.SignedData(
            {
                "version": "v3",
                "digest_algorithms": [sha256],
                "encap_content_info": {
                    "content_type": "tst_info",
                    "content": core.ParsableOctetString(spoil(content)),
                },
                "certificates": [signer, *map(_to_der, self._chain)],
                "signer_infos": [
                    {
                        "version": "v1",
                        "sid": cms.SignerIdentifier(
                            name="issuer_and_serial_number",
                            value={"issuer": signer.issuer, "serial_number": signer.serial_number},
                        ),
                        "digest_algorithm": sha256,
                        "signed_attrs": attributes,
                        "signature_algorithm": {"algorithm": "sha256_ecdsa"},
                        "signature": self._key.sign(attributes.dump(), ec.ECDSA(hashes.SHA256())),
                    }
                ],
            }
        )
        token = cms.ContentInfo({"content_type": "signed_data", "content": signed})
        made = tsp.TimeStampResp({"status": {"status": "granted"}, "time_stamp_token": token}).dump()
        if in_order:
            return made
        certificates = sorted(one.dump() for one in (signer, *map(_to_der, self._chain)))
        return made.replace(b"".join(certificates), b"".join(reversed(certificates)))

    def write(self, folder):
        """Write what a program needs to be this service: `root.pem`, `signer.pem` and `signer.key`."""
        plain = serialization.NoEncryption()
        kind = serialization.PrivateFormat.PKCS8
        (folder / "root.pem").write_bytes(self.authority)
        (folder / "signer.pem").write_bytes(pem(self._signer))
        (folder / "signer.key").write_bytes(self._key.private_bytes(serialization.Encoding.PEM, kind, plain))


def refusal():
    """The answer of a service that does not stamp."""
    status = tsp.PKIStatusInfo({"status": "rejection", "status_string": ["no"]}).dump()
    return b"\x30" + bytes([len(status)]) + status


@contextmanager
def serving(make, kind="application/timestamp-reply"):
    """A server that answers each request by a function; its address, and the heads and bodies that came."""
    seen = []

    def talk(caller):
        seen.append(request(caller))
        answer = make(seen[-1][1])
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(answer)}\r\n\r\n"
        caller.sendall(head.encode() + answer)

    with listening(talk) as port:
        yield f"http://127.0.0.1:{port}/tsr", seen
