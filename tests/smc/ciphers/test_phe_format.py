from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from math import lcm

import phe
import phe.command_line as pheutil
import pytest
from click.testing import CliRunner
from phe.util import base64_to_int, int_to_base64

from smc.ciphers import phe_format
from smc.ciphers.keys import PrivateKey
from smc.ciphers.paillier import OwnPaillier, Paillier
from smc.errors import DomainError, FreshnessError, KeyMaterialError, UsageError
from smc.forms import Role
from tests.support.keys import real, toy
from tests.support.seeds import seeded

KEY = toy(Role.ALICE)
N = int(KEY.public.n)
PUBLIC = phe.PaillierPublicKey(N)
PRIVATE = phe.PaillierPrivateKey(PUBLIC, int(KEY.p), int(KEY.q))


@pytest.fixture(scope="module")
def pool():
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.fixture(params=["own", "peer"])
def cipher(request, pool):
    if request.param == "own":
        return OwnPaillier(KEY, seeded(), pool)
    return Paillier(KEY.public, seeded(), pool)


VALUES = [0, 1, 2, 10**9, N // 3 - 1, N - 1]


def test_phe_decrypts_what_is_encrypted_here(cipher):
    batch = [*VALUES, *range(70)]
    for value, c in zip(batch, cipher.encrypt(batch).values, strict=True):
        assert PRIVATE.raw_decrypt(int(c)) == value


def test_what_phe_encrypts_is_decrypted_here(pool):
    own = OwnPaillier(KEY, seeded(), pool)
    numbers = [phe.EncryptedNumber(PUBLIC, PUBLIC.raw_encrypt(v)) for v in VALUES]
    assert own.decrypt(phe_format.from_phe(numbers, KEY.public)) == VALUES


def test_sums_and_multiples_agree_with_phe(cipher):
    a, b = PUBLIC.encrypt(1234), PUBLIC.encrypt(-77)
    ours = phe_format.from_phe([a, b], KEY.public)
    left, right = ours[:1], ours[1:]
    results = {
        1157: cipher.add(left, right),
        1311: cipher.subtract(left, right),
        1334: cipher.add_plain(left, [100]),
        -12340: cipher.scale(left, [-10]),
        77000: cipher.scale(right, [-1000]),
    }
    for expected, result in results.items():
        (number,) = phe_format.to_phe(cipher.refresh(result))
        assert PRIVATE.decrypt(number) == expected
    theirs = (a + b) * 3
    own = OwnPaillier(KEY, seeded(), cipher._executor)
    assert own.decrypt(phe_format.from_phe([theirs], KEY.public)) == [3471]


def test_keys_travel_to_pheutil_and_back(tmp_path, pool):
    """Encrypt, add and decrypt with phe's command on a key made here."""
    key = real(Role.ALICE)
    private, public, cipher = tmp_path / "private", tmp_path / "public", tmp_path / "cipher"
    private.write_text(phe_format.write_private_key(key))
    run = CliRunner().invoke
    assert run(pheutil.cli, ["extract", str(private), str(public)]).exit_code == 0
    theirs = pheutil.load_public_key(json.loads(public.read_text()))
    assert phe_format.public_from_phe(theirs) == key.public
    assert run(pheutil.cli, ["encrypt", str(public), "12.5", "--output", str(cipher)]).exit_code == 0
    own = OwnPaillier(key, seeded(), pool)
    with cipher.open() as file:
        number = pheutil.load_encrypted_number(file, theirs)
    encrypted = phe_format.from_phe([number], key.public, exponent=-32)
    assert own.decrypt(encrypted) == [125 * 16**32 // 10]
    doubled = own.refresh(own.scale(encrypted, [2]))
    cipher.write_text(pheutil.serialise_encrypted(*phe_format.to_phe(doubled, exponent=-32)))
    out = tmp_path / "plain"
    assert run(pheutil.cli, ["decrypt", str(private), str(cipher), "--output", str(out)]).exit_code == 0
    assert float(out.read_text()) == 25.0


def test_a_key_that_pheutil_made_is_read(tmp_path, pool):
    target = tmp_path / "key"
    result = CliRunner().invoke(pheutil.cli, ["genpkey", "--keysize", "1024", str(target)])
    assert result.exit_code == 0
    key = phe_format.read_private_key(target.read_text())
    fields = json.loads(target.read_text())
    assert {int(key.p), int(key.q)} == {base64_to_int(fields["p"]), base64_to_int(fields["q"])}
    own = OwnPaillier(key, seeded(), pool)
    assert own.decrypt(own.encrypt([*range(70)])) == [*range(70)]


def test_keys_read_back():
    assert phe_format.read_private_key(phe_format.write_private_key(KEY)) == KEY
    assert phe_format.public_from_phe(phe_format.public_to_phe(KEY.public)) == KEY.public
    assert phe_format.private_from_phe(phe_format.private_to_phe(KEY)) == KEY
    assert phe_format.private_to_phe(KEY) == PRIVATE
    assert phe_format.public_to_phe(KEY.public) == PUBLIC


@pytest.mark.parametrize(("p", "q"), [(15, 1000037), (1000037, 2), (3, 7)])
def test_keys_of_phe_that_are_not_sound_are_refused(p, q):
    with pytest.raises(KeyMaterialError):
        phe_format.private_from_phe(phe.PaillierPrivateKey(phe.PaillierPublicKey(p * q), p, q))
    if p * q % 2 == 0:
        with pytest.raises(KeyMaterialError):
            phe_format.public_from_phe(phe.PaillierPublicKey(p * q))


def test_early_private_keys_with_lambda_are_read():
    fields = json.loads(phe_format.write_private_key(KEY))
    del fields["p"], fields["q"]
    p, q = int(KEY.p), int(KEY.q)
    for exponent in ((p - 1) * (q - 1), lcm(p - 1, q - 1)):
        fields["lambda"] = int_to_base64(exponent)
        assert phe_format.read_private_key(json.dumps(fields)) == KEY
    for exponent in ((p - 1) * (q - 1) - 4, 1, N, p, (p - 1) * (q - 1) // 2 + 2):
        fields["lambda"] = int_to_base64(exponent)
        with pytest.raises(KeyMaterialError):
            phe_format.read_private_key(json.dumps(fields))


def test_exported_ciphertexts_are_spent(cipher):
    fresh = cipher.encrypt([1])
    phe_format.to_phe(fresh)
    with pytest.raises(FreshnessError):
        phe_format.to_phe(fresh)
    with pytest.raises(FreshnessError):
        fresh.encode()


def changed(**changes):
    fields = json.loads(phe_format.write_private_key(KEY)) | changes
    return json.dumps({name: value for name, value in fields.items() if value is not None})


def public_part(key, **changes):
    return json.loads(phe_format.write_private_key(key))["pub"] | changes


BOB = public_part(toy(Role.BOB))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        "[" * 50_000,
        "{}" + " " * 70_000,
        changed(kty="RSA"),
        changed(key_ops=["encrypt"]),
        changed(key_ops="decrypt"),
        changed(pub=None),
        changed(pub="n"),
        changed(pub=BOB),
        changed(p=None),
        changed(p=None, q=None),
        changed(p=5),
        changed(p="AQ"),
        changed(p="==="),
        changed(p="A"),
        changed(p="é"),
        changed(p=int_to_base64(int(KEY.p) + 2)),
    ],
)
def test_what_is_no_private_key_is_refused(text):
    with pytest.raises(KeyMaterialError) as caught:
        phe_format.read_private_key(text)
    assert int_to_base64(int(KEY.p)) not in str(caught.value)


@pytest.mark.parametrize(
    "change", [{"kty": "RSA"}, {"alg": "RS256"}, {"n": ""}, {"n": 15}, {"n": "AA"}, {"n": "AQAA"}]
)
def test_what_is_no_public_key_is_refused(change):
    with pytest.raises(KeyMaterialError):
        phe_format.read_private_key(changed(pub=public_part(KEY, **change)))


def test_ciphertexts_of_another_key_or_exponent_are_refused():
    other = phe.PaillierPublicKey(int(toy(Role.BOB).public.n))
    with pytest.raises(UsageError, match="Ciphertext 1 is under another key"):
        phe_format.from_phe([PUBLIC.encrypt(1), other.encrypt(1)], KEY.public)
    with pytest.raises(UsageError, match="Ciphertext 0 has exponent -32 instead of 0"):
        phe_format.from_phe([PUBLIC.encrypt(0.5).decrease_exponent_to(-32)], KEY.public)


@pytest.mark.parametrize("number", [0, N, N * N, N * N + 1, int(KEY.p)])
def test_numbers_that_are_no_ciphertexts_are_refused_from_phe_too(number):
    with pytest.raises(DomainError):
        phe_format.from_phe([phe.EncryptedNumber(PUBLIC, number)], KEY.public)


def test_phe_keys_need_not_be_blum_integers(pool):
    """p = 1 modulo 4 is as good here."""
    key = PrivateKey(1000033, 1000037)
    assert key.p % 4 == 1
    peer, own = Paillier(key.public, seeded(), pool), OwnPaillier(key, seeded(), pool)
    assert own.decrypt(peer.refresh(peer.encrypt(range(100)))) == list(range(100))
