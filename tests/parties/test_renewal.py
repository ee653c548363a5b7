"""A TLS certificate is renewed beside the one in use: over years, over connections, against forgers."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import grpc
import pytest
from click.testing import CliRunner

from parties import doctor
from parties.cli.own_keys import keys as keys_group
from parties.cli.party import pair as pair_command
from parties.config import Address, Limits, load
from parties.daemon.daemon import check_dates, ending_soon
from parties.errors import ConfigError, PairingError, PeerUntrusted
from parties.pki import certificate, home, pairing
from parties.pki.files import write_atomically
from parties.pki.identity import CHANGE
from parties.pki.renewal import renew
from parties.rpc import tls
from parties.rpc.reach import Stage, reach
from parties.session.server import Pins
from smc.channel.vectors import ExpectedByteRows
from smc.errors import PeerLost
from smc.forms import Role
from tests.parties.rpc.harness import NORTH, SOUTH, Ending, dialling, listening, public, task
from tests.parties.rpc.parcel import SIZE, Parcel, parcel
from tests.parties.rpc.test_tls_port import Context

HERE = Address("127.0.0.1", 7443)
START = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
PATIENT = Limits(sessions=2, message_seconds=60, job_seconds=60, reconnect_seconds=1)
LASTING = replace(PATIENT, reconnect_seconds=30)


def real_now():
    return dt.datetime.now(dt.UTC)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("renewal")
    for name in ("north", "south"):
        home.make(name, folder / name, HERE, HERE, 2048)
    return folder


@pytest.fixture
def homes(made, tmp_path):
    """Two homes that have paired."""
    for name in ("north", "south"):
        shutil.copytree(made / name, tmp_path / name)
    for name, peer in (("north", "south"), ("south", "north")):
        home.add_peer(load(tmp_path / name), home.own_pairing(load(tmp_path / peer)))
    return {name: tmp_path / name for name in ("north", "south")}


def ending_in(own, left):
    """An identity whose certificate has so much time left by the real clock."""
    pem, key = certificate.make(own.name, real_now() + left - certificate.DAYS * DAY)
    return replace(own, certificate=pem, tls_key=key)


def renewed(own):
    return replace(own, renewed=certificate.make(own.name))


def both(own):
    return replace(public(own), certificates=own.certificates)


def hand_over(source, target, *words):
    """Run `duetto pair` with the file of one home in the other, as a person would, without a terminal."""
    return CliRunner().invoke(
        pair_command, [str(source / f"{source.name}.pair"), "--config", str(target), *words], input=""
    )


def pinned(folder, peer):
    config = load(folder)
    return home.load_peer(config, config.peer(peer))


def test_two_years(made):
    """Each side renews 30 days ahead and the other accepts 20 days later; on no day is either locked out."""
    north = home.load_identity(load(made / "north"))
    own = replace(
        north, **dict(zip(("certificate", "tls_key"), certificate.make("north", START), strict=True))
    )
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
    own = renewed(
        replace(NORTH, **dict(zip(("certificate", "tls_key"), certificate.make("north", START), strict=True)))
    )
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
        patched.setattr("parties.pki.renewal.write_atomically", killed)
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
    assert "Fingerprint:" in refused(first, homes)


def test_a_renewal_for_another_name_changes_nothing_of_the_peer(homes):
    identity = home.load_identity(load(homes["north"]))
    pem, key = certificate.make("west")
    other = replace(identity, name="west", certificate=pem, tls_key=key)
    assert "Fingerprint:" in refused(pairing.describe(other, HERE).text, homes)
    mixed = json.loads(pairing.describe(identity, HERE).text)
    mixed["certificates"] += pem.decode()
    assert "made out to" in refused(pairing.sign(mixed, identity.signing), homes)


def test_shorter_and_ended_certificates_are_refused(homes):
    identity = home.load_identity(load(homes["north"]))
    shorter = ending_in(identity, 100 * DAY)
    assert "Fingerprint:" in refused(pairing.describe(shorter, HERE).text, homes)
    over = pairing.describe(ending_in(identity, -DAY), HERE)
    with pytest.raises(PairingError, match="has ended") as caught:
        home.add_peer(load(homes["south"]), over)
    assert "`duetto keys renew`" in caught.value.hint


@pytest.mark.parametrize("how", ["three", "twice", "text between", "none"])
def test_bad_lists_of_certificates(how):
    one, two, three = (certificate.make("south")[0].decode() for _ in range(3))
    text = {"three": one + two + three, "twice": one + one, "text between": one + "x\n" + two, "none": ""}[
        how
    ]
    document = json.loads(pairing.describe(SOUTH, HERE).text) | {"certificates": text}
    with pytest.raises(PairingError, match="malformed"):
        pairing.parse(pairing.sign(document, SOUTH.signing))


@pytest.mark.parametrize("content", [b"", b"nonsense", NORTH.tls_key + NORTH.certificate + SOUTH.tls_key])
def test_a_damaged_file_of_keys(homes, content):
    path = homes["north"] / "keys" / "tls.pem"
    path.write_bytes(content)
    path.chmod(0o600)
    if content.count(b"BEGIN") < 2:
        with pytest.raises(ConfigError, match=r"tls\.pem"):
            home.load_identity(load(homes["north"]))
    path.write_bytes(SOUTH.tls_key + NORTH.certificate)
    with pytest.raises(ConfigError, match="not the key of the certificate"):
        home.load_identity(load(homes["north"]))
    path.chmod(0o640)
    with pytest.raises(ConfigError, match="open to other users"):
        home.load_identity(load(homes["north"]))


@pytest.mark.parametrize("left", [100 * DAY, dt.timedelta(minutes=30)], ids=["before", "in the last hour"])
def test_both_sides_meet_before_and_after_the_change(left):
    """Over real TLS, with every combination of who has renewed; the peer knows both certificates."""
    north, south = renewed(ending_in(NORTH, left)), renewed(ending_in(SOUTH, left))
    with (
        listening(south, both(north)) as party,
        dialling(north, both(south), party.server.address) as directory,
    ):
        assert directory.client("south").hello().version
        shown = north.in_use(real_now())
        assert (shown.certificate == north.certificate) is (left > CHANGE)
        assert reach(party.server.address, both(south), shown).stage is Stage.OPEN


def test_a_peer_that_has_not_accepted_goes_on_until_the_change_only():
    north = renewed(ending_in(NORTH, 100 * DAY))
    with (
        listening(SOUTH, public(north)) as party,
        dialling(north, public(SOUTH), party.server.address) as directory,
    ):
        assert directory.client("south").hello().version
    north = renewed(ending_in(NORTH, dt.timedelta(minutes=30)))
    with (
        listening(SOUTH, public(north)) as party,
        dialling(north, public(SOUTH), party.server.address) as directory,
        pytest.raises(PeerUntrusted),
    ):
        directory.client("south").hello()


def test_a_running_server_and_a_running_dialler_take_up_a_renewal():
    late = ending_in(SOUTH, dt.timedelta(minutes=30))
    with (
        listening(late, public(NORTH)) as party,
        dialling(NORTH, both(renewed(late)), party.server.address) as directory,
    ):
        assert directory.client("south").hello().version
        new = renewed(late)
        party.server.set_identity(new)
        with dialling(
            NORTH, replace(public(SOUTH), certificates=new.renewed[0]), party.server.address
        ) as fresh:
            assert fresh.client("south").hello().version
        early = directory.client("south")
        directory.set_identity(renewed(ending_in(NORTH, 50 * DAY)))
        assert directory._clients["south"] is not early


def test_calls_on_open_connections_are_refused_past_the_date():
    clock = [START]
    pem = certificate.make("north", START)[0]
    pins = Pins({"north": replace(public(NORTH), certificates=pem)}, 1, clock=lambda: clock[0])
    assert pins.name(Context(pem)) == "north"
    assert pins.seconds_left(Context(pem)) == certificate.DAYS * 86400
    clock[0] = START + certificate.DAYS * DAY
    with pytest.raises(RuntimeError, match="refused"):
        pins.name(Context(pem))


def test_a_session_ends_when_the_certificate_of_its_connection_does():
    """The certificate has 4 seconds and none follows; nothing else ends the wait before a minute is over."""
    brief = ending_in(NORTH, dt.timedelta(seconds=4))
    ending, going_on = Ending(), threading.Event()

    def wait(session):
        going_on.set()
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))

    with (
        listening(SOUTH, public(brief), limits=PATIENT) as party,
        dialling(brief, public(SOUTH), party.server.address, limits=PATIENT) as directory,
    ):
        party.jobs.tasks["0123456789abcdef"] = task(Role.BOB, wait, ending)
        with pytest.raises((PeerLost, PeerUntrusted)):
            directory.run_session("south", task(Role.ALICE, wait))
        assert going_on.is_set()
        assert ending.wait() is not None


def test_a_session_goes_on_with_the_renewed_certificate_where_one_follows():
    """The connection is closed when its certificate ends; the session goes on over another one."""
    brief = ending_in(NORTH, dt.timedelta(seconds=4))
    following, got, ending = renewed(brief), [], Ending()

    def receive(session):
        got.append(session.channel.recv(Parcel, ExpectedByteRows(1, SIZE)).tobytes())

    with (
        listening(SOUTH, both(following), limits=LASTING) as party,
        dialling(brief, public(SOUTH), party.server.address, limits=LASTING) as directory,
    ):

        def send(session):
            directory.set_identity(following)
            time.sleep(5)
            session.channel.send(parcel(bytes(range(SIZE))))

        party.jobs.tasks["0123456789abcdef"] = task(Role.BOB, receive, ending)
        directory.run_session("south", task(Role.ALICE, send))
        assert ending.wait() is None
    assert got == [bytes(range(SIZE))]


def test_connections_are_left_before_and_closed_at_the_end_of_a_certificate():
    clock = [START + 100 * DAY]
    pem = certificate.make("south", START)[0]
    following = certificate.make("south", START + 300 * DAY)[0]
    known = replace(public(SOUTH), certificates=pem + following)
    with dialling(NORTH, known, HERE) as directory:
        directory._clock = lambda: clock[0]
        directory.set_identity(
            replace(
                NORTH,
                **dict(
                    zip(("certificate", "tls_key"), certificate.make("north", START + 90 * DAY), strict=True)
                ),
            )
        )
        first = directory.client("south")
        assert directory.client("south") is first
        closed = []
        first.close = lambda: closed.append(first)
        clock[0] = certificate.ends(pem) - CHANGE
        second = directory.client("south")
        assert second is not first
        assert not closed
        assert directory.client("south") is second
        clock[0] = certificate.ends(pem)
        directory.follow_dates()
        assert closed == [first]


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


def test_the_server_shows_what_is_in_use():
    """Seen from outside, by the handshake alone."""
    late = renewed(ending_in(SOUTH, dt.timedelta(minutes=30)))
    with listening(late, public(NORTH)) as party:
        only_old = replace(public(SOUTH), certificates=late.certificate)
        assert reach(party.server.address, only_old, NORTH).stage is Stage.PIN
        assert reach(party.server.address, both(late), NORTH).stage is Stage.OPEN
        with tls.dial(NORTH, both(late), party.server.address, party.config.keepalive) as channel:
            grpc.channel_ready_future(channel).result(timeout=10)


def test_a_clock_before_the_certificate_is_named_as_the_cause():
    early = ending_in(SOUTH, (certificate.DAYS + 2) * DAY)
    with listening(early, public(NORTH)) as party:
        found = reach(party.server.address, public(early), NORTH)
    assert found.stage is Stage.DATE
    assert "by this machine's clock it is" in found.what
    assert "Set the clock of this machine" in found.hint
    with pytest.raises(ConfigError, match="by the clock of this machine") as caught:
        check_dates(early)
    assert "Set the clock" in caught.value.hint


def test_files_of_the_second_version_stay_paired():
    document = json.loads(pairing.describe(SOUTH, HERE).text) | {"duetto_pairing": 2}
    document["certificate"] = document.pop("certificates")
    del document["signature"]
    old = pairing.parse(json.dumps(document))
    assert old.proven
    assert not old.signed
    new = pairing.describe(renewed(SOUTH), HERE)
    assert pairing.vouched_for(new, old)
    assert not pairing.vouched_for(old, new)
