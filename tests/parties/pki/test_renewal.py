"""A TLS certificate is renewed beside the one in use: in time, once, and over years."""

from __future__ import annotations

import datetime as dt
import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from click.testing import CliRunner

from parties import doctor
from parties.cli.own_keys import keys as keys_group
from parties.config import load
from parties.daemon.daemon import check_dates, ending_soon
from parties.errors import ConfigError
from parties.pki import certificate, home, pairing
from parties.pki.files import write_atomically
from parties.pki.identity import CHANGE
from parties.pki.renewal import renew
from tests.parties.pki.dated import DAY, START, certified, ending_in, real_now, renewed
from tests.parties.pki.homes import HERE, hand_over, pinned
from tests.parties.rpc.harness import NORTH, SOUTH, public


def test_two_years(made):
    """Each side renews 30 days ahead and the other accepts 20 days later; on no day is either locked out."""
    own = certified(home.load_identity(load(made / "north")), START)
    signing, paillier = own.signing, own.paillier
    peer_has = pairing.describe(own, HERE, START)
    owed, changes, shown_before = None, 0, own.certificate
    for day in range(2 * 365 + 60):
        now = START + day * DAY
        if certificate.days_left(own.certificates, now) == 30:
            current = own.in_use(now)
            own = replace(
                own,
                certificate=current.certificate,
                tls_key=current.tls_key,
                renewed=certificate.make("north", now),
            )
            owed = (now + 20 * DAY, pairing.describe(own, HERE, now))
        if owed and now >= owed[0]:
            assert pairing.vouched_for(owed[1], peer_has)
            pairing.require_valid(owed[1], now)
            peer_has, owed = owed[1], None
        shown = own.in_use(now)
        pins = certificate.pins(peer_has.identity.certificates)
        (pin,) = certificate.pins(shown.certificate)
        assert pins[pin] > now, f"locked out on day {day}"
        changes += shown.certificate != shown_before
        shown_before = shown.certificate
    assert changes == 2
    assert own.signing is signing
    assert own.paillier is paillier


def test_the_certificate_changes_an_hour_before_it_ends():
    own = renewed(certified(NORTH, START))
    end = certificate.ends(own.certificate)
    assert own.in_use(end - CHANGE - dt.timedelta(seconds=1)).certificate == own.certificate
    assert own.in_use(end - CHANGE).certificate == own.renewed[0]
    assert own.in_use(end + 30 * DAY).tls_key == own.renewed[1]


def test_renewing_keeps_all_keys_but_one_and_is_done_once(homes):
    config = load(homes["north"])
    before = home.load_identity(config)
    done = renew(config)
    after = home.load_identity(config)
    assert done.made
    assert after.certificate == before.certificate
    assert after.renewed is not None
    assert after.paillier.public == before.paillier.public
    assert after.signing.public_key() == before.signing.public_key()
    assert done.used_from == certificate.ends(before.certificate) - CHANGE
    again = renew(config)
    assert not again.made
    assert again.pairing == done.pairing
    assert home.load_identity(config) == after or home.load_identity(config).renewed == after.renewed
    files = {path.name: path.stat().st_mode & 0o777 for path in (homes["north"] / "keys").iterdir()}
    assert files["tls.pem"] == 0o600
    assert "tls.crt" not in files


def test_renewals_at_the_same_time_are_one(homes):
    config = load(homes["north"])
    with ThreadPoolExecutor(4) as pool:
        done = [each.result() for each in [pool.submit(renew, config) for _ in range(4)]]
    assert sum(each.made for each in done) == 1
    assert len({each.pairing.text for each in done}) == 1
    assert (
        home.own_pairing(config).identity.certificates
        == done[0].pairing.identity.certificates
        == home.load_identity(config).certificates
    )


@pytest.mark.parametrize("step", [1, 2])
def test_a_renewal_that_is_killed_leaves_a_home_that_goes_on(homes, monkeypatch, step):
    """Before the new keys are in place, or before the pairing file is; then it is repeated."""
    config = load(homes["north"])
    before, steps = home.load_identity(config), itertools.count(1)

    def killed(*arguments):
        if next(steps) == step:
            raise KeyboardInterrupt
        write_atomically(*arguments)

    with monkeypatch.context() as patched:
        for module in ("protection", "renewal"):
            patched.setattr(f"parties.pki.{module}.write_atomically", killed)
        with pytest.raises(KeyboardInterrupt):
            renew(config)
    between = home.load_identity(config)
    assert between.certificate == before.certificate
    assert home.own_pairing(config).identity.certificates == before.certificates
    check_dates(between)
    assert renew(config).made is (step == 1)
    assert home.own_pairing(config).identity.certificates == home.load_identity(config).certificates
    assert hand_over(homes["north"], homes["south"]).exit_code == 0


def test_each_year_the_old_one_is_left_behind(homes):
    config = load(homes["north"])
    shown = []
    for year in range(4):
        now = real_now() + year * (certificate.DAYS - 30) * DAY
        assert renew(config, now=now + dt.timedelta(days=certificate.DAYS - 30)).made
        identity = home.load_identity(config)
        shown.append(identity.certificate)
        assert identity.renewed is not None
    assert len(set(shown)) == 4


def test_a_certificate_that_has_ended_is_renewed_as_the_error_says(homes):
    """Followed to the letter: the daemon's hint, the pairing file, and the peer's command."""
    north, south = homes["north"], homes["south"]
    pem, key = certificate.make("north", real_now() - 1000 * DAY)
    (north / "keys" / "tls.crt").write_bytes(pem)
    (north / "keys" / "tls.key").write_bytes(key)
    config = load(north)
    with pytest.raises(ConfigError, match="has ended") as caught:
        check_dates(home.load_identity(config))
    assert "`duetto keys renew`" in caught.value.hint
    assert "north.pair" in caught.value.hint
    (found,) = (each for each in doctor.examine_self(config) if each.check == "certificate")
    assert (found.verdict, "`duetto keys renew`" in found.hint) == (doctor.Status.FAIL, True)
    done = CliRunner().invoke(keys_group, ["renew", "--config", str(north), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["made"] is True
    check_dates(home.load_identity(config))
    assert hand_over(north, south).exit_code == 0
    assert pinned(south, "north").certificates == home.load_identity(config).certificate
    assert certificate.split(pinned(south, "north").certificates) == (home.load_identity(config).certificate,)


def test_the_log_says_which_certificates_end_and_what_to_do():
    soon, later = (
        replace(public(SOUTH), name=name, certificates=ending_in(SOUTH, days * DAY).certificate)
        for name, days in (("east", 12), ("west", 200))
    )
    gone = replace(soon, name="gone", certificates=ending_in(SOUTH, -5 * DAY).certificate)
    said = ending_soon(
        "north", ending_in(NORTH, 20 * DAY).certificate, {peer.name: peer for peer in (soon, later, gone)}
    )
    assert len(said) == 3
    assert "certificate of north ends in 19 days: run `duetto keys renew`" in said[0]
    assert "certificate of east ends in 11 days" in said[1]
    assert said[1].endswith("run `duetto keys accept east` after that")
    assert "certificate of gone has ended" in said[2]
    assert said[2].endswith("run `duetto pair` with the file that it writes")
    assert ending_soon("north", renewed(ending_in(NORTH, 20 * DAY)).certificates, {}) == []
