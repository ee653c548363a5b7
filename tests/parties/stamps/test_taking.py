"""A stamp is taken of both heads; whatever a service does wrong leaves none, and nothing hangs."""

from __future__ import annotations

import ssl

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from parties.audit.lines import STATE
from parties.audit.writer import Audit
from parties.errors import StampError
from parties.ledger.book import Ledger, open_ledger
from parties.ledger.entries import LOG_HEAD, pack
from parties.ledger.heads import open_heads
from parties.pki import certificate
from parties.stamp_settings import StampSettings
from parties.stamps.files import FOLDER, read_stamp, stamp_paths
from parties.stamps.taking import take_stamp
from tests.parties.talking import answering, dripping, endless, listening, request, silent, swelling
from tests.parties.timestamping import NOW, Service, refusal, serving
from tests.support.clocks import standing

TIME = "2026-11-29T12:00:00Z"


class Home:
    """A home with a ledger and an audit log of some lines."""

    def __init__(self, folder, lines=3):
        self.folder, self.service = folder, Service()
        self.ledger = Ledger(folder / "ledger.jsonl", standing(TIME))
        self.audit = Audit(folder, lambda: TIME)
        self.write(lines)
        (folder / "ca.pem").write_bytes(self.service.authority)

    def write(self, lines):
        for number in range(lines):
            self.audit.write(STATE, job=f"j{number}", state="running")

    def settings(self, url, **about):
        return StampSettings(url=url, ca=self.folder / "ca.pem", **about)

    def take(self, url, **about):
        return take_stamp(self.folder, "north", self.settings(url, **about), self.ledger, self.audit.head)


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_both_heads_are_stamped_and_kept(home):
    with serving(home.service.answer) as (url, seen):
        done = home.take(url)
    (entry,) = home.ledger.entries()
    assert (entry.event, entry.log_line, entry.log_hash) == (LOG_HEAD, *home.audit.head)
    assert (done.time, done.ledger, done.log) == (NOW, entry.link, home.audit.head)
    kept = read_stamp(done.path)
    assert (kept.statement.party, kept.statement.ledger) == ("north", entry.link)
    assert done.path.stat().st_mode & 0o777 == 0o600
    assert done.path.name.startswith("20261129T120000Z-")
    ((head, body),) = seen
    assert head.startswith("POST /tsr HTTP/1.1")
    assert "north" not in head
    assert len(body) < 72


def test_heads_that_stay_are_written_into_the_ledger_once(home):
    with serving(home.service.answer) as (url, _):
        for _ in range(3):
            home.take(url)
        assert len(home.ledger.entries()) == 1
        home.write(1)
        home.take(url)
    assert [entry.log_line for entry in home.ledger.entries()] == [2, 3]
    assert len(stamp_paths(home.folder / FOLDER)) == 4


def test_without_a_service_peers_see_the_head_of_the_log_by_that_of_the_ledger(home):
    done = take_stamp(home.folder, "north", StampSettings(), home.ledger, home.audit.head)
    assert (done.path, done.time) == (None, None)
    heads = open_heads(home.folder, "north", Ed25519PrivateKey.generate(), home.ledger)
    (entry,) = open_ledger(home.folder).entries()
    assert entry.log_hash == home.audit.head[1]
    assert heads.statement("south").own == pack(entry.sequence, entry.hash)


def test_a_log_without_lines_is_stamped_too(tmp_path):
    home = Home(tmp_path, lines=0)
    with serving(home.service.answer) as (url, _):
        done = take_stamp(tmp_path, "north", home.settings(url), home.ledger, None)
    assert (done.ledger, done.log) == (None, None)
    assert read_stamp(done.path).statement.log is None


def refused(home, make, why, **about):
    with serving(make, **about) as (url, _), pytest.raises(StampError, match=why):
        home.take(url)
    assert not stamp_paths(home.folder / FOLDER)


def test_answers_that_are_not_genuine_are_not_kept(home):
    own = home.service.answer
    old = []

    def replay(data):
        old.append(own(data))
        return old[0]

    with serving(replay) as (url, _):
        home.take(url).path.unlink()
        home.write(1)
        with pytest.raises(StampError, match=r"another (nonce|digest)"):
            home.take(url)
    refused(home, lambda data: own(data, nonce=5), "another nonce")
    refused(home, lambda data: own(data, digest=bytes(32)), "another digest")
    refused(home, Service().answer, "not signed under")
    refused(home, lambda _: refusal(), "has not stamped")
    refused(home, lambda _: b"", "not one of a service")
    refused(home, lambda _: bytes(40000), "longer than 32768 bytes")
    refused(home, own, "something else than a time stamp", kind="text/html")


def test_redirects_are_not_followed(home):
    with serving(home.service.answer) as (inner, seen):
        answer = f"HTTP/1.1 307 Go\r\nLocation: {inner}\r\nContent-Length: 0\r\n\r\n"
        with listening(answering(answer.encode())) as port, pytest.raises(StampError, match="307; redirects"):
            home.take(f"http://127.0.0.1:{port}/tsr")
    assert not seen


def dripping_body(caller):
    """An answer that begins well, a byte at a time."""
    request(caller)
    caller.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/timestamp-reply\r\n\r\n")
    dripping_on(caller)


def dripping_on(caller):
    caller.settimeout(0.05)
    while True:
        caller.sendall(b"0")
        try:
            if not caller.recv(1):
                return
        except TimeoutError:
            continue


def endless_body(caller):
    request(caller)
    caller.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/timestamp-reply\r\n\r\n")
    while True:
        caller.sendall(bytes(1 << 16))


@pytest.mark.parametrize("talk", [silent, dripping, dripping_body])
def test_a_service_that_hangs_or_drips_is_left_in_time(home, talk):
    with listening(talk) as port, pytest.raises(StampError, match=r"longer than 1 seconds|timed out"):
        home.take(f"http://127.0.0.1:{port}/", seconds=1)


@pytest.mark.parametrize("talk", [endless, endless_body, swelling, request, lambda one: one.sendall(b"\0")])
def test_a_service_that_speaks_something_else_or_without_end_is_an_error(home, talk):
    with listening(talk) as port, pytest.raises(StampError):
        home.take(f"http://127.0.0.1:{port}/", seconds=20)
    assert not stamp_paths(home.folder / FOLDER)


def test_a_service_that_is_not_there_is_an_error(home):
    with listening(silent) as port:
        pass
    with pytest.raises(StampError, match="No connection"):
        home.take(f"http://127.0.0.1:{port}/")


def test_tls_is_checked(home, tmp_path):
    pem, key = certificate.make("north")
    (tmp_path / "server.pem").write_bytes(key + pem)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "server.pem")

    def talk(caller):
        with context.wrap_socket(caller, server_side=True):
            pass

    with listening(talk) as port, pytest.raises(StampError, match="TLS fails"):
        home.take(f"https://localhost:{port}/")


def test_a_failure_leaves_the_entry_and_no_second_one(home):
    for _ in range(2):
        refused(home, lambda _: refusal(), "has not stamped")
    assert len(home.ledger.entries()) == 1


def test_a_stamp_that_cannot_be_kept_is_an_error(home):
    (home.folder / FOLDER).write_text("in the way")
    with serving(home.service.answer) as (url, _), pytest.raises(StampError, match="cannot be written"):
        home.take(url)
