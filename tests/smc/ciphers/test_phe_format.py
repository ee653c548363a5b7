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
from smc.numeric.random import Randomness
from tests.support.keys import real, toy

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
        return OwnPaillier(KEY, Randomness(), pool)
    return Paillier(KEY.public, Randomness(), pool)


VALUES = [0, 1, 2, 10**9, N // 3 - 1, N - 1]


def test_phe_decrypts_what_is_encrypted_here(cipher):
    batch = [*VALUES, *range(70)]
    for value, c in zip(batch, cipher.encrypt(batch).values, strict=True):
        assert PRIVATE.raw_decrypt(int(c)) == value


def test_what_phe_encrypts_is_decrypted_here(pool):
    own = OwnPaillier(KEY, Randomness(), pool)
    texts = [json.dumps({"v": str(PUBLIC.raw_encrypt(v)), "e": 0}) for v in VALUES]
    assert own.decrypt(phe_format.read_ciphertexts(texts, KEY.public)) == VALUES


def test_sums_and_multiples_agree_with_phe(cipher):
    a, b = PUBLIC.encrypt(1234), PUBLIC.encrypt(-77)
    ours = phe_format.read_ciphertexts(
        [json.dumps({"v": str(x.ciphertext()), "e": x.exponent}) for x in (a, b)], KEY.public
    )
    left, right = ours[:1], ours[1:]
    results = {
        1157: cipher.add(left, right),
        1311: cipher.subtract(left, right),
        1334: cipher.add_plain(left, [100]),
        -12340: cipher.scale(left, [-10]),
        77000: cipher.scale(right, [-1000]),
    }
    for expected, result in results.items():
        text = phe_format.write_ciphertexts(cipher.refresh(result))[0]
        fields = json.loads(text)
        number = phe.EncryptedNumber(PUBLIC, int(fields["v"]), fields["e"])
        assert PRIVATE.decrypt(number) == expected
    theirs = (a + b) * 3
    text = json.dumps({"v": str(theirs.ciphertext()), "e": theirs.exponent})
    own = OwnPaillier(KEY, Randomness(), cipher._executor)
    assert own.decrypt(phe_format.read_ciphertexts([text], KEY.public)) == [3471]


def test_keys_travel_to_pheutil_and_back(tmp_path, pool):
    """Encrypt, add and decrypt with phe's command on a key made here."""
    key = real(Role.ALICE)
    private, public, cipher = tmp_path / "private", tmp_path / "public", tmp_path / "cipher"
    private.write_text(phe_format.write_private_key(key))
    run = CliRunner().invoke
    assert run(pheutil.cli, ["extract", str(private), str(public)]).exit_code == 0
    assert phe_format.read_public_key(public.read_text()) == key.public
    assert run(pheutil.cli, ["encrypt", str(public), "12.5", "--output", str(cipher)]).exit_code == 0
    own = OwnPaillier(key, Randomness(), pool)
    encrypted = phe_format.read_ciphertexts([cipher.read_text()], key.public, exponent=-32)
    assert own.decrypt(encrypted) == [125 * 16**32 // 10]
    doubled = own.refresh(own.scale(encrypted, [2]))
    cipher.write_text(phe_format.write_ciphertexts(doubled, exponent=-32)[0])
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
    own = OwnPaillier(key, Randomness(), pool)
    assert own.decrypt(own.encrypt([*range(70)])) == [*range(70)]


def test_keys_read_back():
    assert phe_format.read_private_key(phe_format.write_private_key(KEY)) == KEY
    assert phe_format.read_public_key(phe_format.write_public_key(KEY.public)) == KEY.public


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
    phe_format.write_ciphertexts(fresh)
    with pytest.raises(FreshnessError):
        phe_format.write_ciphertexts(fresh)
    with pytest.raises(FreshnessError):
        fresh.encode()


def changed(**changes):
    fields = json.loads(phe_format.write_private_key(KEY)) | changes
    return json.dumps({name: value for name, value in fields.items() if value is not None})


BOB = json.loads(phe_format.write_public_key(toy(Role.BOB).public))


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
    fields = json.loads(phe_format.write_public_key(KEY.public))
    with pytest.raises(KeyMaterialError):
        phe_format.read_public_key(json.dumps(fields | change))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"v": 5, "e": 0}', '{"v": "5"}', '{"v": "5", "e": true}', '{"v": "5", "e": 0.0}',
     '{"v": "-5", "e": 0}', '{"v": "0x5", "e": 0}', '{"v": "", "e": 0}', '{"v": "٥", "e": 0}',
     '{"v": "5", "e": -32}'],
)  # fmt: skip
def test_what_is_no_ciphertext_text_is_refused(text):
    with pytest.raises(UsageError):
        phe_format.read_ciphertexts([text], KEY.public)


@pytest.mark.parametrize("number", [0, N, N * N, N * N + 1, int(KEY.p)])
def test_numbers_that_are_no_ciphertexts_are_refused_in_files_too(number):
    with pytest.raises(DomainError):
        phe_format.read_ciphertexts([json.dumps({"v": str(number), "e": 0})], KEY.public)


def test_phe_keys_need_not_be_blum_integers(pool):
    """p = 1 modulo 4 is as good here."""
    key = PrivateKey(1000033, 1000037)
    assert key.p % 4 == 1
    peer, own = Paillier(key.public, Randomness(), pool), OwnPaillier(key, Randomness(), pool)
    assert own.decrypt(peer.refresh(peer.encrypt(range(100)))) == list(range(100))
