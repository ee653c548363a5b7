"""Key files of persons: private, whole, and opened by their passphrase alone."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

from parties.errors import ConfigError
from parties.persons.keys import PersonKey, is_encrypted, load_key, make_key
from smc.errors import UsageError
from tests.parties.persons.made import KEYS


@pytest.mark.parametrize("passphrase", ["", "five long words"])
def test_a_key_is_read_as_it_was_made(tmp_path, passphrase):
    path = tmp_path / "weber.key"
    public = make_key(path, passphrase)
    assert path.stat().st_mode & 0o777 == 0o600
    assert is_encrypted(path) is bool(passphrase)
    key = load_key(path, passphrase)
    assert key.public == public == PersonKey.parse(public.text)
    assert public.has_signed(b"text", key.sign(b"text"))
    assert not public.has_signed(b"other", key.sign(b"text"))
    assert passphrase not in repr(key) or not passphrase
    with pytest.raises(UsageError, match="there already"):
        make_key(path)


def test_another_passphrase_opens_nothing(tmp_path):
    path = tmp_path / "weber.key"
    make_key(path, "five long words")
    for wrong in ("", "five long word", "another one"):
        with pytest.raises(ConfigError) as caught:
            load_key(path, wrong)
        assert caught.value.hint
    with pytest.raises(UsageError, match="less than"):
        make_key(tmp_path / "short.key", "short")
    assert not (tmp_path / "short.key").exists()


def test_a_file_that_others_may_read_is_not_taken(tmp_path):
    path = tmp_path / "weber.key"
    make_key(path)
    path.chmod(0o640)
    with pytest.raises(ConfigError, match="open to other users"):
        load_key(path)


def test_another_kind_of_key_is_refused(tmp_path):
    path = tmp_path / "ec.key"
    pem = generate_private_key(SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(pem)
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="Ed25519"):
        load_key(path)
    path.write_bytes(b"nothing")
    with pytest.raises(ConfigError, match="cannot be opened"):
        load_key(path)


GOOD = KEYS["weber"].public.text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ed25519:",
        GOOD[:-1],
        GOOD + "=",
        GOOD + "\n",
        GOOD.upper(),
        "rsa:" + GOOD[8:],
        GOOD[8:],
        " " + GOOD,
        7,
    ],
)
def test_what_is_no_public_key_is_refused(text):
    with pytest.raises(ConfigError) as caught:
        PersonKey.parse(text)
    assert "duetto person key" in caught.value.hint
