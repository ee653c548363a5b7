"""Private keys under a passphrase: sealed, opened by it alone, and whole wherever somebody is killed."""

from __future__ import annotations

import itertools
import json
import os
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from parties.audit.files import read_log
from parties.audit.keys import PROTECTED, find_forged, record
from parties.audit.lines import KEYS
from parties.audit.writer import Audit
from parties.clock import CLOCK
from parties.errors import ConfigError, KeysLocked
from parties.pki import home, passphrase, protection
from parties.pki.files import write_atomically
from parties.pki.protection import FILE, NAMES, find_state, protect, read_key, unprotect, write_key
from parties.pki.renewal import renew

WORDS = ("correct horse battery",)
MOVED = ("correct horse batterysta", "ple of two persons")
TWO = ("correct horse battery", "staple of two persons")


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    monkeypatch.setattr(protection, "_COST", 1 << 15)
    forget()
    yield
    forget()


def forget():
    """As in a new process, which has opened nothing."""
    protection._open.clear()


def asking(monkeypatch, *parts):
    forget()
    monkeypatch.setattr(passphrase, "ask", lambda count: parts)


@pytest.fixture
def config(party):
    return party


def contents(config):
    folder = config.home / "keys"
    return {name: (folder / name).read_bytes() for name in NAMES if (folder / name).exists()}


def opened(config):
    return {name: read_key(config.home / "keys" / name) for name in contents(config)}


def test_sealed_keys_are_opened_by_the_passphrase_alone(config, monkeypatch):
    folder, before, identity = config.home / "keys", contents(config), home.load_identity(config)
    assert find_state(folder).parts == 0
    done = protect(folder, WORDS)
    assert (set(done.sealed), done.plain, done.parts) == (set(before), (), 1)
    for name, data in contents(config).items():
        assert before[name][40:80] not in data
        assert (folder / name).stat().st_mode & 0o077 == 0
    asking(monkeypatch, "correct horse batterz")
    with pytest.raises(ConfigError, match="not the passphrase"):
        home.load_identity(config)
    asking(monkeypatch, *WORDS)
    assert opened(config) == before
    assert home.load_identity(config).tls_key == identity.tls_key
    unprotect(folder)
    assert contents(config) == before
    assert not (folder / FILE).exists()


def test_new_keys_are_sealed_from_the_first_byte(config, monkeypatch):
    folder = config.home / "keys"
    protect(folder, WORDS)
    write_key(folder / "results.key", b"r" * 32)
    assert b"rrr" not in (folder / "results.key").read_bytes()
    assert renew(config).made
    assert b"PRIVATE KEY" not in (folder / "tls.pem").read_bytes()
    asking(monkeypatch, *WORDS)
    assert home.load_identity(config).renewed is not None
    assert find_state(folder).plain == ()


def test_no_sealed_file_passes_for_another(config):
    folder = config.home / "keys"
    protect(folder, WORDS)
    (folder / "signing.key").write_bytes((folder / "tls.key").read_bytes())
    with pytest.raises(ConfigError, match="damaged, or of another home"):
        home.load_identity(config)


@pytest.mark.parametrize("way", ["protect", "change", "unprotect"])
@pytest.mark.parametrize("step", range(1, 6))
def test_killed_at_any_step_the_home_is_whole_and_the_command_finishes(config, monkeypatch, way, step):
    folder, before = config.home / "keys", contents(config)
    new = ("another passphrase",)
    if way != "protect":
        protect(folder, WORDS)
    steps = itertools.count(1)

    def killed(path, data, mode):
        if next(steps) == step:
            raise KeyboardInterrupt
        if way != "unprotect":  # nothing is ever written in clear
            assert not any(plain in data for plain in before.values())
        write_atomically(path, data, mode)

    run = {"protect": lambda: protect(folder, WORDS), "change": lambda: protect(folder, new)}
    run["unprotect"] = lambda: unprotect(folder)
    with monkeypatch.context() as patched:
        patched.setattr(protection, "write_atomically", killed)
        try:
            run[way]()
            is_done = True
        except KeyboardInterrupt:
            is_done = False
    now = new if way == "change" and is_done else WORDS
    asking(monkeypatch, *now)
    assert opened(config) == before
    run[way]()
    asking(monkeypatch, *(new if way == "change" else WORDS))
    assert opened(config) == before
    assert bool(find_state(folder).parts) is (way != "unprotect")
    assert find_state(folder).plain == (() if way != "unprotect" else tuple(n for n in NAMES if n in before))


def test_two_parts_open_only_together_and_in_their_order(config, monkeypatch):
    folder, before = config.home / "keys", contents(config)
    protect(folder, TWO)
    assert find_state(folder).parts == 2
    for wrong in (
        TWO[::-1],
        ("".join(TWO), ""),
        (TWO[0], TWO[0]),
        MOVED,
        TWO[:1],
    ):
        asking(monkeypatch, *wrong)
        with pytest.raises(ConfigError, match="not the passphrase"):
            opened(config)
    asking(monkeypatch, *TWO)
    assert opened(config) == before


@pytest.mark.parametrize("parts", [("short",), ("long enough for it", "short"), ("with\nan end of a line",)])
def test_weak_passphrases_are_refused_before_anything_is_written(config, parts):
    before = contents(config)
    with pytest.raises(ConfigError):
        protect(config.home / "keys", parts)
    assert contents(config) == before
    assert not (config.home / "keys" / FILE).exists()


@pytest.mark.parametrize(
    "change", [{"parts": 3}, {"cost": 1 << 30}, {"cost": 1000}, {"salt": "xx"}, {"wrapped": "00"}, None]
)
def test_a_damaged_protection_is_an_error(config, change):
    folder = config.home / "keys"
    protect(folder, WORDS)
    document = json.loads((folder / FILE).read_text())
    (folder / FILE).write_text("[" if change is None else json.dumps({**document, **change}))
    with pytest.raises(ConfigError, match="is damaged"):
        opened(config)
    (folder / FILE).unlink()
    with pytest.raises(ConfigError, match="is missing"):
        opened(config)


# Where the passphrase comes from


def test_a_credential_of_systemd_comes_first(tmp_path):
    (tmp_path / passphrase.CREDENTIAL).write_text("one of them\nand another\n")
    given = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    assert passphrase.ask(2, given) == ("one of them", "and another")
    with pytest.raises(ConfigError, match="does not hold 1 line"):
        passphrase.ask(1, given)


def test_a_descriptor_is_read(tmp_path):
    reading, writing = os.pipe()
    os.write(writing, b"from a pipe\n")
    os.close(writing)
    assert passphrase.ask(1, {passphrase.DESCRIPTOR_VARIABLE: str(reading)}) == ("from a pipe",)
    with pytest.raises(ConfigError, match="cannot be read"):
        passphrase.ask(1, {passphrase.DESCRIPTOR_VARIABLE: "x"})


def test_without_any_it_says_what_to_do():
    with pytest.raises(KeysLocked, match="credential of systemd"):
        passphrase.ask(1, {})


# The record of it


def test_a_record_is_bound_to_its_key_and_place(config):
    signing = home.load_identity(config).signing
    audit = Audit(config.home, CLOCK.stamp)
    for _ in range(2):
        record(audit, signing, PROTECTED, 2, "Ann; Bert", 7)
    lines = read_log(config.home).lines
    assert [line.event for line in lines] == [KEYS, KEYS]
    assert find_forged(lines, signing.public_key()) == []
    assert find_forged(lines, Ed25519PrivateKey.generate().public_key()) == [0, 1]
    assert find_forged([replace(lines[1], previous=lines[0].previous)], signing.public_key()) == [1]
    changed = replace(lines[0], about={**lines[0].about, "parts": 1})
    assert find_forged([changed], signing.public_key()) == [0]
