"""What a browser's authenticator signs holds for one statement, one host and a verified user."""

from __future__ import annotations

import hashlib
import json

import pytest

pytest.importorskip("fido2", reason="fido2 is not installed")

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from fido2 import cbor
from fido2.cose import ES256, CoseKey, EdDSA
from fido2.utils import websafe_encode
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData

from parties.errors import ConfigError
from parties.persons.webauthn import Credential, make_challenge, pack_answer, take_new_key
from smc.errors import UsageError

HOST = f"{'5a' * 16}.localhost"
ORIGIN = f"http://{HOST}:8123"
FLAG = AuthenticatorData.FLAG
SEEN = FLAG.UP | FLAG.UV


class Authenticator:
    """An authenticator in software; another number makes another key."""

    def __init__(self, kind: str = "p256", number: int = 0x1234567) -> None:
        if kind == "p256":
            self._key = ec.derive_private_key(number, ec.SECP256R1())
            self.public: CoseKey = ES256.from_cryptography_key(self._key.public_key())
        else:
            self._key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
            self.public = EdDSA.from_cryptography_key(self._key.public_key())

    @property
    def credential(self) -> Credential:
        return Credential(HOST, b"id of it", dict(self.public))

    def answer(self, statement, *, host=HOST, flags=SEEN, **changed):
        found = bytes(AuthenticatorData.create(hashlib.sha256(host.encode()).digest(), flags, 7))
        said = {
            "type": "webauthn.get",
            "challenge": websafe_encode(make_challenge(statement)),
            "origin": ORIGIN,
            "crossOrigin": False,
        }
        client = json.dumps(said | changed).encode()
        signed = found + hashlib.sha256(client).digest()
        if isinstance(self._key, Ed25519PrivateKey):
            return pack_answer(found, client, self._key.sign(signed))
        return pack_answer(found, client, self._key.sign(signed, ec.ECDSA(hashes.SHA256())))


@pytest.fixture(params=["p256", "ed25519"])
def authenticator(request):
    return Authenticator(request.param)


def test_an_answer_to_the_statement_is_a_signature(authenticator):
    read = Credential.decode(authenticator.credential.encode())
    assert read == authenticator.credential
    assert read.has_signed(b"a statement", authenticator.answer(b"a statement"))


@pytest.mark.parametrize(
    "changed",
    [
        {"type": "webauthn.create"},
        {"origin": "http://other.localhost:8123"},
        {"origin": f"http://{HOST}.evil.example"},
        {"origin": "null"},
        {"crossOrigin": True},
        {"challenge": websafe_encode(make_challenge(b"another one"))},
        {"challenge": websafe_encode(b"a statement")},
        {"host": "localhost"},
        {"flags": FLAG.UP},
        {"flags": FLAG.UV},
    ],
    ids=str,
)
def test_what_was_signed_for_something_else_is_none(authenticator, changed):
    assert not authenticator.credential.has_signed(
        b"a statement", authenticator.answer(b"a statement", **changed)
    )


def test_no_bit_of_an_answer_can_be_changed(authenticator):
    answer, credential = authenticator.answer(b"a statement"), authenticator.credential
    for place in range(0, 8 * len(answer), 5):
        changed = bytearray(answer)
        changed[place // 8] ^= 1 << place % 8
        assert not credential.has_signed(b"a statement", bytes(changed)), place
    for cut in (0, 1, 5, 6, len(answer) - 1):
        assert not credential.has_signed(b"a statement", answer[:cut])
    assert not credential.has_signed(b"a statement", answer + b"\0")


def test_the_key_of_another_authenticator_does_not_check_it():
    one, other = Authenticator("p256"), Authenticator("ed25519")
    assert not other.credential.has_signed(b"a statement", one.answer(b"a statement"))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 40,
        cbor.encode({"host": HOST, "id": b"x"}),
        cbor.encode({"host": HOST, "id": b"x", "key": {1: 3, 3: -257, -1: b"n", -2: b"e"}}),
        cbor.encode({"host": "Not A Host", "id": b"x", "key": dict(Authenticator().public)}),
        cbor.encode({"host": HOST, "id": b"", "key": dict(Authenticator().public)}),
        cbor.encode({"host": HOST, "id": b"x", "key": dict(Authenticator().public)}) + b"\0",
        b"\x81" * 5000,
    ],
    ids=range(8),
)
def test_other_texts_are_no_keys(data):
    with pytest.raises(ConfigError, match="not one that a browser has made"):
        Credential.decode(data)


def _new(authenticator, challenge, *, host=HOST, flags=SEEN, kind="webauthn.create", origin=ORIGIN):
    made = AttestedCredentialData.create(bytes(16), b"id of it", authenticator.public)
    found = AuthenticatorData.create(hashlib.sha256(host.encode()).digest(), flags | FLAG.AT, 0, bytes(made))
    client = json.dumps({"type": kind, "challenge": websafe_encode(challenge), "origin": origin}).encode()
    return bytes(AttestationObject.create("none", found, {})), client


def test_a_new_key_is_taken_for_this_host_alone(authenticator):
    challenge = bytes(range(32))
    found = take_new_key(*_new(authenticator, challenge), challenge, HOST)
    assert found == authenticator.credential
    for wrong in (
        {"host": "localhost"},
        {"flags": FLAG.UP},
        {"kind": "webauthn.get"},
        {"origin": "http://localhost:8123"},
    ):
        with pytest.raises(UsageError, match="not a new key"):
            take_new_key(*_new(authenticator, challenge, **wrong), challenge, HOST)
    with pytest.raises(UsageError, match="not a new key"):
        take_new_key(*_new(authenticator, challenge), bytes(32), HOST)
    with pytest.raises(UsageError, match="not a new key"):
        take_new_key(b"\xa0" * 50, b"{}", challenge, HOST)
