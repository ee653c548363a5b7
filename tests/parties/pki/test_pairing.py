"""Pairing files: checked field by field, pinned, replaced and made again."""

from __future__ import annotations

import functools
import itertools
import json
import re
from dataclasses import replace

import gmpy2
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from parties import doctor
from parties.cli.own_keys import keys as keys_group
from parties.config import Address, load
from parties.errors import ConfigError, PairingError
from parties.exits import exit_code
from parties.pki import certificate, home, pairing
from smc.ciphers.keys import check_public_key
from smc.forms import Role
from tests.parties.pki.homes import HERE
from tests.parties.rpc.harness import NORTH, SOUTH
from tests.smc.ciphers.test_key_proof import best_roots
from tests.support import keys


@functools.cache
def south_file() -> pairing.Pairing:
    return pairing.describe(SOUTH, Address("south.example", 7443))


def test_pairing_both_ways(party):
    stored = home.add_peer(party, south_file())
    config = load(party.path)
    assert config.peers == (stored,)
    assert str(stored.address) == "south.example:7443"
    assert home.load_peer(config, stored).paillier == SOUTH.paillier.public


def test_pairing_again_replaces_and_keeps_the_rest(party):
    text = party.path.read_text() + "\n# a remark\n[limits]\nsessions = 2\n"
    party.path.write_text(text)
    home.add_peer(load(party.path), south_file())
    third = replace(SOUTH, name="east", certificate=certificate.make("east")[0])
    home.add_peer(load(party.path), pairing.describe(third, Address("east.example", 1)))
    moved = pairing.describe(SOUTH, Address("south.example", 9))
    home.add_peer(load(party.path), moved)
    config = load(party.path)
    assert {peer.name: peer.address.port for peer in config.peers} == {"south": 9, "east": 1}
    assert config.limits.sessions == 2
    assert "# a remark" in party.path.read_text()
    assert home.load_peer(config, config.peer("south"))


def test_a_party_does_not_pair_with_itself(party):
    with pytest.raises(ConfigError, match="like this one"):
        home.add_peer(party, home.own_pairing(party))


def test_a_wrong_pin(party):
    home.add_peer(party, south_file())
    config = load(party.path)
    peer = config.peer("south")
    with pytest.raises(PairingError, match="pin of peer 'south'") as caught:
        home.load_peer(config, replace(peer, pin=home.own_pairing(party).fingerprint))
    assert "duetto pair" in caught.value.hint
    text = peer.pairing.read_text().replace("south.example", "evil.example")
    peer.pairing.write_text(text)
    with pytest.raises(PairingError, match="signature does not fit"):
        home.load_peer(config, peer)
    peer.pairing.write_text(pairing.describe(SOUTH, Address("evil.example", 7443)).text)
    with pytest.raises(PairingError, match="pin of peer 'south'"):
        home.load_peer(config, peer)


def test_a_file_of_another_name(party):
    home.add_peer(party, south_file())
    config = load(party.path)
    with pytest.raises(PairingError, match="made out to 'south'"):
        home.load_peer(config, replace(config.peer("south"), name="east"))


def of_version_1(made: pairing.Pairing) -> str:
    """A pairing file as releases before the proof wrote it."""
    document = json.loads(made.text) | {"duetto_pairing": 1}
    document["certificate"] = document.pop("certificates")
    del document["paillier_proof"], document["signature"], document["counter"]
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def test_a_file_without_proof_is_no_new_pairing(party):
    old = pairing.parse(of_version_1(south_file()))
    assert not old.proven
    with pytest.raises(PairingError, match="does not prove") as caught:
        home.add_peer(party, old)
    assert "renew-pairing" in caught.value.hint
    assert not load(party.path).peers


def test_a_home_that_was_paired_before_the_proof_starts_and_is_told_what_to_do(party):
    """The pin is on the old file; a new one from the peer, made with its old keys, replaces it."""
    home.add_peer(party, south_file())
    stored = load(party.path).peer("south")
    old = pairing.parse(of_version_1(south_file()))
    stored.pairing.write_text(old.text)
    text = party.path.read_text().replace(stored.pin, old.fingerprint)
    party.path.write_text(text)
    own = party.home / "north.pair"
    own.write_text(of_version_1(pairing.read(own)))
    config = load(party.path)
    assert home.load_peer(config, config.peer("south")).paillier == SOUTH.paillier.public
    findings = {(each.subject, each.check): each for each in doctor.examine_self(config)}
    assert findings["self", "keys"].verdict is doctor.Status.WARN
    first = next(iter(doctor.examine_peer(config, config.peer("south"))))
    assert (first.check, first.verdict) == ("pairing", doctor.Status.WARN)
    assert "renew-pairing" in first.hint
    renewed = home.renew_pairing(config)
    assert renewed.proven
    assert home.own_pairing(config).text == renewed.text
    assert renewed.address == HERE
    home.add_peer(config, south_file())
    config = load(party.path)
    assert home.load_peer(config, config.peer("south")).paillier == SOUTH.paillier.public


def spoilt(path, how):
    """This party's pairing file, in one of the ways in which it cannot be used."""
    if how == "missing":
        path.unlink()
    else:
        path.write_text({"damaged": path.read_text()[:-9], "the peer's": south_file().text}[how])


@pytest.mark.parametrize("how", ["missing", "damaged", "the peer's"])
def test_a_pairing_file_that_is_gone_is_made_again_as_the_error_says(party, how):
    own = party.home / "north.pair"
    before = pairing.read(own)
    spoilt(own, how)
    config = ["--config", str(party.path)]

    def keys(*words):
        return CliRunner().invoke(keys_group, [*words, *config])

    shown = keys("show")
    assert shown.exit_code == exit_code(PairingError("x"))
    refused = keys("renew-pairing")
    assert refused.exit_code == shown.exit_code
    for done in (shown, refused):
        words = re.search(r"`duetto keys (renew-pairing --address) HOST:PORT`", " ".join(done.stderr.split()))
        assert words
    assert not (how == "missing" and own.exists())
    assert keys(*words[1].split(), str(HERE)).exit_code == 0
    assert pairing.read(own).fingerprint == before.fingerprint
    assert how == "missing" or pairing.read(own).counter > before.counter
    assert keys("show").exit_code == 0
    assert before.fingerprint in keys("show").stdout


def test_a_pairing_file_with_another_address(party):
    renewed = home.renew_pairing(party, Address("north.example", 17))
    assert str(renewed.address) == "north.example:17"
    assert home.own_pairing(party) == renewed
    assert home.renew_pairing(party).address == renewed.address


def test_a_peer_whose_modulus_shares_a_factor_with_phi_cannot_be_paired():
    """Its Paillier encryption does not decrypt, and masks under it do not reach the whole group."""
    p = gmpy2.next_prime(gmpy2.mpz(3) << 899)
    q = next(q for k in itertools.count(3 << 245, 2) if gmpy2.is_prime(q := k * p + 1))
    n = p * q
    key = check_public_key(n)  # which cannot see it
    proof = pairing._encode(best_roots(n, (p - 1) * (q - 1)), key)
    with pytest.raises(PairingError, match="square-free and prime"):
        pairing.parse(changed(paillier=f"{int(n):x}", paillier_proof=proof))


def test_the_fingerprint():
    own = south_file()
    assert len(own.fingerprint.split("-")) == 8
    assert pairing.parse(own.text).fingerprint == own.fingerprint
    loose = json.dumps(json.loads(own.text), indent=2)
    assert pairing.parse(loose).fingerprint == own.fingerprint
    assert pairing.same_fingerprint(own.fingerprint.lower().replace("-", " "), own.fingerprint)
    assert not pairing.same_fingerprint(own.fingerprint[:-1], own.fingerprint)
    assert not pairing.same_fingerprint("", "")
    other = pairing.describe(SOUTH, Address("south.example", 7444))
    assert other.fingerprint != own.fingerprint


def changed(**fields) -> str:
    return pairing.sign({**json.loads(south_file().text), **fields}, SOUTH.signing)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 5000,
        changed(extra=1),
        changed(duetto_pairing=1),
        changed(duetto_pairing=3),
        changed(duetto_pairing=5),
        *(changed(counter=counter) for counter in ("", "0", "-1", "07", "x", str(1 << 63), 7)),
        changed(paillier_proof=""),
        changed(paillier_proof=json.loads(south_file().text)["paillier_proof"][::-1]),
        changed(paillier_proof="0" * len(json.loads(south_file().text)["paillier_proof"])),
        changed(paillier=f"{int(keys.real(Role.ALICE).public.n):x}"),
        changed(duetto_pairing=True),
        changed(name="South"),
        changed(name=3),
        changed(name="west"),
        changed(address="nowhere"),
        changed(certificates=""),
        changed(certificates=NORTH.certificate.decode()),
        changed(certificates=SOUTH.certificate.decode() * 2),
        changed(certificates=SOUTH.tls_key.decode()),
        changed(signing="00" * 31),
        changed(signing="zz" * 32),
        changed(paillier=""),
        changed(paillier="0x10"),
        changed(paillier="ff" * 600),
        changed(paillier=f"{int(keys.paper(Role.BOB).public.n):x}"),
        changed(paillier=f"{int(keys.real(Role.BOB).public.n) + 1:x}"),
    ],
)
def test_bad_pairing_files(text):
    with pytest.raises(PairingError) as caught:
        pairing.parse(text)
    assert caught.value.hint


@pytest.mark.filterwarnings("ignore::cryptography.utils.CryptographyDeprecationWarning")
@settings(max_examples=40)  # half of them reach the proof of the key, which takes a while
@given(st.binary(max_size=300), st.integers(0, 3000))
def test_damaged_pairing_files_raise_nothing_else(data, place):
    text = south_file().text.encode()
    damaged = text[:place] + data + text[place + len(data) :]
    try:
        pairing.parse(damaged.decode(errors="replace"))
    except PairingError:
        return


def test_a_pairing_file_that_is_none(tmp_path):
    with pytest.raises(PairingError, match="cannot be read"):
        pairing.read(tmp_path / "nothing")
    (tmp_path / "empty").touch()
    with pytest.raises(PairingError, match=re.escape(f"{tmp_path / 'empty'}: The pairing file is not valid")):
        pairing.read(tmp_path / "empty")
    (tmp_path / "long").write_bytes(b" " * 20000)
    with pytest.raises(PairingError, match="too long"):
        pairing.read(tmp_path / "long")
