"""What a peer takes for a renewal of the party that it has paired, and what it does not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from parties.cli.party import pair
from parties.config import Address, load
from parties.errors import PairingError
from parties.pki import certificate, home, pairing
from parties.pki.offers import Renewals, find_offer
from parties.pki.renewal import renew
from tests.parties.pki.dated import DAY, certified, ending_in, real_now, renewed
from tests.parties.pki.homes import HERE, hand_over, pinned
from tests.parties.rpc.harness import SOUTH


def test_a_renewal_needs_no_comparing_and_keeps_the_old_pin(homes):
    north, south = homes["north"], homes["south"]
    before = pinned(south, "north").certificates
    renew(load(north))
    done = hand_over(north, south)
    assert done.exit_code == 0, done.output
    assert "signed by the key that is paired" in done.stderr
    after = certificate.split(pinned(south, "north").certificates)
    assert after[0] == before
    assert len(after) == 2


def test_at_once_leaves_the_old_one_out(homes):
    north, south = homes["north"], homes["south"]
    before = pinned(south, "north").certificates
    assert renew(load(north), at_once=True).made
    assert hand_over(north, south).exit_code == 0
    assert before not in certificate.split(pinned(south, "north").certificates)


def refused(file, homes):
    """What `duetto pair` says at south to a file that is none of north's renewals; the pin stays."""
    before = pinned(homes["south"], "north")
    (homes["north"] / "north.pair").write_text(file)
    done = hand_over(homes["north"], homes["south"])
    assert done.exit_code != 0
    after = pinned(homes["south"], "north")
    assert after.certificates == before.certificates
    return done.stderr


def test_a_renewal_signed_by_another_key_is_no_renewal(homes):
    identity = home.load_identity(load(homes["north"]))
    forger = replace(renewed(identity), signing=SOUTH.signing)
    assert "Fingerprint:" in refused(pairing.describe(forger, HERE).text, homes)
    own = json.loads(pairing.describe(renewed(identity), HERE).text)
    assert "signature does not fit" in refused(pairing.sign(own, SOUTH.signing), homes)
    own["address"] = "evil.example:1"
    assert "signature does not fit" in refused(json.dumps(own), homes)


def test_a_renewal_under_another_paillier_key_is_no_renewal(homes):
    identity = home.load_identity(load(homes["north"]))
    other = replace(renewed(identity), paillier=SOUTH.paillier)
    assert "Fingerprint:" in refused(pairing.describe(other, HERE).text, homes)


def test_an_older_renewal_is_not_taken_again(homes):
    config = load(homes["north"])
    first = home.own_pairing(config).text
    renew(config)
    assert hand_over(homes["north"], homes["south"]).exit_code == 0
    assert "made this pairing file before the one that is paired" in refused(first, homes)


def test_an_older_file_does_not_turn_the_address_back_even_if_nobody_asks(homes):
    """Its certificates are the same, so it was taken without a question for a renewal."""
    north, south = load(homes["north"]), load(homes["south"])
    old = home.own_pairing(north)
    home.add_peer(south, home.renew_pairing(north, Address("north.example", 17)))
    with pytest.raises(PairingError, match="before the one that is paired") as caught:
        home.add_peer(load(homes["south"]), old)
    assert caught.value.stable_code == "old-pairing"
    assert str(load(homes["south"]).peer("north").address) == "north.example:17"
    home.add_peer(load(homes["south"]), home.renew_pairing(north, old.address))


def test_another_address_is_asked_for_and_the_same_file_is_not(homes):
    home.renew_pairing(load(homes["north"]), Address("north.example", 17))
    done = hand_over(homes["north"], homes["south"])
    assert done.exit_code != 0
    assert "is to be reached at north.example:17 in place of" in " ".join(done.stderr.split())
    assert load(homes["south"]).peer("north").address == HERE
    done = CliRunner().invoke(
        pair, [str(homes["north"] / "north.pair"), "--config", str(homes["south"])], input="y\n"
    )
    assert done.exit_code == 0, done.output
    assert str(load(homes["south"]).peer("north").address) == "north.example:17"
    assert hand_over(homes["north"], homes["south"]).exit_code == 0


@pytest.mark.parametrize("days", [400, 36_500])
def test_certificates_that_are_valid_for_years_are_refused(homes, monkeypatch, days):
    """One of 100 years was pinned without a question, by a rule, and no later one ever again."""
    config, identity = load(homes["south"]), home.load_identity(load(homes["north"]))
    with monkeypatch.context() as patched:
        patched.setattr(certificate, "DAYS", days)
        long = pairing.describe(certified(identity, real_now()), HERE)
    with pytest.raises(PairingError, match=f"valid for {days + 1} days; at most 400"):
        home.add_peer(config, long)
    heard = Renewals(replace(config, accept_renewals=True))
    heard.hear("north", long.text.encode())
    assert heard.due() == ()
    assert find_offer(config, config.peer("north")) is None


@pytest.mark.parametrize("years", [2, 50])
def test_a_certificate_that_begins_in_years_is_refused(homes, years):
    """It is valid for a year only, was pinned for 51 by the rule, and no honest renewal was taken."""
    config, identity = load(homes["south"]), home.load_identity(load(homes["north"]))
    late = replace(identity, renewed=certificate.make("north", real_now() + years * 365 * DAY))
    found = pairing.describe(late, HERE)
    begins = f"{real_now() + (years * 365 - 1) * DAY:%Y-%m-%d}"
    with pytest.raises(PairingError, match=f"begins on {begins} only"):
        home.add_peer(config, found)
    heard = Renewals(replace(config, accept_renewals=True))
    heard.hear("north", found.text.encode())
    assert heard.due() == ()
    assert find_offer(config, config.peer("north")) is None


def test_a_renewal_for_another_name_changes_nothing_of_the_peer(homes):
    identity = home.load_identity(load(homes["north"]))
    other = certified(replace(identity, name="west"), real_now())
    assert "Fingerprint:" in refused(pairing.describe(other, HERE).text, homes)
    mixed = json.loads(pairing.describe(identity, HERE).text)
    mixed["certificates"] += other.certificate.decode()
    assert "made out to" in refused(pairing.sign(mixed, identity.signing), homes)


def test_shorter_and_ended_certificates_are_refused(homes):
    identity = home.load_identity(load(homes["north"]))
    shorter = ending_in(identity, 100 * DAY)
    assert "Fingerprint:" in refused(pairing.describe(shorter, HERE).text, homes)
    over = pairing.describe(ending_in(identity, -DAY), HERE)
    with pytest.raises(PairingError, match="has ended") as caught:
        home.add_peer(load(homes["south"]), over)
    assert "`duetto keys renew`" in caught.value.hint


def test_files_of_the_second_version_stay_paired():
    document = json.loads(pairing.describe(SOUTH, HERE).text) | {"duetto_pairing": 2}
    document["certificate"] = document.pop("certificates")
    del document["signature"], document["counter"]
    old = pairing.parse(json.dumps(document))
    assert old.proven
    assert not old.signed
    new = pairing.describe(renewed(SOUTH), HERE)
    assert pairing.vouched_for(new, old)
    assert not pairing.vouched_for(old, new)
